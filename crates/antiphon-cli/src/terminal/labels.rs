//! What a person is told of a field: its name, what it is for, what it takes.

use antiphon::types::{NumberKind, NumberSchema, PrimitiveSchema, StringFormat, StringSchema};
use serde_json::Value;

use super::printable;

/// Its name.
pub(super) fn label(name: &str, schema: &PrimitiveSchema, required: bool) -> String {
    let title = match schema {
        PrimitiveSchema::String(field) => &field.title,
        PrimitiveSchema::Number(field) => &field.title,
        PrimitiveSchema::Boolean(field) => &field.title,
        PrimitiveSchema::UntitledSingleSelect(field) => &field.title,
        PrimitiveSchema::TitledSingleSelect(field) => &field.title,
        PrimitiveSchema::UntitledMultiSelect(field) => &field.title,
        PrimitiveSchema::TitledMultiSelect(field) => &field.title,
        PrimitiveSchema::LegacyTitledEnum(field) => &field.title,
        _ => &None,
    };
    let title = printable::excerpt(title.as_deref().unwrap_or(name), 80);
    match required {
        true => title,
        false => format!("{title} (optional)"),
    }
}

/// What it is for, and what it takes.
pub(super) fn help(schema: &PrimitiveSchema) -> String {
    let (description, rule) = match schema {
        PrimitiveSchema::String(field) => (&field.description, of_text(field)),
        PrimitiveSchema::Number(field) => (&field.description, of_number(field)),
        PrimitiveSchema::Boolean(field) => (&field.description, String::new()),
        PrimitiveSchema::UntitledSingleSelect(field) => (&field.description, String::new()),
        PrimitiveSchema::TitledSingleSelect(field) => (&field.description, String::new()),
        PrimitiveSchema::LegacyTitledEnum(field) => (&field.description, String::new()),
        PrimitiveSchema::UntitledMultiSelect(field) => {
            let rule = between(field.min_items, field.max_items, "choices");
            (&field.description, rule)
        }
        PrimitiveSchema::TitledMultiSelect(field) => {
            let rule = between(field.min_items, field.max_items, "choices");
            (&field.description, rule)
        }
        PrimitiveSchema::Other(field) => {
            let description = field.get("description").and_then(Value::as_str);
            (&description.map(str::to_owned), "as JSON".to_owned())
        }
        _ => (&None, String::new()),
    };
    let description = printable::excerpt(description.as_deref().unwrap_or_default(), 200);
    said([description, rule], "; ")
}

/// What there is to choose from: the values, and what is shown of each.
pub(super) fn options(schema: &PrimitiveSchema) -> Option<Vec<(String, String)>> {
    let plain = |values: &[String]| {
        let values = values.iter();
        values
            .map(|value| (value.clone(), printable::line(value)))
            .collect()
    };
    let titled = |value: &str, title: &str| {
        let shown = match value == title {
            true => printable::line(value),
            false => format!("{} ({})", printable::line(title), printable::line(value)),
        };
        (value.to_owned(), shown)
    };
    Some(match schema {
        PrimitiveSchema::UntitledSingleSelect(field) => plain(&field.values),
        PrimitiveSchema::UntitledMultiSelect(field) => plain(field.values()),
        PrimitiveSchema::TitledSingleSelect(field) => {
            let options = field.one_of.iter();
            options
                .map(|option| titled(&option.value, &option.title))
                .collect()
        }
        PrimitiveSchema::TitledMultiSelect(field) => {
            let options = field.any_of().iter();
            options
                .map(|option| titled(&option.value, &option.title))
                .collect()
        }
        PrimitiveSchema::LegacyTitledEnum(field) => {
            let names = field.enum_names.iter().flatten();
            let names = names.map(Some).chain(std::iter::repeat(None));
            let values = field.values.iter().zip(names);
            values
                .map(|(value, name)| titled(value, name.unwrap_or(value)))
                .collect()
        }
        _ => return None,
    })
}

fn of_text(field: &StringSchema) -> String {
    let length = between(field.min_length, field.max_length, "characters");
    let format = field.format.and_then(|format| match format {
        StringFormat::Email => Some("a mail address"),
        StringFormat::Uri => Some("a URI"),
        StringFormat::Date => Some("a date such as 2026-07-28"),
        StringFormat::DateTime => Some("a time such as 2026-07-28T12:00:00Z"),
        _ => None,
    });
    let rules = [format.unwrap_or_default().to_owned(), length];
    said(rules, ", ")
}

fn between(least: Option<u64>, most: Option<u64>, what: &str) -> String {
    match (least.filter(|least| *least > 0), most) {
        (Some(least), Some(most)) => format!("{least} to {most} {what}"),
        (Some(least), None) => format!("at least {least} {what}"),
        (None, Some(most)) => format!("at most {most} {what}"),
        (None, None) => String::new(),
    }
}

fn said(parts: [String; 2], between: &str) -> String {
    let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join(between)
}

fn of_number(field: &NumberSchema) -> String {
    let kind = match field.kind {
        NumberKind::Integer => "a whole number",
        NumberKind::Number => "a number",
    };
    match (&field.minimum, &field.maximum) {
        (Some(least), Some(most)) => format!("{kind} from {least} to {most}"),
        (Some(least), None) => format!("{kind}, at least {least}"),
        (None, Some(most)) => format!("{kind}, at most {most}"),
        (None, None) => kind.to_owned(),
    }
}
