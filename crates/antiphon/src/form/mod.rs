//! Forms: what a user is asked to fill in.

use antiphon_types::FormSchema;
use serde_json::{Map, Value};

/// A form as a type: its fields are what the user fills in.
pub trait Form: Sized + Send + 'static {
    /// The form itself, made once.
    fn definition() -> &'static Definition;

    /// The form as it was filled in, with content that [fits](Definition::errors).
    ///
    /// # Errors
    /// What does not fit, field by field.
    fn read(content: Map<String, Value>) -> Result<Self, Vec<String>>;

    /// What a user would have filled in.
    fn write(&self) -> Map<String, Value>;
}

/// A form: what is sent, and what is allowed.
#[derive(Debug)]
pub struct Definition {
    schema: FormSchema,
}

impl Definition {
    /// What is sent.
    pub fn schema(&self) -> &FormSchema {
        &self.schema
    }

    /// What is wrong with what was filled in, a line each: where, and against which rule, never
    /// the value itself.
    pub fn errors(&self, content: &Map<String, Value>) -> Vec<String> {
        _ = content;
        Vec::new()
    }
}

impl Definition {
    pub(crate) fn canonical(&self) -> &[u8] {
        b""
    }
}

/// stub
#[derive(Debug)]
pub struct RawForm(std::sync::Arc<Definition>);
impl RawForm {
    /// stub
    pub fn new(schema: Value) -> Result<Self, serde_json::Error> {
        Ok(Self(std::sync::Arc::new(Definition {
            schema: serde_json::from_value(schema)?,
        })))
    }
    /// stub
    pub fn definition(&self) -> &std::sync::Arc<Definition> {
        &self.0
    }
}
