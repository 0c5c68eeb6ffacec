//! A text becomes a value of the shape its schema asks for.

use serde_json::Value;

use super::{
    exact::{self, Unread},
    schema::{Schema, Shape},
};
use crate::printable;

/// So many of the values to choose from are named.
const NAMED: usize = 10;

/// What somebody typed for a name, once or again and again.
#[derive(Debug, Clone, Copy)]
pub(super) enum Typed<'a> {
    /// After `=`.
    Text(&'a str),
    /// After `:=`.
    Json(&'a str),
}

/// The value of these texts, all for the same name; the error goes on after the name.
pub(super) fn value<'a>(
    schema: &Schema<'a>,
    shapes: &[Shape<'a>],
    typed: &[Typed<'_>],
) -> Result<Value, String> {
    match typed {
        [Typed::Text(text)] => one(schema, shapes, text),
        [Typed::Json(text)] => {
            exact::json(text).map_err(|error| format!("does not have JSON after `:=`: {error}"))
        }
        several => {
            let list = shapes.iter().find_map(|shape| match shape {
                Shape::List(items) => Some(*items),
                _ => None,
            });
            let Some(items) = list else {
                return Err("is given more than once".to_owned());
            };
            let items = schema.shapes(items.as_slice());
            let values = several.iter().map(|typed| match typed {
                Typed::Text(text) if !text.starts_with('[') => single(&items, text)
                    .map_err(|error| format!("is a list, and each item {error}")),
                _ => Err("is given more than once, and as a whole list among them".to_owned()),
            });
            values.collect()
        }
    }
}

/// The value of one text: it, or a list of it.
fn one<'a>(schema: &Schema<'a>, shapes: &[Shape<'a>], text: &str) -> Result<Value, String> {
    let wrong = match single(shapes, text) {
        Ok(value) => return Ok(value),
        Err(wrong) => wrong,
    };
    // What begins with a bracket was to be the list.
    let lists = shapes.iter().filter(|_| !text.starts_with('['));
    for shape in lists {
        let Shape::List(items) = shape else {
            continue;
        };
        let items = schema.shapes(items.as_slice());
        // Items that are lists, too, are written in JSON.
        match single(&items, text) {
            Ok(value) => return Ok(vec![value].into()),
            Err(error) if shapes.len() == 1 => {
                return Err(format!("is a list, and each item {error}"));
            }
            Err(_) => {}
        }
    }
    Err(wrong)
}

fn single(shapes: &[Shape<'_>], text: &str) -> Result<Value, String> {
    let only = shapes.iter().find_map(|shape| match shape {
        Shape::Only(values) => values.iter().find(|value| is_written(value, text)),
        _ => None,
    });
    if let Some(value) = only {
        return Ok(value.clone());
    }
    let is_text = shapes.contains(&Shape::String);
    let mut why = String::new();
    for shape in shapes {
        match read(*shape, text, is_text) {
            Ok(Some(value)) => return Ok(value),
            Ok(None) => {}
            Err(reason) => why = format!(": {reason}"),
        }
    }
    if is_text {
        return Ok(text.into());
    }
    if shapes.contains(&Shape::Any) {
        return match exact::number(text) {
            Err(Unread::Inexact(why)) => Err(format!(
                "is a number that cannot be kept: {why}; write it as a text, with :=\"…\""
            )),
            _ => Ok(exact::json(text).unwrap_or_else(|_| text.into())),
        };
    }
    let typed = printable::excerpt(text, 60);
    Err(format!("must be {}, not `{typed}`{why}", expected(shapes)))
}

/// The text in this shape, if it is none that takes any text; the error is why it nearly was.
fn read(shape: Shape<'_>, text: &str, is_text: bool) -> Result<Option<Value>, String> {
    let number = |read: Result<serde_json::Number, Unread>| match read {
        Ok(number) => Ok(Some(number.into())),
        Err(Unread::Inexact(why)) => Err(why),
        Err(Unread::NoNumber | Unread::NotWhole) => Ok(None),
    };
    let json = |begin: char| match text.trim_start().starts_with(begin) {
        true => exact::json(text).map(Some),
        false => Ok(None),
    };
    match (shape, text) {
        (Shape::Integer, _) => number(exact::whole(text)),
        (Shape::Number, _) => number(exact::number(text)),
        (Shape::Boolean, "true") => Ok(Some(true.into())),
        (Shape::Boolean, "false") => Ok(Some(false.into())),
        // Where a text will do, these are words.
        (Shape::Boolean, "yes") if !is_text => Ok(Some(true.into())),
        (Shape::Boolean, "no") if !is_text => Ok(Some(false.into())),
        (Shape::Null, "null") => Ok(Some(Value::Null)),
        (Shape::List(_), _) => json('['),
        (Shape::Object, _) => json('{'),
        _ => Ok(None),
    }
}

/// Whether the text is how one would write the value.
fn is_written(value: &Value, text: &str) -> bool {
    match value {
        Value::String(value) => value == text,
        Value::Number(value) => exact::number(text).is_ok_and(|number| exact::same(&number, value)),
        value => serde_json::from_str::<Value>(text).is_ok_and(|typed| typed == *value),
    }
}

/// In words.
pub(super) fn expected(shapes: &[Shape<'_>]) -> String {
    let mut words: Vec<String> = Vec::new();
    let values = shapes.iter().filter_map(|shape| match shape {
        Shape::Only(values) => Some(values.iter()),
        _ => None,
    });
    let values: Vec<_> = values.flatten().collect();
    words.extend(values.iter().take(NAMED).map(|value| {
        let text = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        format!("`{}`", printable::excerpt(&text, 60))
    }));
    if values.len() > NAMED {
        words.push(format!("one of {} more", values.len() - NAMED));
    }
    for shape in shapes {
        let word = match shape {
            Shape::Only(_) => continue,
            Shape::Integer => "a whole number",
            Shape::Number => "a number",
            Shape::Boolean => "true or false",
            Shape::Null => "null",
            Shape::List(_) => "a list",
            Shape::Object => "an object in JSON",
            Shape::String => "a text",
            Shape::Any => "anything",
        };
        if !words.iter().any(|other| other == word) {
            words.push(word.to_owned());
        }
    }
    match words.as_slice() {
        [] => "something that nothing is".to_owned(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}
