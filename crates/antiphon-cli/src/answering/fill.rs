//! A form that is filled in without a person: with what was given, and its defaults.

use antiphon::{RawForm, types::FormSchema};
use serde_json::{Map, Value};

use crate::{
    nearest::{instead, listed},
    printable,
};

/// All the fields of an accepted form; those that are not given have their defaults.
///
/// The error says what the form lacks or does not have, and which rule a value breaks; never the
/// value.
pub(super) fn accepted(
    form: &FormSchema,
    mut given: Map<String, Value>,
) -> Result<Map<String, Value>, String> {
    let mut content = Map::new();
    for (name, field) in &form.properties {
        // The order is the form's.
        let value = given.shift_remove(name).or_else(|| field.default_value());
        content.extend(value.map(|value| (name.clone(), value)));
    }
    if let Some((name, _)) = given.iter().next() {
        let names: Vec<_> = form.properties.iter().map(|(name, _)| &**name).collect();
        let instead = instead(name, &names);
        return Err(format!(
            "the form has no field {}: {instead}",
            listed([&**name])
        ));
    }
    let required = form.required.iter().flatten().map(String::as_str);
    let missing: Vec<_> = required
        .filter(|name| !content.contains_key(*name))
        .collect();
    if !missing.is_empty() {
        return Err(format!("the form also needs {}", listed(missing)));
    }
    // A form that nobody should ask like that is left to the client.
    let errors = RawForm::new(form).map(|form| form.definition().errors(&content));
    let errors = errors.unwrap_or_default();
    match errors.is_empty() {
        true => Ok(content),
        false => Err(printable::line(&errors.join("; "))),
    }
}

#[cfg(test)]
mod tests {
    use antiphon::types::{BooleanSchema, NumberSchema, StringSchema};
    use serde_json::json;

    use super::*;

    #[test]
    fn a_value_keeps_to_the_rules_of_its_field() {
        let mut copies = NumberSchema::integer();
        copies.maximum = Some(9.into());
        let form = FormSchema::new().required("copies", copies);
        let given = |value: Value| Map::from_iter([("copies".to_owned(), value)]);
        assert!(accepted(&form, given(json!(9))).is_ok());
        for value in [json!(4711), json!("4711"), json!(null)] {
            let error = accepted(&form, given(value)).expect_err("it does not fit");
            assert!(error.starts_with("`copies`: "), "{error}");
            assert!(!error.contains("4711"), "{error}");
        }
    }

    #[test]
    fn fields_are_given_or_have_defaults() {
        let mut copies = NumberSchema::integer();
        copies.default = Some(1.into());
        let form = FormSchema::new()
            .required("title", StringSchema::new())
            .required("copies", copies)
            .optional("gift", BooleanSchema::new());
        for (given, expected) in [
            (
                json!({"title": "a"}),
                Ok(json!({"title": "a", "copies": 1})),
            ),
            (
                json!({"gift": true, "copies": 2, "title": "a"}),
                Ok(json!({"title": "a", "copies": 2, "gift": true})),
            ),
            (json!({}), Err("the form also needs `title`")),
            (
                json!({"titel": "a"}),
                Err("the form has no field `titel`: did you mean `title`?"),
            ),
        ] {
            let object = given.as_object().expect("an object").clone();
            let content = accepted(&form, object).map(Value::Object);
            assert_eq!(content, expected.map_err(str::to_owned), "{given}");
        }
    }
}
