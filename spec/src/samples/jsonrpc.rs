//! Ids, errors, batches and the objects everything is made of.

use antiphon_types::Version::{V2025_03_26, V2025_11_25, V2026_07_28};
use antiphon_types::{
    CancelledNotificationParams, ClientCapabilities, ElicitationCapability, EmptyResult,
    ErrorObject, Notification, PaginatedRequestParams, Request, RequestId, Response, Version,
};
use serde_json::{Value, json};

use super::parts::{needed_meta, note, notification_meta, object, request_meta, result_meta};
use crate::sample::Samples;

pub(super) fn add(s: &mut Samples) {
    for id in [
        RequestId::from(0),
        RequestId::from(i64::MIN),
        RequestId::from_raw("18446744073709551615").expect("an integer"),
        RequestId::from(""),
        RequestId::from("r-1"),
    ] {
        s.fits(&["RequestId", "ProgressToken"], &id);
    }
    s.value("Cursor", &String::new());
    s.value("Cursor", &"page-2".to_owned());
    errors(s);
    paginated(s);
    if s.version == V2025_03_26 {
        batches(s);
    }
    if s.modern() {
        objects(s);
        modern_errors(s);
        s.result("EmptyResult", &EmptyResult::new());
        s.result(
            "EmptyResult",
            &EmptyResult::new().meta(result_meta(s.version)),
        );
    }
}

fn errors(s: &mut Samples) {
    let data = json!({"berth": "B12", "tries": [1, 2.5, null]});
    let full = ErrorObject::internal("The office is closed").with_data(data);
    for error in [ErrorObject::method_not_found("harbor/close"), full] {
        if s.since(V2025_11_25) {
            s.value("Error", &error);
            s.error("", None, error.clone());
        }
        let id = s.id();
        s.error("", Some(id), error);
    }
    let null = ErrorObject::invalid_params("No").with_data(Value::Null);
    s.error("", Some(RequestId::from("r-1")), null);
}

/// Any request with a cursor, whatever its method.
fn paginated(s: &mut Samples) {
    let mut bare = PaginatedRequestParams::new();
    bare.meta = needed_meta(s.version);
    let full = PaginatedRequestParams::new()
        .cursor("page-2")
        .meta(request_meta(s.version));
    for params in [bare, full] {
        let request = Request::new(s.id(), "harbor/ships", params);
        s.value("PaginatedRequest", &request);
    }
}

fn batches(s: &mut Samples) {
    let both = ["JSONRPCBatchRequest", "JSONRPCMessage"];
    let list = |id: i64| Request::new(id, "tools/list", PaginatedRequestParams::new());
    s.fits(&both, &vec![list(1), list(2)]);
    let cancelled = CancelledNotificationParams::new(1);
    s.fits(
        &both,
        &vec![Notification::new("notifications/cancelled", cancelled)],
    );

    let both = ["JSONRPCBatchResponse", "JSONRPCMessage"];
    let result = Response::Result {
        id: RequestId::from(1),
        result: EmptyResult::new(),
    };
    let error = Response::Error {
        id: Some(RequestId::from(2)),
        error: ErrorObject::method_not_found("harbor/close"),
    };
    s.fits(&both, &vec![result, error]);
}

/// Plain JSON and metadata. The schema's JSON has neither fractions nor null.
fn objects(s: &mut Samples) {
    let version = s.version;
    let json = json!({"text": "", "number": 1, "yes": true, "list": [1, {}, []]});
    s.fits(&["JSONObject", "JSONValue"], &object(json));
    s.fits(
        &["JSONArray", "JSONValue"],
        &vec![json!("a"), json!(1), json!({"b": []})],
    );
    s.value("JSONValue", &json!("text"));
    s.value("MetaObject", &object(json!({})));
    s.value("MetaObject", &note());
    s.value("RequestMetaObject", &needed_meta(version));
    s.value("RequestMetaObject", &request_meta(version));
    s.value("ResultMetaObject", &object(json!({})));
    s.value("ResultMetaObject", &result_meta(version));
    s.value("NotificationMetaObject", &object(json!({})));
    s.value("NotificationMetaObject", &notification_meta(version));
    for kind in ["complete", "input_required"] {
        s.value("ResultType", &kind.to_owned());
    }
}

fn modern_errors(s: &mut Samples) {
    for (definition, error) in [
        ("ParseError", ErrorObject::parse_error("Not JSON")),
        (
            "InvalidRequestError",
            ErrorObject::invalid_request("No method"),
        ),
        (
            "MethodNotFoundError",
            ErrorObject::method_not_found("harbor/close"),
        ),
        ("InvalidParamsError", ErrorObject::invalid_params("No name")),
        (
            "InvalidParamsError",
            ErrorObject::resource_not_found("tide://oslo/never"),
        ),
        (
            "InternalError",
            ErrorObject::internal("The office is closed"),
        ),
    ] {
        s.value(definition, &error);
        s.value(definition, &error.with_data(json!({"berth": 12.5})));
    }
    let mismatch = ErrorObject::header_mismatch("Mcp-Name is not the tool");
    let missing = ClientCapabilities::new().elicitation(ElicitationCapability::new().form().url());
    for (definition, error) in [
        ("HeaderMismatchError", mismatch.clone()),
        (
            "HeaderMismatchError",
            mismatch.with_data(json!({"header": "Mcp-Name"})),
        ),
        (
            "MissingRequiredClientCapabilityError",
            ErrorObject::missing_capabilities(missing),
        ),
        (
            "UnsupportedProtocolVersionError",
            ErrorObject::unsupported_version("2031-01-01", &[V2026_07_28, V2025_11_25]),
        ),
        (
            "UnsupportedProtocolVersionError",
            ErrorObject::unsupported_version("", Version::MODERN),
        ),
    ] {
        let id = s.id();
        s.error(definition, None, error.clone());
        s.error(definition, Some(id), error);
    }
}
