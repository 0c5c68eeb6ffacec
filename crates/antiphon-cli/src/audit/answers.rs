//! [`Answering`]: honest answers, others that are just as good, and answers that are none.

use std::time::{Duration, Instant};

use antiphon::{
    client::{Identity, Target},
    types::InputRequest,
};
use serde_json::{Map, Value, json};

use super::values;
use crate::{
    answering::Rules,
    asked::{Asked, Said},
    printable,
};

/// Answers by key.
pub(super) type Answers = Map<String, Value>;

/// Who answers for the audit.
pub(super) struct Answering {
    pub(super) rules: Option<Rules>,
    pub(super) server: Identity,
    pub(super) call: Target,
    /// Whether anything is agreed to at all.
    pub(super) accepts: bool,
}

impl Answering {
    /// What an honest user says; without leave to have effects that is no.
    ///
    /// # Errors
    /// Why there is nothing to say.
    pub(super) fn honest(
        &self,
        round: u32,
        questions: &Map<String, Value>,
    ) -> Result<Answers, String> {
        let answers = questions.iter().map(|(key, question)| {
            let answer = match self.accepts {
                true => self.accept(round, key, question)?,
                false => decline(question)?,
            };
            Ok((key.clone(), answer))
        });
        answers.collect()
    }

    fn accept(&self, round: u32, key: &str, question: &Value) -> Result<Value, String> {
        if let Some(rules) = &self.rules {
            // What the types do not know no rule can be for.
            if let Ok(request) = serde_json::from_value::<InputRequest>(question.clone()) {
                let asked = Asked {
                    server: self.server.clone(),
                    call: self.call.clone(),
                    key: key.to_owned(),
                    round,
                    errors: Vec::new(),
                    deadline: Instant::now() + Duration::from_secs(600),
                    question: request,
                };
                if let Some((_, said)) = rules.answer(&asked) {
                    return said.and_then(|said| answer(&said, question));
                }
            }
        }
        accepted(question)
    }
}

/// What somebody said, as it is sent.
fn answer(said: &Said, question: &Value) -> Result<Value, String> {
    Ok(match said {
        Said::Accept(_) if Kind::of(question) == Kind::Link => json!({"action": "accept"}),
        Said::Accept(content) => json!({"action": "accept", "content": content}),
        Said::Decline => json!({"action": "decline"}),
        Said::Cancel => json!({"action": "cancel"}),
        Said::Sample(message) => {
            serde_json::to_value(message).map_err(|error| error.to_string())?
        }
        Said::Roots(roots) => json!({"roots": roots}),
    })
}

/// What a question is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Form,
    Link,
    Sample,
    Roots,
    Unknown,
}

impl Kind {
    pub(super) fn of(question: &Value) -> Self {
        let mode = question.pointer("/params/mode").and_then(Value::as_str);
        match question.get("method").and_then(Value::as_str) {
            Some("elicitation/create") if mode == Some("url") => Self::Link,
            Some("elicitation/create") => Self::Form,
            Some("sampling/createMessage") => Self::Sample,
            Some("roots/list") => Self::Roots,
            _ => Self::Unknown,
        }
    }

    /// What a client declares that can be asked everything but this.
    pub(super) fn left_out(self) -> Value {
        let mut all = super::wire::everything();
        let remove = |of: &mut Value, name: &str| {
            if let Some(members) = of.as_object_mut() {
                members.shift_remove(name);
            }
        };
        match self {
            Self::Form => remove(&mut all["elicitation"], "form"),
            Self::Link => remove(&mut all["elicitation"], "url"),
            Self::Sample => remove(&mut all, "sampling"),
            Self::Roots => remove(&mut all, "roots"),
            Self::Unknown => {}
        }
        all
    }
}

/// The schema of a form.
pub(super) fn schema(question: &Value) -> &Value {
    question
        .pointer("/params/requestedSchema")
        .unwrap_or(&Value::Null)
}

/// Agrees to a question, with values of no account.
pub(super) fn accepted(question: &Value) -> Result<Value, String> {
    Ok(match Kind::of(question) {
        Kind::Form => json!({"action": "accept", "content": values::object(schema(question))}),
        Kind::Link => json!({"action": "accept"}),
        Kind::Sample => json!({"role": "assistant", "model": "antiphon-audit",
            "stopReason": "endTurn", "content": {"type": "text", "text": "An audit."}}),
        Kind::Roots => json!({"roots": [{"uri": "file:///antiphon-audit", "name": "audit"}]}),
        Kind::Unknown => {
            let method = question.get("method").and_then(Value::as_str);
            let method = printable::excerpt(method.unwrap_or("no method"), 60);
            return Err(format!("it asks {method}, which is not known here"));
        }
    })
}

/// Says no.
fn decline(question: &Value) -> Result<Value, String> {
    match Kind::of(question) {
        Kind::Form | Kind::Link => Ok(json!({"action": "decline"})),
        Kind::Sample | Kind::Roots => {
            Err("what it asks cannot be declined, and is answered only with --allow-effects".into())
        }
        Kind::Unknown => accepted(question),
    }
}

/// A no to every question that can be declined.
pub(super) fn declined(questions: &Map<String, Value>) -> Option<Answers> {
    let answers = questions
        .iter()
        .map(|(key, question)| Some((key.clone(), decline(question).ok()?)));
    answers.collect()
}

/// Answers that are just as good and not the same: in one field, or a no instead of a yes.
pub(super) fn others(questions: &Map<String, Value>, honest: &Answers) -> Option<Answers> {
    let (key, changed) = questions
        .iter()
        .find_map(|(key, question)| Some((key.clone(), other(question, honest.get(key)?)?)))?;
    let mut answers = honest.clone();
    answers.insert(key, changed);
    Some(answers)
}

fn other(question: &Value, answer: &Value) -> Option<Value> {
    match Kind::of(question) {
        Kind::Form | Kind::Link => match answer.get("action").and_then(Value::as_str) {
            Some("accept") => Some(
                other_content(question, answer).unwrap_or_else(|| json!({"action": "decline"})),
            ),
            _ => Some(json!({"action": "cancel"})),
        },
        Kind::Sample => {
            let mut other = answer.clone();
            other["content"] = json!({"type": "text", "text": "Another answer."});
            Some(other)
        }
        Kind::Roots => Some(json!({"roots": [{"uri": "file:///antiphon-audit/other"}]})),
        Kind::Unknown => None,
    }
}

fn other_content(question: &Value, answer: &Value) -> Option<Value> {
    let content = answer.get("content")?;
    let other = values::another(schema(question), content)?;
    Some(json!({"action": "accept", "content": other}))
}

/// Answers to one question that break its rules, and which.
pub(super) fn mistyped(question: &Value, honest: &Value) -> Vec<(String, Value)> {
    let mut wrong: Vec<(String, Value)> = Vec::new();
    let mut add = |what: &str, answer: Value| wrong.push((what.to_owned(), answer));
    match Kind::of(question) {
        Kind::Form => {
            let schema = schema(question);
            let content = match honest.get("content") {
                Some(Value::Object(content)) => content.clone(),
                _ => values::object(schema),
            };
            let accept = |content: Value| json!({"action": "accept", "content": content});
            if let Some(Value::Object(properties)) = schema.get("properties") {
                for (name, field) in properties.iter().take(4) {
                    for (what, value) in values::wrong(field) {
                        let mut content = content.clone();
                        content.insert(name.clone(), value);
                        add(what, accept(content.into()));
                    }
                }
            }
            for name in values::names(schema).into_iter().take(4) {
                let mut content = content.clone();
                content.shift_remove(name);
                add("a required field left out", accept(content.into()));
            }
            if !values::names(schema).is_empty() {
                add("no content at all", json!({"action": "accept"}));
                add("content that is a list", accept(json!([content.clone()])));
            }
            add(
                "an action that there is not",
                json!({"action": "yes", "content": content}),
            );
            add("no action", json!({"content": content}));
        }
        Kind::Link => {
            add("an action that there is not", json!({"action": "yes"}));
            add("no action", json!({}));
        }
        Kind::Sample => {
            add(
                "a message without content",
                json!({"role": "assistant", "model": "x"}),
            );
            add(
                "a role that there is not",
                json!({"role": "nobody", "model": "x",
                "content": {"type": "text", "text": "x"}}),
            );
            add("a text", json!("An audit."));
        }
        Kind::Roots => {
            add("roots that are no list", json!({"roots": "file:///"}));
            add("a root without a URI", json!({"roots": [{"name": "x"}]}));
        }
        Kind::Unknown => {}
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(properties: &Value, required: &Value) -> Value {
        json!({"method": "elicitation/create", "params": {"mode": "form", "message": "?",
            "requestedSchema": {"type": "object", "properties": properties, "required": required}}})
    }

    #[test]
    fn another_answer_is_a_yes_where_it_can_be() {
        let question = form(&json!({"ok": {"type": "boolean"}}), &json!(["ok"]));
        let questions = Map::from_iter([("k".to_owned(), question)]);
        let honest = Map::from_iter([("k".to_owned(), accepted(&questions["k"]).expect("yes"))]);
        assert_eq!(
            honest["k"],
            json!({"action": "accept", "content": {"ok": true}})
        );
        let other = others(&questions, &honest).expect("another");
        assert_eq!(
            other["k"],
            json!({"action": "accept", "content": {"ok": false}})
        );
        let empty = Map::from_iter([("k".to_owned(), form(&json!({}), &json!([])))]);
        let honest = Map::from_iter([("k".to_owned(), json!({"action": "accept", "content": {}}))]);
        assert_eq!(
            others(&empty, &honest).expect("a no")["k"],
            json!({"action": "decline"})
        );
    }

    #[test]
    fn what_is_left_out_is_one_thing() {
        assert_eq!(Kind::Form.left_out()["elicitation"], json!({"url": {}}));
        assert_eq!(Kind::Roots.left_out().get("roots"), None);
        assert!(Kind::Roots.left_out().get("sampling").is_some());
    }

    #[test]
    fn wrong_answers_break_a_rule_each() {
        let question = form(
            &json!({"n": {"type": "integer", "maximum": 3}}),
            &json!(["n"]),
        );
        let honest = accepted(&question).expect("an answer");
        let wrong = mistyped(&question, &honest);
        let what: Vec<_> = wrong.iter().map(|(what, _)| what.as_str()).collect();
        for rule in ["above the maximum", "left out", "no content", "an action"] {
            assert!(
                what.iter().any(|what| what.contains(rule)),
                "{rule}: {what:?}"
            );
        }
        assert!(wrong.iter().all(|(_, answer)| *answer != honest));
    }
}
