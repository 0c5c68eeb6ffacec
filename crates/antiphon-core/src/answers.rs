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
    Deserialize, Deserializer,
    de::{DeserializeOwned, Error, MapAccess, Visitor},
};
use serde_json::value::RawValue;

/// The entries of `inputResponses`, by key.
#[derive(Debug, Default)]
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
        let answer = self.elicit(key).given()?;
        match answer.action {
            ElicitAction::Accept => {
                let content = serde_json::Value::Object(answer.content.unwrap_or_default());
                serde_json::from_value(content).ok()
            }
            _ => None,
        }
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
                while let Some(entry) = map.next_entry::<Cow<'de, str>, _>()? {
                    answers.push(entry);
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

/// The first key that stands twice; found in one pass, for there may be many.
fn repeated<'k, T>(entries: &'k [(Cow<'_, str>, T)]) -> Option<&'k str> {
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
