//! [`Reading`]: a type that is read, for code that need not know which.

use serde::de::DeserializeOwned;
use serde_json::{Deserializer, de::StrRead};

use antiphon_types::decode_from;

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
    fn json(&mut self, from: &mut Deserializer<StrRead<'_>>) -> serde_json::Result<()>;

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

impl<T> Reading<T> {
    /// In a function of its own, whose code is there once for all ways to read a type.
    #[inline(never)]
    fn put(&mut self, value: T) {
        self.0 = Some(value);
    }
}

impl<T: DeserializeOwned> Read for Reading<T> {
    fn json(&mut self, from: &mut Deserializer<StrRead<'_>>) -> serde_json::Result<()> {
        decode_from(from).map(|value| self.put(value))
    }

    fn fed(&mut self, from: Fed<'_>) -> Result<(), Misread> {
        T::deserialize(from).map(|value| self.put(value))
    }
}

/// Reads a type from a JSON text.
///
/// # Errors
/// What does not fit.
pub(crate) fn read_json(into: &mut dyn Read, text: &str) -> serde_json::Result<()> {
    let mut from = Deserializer::from_str(text);
    into.json(&mut from)?;
    from.end()
}

/// Why a type cannot be read from a JSON text, and where; nothing if it can.
pub(crate) fn explain(into: &mut dyn Read, text: &str) -> Option<Violations> {
    let misread = into.fed(Fed::Json(Json::new(text))).err()?;
    let (path, why) = misread.into_path();
    Some(Violations::one(path, why))
}
