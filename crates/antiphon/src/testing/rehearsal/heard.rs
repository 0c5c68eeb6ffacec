//! [`Heard`]: what a response says, as far as a rehearsal compares it.

use std::collections::BTreeMap;

use antiphon_core::{link::Handle, question::Kind};
use antiphon_types::InputRequest;
use bytes::Bytes;
use serde_json::Value;

use super::super::{play::is_again, trace::what};

/// A response.
#[derive(Debug, Clone)]
pub(super) struct Heard {
    pub(super) says: Says,
    /// The state, as JSON.
    pub(super) state: Option<String>,
    pub(super) response: Bytes,
}

/// What is in it.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Says {
    Asks(BTreeMap<String, InputRequest>),
    Later,
    Ends(End),
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct End {
    pub(super) failed: Option<String>,
    /// All of it.
    pub(super) body: Value,
}

impl Heard {
    /// Reads a response; `None` if it is none.
    pub(super) fn of(response: Bytes) -> Option<Self> {
        let mut message: Value = serde_json::from_slice(&response).ok()?;
        let (says, state) = match message.get_mut("result").map(Value::take) {
            None => (Says::Ends(End::error(message.get("error")?)), None),
            Some(result) if result["resultType"] == "input_required" => {
                let questions = match result.get("inputRequests") {
                    None => BTreeMap::new(),
                    Some(questions) => serde_json::from_value(questions.clone()).ok()?,
                };
                let state = result.get("requestState").map(ToString::to_string);
                match questions.is_empty() {
                    true => (Says::Later, state),
                    false => (Says::Asks(questions), state),
                }
            }
            Some(result) => (Says::Ends(End::result(result)), None),
        };
        Some(Self {
            says,
            state,
            response,
        })
    }

    /// Whether another response to the same request says the very same.
    pub(super) fn is_repeated_by(&self, other: &Self) -> bool {
        self.says == other.says && self.state == other.state
    }

    /// What it asks.
    pub(super) fn questions(&self) -> Option<&BTreeMap<String, InputRequest>> {
        match &self.says {
            Says::Asks(questions) => Some(questions),
            _ => None,
        }
    }

    pub(super) fn asks(&self, key: &str) -> Option<&InputRequest> {
        self.questions()?.get(key)
    }
}

impl End {
    fn error(error: &Value) -> Self {
        let [code, message] = ["code", "message"].map(|name| &error[name]);
        Self {
            failed: Some(format!("the error {code}, {message}")),
            body: error.clone(),
        }
    }

    fn result(result: Value) -> Self {
        let failed = (result["isError"] == true).then(|| {
            let text = result["content"][0]["text"].as_str();
            format!("the tool error {:?}", text.unwrap_or_default())
        });
        Self {
            failed,
            body: result,
        }
    }

    /// The same, whichever call it is of.
    pub(super) fn same_in_any_call(&self, other: &Self) -> bool {
        of_any_call(&self.body.to_string()) == of_any_call(&other.body.to_string())
    }

    pub(super) fn shown(&self) -> String {
        match &self.failed {
            Some(failed) => failed.clone(),
            None => match self.body["content"][0]["text"].as_str() {
                Some(text) => format!("the result {text:?}"),
                None => format!("the result {}", self.body),
            },
        }
    }
}

/// Whether they ask for the same thing, each in its own words.
pub(super) fn same_kind(one: &InputRequest, other: &InputRequest) -> bool {
    Kind::of(one) == Kind::of(other)
}

/// Whether they are one question, whichever calls they are of: links name their call.
pub(super) fn same_in_any_call(one: &InputRequest, other: &InputRequest) -> bool {
    let plain = |question| match serde_json::to_string(question) {
        Ok(text) => of_any_call(&text),
        Err(_) => String::new(),
    };
    plain(one) == plain(other)
}

/// Whether it is one question, perhaps with a note when it comes again.
pub(super) fn same_but_for_a_note(one: &InputRequest, other: &InputRequest) -> bool {
    is_again(one, other) || is_again(other, one)
}

/// `a`, `b` and `c`, each as a question of its kind.
pub(super) fn keys<'a>(
    questions: impl IntoIterator<Item = (&'a String, &'a InputRequest)>,
) -> String {
    let keys = questions.into_iter();
    let keys = keys.map(|(key, question)| format!("`{key}` ({})", what(Kind::of(question))));
    keys.collect::<Vec<_>>().join(", ")
}

/// Without what belongs to one call: handles of links, and idempotency keys.
fn of_any_call(text: &str) -> String {
    let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(is_part) {
        let (before, from) = rest.split_at(at);
        let end = from.find(|c| !is_part(c)).unwrap_or(from.len());
        let (word, after) = from.split_at(end);
        plain.push_str(before);
        plain.push_str(match word {
            handle if handle.parse::<Handle>().is_ok() => "(handle)",
            key if key.len() == 32 && key.bytes().all(is_hex) => "(key)",
            word => word,
        });
        rest = after;
    }
    plain.push_str(rest);
    plain
}

#[cfg(test)]
mod tests {
    use antiphon_core::moment::Moment;
    use antiphon_types::{ElicitRequestParams, FormSchema};

    use super::*;

    fn heard(text: &'static str) -> Heard {
        Heard::of(Bytes::from_static(text.as_bytes())).expect("a response")
    }

    #[test]
    fn a_response_asks_waits_or_ends() {
        let asks = heard(
            r#"{"id":1,"result":{"resultType":"input_required","requestState":"s","inputRequests":
            {"ok":{"method":"elicitation/create","params":{"message":"Ok?","requestedSchema":
            {"type":"object","properties":{}}}}}}}"#,
        );
        assert!(asks.asks("ok").is_some(), "{asks:?}");
        assert_eq!(asks.state.as_deref(), Some("\"s\""));
        let later =
            heard(r#"{"id":1,"result":{"resultType":"input_required","requestState":"s"}}"#);
        assert_eq!(later.says, Says::Later);
        for (text, failed) in [
            (r#"{"id":1,"result":{"content":[]}}"#, None),
            (
                r#"{"id":1,"result":{"isError":true,"content":[{"type":"text","text":"No"}]}}"#,
                Some("the tool error \"No\""),
            ),
            (
                r#"{"id":1,"error":{"code":-32603,"message":"No"}}"#,
                Some("the error -32603, \"No\""),
            ),
        ] {
            let Says::Ends(end) = heard(text).says else {
                panic!("no end: {text}");
            };
            assert_eq!(end.failed.as_deref(), failed);
        }
        assert!(Heard::of(Bytes::from_static(b"{}")).is_none());
    }

    #[test]
    fn links_and_keys_of_two_calls_make_one_question() {
        let link = |byte: u8, page: &str| {
            let handle = Handle::new(&[byte; 16], Moment::from_millis(byte.into()), None);
            let url = format!("https://bank.example/{page}/{handle}?x=1");
            InputRequest::from(ElicitRequestParams::url("Sign in", url))
        };
        assert!(same_in_any_call(&link(1, "in"), &link(2, "in")));
        assert!(!same_in_any_call(&link(1, "in"), &link(1, "out")));
        let form = |text: &str| ElicitRequestParams::form(text, FormSchema::new()).into();
        let keys = ["0f".repeat(16), "1e".repeat(16)].map(|key| form(&format!("Pay {key}?")));
        assert!(same_in_any_call(&keys[0], &keys[1]));
        assert!(!same_in_any_call(&form("a"), &form("b")));
        assert!(!same_kind(&form("a"), &link(1, "in")));
    }
}
