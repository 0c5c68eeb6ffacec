//! What a question is known by: its method and parameters in one spelling.

use antiphon_core::canonical::canonical;
use antiphon_types::InputRequest;

use super::Stop;
use crate::form::Definition;

/// A form, put together from parts that are canonical already.
pub(super) fn form(message: &str, definition: &Definition) -> Vec<u8> {
    let schema = definition.canonical();
    let mut bytes = Vec::with_capacity(message.len() + schema.len() + 128);
    bytes.extend_from_slice(b"{s6:methods18:elicitation/creates6:params{s7:messages");
    // A tenth of what `write!` takes.
    _ = serde_json::to_writer(&mut bytes, &message.len());
    bytes.push(b':');
    bytes.extend_from_slice(message.as_bytes());
    bytes.extend_from_slice(b"s4:modes4:forms15:requestedSchema");
    bytes.extend_from_slice(schema);
    bytes.extend_from_slice(b"}}");
    bytes
}

/// Any question.
pub(super) fn any(request: &InputRequest) -> Result<Vec<u8>, Stop> {
    let json = serde_json::to_string(request)?;
    let mut bytes = Vec::new();
    canonical(&json, &mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use antiphon_types::ElicitRequestParams;

    use super::*;
    use crate::form::RawForm;

    #[test]
    fn a_form_is_put_together_as_it_would_be_read() {
        let schema = serde_json::json!({
            "type": "object",
            "properties": {"size": {"type": "integer", "minimum": 1}, "name": {"type": "string"}},
            "required": ["name"],
        });
        let definition = RawForm::new(schema).expect("a form");
        let definition = definition.definition();
        for message in ["", "Order \"Emma\"?", "zwölf\n"] {
            let request = ElicitRequestParams::form(message, definition.schema().clone());
            let read = any(&request.into()).expect("canonical");
            assert_eq!(form(message, definition), read, "{message}");
        }
    }
}
