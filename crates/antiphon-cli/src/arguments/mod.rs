//! Arguments on the command line: `key=value`, typed by a schema; `key:=JSON`; `--args`.
//!
//! [`place`] finds where it goes, [`schema`] says what a value may be, [`value`] reads it, [`exact`]
//! keeps its numbers as they are.

mod exact;
mod place;
mod schema;
mod value;

use serde_json::{Map, Value};

use crate::{
    bounded,
    failure::Failure,
    nearest::{listed, nearest},
    printable,
};
use place::Found;
use schema::Schema;
use value::Typed;

pub(crate) use exact::{json, same};

/// A name leads so deep.
const DEEPEST: usize = 64;

/// A word such as `copies=2` or `copies:=2`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pair<'a> {
    pub(crate) name: &'a str,
    value: Typed<'a>,
}

impl<'a> Pair<'a> {
    pub(crate) fn parse(word: &'a str) -> Result<Self, Failure> {
        let shown = printable::excerpt(word, 60);
        let Some((name, value)) = word.split_once('=') else {
            return Err(Failure::usage(format!(
                "`{shown}` has no value: write {shown}=…, or {shown}:=JSON"
            )));
        };
        let (name, value) = match name.strip_suffix(':') {
            Some(name) => (name, Typed::Json(value)),
            None => (name, Typed::Text(value)),
        };
        if name.is_empty() {
            return Err(Failure::usage(format!(
                "`{shown}` has no name: write name=value, or name:=JSON"
            )));
        }
        Ok(Self { name, value })
    }

    /// The same for another name.
    pub(crate) fn named(self, name: &'a str) -> Self {
        Self { name, ..self }
    }

    /// What was typed, as a text. In JSON it must be one.
    pub(crate) fn text(self) -> Result<String, Failure> {
        match self.value {
            Typed::Text(text) => Ok(text.to_owned()),
            Typed::Json(text) => serde_json::from_str(text)
                .map_err(|error| self.wrong(&format!("must be a text in JSON: {error}"))),
        }
    }

    fn wrong(self, why: &str) -> Failure {
        Failure::usage(format!("`{}` {why}", printable::excerpt(self.name, 60)))
    }
}

/// Arguments typed by the schema of an object.
///
/// Numbers, `true`, `yes` and so on become what they are where the schema wants that, and stay
/// texts where it wants texts. A list is JSON, or the name given again and again. `a.b=1` is a
/// member `b` of the object `a`.
#[cfg(test)]
fn typed(pairs: &[String], schema: &Map<String, Value>) -> Result<Map<String, Value>, Failure> {
    over(Map::new(), &parse(pairs)?, schema).map(|filled| filled.arguments)
}

/// Arguments, and what may be wrong with them.
pub(crate) struct Filled {
    pub(crate) arguments: Map<String, Value>,
    /// Names that were given and are not known, although ones like them are.
    pub(crate) doubts: Vec<String>,
}

/// Words as pairs.
pub(crate) fn parse(words: &[String]) -> Result<Vec<Pair<'_>>, Failure> {
    words.iter().map(|word| Pair::parse(word)).collect()
}

/// Like [`typed`], on top of arguments that are there; they are replaced, and members of objects
/// among them.
pub(crate) fn over(
    mut arguments: Map<String, Value>,
    pairs: &[Pair<'_>],
    schema: &Map<String, Value>,
) -> Result<Filled, Failure> {
    let schema = Schema::new(schema);
    let mut places: Vec<Place<'_>> = Vec::new();
    for pair in pairs {
        if pair.name.matches('.').count() >= DEEPEST {
            return Err(pair.wrong("has too many dots: give it with --args"));
        }
        let found = place::find(&schema, &schema.members(), pair.name);
        let found = found.map_err(|why| pair.wrong(&why))?;
        let path = &found.path;
        if let Some(known) = places.iter_mut().find(|known| known.found.path == *path) {
            known.typed.push(pair.value);
            continue;
        }
        for known in &places {
            let other = printable::excerpt(known.pair.name, 60);
            if path.starts_with(&known.found.path) {
                let why = format!("is part of `{other}`, which is given, too");
                return Err(pair.wrong(&why));
            }
            if known.found.path.starts_with(path) {
                let why = format!("contains `{other}`, which is given, too");
                return Err(pair.wrong(&why));
            }
        }
        places.push(Place {
            pair: *pair,
            found,
            typed: vec![pair.value],
        });
    }
    let mut doubts = Vec::new();
    for Place { pair, found, typed } in places {
        let value = value::value(&schema, &found.shapes, &typed).map_err(|why| {
            let instead = schema.in_json(&found.shapes, pair.name);
            pair.wrong(&format!("{why}{instead}"))
        })?;
        place::put(&mut arguments, &found.path, value);
        doubts.extend(doubt(pair.name, &found.near, pairs));
    }
    Ok(Filled { arguments, doubts })
}

/// What is said of a name that is not known where others are that it is like.
fn doubt(name: &str, near: &[&str], pairs: &[Pair<'_>]) -> Option<String> {
    let is_given = |near: &str| pairs.iter().any(|pair| pair.name == near);
    let near: Vec<_> = near.iter().filter(|near| !is_given(near)).collect();
    let near = listed(near.into_iter().copied());
    (!near.is_empty()).then(|| {
        let name = printable::excerpt(name, 60);
        format!("`{name}` is sent, though it is not known there: did you mean {near}?")
    })
}

/// The names that a schema knows.
pub(crate) fn names(schema: &Map<String, Value>) -> Vec<&str> {
    Schema::new(schema).members().names()
}

/// Arguments that are all texts, as those of prompts, on top of those that are there. `known` are
/// the names that are known.
pub(crate) fn texts(
    mut arguments: Map<String, Value>,
    pairs: &[Pair<'_>],
    known: &[&str],
) -> Result<Filled, Failure> {
    let mut doubts = Vec::new();
    let mut given = Map::new();
    for pair in pairs {
        let before = given.insert(pair.name.to_owned(), pair.text()?.into());
        if before.is_some() {
            return Err(pair.wrong("is given more than once"));
        }
        if !known.contains(&pair.name) {
            let near = nearest(pair.name, known.iter().copied());
            doubts.extend(doubt(pair.name, &near, pairs));
        }
    }
    arguments.extend(given);
    Ok(Filled { arguments, doubts })
}

/// What `--args` gives: an object in JSON, `@FILE`, or `@-` for standard input.
pub(crate) fn given(args: Option<&str>) -> Result<Option<Map<String, Value>>, Failure> {
    let Some(args) = args else {
        return Ok(None);
    };
    let (place, text) = match args.strip_prefix('@') {
        None => ("--args".to_owned(), args.to_owned()),
        Some("") => {
            return Err(Failure::usage(
                "--args: write the file's name after the `@`",
            ));
        }
        Some("-") => {
            let place = "--args: standard input".to_owned();
            let text = bounded::text(std::io::stdin().lock(), bounded::LARGEST)
                .map_err(|error| Failure::usage(format!("{place}: {error}")))?;
            (place, text)
        }
        Some(path) => {
            let place = format!("--args: {}", printable::line(path));
            let text = bounded::read(path.as_ref(), bounded::LARGEST)
                .map_err(|error| Failure::usage(format!("{place}: {error}")))?;
            (place, text)
        }
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    match json(text) {
        Ok(Value::Object(arguments)) => Ok(Some(arguments)),
        Ok(other) => Err(Failure::usage(format!(
            "{place}: the arguments must be an object such as {{\"name\": \"value\"}}, not {}",
            kind(&other)
        ))),
        Err(error) => Err(Failure::usage(format!(
            "{place}: this is not JSON: {error}"
        ))),
    }
}

/// What somebody sees of a value that must not be shown.
pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Where values go.
struct Place<'a> {
    /// The first pair that names it.
    pair: Pair<'a>,
    found: Found<'a>,
    typed: Vec<Typed<'a>>,
}

#[cfg(test)]
mod tests;
