//! `antiphon keygen`: a new key to seal with.

use std::{fmt::Write, io, path::PathBuf};

use clap::Args;
use serde_json::json;

use crate::{
    failure::{Exit, Failure},
    printable, private,
};

/// Make a new random key for servers that seal what they ask.
///
/// It is text that servers read from a variable (KeyRing::from_env), from a file
/// (KeyRing::from_file, one key on a line) or in their code (Key::parse). All replicas of a server
/// have the same keys. Whoever has one can make up any answer: keep it secret.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Keygen {
    /// Write the key to a new file that you alone may read; one that exists is never overwritten.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print JSON: {"key": ".."}, or with --out {"file": ".."}.
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  export SHOP_KEYS=$(antiphon keygen)           for KeyRing::from_env(\"SHOP_KEYS\")
  antiphon keygen --out shop.keys               for KeyRing::from_file(\"shop.keys\")
  antiphon keygen --json | jq -r .key           in a script

Exit codes: 0 done, 1 there is no randomness to be had, 2 the file exists or cannot be written.";

/// Bytes of a key, as many as its cipher uses.
const BYTES: usize = 32;

impl Keygen {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let key = generate()?;
        let Some(file) = self.out else {
            match self.json {
                true => say!("{}", json!({ "key": key })),
                false => say!("{key}"),
            }
            return Ok(());
        };
        let shown = printable::line(&file.to_string_lossy());
        private::write_new(&file, format!("{key}\n").as_bytes()).map_err(|error| {
            Failure::usage(match error.kind() {
                io::ErrorKind::AlreadyExists => {
                    format!("{shown} exists, and a key is never overwritten; name another file")
                }
                _ => format!("cannot write {shown}: {error}"),
            })
        })?;
        match self.json {
            true => say!("{}", json!({ "file": file.to_string_lossy() })),
            false => tell!("antiphon: a new key is in {shown}, which only you may read"),
        }
        Ok(())
    }
}

/// A new key as text.
fn generate() -> Result<String, Failure> {
    let mut secret = [0; BYTES];
    getrandom::fill(&mut secret)
        .map_err(|error| Failure::new(Exit::Failed, format!("no randomness: {error}")))?;
    let mut key = "hex:".to_owned();
    for byte in secret {
        _ = write!(key, "{byte:02x}");
    }
    Ok(key)
}

#[cfg(test)]
mod tests {
    use antiphon::sealing::{Key, KeyRing};

    use super::*;

    fn into(file: PathBuf) -> Result<(), Failure> {
        let out = Some(file);
        Keygen { out, json: false }.run()
    }

    #[test]
    fn a_key_is_what_servers_read() {
        let key = generate().expect("randomness");
        Key::parse(&key).expect("a key");
        assert_ne!(key, generate().expect("randomness"));
    }

    #[test]
    fn a_file_is_written_once() {
        let name = format!("antiphon-keygen-{}", std::process::id());
        let file = std::env::temp_dir().join(name);
        into(file.clone()).expect("a new file");
        let first = KeyRing::from_file(&file).expect("keys").ids();
        let failure = into(file.clone()).expect_err("it exists");
        assert_eq!(failure.exit, Exit::Usage);
        assert!(failure.text.contains("never overwritten"), "{failure}");
        let still = KeyRing::from_file(&file).expect("keys").ids();
        assert_eq!(first, still);
        assert_private(&file);
        std::fs::remove_file(&file).expect("ours");
        let failure = into(file.join("below")).expect_err("no directory");
        assert_eq!(failure.exit, Exit::Usage);
    }

    #[cfg(unix)]
    fn assert_private(file: &std::path::Path) {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(file)
            .expect("a file")
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[cfg(not(unix))]
    fn assert_private(_: &std::path::Path) {}
}
