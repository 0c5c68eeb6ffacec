//! States, as they are made.

use super::*;

/// A state to be made.
struct State<'a> {
    name: &'a str,
    key: &'a str,
    method: Method,
    audience: &'a str,
    target: &'a str,
    arguments: Option<&'a str>,
    who: [Option<&'a str>; 4],
    ledger: Ledger,
    handle: Option<[u8; 16]>,
    /// In milliseconds.
    now: u64,
    /// How long the state and the call live, in seconds.
    life: (u64, u64),
    round: u16,
}

const NOTHING: Ledger = Ledger {
    by_hand: Vec::new(),
    questions: Vec::new(),
    steps: Vec::new(),
    rounds: None,
    state: None,
};

const PLAIN: State<'_> = State {
    name: "empty body",
    key: "counting",
    method: Method::CallTool,
    audience: "shop",
    target: "order",
    arguments: None,
    who: [None; 4],
    ledger: NOTHING,
    handle: None,
    now: 1_800_000_000_000,
    life: (600, 3600),
    round: 1,
};

pub(crate) fn states() -> Value {
    let states = [
        PLAIN,
        State {
            name: "a question",
            arguments: Some(r#"{"title":"Emma","copies":2}"#),
            who: [
                Some("https://issuer.example"),
                Some("desk"),
                Some("ada"),
                None,
            ],
            ledger: by_hand(&["confirm"], None),
            ..PLAIN
        },
        State {
            name: "two questions and the author's state, third round",
            key: "current",
            arguments: Some(r#"{ "copies": 2.0, "title": "\u0045mma" }"#),
            who: [None, Some(""), None, Some("proxy-user")],
            ledger: by_hand(&["confirm", ""], Some(r#"{"step":2}"#)),
            round: 3,
            ..PLAIN
        },
        State {
            name: "a prompt, in other scripts",
            key: "long",
            method: Method::GetPrompt,
            audience: "läden.example",
            target: "zusammenfassen\u{301}",
            arguments: Some(r#"{"thema":"Größe \ud83d\ude00","τίτλος":"Ἰλιάς"}"#),
            who: [Some(""), Some(""), Some(""), Some("")],
            ledger: by_hand(&["ключ🗝"], Some("état\u{0}\n\u{1f4da}")),
            ..PLAIN
        },
        State {
            name: "a resource, spilled",
            key: "long",
            method: Method::ReadResource,
            target: "shop://books/978-0%2D14?x=1#A",
            handle: Some(filled(0xa0)),
            ..PLAIN
        },
        State {
            name: "an empty state of the author's, no audience",
            audience: "",
            target: "",
            ledger: by_hand(&[], Some("")),
            ..PLAIN
        },
        State {
            name: "the deadline is nearer than the time to live",
            life: (600, 60),
            ledger: by_hand(&[], Some("x")),
            ..PLAIN
        },
        State {
            name: "at the end of time",
            now: u64::MAX,
            round: u16::MAX,
            ..PLAIN
        },
        State {
            name: "pending: first asked, and asked again because of its answer",
            ledger: Ledger {
                questions: vec![
                    pending("name", 0x21, (0, 0), ""),
                    pending(
                        "größe",
                        0x31,
                        (1, 2),
                        "- `size`: is less than 1\n- `ä`: is required",
                    ),
                ],
                ..NOTHING
            },
            round: 2,
            ..PLAIN
        },
        State {
            name: "answered: accepted, declined, too large to be kept",
            ledger: Ledger {
                questions: vec![
                    answered(
                        "name",
                        0x21,
                        (0, 0),
                        1,
                        r#"{"action":"accept","content":{"name":"Zoë \u0001"}}"#,
                    ),
                    answered("region", 0x31, (3, 1), 258, r#"{ "action": "decline" }"#),
                    answered(
                        "roots",
                        0x41,
                        (0, 0),
                        u16::MAX,
                        r#""has more than 65536 bytes""#,
                    ),
                ],
                ..NOTHING
            },
            round: 259,
            ..PLAIN
        },
        State {
            name: "steps, one of them done before anything was asked",
            ledger: Ledger {
                steps: vec![
                    step("draft", 0, r#""Dear Ada""#),
                    step("заказ", 513, r#"{"id":42}"#),
                    step("nothing", 513, "null"),
                ],
                ..NOTHING
            },
            round: 514,
            ..PLAIN
        },
        State {
            name: "fewer rounds asked than there were",
            ledger: Ledger {
                rounds: Some(258),
                ..NOTHING
            },
            round: 772,
            ..PLAIN
        },
        State {
            name: "all together",
            key: "current",
            ledger: Ledger {
                by_hand: vec!["hand".to_owned(), "other".to_owned()],
                questions: vec![
                    pending("name", 0x21, (2, 1), "- `name`: is required"),
                    pending("size", 0x31, (0, 0), ""),
                    answered("region", 0x41, (1, 0), 2, r#"{"action":"cancel"}"#),
                    answered("roots", 0x51, (0, 0), 1, r#"{"roots":[]}"#),
                ],
                steps: vec![step("charge", 2, "42"), step("name", 3, "[]")],
                rounds: Some(3),
                state: Some(r#"{"step":2}"#.to_owned()),
            },
            round: 4,
            ..PLAIN
        },
        State {
            name: "the longest keys, and the shortest",
            ledger: Ledger {
                by_hand: vec!["h".repeat(LONGEST_KEY + 1)],
                questions: vec![
                    pending(&"é".repeat(127), 0x21, (u8::MAX, u8::MAX), "x"),
                    pending("", 0x31, (0, 0), ""),
                    answered(&"k".repeat(LONGEST_KEY), 0x41, (0, 0), 0, "0"),
                    answered("", 0x51, (0, 0), 0, ""),
                ],
                steps: vec![step(&"s".repeat(LONGEST_KEY), 0, "1"), step("", 0, "")],
                ..NOTHING
            },
            ..PLAIN
        },
    ];
    let states = states.iter().enumerate();
    states.map(|(at, state)| sealed_state(at, state)).collect()
}

pub(crate) fn by_hand(keys: &[&str], state: Option<&str>) -> Ledger {
    Ledger {
        by_hand: keys.iter().map(|key| (*key).to_owned()).collect(),
        state: state.map(str::to_owned),
        ..NOTHING
    }
}

fn question(key: &str, digest: u8, (tries, drifts): (u8, u8), standing: Standing) -> Question {
    Question {
        key: key.into(),
        digest: filled(digest),
        tries,
        drifts,
        standing,
    }
}

fn pending(key: &str, digest: u8, counts: (u8, u8), note: &str) -> Question {
    question(key, digest, counts, Standing::Pending(note.into()))
}

fn answered(key: &str, digest: u8, counts: (u8, u8), round: u16, answer: &str) -> Question {
    let answer = answer.to_owned();
    question(
        key,
        digest,
        counts,
        Standing::Answered {
            round,
            answer: answer.into(),
        },
    )
}

fn step(key: &str, round: u16, result: &str) -> Step {
    Step {
        key: key.into(),
        round,
        // As long as its key, so that it is not always the same.
        shared: key.len() as u8,
        result: result.into(),
    }
}

fn told_body(ledger: &Ledger, handle: Option<[u8; 16]>) -> Value {
    let (mut pending, mut answered) = (Vec::new(), Vec::new());
    for question in &ledger.questions {
        let mut told = json!({
            "key": &*question.key,
            "digest": hex(&question.digest),
            "tries": question.tries,
            "drifts": question.drifts,
        });
        match &question.standing {
            Standing::Pending(note) => {
                told["note"] = json!(&**note);
                pending.push(told);
            }
            Standing::Answered { round, answer } => {
                told["round"] = json!(round);
                told["answer"] = json!(&**answer);
                answered.push(told);
            }
        }
    }
    let step = |step: &Step| json!({ "key": &*step.key, "round": step.round, "shared": step.shared, "result": &*step.result });
    json!({
        "by_hand": ledger.by_hand,
        "pending": pending,
        "answered": answered,
        "steps": ledger.steps.iter().map(step).collect::<Value>(),
        "rounds": ledger.rounds,
        "state": ledger.state,
        "handle": handle.map(|handle| hex(&handle)),
    })
}

fn sealed_state(at: usize, state: &State<'_>) -> Value {
    let random = u8::try_from(at * 16 + 1).expect("few vectors");
    let (id, secret) = (StateId(filled(random)), filled::<16>(random ^ 0x5a));
    let nonce = filled::<12>(random ^ 0xc3);
    let text = state.arguments.unwrap_or("{}");
    let (arguments, mut who) = (form(text), Vec::new());
    principal(&state.who, &mut who);
    let request = Request {
        method: state.method,
        target: state.target,
        arguments: &arguments,
        principal: &who,
    };
    let now = Moment::from_millis(state.now);
    let (ttl, call) = (
        Duration::from_secs(state.life.0),
        Duration::from_secs(state.life.1),
    );
    let deadline = now.after(call);
    let life = Life { now, ttl, deadline };
    let of_call = Secret::new(secret);
    let mut digester = of_call.digester();
    let mut claims = Claims::first(&request, state.audience, life, id, of_call, &mut digester);
    claims.round = state.round;
    let ledger = &state.ledger;
    let mut draft = Draft::default();
    claims.write(draft.payload());
    match state.handle {
        Some(handle) => Body::write_handle(Handle(handle), draft.payload()),
        None => ledger.write(draft.payload()).expect("small"),
    }
    let ring = ring(&[state.key]);
    let text = draft.seal(&ring, nonce);
    let bytes = URL_SAFE_NO_PAD.decode(&text).expect("base64url").len();
    if at == 0 {
        assert_eq!(bytes, 153, "of an empty body");
        assert!(bytes <= 160, "what was promised");
    }
    let (again, body) = opened(&ring, &text, LONGEST).expect("just sealed");
    assert_eq!(again, claims);
    assert_eq!(
        body,
        match state.handle {
            Some(handle) => Body::Elsewhere(Handle(handle)),
            None => Body::Ledger(ledger.clone()),
        }
    );
    json!({
        "name": state.name,
        "key": state.key,
        "nonce": hex(&nonce),
        "state": text,
        "bytes": bytes,
        "claims": {
            "method": method(claims.method),
            "issued": claims.issued.as_millis(),
            "expires": claims.expires.as_millis(),
            "deadline": claims.deadline.as_millis(),
            "round": claims.round,
            "id": claims.id.to_string(),
            "secret": hex(&secret),
            "audience": hex(&claims.audience),
            "target": hex(&claims.target),
            "arguments": hex(&claims.arguments),
            "principal": hex(&claims.principal),
        },
        "body": told_body(ledger, state.handle),
        "flow": digester.flow().to_string(),
        "made_for": {
            "audience": state.audience,
            "target": state.target,
            "arguments": state.arguments,
            "principal": state.who,
        },
    })
}

fn method(method: Method) -> &'static str {
    match method {
        Method::CallTool => "tools/call",
        Method::GetPrompt => "prompts/get",
        Method::ReadResource => "resources/read",
    }
}
