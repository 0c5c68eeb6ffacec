//! What came back for the questions of an earlier round.
//!
//! [`Answers`] is a view: it borrows, and decodes an entry as the kind of answer the reader
//! expects. It says nothing about whether a question was ever asked; on the raw tier that is the
//! service's own business.

use std::{borrow::Cow, collections::HashSet, fmt};

use antiphon_types::{
    CreateMessageResult, ElicitAction, ElicitResult, ErrorObject, ListRootsResult, decode,
};
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{DeserializeOwned, Error, MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

/// The entries of `inputResponses`, by key.
#[derive(Debug, Clone, Default)]
pub struct Answers<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

/// One entry, read as the answer to one kind of question.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer<T> {
    /// There is no entry under that key: ask (again), MRTR-S-30.
    Missing,
    /// The answer.
    Given(T),
    /// There is an entry, but it is no answer to such a question; what is wrong with it.
    Malformed(String),
}

impl<T> Answer<T> {
    /// The answer, if there is a well-formed one.
    pub fn given(self) -> Option<T> {
        match self {
            Self::Given(answer) => Some(answer),
            Self::Missing | Self::Malformed(_) => None,
        }
    }
}

impl<'a> Answers<'a> {
    /// Reads `inputResponses`; absent and `null` are no answers at all.
    ///
    /// # Errors
    /// `-32602` if it is no object, or names a key twice (MRTR-S-27).
    pub fn parse(raw: Option<&'a RawValue>) -> Result<Self, ErrorObject> {
        match raw.map(RawValue::get) {
            None | Some("null") => Ok(Self::default()),
            Some(text) => serde_json::from_str(text).map_err(|error| {
                let error = if text.starts_with('{') {
                    format!("`inputResponses` cannot be read: {error}")
                } else {
                    "`inputResponses` must be an object".to_owned()
                };
                ErrorObject::invalid_params(error)
            }),
        }
    }

    /// Entries that were read before, each under a key of its own.
    pub fn of(entries: impl IntoIterator<Item = (&'a str, &'a RawValue)>) -> Self {
        let entries = entries.into_iter();
        Self(
            entries
                .map(|(key, raw)| (Cow::Borrowed(key), raw))
                .collect(),
        )
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Only the entries whose keys `keep` wants.
    #[must_use]
    pub fn only(mut self, keep: impl Fn(&str) -> bool) -> Self {
        self.0.retain(|(key, _)| keep(key));
        self
    }

    /// The keys, in the order they came.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(key, _)| &**key)
    }

    /// An entry as it came.
    pub fn raw(&self, key: &str) -> Option<&'a RawValue> {
        self.0
            .iter()
            .find_map(|(k, raw)| (k == key).then_some(*raw))
    }

    /// The answer to a form or a URL question.
    pub fn elicit(&self, key: &str) -> Answer<ElicitResult> {
        self.read(key)
    }

    /// The answer to a sampling question.
    pub fn sample(&self, key: &str) -> Answer<CreateMessageResult> {
        self.read(key)
    }

    /// The answer to a question for the workspace roots.
    pub fn roots(&self, key: &str) -> Answer<ListRootsResult> {
        self.read(key)
    }

    /// What the user filled in under `key`, as `T`: nothing unless the form was accepted, with
    /// content that fits. [`elicit`](Self::elicit) tells a refusal from no answer at all.
    pub fn accepted<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        let answer: Elicited<'_> = decode(self.raw(key)?.get()).ok()?;
        if answer.action != ElicitAction::Accept {
            return None;
        }
        let content = answer.content.map_or("{}", RawValue::get);
        let Object = decode(content).ok()?;
        decode(content).ok().or_else(|| {
            // Read more loosely: of members that stand twice, say, the last counts.
            let content = serde_json::from_str(content).ok()?;
            serde_json::from_value(content).ok()
        })
    }

    fn read<T: DeserializeOwned>(&self, key: &str) -> Answer<T> {
        match self.raw(key) {
            None => Answer::Missing,
            Some(raw) => match decode(raw.get()) {
                Ok(answer) => Answer::Given(answer),
                Err(error) => Answer::Malformed(error.to_string()),
            },
        }
    }
}

/// As they came, entry for entry.
impl Serialize for Answers<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, raw)| (key, raw)))
    }
}

impl<'de> Deserialize<'de> for Answers<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Answers<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of answers")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut answers = Vec::new();
                while let Some((Key(key), answer)) = map.next_entry()? {
                    answers.push((key, answer));
                }
                if let Some(key) = repeated(&answers) {
                    return Err(A::Error::custom(format!("the key `{key}` stands twice")));
                }
                Ok(Answers(answers))
            }
        }
        deserializer.deserialize_map(Entries)
    }
}

/// A key, borrowed unless it has escapes.
#[derive(Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

/// An [`ElicitResult`] whose content is yet to be read.
#[derive(Deserialize)]
struct Elicited<'a> {
    action: ElicitAction,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(rename = "_meta")]
    _meta: Option<Object>,
}

/// Whatever can be read as a map of values, without making one.
struct Object;

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Passing).map(|()| Self)
    }
}

/// Whatever can be read as a value. [`IgnoredAny`](serde::de::IgnoredAny) would also pass over
/// numbers out of range and halves of characters.
struct Any;

impl<'de> Deserialize<'de> for Any {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Passing).map(|()| Self)
    }
}

struct Passing;

impl<'de> Visitor<'de> for Passing {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while seq.next_element::<Any>()?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while map.next_entry::<Any, Any>()?.is_some() {}
        Ok(())
    }
}

/// The first key that stands twice. A few are compared one by one, which costs less than to hash
/// them; many are still found in one pass.
fn repeated<'k, T>(entries: &'k [(Cow<'_, str>, T)]) -> Option<&'k str> {
    if entries.len() <= 8 {
        let twice = |at: &usize| {
            let mut before = entries[..*at].iter();
            before.any(|(key, _)| *key == entries[*at].0)
        };
        let at = (1..entries.len()).find(twice)?;
        return Some(&entries[at].0);
    }
    let mut seen = HashSet::with_capacity(entries.len());
    let mut keys = entries.iter().map(|(key, _)| &**key);
    keys.find(|key| !seen.insert(*key))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).expect("JSON")
    }

    #[test]
    fn views() {
        let raw = raw(r#"{
            "name":{"action":"accept","content":{"name":"Ada"}},
            "no":{"action":"decline"},
            "bad":12345,
            "odd":{"action":"perhaps"},
            "list":["accept",{"ok":true},null],
            "roots":{"roots":[{"uri":"file:///srv"}]},
            "text":{"role":"assistant","content":{"type":"text","text":"hi"},"model":"m"}}"#);
        let answers = Answers::parse(Some(&raw)).expect("an object");
        let Answer::Given(name) = answers.elicit("name") else {
            panic!("given")
        };
        assert_eq!(name.action, ElicitAction::Accept);
        assert_eq!(name.content.expect("content")["name"], "Ada");
        assert_eq!(
            answers.elicit("no").given().expect("given").action,
            ElicitAction::Decline
        );
        assert_eq!(answers.elicit("other"), Answer::Missing);
        assert!(matches!(answers.elicit("bad"), Answer::Malformed(_)));
        assert!(matches!(answers.elicit("odd"), Answer::Malformed(_)));
        assert!(matches!(answers.elicit("list"), Answer::Malformed(_)));
        assert!(matches!(answers.elicit("roots"), Answer::Malformed(_)));
        assert_eq!(
            answers.roots("roots").given().expect("given").roots[0].uri,
            "file:///srv"
        );
        assert_eq!(answers.sample("text").given().expect("given").model, "m");
        #[derive(Debug, PartialEq, Deserialize)]
        struct Name {
            name: String,
        }
        let ada = Name {
            name: "Ada".to_owned(),
        };
        assert_eq!(answers.accepted("name"), Some(ada));
        for none in ["no", "bad", "odd", "list", "other", "roots"] {
            assert_eq!(answers.accepted::<Name>(none), None, "{none}");
        }
        assert_eq!(answers.accepted::<Vec<u8>>("name"), None, "another type");
        assert_eq!(answers.keys().count(), 7);
        let some = answers.only(|key| key == "no" || key == "missing");
        assert_eq!(some.keys().collect::<Vec<_>>(), ["no"]);
    }

    #[test]
    fn what_is_accepted_is_what_was_elicited() {
        #[derive(Debug, PartialEq, Deserialize)]
        struct Inner {
            n: f64,
        }
        #[derive(Debug, PartialEq, Deserialize)]
        struct Form {
            name: Option<String>,
            inner: Option<Inner>,
        }
        let form = |name: Option<&str>, n: Option<f64>| {
            let (name, inner) = (name.map(str::to_owned), n.map(|n| Inner { n }));
            Some(Form { name, inner })
        };
        let deep = |levels: usize| {
            let (open, close) = ("[".repeat(levels), "]".repeat(levels));
            format!(r#"{{"action":"accept","content":{{"x":{open}{close}}}}}"#)
        };
        let (shallow, deep) = (deep(100), deep(200));
        for (entry, expected) in [
            (r#"{"action":"accept"}"#, form(None, None)),
            (r#"{"action":"accept","content":null}"#, form(None, None)),
            (
                r#"{"content":{"name":"\u0041"},"action":"accept","_meta":{"a":[1]},"x":1e999}"#,
                form(Some("A"), None),
            ),
            (
                r#"{"action":"accept","content":{"name":"a","name":"b"}}"#,
                form(Some("b"), None),
            ),
            (
                r#"{"action":"accept","content":{"name":7,"name":"b","inner":{"n":1}}}"#,
                form(Some("b"), Some(1.0)),
            ),
            (
                r#"{"action":"accept","content":{"inner":[2.5],"x":[null,true,-1,1.5,{"y":"z"}]}}"#,
                form(None, Some(2.5)),
            ),
            (&shallow, form(None, None)),
            (&deep, None),
            (
                r#"{"action":"accept","content":{"name":"a","x":1e999}}"#,
                None,
            ),
            (
                r#"{"action":"accept","content":{"name":"a","x":"\ud800"}}"#,
                None,
            ),
            (r#"{"action":"accept","content":{"\ud800":1}}"#, None),
            (r#"{"action":"accept","content":{"name":7}}"#, None),
            (r#"{"action":"accept","content":["a",null]}"#, None),
            (
                r#"{"action":"accept","content":{"name":"a"},"content":{}}"#,
                None,
            ),
            (r#"{"action":"accept","action":"accept"}"#, None),
            (r#"{"action":"accept","content":{},"_meta":[]}"#, None),
            (
                r#"{"action":"accept","content":{},"_meta":{"x":[1e999]}}"#,
                None,
            ),
            (r#"{"action":{"accept":null},"content":{}}"#, None),
            (r#"{"action":"decline","content":{"name":"a"}}"#, None),
            (r#"{"content":{"name":"a"}}"#, None),
        ] {
            let raw = raw(&format!(r#"{{"key":{entry}}}"#));
            let answers = Answers::parse(Some(&raw)).expect(entry);
            assert_eq!(answers.accepted::<Form>("key"), expected, "{entry}");
            let elicited = answers.elicit("key").given();
            let accepted = elicited.filter(|answer| answer.action == ElicitAction::Accept);
            let content = accepted.map(|answer| answer.content.unwrap_or_default().into());
            let content = content.and_then(|content| serde_json::from_value::<Form>(content).ok());
            assert_eq!(content, expected, "{entry}");
        }
    }

    #[test]
    fn a_key_that_stands_twice_is_found_among_few_and_many() {
        for count in 1..20 {
            let keys: Vec<_> = (0..count).map(|at| format!(r#""key {at}":{{}}"#)).collect();
            let text = keys.join(",");
            let answers = raw(&format!("{{{text}}}"));
            let answers = Answers::parse(Some(&answers)).expect("all different");
            assert_eq!(answers.keys().count(), count);
            for (at, twin) in keys.iter().enumerate() {
                let answers = raw(&format!("{{{text},{twin}}}"));
                let error = Answers::parse(Some(&answers)).expect_err(twin);
                let told = format!("the key `key {at}` stands twice");
                assert!(error.message.contains(&told), "{}", error.message);
            }
        }
    }

    /// MRTR-S-27: null is absent, anything but an object is refused.
    #[test]
    fn only_an_object_will_do() {
        assert!(Answers::parse(None).expect("absent").is_empty());
        assert!(Answers::parse(Some(&raw("null"))).expect("null").is_empty());
        for bad in [
            "[]",
            "7",
            r#""x""#,
            r#"{"a":{},"a":{}}"#,
            r#"{"a":{},"\u0061":{}}"#,
        ] {
            let error = Answers::parse(Some(&raw(bad))).expect_err(bad);
            assert_eq!(error.code, -32602);
        }
    }
}
