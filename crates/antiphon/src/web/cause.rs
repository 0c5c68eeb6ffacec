//! [`Cause`]: an error whose text tells the whole chain.

use std::{error::Error as StdError, fmt};

use super::error::Boxed;

/// An error as a person reads it: what every link of its chain says, once. Its source is the last
/// link.
#[derive(Debug)]
pub(crate) struct Cause(Boxed);

impl Cause {
    pub(crate) fn new(error: impl Into<Boxed>) -> Self {
        Self(error.into())
    }

    fn links(&self) -> impl Iterator<Item = &(dyn StdError + 'static)> {
        let first: &(dyn StdError + 'static) = &*self.0;
        std::iter::successors(Some(first), |&link| link.source())
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut before = String::new();
        for link in self.links() {
            let text = link.to_string();
            if before.ends_with(&text) {
                continue;
            }
            if !before.is_empty() {
                f.write_str(": ")?;
            }
            f.write_str(&text)?;
            before = text;
        }
        Ok(())
    }
}

impl StdError for Cause {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.links().last()
    }
}
