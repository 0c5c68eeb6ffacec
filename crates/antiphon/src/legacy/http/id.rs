//! [`Id`]: what a session is known by.

use std::fmt;

use http::HeaderValue;

/// 128 random bits. Whoever has them has the session, so they are in no log (LHTTP-S-21).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Id([u8; 16]);

impl Id {
    /// A fresh one.
    pub(super) fn random() -> Result<Self, getrandom::Error> {
        let mut bits = [0; 16];
        getrandom::fill(&mut bits)?;
        Ok(Self(bits))
    }

    /// The one that a header names, after what all of ours begin with; `None` for text that is none of
    /// ours.
    pub(super) fn read(header: &HeaderValue, prefix: &str) -> Option<Self> {
        let digits = header.as_bytes().strip_prefix(prefix.as_bytes())?;
        let text: &[u8; 32] = digits.try_into().ok()?;
        let mut bits = [0; 16];
        for (byte, pair) in bits.iter_mut().zip(text.chunks_exact(2)) {
            *byte = digit(pair[0])? << 4 | digit(pair[1])?;
        }
        Some(Self(bits))
    }

    /// As the header has it (LHTTP-S-22).
    pub(super) fn header(self, prefix: &str) -> HeaderValue {
        let digits = self.0.iter().map(|byte| format!("{byte:02x}"));
        let text: String = std::iter::once(prefix.to_owned()).chain(digits).collect();
        let mut value = HeaderValue::from_str(&text).expect("a plain name and digits");
        value.set_sensitive(true);
        value
    }
}

fn digit(text: u8) -> Option<u8> {
    match text {
        b'0'..=b'9' => Some(text - b'0'),
        b'a'..=b'f' => Some(text - b'a' + 10),
        _ => None,
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Id(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// LHTTP-S-21, LHTTP-S-22
    #[test]
    fn what_is_sent_is_what_is_read() {
        let (one, two) = (Id::random().expect("bits"), Id::random().expect("bits"));
        assert_ne!(one, two);
        let header = one.header("");
        assert!(
            header
                .as_bytes()
                .iter()
                .all(|byte| (0x21..=0x7e).contains(byte))
        );
        assert_eq!(Id::read(&header, ""), Some(one));
        let text = header.to_str().expect("ASCII").to_owned();
        assert!(!format!("{one:?}{header:?}").contains(&text));
        let longer = format!("{text}0");
        for other in [
            "",
            "x",
            &text[..31],
            &longer,
            &text.replace(&text[..1], "G"),
        ] {
            let header = HeaderValue::from_str(other).expect("a header");
            assert_eq!(Id::read(&header, ""), None, "{other}");
        }
    }

    #[test]
    fn a_replica_reads_what_begins_with_its_name() {
        let one = Id::random().expect("bits");
        let (plain, named) = (one.header(""), one.header("a-"));
        assert!(named.as_bytes().starts_with(b"a-"));
        assert_eq!(Id::read(&named, "a-"), Some(one));
        assert_eq!(Id::read(&named, "b-"), None);
        assert_eq!(Id::read(&named, ""), None);
        assert_eq!(Id::read(&plain, "a-"), None);
    }
}
