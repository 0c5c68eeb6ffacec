//! Forms as the revisions know them.
//!
//! 2025-11-25 and later know all fields. 2025-06-18, the first with forms, has no choice of
//! several values, titles only as `enumNames`, and defaults only for booleans.

use serde_json::Value;

use super::{FormSchema, LegacyTitledEnumSchema, Object, PrimitiveSchema, StringSchema};
use crate::Version;

impl FormSchema {
    /// The form as a client of this revision knows it.
    ///
    /// Before 2025-11-25 a choice of several values is a text field, whose description lists the
    /// values; [`content_from`](Self::content_from) reads it back. Defaults that the revision does
    /// not have are left out. Revisions without forms get that of 2025-06-18.
    #[must_use]
    pub fn in_revision(&self, version: Version) -> Self {
        let mut form = self.clone();
        if version < Version::V2025_11_25 {
            form.schema = None;
            for (_, field) in &mut form.properties {
                *field = early(field);
            }
        }
        form
    }

    /// What was filled in with the form [of a revision](Self::in_revision), as if it were this
    /// form.
    #[must_use]
    pub fn content_from(&self, version: Version, mut content: Object) -> Object {
        if version < Version::V2025_11_25 {
            for (name, field) in &self.properties {
                let Some(options) = several(field) else {
                    continue;
                };
                let Some(Value::String(text)) = content.get(name) else {
                    continue;
                };
                // A blank text is how such a client leaves the field out.
                match text.trim().is_empty() && !self.is_required(name) {
                    true => _ = content.shift_remove(name),
                    false => _ = content.insert(name.clone(), listed(text, &options).into()),
                }
            }
        }
        content
    }
}

/// A field as 2025-06-18 knows it.
fn early(field: &PrimitiveSchema) -> PrimitiveSchema {
    let mut field = field.clone();
    match &mut field {
        PrimitiveSchema::String(field) => field.default = None,
        PrimitiveSchema::Number(field) => field.default = None,
        PrimitiveSchema::UntitledSingleSelect(field) => field.default = None,
        PrimitiveSchema::LegacyTitledEnum(field) => field.default = None,
        PrimitiveSchema::TitledSingleSelect(field) => {
            let mut early = LegacyTitledEnumSchema::new(std::mem::take(&mut field.one_of));
            early.title = field.title.take();
            early.description = field.description.take();
            return early.into();
        }
        PrimitiveSchema::UntitledMultiSelect(it) => {
            let (title, description) = (it.title.take(), it.description.take());
            return text(title, description, [it.min_items, it.max_items], &field);
        }
        PrimitiveSchema::TitledMultiSelect(it) => {
            let (title, description) = (it.title.take(), it.description.take());
            return text(title, description, [it.min_items, it.max_items], &field);
        }
        PrimitiveSchema::Boolean(_) | PrimitiveSchema::Other(_) => {}
    }
    field
}

/// A choice of several values as a text.
fn text(
    title: Option<String>,
    description: Option<String>,
    [least, most]: [Option<u64>; 2],
    field: &PrimitiveSchema,
) -> PrimitiveSchema {
    let options = several(field).unwrap_or_default();
    let options: Vec<String> = options
        .iter()
        .map(|(value, title)| described(value, *title))
        .collect();
    let count = match (least.unwrap_or(0), most) {
        (0, None) => "Any".to_owned(),
        (0, Some(most)) => format!("At most {most}"),
        (least, None) => format!("At least {least}"),
        (least, Some(most)) if least == most => format!("{least}"),
        (least, Some(most)) => format!("{least} to {most}"),
    };
    let mut lines = description.map_or_else(String::new, |text| text + "\n");
    lines += &format!(
        "{count} of these, separated by commas: {}",
        options.join(", ")
    );
    let mut early = StringSchema::new().description(lines);
    early.title = title;
    early.into()
}

/// An option as it stands in a description.
fn described(value: &str, title: Option<&str>) -> String {
    match title {
        Some(title) if title != value => format!("{value} ({title})"),
        _ => value.to_owned(),
    }
}

/// Values and their titles, if several may be chosen.
fn several(field: &PrimitiveSchema) -> Option<Vec<(&str, Option<&str>)>> {
    match field {
        PrimitiveSchema::UntitledMultiSelect(field) => {
            let values = field.values().iter();
            Some(values.map(|value| (value.as_str(), None)).collect())
        }
        PrimitiveSchema::TitledMultiSelect(field) => {
            let options = field.any_of().iter();
            let options = options.map(|it| (it.value.as_str(), Some(it.title.as_str())));
            Some(options.collect())
        }
        _ => None,
    }
}

/// The values in a text, separated by commas. A value may have commas itself, and may be written
/// as its title, or with it as in the description.
fn listed(text: &str, options: &[(&str, Option<&str>)]) -> Vec<String> {
    let mut values = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let known = options.iter().flat_map(|(value, title)| {
            let both = described(value, *title);
            let names = [Some(*value), *title, Some(&both)].into_iter().flatten();
            let found = names.filter_map(|name| Some((name.len(), *value, after(rest, name)?)));
            found.collect::<Vec<_>>()
        });
        // The longest: `a, b` may be a value besides `a`. Of two alike the first, which is a
        // value before it is the title of another.
        let (value, next) = match known.reduce(|a, b| if b.0 > a.0 { b } else { a }) {
            Some((_, value, next)) => (value, next),
            None => {
                let (unknown, next) = rest.split_once(',').unwrap_or((rest, ""));
                (unknown.trim(), next)
            }
        };
        values.push(value.to_owned());
        rest = next.trim();
    }
    values
}

/// What comes after `name` and a comma.
fn after<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let rest = text.strip_prefix(name)?.trim_start();
    match rest.is_empty() {
        true => Some(rest),
        false => rest.strip_prefix(','),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn form(properties: &Value) -> FormSchema {
        let schema = json!({"$schema": "x", "type": "object", "properties": properties,
            "required": ["s"]});
        serde_json::from_value(schema).expect("a form")
    }

    #[test]
    fn later_revisions_get_the_form_as_it_is() {
        let form = form(&json!({"s": {"type": "string", "default": "x"}}));
        for version in [Version::V2025_11_25, Version::V2026_07_28] {
            assert_eq!(form.in_revision(version), form);
            let content = json!({"s": "a, b"})
                .as_object()
                .cloned()
                .expect("an object");
            assert_eq!(form.content_from(version, content.clone()), content);
        }
    }

    #[test]
    fn the_first_revision_gets_what_it_knows() {
        let form = form(&json!({
            "s": {"type": "string", "minLength": 1, "default": "x"},
            "n": {"type": "integer", "maximum": 5, "default": 1},
            "b": {"type": "boolean", "default": true},
            "e": {"type": "string", "enum": ["a", "b"], "default": "a"},
            "t": {"type": "string", "title": "T", "oneOf": [{"const": "r", "title": "Red"}],
                "default": "r"},
            "m": {"type": "array", "title": "M", "description": "Some.", "minItems": 1,
                "maxItems": 2, "items": {"type": "string", "enum": ["a", "b"]}, "default": ["a"]},
            "k": {"type": "array", "items": {"anyOf": [
                {"const": "r", "title": "Red"}, {"const": "g", "title": "Green"}]}},
        }));
        let early = serde_json::to_value(form.in_revision(Version::V2025_06_18));
        assert_eq!(
            early.expect("a value"),
            json!({"type": "object", "properties": {
                "s": {"type": "string", "minLength": 1},
                "n": {"type": "integer", "maximum": 5},
                "b": {"type": "boolean", "default": true},
                "e": {"type": "string", "enum": ["a", "b"]},
                "t": {"type": "string", "title": "T", "enum": ["r"], "enumNames": ["Red"]},
                "m": {"type": "string", "title": "M",
                    "description": "Some.\n1 to 2 of these, separated by commas: a, b"},
                "k": {"type": "string",
                    "description": "Any of these, separated by commas: r (Red), g (Green)"},
            }, "required": ["s"]})
        );
    }

    #[test]
    fn a_blank_text_is_an_empty_list_only_where_there_must_be_one() {
        let several = json!({"type": "array", "items": {"type": "string", "enum": ["a"]}});
        let form = json!({"type": "object", "properties": {"m": several, "o": several},
            "required": ["m"]});
        let form: FormSchema = serde_json::from_value(form).expect("a form");
        let content = json!({"m": "", "o": " "}).as_object().cloned();
        let read = form.content_from(Version::V2025_06_18, content.expect("an object"));
        assert_eq!(Value::Object(read), json!({"m": []}));
    }

    #[test]
    fn a_list_in_a_text_is_read_back() {
        let form = form(&json!({
            "s": {"type": "string"},
            "m": {"type": "array", "items": {"type": "string", "enum": ["a", "b", "a, b", "a c"]}},
            "k": {"type": "array", "items": {"anyOf": [
                {"const": "r", "title": "Red, dark"}, {"const": "g", "title": "r"}]}},
            "w": {"type": "array", "items": {"type": "string", "enum": ["a ", "b"]}},
        }));
        for (field, text, list) in [
            ("m", json!("a"), json!(["a"])),
            ("m", json!(" b ,a "), json!(["b", "a"])),
            ("m", json!("b, a, b"), json!(["b", "a, b"])),
            ("m", json!("a c,b"), json!(["a c", "b"])),
            ("m", json!("a,"), json!(["a"])),
            ("m", json!(", a"), json!(["", "a"])),
            ("m", json!("x y, ab, a"), json!(["x y", "ab", "a"])),
            ("m", json!(["a"]), json!(["a"])),
            ("m", json!(5), json!(5)),
            ("k", json!("Red, dark, g"), json!(["r", "g"])),
            ("k", json!("r"), json!(["r"])),
            // As the description has it.
            ("k", json!("r (Red, dark), g (r)"), json!(["r", "g"])),
            ("w", json!("a , b"), json!(["a ", "b"])),
            ("s", json!("a, b"), json!("a, b")),
            ("other", json!("a, b"), json!("a, b")),
        ] {
            let content = Object::from_iter([(field.to_owned(), text.clone())]);
            let read = form.content_from(Version::V2025_06_18, content);
            assert_eq!(read[field], list, "{field} {text}");
        }
    }
}
