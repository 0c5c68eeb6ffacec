//! A deserializer that finds out what a type calls for.

use std::{error, fmt};

use serde::de::value::StrDeserializer;
use serde::de::{
    self, DeserializeSeed, Deserializer, EnumAccess, MapAccess, SeqAccess, VariantAccess, Visitor,
};
use serde_json::{Map, Value};

use super::enforced::{Place, Step, Survey};
use super::keywords::{Branch, members, names, only, types};

/// How deep made-up values go before they are given up.
const MAX_DEPTH: usize = 24;

/// No member or variant is called so.
const NOBODY: &str = "\u{0}";

/// Decodes a type, not from data but from what its schema says.
///
/// On the way to its goal it gives a type just what leads there. At the goal it compares what the
/// type calls for with the schema, and notes in the survey where to go from there.
#[derive(Clone, Copy)]
pub(super) struct Probe<'a, 's> {
    survey: &'a Survey<'s>,
    place: Place<'s>,
    goal: Goal<'a>,
    /// Whether this is a member that the schema requires.
    required: bool,
}

#[derive(Clone, Copy)]
pub(super) enum Goal<'a> {
    /// Go this way and look.
    Reach(&'a [Step]),
    /// Make up a value that the type accepts; so many values are around it.
    Fill(usize),
}

impl<'a, 's> Probe<'a, 's> {
    pub(super) fn new(survey: &'a Survey<'s>, place: Place<'s>, goal: Goal<'a>) -> Self {
        Self {
            survey,
            place,
            goal,
            required: false,
        }
    }

    /// The probe for a part of this.
    fn part(&self, schema: Option<&'s Value>, goal: Goal<'a>) -> Self {
        let place = schema.map_or(Place::Anything, |it| self.survey.place(it));
        Self::new(self.survey, place, goal)
    }

    /// What a part is filled with.
    fn filling(&self) -> Goal<'a> {
        match self.goal {
            Goal::Reach(_) => Goal::Fill(1),
            Goal::Fill(depth) => Goal::Fill(depth + 1),
        }
    }

    /// The goal is here: judge it.
    fn look<T>(&self, strict: bool) -> Result<T, Halt> {
        self.survey.arrive(strict);
        Err(Halt::Done)
    }

    /// The goal is here: the type was offered what the schema forbids.
    fn offered<T, U>(&self, outcome: &Result<T, Halt>) -> Result<U, Halt> {
        self.look(outcome.is_err())
    }

    /// A value of one JSON type, without parts.
    fn scalar<V: Visitor<'a>>(
        self,
        visitor: V,
        kind: &str,
        give: fn(V) -> Result<V::Value, Halt>,
    ) -> Result<V::Value, Halt> {
        match (self.goal, self.place) {
            (Goal::Fill(_), _) => give(visitor),
            (Goal::Reach([]), Place::Anything) => self.look(true),
            (Goal::Reach([]), Place::Says { schema, .. }) => {
                self.look(only(schema, &["type"]) && types(schema).any(|it| it == kind))
            }
            _ => Err(Halt::Lost),
        }
    }

    /// A whole number; one beyond `range` cannot be asked for.
    fn integer<V: Visitor<'a>>(
        self,
        visitor: V,
        (least, most): (i128, Option<i128>),
    ) -> Result<V::Value, Halt> {
        match (self.goal, self.place) {
            (Goal::Fill(_), _) => visitor.visit_u64(0),
            (Goal::Reach([]), Place::Anything) => self.look(true),
            (Goal::Reach([]), Place::Says { schema, .. }) => {
                let limit = |keyword| schema.get(keyword).map(whole);
                let (minimum, maximum) = (limit("minimum"), limit("maximum"));
                let strict = only(schema, &["type", "minimum", "maximum"])
                    && types(schema).any(|it| matches!(it, "integer" | "number"))
                    && minimum.is_none_or(|it| it.is_some_and(|it| it <= least))
                    && maximum.is_none_or(|it| it.zip(most).is_some_and(|(it, most)| it >= most));
                let below = minimum.flatten().map(|it| it - 1);
                let above = maximum.flatten().map(|it| it + 1);
                let beyond = below.into_iter().chain(above).map(Step::OutOfRange);
                self.survey
                    .continue_with::<V>(schema, beyond.chain([Step::Fraction]));
                self.look(strict)
            }
            (Goal::Reach([Step::Fraction]), _) => self.offered(&visitor.visit_f64(0.5)),
            (Goal::Reach([Step::OutOfRange(number)]), _) => {
                self.offered(&match (i64::try_from(*number), u64::try_from(*number)) {
                    (_, Ok(number)) => visitor.visit_u64(number),
                    (Ok(number), _) => visitor.visit_i64(number),
                    // JSON numbers do not get that far.
                    _ => Err(Halt::Done),
                })
            }
            _ => Err(Halt::Lost),
        }
    }

    /// The members of a struct, or of a variant like one.
    fn members<V: Visitor<'a>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Halt> {
        let schema = match self.place {
            Place::Says { schema, .. } => schema,
            Place::Anything if matches!(self.goal, Goal::Reach([])) => return self.look(true),
            _ if matches!(self.goal, Goal::Fill(_)) => empty(),
            _ => return Err(Halt::Lost),
        };
        let properties = members(schema, "properties").unwrap_or(empty());
        let required = match schema.get("required") {
            None => Vec::new(),
            list => names(list).ok_or(Halt::Lost)?,
        };
        let part = |field: &'static str, goal| {
            let mut part = self.part(properties.get(field), goal);
            part.required = required.contains(&field);
            (field, part)
        };
        let filled = |but: Option<usize>| {
            let others = fields.iter().enumerate().filter(|(at, _)| Some(*at) != but);
            Parts(others.map(|(_, it)| part(it, self.filling())).collect())
        };
        match self.goal {
            Goal::Fill(depth) if depth > MAX_DEPTH => Err(Halt::Lost),
            Goal::Fill(_) => visitor.visit_map(filled(None)),
            Goal::Reach([]) => {
                let open = schema.get("additionalProperties");
                let keywords = ["type", "properties", "required", "additionalProperties"];
                let strict = only(schema, &keywords)
                    && types(schema).any(|it| it == "object")
                    && matches!(open, None | Some(Value::Bool(_)))
                    && fields.len() == properties.len()
                    && fields.iter().all(|it| properties.contains_key(*it))
                    && required.iter().all(|it| fields.contains(it));
                let steps = (0..fields.len()).map(Step::Member).chain(
                    (0..fields.len())
                        .filter(|at| required.contains(&fields[*at]))
                        .map(Step::Without),
                );
                let closed = (open == Some(&Value::Bool(false))).then_some(Step::Unknown);
                self.survey.continue_with::<V>(schema, steps.chain(closed));
                self.look(strict)
            }
            Goal::Reach([Step::Member(at), rest @ ..]) => {
                visitor.visit_map(Parts(vec![part(fields[*at], Goal::Reach(rest))]))
            }
            Goal::Reach([Step::Without(at)]) => {
                let outcome = visitor.visit_map(filled(Some(*at)));
                let missed = matches!(outcome, Err(Halt::Missing(name)) if name == fields[*at]);
                self.look(missed)
            }
            Goal::Reach([Step::Unknown]) => visitor.visit_map(Stranger(self)),
            Goal::Reach(_) => Err(Halt::Lost),
        }
    }

    /// What the schema says of a variant: its name, or what it holds.
    fn variant(&self, name: &str) -> Option<Option<&'s Value>> {
        let Place::Says { schema, .. } = self.place else {
            return None;
        };
        if only(schema, &["type", "enum"]) {
            let choices = schema.get("enum")?.as_array()?;
            let strings = types(schema).any(|it| it == "string");
            return (strings && choices.iter().any(|it| it == name)).then_some(None);
        }
        if !only(schema, &["oneOf"]) {
            return None;
        }
        let mut found = None;
        for branch in schema.get("oneOf")?.as_array()? {
            let held = match Branch::of(branch)? {
                Branch::Names(names) if names.contains(&name) => None,
                Branch::Holding(key, held) if key == name => Some(held),
                _ => continue,
            };
            if found.replace(held).is_some() {
                return None;
            }
        }
        found
    }
}

/// A limit, if it is a whole number.
fn whole(limit: &Value) -> Option<i128> {
    (limit.as_i64().map(i128::from)).or(limit.as_u64().map(i128::from))
}

fn empty() -> &'static Map<String, Value> {
    static EMPTY: std::sync::LazyLock<Map<String, Value>> = std::sync::LazyLock::new(Map::new);
    &EMPTY
}

/// A string that types of this format accept.
fn example(format: Option<&Value>) -> &'static str {
    match format.and_then(Value::as_str).unwrap_or_default() {
        "date" => "2000-01-01",
        "date-time" => "2000-01-01T00:00:00Z",
        "partial-date-time" => "2000-01-01T00:00:00",
        "time" => "00:00:00Z",
        "partial-time" => "00:00:00",
        "duration" => "PT1S",
        "email" => "a@example.org",
        "ip" | "ipv4" => "127.0.0.1",
        "ipv6" => "::1",
        "semver" => "1.0.0",
        "uri" | "url" => "http://example.org/",
        "uuid" => "00000000-0000-0000-0000-000000000000",
        _ => "",
    }
}

macro_rules! integers {
    ($($method:ident $type:ty,)*) => {$(
        fn $method<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Halt> {
            self.integer(visitor, (<$type>::MIN as i128, i128::try_from(<$type>::MAX).ok()))
        }
    )*};
}

macro_rules! scalars {
    ($($method:ident $kind:literal $give:expr;)*) => {$(
        fn $method<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Halt> {
            self.scalar(visitor, $kind, $give)
        }
    )*};
}

impl<'a> Deserializer<'a> for Probe<'a, '_> {
    type Error = Halt;

    integers! {
        deserialize_i8 i8,
        deserialize_i16 i16,
        deserialize_i32 i32,
        deserialize_i64 i64,
        deserialize_i128 i128,
        deserialize_u8 u8,
        deserialize_u16 u16,
        deserialize_u32 u32,
        deserialize_u64 u64,
        deserialize_u128 u128,
    }

    scalars! {
        deserialize_bool "boolean" |it| it.visit_bool(false);
        deserialize_f32 "number" |it| it.visit_f64(0.0);
        deserialize_f64 "number" |it| it.visit_f64(0.0);
    }

    fn deserialize_char<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Halt> {
        match (self.goal, self.place) {
            (Goal::Fill(_), _) => visitor.visit_char('a'),
            (Goal::Reach([]), Place::Says { schema, .. }) => {
                let length = |keyword| schema.get(keyword).map(|it| it.as_u64());
                let strict = only(schema, &["type", "minLength", "maxLength"])
                    && types(schema).any(|it| it == "string")
                    && length("minLength").is_none_or(|it| it.is_some_and(|it| it <= 1))
                    && length("maxLength").is_none_or(|it| it.is_some_and(|it| it >= 1));
                let texts = ["", "ab"].map(Step::Text);
                self.survey.continue_with::<V>(schema, texts);
                self.look(strict)
            }
            (Goal::Reach([Step::Text(text)]), _) => self.offered(&visitor.visit_str(text)),
            _ => self.deserialize_str(visitor),
        }
    }

    fn deserialize_str<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Halt> {
        match (self.goal, self.place) {
            (Goal::Fill(_), Place::Says { schema, .. }) => {
                visitor.visit_str(example(schema.get("format")))
            }
            _ => self.scalar(visitor, "string", |it| it.visit_str("")),
        }
    }

    fn deserialize_string<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Halt> {
        self.deserialize_str(visitor)
    }

    // JSON has strings and lists for them.
    fn deserialize_bytes<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Halt> {
        self.deserialize_any(visitor)
    }

    fn deserialize_byte_buf<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Halt> {
        self.deserialize_any(visitor)
    }

    fn deserialize_any<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Halt> {
        match (self.goal, self.place) {
            (Goal::Fill(_), _) => visitor.visit_unit(),
            (Goal::Reach([]), Place::Anything) => self.look(true),
            _ => Err(Halt::Lost),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Halt> {
        self.deserialize_any(visitor)
    }

    fn deserialize_identifier<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Halt> {
        self.deserialize_any(visitor)
    }

    fn deserialize_option<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Halt> {
        match (self.goal, self.place) {
            (Goal::Fill(_), _) => visitor.visit_none(),
            // A member left out is none as well.
            (Goal::Reach([]), _) if self.required => self.look(false),
            (Goal::Reach([]), Place::Anything) => self.look(true),
            (Goal::Reach([]), Place::Says { schema, nullable }) => {
                self.survey.continue_with::<V>(schema, [Step::Inside]);
                self.look(nullable || types(schema).any(|it| it == "null"))
            }
            (Goal::Reach([Step::Inside, rest @ ..]), _) => {
                let goal = Goal::Reach(rest);
                visitor.visit_some(Self { goal, ..self })
            }
            _ => Err(Halt::Lost),
        }
    }

    fn deserialize_unit<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Halt> {
        match (self.goal, self.place) {
            (Goal::Reach([]), Place::Says { nullable: true, .. }) => self.look(true),
            _ => self.scalar(visitor, "null", |it| it.visit_unit()),
        }
    }

    fn deserialize_unit_struct<V: Visitor<'a>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Halt> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'a>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Halt> {
        // So raw JSON is asked for.
        if name.starts_with("$serde_json") {
            return self.deserialize_any(visitor);
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Halt> {
        match (self.goal, self.place) {
            (Goal::Fill(_), _) => visitor.visit_seq(Items(None)),
            (Goal::Reach([]), Place::Anything) => self.look(true),
            (Goal::Reach([]), Place::Says { schema, .. }) => {
                let strict =
                    only(schema, &["type", "items"]) && types(schema).any(|it| it == "array");
                self.survey.continue_with::<V>(schema, [Step::Inside]);
                self.look(strict)
            }
            (Goal::Reach([Step::Inside, rest @ ..]), Place::Says { schema, .. }) => {
                let item = self.part(schema.get("items"), Goal::Reach(rest));
                visitor.visit_seq(Items(Some(item)))
            }
            _ => Err(Halt::Lost),
        }
    }

    // The validator counts the items of tuples.
    fn deserialize_tuple<V: Visitor<'a>>(self, _len: usize, visitor: V) -> Result<V::Value, Halt> {
        self.deserialize_any(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'a>>(
        self,
        _name: &'static str,
        _len: usize,
        visitor: V,
    ) -> Result<V::Value, Halt> {
        self.deserialize_any(visitor)
    }

    fn deserialize_map<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Halt> {
        match (self.goal, self.place) {
            (Goal::Fill(_), _) => visitor.visit_map(Parts(Vec::new())),
            (Goal::Reach([]), Place::Anything) => self.look(true),
            (Goal::Reach([]), Place::Says { schema, .. }) => {
                let strict = only(schema, &["type", "additionalProperties"])
                    && types(schema).any(|it| it == "object");
                self.survey.continue_with::<V>(schema, [Step::Inside]);
                self.look(strict)
            }
            (Goal::Reach([Step::Inside, rest @ ..]), Place::Says { schema, .. }) => {
                let value = self.part(schema.get("additionalProperties"), Goal::Reach(rest));
                visitor.visit_map(Parts(vec![("key", value)]))
            }
            _ => Err(Halt::Lost),
        }
    }

    fn deserialize_struct<V: Visitor<'a>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Halt> {
        self.members(fields, visitor)
    }

    fn deserialize_enum<V: Visitor<'a>>(
        self,
        _name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Halt> {
        match (self.goal, self.place) {
            (Goal::Reach([]), Place::Anything) => self.look(true),
            (Goal::Reach([]), Place::Says { schema, .. }) => {
                let strict = variants.iter().all(|it| self.variant(it).is_some());
                let steps = (0..variants.len()).map(Step::Variant);
                self.survey
                    .continue_with::<V>(schema, steps.chain([Step::Unknown]));
                self.look(strict)
            }
            (Goal::Reach([Step::Variant(at), rest @ ..]), _) => {
                let goal = Goal::Reach(rest);
                visitor.visit_enum(Variant(Self { goal, ..self }, variants[*at]))
            }
            (Goal::Reach([Step::Unknown]), _) => visitor.visit_enum(Stranger(self)),
            (Goal::Fill(depth), _) if depth <= MAX_DEPTH && !variants.is_empty() => {
                // A variant may hold its own enum: rather one that surely does not.
                let is_leaf = |name: &&&str| match self.variant(name) {
                    Some(held) => held.is_none_or(|it| !it.to_string().contains("\"$ref\"")),
                    None => false,
                };
                let leaf = variants.iter().find(is_leaf);
                let name = leaf.unwrap_or(&variants[depth % variants.len()]);
                visitor.visit_enum(Variant(self, name))
            }
            _ => Err(Halt::Lost),
        }
    }
}

/// The members of an object, last first.
struct Parts<'a, 's>(Vec<(&'static str, Probe<'a, 's>)>);

impl<'a> MapAccess<'a> for Parts<'a, '_> {
    type Error = Halt;

    fn next_key_seed<K: DeserializeSeed<'a>>(&mut self, seed: K) -> Result<Option<K::Value>, Halt> {
        let key = self.0.last().map(|(name, _)| StrDeserializer::new(name));
        key.map(|key| seed.deserialize(key)).transpose()
    }

    fn next_value_seed<S: DeserializeSeed<'a>>(&mut self, seed: S) -> Result<S::Value, Halt> {
        let (_, value) = self.0.pop().ok_or(Halt::Lost)?;
        seed.deserialize(value)
    }
}

/// One item, or none.
struct Items<'a, 's>(Option<Probe<'a, 's>>);

impl<'a> SeqAccess<'a> for Items<'a, '_> {
    type Error = Halt;

    fn next_element_seed<S: DeserializeSeed<'a>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Halt> {
        self.0.take().map(|it| seed.deserialize(it)).transpose()
    }
}

/// One variant of an enum, by name.
struct Variant<'a, 's>(Probe<'a, 's>, &'static str);

impl<'a, 's> Variant<'a, 's> {
    /// The probe for what the variant holds.
    fn held(&self) -> Result<Probe<'a, 's>, Halt> {
        match (self.0.goal, self.0.variant(self.1)) {
            (Goal::Fill(_), held) => Ok(self.0.part(held.flatten(), self.0.filling())),
            (goal, Some(Some(held))) => Ok(self.0.part(Some(held), goal)),
            _ => Err(Halt::Lost),
        }
    }
}

impl<'a> EnumAccess<'a> for Variant<'a, '_> {
    type Error = Halt;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'a>>(self, seed: S) -> Result<(S::Value, Self), Halt> {
        let name = seed.deserialize(StrDeserializer::<Halt>::new(self.1))?;
        Ok((name, self))
    }
}

impl<'a> VariantAccess<'a> for Variant<'a, '_> {
    type Error = Halt;

    fn unit_variant(self) -> Result<(), Halt> {
        match self.0.goal {
            Goal::Fill(_) => Ok(()),
            Goal::Reach([]) => self.0.look(self.0.variant(self.1) == Some(None)),
            Goal::Reach(_) => Err(Halt::Lost),
        }
    }

    fn newtype_variant_seed<S: DeserializeSeed<'a>>(self, seed: S) -> Result<S::Value, Halt> {
        seed.deserialize(self.held()?)
    }

    fn tuple_variant<V: Visitor<'a>>(self, len: usize, visitor: V) -> Result<V::Value, Halt> {
        self.held()?.deserialize_tuple(len, visitor)
    }

    fn struct_variant<V: Visitor<'a>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Halt> {
        self.held()?.members(fields, visitor)
    }
}

/// A name that a type should not know.
struct Stranger<'a, 's>(Probe<'a, 's>);

impl<'a> Stranger<'a, '_> {
    fn offer<S: DeserializeSeed<'a>>(&self, seed: S) -> Result<S::Value, Halt> {
        let name = StrDeserializer::<Halt>::new(NOBODY);
        self.0.offered(&seed.deserialize(name))
    }
}

impl<'a> MapAccess<'a> for Stranger<'a, '_> {
    type Error = Halt;

    fn next_key_seed<K: DeserializeSeed<'a>>(&mut self, seed: K) -> Result<Option<K::Value>, Halt> {
        self.offer(seed).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'a>>(&mut self, _seed: S) -> Result<S::Value, Halt> {
        Err(Halt::Done)
    }
}

impl<'a> EnumAccess<'a> for Stranger<'a, '_> {
    type Error = Halt;
    type Variant = Variant<'a, 'a>;

    fn variant_seed<S: DeserializeSeed<'a>>(
        self,
        seed: S,
    ) -> Result<(S::Value, Self::Variant), Halt> {
        self.offer(seed)?;
        Err(Halt::Done)
    }
}

/// Why a decoding ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Halt {
    /// The probe has seen enough.
    Done,
    /// The probe cannot go on, or the type refused what it was given.
    Lost,
    /// A member was missing.
    Missing(&'static str),
}

impl fmt::Display for Halt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the type is only probed")
    }
}

impl error::Error for Halt {}

impl de::Error for Halt {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self::Lost
    }

    fn missing_field(field: &'static str) -> Self {
        Self::Missing(field)
    }
}
