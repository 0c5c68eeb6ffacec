//! Words, and the arguments that they make.

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
            "opts": {"type": "object", "properties": {"a.b": {"type": "string"}}},
            "parts": {"type": "array", "items": {"$ref": "#/$defs/buyer"}},
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
        (&["opts.l.m=z"], json!({"opts": {"l": {"m": "z"}}})),
        (
            &["opts.l.m=1", "opts.l.n=2", "opts.k=3"],
            json!({"opts": {"l": {"m": 1, "n": 2}, "k": 3}}),
        ),
        (&["opts.a.b=1"], json!({"opts": {"a.b": "1"}})),
        (&["opts.l.=1"], json!({"opts": {"l.": 1}})),
        (&["opts..m=1"], json!({"opts": {".m": 1}})),
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
        (&["title"][..], &["`title` has no value", "title=…"][..]),
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
        (
            &["parts=x"],
            &["each item must be an object", "write parts:='[{…}]'"],
        ),
        (
            &["parts=x", "parts=y"],
            &["each item must be an object", "write parts:='[{…}]'"],
        ),
        (
            &["parts.name=x"],
            &["`parts` is a list", "write parts:='[{…}]'"],
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
fn a_name_that_is_nearly_known_is_doubted() {
    let open = json!({"properties": {
        "title": {}, "tile": {}, "buyer": {"properties": {"name": {}}},
    }});
    let open = open.as_object().expect("an object");
    for (pairs, expected) in [
        (
            &["titel=x"][..],
            &["`titel` is sent", "`title`, `tile`?"][..],
        ),
        (&["titel=x", "title=y"], &["did you mean `tile`?"]),
        (&["buyer.nam=x"], &["`buyer.nam` is sent", "`name`?"]),
        (&["bayer.name=x"], &["`bayer.name` is sent", "`buyer`?"]),
        (&["frobnicate=x"], &[]),
        (&["title=x", "buyer.name=y"], &[]),
    ] {
        let pairs = words(pairs);
        let pairs = parse(&pairs).expect("pairs");
        let doubts = over(Map::new(), &pairs, open).expect("sent").doubts;
        assert_eq!(doubts.len(), expected.len().min(1), "{doubts:?}");
        for part in expected {
            assert!(doubts[0].contains(part), "{part} is not in {doubts:?}");
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
    let expected = json!({"a": 1, "b": "x", "c": {"d": []}, "e": {"f": true}, "g": "01"});
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
    let filled = over(there, &parse(&pairs).expect("pairs"), &schema()).expect("arguments");
    assert_eq!(
        Value::Object(filled.arguments),
        json!({"title": "Emma", "buyer": {"name": "Ada", "age": 2}, "env": {"x": 1}})
    );
}

#[test]
fn prompts_take_texts() {
    let of = |pairs: &[&str], known: &[&str]| {
        let pairs = words(pairs);
        texts(Map::new(), &parse(&pairs)?, known)
    };
    let filled = of(&["n=1", r#"m:="a\nb""#], &["nn"]).expect("arguments");
    assert_eq!(
        Value::Object(filled.arguments),
        json!({"n": "1", "m": "a\nb"})
    );
    assert_eq!(filled.doubts.len(), 1, "{:?}", filled.doubts);
    assert!(filled.doubts[0].starts_with("`n` is sent"));
    assert!(filled.doubts[0].ends_with("did you mean `nn`?"));
    for (pairs, part) in [
        (&["n"][..], "`n` has no value"),
        (&["n:=1"], "`n` must be a text in JSON"),
        (&["n=1", "n=2"], "`n` is given more than once"),
    ] {
        let failure = of(pairs, &[]).err().expect(part);
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
