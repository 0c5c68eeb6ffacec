use proptest::{collection::vec, prelude::*};
use serde::de::IgnoredAny;
use serde_json::{Map, Value, json};

use super::*;

fn form(json: &str) -> Result<String, Ambiguous> {
    let mut out = Vec::new();
    canonical(json, &mut out)?;
    Ok(String::from_utf8(out).expect("made of UTF-8"))
}

#[test]
fn every_spelling_of_a_value_has_its_form() {
    let table: &[(&str, &[&str])] = &[
        ("n", &["null", " null\r\n\t"]),
        ("[tf]", &["[true,false]", "[ true , false ]"]),
        (
            "#1e0;",
            &["1", "1.0", "10e-1", "1E0", "1e+0", "0.1e1", "0.001E03"],
        ),
        ("#12e1;", &["120", "12e1", "1.2e2", "120.000", "0.0120e4"]),
        ("#5e-2;", &["0.05", "5e-2", "5E-02", "0.50e-1", "500e-4"]),
        ("#-105e-1;", &["-10.5", "-105e-1", "-0.1050E2"]),
        (
            "#0e0;",
            &[
                "0",
                "-0",
                "0.0",
                "0e9",
                "-0.00e-9",
                "0e99999999999999999999",
            ],
        ),
        (
            "#9007199254740993e0;",
            &["9007199254740993", "9007199254740993.0"],
        ),
        ("#1e400;", &["1e400", "10e399"]),
        (
            "#1e9223372036854775807;",
            &["1e9223372036854775807", "100e009223372036854775805"],
        ),
        (
            "#1e-9223372036854775808;",
            &["1e-9223372036854775808", "0.1e-9223372036854775807"],
        ),
        ("s0:", &[r#""""#]),
        (
            "s12:Pride & joy.",
            &[r#""Pride & joy.""#, r#""Pride \u0026 joy.""#],
        ),
        ("s2:é", &[r#""é""#, r#""\u00e9""#, r#""\u00E9""#]),
        (
            "s4:😀",
            &[r#""😀""#, r#""\ud83d\ude00""#, r#""\uD83D\uDE00""#],
        ),
        (
            "s9:\"\\//\u{8}\u{c}\n\r\t",
            &[
                r#""\"\\\//\b\f\n\r\t""#,
                r#""\u0022\u005c/\u002f\u0008\u000c\u000a\u000d\u0009""#,
            ],
        ),
        ("s3:\u{0}\u{7f}x", &["\"\\u0000\u{7f}x\""]),
        ("[]", &["[]", "[ ]"]),
        ("{}", &["{}", "{\n}"]),
        ("[[][[]]]", &["[[],[[]]]"]),
        (
            "{s1:a#1e0;s1:b{s1:xns1:yt}}",
            &[
                r#"{"a":1,"b":{"x":null,"y":true}}"#,
                r#"{"b":{"y":true,"x":null},"a":1}"#,
                r#"{ "\u0062" : { "y" : true , "x" : null } , "\u0061" : 1.0 }"#,
            ],
        ),
        // By bytes: the shorter first, and an emoji behind what UTF-16 puts behind it.
        (
            "{s0:#0e0;s1:B#1e0;s1:a#2e0;s2:aa#3e0;s3:\u{ffee}#4e0;s4:😀#5e0;}",
            &["{\"😀\":5,\"\u{ffee}\":4,\"aa\":3,\"a\":2,\"B\":1,\"\":0}"],
        ),
    ];
    for (expected, spellings) in table {
        for spelling in *spellings {
            assert_eq!(form(spelling).as_deref(), Ok(*expected), "{spelling}");
        }
    }
}

#[test]
fn different_values_have_different_forms() {
    let values = [
        "null",
        "false",
        "true",
        "0",
        "1",
        "-1",
        "10",
        "9007199254740992",
        "9007199254740993",
        "0.1",
        "0.10000000000000001",
        "1e999999999999999999999",
        "1e+999999999999999999999",
        "-1e999999999999999999999",
        "10e9223372036854775807",
        "1e9223372036854775808",
        "0.1e-9223372036854775808",
        r#""""#,
        r#""1""#,
        r#""null""#,
        r#""n""#,
        r#""s1:n""#,
        "\"\u{e9}\"",
        "\"e\u{301}\"",
        r#""E""#,
        "[]",
        "{}",
        "[[]]",
        "[{}]",
        "[null]",
        "[null,null]",
        "[[null],null]",
        "[[null,null]]",
        "[1,2]",
        "[2,1]",
        "[12]",
        r#"["a",1]"#,
        r#"{"a":1}"#,
        r#"[{"a":1}]"#,
        r#"{"a":"1"}"#,
        r#"{"a":null}"#,
        r#"{"a":1,"b":2}"#,
        r#"{"a":2,"b":1}"#,
        r#"{"a":{"b":1}}"#,
        r#"{"a":{},"b":1}"#,
        r#"["ab","c"]"#,
        r#"["a","bc"]"#,
        r#"["as1:b"]"#,
    ];
    for (at, one) in values.iter().enumerate() {
        for other in &values[..at] {
            assert_ne!(form(one).expect(one), form(other).expect(other));
        }
    }
}

#[test]
fn a_number_with_a_vast_exponent_stands_as_spelt() {
    assert_eq!(
        form("-1.50E+9223372036854775808").as_deref(),
        Ok("~-1.50E+9223372036854775808;")
    );
    assert_eq!(
        form("[10e9223372036854775807,1]").as_deref(),
        Ok("[~10e9223372036854775807;#1e0;]")
    );
}

#[test]
fn what_is_ambiguous_is_refused() {
    let repeated = |name: &str| Ambiguous::Repeated(name.into());
    let deep = |levels: usize| format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
    let table = [
        (r#"{"a":1,"a":1}"#.into(), repeated("a")),
        (r#"{"b":1,"c":2,"a":3,"\u0063":4}"#.into(), repeated("c")),
        (r#"[1,{"x":[{"":1,"y":2,"":3}]}]"#.into(), repeated("")),
        (r#"{"é":{},"b":2,"\u00e9":[]}"#.into(), repeated("é")),
        (r#""\ud83d""#.into(), Ambiguous::Surrogate),
        (r#""\ude00\ud83d""#.into(), Ambiguous::Surrogate),
        (r#""\ud83d\ud83d\ude00""#.into(), Ambiguous::Surrogate),
        (r#""\ud83dx\ude00""#.into(), Ambiguous::Surrogate),
        (r#"{"\udfff":1}"#.into(), Ambiguous::Surrogate),
        (deep(129), Ambiguous::TooDeep),
        (r#"{"a":"#.repeat(1_000_000), Ambiguous::TooDeep),
        // The first one counts, and what is not JSON counts before.
        (r#"["\ud83d",{"a":1,"a":2}]"#.into(), Ambiguous::Surrogate),
        (r#"[{"a":1,"a":2},"\ud83d"]"#.into(), repeated("a")),
        (r#"[{"a":1,"a":2},"\ud83d""#.into(), Ambiguous::NotJson),
        (r#""\ud83d\u12x4""#.into(), Ambiguous::NotJson),
    ];
    for (json, why) in table {
        assert_eq!(form(&json), Err(why), "{json:.60}");
    }
    assert!(form(&deep(128)).is_ok());
}

#[test]
fn what_is_not_json_is_refused() {
    let words = "nul|nulL|nulll|True|NaN|-Infinity|'a'|é|1é|[1é|/**/1|1//|1 2|]|{";
    let arrays = "[1|[1,|[1,]|[,1]|[1 2]|[}|[1}";
    let objects = r#"{a:1}|{1:1}|{"a"}|{"a":}|{"a":1,}|{"a" 1}|{"a":1 "b":2}|{"a":1]|{,}"#;
    let numbers = "-|+1|01|-01|00|1.|.1|-.1|1.e1|1e|1e+|1e1.0|--1|0x1|1_0";
    let strings = r#""|"a|"\"|"\x"|"\a"|"\0"|"\|"\u"|"\u12"|"\u+123"|"\U0041"|"a"b"#;
    let odd = [
        "",
        " ",
        "\"\n\"",
        "\"a\u{1f}\"",
        "\"\\n\t\"",
        "\u{feff}1",
        "\u{a0}1",
        "1\u{0}",
    ];
    let plain = [words, arrays, objects, numbers, strings];
    let plain = plain.iter().flat_map(|texts| texts.split('|'));
    for text in plain.chain(odd) {
        assert_eq!(form(text), Err(Ambiguous::NotJson), "{text}");
        assert!(serde_json::from_str::<IgnoredAny>(text).is_err(), "{text}");
    }
}

/// Short strings are read by words, and the last ones of a text are not.
#[test]
fn a_string_of_any_length_is_read_whole_anywhere() {
    for length in 0..120 {
        for filling in [
            "a",
            " ",
            "!",
            "#",
            "[",
            "]",
            "\u{7f}",
            "é",
            "\u{800}",
            "\u{10ffff}",
        ] {
            let text = filling.repeat(length);
            let expected = format!("s{}:{text}", text.len());
            let json = format!("\"{text}\"");
            assert_eq!(form(&json), Ok(expected.clone()), "{json}");
            let json = format!("[\"{text}\",\"{text}\\\\\",1234567890123456789]");
            let escaped = format!("s{}:{text}\\", text.len() + 1);
            let expected = format!("[{expected}{escaped}#1234567890123456789e0;]");
            assert_eq!(form(&json), Ok(expected), "{json}");
        }
    }
}

#[test]
fn a_control_character_is_refused_anywhere() {
    for (length, at) in (1..40).flat_map(|length| (0..length).map(move |at| (length, at))) {
        for control in ['\0', '\u{2}', '\t', '\n', '\u{1f}'] {
            let mut text = "x".repeat(length);
            text.replace_range(at..=at, control.encode_utf8(&mut [0; 4]));
            for json in [format!("\"{text}\""), format!("[\"{text}\",\"{text}\"]")] {
                assert_eq!(form(&json), Err(Ambiguous::NotJson), "{json:?}");
            }
        }
    }
}

#[test]
fn few_members_and_many_are_put_in_order_alike() {
    for count in 1..3 * FEW {
        let names: Vec<_> = (0..count).map(|at| format!("{at:02}")).collect();
        let written = |name: &String| format!(r#""{name}":{{"b":"{name}","a":[]}}"#);
        let mut members: Vec<_> = names.iter().map(written).collect();
        let sorted = |name: &String| format!("s2:{name}{{s1:a[]s1:bs2:{name}}}");
        let expected = format!("{{{}}}", names.iter().map(sorted).collect::<String>());
        for _ in 0..count {
            members.rotate_left(1);
            let json = format!("{{{}}}", members.join(","));
            assert_eq!(form(&json).as_ref(), Ok(&expected), "{json}");
        }
        for twin in &names {
            let json = format!("{{{},{}}}", members.join(","), written(twin));
            assert_eq!(form(&json), Err(Ambiguous::Repeated(twin.clone())));
        }
    }
}

#[test]
fn what_was_written_before_stays() {
    let mut out = b"before".to_vec();
    canonical(r#"{"b":[],"a":1}"#, &mut out).expect("canonical");
    assert_eq!(out, b"before{s1:a#1e0;s1:b[]}");
    for refused in [r#"{"b":1,"a":1,"b":1}"#, "[1,2", r#"["a","\ud800"]"#] {
        canonical(refused, &mut out).expect_err("ambiguous");
        assert_eq!(out, b"before{s1:a#1e0;s1:b[]}");
    }
}

#[test]
fn reasons_are_told_in_plain_words() {
    let told = |json: &str| form(json).unwrap_err().to_string();
    assert_eq!(
        told(r#"{"a":1,"a":2}"#),
        "the name `a` stands twice in one object"
    );
    assert_eq!(
        told(&"[".repeat(200)),
        "it is nested deeper than 128 levels"
    );
}

/// A quadratic way with these would take minutes.
#[test]
fn many_members_in_any_order_are_no_burden() {
    let member = |at: usize| format!(r#""{}":{at}"#, at * 7_919 % 100_003);
    let shuffled = |count: usize| (0..count).map(member).collect::<Vec<_>>();
    let mut members = shuffled(100_000);
    let one = form(&format!("{{{}}}", members.join(","))).expect("canonical");
    members.reverse();
    let other = form(&format!("{{{}}}", members.join(","))).expect("canonical");
    assert_eq!(one, other);

    members.push(member(0));
    let twice = form(&format!("{{{}}}", members.join(",")));
    assert_eq!(twice, Err(Ambiguous::Repeated("0".into())));

    let leaf = format!("{{{}}}", shuffled(10_000).join(","));
    let nested = (1..LEVELS).fold(leaf, |inner, _| format!(r#"{{"b":0,"a":{inner}}}"#));
    assert!(form(&nested).is_ok());
}

/// Throws of a dice that are the same for the same seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) as usize % sides
    }
}

/// Any spelling of a value.
fn respell(value: &Value, dice: &mut Dice) -> String {
    let spelt = match value {
        Value::Number(number) => respell_number(&number.to_string(), dice),
        Value::String(text) => respell_string(text, dice),
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(|item| respell(item, dice)).collect();
            format!("[{}]", respell_list(&items, dice))
        }
        Value::Object(map) => {
            let mut members: Vec<_> = map.iter().collect();
            for at in (1..members.len()).rev() {
                members.swap(at, dice.below(at + 1));
            }
            let member = |(name, value): (&String, &Value)| {
                let name = respell_string(name, dice);
                format!("{name}{}:{}", blank(dice), respell(value, dice))
            };
            let members: Vec<_> = members.into_iter().map(member).collect();
            format!("{{{}}}", respell_list(&members, dice))
        }
        word => word.to_string(),
    };
    format!("{}{spelt}{}", blank(dice), blank(dice))
}

fn respell_list(items: &[String], dice: &mut Dice) -> String {
    let comma = format!("{},{}", blank(dice), blank(dice));
    format!("{}{}", blank(dice), items.join(&comma))
}

fn blank(dice: &mut Dice) -> &'static str {
    ["", "", " ", "\n", "\t \r\n"][dice.below(5)]
}

fn respell_string(text: &str, dice: &mut Dice) -> String {
    let mut spelt = String::from('"');
    for char in text.chars() {
        if dice.below(3) == 0 {
            for unit in char.encode_utf16(&mut [0; 2]) {
                spelt += &format!("\\u{unit:04x}");
            }
        } else {
            let plain = serde_json::to_string(&char).expect("a string");
            spelt += &plain[1..plain.len() - 1];
        }
    }
    spelt + "\""
}

/// Moves the point of a number about, with zeros at either end.
fn respell_number(text: &str, dice: &mut Dice) -> String {
    let (sign, text) = text
        .strip_prefix('-')
        .map_or(("", text), |text| ("-", text));
    let (mantissa, power) = text.split_once('e').unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let power: i64 = power.parse().expect("a power");
    let zeros = dice.below(4);
    let digits = format!("{whole}{fraction}{}", "0".repeat(zeros));
    let digits = digits.trim_start_matches('0');
    let power = power - (fraction.len() + zeros) as i64;
    let point = dice.below(digits.len() + 1);
    let (whole, fraction) = digits.split_at(point);
    let power = power + fraction.len() as i64;
    let whole = if whole.is_empty() { "0" } else { whole };
    let point = if fraction.is_empty() { "" } else { "." };
    let e = ["e", "E"][dice.below(2)];
    match dice.below(3) {
        _ if power != 0 => format!("{sign}{whole}{point}{fraction}{e}{power}"),
        0 => format!("{sign}{whole}{point}{fraction}{e}+00"),
        _ => format!("{sign}{whole}{point}{fraction}"),
    }
}

/// Changes one value or name inside; says whether there was a place with this number.
fn change(value: &mut Value, place: &mut usize) -> bool {
    if *place > 0 {
        *place -= 1;
        return match value {
            Value::Array(items) => items.iter_mut().any(|item| change(item, place)),
            Value::Object(map) => map.values_mut().any(|value| change(value, place)),
            _ => false,
        };
    }
    match value {
        Value::Null => *value = json!(false),
        Value::Bool(bool) => *bool = !*bool,
        Value::Number(number) => {
            *value = match (number.as_i64(), number.as_u64()) {
                (Some(number), _) => json!(number.wrapping_add(1)),
                (_, Some(number)) => json!(number - 1),
                _ => json!(number.as_f64().map(f64::next_up)),
            }
        }
        Value::String(text) => text.push('\u{301}'),
        Value::Array(items) => items.push(Value::Null),
        Value::Object(map) => {
            let Some(name) = map.keys().next().cloned() else {
                map.insert(String::new(), Value::Null);
                return true;
            };
            let member = map.remove(&name).expect("it has this name");
            let mut other = name + "x";
            while map.contains_key(&other) {
                other.push('x');
            }
            map.insert(other, member);
        }
    }
    true
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-20i64..200).prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        (-99i32..99).prop_map(|cents| json!(f64::from(cents) / 100.0)),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 64, 8, |inner| {
        let member = ("[a-c]{0,2}|\\PC{0,3}", inner.clone());
        prop_oneof![
            vec(inner, 0..8).prop_map(Value::from),
            vec(member, 0..8).prop_map(|members| Value::Object(Map::from_iter(members))),
        ]
    })
}

proptest! {
    #[test]
    fn a_value_respelt_has_the_same_form(value in values(), seed in 1u64..) {
        let respelt = respell(&value, &mut Dice(seed));
        prop_assert_eq!(form(&value.to_string()), form(&respelt), "{}", respelt);
    }

    #[test]
    fn a_value_changed_anywhere_has_another_form(value in values(), place in 0usize..40, seed in 1u64..) {
        let mut changed = value.clone();
        if change(&mut changed, &mut { place }) {
            let changed = respell(&changed, &mut Dice(seed));
            prop_assert_ne!(form(&value.to_string())?, form(&changed)?, "{}", changed);
        }
    }

    /// `IgnoredAny` minds neither depth nor surrogates, so this is the bare grammar.
    #[test]
    fn the_grammar_is_that_of_serde_json(
        pieces in vec(proptest::sample::select(vec![
            "{", "}", "[", "]", ",", ":", "\"", "\\", "\\u", "\\ud83d", "\\ude00", "0", "1", "-", "+", ".",
            "e", "E5", " ", "\n", "null", "true", "false", "\"a\"", "\"a\":", "\"b\":1,", "é", "\u{1}",
        ]), 0..12),
    ) {
        let text = pieces.concat();
        let json = serde_json::from_str::<IgnoredAny>(&text).is_ok();
        prop_assert_eq!(json, form(&text) != Err(Ambiguous::NotJson), "{}", text);
    }

    /// The same, for texts that are JSON but for one character.
    #[test]
    fn a_damaged_text_is_json_if_serde_json_says_so(
        value in values(),
        seed in 1u64..,
        at in any::<proptest::sample::Index>(),
        other in proptest::option::of(prop_oneof![any::<char>(), "[\\[\\]{},:\"\\\\0-9eE.+-]".prop_map(|one| one.chars().next().unwrap_or(' '))]),
    ) {
        let mut text: Vec<char> = respell(&value, &mut Dice(seed)).chars().collect();
        let at = at.index(text.len());
        text.splice(at..=at, other);
        let text = String::from_iter(text);
        let json = serde_json::from_str::<IgnoredAny>(&text).is_ok();
        prop_assert_eq!(json, form(&text) != Err(Ambiguous::NotJson), "{}", text);
    }

    #[test]
    fn any_text_is_read_or_refused(text in any::<String>()) {
        let json = serde_json::from_str::<IgnoredAny>(&text).is_ok();
        prop_assert_eq!(json, form(&text) != Err(Ambiguous::NotJson));
    }
}
