//! Fields that look like secrets. No server may ask for those in a form (ELIC-S-12), so they are
//! only filled in by who says so.

use std::io;

use antiphon::{form::looks_like_secret, types::PrimitiveSchema};

use super::{Prompts, labels};

/// Whether a field seems to ask for a secret: by its name or its title, and only where something
/// can be typed.
pub(crate) fn is_wanted(name: &str, schema: &PrimitiveSchema) -> bool {
    let is_typed =
        labels::options(schema).is_none() && !matches!(schema, PrimitiveSchema::Boolean(_));
    let title = labels::title(schema).unwrap_or_default();
    is_typed && (looks_like_secret(name) || looks_like_secret(&title))
}

/// Warns of such a field. Whether to go on all the same; Enter alone does not.
pub(super) fn goes_on(prompts: &mut dyn Prompts, label: &str) -> io::Result<Option<bool>> {
    prompts.tell(&format!(
        "  ! {label}: this looks like a secret. Servers must not ask for secrets in a form: what \
         you type is shown here, and goes to the server as it is."
    ));
    prompts.yes_or_no("Fill it in all the same?", "", Some(false))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn secrets_are_found_by_name_and_by_title() {
        for (name, schema, is_secret) in [
            ("password", json!({ "type": "string" }), true),
            ("pin", json!({ "type": "integer" }), true),
            ("apiKey", json!({ "type": "object" }), true),
            (
                "field",
                json!({ "type": "string", "title": "Your access token" }),
                true,
            ),
            ("name", json!({ "type": "string" }), false),
            // What is chosen is no secret.
            ("reset_password", json!({ "type": "boolean" }), false),
            ("token", json!({ "type": "string", "enum": ["a"] }), false),
        ] {
            let Value::Object(object) = schema.clone() else {
                panic!("{schema} is no object");
            };
            let field = PrimitiveSchema::from_value(object);
            assert_eq!(is_wanted(name, &field), is_secret, "{name}: {schema}");
        }
    }
}
