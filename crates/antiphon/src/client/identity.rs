//! [`Identity`]: which server this is, by what the client itself verified.

use std::fmt;

use serde::{Deserialize, Serialize};

#[cfg(feature = "http")]
use crate::web::Endpoint;

/// Which server a question or a paused call belongs to.
///
/// It is where the client connected to, never what the server says of itself (META-B-02): show
/// it to the user beside every question.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Identity {
    /// An HTTP server.
    Http {
        /// Scheme, host and port, such as `https://example.com`.
        origin: String,
        /// The path of the endpoint. A query is left out: it may hold secrets.
        path: String,
    },
    /// A process, by its command line.
    Command(Vec<String>),
    /// A server in this process.
    Memory,
    /// A transport of one's own.
    Other(String),
    /// A server that its user gave a name, see [`Connect::named`](super::Connect::named).
    Named {
        /// The name.
        name: String,
        /// Where the client connected to.
        server: Box<Self>,
    },
}

impl Identity {
    /// The origin of an HTTP server.
    pub fn origin(&self) -> Option<&str> {
        match self {
            Self::Http { origin, .. } => Some(origin),
            Self::Named { server, .. } => server.origin(),
            _ => None,
        }
    }
}

#[cfg(feature = "http")]
impl From<&Endpoint> for Identity {
    fn from(endpoint: &Endpoint) -> Self {
        Self::Http {
            origin: endpoint.origin.clone(),
            path: endpoint.uri.path().to_owned(),
        }
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Http { origin, path } => write!(f, "{origin}{path}"),
            Self::Command(words) => {
                for (at, word) in words.iter().enumerate() {
                    if at > 0 {
                        f.write_str(" ")?;
                    }
                    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
                    if !word.is_empty() && word.chars().all(plain) {
                        f.write_str(word)?;
                    } else {
                        // Escapes whatever could deceive a terminal.
                        write!(f, "{word:?}")?;
                    }
                }
                Ok(())
            }
            Self::Memory => f.write_str("this process"),
            Self::Other(name) => f.write_str(name),
            Self::Named { name, server } => write!(f, "{name} ({server})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identities_are_readable_and_survive_storing() {
        let http = Identity::Http {
            origin: "https://example.com".into(),
            path: "/mcp".into(),
        };
        let words = ["npx", "-y", "a server", "\u{1b}[31m", ""];
        let command = Identity::Command(words.map(String::from).to_vec());
        assert_eq!(http.to_string(), "https://example.com/mcp");
        assert_eq!(http.origin(), Some("https://example.com"));
        assert_eq!(command.to_string(), r#"npx -y "a server" "\u{1b}[31m" """#);
        for identity in [http, command, Identity::Memory] {
            let text = serde_json::to_string(&identity).expect("JSON");
            assert_eq!(
                serde_json::from_str::<Identity>(&text).expect("read"),
                identity
            );
        }
    }
}
