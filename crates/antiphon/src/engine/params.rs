//! Parameters as the methods want them, or the error that says what is wrong with them.

use antiphon_core::{
    envelope::{Params, Slot},
    negotiate::shown,
    seal::refusal::Refusal,
};
use antiphon_types::{CompleteRequestParams, ErrorObject, decode};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::raw::{CallTool, Complete, GetPrompt, List, ReadResource, Round};

pub(crate) fn call_tool<'a>(params: &'a Params<'_>) -> Result<CallTool<'a>, ErrorObject> {
    let name = text_of("name", &params.name)?;
    Ok(CallTool {
        name,
        arguments: object_of("arguments", params.arguments)?,
        round: round(params, "tools/call", name)?,
    })
}

pub(crate) fn get_prompt<'a>(params: &'a Params<'_>) -> Result<GetPrompt<'a>, ErrorObject> {
    let name = text_of("name", &params.name)?;
    Ok(GetPrompt {
        name,
        arguments: object_of("arguments", params.arguments)?,
        round: round(params, "prompts/get", name)?,
    })
}

pub(crate) fn read_resource<'a>(params: &'a Params<'_>) -> Result<ReadResource<'a>, ErrorObject> {
    let uri = text_of("uri", &params.uri)?;
    Ok(ReadResource {
        uri,
        round: round(params, "resources/read", uri)?,
    })
}

pub(crate) fn list<'a>(params: &'a Params<'_>) -> Result<List<'a>, ErrorObject> {
    let cursor = optional_text_of("cursor", &params.cursor)?;
    Ok(List { cursor })
}

pub(crate) fn completion(params: &Params<'_>) -> Result<Complete, ErrorObject> {
    let invalid = |name: &str, why: &str| ErrorObject::invalid_params(format!("`{name}`: {why}"));
    let asked = params.rare();
    let (Some(reference), Some(argument)) = (asked.reference, asked.argument) else {
        let missing = if asked.reference.is_none() {
            "ref"
        } else {
            "argument"
        };
        return Err(invalid(missing, "missing"));
    };
    let mut completion = CompleteRequestParams::new(
        read(reference).map_err(|error| invalid("ref", &error))?,
        read(argument).map_err(|error| invalid("argument", &error))?,
    );
    if let Some(context) = object_of("context", asked.context)? {
        let context = read(context).map_err(|error| invalid("context", &error))?;
        completion.context = Some(context);
    }
    Ok(completion)
}

/// `uri`, of the methods that take nothing else.
pub(crate) fn uri<'a>(params: &'a Params<'_>) -> Result<&'a str, ErrorObject> {
    text_of("uri", &params.uri)
}

fn text_of<'a>(name: &str, slot: &'a Slot<'_>) -> Result<&'a str, ErrorObject> {
    match slot {
        Slot::Text(text) => Ok(text),
        Slot::Absent => Err(ErrorObject::invalid_params(format!("`{name}` is missing"))),
        Slot::Null | Slot::Other => Err(ErrorObject::invalid_params(format!(
            "`{name}` must be a string"
        ))),
    }
}

fn optional_text_of<'a>(name: &str, slot: &'a Slot<'_>) -> Result<Option<&'a str>, ErrorObject> {
    match slot {
        Slot::Absent | Slot::Null => Ok(None),
        slot => text_of(name, slot).map(Some),
    }
}

fn object_of<'a>(
    name: &str,
    raw: Option<&'a RawValue>,
) -> Result<Option<&'a RawValue>, ErrorObject> {
    match raw.map(RawValue::get) {
        None | Some("null") => Ok(None),
        Some(text) if text.starts_with('{') => Ok(raw),
        Some(_) => Err(ErrorObject::invalid_params(format!(
            "`{name}` must be an object"
        ))),
    }
}

fn round<'a>(params: &'a Params<'_>, method: &str, target: &str) -> Result<Round<'a>, ErrorObject> {
    Ok(Round {
        responses: object_of("inputResponses", params.input_responses)?,
        // One that is no string is as bad as any other that we did not make.
        state: optional_text_of("requestState", &params.request_state).map_err(|_| {
            let (reason, target) = (Refusal::NotText.reason(), &*shown(target));
            tracing::warn!(reason, method, target, "a requestState was refused");
            ErrorObject::invalid_request_state()
        })?,
    })
}

fn read<'a, T: Deserialize<'a>>(raw: &'a RawValue) -> Result<T, String> {
    decode(raw.get()).map_err(|error| error.to_string())
}
