//! [`Stamp`]: what every HTTP request of a session says.

use antiphon_types::Version;
use http::{HeaderMap, HeaderValue};

use super::head::SESSION;
use crate::client::Error;

/// The longest id of a session.
const LONGEST: usize = 4096;

/// The session and the revision that a request belongs to.
#[derive(Clone, Default, PartialEq, Eq)]
pub(super) struct Stamp {
    /// The id that the server gave. Never shown (LHTTP-C-08).
    pub(super) session: Option<HeaderValue>,
    /// The revision, where it is said in a header.
    pub(super) version: Option<Version>,
}

impl Stamp {
    /// The stamp of a request after the handshake.
    pub(super) fn new(session: Option<HeaderValue>, version: Version) -> Self {
        // Before that there is no such header (LHTTP-C-12).
        let version = (version >= Version::V2025_06_18).then_some(version);
        Self { session, version }
    }
}

/// The id of the session that a response begins.
///
/// # Errors
/// When it is none that could be sent back (LHTTP-S-22).
pub(super) fn given(headers: &HeaderMap) -> Result<Option<HeaderValue>, Error> {
    let mut ids = headers.get_all(SESSION).iter();
    let Some(id) = ids.next() else {
        return Ok(None);
    };
    let why = if ids.next().is_some() {
        "there are several"
    } else if id.is_empty() {
        "it is empty"
    } else if id.len() > LONGEST {
        "it is too long"
    } else if !id.as_bytes().iter().all(u8::is_ascii_graphic) {
        "it holds more than visible ASCII characters"
    } else {
        let mut id = id.clone();
        id.set_sensitive(true);
        return Ok(Some(id));
    };
    Err(Error::decode(format!(
        "the id that the server gave the session cannot be used: {why}"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// LHTTP-S-22
    #[test]
    fn ids_of_sessions_are_visible_ascii() {
        let read = |ids: &[&[u8]]| {
            let mut headers = HeaderMap::new();
            for id in ids {
                let value = HeaderValue::from_bytes(id).expect("a value");
                headers.append(SESSION, value);
            }
            given(&headers)
        };
        assert!(matches!(read(&[]), Ok(None)));
        let longest = "x".repeat(LONGEST);
        for id in ["!", "~", "0b3c-4.5_6:7", "eyJ.e30.x==", &longest] {
            let given = read(&[id.as_bytes()]).expect(id).expect(id);
            assert_eq!(given, id);
            assert!(!format!("{given:?}").contains(id));
        }
        let long = format!("{longest}x");
        let two: &[&[u8]] = &[b"a", b"b"];
        for ids in [
            two,
            &[b""],
            &[b"a b"],
            &[b"a\tb"],
            &[b"\xff"],
            &[long.as_bytes()],
        ] {
            assert!(read(ids).is_err(), "{ids:?}");
        }
    }

    /// LHTTP-C-12
    #[test]
    fn the_revision_is_said_since_there_is_a_header_for_it() {
        let said = |version| Stamp::new(None, version).version;
        assert_eq!(said(Version::V2024_11_05), None);
        assert_eq!(said(Version::V2025_03_26), None);
        for version in [Version::V2025_06_18, Version::V2025_11_25] {
            assert_eq!(said(version), Some(version));
        }
    }
}
