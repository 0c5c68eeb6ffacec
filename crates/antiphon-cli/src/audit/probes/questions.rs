//! What a server asks, and whom.

use antiphon::types::PrimitiveSchema;
use serde_json::{Map, Value};

use crate::{
    audit::{
        Audit, Verdict,
        answers::{self, Kind},
        finding::Finding,
        links, older,
        probe::Probe,
        reply::Reply,
    },
    printable, terminal,
};

pub(super) static PROBES: [Probe; 5] = [
    Probe {
        id: "undeclared-capabilities",
        group: "questions",
        title: "a client that cannot be asked",
        meaning: "Clients are asked what they cannot answer; or they are told too little to find out \
                  what they lack.",
        advice: "Before asking, look at the capabilities of this very request; without them answer \
                 -32021, and name all that is missing in data.requiredCapabilities.",
        ledger: &[
            "MRTR-S-20",
            "MRTR-S-21",
            "MRTR-S-22",
            "META-S-05",
            "SHIM-S-02",
        ],
        effects: 5,
        effects_older: 1,
        // A tool may do without asking what nobody can be asked about.
        needs_effects: true,
        run: |audit| Box::pin(undeclared(audit)),
        run_older: Some(|audit| Box::pin(older::undeclared(audit))),
    },
    Probe {
        id: "questions-drift",
        group: "questions",
        title: "the same call, asked twice",
        meaning: "What the user is asked changes with time or chance: an answer may be to a question \
                  that nobody saw.",
        advice: "Derive questions from the arguments and earlier answers alone.",
        ledger: &["MRTR-S-26", "MRTR-S-30"],
        effects: 1,
        effects_older: 2,
        needs_effects: false,
        run: |audit| Box::pin(drift(audit)),
        run_older: Some(|audit| Box::pin(older::drift(audit))),
    },
    Probe {
        id: "secret-fields",
        group: "questions",
        title: "forms that ask for secrets",
        meaning: "Passwords, keys and card numbers pass through the client, its logs and its model.",
        advice: "Ask for them on a page of your own, by a question of mode url.",
        ledger: &["ELIC-S-12", "ELIC-S-13"],
        effects: 0,
        effects_older: 0,
        needs_effects: false,
        run: |audit| Box::pin(async { secret_fields(&audit.asked()) }),
        run_older: Some(|audit| Box::pin(async { secret_fields(&audit.asked()) })),
    },
    Probe {
        id: "link-scheme",
        group: "questions",
        title: "links that are not https",
        meaning: "Others can read along, or something else than a browser is opened.",
        advice: "Send users to https only; http is for this very machine.",
        ledger: &["ELIC-S-28", "ELIC-S-10"],
        effects: 0,
        effects_older: 0,
        needs_effects: false,
        run: |audit| Box::pin(async { link_scheme(&audit.asked()) }),
        run_older: Some(|audit| Box::pin(async { link_scheme(&audit.asked()) })),
    },
    Probe {
        id: "link-identity",
        group: "questions",
        title: "links that say who the user is",
        meaning: "Whoever sees the link knows the user, or is taken for them.",
        advice: "Put a random handle into the link, and find out on your page who opens it.",
        ledger: &["ELIC-S-25", "ELIC-S-26", "ELIC-S-31", "ELIC-S-32"],
        effects: 0,
        effects_older: 0,
        needs_effects: false,
        run: |audit| Box::pin(async { link_identity(&audit.asked(), &audit.states()) }),
        run_older: Some(|audit| Box::pin(async { link_identity(&audit.asked(), &[]) })),
    },
];

impl Audit {
    /// All questions of the honest flow, with their keys.
    fn asked(&self) -> Vec<(String, Value)> {
        if let Some(reference) = self.reference.get() {
            let rounds = reference.rounds.iter();
            let asked = rounds.flat_map(|round| round.questions.clone());
            return asked.collect();
        }
        self.older_questions()
    }

    /// The states of that flow.
    fn states(&self) -> Vec<String> {
        let rounds = self.reference.get().into_iter().flat_map(|all| &all.rounds);
        rounds.filter_map(|round| round.state.clone()).collect()
    }
}

async fn undeclared(audit: &Audit) -> Finding {
    let Some(first) = audit.reference().rounds.first() else {
        return Finding::not_tested("it never asked");
    };
    let mut parts = vec![("nothing declared".to_owned(), Value::Object(Map::new()))];
    for question in first.questions.values() {
        let left_out = Kind::of(question).left_out();
        let part = ("all but what it asks".to_owned(), left_out);
        if !parts.contains(&part) {
            parts.push(part);
        }
    }
    let mut found = Vec::new();
    for (what, capabilities) in parts {
        let leg = audit.leg().capabilities(capabilities.clone());
        let reply = audit.send(&leg).await;
        found.push((what, not_asked(&reply, &capabilities)));
    }
    Finding::worst(found)
}

/// What it means when a client of these capabilities gets this.
fn not_asked(reply: &Reply, capabilities: &Value) -> Finding {
    let seen = [reply.shown()];
    match reply {
        Reply::Asks(round) => {
            let left_out = |question: &&Value| !is_declared(question, capabilities);
            match round.questions.values().find(left_out) {
                Some(_) => Finding::fail("it was asked all the same").seen(seen),
                None => Finding::pass("it was asked something else, which it can answer"),
            }
        }
        Reply::Refused(refusal) if refusal.code == -32021 => {
            let data = refusal.data.as_ref();
            let needed = data.and_then(|data| data.get("requiredCapabilities"));
            match needed.and_then(Value::as_object) {
                Some(needed) if !needed.is_empty() => Finding::pass("-32021 names what is missing"),
                _ => Finding::weak("-32021 does not name what is missing").seen(seen),
            }
        }
        Reply::Done(_) => Finding::pass("it was done without asking"),
        _ if reply.is_trouble() => Finding::weak("it got no proper answer").seen(seen),
        _ => Finding::weak("another error than -32021").seen(seen),
    }
}

fn is_declared(question: &Value, capabilities: &Value) -> bool {
    let elicits = capabilities.get("elicitation");
    match Kind::of(question) {
        Kind::Form => elicits.is_some_and(|modes| modes.get("form").is_some()),
        Kind::Link => elicits.is_some_and(|modes| modes.get("url").is_some()),
        Kind::Sample => capabilities.get("sampling").is_some(),
        Kind::Roots => capabilities.get("roots").is_some(),
        Kind::Unknown => false,
    }
}

async fn drift(audit: &Audit) -> Finding {
    let (one, two) = match (audit.first().await, audit.first().await) {
        (Ok(one), Ok(two)) => (one, two),
        (Err(finding), _) | (_, Err(finding)) => return finding,
    };
    if let Some(seen) = drifted(&one.questions, &two.questions, false) {
        return Finding::weak("a second call was asked something else").seen(seen);
    }
    // Without answers the server asks again, in the same flow.
    let leg = audit.leg().answers(&Map::new()).state(two.state.clone());
    let reply = audit.send(&leg).await;
    match audit.settled(&audit.wire, leg, reply).await {
        (_, Reply::Asks(again)) => match drifted(&two.questions, &again.questions, true) {
            Some(seen) => Finding::weak("asked again, it was something else").seen(seen),
            None => Finding::pass("twice, and asked again, it was the same"),
        },
        _ => Finding::pass("twice it was the same"),
    }
}

/// How two rounds of questions differ, if they do. Asked again, a question may say what was wrong
/// with its answer; and a link may lead to a place of its own each time.
pub(in crate::audit) fn drifted(
    one: &Map<String, Value>,
    two: &Map<String, Value>,
    again: bool,
) -> Option<[String; 2]> {
    let plain = |questions: &Map<String, Value>| {
        let mut questions = questions.clone();
        for question in questions.values_mut() {
            let is_link = Kind::of(question) == Kind::Link;
            if let Some(Value::Object(params)) = question.get_mut("params") {
                params.shift_remove("_meta");
                params.shift_remove("elicitationId");
                if is_link {
                    params.shift_remove("url");
                }
                if again {
                    params.shift_remove("message");
                }
            }
        }
        Value::Object(questions)
    };
    let (one, two) = (plain(one), plain(two));
    let shown = |questions: &Value| printable::excerpt(&questions.to_string(), 300);
    (one != two).then(|| [shown(&one), shown(&two)])
}

pub(in crate::audit) fn secret_fields(asked: &[(String, Value)]) -> Finding {
    let forms = asked
        .iter()
        .filter(|(_, question)| Kind::of(question) == Kind::Form);
    let mut count = 0;
    let mut secret = Vec::new();
    for (key, question) in forms {
        count += 1;
        let properties = answers::schema(question)
            .get("properties")
            .and_then(Value::as_object);
        for (name, field) in properties.into_iter().flatten() {
            let Value::Object(field) = field else {
                continue;
            };
            let is_hidden = field.get("format").and_then(Value::as_str) == Some("password");
            let schema = PrimitiveSchema::from_value(field.clone());
            if is_hidden || terminal::is_secret(name, &schema) {
                let title = field.get("title").and_then(Value::as_str).unwrap_or(name);
                secret.push(format!(
                    "{}: {}",
                    printable::excerpt(key, 60),
                    printable::excerpt(title, 100)
                ));
            }
        }
    }
    match (count, secret.len()) {
        (0, _) => Finding::not_tested("it asked with no form"),
        (1, 0) => Finding::pass("none in one form"),
        (_, 0) => Finding::pass(format!("none in {count} forms")),
        (_, fields) => Finding::fail(format!("{fields} fields look like secrets")).seen(secret),
    }
}

/// The links among questions.
fn urls(asked: &[(String, Value)]) -> Vec<&str> {
    let links = asked
        .iter()
        .filter(|(_, question)| Kind::of(question) == Kind::Link);
    let urls = links.map(|(_, question)| question.pointer("/params/url").and_then(Value::as_str));
    urls.map(Option::unwrap_or_default).collect()
}

/// What there is to say of links of which some are wrong.
fn linked(asked: &[(String, Value)], wrong: impl Fn(&str) -> Option<String>) -> Finding {
    let urls = urls(asked);
    if urls.is_empty() {
        return Finding::not_tested("it asked for no link to be opened");
    }
    let wrong: Vec<_> = urls
        .iter()
        .filter_map(|url| Some((*url, wrong(url)?)))
        .collect();
    match wrong.first() {
        None => Finding::pass(format!("{} links are in order", urls.len())),
        Some((_, why)) => Finding::new(Verdict::Fail, why.clone())
            .seen(wrong.iter().map(|(url, _)| printable::excerpt(url, 200))),
    }
}

pub(in crate::audit) fn link_scheme(asked: &[(String, Value)]) -> Finding {
    linked(asked, |url| links::insecure(url).map(str::to_owned))
}

fn link_identity(asked: &[(String, Value)], states: &[String]) -> Finding {
    linked(asked, |url| links::telling(url, states))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn form(properties: &Value) -> Vec<(String, Value)> {
        let question = json!({"method": "elicitation/create", "params": {"mode": "form",
            "message": "?", "requestedSchema": {"type": "object", "properties": properties}}});
        vec![("k".to_owned(), question)]
    }

    #[test]
    fn secrets_are_found_in_forms() {
        let verdict = |properties: Value| secret_fields(&form(&properties)).verdict;
        assert_eq!(verdict(json!({"ok": {"type": "boolean"}})), Verdict::Pass);
        assert_eq!(
            verdict(json!({"api_key": {"type": "string"}})),
            Verdict::Fail
        );
        assert_eq!(
            verdict(json!({"x": {"type": "string", "format": "password"}})),
            Verdict::Fail
        );
        let titled = json!({"x": {"type": "string", "title": "Your password"}});
        assert_eq!(verdict(titled), Verdict::Fail);
        assert_eq!(secret_fields(&[]).verdict, Verdict::NotTested);
    }

    #[test]
    fn questions_that_are_asked_again_may_say_why() {
        let question = |message: &str| {
            let question = json!({"method": "elicitation/create", "params": {"message": message}});
            Map::from_iter([("k".to_owned(), question)])
        };
        assert!(drifted(&question("a"), &question("a"), false).is_none());
        assert!(drifted(&question("a"), &question("b"), false).is_some());
        assert!(drifted(&question("a"), &question("a\nn: too big"), true).is_none());
        assert!(drifted(&question("a"), &Map::new(), true).is_some());
    }

    #[test]
    fn a_client_that_cannot_be_asked_is_told_what_it_lacks() {
        let verdict = |message: Value| {
            let reply = Reply::read(message.to_string().as_bytes(), None);
            not_asked(&reply, &json!({})).verdict
        };
        let data = json!({"requiredCapabilities": {"elicitation": {"form": {}}}});
        let error =
            |code: i64, data: Value| json!({"error": {"code": code, "message": "", "data": data}});
        assert_eq!(verdict(error(-32021, data.clone())), Verdict::Pass);
        assert_eq!(verdict(error(-32021, json!(null))), Verdict::Weak);
        assert_eq!(verdict(error(-32603, data)), Verdict::Weak);
        let asks = json!({"result": {"resultType": "input_required",
            "inputRequests": {"k": {"method": "elicitation/create", "params": {}}}}});
        assert_eq!(verdict(asks), Verdict::Fail);
    }
}
