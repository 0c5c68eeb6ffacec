//! A source that finds out what a type calls for.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::enforced::{Place, Step, Survey};
use super::feed::{Fed, Given, Integer, Parts, Variant, What};
use super::keywords::{Branch, members, names, only, types};
use super::misread::Misread;

/// How deep made-up values go before they are given up.
const MAX_DEPTH: usize = 24;

/// No member or variant is called so.
pub(super) const NOBODY: &str = "\u{0}";

/// Feeds a type, not with data but with what its schema says.
///
/// On the way to its goal it gives a type just what leads there. At the goal it compares what the
/// type calls for with the schema, and notes in the survey where to go from there.
#[derive(Clone, Copy)]
pub(crate) struct Probe<'a> {
    survey: &'a Survey<'a>,
    place: Place<'a>,
    goal: Goal<'a>,
}

#[derive(Clone, Copy)]
pub(super) enum Goal<'a> {
    /// Go this way and look.
    Reach(&'a [Step]),
    /// Make up a value that the type accepts; so many values are around it.
    Fill(usize),
}

impl<'a> Probe<'a> {
    pub(super) fn new(survey: &'a Survey<'a>, place: Place<'a>, goal: Goal<'a>) -> Self {
        Self {
            survey,
            place,
            goal,
        }
    }

    /// What a visitor of this type is given, if anything is.
    pub(super) fn give(self, what: What, visitor: &'static str) -> Result<Given<'a>, Misread> {
        match what {
            What::Bool => self.scalar("boolean", Given::Bool(false)),
            What::Integer(held) => self.integer(held, visitor),
            What::Float { .. } => self.scalar("number", Given::F64(0.0)),
            What::Char => self.char(visitor),
            What::Str => self.string(),
            What::Option => self.option(visitor),
            What::Unit => match (self.goal, self.place) {
                (Goal::Reach([]), Place::Says { nullable: true, .. }) => Err(self.look(true)),
                _ => self.scalar("null", Given::Unit),
            },
            // So raw JSON is asked for.
            What::Newtype(name) if name.starts_with("$serde_json") => self.any(),
            What::Newtype(_) => Ok(Given::Inside(Fed::Probe(self))),
            What::Seq => self.seq(visitor),
            What::Map => self.map(visitor),
            What::Struct(fields) => self.members(fields, visitor),
            What::Enum(variants) => self.choice(variants, visitor),
            // JSON has strings and lists for bytes. The validator counts the items of tuples.
            What::Any | What::Ignored | What::Identifier | What::Bytes | What::Tuple => self.any(),
        }
    }

    /// What was given is refused. Where only that was to be found out, the trip ends here; where it
    /// is accepted, it comes to no end. `fields` are those of a struct.
    pub(super) fn refused(self, fields: &'static [&'static str], error: Misread) -> Misread {
        match self.goal {
            Goal::Reach([Step::Fraction | Step::OutOfRange(_) | Step::Text(_)]) => self.look(true),
            Goal::Reach([Step::Without(at)]) => match fields.get(*at) {
                Some(field) => self.look(error.misses(field)),
                None => error,
            },
            // Otherwise the name was accepted, and that is noted.
            Goal::Reach([Step::Unknown]) if !error.is_done() => self.look(true),
            _ => error,
        }
    }

    /// The probe for a part of this.
    fn part(&self, schema: Option<&'a Value>, goal: Goal<'a>) -> Self {
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
    pub(super) fn look(&self, strict: bool) -> Misread {
        self.survey.arrive(strict);
        Misread::done()
    }

    fn any(self) -> Result<Given<'a>, Misread> {
        match (self.goal, self.place) {
            (Goal::Fill(_), _) => Ok(Given::Unit),
            (Goal::Reach([]), Place::Anything) => Err(self.look(true)),
            _ => Err(Misread::lost()),
        }
    }

    /// A value of one JSON type, without parts.
    fn scalar(self, kind: &str, example: Given<'a>) -> Result<Given<'a>, Misread> {
        match (self.goal, self.place) {
            (Goal::Fill(_), _) => Ok(example),
            (Goal::Reach([]), Place::Anything) => Err(self.look(true)),
            (Goal::Reach([]), Place::Says { schema, .. }) => {
                let strict = only(schema, &["type"]) && types(schema).any(|it| it == kind);
                Err(self.look(strict))
            }
            _ => Err(Misread::lost()),
        }
    }

    fn integer(self, held: Integer, visitor: &'static str) -> Result<Given<'a>, Misread> {
        let most = i128::try_from(held.most).ok();
        match (self.goal, self.place) {
            (Goal::Fill(_), _) => Ok(Given::U64(0)),
            (Goal::Reach([]), Place::Anything) => Err(self.look(true)),
            (Goal::Reach([]), Place::Says { schema, .. }) => {
                let limit = |keyword| schema.get(keyword).map(whole);
                let (minimum, maximum) = (limit("minimum"), limit("maximum"));
                let strict = only(schema, &["type", "minimum", "maximum"])
                    && types(schema).any(|it| matches!(it, "integer" | "number"))
                    && minimum.is_none_or(|it| it.is_some_and(|it| it <= held.least))
                    && maximum.is_none_or(|it| it.zip(most).is_some_and(|(it, most)| it >= most));
                let below = minimum.flatten().map(|it| it - 1);
                let above = maximum.flatten().map(|it| it + 1);
                let beyond = below.into_iter().chain(above).map(Step::OutOfRange);
                let steps = beyond.chain([Step::Fraction]);
                self.survey.continue_with(visitor, schema, steps);
                Err(self.look(strict))
            }
            (Goal::Reach([Step::Fraction]), _) => Ok(Given::F64(0.5)),
            (Goal::Reach([Step::OutOfRange(number)]), _) => {
                match (i64::try_from(*number), u64::try_from(*number)) {
                    (_, Ok(number)) => Ok(Given::U64(number)),
                    (Ok(number), _) => Ok(Given::I64(number)),
                    // JSON numbers do not get that far.
                    _ => Err(self.look(true)),
                }
            }
            _ => Err(Misread::lost()),
        }
    }

    fn char(self, visitor: &'static str) -> Result<Given<'a>, Misread> {
        match (self.goal, self.place) {
            (Goal::Fill(_), _) => Ok(Given::Char('a')),
            (Goal::Reach([]), Place::Says { schema, .. }) => {
                let length = |keyword| schema.get(keyword).map(Value::as_u64);
                let strict = only(schema, &["type", "minLength", "maxLength"])
                    && types(schema).any(|it| it == "string")
                    && length("minLength").is_none_or(|it| it.is_some_and(|it| it <= 1))
                    && length("maxLength").is_none_or(|it| it.is_some_and(|it| it >= 1));
                let texts = ["", "ab"].map(Step::Text);
                self.survey.continue_with(visitor, schema, texts);
                Err(self.look(strict))
            }
            (Goal::Reach([Step::Text(text)]), _) => Ok(Given::Str((*text).into())),
            _ => self.string(),
        }
    }

    fn string(self) -> Result<Given<'a>, Misread> {
        match (self.goal, self.place) {
            (Goal::Fill(_), Place::Says { schema, .. }) => {
                Ok(Given::Str(example(schema.get("format")).into()))
            }
            _ => self.scalar("string", Given::Str("".into())),
        }
    }

    fn option(self, visitor: &'static str) -> Result<Given<'a>, Misread> {
        match (self.goal, self.place) {
            (Goal::Fill(_), _) => Ok(Given::Nothing),
            (Goal::Reach([]), Place::Anything) => Err(self.look(true)),
            (Goal::Reach([]), Place::Says { schema, nullable }) => {
                self.survey.continue_with(visitor, schema, [Step::Inside]);
                Err(self.look(nullable || types(schema).any(|it| it == "null")))
            }
            (Goal::Reach([Step::Inside, rest @ ..]), _) => {
                let goal = Goal::Reach(rest);
                Ok(Given::Inside(Fed::Probe(Self { goal, ..self })))
            }
            _ => Err(Misread::lost()),
        }
    }

    fn seq(self, visitor: &'static str) -> Result<Given<'a>, Misread> {
        match (self.goal, self.place) {
            (Goal::Fill(_), _) => Ok(Given::Seq(Parts::items([]))),
            (Goal::Reach([]), Place::Anything) => Err(self.look(true)),
            (Goal::Reach([]), Place::Says { schema, .. }) => {
                let strict =
                    only(schema, &["type", "items"]) && types(schema).any(|it| it == "array");
                self.survey.continue_with(visitor, schema, [Step::Inside]);
                Err(self.look(strict))
            }
            (Goal::Reach([Step::Inside, rest @ ..]), Place::Says { schema, .. }) => {
                let item = self.part(schema.get("items"), Goal::Reach(rest));
                Ok(Given::Seq(Parts::items([Fed::Probe(item)])))
            }
            _ => Err(Misread::lost()),
        }
    }

    fn map(self, visitor: &'static str) -> Result<Given<'a>, Misread> {
        match (self.goal, self.place) {
            (Goal::Fill(_), _) => Ok(Given::Map(Parts::members([]))),
            (Goal::Reach([]), Place::Anything) => Err(self.look(true)),
            (Goal::Reach([]), Place::Says { schema, .. }) => {
                let strict = only(schema, &["type", "additionalProperties"])
                    && types(schema).any(|it| it == "object");
                self.survey.continue_with(visitor, schema, [Step::Inside]);
                Err(self.look(strict))
            }
            (Goal::Reach([Step::Inside, rest @ ..]), Place::Says { schema, .. }) => {
                let value = self.part(schema.get("additionalProperties"), Goal::Reach(rest));
                Ok(Given::Map(Parts::members([(
                    "key".into(),
                    Fed::Probe(value),
                )])))
            }
            _ => Err(Misread::lost()),
        }
    }

    /// The members of a struct, or of a variant like one.
    fn members(
        self,
        fields: &'static [&'static str],
        visitor: &'static str,
    ) -> Result<Given<'a>, Misread> {
        let schema = match self.place {
            Place::Says { schema, .. } => schema,
            Place::Anything if matches!(self.goal, Goal::Reach([])) => return Err(self.look(true)),
            _ if matches!(self.goal, Goal::Fill(_)) => empty(),
            _ => return Err(Misread::lost()),
        };
        let properties = members(schema, "properties").unwrap_or(empty());
        let required = match schema.get("required") {
            None => Vec::new(),
            list => names(list).ok_or_else(Misread::lost)?,
        };
        let part = |field: &'static str, goal| {
            let part = self.part(properties.get(field), goal);
            (Cow::from(field), Fed::Probe(part))
        };
        let filled = |but: Option<usize>| {
            let others = fields.iter().enumerate().filter(|(at, _)| Some(*at) != but);
            let parts = others.map(|(_, it)| part(it, self.filling()));
            Ok(Given::Map(Parts::members(parts)))
        };
        match self.goal {
            Goal::Fill(depth) if depth <= MAX_DEPTH && self.survey.may_fill() => filled(None),
            Goal::Fill(_) => Err(Misread::lost()),
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
                let steps = steps.chain(closed);
                self.survey.continue_with(visitor, schema, steps);
                Err(self.look(strict))
            }
            Goal::Reach([Step::Member(at), rest @ ..]) => {
                let part = part(fields[*at], Goal::Reach(rest));
                Ok(Given::Map(Parts::members([part])))
            }
            Goal::Reach([Step::Without(at)]) => filled(Some(*at)),
            Goal::Reach([Step::Unknown]) => {
                let stranger = (NOBODY.into(), Fed::Stranger(self));
                Ok(Given::Map(Parts::members([stranger])))
            }
            Goal::Reach(_) => Err(Misread::lost()),
        }
    }

    fn choice(
        self,
        variants: &'static [&'static str],
        visitor: &'static str,
    ) -> Result<Given<'a>, Misread> {
        match (self.goal, self.place) {
            (Goal::Reach([]), Place::Anything) => Err(self.look(true)),
            (Goal::Reach([]), Place::Says { schema, .. }) => {
                let strict = variants.iter().all(|it| self.variant(it).is_some());
                let steps = (0..variants.len()).map(Step::Variant);
                let steps = steps.chain([Step::Unknown]);
                self.survey.continue_with(visitor, schema, steps);
                Err(self.look(strict))
            }
            (Goal::Reach([Step::Variant(at), rest @ ..]), _) => {
                let goal = Goal::Reach(rest);
                let chosen = Variant::Probed(variants[*at], Self { goal, ..self });
                Ok(Given::Variant(chosen))
            }
            (Goal::Reach([Step::Unknown]), _) => Ok(Given::Variant(Variant::Stranger(self))),
            (Goal::Fill(depth), _) if depth <= MAX_DEPTH && !variants.is_empty() => {
                // A variant may hold its own enum: rather one that surely does not.
                let is_leaf = |name: &&&str| match self.variant(name) {
                    Some(Some(held)) => self.survey.is_leaf(held),
                    held => held.is_some(),
                };
                let leaf = variants.iter().find(is_leaf);
                let name = leaf.unwrap_or(&variants[depth % variants.len()]);
                Ok(Given::Variant(Variant::Probed(name, self)))
            }
            _ => Err(Misread::lost()),
        }
    }

    /// The type calls for the name of a variant, and nothing else.
    pub(super) fn bare(&self, name: &str) -> Result<(), Misread> {
        match self.goal {
            Goal::Fill(_) => Ok(()),
            Goal::Reach([]) => Err(self.look(self.variant(name) == Some(None))),
            Goal::Reach(_) => Err(Misread::lost()),
        }
    }

    /// The probe for what a variant holds.
    pub(super) fn held(&self, name: &str) -> Result<Self, Misread> {
        match (self.goal, self.variant(name)) {
            (Goal::Fill(_), held) => Ok(self.part(held.flatten(), self.filling())),
            (goal, Some(Some(held))) => Ok(self.part(Some(held), goal)),
            _ => Err(Misread::lost()),
        }
    }

    /// What the schema says of a variant: its name, or what it holds.
    fn variant(&self, name: &str) -> Option<Option<&'a Value>> {
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
