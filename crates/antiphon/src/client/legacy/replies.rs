//! What a server gets for what it asks of its own accord.

use antiphon_core::{negotiate::shown, write};
use antiphon_types::{ElicitRequestParams, ErrorObject, InputRequest, Version};
use bytes::Bytes;
use serde_json::{Value, json, value::RawValue};

use crate::{
    client::{Error, ErrorKind, asking::Failure},
    excerpt::word,
};

/// What a server gets for its request.
pub(super) type Answer = Result<Value, ErrorObject>;

/// A question as it is on the wire.
pub(super) fn read(method: &str, params: Option<&RawValue>) -> Result<InputRequest, ErrorObject> {
    if !["elicitation/create", "sampling/createMessage", "roots/list"].contains(&method) {
        return Err(ErrorObject::method_not_found(&shown(method)));
    }
    // The method goes first, so that the rest is read by it.
    let params = params.map_or("{}", RawValue::get);
    let text = format!(r#"{{"method":"{method}","params":{params}}}"#);
    antiphon_types::decode(&text)
        .map_err(|error| ErrorObject::invalid_params(shown(&error.to_string()).into_owned()))
}

pub(super) fn response(id: &RawValue, answer: &Answer) -> Bytes {
    let mut message = Vec::new();
    match answer {
        Ok(result) => {
            let text = format!(
                r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#,
                id.get().trim()
            );
            message.extend_from_slice(text.as_bytes());
        }
        Err(error) => write::error(&mut message, Some(id.get().trim()), error),
    }
    message.into()
}

/// What a server is told whose question nobody answers.
pub(super) fn declined(question: &InputRequest) -> Answer {
    match question {
        InputRequest::Elicit(_) => Ok(json!({ "action": "cancel" })),
        InputRequest::Sample(_) => Err(ErrorObject::new(-1, "User rejected sampling request")),
        _ => Err(ErrorObject::internal("No answer")),
    }
}

pub(super) fn failed(question: &InputRequest, failure: &Failure) -> Answer {
    match failure {
        Failure::Refused(why) => {
            tracing::warn!(%why, "a question was refused");
            declined(question)
        }
        Failure::Invalid(errors) => {
            // Not what is wrong: that may quote the answer.
            let count = errors.len();
            tracing::warn!(count, "the answer to a question does not fit");
            late(question)
        }
    }
}

/// The same where nobody refused.
pub(super) fn late(question: &InputRequest) -> Answer {
    match question {
        InputRequest::Sample(_) => Err(ErrorObject::internal("No answer")),
        _ => declined(question),
    }
}

/// The answer as the revision has it: lists of content came last (wire.md 9).
pub(super) fn older(mut answer: Value, version: Version) -> Value {
    if version < Version::V2025_11_25
        && let Some(content) = answer.get_mut("content")
        && let Value::Array(list) = content
        && let [_] = list.as_slice()
    {
        *content = list.remove(0);
    }
    answer
}

pub(super) fn not_pausable(key: String, question: &InputRequest, version: Version) -> Error {
    let callback = match question {
        InputRequest::Elicit(ElicitRequestParams::Url(_)) => "on_url",
        InputRequest::Elicit(_) => "on_form",
        InputRequest::Sample(_) => "on_sample",
        _ => "on_roots",
    };
    let message = format!(
        "the server asks `{}` ({}), which is to be answered by hand, but a call in revision \
         {version} cannot be paused: have it answered by `Client::{callback}` at servers like this",
        word(&key),
        question.method(),
    );
    let question = Box::new(question.clone());
    Error::new(ErrorKind::NotPausable { key, question }, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// LFEAT-C-04
    #[test]
    fn a_question_without_an_answer_gets_one_of_its_kind() {
        let ask = |method: &str, params: &str| {
            let params = RawValue::from_string(params.to_owned()).expect("JSON");
            read(method, Some(&params)).expect("a question")
        };
        let form = ask(
            "elicitation/create",
            r#"{"message":"m","requestedSchema":{"type":"object","properties":{}}}"#,
        );
        let sample = ask("sampling/createMessage", r#"{"messages":[],"maxTokens":1}"#);
        let roots = read("roots/list", None).expect("a question");
        let refused = |question| failed(question, &Failure::Refused("no".into()));
        let code = |answer: Answer| answer.expect_err("an error").code;
        for answer in [declined(&form), refused(&form), late(&form)] {
            assert_eq!(answer, Ok(json!({ "action": "cancel" })));
        }
        assert_eq!(code(refused(&sample)), -1);
        assert_eq!(code(late(&sample)), -32603);
        let misfit = failed(&sample, &Failure::Invalid(Vec::new()));
        assert_eq!(code(misfit), -32603);
        assert_eq!(code(refused(&roots)), -32603);
    }

    #[test]
    fn what_is_no_question_is_refused_in_short() {
        let refused = |method: &str, params: Option<&str>| {
            let params = params.map(|text| RawValue::from_string(text.to_owned()).expect("JSON"));
            let error = read(method, params.as_deref()).expect_err("no question");
            assert!(error.message.len() < 500, "{}", error.message);
            error.code
        };
        assert_eq!(refused(&"x".repeat(1_000_000), None), -32601);
        assert_eq!(refused("roots\",\"x", None), -32601);
        assert_eq!(refused("elicitation/create", None), -32602);
        assert_eq!(refused("roots/list", Some("[]")), -32602);
        // Nothing after the params can pass for a part of the question.
        let twice = r#"{"message":"m","message":"n"}"#;
        assert_eq!(refused("elicitation/create", Some(twice)), -32602);
    }

    #[test]
    fn a_list_of_one_is_no_list_where_there_are_none() {
        let answer = json!({ "content": [{ "type": "text", "text": "t" }] });
        let newest = older(answer.clone(), Version::V2025_11_25);
        assert_eq!(newest, answer);
        let before = older(answer, Version::V2025_06_18);
        assert_eq!(before["content"]["text"], "t");
    }

    #[test]
    fn ids_come_back_as_they_were() {
        for id in ["7", r#""q""#, "123456789012345678901234567890"] {
            let raw = RawValue::from_string(id.to_owned()).expect("JSON");
            let told = response(&raw, &Ok(json!({})));
            let expected = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#);
            assert_eq!(told, expected.as_bytes());
        }
    }
}
