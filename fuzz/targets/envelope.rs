//! The envelope against a plain JSON reader.
#![no_main]

use antiphon_core::envelope::{Message, ParamsState, Shape, Slot, raw_params};
use antiphon_types::RequestId;
use libfuzzer_sys::fuzz_target;
use serde::de::IgnoredAny;
use serde_json::Value;

fuzz_target!(|text: &str| {
    let value = serde_json::from_str::<Value>(text);
    let Ok(message) = Message::parse(text) else {
        assert!(value.is_err(), "refused, but it is JSON");
        return;
    };
    assert!(serde_json::from_str::<IgnoredAny>(text).is_ok());
    let shape = message.shape();
    if let Some(id) = message.id() {
        assert!(RequestId::from_raw(id).is_some(), "{id}");
    }
    if shape == Shape::Request {
        assert!(message.id().is_some());
        let raw = raw_params(text).map(|raw| raw.get());
        match message.params.state {
            ParamsState::Absent => assert_eq!(raw, None),
            ParamsState::Object => assert!(raw.is_some_and(|raw| raw.starts_with('{'))),
            ParamsState::Wrong => assert!(raw.is_none_or(|raw| !raw.starts_with('{'))),
        }
    }
    if let Ok(value) = &value {
        agrees(&message, shape, value);
    }
});

/// Where no name stands twice, both readers see the same.
fn agrees(message: &Message<'_>, shape: Shape, value: &Value) {
    if matches!(shape, Shape::Invalid(why) if why.ends_with("twice")) {
        return;
    }
    let is_id = |id: &Value| id.is_string() || id.is_number();
    let id = value.get("id").filter(|id| is_id(id));
    let outcome = value.get("result").or(value.get("error")).is_some();
    match shape {
        Shape::Request => assert!(value["method"].is_string() && id.is_some()),
        Shape::Notification => assert!(value["method"].is_string() && value.get("id").is_none()),
        Shape::Response => assert!(value.get("method").is_none() && outcome),
        Shape::Batch => assert!(value.is_array()),
        Shape::Invalid(_) => {}
    }
    assert_eq!(shape == Shape::Batch, value.is_array());
    assert_eq!(
        message.method(),
        value["method"].as_str().unwrap_or_default()
    );
    let read = message
        .id()
        .map(|id| serde_json::from_str(id).expect("JSON"));
    assert!(read.is_none() || read.as_ref() == id, "{read:?} {id:?}");
    let params = &message.params;
    assert_eq!(
        params.state == ParamsState::Object,
        value["params"].is_object()
    );
    if params.repeated.is_some() || params.state != ParamsState::Object {
        return;
    }
    let slots = [
        ("name", &params.name),
        ("uri", &params.uri),
        ("cursor", &params.cursor),
        ("requestState", &params.request_state),
        ("reason", &params.rare().reason),
        ("protocolVersion", &params.rare().protocol_version),
    ];
    for (name, slot) in slots {
        let same = match (slot, value["params"].get(name)) {
            (Slot::Absent, None) | (Slot::Null, Some(Value::Null)) => true,
            (Slot::Text(text), Some(Value::String(other))) => text == other,
            (Slot::Other, Some(other)) => !other.is_null() && !other.is_string(),
            _ => false,
        };
        assert!(same, "{name}: {slot:?}");
    }
    let raws = [
        ("arguments", params.arguments),
        ("inputResponses", params.input_responses),
        ("ref", params.rare().reference),
        ("argument", params.rare().argument),
        ("context", params.rare().context),
        ("notifications", params.rare().notifications),
        ("requestId", params.rare().request_id),
    ];
    for (name, raw) in raws {
        let read = raw.map(|raw| serde_json::from_str(raw.get()).expect("JSON"));
        assert_eq!(read.as_ref(), value["params"].get(name), "{name}");
    }
}
