//! Whether a schema is what a form may be: flat, and of known keywords.

use std::collections::BTreeSet;

use antiphon_core::form::check;
use antiphon_types::{FormSchema, NumberSchema, PrimitiveSchema, TitledOption};
use serde_json::Value;

/// What is wrong with a form as a whole.
pub(super) fn whole(schema: &FormSchema) -> Vec<String> {
    let mut problems = Vec::new();
    if schema.properties.is_empty() {
        problems.push("a form without fields asks for nothing".to_owned());
    }
    for keyword in schema.extra.keys() {
        problems.push(format!("a form has no keyword `{keyword}`"));
    }
    for name in schema.required.iter().flatten() {
        if schema.property(name).is_none() {
            problems.push(format!("`{name}`: is required, but no field"));
        }
    }
    problems
}

/// What is wrong with a field in itself.
pub(super) fn parts(field: &PrimitiveSchema) -> Vec<String> {
    let mut problems = Vec::new();
    let (extra, options, titles, [least, most]) = match field {
        PrimitiveSchema::String(it) => (&it.extra, None, None, [it.min_length, it.max_length]),
        PrimitiveSchema::Number(it) => (&it.extra, None, None, [None; 2]),
        PrimitiveSchema::Boolean(it) => (&it.extra, None, None, [None; 2]),
        PrimitiveSchema::UntitledSingleSelect(it) => {
            (&it.extra, Some(texts(&it.values)), None, [None; 2])
        }
        PrimitiveSchema::LegacyTitledEnum(it) => {
            let titles = it.enum_names.as_deref().map(texts);
            (&it.extra, Some(texts(&it.values)), titles, [None; 2])
        }
        PrimitiveSchema::TitledSingleSelect(it) => {
            let (values, titles) = split(&it.one_of);
            (&it.extra, Some(values), Some(titles), [None; 2])
        }
        PrimitiveSchema::UntitledMultiSelect(it) => {
            let bounds = [it.min_items, it.max_items];
            (&it.extra, Some(texts(it.values())), None, bounds)
        }
        PrimitiveSchema::TitledMultiSelect(it) => {
            let (values, titles) = split(it.any_of());
            let bounds = [it.min_items, it.max_items];
            (&it.extra, Some(values), Some(titles), bounds)
        }
        _ => return vec!["is of no kind that a form has: forms are flat".to_owned()],
    };
    let several = matches!(
        field,
        PrimitiveSchema::UntitledMultiSelect(_) | PrimitiveSchema::TitledMultiSelect(_)
    );
    for (keyword, value) in extra {
        if !(several && keyword == "uniqueItems" && value.is_boolean()) {
            problems.push(format!("such a field has no keyword `{keyword}`"));
        }
    }
    if options.as_ref().is_some_and(Vec::is_empty) {
        problems.push("leaves nothing to choose from".to_owned());
    }
    // Nothing is chosen twice, unless that is said.
    let twice = extra.get("uniqueItems") == Some(&Value::Bool(false));
    if let (Some(options), Some(least), false) = (&options, least, twice)
        && least > options.len() as u64
    {
        problems.push("asks for more than there are to choose from".to_owned());
    }
    if options.as_deref().is_some_and(has_twins) {
        problems.push("has an option twice".to_owned());
    }
    if titles.as_deref().is_some_and(has_twins) {
        problems.push("has two options of one title".to_owned());
    }
    if let (Some(options), Some(titles)) = (options, titles)
        && options.len() != titles.len()
    {
        problems.push("has not as many titles as options".to_owned());
    }
    let crossed = matches!((least, most), (Some(least), Some(most)) if least > most);
    if crossed || matches!(field, PrimitiveSchema::Number(it) if numbers_cross(it)) {
        problems.push("has a lower bound above the upper".to_owned());
    }
    problems
}

/// Whether no number is between the bounds; the upper does not fit the lower then.
fn numbers_cross(field: &NumberSchema) -> bool {
    let Some(most) = field.maximum.clone() else {
        return false;
    };
    let mut low = NumberSchema::number();
    low.minimum = field.minimum.clone();
    breaks(&low.into(), &Value::Number(most))
}

fn breaks(field: &PrimitiveSchema, value: &Value) -> bool {
    let mut broken = false;
    check(field, value, &mut |_| broken = true);
    broken
}

fn texts(texts: &[String]) -> Vec<&str> {
    texts.iter().map(String::as_str).collect()
}

fn split(options: &[TitledOption]) -> (Vec<&str>, Vec<&str>) {
    let options = options.iter();
    options
        .map(|option| (option.value.as_str(), option.title.as_str()))
        .unzip()
}

fn has_twins(texts: &[&str]) -> bool {
    let different: BTreeSet<_> = texts.iter().collect();
    different.len() < texts.len()
}
