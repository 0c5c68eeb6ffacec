//! Whether decoding a type refuses whatever its schema forbids, so that no validator has to run.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;

use serde_json::{Map, Value};

use super::feed::Fed;
use super::keywords::{followed, says_nothing};
use super::probe::{Goal, Probe};
use super::reading::Read;

/// Types that would need more decodings to understand are left to the validator.
const MAX_TRIPS: usize = 10_000;

/// How many structs are made up on one trip: a tree of types may have many branches.
const MAX_FILLS: usize = 1_000;

/// How a reference looks in JSON.
const REF: &str = "\"$ref\"";

/// Whether [`decode`](antiphon_types::decode) as a type refuses every value that `schema` forbids.
///
/// The schema alone cannot tell: a member may have an alias, a flattened one may be left out when
/// it does not fit, an enum may have a variant for all other names. So the type is asked, by
/// decoding it from a [`Probe`] that follows the schema and compares what the type calls for with
/// what the schema says. Whatever is not understood counts as not enforced: hand-written lengths,
/// ranges and patterns, tuples, sets, and all that serde buffers (flattened members, untagged,
/// internally and adjacently tagged enums).
///
/// Taken on trust is that a hand-written `Deserialize` calls for the same in every place of a
/// list, and in every decoding.
pub(super) fn is_as_strict(into: &mut dyn Read, schema: &Map<String, Value>) -> bool {
    let root = Value::Object(schema.clone());
    let survey = Survey::of(&root);
    for _ in 0..MAX_TRIPS {
        let Some(path) = survey.next_path() else {
            return true;
        };
        let probe = Probe::new(&survey, survey.place(&root), Goal::Reach(&path));
        // A type that swallows the probe's error would swallow others too, and one that accepts what
        // it should refuse has none.
        let end = into.fed(Fed::Probe(probe));
        if !end.is_err_and(|it| it.is_done()) || !survey.settled() {
            return false;
        }
    }
    false
}

/// A way into a type, and what to do at its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Into a member, by its index.
    Member(usize),
    /// Into a variant, by its index.
    Variant(usize),
    /// Into an option, the items of a list, the values of a map.
    Inside,
    /// Leave a member out.
    Without(usize),
    /// Name a member or variant that there is not.
    Unknown,
    /// Give a number with a fraction.
    Fraction,
    /// Give a whole number out of range.
    OutOfRange(i128),
    /// Give a string that is no character.
    Text(&'static str),
}

/// What the schema says in one place, references followed.
#[derive(Clone, Copy)]
pub(crate) enum Place<'s> {
    /// Every value is valid.
    Anything,
    /// These keywords, or null as well.
    Says {
        schema: &'s Map<String, Value>,
        nullable: bool,
    },
    /// Nothing that is understood here.
    Unclear,
}

/// The findings of all trips into one type.
pub(crate) struct Survey<'s> {
    root: &'s Value,
    /// Paths still to be taken.
    pending: RefCell<Vec<Vec<Step>>>,
    /// The path being taken.
    current: RefCell<Vec<Step>>,
    arrived: Cell<bool>,
    refuted: Cell<bool>,
    fills: Cell<usize>,
    /// Pairs of schema and type that need no second look: types may be recursive.
    seen: RefCell<HashSet<(*const Map<String, Value>, &'static str)>>,
}

impl<'s> Survey<'s> {
    fn of(root: &'s Value) -> Self {
        Self {
            root,
            pending: RefCell::new(vec![Vec::new()]),
            current: RefCell::default(),
            arrived: Cell::new(false),
            refuted: Cell::new(false),
            fills: Cell::new(0),
            seen: RefCell::default(),
        }
    }

    fn next_path(&self) -> Option<Vec<Step>> {
        let path = self.pending.borrow_mut().pop()?;
        self.current.borrow_mut().clone_from(&path);
        self.arrived.set(false);
        self.fills.set(0);
        Some(path)
    }

    /// Whether the last trip came to its end, and nothing speaks against the type.
    fn settled(&self) -> bool {
        self.arrived.get() && !self.refuted.get()
    }

    pub(super) fn place(&self, schema: &'s Value) -> Place<'s> {
        match followed(self.root, schema) {
            Some((at, _)) if says_nothing(at) => Place::Anything,
            Some((Value::Object(schema), nullable)) => Place::Says { schema, nullable },
            _ => Place::Unclear,
        }
    }

    /// Whether one more struct may be made up on this trip.
    pub(super) fn may_fill(&self) -> bool {
        self.fills.update(|it| it + 1);
        self.fills.get() <= MAX_FILLS
    }

    /// Whether a schema refers to no further ones.
    pub(super) fn is_leaf(&self, schema: &'s Value) -> bool {
        match self.place(schema) {
            Place::Anything => true,
            Place::Says { schema, .. } => !schema.values().any(|it| it.to_string().contains(REF)),
            Place::Unclear => false,
        }
    }

    /// Notes that a trip came to its end, and whether decoding is as strict as the schema there.
    pub(super) fn arrive(&self, strict: bool) {
        self.arrived.set(true);
        if !strict {
            self.refuted.set(true);
        }
    }

    /// Goes on from the current place, unless the visitor's type was seen there already.
    pub(super) fn continue_with(
        &self,
        visitor: &'static str,
        schema: &'s Map<String, Value>,
        steps: impl IntoIterator<Item = Step>,
    ) {
        let key = (std::ptr::from_ref(schema), visitor);
        if self.seen.borrow_mut().insert(key) {
            let current = self.current.borrow();
            let paths = steps.into_iter().map(|step| [&**current, &[step]].concat());
            self.pending.borrow_mut().extend(paths);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, HashMap, HashSet};
    use std::num::NonZeroU8;

    use antiphon_types::decode;
    use jsonschema::Validator;
    use schemars::JsonSchema;
    use schemars::generate::SchemaSettings;
    use serde::de::{DeserializeOwned, Error, Visitor};
    use serde::{Deserialize, Deserializer};
    use serde_json::json;

    use super::super::reading::Reading;
    use super::*;

    fn enforced<T: DeserializeOwned>(schema: &Map<String, Value>) -> bool {
        is_as_strict(&mut Reading::<T>::default(), schema)
    }

    /// Makes an object of every type.
    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code)]
    struct Holder<T> {
        it: T,
    }

    fn schema_of<T: JsonSchema>() -> Map<String, Value> {
        let settings = SchemaSettings::draft2020_12().for_deserialize();
        let schema = settings.into_generator().into_root_schema_for::<T>();
        schema.as_object().expect("an object").clone()
    }

    /// Judges a type, after trying whether decoding is as strict as the schema for all that can be
    /// made of the samples. Says whether it is enforced, and what only the schema refuses.
    fn judge<T: JsonSchema + DeserializeOwned>(samples: &[Value]) -> (bool, Vec<String>) {
        let schema = schema_of::<Holder<T>>();
        let validator = jsonschema::validator_for(&Value::Object(schema.clone())).unwrap();
        let fits = |value: &Value| decode::<Holder<T>>(&value.to_string()).is_ok();
        let mut only_schema = Vec::new();
        for sample in samples {
            let sample = json!({"it": sample});
            assert!(fits(&sample), "{sample} should be a sample");
            for mutant in mutants(&sample).iter().chain([&sample]) {
                if fits(mutant) && !Validator::is_valid(&validator, mutant) {
                    only_schema.push(mutant.to_string());
                }
            }
        }
        (enforced::<Holder<T>>(&schema), only_schema)
    }

    /// Everything that differs from a value in one place.
    fn mutants(value: &Value) -> Vec<Value> {
        let mut all: Vec<_> = [
            "null",
            "true",
            "0",
            "1",
            "-1",
            "127",
            "128",
            "-129",
            "255",
            "256",
            "65536",
            "4294967296",
            "-2147483649",
            "9223372036854775808",
            "1e30",
            "1.0",
            "0.5",
            "\"\"",
            "\"x\"",
            "\"xy\"",
            "\"A\"",
            "\"B\"",
            "\"1\"",
            "\"2000-01-01\"",
            "[]",
            "[1]",
            "[1,1]",
            "[\"x\",\"x\"]",
            "[[]]",
            "[null]",
            "{}",
            "{\"A\":null}",
            "{\"B\":null}",
            "{\"A\":1}",
            "{\"x\":1}",
            "{\"1\":1}",
            "{\"it\":1}",
        ]
        .iter()
        .map(|text| serde_json::from_str(text).expect("JSON"))
        .collect();
        all.push(json!([value]));
        match value {
            Value::Array(items) => {
                for at in 0..items.len() {
                    let with = |item: Option<Value>| {
                        let mut items = items.clone();
                        items.splice(at..=at, item);
                        Value::Array(items)
                    };
                    all.push(with(None));
                    all.extend(mutants(&items[at]).into_iter().map(|it| with(Some(it))));
                }
                all.push(Value::Array([&items[..], &items[..]].concat()));
            }
            Value::Object(members) => {
                all.push(members.values().cloned().collect());
                for added in ["zzz", "a", "alias"] {
                    for value in [json!(1), json!(null), json!("x"), json!({})] {
                        let mut more = members.clone();
                        more.insert(added.to_owned(), value);
                        all.push(Value::Object(more));
                    }
                }
                for name in members.keys() {
                    let mut fewer = members.clone();
                    let value = fewer.shift_remove(name).expect("a member");
                    all.push(Value::Object(fewer.clone()));
                    fewer.insert("alias".to_owned(), value.clone());
                    all.push(Value::Object(fewer));
                    for mutant in mutants(&value) {
                        let mut members = members.clone();
                        members[name] = mutant;
                        all.push(Value::Object(members));
                    }
                }
            }
            _ => {}
        }
        all
    }

    /// The type needs no validator.
    fn is_enforced<T: JsonSchema + DeserializeOwned>(samples: &[Value]) {
        let name = std::any::type_name::<T>();
        let (enforced, only_schema) = judge::<T>(samples);
        assert_eq!(only_schema, [""; 0], "{name}: decoding is too lax");
        assert!(enforced, "{name}: {:?}", schema_of::<T>());
    }

    /// The type needs a validator, as the schema refuses something that decoding accepts.
    fn needs_validator<T: JsonSchema + DeserializeOwned>(samples: &[Value]) {
        let name = std::any::type_name::<T>();
        let (enforced, only_schema) = judge::<T>(samples);
        assert!(!enforced, "{name} accepts {only_schema:?}");
        assert!(!only_schema.is_empty(), "{name}: nothing proves it");
    }

    /// The type is not understood, and left to the validator.
    fn is_left<T: JsonSchema + DeserializeOwned>(samples: &[Value]) {
        let (enforced, _) = judge::<T>(samples);
        assert!(!enforced, "{}", std::any::type_name::<T>());
    }

    macro_rules! types {
        ($($(#[$meta:meta])* $kind:ident $name:ident $(<$param:ident>)? { $($body:tt)* })*) => {$(
            #[derive(Deserialize, JsonSchema)]
            #[allow(dead_code)]
            $(#[$meta])*
            $kind $name $(<$param>)? { $($body)* }
        )*};
    }

    types! {
        /// Everything plain.
        struct Flat {
            /// A doc comment.
            text: String,
            flag: bool,
            byte: u8,
            short: i16,
            long: i64,
            size: usize,
            real: f32,
            letter: char,
            maybe: Option<u32>,
            /// Another.
            #[serde(default)]
            chosen: i8,
        }
        #[serde(rename_all = "camelCase")]
        struct Nested {
            flat_one: Flat,
            /// With a description beside the reference.
            maybe_one: Option<Box<Flat>>,
            many: Vec<Color>,
            by_name: HashMap<String, Vec<Paint>>,
        }
        enum Color { A, B }
        enum Paint {
            /// With a doc comment.
            A,
            B,
            Mixed { left: Color, right: Option<Color> },
            Code(u8),
            Maybe(Option<u8>),
            Whole(Leaf),
        }
        struct Leaf { leaf: u8 }
        struct Empty {}
        struct Tree { value: u8, children: Vec<Tree>, next: Option<Box<Tree>> }
        enum Node { Fork(Fork), Tip(Tip) }
        struct Fork { left: Box<Node>, right: Box<Node> }
        struct Tip { tip: u8 }
        enum Term { Number(i32), Negated(Box<Term>), Sum { left: Box<Term>, right: Box<Term> } }
        struct Page<T> { items: Vec<T>, total: u64 }
        #[serde(default)]
        struct AllDefault { left: u8, right: Color }
        #[serde(deny_unknown_fields)]
        struct Closed { a: u8, b: Option<Leaf> }
        #[serde(try_from = "Leaf")]
        struct Checked { leaf: u8 }
    }

    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code)]
    struct Newtype(u8);

    #[derive(Deserialize, JsonSchema)]
    struct Unit;

    impl Default for AllDefault {
        fn default() -> Self {
            let (left, right) = (1, Color::A);
            Self { left, right }
        }
    }

    impl TryFrom<Leaf> for Checked {
        type Error = &'static str;

        fn try_from(Leaf { leaf }: Leaf) -> Result<Self, Self::Error> {
            if leaf < 200 {
                Ok(Self { leaf })
            } else {
                Err("too much")
            }
        }
    }

    fn flat() -> Value {
        json!({
            "text": "t", "flag": true, "byte": 1, "short": -2, "long": 3, "size": 4, "real": 0.5,
            "letter": "x", "maybe": 5, "chosen": 6,
        })
    }

    #[test]
    fn plain_types_need_no_validator() {
        is_enforced::<bool>(&[json!(true)]);
        is_enforced::<i8>(&[json!(1)]);
        is_enforced::<u64>(&[json!(1)]);
        is_enforced::<u128>(&[json!(1)]);
        is_enforced::<f64>(&[json!(1)]);
        is_enforced::<char>(&[json!("x")]);
        is_enforced::<Option<String>>(&[json!("x"), json!(null)]);
        is_enforced::<Option<Option<u8>>>(&[json!(1)]);
        is_enforced::<()>(&[json!(null)]);
        is_enforced::<Unit>(&[json!(null)]);
        is_enforced::<Empty>(&[json!({})]);
        is_enforced::<Newtype>(&[json!(1)]);
        is_enforced::<Flat>(&[flat()]);
        is_enforced::<Option<Flat>>(&[flat()]);
        is_enforced::<AllDefault>(&[json!({"left": 1, "right": "B"})]);
        is_enforced::<Closed>(&[json!({"a": 1, "b": {"leaf": 1}})]);
        is_enforced::<Checked>(&[json!({"leaf": 1})]);
        is_enforced::<Vec<Leaf>>(&[json!([{"leaf": 1}, {"leaf": 2}])]);
        is_enforced::<BTreeMap<String, Leaf>>(&[json!({"k": {"leaf": 1}})]);
        is_enforced::<Page<Leaf>>(&[json!({"items": [{"leaf": 1}], "total": 1})]);
        is_enforced::<Page<Page<Color>>>(&[
            json!({"items": [{"items": ["A"], "total": 1}], "total": 1}),
        ]);
        is_enforced::<Value>(&[json!({"a": [1]})]);
        is_enforced::<Map<String, Value>>(&[json!({"a": [1]})]);
        is_enforced::<std::net::Ipv4Addr>(&[json!("127.0.0.1")]);
        is_enforced::<std::time::Duration>(&[json!({"secs": 1, "nanos": 1})]);
    }

    #[test]
    fn enums_need_no_validator() {
        is_enforced::<Color>(&[json!("A")]);
        is_enforced::<Option<Color>>(&[json!("A"), json!(null)]);
        is_enforced::<Paint>(&[
            json!("A"),
            json!({"Mixed": {"left": "A", "right": "B"}}),
            json!({"Code": 1}),
            json!({"Maybe": null}),
            json!({"Whole": {"leaf": 1}}),
        ]);
        is_enforced::<Result<u8, Leaf>>(&[json!({"Ok": 1}), json!({"Err": {"leaf": 1}})]);
        is_enforced::<Nested>(&[json!({
            "flatOne": flat(), "maybeOne": flat(), "many": ["A", "B"],
            "byName": {"k": ["B", {"Code": 1}]},
        })]);
    }

    #[test]
    fn recursive_types_need_no_validator() {
        let leaf = json!({"value": 1, "children": [], "next": null});
        is_enforced::<Tree>(&[json!({"value": 1, "children": [leaf], "next": leaf})]);
        is_enforced::<Term>(&[
            json!({"Sum": {"left": {"Number": 1}, "right": {"Negated": {"Number": 1}}}}),
        ]);
        let tip = json!({"Tip": {"tip": 1}});
        is_enforced::<Node>(&[json!({"Fork": {"left": tip, "right": tip}})]);
        let root = schema_of::<Tree>();
        assert!(enforced::<Tree>(&root), "{root:?}");
    }

    #[test]
    fn hand_written_rules_need_the_validator() {
        types! {
            struct Ranged { #[schemars(range(min = 1, max = 9))] a: u8 }
            struct Real { #[schemars(range(min = 0.0))] a: f64 }
            struct Long { #[schemars(length(min = 1, max = 1))] a: String }
            struct Regular { #[schemars(regex(pattern = "^a+$"))] a: String }
            struct Extended { #[schemars(extend("const" = 1))] a: u8 }
            #[schemars(extend("additionalProperties" = false))]
            struct Shut { a: u8 }
            #[schemars(extend("properties" = {"a": {"type": "integer"}, "b": {"type": "string"}}))]
            struct Promising { a: u8 }
            #[schemars(extend("required" = ["a", "b"]))]
            struct Demanding { a: u8, #[serde(default)] b: u8 }
            #[schemars(extend("required" = ["a", "b"]))]
            struct Unfillable { a: std::net::SocketAddr, #[serde(default)] b: u8 }
            #[schemars(extend("minProperties" = 2))]
            struct Full { a: u8, b: Option<u8> }
            struct Referring { #[schemars(extend("minProperties" = 2))] a: Leaf }
        }
        needs_validator::<Ranged>(&[json!({"a": 5})]);
        needs_validator::<Real>(&[json!({"a": 5})]);
        needs_validator::<Long>(&[json!({"a": "x"})]);
        needs_validator::<Regular>(&[json!({"a": "aa"})]);
        needs_validator::<Extended>(&[json!({"a": 1})]);
        needs_validator::<Shut>(&[json!({"a": 1})]);
        needs_validator::<Promising>(&[json!({"a": 1, "b": "x"})]);
        needs_validator::<Demanding>(&[json!({"a": 1, "b": 1})]);
        needs_validator::<Unfillable>(&[json!({"a": "127.0.0.1:1", "b": 1})]);
        needs_validator::<Full>(&[json!({"a": 1, "b": 1})]);
        needs_validator::<Referring>(&[json!({"a": {"leaf": 1, "more": 1}})]);
        needs_validator::<HashSet<u8>>(&[json!([1, 2])]);
    }

    /// A hand-written way to read a small number.
    struct Small {
        rounds: bool,
        wraps: bool,
    }

    impl Visitor<'_> for Small {
        type Value = u8;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a number")
        }

        fn visit_u64<E: Error>(self, number: u64) -> Result<u8, E> {
            match u8::try_from(number) {
                Err(_) if self.wraps => Ok(number as u8),
                small => small.map_err(E::custom),
            }
        }

        fn visit_f64<E: Error>(self, number: f64) -> Result<u8, E> {
            if self.rounds {
                Ok(number as u8)
            } else {
                Err(E::custom("a fraction"))
            }
        }
    }

    #[test]
    fn laxer_than_it_looks_needs_the_validator() {
        fn lenient<'de, D: Deserializer<'de>>(from: D) -> Result<u8, D::Error> {
            Ok(Value::deserialize(from)?.as_u64().unwrap_or_default() as u8)
        }
        fn swallowing<'de, D: Deserializer<'de>>(from: D) -> Result<u8, D::Error> {
            Ok(u8::deserialize(from).unwrap_or_default())
        }
        fn rounding<'de, D: Deserializer<'de>>(from: D) -> Result<u8, D::Error> {
            from.deserialize_u8(Small {
                rounds: true,
                wraps: false,
            })
        }
        fn overflowing<'de, D: Deserializer<'de>>(from: D) -> Result<u8, D::Error> {
            from.deserialize_u8(Small {
                rounds: false,
                wraps: true,
            })
        }
        fn wrapping<'de, D: Deserializer<'de>>(from: D) -> Result<u8, D::Error> {
            Ok(u16::deserialize(from)? as u8)
        }
        types! {
            struct Aliased { #[serde(alias = "alias")] a: u8 }
            enum AliasedVariant { #[serde(alias = "x")] A, B }
            enum Others { A, #[serde(other)] B }
            struct Lenient { #[serde(deserialize_with = "lenient")] a: u8 }
            struct Swallowing { #[serde(deserialize_with = "swallowing")] a: u8, b: u8 }
            struct Overflowing { #[serde(deserialize_with = "overflowing")] a: u8 }
            struct Wrapped { #[serde(deserialize_with = "wrapping")] a: u8 }
            struct Nonnull { #[serde(default)] #[schemars(with = "u8")] a: Option<u8> }
            struct Rounded { #[serde(deserialize_with = "rounding")] a: u8 }
            struct Required { #[schemars(required)] a: Option<u8> }
            struct Other { #[schemars(with = "u8")] a: u16 }
            struct Renamed { #[schemars(rename = "b")] #[serde(default)] a: u8 }
            struct Flattened { own: u8, #[serde(flatten)] inner: Inner }
            struct MaybeFlattened { own: u8, #[serde(flatten)] inner: Option<Leaf> }
            struct Inner { leaf: Leaf, color: Color }
            #[serde(tag = "t")]
            enum Internal { A, B { leaf: Leaf }, C(Leaf) }
            #[serde(tag = "t", content = "c")]
            enum Adjacent { A, B(Leaf), C { leaf: u8 } }
            #[serde(untagged)]
            enum Untagged { Leaf(Leaf), Text(String) }
        }
        needs_validator::<Aliased>(&[json!({"a": 1})]);
        needs_validator::<AliasedVariant>(&[json!("A")]);
        needs_validator::<Others>(&[json!("A")]);
        needs_validator::<Lenient>(&[json!({"a": 1})]);
        needs_validator::<Swallowing>(&[json!({"a": 1, "b": 1})]);
        needs_validator::<Overflowing>(&[json!({"a": 1})]);
        needs_validator::<Wrapped>(&[json!({"a": 1})]);
        needs_validator::<Nonnull>(&[json!({"a": 1})]);
        needs_validator::<Rounded>(&[json!({"a": 1})]);
        needs_validator::<Required>(&[json!({"a": 1})]);
        needs_validator::<Other>(&[json!({"a": 1})]);
        needs_validator::<Renamed>(&[json!({"a": 1, "b": 1})]);
        needs_validator::<Flattened>(&[json!({"own": 1, "leaf": {"leaf": 1}, "color": "A"})]);
        needs_validator::<MaybeFlattened>(&[json!({"own": 1, "leaf": 1})]);
        needs_validator::<Internal>(&[json!({"t": "A"}), json!({"t": "B", "leaf": {"leaf": 1}})]);
        needs_validator::<Adjacent>(&[json!({"c": {"leaf": 1}, "t": "B"})]);
        needs_validator::<Untagged>(&[json!({"leaf": 1}), json!("x")]);
    }

    #[test]
    fn what_is_not_understood_is_left_to_the_validator() {
        fn hinting<'de, D: Deserializer<'de>>(from: D) -> Result<u8, D::Error> {
            from.deserialize_u16(Small {
                rounds: false,
                wraps: false,
            })
        }
        types! {
            struct Hinting { #[serde(deserialize_with = "hinting")] a: u8 }
        }
        is_left::<Hinting>(&[json!({"a": 1})]);
        is_left::<(u8, String)>(&[json!([1, "x"])]);
        is_left::<[u8; 2]>(&[json!([1, 2])]);
        is_left::<NonZeroU8>(&[json!(1)]);
        is_left::<HashMap<u8, u8>>(&[json!({"1": 1})]);
    }
}
