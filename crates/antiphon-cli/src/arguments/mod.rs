//! Arguments on the command line: `key=value`, typed by a schema; `key:=JSON`; `--args`.
//!
//! [`schema`] says what a value may be, [`value`] reads it, [`exact`] keeps its numbers as they
//! are.

mod exact;
mod schema;
mod value;

use serde_json::{Map, Value};

use crate::{bounded, failure::Failure, nearest::instead, printable};
use schema::{Members, Schema, Shape};
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
        let (name, value) = word.split_once('=').unwrap_or_default();
        let (name, value) = match name.strip_suffix(':') {
            Some(name) => (name, Typed::Json(value)),
            None => (name, Typed::Text(value)),
        };
        if name.is_empty() {
            return Err(Failure::usage(format!(
                "`{}` has no name: write name=value, or name:=JSON",
                printable::excerpt(word, 60)
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
    over(Map::new(), &parse(pairs)?, schema)
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
) -> Result<Map<String, Value>, Failure> {
    let schema = Schema::new(schema);
    let mut places: Vec<Place<'_>> = Vec::new();
    for pair in pairs {
        if pair.name.matches('.').count() >= DEEPEST {
            return Err(pair.wrong("has too many dots: give it with --args"));
        }
        let (path, shapes) =
            place(&schema, &schema.members(), pair.name).map_err(|why| pair.wrong(&why))?;
        if let Some(known) = places.iter_mut().find(|known| known.path == path) {
            known.typed.push(pair.value);
            continue;
        }
        for known in &places {
            let other = printable::excerpt(known.pair.name, 60);
            if path.starts_with(&known.path) {
                let why = format!("is part of `{other}`, which is given, too");
                return Err(pair.wrong(&why));
            }
            if known.path.starts_with(&path) {
                let why = format!("contains `{other}`, which is given, too");
                return Err(pair.wrong(&why));
            }
        }
        places.push(Place {
            pair: *pair,
            path,
            shapes,
            typed: vec![pair.value],
        });
    }
    for place in places {
        let value = value::value(&schema, &place.shapes, &place.typed)
            .map_err(|why| place.pair.wrong(&why))?;
        put(&mut arguments, &place.path, value);
    }
    Ok(arguments)
}

/// Arguments that are all texts, as those of prompts.
pub(crate) fn strings(pairs: &[String]) -> Result<Map<String, Value>, Failure> {
    let mut arguments = Map::new();
    for pair in parse(pairs)? {
        let before = arguments.insert(pair.name.to_owned(), pair.text()?.into());
        if before.is_some() {
            return Err(pair.wrong("is given more than once"));
        }
    }
    Ok(arguments)
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
    path: Vec<String>,
    shapes: Vec<Shape<'a>>,
    typed: Vec<Typed<'a>>,
}

type Found<'a> = (Vec<String>, Vec<Shape<'a>>);

/// Where a name leads to, and what the value there must be; the error goes on after the name.
fn place<'a>(schema: &Schema<'a>, members: &Members<'a>, name: &str) -> Result<Found<'a>, String> {
    let named = members.schemas(name);
    if !named.is_empty() {
        return Ok((vec![name.to_owned()], schema.shapes(&named)));
    }
    for (dot, _) in name.rmatch_indices('.') {
        let (object, rest) = (&name[..dot], &name[dot + 1..]);
        let named = members.schemas(object);
        if named.is_empty() || rest.is_empty() {
            continue;
        }
        let shapes = schema.shapes(&named);
        if !shapes
            .iter()
            .any(|shape| matches!(shape, Shape::Object | Shape::Any))
        {
            let object = printable::excerpt(object, 60);
            return Err(format!(
                "does not exist: `{object}` is {}",
                value::expected(&shapes)
            ));
        }
        let (mut path, shapes) = place(schema, &schema.members_of(&named), rest)?;
        path.insert(0, object.to_owned());
        return Ok((path, shapes));
    }
    match members.are_all() {
        true => Err(format!(
            "does not exist: {}",
            instead(name, &members.names())
        )),
        false => Ok((vec![name.to_owned()], schema.shapes(&members.others()))),
    }
}

fn put(object: &mut Map<String, Value>, path: &[String], value: Value) {
    match path {
        [] => {}
        [name] => _ = object.insert(name.clone(), value),
        [name, rest @ ..] => {
            let member = object.entry(name).or_insert(Value::Null);
            if !member.is_object() {
                *member = Value::Object(Map::new());
            }
            if let Value::Object(member) = member {
                put(member, rest, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::failure::Exit;

    fn schema() -> Map<String, Value> {
        let schema = json!({
            "type": "object",
            "additionalProperties": false,
            "required": ["title"],
            "properties": {
                "title": {"type": "string"},
                "copies": {"type": "integer", "minimum": 1},
                "price": {"type": "number"},
                "gift": {"type": "boolean"},
                "size": {"enum": ["small", "large", 3, null, true]},
                "tags": {"type": "array", "items": {"type": "string"}},
                "counts": {"type": "array", "items": {"type": "integer"}},
                "either": {"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "boolean"}]},
                "maybe": {"type": ["string", "null"]},
                "some": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
                "few": {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"type": "boolean"}}]},
                "buyer": {"anyOf": [{"$ref": "#/$defs/buyer"}, {"type": "null"}]},
                "env": {"type": "object", "additionalProperties": {"type": "integer"}},
                "any": {},
                "a.b": {"type": "integer"},
                "big": {"enum": [9007199254740992_u64, 9007199254740993_u64, 1.0]},
                "deep": {"$ref": "#/$defs/deep"},
            },
            "$defs": {"deep": {"type": "array", "items": {"$ref": "#/$defs/deep"}}, "buyer": {
                "type": "object",
                "additionalProperties": false,
                "properties": {
                    "name": {"type": "string"},
                    "age": {"type": "integer"},
                    "home": {"type": "object", "properties": {"zip": {"type": "string"}}},
                },
            }},
        });
        schema.as_object().expect("an object").clone()
    }

    fn words(text: &[&str]) -> Vec<String> {
        text.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn values_are_what_the_schema_wants() {
        for (pairs, expected) in [
            (&["title=42"][..], json!({"title": "42"})),
            (&["title=a=b"], json!({"title": "a=b"})),
            (&["title="], json!({"title": ""})),
            (&["title=@file"], json!({"title": "@file"})),
            (
                &["copies=9007199254740993"],
                json!({"copies": 9007199254740993_u64}),
            ),
            (&["copies=2.0"], json!({"copies": 2})),
            (&["price=2"], json!({"price": 2})),
            (&["price=-0.5"], json!({"price": -0.5})),
            (&["gift=yes"], json!({"gift": true})),
            (&["gift=false"], json!({"gift": false})),
            (&["size=large"], json!({"size": "large"})),
            (&["size=3"], json!({"size": 3})),
            (
                &["big=9007199254740993"],
                json!({"big": 9007199254740993_u64}),
            ),
            (&["big=1"], json!({"big": 1.0})),
            (&["size=null"], json!({"size": null})),
            (&["size=true"], json!({"size": true})),
            (&["tags=a"], json!({"tags": ["a"]})),
            (
                &["tags=a,b", "gift=no", "tags=3"],
                json!({"gift": false, "tags": ["a,b", "3"]}),
            ),
            (&[r#"tags=["a","b"]"#], json!({"tags": ["a", "b"]})),
            (&["tags=[]"], json!({"tags": []})),
            (&["counts=1", "counts=2"], json!({"counts": [1, 2]})),
            (&["either=5"], json!({"either": 5})),
            (&["either=true"], json!({"either": true})),
            (&["either=yes"], json!({"either": "yes"})),
            (&["either=5.5"], json!({"either": "5.5"})),
            (&["maybe=null"], json!({"maybe": null})),
            (&[r#"maybe:="null""#], json!({"maybe": "null"})),
            (&["some=a"], json!({"some": "a"})),
            (&["some=a", "some=b"], json!({"some": ["a", "b"]})),
            (&["few=1"], json!({"few": 1})),
            (&["few=true"], json!({"few": [true]})),
            (&["buyer=null"], json!({"buyer": null})),
            (
                &[r#"buyer={"name":"Ada"}"#],
                json!({"buyer": {"name": "Ada"}}),
            ),
            (
                &["buyer.name=7", "buyer.age=7"],
                json!({"buyer": {"name": "7", "age": 7}}),
            ),
            (
                &["buyer.home.zip=01"],
                json!({"buyer": {"home": {"zip": "01"}}}),
            ),
            (
                &["buyer.home.door=3"],
                json!({"buyer": {"home": {"door": 3}}}),
            ),
            (&["env.A.B=1"], json!({"env": {"A.B": 1}})),
            (&["any=[1]"], json!({"any": [1]})),
            (&["any=hello"], json!({"any": "hello"})),
            (&["any.x=1"], json!({"any": {"x": 1}})),
            (&["a.b=1"], json!({"a.b": 1})),
            (&["title:=[1]"], json!({"title": [1]})),
        ] {
            match typed(&words(pairs), &schema()) {
                Ok(arguments) => assert_eq!(Value::Object(arguments), expected, "{pairs:?}"),
                Err(failure) => panic!("{pairs:?}: {failure}"),
            }
        }
    }

    #[test]
    fn what_does_not_fit_is_told_with_what_would() {
        for (pairs, parts) in [
            (&["title"][..], &["`title`", "name=value"][..]),
            (&["=x"], &["`=x`", "name=value"]),
            (&[":=1"], &["`:=1`", "name=value"]),
            (
                &["titel=x"],
                &["`titel` does not exist", "did you mean `title`?"],
            ),
            (&["frobnicate=x"], &["there are `title`, `copies`"]),
            (
                &["title=a", "title=b"],
                &["`title` is given more than once"],
            ),
            (
                &["copies=many"],
                &["`copies` must be a whole number, not `many`"],
            ),
            (
                &["copies=1.5"],
                &["`copies` must be a whole number, not `1.5`"],
            ),
            (
                &["copies=100000000000000000001"],
                &["`copies` must be a whole number", "sent as 1e+20"],
            ),
            (&["price=1e400"], &["`price` must be a number", "too large"]),
            (&["price=0x1"], &["must be a number, not `0x1`"]),
            (&["gift=maybe"], &["must be true or false, not `maybe`"]),
            (
                &["size=huge"],
                &["`small`, `large`, `3`, `null` or `true`, not `huge`"],
            ),
            (
                &["counts=1", "counts=x"],
                &["`counts` is a list, and each item must be a whole number"],
            ),
            (
                &["counts=x"],
                &["`counts` is a list, and each item must be a whole number"],
            ),
            (
                &["tags=[draft]"],
                &["`tags` must be a list, not `[draft]`", "column 2"],
            ),
            (&["tags=a", "tags=[]"], &["more than once", "whole list"]),
            (
                &["deep=x"],
                &["`deep` is a list, and each item must be a list, not `x`"],
            ),
            (&["few=x"], &["must be a whole number or a list, not `x`"]),
            (
                &["buyer=Ada"],
                &["must be an object in JSON or null, not `Ada`"],
            ),
            (&["buyer={name}"], &["an object in JSON", "column 2"]),
            (
                &["buyer.nam=Ada"],
                &["`buyer.nam` does not exist", "did you mean `name`?"],
            ),
            (
                &["title.x=1"],
                &["`title.x` does not exist: `title` is a text"],
            ),
            (
                &["buyer={}", "buyer.age=1"],
                &["`buyer.age` is part of `buyer`"],
            ),
            (
                &["buyer.age=1", "buyer={}"],
                &["`buyer` contains `buyer.age`"],
            ),
            (&["copies:=x"], &["`copies` does not have JSON", "column 1"]),
            (
                &["copies:=1", "copies=1"],
                &["`copies` is given more than once"],
            ),
            (
                &["any=123456789012345678901234567890"],
                &["`any` is a number", "as a text"],
            ),
            (&["ti\u{1b}tle=x"], &[r"`ti\u{1b}tle`"]),
        ] {
            let failure = typed(&words(pairs), &schema()).expect_err(&pairs.join(" "));
            assert_eq!(failure.exit, Exit::Usage);
            for part in parts {
                assert!(failure.text.contains(part), "{part} is not in {failure}");
            }
        }
    }

    #[test]
    fn dots_end_somewhere() {
        let pair = format!("any{}=1", ".a".repeat(50_000));
        let failure = typed(&[pair], &schema()).expect_err("too deep");
        assert!(failure.text.contains("too many dots"), "{failure}");
    }

    #[test]
    fn without_a_schema_values_are_json_or_texts() {
        let pairs = words(&["a=1", "b=x", "c={\"d\":[]}", "e.f=true", "g=01"]);
        let arguments = typed(&pairs, &Map::new()).expect("arguments");
        let expected = json!({"a": 1, "b": "x", "c": {"d": []}, "e.f": true, "g": "01"});
        assert_eq!(Value::Object(arguments), expected);
        let none = json!({"type": "object", "additionalProperties": false});
        let none = none.as_object().expect("an object");
        let failure = typed(&words(&["a=1"]), none).expect_err("none are taken");
        assert!(failure.text.contains("there are none"), "{failure}");
    }

    #[test]
    fn pairs_go_over_what_is_there() {
        let there = given(Some(
            r#"{"title": "Dune", "buyer": {"name": "Ada", "age": 1}}"#,
        ));
        let there = there.expect("JSON").expect("given");
        let pairs = words(&["title=Emma", "buyer.age=2", "env.x=1"]);
        let arguments = over(there, &parse(&pairs).expect("pairs"), &schema()).expect("arguments");
        assert_eq!(
            Value::Object(arguments),
            json!({"title": "Emma", "buyer": {"name": "Ada", "age": 2}, "env": {"x": 1}})
        );
    }

    #[test]
    fn prompts_take_texts() {
        let arguments = strings(&words(&["n=1", r#"m:="a\nb""#])).expect("arguments");
        assert_eq!(Value::Object(arguments), json!({"n": "1", "m": "a\nb"}));
        for (pairs, part) in [
            (&["n"][..], "name=value"),
            (&["n:=1"], "`n` must be a text in JSON"),
            (&["n=1", "n=2"], "`n` is given more than once"),
        ] {
            let failure = strings(&words(pairs)).expect_err(part);
            assert!(failure.text.contains(part), "{failure}");
        }
    }

    #[test]
    fn args_are_an_object_in_json_or_in_a_file() {
        assert!(given(None).expect("nothing").is_none());
        let path = std::env::temp_dir().join(format!("antiphon-args-{}", std::process::id()));
        std::fs::write(&path, "\u{feff}{\"a\": 1}").expect("written");
        let at = format!("@{}", path.display());
        let arguments = given(Some(&at)).expect("JSON").expect("given");
        assert_eq!(Value::Object(arguments), json!({"a": 1}));
        std::fs::write(&path, "{\"a\": 1,\n}").expect("written");
        let failure = given(Some(&at)).expect_err("no JSON");
        std::fs::remove_file(&path).expect("removed");
        let name = path.display().to_string();
        for part in [name.as_str(), "line 2 column 1"] {
            assert!(failure.text.contains(part), "{part} is not in {failure}");
        }
        for (args, parts) in [
            (
                "{\"a\": }",
                &["--args: this is not JSON", "line 1 column 7"][..],
            ),
            ("[1]", &["must be an object", "a list"]),
            ("", &["this is not JSON"]),
            ("@", &["file's name"]),
            ("@/no/such/file", &["--args: /no/such/file: "]),
            ("{\"a\": 1e999}", &["line 1"]),
            ("{\"a\": 12345678901234567890123}", &["line 1 column 7"]),
        ] {
            let failure = given(Some(args)).expect_err(args);
            assert_eq!(failure.exit, Exit::Usage);
            for part in parts {
                assert!(failure.text.contains(part), "{part} is not in {failure}");
            }
        }
    }
}
