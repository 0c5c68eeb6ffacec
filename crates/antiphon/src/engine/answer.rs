//! What goes back: results through the capability gate, errors with codes of this era, each
//! written once.

use antiphon_core::{negotiate::Fault, question::Kind, write};
use antiphon_types::{
    ElicitRequestParams, ErrorObject, InputRequest, InputRequired, MetaObject, Version, code,
};
use serde::Serialize;
use serde_json::value::RawValue;

use super::{endpoint::Inner, glimpse::Glimpse};
use crate::{
    auth::scopes,
    raw::{Call, Observed, Outgoing, Rendered, Reply},
};

/// What goes back.
#[derive(Debug)]
pub(crate) enum Answer {
    /// One JSON-RPC message, and the status it has where there is one to send.
    Message {
        #[cfg_attr(
            not(feature = "http"),
            expect(dead_code, reason = "only HTTP has statuses")
        )]
        status: u16,
        json: Vec<u8>,
    },
    /// The answer to `initialize`, and what the session is called that it opened.
    #[cfg(feature = "http")]
    Opened {
        json: Vec<u8>,
        session: http::HeaderValue,
    },
    /// A notification was taken.
    Accepted,
    /// There is nothing to say.
    Nothing,
}

impl Answer {
    pub(crate) fn error(id: Option<&str>, status: u16, error: &ErrorObject) -> Self {
        let mut json = Vec::with_capacity(160);
        write::error(&mut json, id, error);
        Self::Message { status, json }
    }

    pub(super) fn fault(id: Option<&str>, fault: &Fault) -> Self {
        Self::error(id, fault.status, &fault.error)
    }
}

/// Writes the result of one call.
pub(super) struct Writer<'a, 'o> {
    pub(super) endpoint: &'a Inner,
    pub(super) call: &'a Call<'a>,
    pub(super) out: &'o mut Vec<u8>,
}

impl Writer<'_, '_> {
    pub(super) fn reply<T: Outgoing>(&mut self, reply: Reply<T>) -> Result<Observed, ErrorObject> {
        let failed = match reply {
            Reply::Complete(mut result) => {
                let meta = result.prepare();
                self.out.reserve(result.size_hint() + 256);
                let identity = self.endpoint.identity.as_deref().map(RawValue::get);
                let write = |out: &mut Vec<u8>| result.write(out);
                write::result_with(
                    self.out,
                    self.call.id,
                    "complete",
                    write,
                    meta.as_ref(),
                    identity,
                )
                .map_err(|error| self.unwritable(&error))?;
                result.is_error()
            }
            Reply::Rendered(rendered) => {
                self.rendered(&rendered)?;
                rendered.is_error
            }
            Reply::InputRequired(mut input) => {
                gate(self.call, &input)?;
                let meta = input.take_meta();
                let identity = self.endpoint.identity.as_deref().map(RawValue::get);
                self.out.reserve(384 + input.state().map_or(0, str::len));
                let id = self.call.id;
                write::input_required(self.out, id, &input, meta.as_ref(), identity)
                    .map_err(|error| self.unwritable(&error))?;
                return Ok(Observed::InputRequired);
            }
        };
        Ok(match failed {
            true => Observed::ToolError,
            false => Observed::Complete,
        })
    }

    pub(super) fn complete(
        &mut self,
        result: &impl Serialize,
        meta: Option<&MetaObject>,
    ) -> Result<(), ErrorObject> {
        let identity = self.endpoint.identity.as_deref().map(RawValue::get);
        self.out.reserve(384);
        write::result(self.out, self.call.id, "complete", result, meta, identity)
            .map_err(|error| self.unwritable(&error))
    }

    /// A result that brings its own `_meta`.
    pub(super) fn whole(&mut self, result: &impl Serialize) -> Result<(), ErrorObject> {
        write::result(self.out, self.call.id, "complete", result, None, None)
            .map_err(|error| self.unwritable(&error))
    }

    pub(super) fn rendered<T>(&mut self, rendered: &Rendered<T>) -> Result<(), ErrorObject> {
        let identity = self.endpoint.identity.as_deref().map(RawValue::get);
        self.out.reserve(rendered.json.len() + 256);
        let meta = rendered.meta.as_ref();
        let kind = rendered.result_type.as_deref().unwrap_or("complete");
        if !may_name_a_result(kind) {
            tracing::error!(self.call.method, kind, "no result may be of this type");
            return Err(ErrorObject::internal("Internal error"));
        }
        write::rendered(self.out, self.call.id, kind, &rendered.json, meta, identity)
            .map_err(|error| self.unwritable(&error))
    }

    fn unwritable(&self, error: &serde_json::Error) -> ErrorObject {
        tracing::error!(method = self.call.method, %error, "a result does not serialise");
        ErrorObject::internal("Internal error")
    }
}

/// Whether a written result may be of this type: never questions, which have a way of their own
/// (MRTR-S-03), and nothing that would need escaping.
fn may_name_a_result(kind: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./".contains(&byte);
    kind != "input_required" && kind.bytes().all(plain)
}

/// Nothing is asked that this request's client cannot answer (MRTR-S-20 to MRTR-S-23).
pub(crate) fn gate(call: &Call<'_>, input: &InputRequired) -> Result<(), ErrorObject> {
    if let Some(key) = input.duplicate_key() {
        tracing::error!(method = call.method, key, "two questions under one key");
        let error = format!("Internal error: two questions under the key `{key}`");
        return Err(ErrorObject::internal(error));
    }
    for (key, request) in input.requests() {
        if let InputRequest::Other { method, .. } = request {
            tracing::error!(call.method, key, method, "no client can be asked this");
            let error = format!("Internal error: `{key}` is no question a client knows");
            return Err(ErrorObject::internal(error));
        }
    }
    if is_seen_to_cover(call, input) {
        return Ok(());
    }
    match call.capabilities()?.missing(&input.required_capabilities()) {
        None => Ok(()),
        Some(missing) => Err(ErrorObject::missing_capabilities(missing)),
    }
}

/// Whether a glimpse at what the client declares is enough to see that it can answer. If not, all of
/// it is read, to tell what is missing.
fn is_seen_to_cover(call: &Call<'_>, input: &InputRequired) -> bool {
    let declared = call.meta.client_capabilities.map(RawValue::get);
    let Some(glimpse) = declared.and_then(Glimpse::of) else {
        return false;
    };
    input.requests().all(|(_, request)| match request {
        InputRequest::Elicit(ElicitRequestParams::Form(_)) => glimpse.form,
        InputRequest::Elicit(ElicitRequestParams::Url(_)) => glimpse.url,
        _ => false,
    })
}

/// That links must be opened first is told only to clients that know what to do about it: those of
/// 2025-11-25 that open links (LFEAT-S-08, ERR-S-01). To all others it is an internal error.
pub(crate) fn links_first(error: ErrorObject, call: &Call<'_>) -> ErrorObject {
    let opens = || {
        let declared = call.capabilities();
        call.version == Version::V2025_11_25
            && declared.is_ok_and(|declared| Kind::Url.is_declared(declared))
    };
    if error.code != code::URL_ELICITATION_REQUIRED || opens() {
        return error;
    }
    tracing::warn!(
        call.method,
        version = call.version.as_str(),
        "a handler wants links to be opened, and this client cannot be told: ask with `Ask::url`"
    );
    ErrorObject::internal(format!(
        "{} (links must be opened for this, and only a client of revision 2025-11-25 that \
         declares `elicitation.url` can be told which)",
        error.message
    ))
}

/// Keeps handlers to the codes of this era (ERR-S-01, ERR-B-04).
pub(super) fn legal(mut error: ErrorObject, method: &str) -> ErrorObject {
    match error.code {
        code::RESOURCE_NOT_FOUND => error.code = code::INVALID_PARAMS,
        code::HEADER_MISMATCH | code::MISSING_CLIENT_CAPABILITY | code::UNSUPPORTED_VERSION => {}
        reserved @ -32099..=-32000 => {
            tracing::error!(
                method,
                code = reserved,
                "a handler used a reserved error code"
            );
            error.code = code::INTERNAL_ERROR;
        }
        _ => {}
    }
    error
}

/// The statuses the protocol fixes; everything else a handler says travels with `200` (AMB-03).
pub(super) fn status(error: &ErrorObject, call: &Call<'_>) -> u16 {
    match error.code {
        _ if lacks_scopes(error, call) => 403,
        code::METHOD_NOT_FOUND => 404,
        code::HEADER_MISMATCH | code::MISSING_CLIENT_CAPABILITY | code::UNSUPPORTED_VERSION => 400,
        _ => 200,
    }
}

/// Whether an error says that the caller lacks scopes, and the call says so too (AUTH-S-13). One that
/// was passed on from elsewhere says nothing about this server's tokens.
pub(crate) fn lacks_scopes(error: &ErrorObject, call: &Call<'_>) -> bool {
    scopes::is_insufficient(error) && call.outbox.demanded().is_some()
}
