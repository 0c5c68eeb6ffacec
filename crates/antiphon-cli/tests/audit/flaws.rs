//! Every planted server with plain requests: its flaw is there, and no other. The table of what the
//! command says about them is worth something only because of this.

use std::{
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{
    planted::{FLAWS, Flaw, Planted},
    wire::{Reply, Sender},
};

const ARGUMENTS: &str = r#"{"item":"tea","reference":9007199254740992,"options":{"a":1,"b":2}}"#;

/// An honest first round, and the second one that goes with it.
#[derive(Clone)]
struct Call<'a> {
    to: Sender<'a>,
    method: &'a str,
    name: &'a str,
    arguments: String,
    answers: Value,
}

impl<'a> Call<'a> {
    fn order(at: &'a Planted) -> Self {
        let to = Sender {
            url: &at.url,
            token: Some("one"),
        };
        Self {
            to,
            method: "tools/call",
            name: "order",
            arguments: ARGUMENTS.to_owned(),
            answers: json!({ "confirm": { "action": "accept", "content": filled() } }),
        }
    }

    fn with_answers(mut self, answers: Value) -> Self {
        self.answers = answers;
        self
    }

    fn send(&self, more: &str) -> Reply {
        let (name, arguments) = (self.name, &self.arguments);
        let called = match self.method {
            "resources/read" => format!(r#"{{"uri":"{name}","_meta":META{more}}}"#),
            _ => format!(r#"{{"name":"{name}","arguments":{arguments},"_meta":META{more}}}"#),
        };
        self.to.modern(self.method, name, &called)
    }

    fn first(&self) -> Reply {
        self.send("")
    }

    fn state(&self) -> String {
        let first = self.first();
        first
            .state()
            .unwrap_or_else(|| panic!("{first:?}"))
            .to_owned()
    }

    fn second(&self, state: &str) -> Reply {
        let (state, answers) = (json!(state), &self.answers);
        self.send(&format!(
            r#","requestState":{state},"inputResponses":{answers}"#
        ))
    }

    /// Whether a second round with what came of the state does something.
    fn takes(&self, change: impl Fn(&str) -> String) -> bool {
        let reply = self.second(&change(&self.state()));
        reply.done().is_some()
    }
}

fn filled() -> Value {
    json!({ "approve": true, "note": "a note", "speed": "fast", "copies": 2 })
}

/// Whether what this flaw lets in gets in.
fn works(attack: Flaw, at: &Planted) -> bool {
    let order = Call::order(at);
    let with_content =
        |content: Value| json!({ "confirm": { "action": "accept", "content": content } });
    let answer = order.answers["confirm"].clone();
    match attack {
        Flaw::StateTampered => {
            // The head, some of the rest, and the end.
            let last = order.state().len() - 1;
            let mut places = (0..8).chain((8..last).step_by(13)).chain([last]);
            places.any(|at| order.takes(|state| changed(state, at)))
        }
        Flaw::StateTruncated => [1, 4, 16, 22]
            .iter()
            .any(|cut| order.takes(|state| state[..state.len() - cut].to_owned())),
        Flaw::StateExtended => {
            order.takes(|state| format!("{state}A")) || order.takes(|state| state.repeat(2))
        }
        Flaw::StateRespelled => {
            let standard = |state: &str| state.replace('-', "+").replace('_', "/");
            order.takes(standard)
                || order.takes(|state| format!("{state}="))
                || order.takes(|state| format!("{state}\n"))
        }
        Flaw::StateReadable => readable(&order.state()).contains("tea"),
        Flaw::Replayed => {
            let state = order.state();
            let once = order.second(&state);
            let again = order.second(&state);
            assert!(once.done().is_some(), "{once:?}");
            again.done().is_some()
        }
        Flaw::ReplayedOtherAnswers => {
            let state = order.state();
            let once = order.second(&state);
            assert!(once.done().is_some(), "{once:?}");
            let declines = order.with_answers(json!({ "confirm": { "action": "decline" } }));
            declines.second(&state).done().is_some()
        }
        Flaw::ReplayedConcurrently => {
            let state = order.state();
            let done = thread::scope(|scope| {
                let calls = [(); 8].map(|()| scope.spawn(|| order.second(&state)));
                let replies = calls.map(|call| call.join().expect("no panic"));
                replies
                    .iter()
                    .filter(|reply| reply.done().is_some())
                    .count()
            });
            assert_ne!(done, 0, "one is honest");
            done > 1
        }
        Flaw::Expired => unreachable!("it needs a server with another life"),
        Flaw::OtherArguments => {
            let state = order.state();
            let mut other = order;
            other.arguments = ARGUMENTS.replace("tea", "gold");
            other.second(&state).done().is_some()
        }
        Flaw::BigNumbers => {
            let state = order.state();
            let mut other = order;
            other.arguments = ARGUMENTS.replace("9007199254740992", "9007199254740993");
            other.second(&state).done().is_some()
        }
        Flaw::DuplicateNames => {
            let mut order = order;
            order.arguments = ARGUMENTS.replace(r#""a":1"#, r#""b":1"#);
            order.first().state().is_some()
        }
        // Here it is an honest request that must be refused.
        Flaw::ReorderedKeys => {
            let state = order.state();
            let mut other = order;
            other.arguments = r#"{"options": {"b":2,"a":1}, "reference":9007199254740992,
                "item":"t\u0065a"}"#
                .to_owned();
            other.second(&state).done().is_none()
        }
        Flaw::OtherTool => {
            let state = order.state();
            let mut other = order;
            other.name = "reserve";
            other.second(&state).done().is_some()
        }
        Flaw::OtherMethod => {
            let state = order.state();
            let mut prompt = order.clone();
            (prompt.method, prompt.name) = ("prompts/get", "brief");
            let mut resource = order.clone();
            (resource.method, resource.name) = ("resources/read", "shop://ledger");
            let prompt = prompt.second(&state).done().is_some();
            let state = order.state();
            prompt | resource.second(&state).done().is_some()
        }
        Flaw::OtherPrincipal => {
            let state = order.state();
            let mut other = order;
            other.to.token = Some("two");
            other.second(&state).done().is_some()
        }
        Flaw::Anonymous => {
            let state = order.state();
            let mut other = order;
            other.to.token = None;
            assert_eq!(other.first().status, 401);
            other.second(&state).done().is_some()
        }
        Flaw::OtherReplica => {
            let state = order.state();
            let mut there = order.clone();
            there.to.url = &at.replica;
            let reply = there.second(&state);
            assert!(reply.done().is_some(), "{reply:?}");
            order.second(&state).done().is_some()
        }
        Flaw::UnsolicitedAnswers => {
            let more = format!(r#","inputResponses":{}"#, order.answers);
            order.send(&more).done().is_some()
        }
        Flaw::MissingAnswers => {
            let state = json!(order.state());
            let none = order.send(&format!(r#","requestState":{state}"#));
            none.done().is_some() | order.with_answers(json!({})).takes(str::to_owned)
        }
        Flaw::RenamedAnswers => ["Confirm", " confirm", "x-confirm"].iter().any(|name| {
            let renamed = json!({ *name: answer });
            order.clone().with_answers(renamed).takes(str::to_owned)
        }),
        Flaw::WrappedAnswers => [
            json!({ "confirm": answer }),
            json!([answer]),
            json!(answer.to_string()),
        ]
        .into_iter()
        .any(|wrapped| {
            let wrapped = json!({ "confirm": wrapped });
            order.clone().with_answers(wrapped).takes(str::to_owned)
        }),
        Flaw::MistypedAnswers => [
            ("approve", json!("yes")),
            ("copies", json!(11)),
            ("copies", json!(1.5)),
            ("speed", json!("at once")),
            ("note", json!("n".repeat(201))),
            ("note", Value::Null),
        ]
        .into_iter()
        .any(|(field, value)| {
            let mut content = filled();
            content[field] = value;
            let mistyped = with_content(content);
            order.clone().with_answers(mistyped).takes(str::to_owned)
        }),
        Flaw::OversizedAnswers => {
            let mut content = filled();
            content["note"] = json!("n".repeat(1 << 18));
            let long = order.clone().with_answers(with_content(content));
            let many = (0..1_000).map(|at| (at.to_string(), answer.clone()));
            let many = order.with_answers(many.collect());
            let replies = [long, many].map(|call| call.second(&call.state()));
            replies.iter().any(|reply| reply.state().is_none())
        }
        Flaw::UndeclaredCapabilities => {
            let meta = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
            });
            let params = format!(r#"{{"name":"order","arguments":{ARGUMENTS},"_meta":{meta}}}"#);
            let reply = order.to.modern("tools/call", "order", &params);
            reply.body["error"]["code"] != -32021
        }
        Flaw::QuestionsDrift => {
            let questions = || order.first().body["result"]["inputRequests"].clone();
            questions() != questions()
        }
        Flaw::SecretFields => order.first().body.to_string().contains("password"),
        Flaw::LinkScheme => link(at).starts_with("http:"),
        Flaw::LinkIdentity => link(at).contains("user="),
        Flaw::ErrorTexts => {
            let state = order.state();
            let changed = order.second(&changed(&state, 30)).body["error"].clone();
            let mut other = order;
            other.name = "reserve";
            other.to.token = Some("two");
            let other = other.second(&state).body["error"].clone();
            !changed.is_null() && !other.is_null() && changed != other
        }
        Flaw::InputRequiredElsewhere => {
            let argument = r#"{"ref":{"type":"ref/prompt","name":"brief"},
                "argument":{"name":"x","value":""},"_meta":META}"#;
            let reply = order.to.modern("completion/complete", "", argument);
            reply.state().is_some()
        }
        Flaw::EraConfusion => smuggles(at),
    }
}

/// The state with another character at a place.
fn changed(state: &str, at: usize) -> String {
    let mut bytes = state.as_bytes().to_vec();
    bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
    String::from_utf8(bytes).expect("ASCII")
}

/// What can be read of a state.
fn readable(state: &str) -> String {
    use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
    let parts = state
        .split('.')
        .filter_map(|part| URL_SAFE_NO_PAD.decode(part).ok());
    let bytes: Vec<u8> = parts.flatten().collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn link(at: &Planted) -> String {
    let mut pay = Call::order(at);
    pay.name = "pay";
    let first = pay.first();
    let url = &first.body["result"]["inputRequests"]["confirm"]["params"]["url"];
    url.as_str().expect("a link").to_owned()
}

/// Whether a call of a session is done with answers in its parameters. One that asks is answered
/// from another session first, which must not count.
fn smuggles(at: &Planted) -> bool {
    let order = Call::order(at);
    let capabilities = json!({ "elicitation": {} });
    let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": capabilities,
        "clientInfo": { "name": "test", "version": "1" },
    } });
    let open = || {
        order
            .to
            .older(None, &hello)
            .whole()
            .session
            .expect("a session")
    };
    let [ours, theirs] = [open(), open()];
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "order", "arguments": { "item": "tea" },
        "inputResponses": order.answers, "requestState": order.state(),
    } });
    let mut events = order.to.older(Some(&ours), &call);
    let first = events.event();
    if first["method"].is_null() {
        return true;
    }
    assert_eq!(first["method"], "elicitation/create");
    let answer = |content: Value| {
        json!({ "jsonrpc": "2.0", "id": first["id"],
            "result": { "action": "accept", "content": content } })
    };
    let mut others = filled();
    others["note"] = json!("of another session");
    order.to.older(Some(&theirs), &answer(others));
    order.to.older(Some(&ours), &answer(filled()));
    let last = events.event();
    let text = last["result"]["content"][0]["text"].as_str();
    assert!(text.is_some_and(|text| text.contains("a note")), "{last}");
    false
}

/// Whether a state counts that has come to its end.
fn outlives(flaw: Option<Flaw>) -> bool {
    let life = Duration::from_millis(50);
    let at = Planted::serve_with_life(flaw, life);
    let order = Call::order(&at);
    let state = order.state();
    let until = Instant::now() + life * 2;
    thread::sleep(until - Instant::now());
    order.second(&state).done().is_some()
}

/// Which of all attacks work on a server with this flaw.
fn found(flaw: Option<Flaw>) -> Vec<&'static str> {
    let at = Planted::serve(flaw);
    let attacks = FLAWS.iter().filter(|(attack, _)| match attack {
        Flaw::Expired => outlives(flaw),
        attack => works(*attack, &at),
    });
    attacks.map(|(_, id)| *id).collect()
}

#[test]
fn without_a_flaw_nothing_is_wrong() {
    assert_eq!(found(None), [""; 0]);
}

#[test]
fn every_flaw_is_there_and_no_other() {
    thread::scope(|scope| {
        let found = FLAWS.map(|(flaw, id)| (id, scope.spawn(move || found(Some(flaw)))));
        for (id, found) in found {
            assert_eq!(found.join().expect("no panic"), [id]);
        }
    });
}

#[test]
fn every_flaw_has_its_id() {
    for (flaw, id) in FLAWS {
        assert_eq!(flaw.id(), id);
    }
}
