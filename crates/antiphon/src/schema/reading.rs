//! [`Reading`]: a type that is read, for code that need not know which.

use serde::de::DeserializeOwned;

use antiphon_types::decode;

use super::Violations;
use super::feed::Fed;
use super::json::Json;
use super::misread::Misread;

/// Whoever reads a type, whichever it is.
pub(crate) trait Read {
    /// From JSON: the way of every call.
    ///
    /// # Errors
    /// What does not fit.
    fn json(&mut self, text: &str) -> serde_json::Result<()>;

    /// From anything else, and once more from JSON that did not fit.
    ///
    /// # Errors
    /// What does not fit.
    fn fed(&mut self, from: Fed<'_>) -> Result<(), Misread>;
}

/// A value of type `T`, as soon as it is read.
pub(crate) struct Reading<T>(Option<T>);

impl<T> Default for Reading<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> Reading<T> {
    pub(crate) fn done(self) -> Option<T> {
        self.0
    }
}

impl<T: DeserializeOwned> Read for Reading<T> {
    fn json(&mut self, text: &str) -> serde_json::Result<()> {
        self.0 = Some(decode(text)?);
        Ok(())
    }

    fn fed(&mut self, from: Fed<'_>) -> Result<(), Misread> {
        self.0 = Some(T::deserialize(from)?);
        Ok(())
    }
}

/// Why a type cannot be read from a JSON text, and where; nothing if it can.
pub(crate) fn explain(into: &mut dyn Read, text: &str) -> Option<Violations> {
    let misread = into.fed(Fed::Json(Json::new(text))).err()?;
    let (path, why) = misread.into_path();
    Some(Violations::one(path, why))
}
