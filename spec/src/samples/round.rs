//! Rounds, which only modern revisions have: results that ask, and answers.

use std::collections::BTreeMap;

use antiphon_types::{
    CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams, ElicitResult, FormSchema,
    InputRequest, InputRequired, ListRootsRequestParams, ListRootsResult, Root, StringSchema,
};
use serde_json::{Map, Value, json};

use super::parts::{note, object, result_meta};
use crate::sample::Samples;

pub(super) fn add(s: &mut Samples) {
    s.value("InputRequests", &BTreeMap::<String, InputRequest>::new());
    let all: BTreeMap<_, _> = questions().into_iter().collect();
    s.value("InputRequests", &all);
    let later = InputRequest::Other {
        method: "harbor/survey".to_owned(),
        params: Some(json!({"depth": 4.5})),
    };
    s.value("Request", &later);
    s.value("InputResponses", &Map::<String, Value>::new());
    s.value("InputResponses", &answers());

    s.asking(&InputRequired::later("sealed"));
    s.asking(&InputRequired::ask("roots", InputRequest::roots()));
    let [(key, first), rest @ ..] = questions();
    let full = rest
        .into_iter()
        .fold(InputRequired::ask(key, first), |all, (key, request)| {
            all.and(key, request)
        });
    let full = full.with_state("sealed").with_meta(result_meta(s.version));
    s.asking(&full);
}

/// A question of every kind.
fn questions() -> [(String, InputRequest); 5] {
    let form = FormSchema::new().required("ship", StringSchema::new());
    [
        (
            "form",
            ElicitRequestParams::form("Which ship?", form).into(),
        ),
        (
            "link",
            ElicitRequestParams::url("Sign in", "https://harbor.example/").into(),
        ),
        (
            "model",
            CreateMessageRequestParams::user("Name a ship.", 20).into(),
        ),
        ("roots", InputRequest::roots()),
        ("places", ListRootsRequestParams::new().meta(note()).into()),
    ]
    .map(|(key, request): (&str, InputRequest)| (key.to_owned(), request))
}

/// An answer of every kind.
pub(super) fn answers() -> Map<String, Value> {
    object(json!({
        "form": ElicitResult::accept(object(json!({"ship": "Aurora"}))),
        "link": ElicitResult::decline(),
        "model": CreateMessageResult::text("Aurora.", "small-1"),
        "roots": ListRootsResult::new(vec![Root::new("file:///harbor")]),
    }))
}
