//! [`Known`]: what was negotiated, also when it changes under those who look at it.

use std::sync::OnceLock;

use crate::client::Negotiated;

/// Most changes that are kept; a server that says something else of itself with every handshake
/// must not fill the memory.
const CHANGES: usize = 32;

/// What was negotiated last, and whatever it replaced: references to that stay good for as long as
/// the connection.
#[derive(Debug, Default)]
pub(in crate::client) struct Known(OnceLock<Box<Link>>);

#[derive(Debug)]
struct Link {
    negotiated: Negotiated,
    next: Known,
}

impl Known {
    /// What was negotiated last.
    pub(in crate::client) fn get(&self) -> Option<&Negotiated> {
        let mut last = self.0.get()?;
        while let Some(next) = last.next.0.get() {
            last = next;
        }
        Some(&last.negotiated)
    }

    /// Replaces what is known, unless it is the same. After very many changes what the server says
    /// of itself stays what it was; `false` if its revision would have to change as well.
    pub(in crate::client) fn set(&self, negotiated: Negotiated) -> bool {
        let mut end = self;
        let mut changes = 0;
        while let Some(link) = end.0.get() {
            if link.next.0.get().is_none() {
                let last = &link.negotiated;
                let enough = changes + 1 >= CHANGES && last.version == negotiated.version;
                if enough || *last == negotiated {
                    return true;
                }
            }
            changes += 1;
            end = &link.next;
        }
        let next = Self::default();
        let link = Link { negotiated, next };
        changes < CHANGES && end.0.set(Box::new(link)).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use antiphon_types::Version;

    #[test]
    fn the_last_word_counts_and_the_first_stays_readable() {
        let known = Known::default();
        assert!(known.get().is_none());
        assert!(known.set(Negotiated::new(Version::V2025_06_18)));
        let first = known.get().expect("known");
        assert!(known.set(Negotiated::new(Version::V2025_11_25)));
        assert_eq!(known.get().expect("known").version, Version::V2025_11_25);
        assert_eq!(first.version, Version::V2025_06_18);
    }

    #[test]
    fn changes_are_bounded_and_repetitions_are_none() {
        let known = Known::default();
        for at in 0..CHANGES {
            let mut negotiated = Negotiated::new(Version::V2025_06_18);
            negotiated.instructions = Some(at.to_string());
            assert!(known.set(negotiated.clone()) && known.set(negotiated));
        }
        assert!(known.set(Negotiated::new(Version::V2025_06_18)));
        assert!(!known.set(Negotiated::new(Version::V2025_11_25)));
        let last = known.get().expect("known");
        assert_eq!(last.instructions, Some((CHANGES - 1).to_string()));
    }
}
