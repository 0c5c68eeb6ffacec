//! Whether an answer fits its question.

use antiphon_core::form::plainly_fits;
use antiphon_types::{
    CreateMessageResult, ElicitAction, ElicitRequestFormParams, ElicitRequestParams, ElicitResult,
    InputRequest, ListRootsResult,
};
use serde::Deserialize;
use serde_json::Value;

use crate::schema::Foreign;

/// What is wrong with an answer, field by field (ELIC-C-21); nothing, if it may be sent.
pub(super) fn errors(question: &InputRequest, answer: &Value) -> Vec<String> {
    if plainly_answers(question, answer) {
        return Vec::new();
    }
    let checked = match question {
        InputRequest::Elicit(ElicitRequestParams::Form(form)) => {
            elicited(answer).and_then(|answer| match answer.action {
                ElicitAction::Accept => filled_in(form, answer),
                _ => without_content(&answer),
            })
        }
        // ELIC-C-07
        InputRequest::Elicit(_) => elicited(answer).and_then(|answer| without_content(&answer)),
        InputRequest::Sample(_) => CreateMessageResult::deserialize(answer)
            .map(drop)
            .map_err(|error| vec![format!("this is no message of a model: {error}")]),
        InputRequest::Roots(_) => ListRootsResult::deserialize(answer)
            .map_err(|error| vec![format!("this is no list of roots: {error}")])
            .and_then(|answer| usable(&answer)),
        _ => Err(vec!["the question is of an unknown kind".to_owned()]),
    };
    checked.err().unwrap_or_default()
}

/// Whether this is a form, accepted and filled in, that plainly fits: most are, and nothing has to be
/// copied to find out.
fn plainly_answers(question: &InputRequest, answer: &Value) -> bool {
    let InputRequest::Elicit(ElicitRequestParams::Form(form)) = question else {
        return false;
    };
    match (answer.as_object(), answer.get("content")) {
        (Some(answer), Some(Value::Object(content))) if answer.len() == 2 => {
            answer
                .get("action")
                .is_some_and(|action| action == "accept")
                && plainly_fits(&form.requested_schema, content)
        }
        _ => false,
    }
}

fn elicited(answer: &Value) -> Result<ElicitResult, Vec<String>> {
    ElicitResult::deserialize(answer).map_err(|error| vec![format!("this is no answer: {error}")])
}

/// ELIC-C-06: content goes only with an accepted form.
fn without_content(answer: &ElicitResult) -> Result<(), Vec<String>> {
    match answer.content {
        None => Ok(()),
        Some(_) => Err(vec!["only an accepted form has `content`".to_owned()]),
    }
}

fn filled_in(form: &ElicitRequestFormParams, answer: ElicitResult) -> Result<(), Vec<String>> {
    let Some(content) = answer.content else {
        return Err(vec!["an accepted form needs `content`".to_owned()]);
    };
    if plainly_fits(&form.requested_schema, &content) {
        return Ok(());
    }
    let Ok(Value::Object(schema)) = serde_json::to_value(&form.requested_schema) else {
        return Err(vec!["the form cannot be read".to_owned()]);
    };
    match Foreign::form(&schema).violations(&Value::Object(content)) {
        Some(violations) if violations.is_empty() => Ok(()),
        Some(violations) => Err(violations.lines().collect()),
        None => Err(vec![
            "the form cannot be checked: its schema is wrong, or takes too long".to_owned(),
        ]),
    }
}

/// ROOT-C-02, ROOT-C-04
fn usable(answer: &ListRootsResult) -> Result<(), Vec<String>> {
    let wrong = |uri: &str| {
        let lower = uri.to_ascii_lowercase().replace("%2e", ".");
        let lower = lower.replace("%2f", "/").replace("%5c", "/");
        !lower.starts_with("file://") || lower.split(['/', '\\']).any(|part| part == "..")
    };
    let errors: Vec<_> = (answer.roots.iter().enumerate())
        .filter(|(_, root)| wrong(&root.uri))
        .map(|(at, _)| format!("roots[{at}].uri: must be a file:// URI without `..`"))
        .collect();
    match errors.is_empty() {
        true => Ok(()),
        false => Err(errors),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use antiphon_types::{CreateMessageRequestParams, FormSchema, StringFormat, StringSchema};
    use serde_json::json;

    #[test]
    fn answers_are_checked_by_the_question() {
        let schema = FormSchema::new()
            .required("mail", StringSchema::new().format(StringFormat::Email))
            .optional("name", StringSchema::new().max_length(3));
        let form: InputRequest = ElicitRequestParams::form("m", schema).into();
        let link: InputRequest = ElicitRequestParams::url("m", "https://x").into();
        let sample: InputRequest = CreateMessageRequestParams::user("x", 1).into();
        let roots = InputRequest::roots();
        let accept = |content: Value| json!({"action": "accept", "content": content});
        for (question, answer, wrong) in [
            (&form, accept(json!({"mail": "a@example.org"})), ""),
            (&form, json!({"action": "decline"}), ""),
            (&form, accept(json!({"mail": "nobody"})), "mail"),
            (
                &form,
                accept(json!({"mail": "a@b.org", "name": "Adam"})),
                "name",
            ),
            (&form, accept(json!({})), "mail"),
            (&form, json!({"action": "accept"}), "content"),
            (&form, json!({"action": "cancel", "content": {}}), "content"),
            (&form, json!({"action": "perhaps"}), "perhaps"),
            (&form, json!(7), "no answer"),
            (&link, json!({"action": "accept"}), ""),
            (&link, accept(json!({})), "content"),
            (&sample, json!({"roots": []}), "no message"),
            (&roots, json!({"roots": [{"uri": "file:///srv"}]}), ""),
            (
                &roots,
                json!({"roots": [{"uri": "https://x"}]}),
                "roots[0].uri",
            ),
            (
                &roots,
                json!({"roots": [{"uri": "file:///a/%2E./b"}]}),
                "roots[0].uri",
            ),
            (
                &roots,
                json!({"roots": [{"uri": "file:///a/..%2Fb"}]}),
                "roots[0].uri",
            ),
            (
                &roots,
                json!({"roots": [{"uri": "file:///a/%2e.%5cb"}]}),
                "roots[0].uri",
            ),
            (&roots, json!({"action": "accept"}), "no list"),
        ] {
            let errors = errors(question, &answer);
            match wrong {
                "" => assert!(errors.is_empty(), "{answer}: {errors:?}"),
                part => assert!(
                    errors.len() == 1 && errors[0].contains(part),
                    "{answer}: {errors:?}"
                ),
            }
        }
    }
}
