//! From the bytes of one message to the bytes of its answer.
//!
//! The order of the checks is the protocol's (AMB-02): text, nesting, JSON, JSON-RPC shape,
//! version and metadata, mirrored headers, method, parameters; then the service runs. Whatever
//! it returns passes the capability gate and is written once.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use antiphon_core::{
    depth,
    envelope::{self, Message, Params, Shape, Slot},
    mirror::{self, Header},
    negotiate::{self, Fault, shown},
    write,
};
use antiphon_types::{
    CompleteRequestParams, ErrorObject, InputRequest, InputRequired, MetaObject, RequestId,
    Version, code, decode,
};
use bytes::Bytes;
use http::{HeaderMap, HeaderName, request::Parts};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{
    endpoint::{Endpoint, Inner, SERVED},
    inflight::InFlight,
    listen,
    outbox::Outbox,
    unwind::{self, Caught},
};
use crate::{
    auth::Principal,
    raw::{
        Answering, Call, CallTool, Complete, GetPrompt, Lazy, List, Outgoing, ReadResource,
        Rendered, Reply, Round, Service,
    },
};

/// One message, with what its transport knows of it.
pub(crate) struct Inbound {
    pub(crate) body: Bytes,
    pub(crate) http: Option<Parts>,
    pub(crate) principal: Option<Arc<Principal>>,
    /// The connection's running requests, where ids must be kept apart.
    pub(crate) in_flight: Option<Arc<InFlight>>,
}

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
    /// A notification was taken.
    Accepted,
    /// There is nothing to say.
    Nothing,
}

impl Answer {
    fn error(id: Option<&str>, status: u16, error: &ErrorObject) -> Self {
        let mut json = Vec::with_capacity(160);
        write::error(&mut json, id, error);
        Self::Message { status, json }
    }

    fn fault(id: Option<&str>, fault: &Fault) -> Self {
        Self::error(id, fault.status, &fault.error)
    }
}

/// Answers one message.
pub(crate) async fn answer(endpoint: Endpoint, inbound: Inbound, outbox: Arc<Outbox>) -> Answer {
    let endpoint = endpoint.inner();
    let Ok(text) = std::str::from_utf8(&inbound.body) else {
        let error = ErrorObject::parse_error("Parse error: the message is not UTF-8");
        return Answer::error(None, 400, &error);
    };
    if depth::exceeds(text, endpoint.limits.depth) {
        let text = format!(
            "The message nests deeper than {} levels",
            endpoint.limits.depth
        );
        return Answer::error(None, 400, &ErrorObject::invalid_request(text));
    }
    let message = match Message::parse(text) {
        Ok(message) => message,
        Err(unreadable) => {
            let why = unreadable.why;
            let error = match unreadable.is_json {
                true => ErrorObject::invalid_params(format!("Invalid params: {why}")),
                false => ErrorObject::parse_error(format!("Parse error: {why}")),
            };
            return Answer::error(unreadable.id, 400, &error);
        }
    };
    match message.shape() {
        Shape::Request => {}
        Shape::Notification => return notification(&message, &inbound),
        Shape::Response if outbox.is_on_lines() => {
            tracing::debug!("a response arrived although nothing was asked; ignored");
            return Answer::Nothing;
        }
        // BASE-C-06
        Shape::Response => {
            let error = "Invalid request: a client sends no responses in this era";
            return Answer::error(None, 400, &ErrorObject::invalid_request(error));
        }
        Shape::Batch => return invalid(&message, "a batch: send one message at a time"),
        Shape::Invalid(why) => return invalid(&message, why),
    }
    let id = message.id().unwrap_or("null");
    let headers = inbound.http.as_ref().map(|parts| &parts.headers);
    let (version, method) = match admit(&message, headers, endpoint) {
        Ok(admitted) => admitted,
        Err(fault) => return Answer::fault(Some(id), &fault),
    };
    let _entered = match enter(&inbound, id, &outbox) {
        Ok(entered) => entered,
        Err(error) => return Answer::error(Some(id), 400, &error),
    };
    let Some(_place) = endpoint.admit_call() else {
        tracing::warn!(
            limit = endpoint.limits.calls,
            "refused: too many calls; see Limits::calls"
        );
        let error = ErrorObject::internal("The server is at its limit of running calls; try again");
        return Answer::error(Some(id), 503, &error);
    };
    let call = match call(&message, version, id, &inbound, endpoint, &outbox) {
        Ok(call) => call,
        Err(error) => return Answer::error(Some(id), 200, &error),
    };
    let mut json = Vec::new();
    match run(endpoint, method, &call, &message, text, &mut json).await {
        Ok(()) => Answer::Message { status: 200, json },
        Err(error) => {
            let error = legal(error, call.method);
            Answer::error(Some(id), status(error.code), &error)
        }
    }
}

fn invalid(message: &Message<'_>, why: &str) -> Answer {
    let error = ErrorObject::invalid_request(format!("Invalid request: {why}"));
    Answer::error(message.id(), 400, &error)
}

/// The modern methods.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Method {
    Discover,
    ListTools,
    CallTool,
    ListPrompts,
    GetPrompt,
    ListResources,
    ListResourceTemplates,
    ReadResource,
    Complete,
    Listen,
    Other,
}

impl Method {
    /// The method, and whether its feature is on offer (DISC-S-05).
    fn of(name: &str, endpoint: &Inner) -> (Self, bool) {
        let offered = &endpoint.capabilities;
        match name {
            "tools/call" => (Self::CallTool, offered.tools.is_some()),
            "tools/list" => (Self::ListTools, offered.tools.is_some()),
            "server/discover" => (Self::Discover, true),
            "prompts/list" => (Self::ListPrompts, offered.prompts.is_some()),
            "prompts/get" => (Self::GetPrompt, offered.prompts.is_some()),
            "resources/list" => (Self::ListResources, offered.resources.is_some()),
            "resources/templates/list" => {
                (Self::ListResourceTemplates, offered.resources.is_some())
            }
            "resources/read" => (Self::ReadResource, offered.resources.is_some()),
            "completion/complete" => (Self::Complete, offered.completions.is_some()),
            // AMB-14: always there, if only to acknowledge nothing.
            "subscriptions/listen" => (Self::Listen, true),
            // Gone with the older revisions; no extension may bring them back.
            "initialize"
            | "ping"
            | "logging/setLevel"
            | "resources/subscribe"
            | "resources/unsubscribe" => (Self::Other, false),
            _ => (Self::Other, offered.extensions.is_some()),
        }
    }

    /// The parameter that `Mcp-Name` mirrors (HDR-C-04).
    fn named<'m>(self, params: &'m Params<'_>) -> Option<&'m Slot<'m>> {
        match self {
            Self::CallTool | Self::GetPrompt => Some(&params.name),
            Self::ReadResource => Some(&params.uri),
            _ => None,
        }
    }
}

const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const MCP_METHOD: HeaderName = HeaderName::from_static("mcp-method");
const MCP_NAME: HeaderName = HeaderName::from_static("mcp-name");

/// What a mirrored header says; a repeated one is malformed, since two readers could differ.
fn header<'h>(headers: Option<&'h HeaderMap>, name: &HeaderName) -> Header<'h> {
    let Some(headers) = headers else {
        return Header::None;
    };
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Header::Absent,
        (Some(value), None) => value.to_str().map_or(Header::Malformed, Header::Value),
        _ => Header::Malformed,
    }
}

/// AMB-02, steps 1 to 7.
fn admit(
    message: &Message<'_>,
    headers: Option<&HeaderMap>,
    endpoint: &Inner,
) -> Result<(Version, Method), Fault> {
    let version = negotiate::admit(message, header(headers, &PROTOCOL_VERSION), SERVED)?;
    let name = message.method();
    check_method(header(headers, &MCP_METHOD), name)?;
    let (method, offered) = Method::of(name, endpoint);
    if let Some(Slot::Text(named)) = method.named(&message.params) {
        check_name(header(headers, &MCP_NAME), named)?;
    }
    match offered {
        true => Ok((version, method)),
        false => Err(Fault::not_found(name)),
    }
}

/// HDR-S-18 to HDR-S-20: the method is compared letter for letter.
fn check_method(header: Header<'_>, body: &str) -> Result<(), Fault> {
    let why = match header {
        Header::None => return Ok(()),
        Header::Value(value) if value.trim_matches([' ', '\t']) == body => return Ok(()),
        Header::Value(value) => {
            format!(
                "Mcp-Method is `{}` but the body says `{}`",
                shown(value),
                shown(body)
            )
        }
        Header::Absent => "Mcp-Method is missing".to_owned(),
        Header::Malformed => "Mcp-Method is malformed or stands more than once".to_owned(),
    };
    Err(Fault::bad_request(ErrorObject::header_mismatch(why)))
}

/// HDR-S-13: a name may travel encoded.
fn check_name(header: Header<'_>, body: &str) -> Result<(), Fault> {
    let why = match header {
        Header::None => return Ok(()),
        Header::Value(value) if value == body && !value.starts_with("=?") => return Ok(()),
        Header::Value(value) => match mirror::decode(value) {
            Ok(value) if value == body => return Ok(()),
            Ok(value) => {
                format!(
                    "Mcp-Name is `{}` but the body says `{}`",
                    shown(&value),
                    shown(body)
                )
            }
            Err(undecodable) => format!("Mcp-Name: {undecodable}"),
        },
        Header::Absent => "Mcp-Name is missing".to_owned(),
        Header::Malformed => "Mcp-Name is malformed or stands more than once".to_owned(),
    };
    Err(Fault::bad_request(ErrorObject::header_mismatch(why)))
}

/// Takes the request's id, where ids share a connection.
fn enter(
    inbound: &Inbound,
    id: &str,
    outbox: &Arc<Outbox>,
) -> Result<Option<super::inflight::Entered>, ErrorObject> {
    let Some(in_flight) = &inbound.in_flight else {
        return Ok(None);
    };
    let id = RequestId::from_raw(id)
        .ok_or_else(|| ErrorObject::invalid_request("Invalid request: `id` cannot be read"))?;
    match in_flight.enter(id, outbox) {
        Some(entered) => Ok(Some(entered)),
        None => Err(ErrorObject::invalid_request(
            "Invalid request: a request with this `id` is still running",
        )),
    }
}

/// What the handler sees, once the rest of the metadata is known to be right.
fn call<'a>(
    message: &'a Message<'a>,
    version: Version,
    id: &'a str,
    inbound: &'a Inbound,
    endpoint: &Inner,
    outbox: &'a Arc<Outbox>,
) -> Result<Call<'a>, ErrorObject> {
    let params = &message.params;
    let meta = &params.meta;
    if let Some(name) = params.repeated {
        let error = format!("`{name}` stands twice in `params`");
        return Err(ErrorObject::invalid_params(error));
    }
    let progress_token = match meta.progress_token.map(RawValue::get) {
        None => None,
        Some(raw) => Some(RequestId::from_raw(raw).ok_or_else(|| {
            ErrorObject::invalid_params("`progressToken` must be a string or an integer")
        })?),
    };
    let log_level = match &meta.log_level {
        Slot::Absent => None,
        // LOG-S-05
        level => Some(level.as_str().and_then(|level| level.parse().ok()).ok_or_else(|| {
            ErrorObject::invalid_params(
                "`io.modelcontextprotocol/logLevel` must be one of debug, info, notice, warning, \
                 error, critical, alert, emergency",
            )
        })?),
    };
    Ok(Call {
        id,
        method: message.method(),
        version,
        meta,
        principal: inbound.principal.as_deref(),
        http: inbound.http.as_ref(),
        outbox,
        // LOG-S-01
        log_level: log_level.filter(|_| endpoint.capabilities.logging.is_some()),
        progress_token,
        lazy: Lazy::default(),
    })
}

/// Runs the method and writes its result.
async fn run<'a>(
    endpoint: &'a Inner,
    method: Method,
    call: &'a Call<'a>,
    message: &'a Message<'a>,
    text: &'a str,
    out: &mut Vec<u8>,
) -> Result<(), ErrorObject> {
    let service = &*endpoint.service;
    let params = &message.params;
    let mut answer = Writer {
        endpoint,
        call,
        out,
    };
    match method {
        Method::CallTool => {
            let tool = CallTool {
                name: text_of("name", &params.name)?,
                arguments: object_of("arguments", params.arguments)?,
                round: round(params)?,
            };
            if let Some(headers) = call.headers() {
                check_params(service, call, &tool, headers)?;
            }
            answer.reply(guarded(call, || service.call_tool(call, tool)).await?)
        }
        Method::ListTools => {
            let list = list(params)?;
            answer.rendered(&guarded(call, || service.list_tools(call, list)).await?)
        }
        Method::Discover => answer.rendered(&endpoint.discover),
        Method::ListPrompts => {
            let list = list(params)?;
            answer.rendered(&guarded(call, || service.list_prompts(call, list)).await?)
        }
        Method::GetPrompt => {
            let prompt = GetPrompt {
                name: text_of("name", &params.name)?,
                arguments: object_of("arguments", params.arguments)?,
                round: round(params)?,
            };
            answer.reply(guarded(call, || service.get_prompt(call, prompt)).await?)
        }
        Method::ListResources => {
            let list = list(params)?;
            answer.rendered(&guarded(call, || service.list_resources(call, list)).await?)
        }
        Method::ListResourceTemplates => {
            let list = list(params)?;
            answer.rendered(&guarded(call, || service.list_resource_templates(call, list)).await?)
        }
        Method::ReadResource => {
            let resource = ReadResource {
                uri: text_of("uri", &params.uri)?,
                round: round(params)?,
            };
            answer.reply(guarded(call, || service.read_resource(call, resource)).await?)
        }
        Method::Complete => {
            let completion = completion(params)?;
            let mut result = guarded(call, || service.complete(call, completion)).await?;
            // COMP-S-02
            if result.completion.values.len() > 100 {
                result.completion.values.truncate(100);
                result.completion.has_more = Some(true);
            }
            let meta = result.prepare();
            answer.complete(&result, meta.as_ref())
        }
        Method::Listen => {
            let closing = listen::run(endpoint, call, params).await?;
            answer.whole(&closing)
        }
        Method::Other => {
            let params = envelope::raw_params(text);
            answer.rendered(&guarded(call, || service.other(call, params)).await?)
        }
    }
}

/// Compares the headers that mirror arguments (HDR-S-17).
fn check_params(
    service: &dyn Service,
    call: &Call<'_>,
    tool: &CallTool<'_>,
    headers: &HeaderMap,
) -> Result<(), ErrorObject> {
    let asked = AssertUnwindSafe(|| service.header_params(call, tool.name));
    let params = match catch_unwind(asked) {
        Ok(Some(params)) => params,
        Ok(None) => return Ok(()),
        Err(panic) => return Err(panicked(call, &unwind::text(&*panic))),
    };
    let mirrored = |name: &str| match HeaderName::from_bytes(name.as_bytes()) {
        Ok(name) => header(Some(headers), &name),
        Err(_) => Header::Absent,
    };
    params
        .check(tool.arguments, mirrored)
        .map_err(ErrorObject::header_mismatch)
}

/// Whether a written result may be of this type: never questions, which have a way of their own
/// (MRTR-S-03), and nothing that would need escaping.
fn may_name_a_result(kind: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./".contains(&byte);
    kind != "input_required" && kind.bytes().all(plain)
}

/// Runs one method of the service; a panic is an internal error.
pub(crate) async fn guarded<'a, T>(
    call: &Call<'_>,
    start: impl FnOnce() -> Answering<'a, T>,
) -> Result<T, ErrorObject> {
    let outcome = match catch_unwind(AssertUnwindSafe(start)) {
        Ok(future) => Caught(future).await,
        Err(panic) => Err(unwind::text(&*panic)),
    };
    outcome.unwrap_or_else(|panic| Err(panicked(call, &panic)))
}

fn panicked(call: &Call<'_>, panic: &str) -> ErrorObject {
    tracing::error!(method = call.method, panic, "a handler panicked");
    ErrorObject::internal("Internal error")
}

// ---- parameters ----

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

fn round<'a>(params: &'a Params<'_>) -> Result<Round<'a>, ErrorObject> {
    Ok(Round {
        responses: object_of("inputResponses", params.input_responses)?,
        state: optional_text_of("requestState", &params.request_state)?,
    })
}

fn list<'a>(params: &'a Params<'_>) -> Result<List<'a>, ErrorObject> {
    let cursor = optional_text_of("cursor", &params.cursor)?;
    Ok(List { cursor })
}

fn completion(params: &Params<'_>) -> Result<Complete, ErrorObject> {
    let invalid = |name: &str, why: &str| ErrorObject::invalid_params(format!("`{name}`: {why}"));
    let (Some(reference), Some(argument)) = (params.reference, params.argument) else {
        let missing = if params.reference.is_none() {
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
    if let Some(context) = object_of("context", params.context)? {
        let context = read(context).map_err(|error| invalid("context", &error))?;
        completion.context = Some(context);
    }
    Ok(completion)
}

fn read<'a, T: Deserialize<'a>>(raw: &'a RawValue) -> Result<T, String> {
    decode(raw.get()).map_err(|error| error.to_string())
}

// ---- answers ----

struct Writer<'a, 'o> {
    endpoint: &'a Inner,
    call: &'a Call<'a>,
    out: &'o mut Vec<u8>,
}

impl Writer<'_, '_> {
    fn reply<T: Outgoing>(&mut self, reply: Reply<T>) -> Result<(), ErrorObject> {
        match reply {
            Reply::Complete(mut result) => {
                let meta = result.prepare();
                self.complete(&result, meta.as_ref())
            }
            Reply::Rendered(rendered) => self.rendered(&rendered),
            Reply::InputRequired(mut input) => {
                gate(self.call, &input)?;
                let meta = input.take_meta();
                self.write("input_required", &input, meta.as_ref())
            }
        }
    }

    fn complete(
        &mut self,
        result: &impl Serialize,
        meta: Option<&MetaObject>,
    ) -> Result<(), ErrorObject> {
        self.write("complete", result, meta)
    }

    fn write(
        &mut self,
        kind: &str,
        result: &impl Serialize,
        meta: Option<&MetaObject>,
    ) -> Result<(), ErrorObject> {
        let identity = self.endpoint.identity.as_deref().map(RawValue::get);
        self.out.reserve(384);
        write::result(self.out, self.call.id, kind, result, meta, identity)
            .map_err(|error| self.unwritable(&error))
    }

    /// A result that brings its own `_meta`.
    fn whole(&mut self, result: &impl Serialize) -> Result<(), ErrorObject> {
        write::result(self.out, self.call.id, "complete", result, None, None)
            .map_err(|error| self.unwritable(&error))
    }

    fn rendered<T>(&mut self, rendered: &Rendered<T>) -> Result<(), ErrorObject> {
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

/// Nothing is asked that this request's client cannot answer (MRTR-S-20 to MRTR-S-23).
fn gate(call: &Call<'_>, input: &InputRequired) -> Result<(), ErrorObject> {
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
    match call.capabilities()?.missing(&input.required_capabilities()) {
        None => Ok(()),
        Some(missing) => Err(ErrorObject::missing_capabilities(missing)),
    }
}

/// Keeps handlers to the codes of this era (ERR-S-01, ERR-B-04).
fn legal(mut error: ErrorObject, method: &str) -> ErrorObject {
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
fn status(code: i64) -> u16 {
    match code {
        code::METHOD_NOT_FOUND => 404,
        code::HEADER_MISMATCH | code::MISSING_CLIENT_CAPABILITY | code::UNSUPPORTED_VERSION => 400,
        _ => 200,
    }
}

/// Takes a notification. Only one means anything here: a cancellation on a shared connection.
fn notification(message: &Message<'_>, inbound: &Inbound) -> Answer {
    let Some(in_flight) = &inbound.in_flight else {
        return http_notification(message, inbound);
    };
    if message.method() == "notifications/cancelled" {
        let reason = message.params.reason.as_str().unwrap_or_default();
        let id = message
            .params
            .request_id
            .and_then(|raw| RequestId::from_raw(raw.get()));
        match id {
            Some(id) if in_flight.cancel(&id) => tracing::debug!(%id, reason, "cancelled"),
            _ => tracing::debug!(reason, "a cancellation of nothing that runs; ignored"),
        }
    }
    Answer::Nothing
}

/// HTTP-S-07, HTTP-S-08: there is nothing to do for one, but a muddled one is refused.
fn http_notification(message: &Message<'_>, inbound: &Inbound) -> Answer {
    let headers = inbound.http.as_ref().map(|parts| &parts.headers);
    let served = |text: &str| SERVED.iter().any(|version| version.as_str() == text);
    let version = message.params.meta.version.as_str();
    let fault = match (header(headers, &PROTOCOL_VERSION), version) {
        (Header::Value(header), Some(body)) if header != body => Some(Fault::bad_request(
            ErrorObject::header_mismatch("MCP-Protocol-Version differs from the body"),
        )),
        (Header::Value(version), _) if !served(version) => {
            let error = ErrorObject::unsupported_version(version, SERVED);
            Some(Fault::bad_request(error))
        }
        (Header::Value(_) | Header::None, _) => None,
        (Header::Absent | Header::Malformed, _) => Some(Fault::bad_request(
            ErrorObject::header_mismatch("MCP-Protocol-Version is missing or malformed"),
        )),
    };
    let fault = fault.or_else(|| match header(headers, &MCP_METHOD) {
        Header::Absent | Header::None => None,
        method => check_method(method, message.method()).err(),
    });
    match fault {
        Some(fault) => Answer::fault(None, &fault),
        None => Answer::Accepted,
    }
}
