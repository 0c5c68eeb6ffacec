//! Results as older revisions know them.

use antiphon_core::{legacy, write};
use antiphon_types::ErrorObject;
use serde::Serialize;
use serde_json::{Map, Value};

use super::shim::Finished;
use crate::raw::{Call, Observed, Rendered, Reply};

/// Writes the result of one call.
pub(super) struct Writer<'a, 'o> {
    pub(super) call: &'a Call<'a>,
    pub(super) out: &'o mut Vec<u8>,
}

impl Writer<'_, '_> {
    pub(super) fn reply<T: Finished>(&mut self, reply: Reply<T>) -> Result<Observed, ErrorObject> {
        let failed = match reply {
            Reply::Complete(result) if result.fits(self.call.version) => {
                self.write(&result)?;
                result.is_error()
            }
            Reply::Complete(result) => {
                self.complete(&result)?;
                result.is_error()
            }
            Reply::Rendered(rendered) => {
                self.rendered(&rendered)?;
                rendered.is_error
            }
            Reply::InputRequired(_) => {
                tracing::error!(self.call.method, "questions where there should be a result");
                return Err(ErrorObject::internal("Internal error"));
            }
        };
        Ok(match failed {
            true => Observed::ToolError,
            false => Observed::Complete,
        })
    }

    /// A result that may hold what the revision does not know.
    pub(super) fn complete(&mut self, result: &impl Serialize) -> Result<(), ErrorObject> {
        let result = serde_json::to_value(result).map_err(|error| self.unwritable(&error))?;
        self.older(result)
    }

    pub(super) fn rendered<T>(&mut self, rendered: &Rendered<T>) -> Result<(), ErrorObject> {
        let mut result: Map<String, Value> =
            serde_json::from_slice(&rendered.json).map_err(|error| self.unwritable(&error))?;
        if let Some(meta) = &rendered.meta {
            result.insert("_meta".to_owned(), Value::Object(meta.clone()));
        }
        self.older(Value::Object(result))
    }

    fn older(&mut self, mut result: Value) -> Result<(), ErrorObject> {
        legacy::result(self.call.method, self.call.version, &mut result);
        self.write(&result)
    }

    fn write(&mut self, result: &impl Serialize) -> Result<(), ErrorObject> {
        write::bare_result(self.out, self.call.id, result).map_err(|error| self.unwritable(&error))
    }

    fn unwritable(&self, error: &serde_json::Error) -> ErrorObject {
        tracing::error!(method = self.call.method, %error, "a result does not serialise");
        ErrorObject::internal("Internal error")
    }
}
