//! Headers that repeat what is in the body.

use std::hint::black_box;

use antiphon::types::Version;
use antiphon_core::{
    envelope::Message,
    mirror::{self, Header, HeaderParams},
    negotiate,
};
use serde_json::json;

use crate::{messages, meter::Meter};

const ARGUMENTS: &str = r#"{"text":"Low water","region":"Malmö","copies":42,"urgent":true}"#;

/// The version, the method and the name of a request, and three arguments that are annotated.
pub(crate) fn check(meter: &mut Meter) {
    let property = |kind: &str, header: &str| json!({"type": kind, "x-mcp-header": header});
    let schema = json!({"type": "object", "properties": {
        "text": {"type": "string"},
        "region": property("string", "Region"),
        "copies": property("integer", "Copies"),
        "urgent": property("boolean", "Urgent"),
    }});
    let params = HeaderParams::of(schema.as_object().expect("an object")).expect("annotations");
    let body = messages::call("echo", ARGUMENTS);
    let message = Message::parse(&body).expect("a message");
    let header = |name: &str| match name {
        "mcp-param-region" => Header::Value("=?base64?TWFsbcO2?="),
        "mcp-param-copies" => Header::Value("42"),
        "mcp-param-urgent" => Header::Value("true"),
        _ => Header::Absent,
    };
    let checked = |version| {
        let version = negotiate::admit(&message, Header::Value(version), Version::MODERN);
        let name = mirror::decode(black_box("echo"));
        let named = name.is_ok_and(|name| Some(&*name) == message.params.name.as_str());
        let mirrored = params.check(message.params.arguments, header);
        version.is_ok() && named && mirrored.is_ok()
    };
    assert!(!checked("2025-11-25"));
    let other = params.check(message.params.arguments, |_| Header::Value("1"));
    assert!(other.is_err());
    meter.repeat(|meter| {
        assert!(meter.count(|| checked(black_box("2026-07-28"))));
    });
}

/// A client's part of it: a name and three values, one of which needs Base64.
pub(crate) fn encode(meter: &mut Meter) {
    let values = ["echo", "Malmö", "42", "true"];
    meter.repeat(|meter| {
        let encoded = meter.count(|| black_box(values).map(mirror::encode));
        assert_eq!(encoded, ["echo", "=?base64?TWFsbcO2?=", "42", "true"]);
    });
}
