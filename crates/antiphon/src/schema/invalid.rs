//! A schema that cannot be used.

use std::{error, fmt};

/// What is wrong with a schema, told to the author of the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct InvalidSchema(String);

impl InvalidSchema {
    pub(crate) fn new(why: impl Into<String>) -> Self {
        Self(why.into())
    }
}

impl fmt::Display for InvalidSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl error::Error for InvalidSchema {}
