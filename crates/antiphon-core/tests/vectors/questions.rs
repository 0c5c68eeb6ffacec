//! What questions, keys of calls and links are known by.

use super::*;

/// Questions as authors render them, and what they are known by.
pub(crate) fn questions() -> Value {
    let schema = json!({
        "type": "object",
        "properties": {
            "size": { "type": "integer", "minimum": 1, "maximum": 1e1 },
            "name": { "type": "string", "title": "Größe" },
        },
        "required": ["name"],
    });
    let schema: FormSchema = serde_json::from_value(schema).expect("a form");
    let empty: FormSchema =
        serde_json::from_value(json!({ "type": "object", "properties": {} })).expect("a form");
    let url = "https://shop.example/pay/AAAA";
    let requests: [InputRequest; 5] = [
        ElicitRequestParams::form("Order \"Emma\"?\nZwölf?", schema).into(),
        ElicitRequestParams::form("", empty).into(),
        ElicitRequestParams::url("Sign in", url).into(),
        CreateMessageRequestParams::user("Sum up: 1", 200).into(),
        InputRequest::roots(),
    ];
    let secret = filled::<16>(0x21);
    let mut digester = Secret::new(secret).digester();
    let vector = |request: &InputRequest| {
        let json = serde_json::to_string(request).expect("JSON");
        let form = form(&json);
        let digest = hex(&digester.of(Of::Question, &form));
        let form = String::from_utf8(form).expect("made of UTF-8");
        json!({ "question": json, "form": form, "secret": hex(&secret), "digest": digest })
    };
    requests.iter().map(vector).collect()
}

pub(crate) fn idempotency_keys() -> Value {
    let longest = "k".repeat(LONGEST_KEY);
    let mut vectors = Vec::new();
    for secret in [filled::<16>(0x21), [0; 16]] {
        let mut digester = Secret::new(secret).digester();
        for key in ["charge", "charge ", "", "заказ", &longest] {
            let made = hex(&digester.of(Of::Key, key.as_bytes()));
            vectors.push(json!({ "secret": hex(&secret), "key": key, "idempotency_key": made }));
        }
    }
    Value::Array(vectors)
}

/// When the call of a link ends.
const UNTIL: u64 = 1_800_003_600_000;

fn link(secret: [u8; 16], key: &str, until: u64, subject: Option<&str>) -> link::Handle {
    let question = Secret::new(secret).digester().of(Of::Link, key.as_bytes());
    link::Handle::new(&question, Moment::from_millis(until), subject)
}

pub(crate) fn links() -> Value {
    let secret = filled::<16>(0x21);
    let last = Moment::LAST.as_millis();
    let vector = |&(key, until, subject): &(&str, u64, Option<&str>)| {
        let handle = link(secret, key, until, subject);
        let text = handle.to_string();
        let now = Moment::from_millis(until - 1);
        assert_eq!(link::Handle::opened_by(&text, subject, now), Ok(handle));
        assert_eq!(handle.until().as_millis(), until);
        json!({
            "secret": hex(&secret), "key": key, "until": until, "subject": subject, "link": text,
        })
    };
    [
        ("pay", UNTIL, None),
        ("pay", UNTIL, Some("")),
        ("pay", UNTIL, Some("ada")),
        ("pay", UNTIL + 1, Some("ada")),
        ("sign in", UNTIL, Some("Ζωή 🗝")),
        ("", 1, Some("ada\u{0}")),
        ("pay", last, Some("ada")),
    ]
    .iter()
    .map(vector)
    .collect()
}

/// Links that somebody opens who gets nothing by it.
pub(crate) fn refused_links() -> Value {
    let secret = filled::<16>(0x21);
    let (ada, anybody) = (Some("ada"), None);
    let text = link(secret, "pay", UNTIL, ada).to_string();
    let open = link(secret, "pay", UNTIL, anybody).to_string();
    let bytes = URL_SAFE_NO_PAD.decode(&text).expect("base64url");
    let changed = |at: usize| {
        let mut bytes = bytes.clone();
        bytes[at] ^= 1;
        URL_SAFE_NO_PAD.encode(bytes)
    };
    assert_eq!(text.len() % 4, 3, "the last character has bits to spare");
    let last = text.as_bytes()[text.len() - 1];
    let spare = format!("{}{}", &text[..text.len() - 1], char::from(last + 1));
    let (now, text_is_bad, not_theirs) =
        (UNTIL - 1, link::BadHandle::Text, link::BadHandle::Subject);
    let vectors = [
        ("nothing", String::new(), ada, now, text_is_bad),
        (
            "cut",
            text[..text.len() - 1].to_owned(),
            ada,
            now,
            text_is_bad,
        ),
        (
            "a byte less",
            text[..text.len() - 2].to_owned(),
            ada,
            now,
            text_is_bad,
        ),
        (
            "a character more",
            format!("{text}A"),
            ada,
            now,
            text_is_bad,
        ),
        ("padded", format!("{text}="), ada, now, text_is_bad),
        ("bits to spare that are set", spare, ada, now, text_is_bad),
        (
            "the other alphabet",
            format!("{}+", &text[..50]),
            ada,
            now,
            text_is_bad,
        ),
        (
            "a line feed behind",
            format!("{text}\n"),
            ada,
            now,
            text_is_bad,
        ),
        ("somebody else", text.clone(), Some("bob"), now, not_theirs),
        (
            "somebody whose name is empty",
            text.clone(),
            Some(""),
            now,
            not_theirs,
        ),
        ("nobody that is known", text.clone(), None, now, not_theirs),
        ("another question", changed(0), ada, now, not_theirs),
        ("another end of the call", changed(21), ada, now, not_theirs),
        ("another reader", changed(22), ada, now, not_theirs),
        (
            "the call has ended",
            text,
            ada,
            UNTIL,
            link::BadHandle::Over,
        ),
        (
            "the call has ended, for anybody",
            open,
            ada,
            UNTIL,
            link::BadHandle::Over,
        ),
    ];
    let vector = |(name, text, subject, now, why): &(&str, String, Option<&str>, u64, _)| {
        let refused = link::Handle::opened_by(text, *subject, Moment::from_millis(*now));
        assert_eq!(refused, Err(*why), "{name}");
        let why = match why {
            link::BadHandle::Text => "text",
            link::BadHandle::Subject => "subject",
            link::BadHandle::Over => "over",
            other => panic!("{other:?} is new"),
        };
        json!({ "name": name, "link": text, "subject": subject, "now": now, "why": why })
    };
    vectors.iter().map(vector).collect()
}
