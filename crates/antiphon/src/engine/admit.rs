//! Whether a request is let in: version and metadata, mirrored headers, method (AMB-02).

use antiphon_core::{
    envelope::{Message, Params, Slot},
    mirror::{self, Header},
    negotiate::{self, Fault, shown},
};
use antiphon_types::{ErrorObject, ServerCapabilities, Version};
use http::{HeaderMap, HeaderName};

use super::{
    dispatch::panicked,
    endpoint::{Inner, SERVED},
    unwind,
};
use crate::raw::{Call, CallTool, Service};

/// The modern methods.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
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
    pub(crate) fn of(name: &str) -> Self {
        match name {
            "tools/call" => Self::CallTool,
            "tools/list" => Self::ListTools,
            "server/discover" => Self::Discover,
            "prompts/list" => Self::ListPrompts,
            "prompts/get" => Self::GetPrompt,
            "resources/list" => Self::ListResources,
            "resources/templates/list" => Self::ListResourceTemplates,
            "resources/read" => Self::ReadResource,
            "completion/complete" => Self::Complete,
            "subscriptions/listen" => Self::Listen,
            _ => Self::Other,
        }
    }

    /// Whether its feature is on offer (DISC-S-05).
    pub(crate) fn is_offered(self, name: &str, offered: &ServerCapabilities) -> bool {
        match self {
            Self::CallTool | Self::ListTools => offered.tools.is_some(),
            Self::ListPrompts | Self::GetPrompt => offered.prompts.is_some(),
            Self::ListResources | Self::ListResourceTemplates | Self::ReadResource => {
                offered.resources.is_some()
            }
            Self::Complete => offered.completions.is_some(),
            // AMB-14: always there, if only to acknowledge nothing.
            Self::Discover | Self::Listen => true,
            Self::Other => match name {
                // Gone with the older revisions; no extension may bring them back.
                "initialize"
                | "ping"
                | "logging/setLevel"
                | "resources/subscribe"
                | "resources/unsubscribe" => false,
                _ => offered.extensions.is_some(),
            },
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

/// What `MCP-Protocol-Version` says.
pub(crate) fn version_header(headers: Option<&HeaderMap>) -> Header<'_> {
    header(headers, &PROTOCOL_VERSION)
}

/// AMB-02, steps 1 to 7.
pub(super) fn request(
    message: &Message<'_>,
    headers: Option<&HeaderMap>,
    endpoint: &Inner,
) -> Result<(Version, Method), Fault> {
    let version = negotiate::admit(message, version_header(headers), SERVED)?;
    let name = message.method();
    check_method(header(headers, &MCP_METHOD), name)?;
    let method = Method::of(name);
    if let Some(Slot::Text(named)) = method.named(&message.params) {
        check_name(header(headers, &MCP_NAME), named)?;
    }
    match method.is_offered(name, &endpoint.capabilities) {
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

/// Compares the headers that mirror arguments (HDR-S-17).
pub(super) fn params(
    service: &dyn Service,
    call: &Call<'_>,
    tool: &CallTool<'_>,
    headers: &HeaderMap,
) -> Result<(), ErrorObject> {
    let params = match unwind::caught(|| service.header_params(call, tool.name)) {
        Ok(Some(params)) => params,
        Ok(None) => return Ok(()),
        Err(panic) => return Err(panicked(call, &panic)),
    };
    let mirrored = |name: &str| match HeaderName::from_bytes(name.as_bytes()) {
        Ok(name) => header(Some(headers), &name),
        Err(_) => Header::Absent,
    };
    params
        .check(tool.arguments, mirrored)
        .map_err(ErrorObject::header_mismatch)
}

/// HTTP-S-07, HTTP-S-08: there is nothing to do for one, but a muddled one is refused.
pub(super) fn notification(
    message: &Message<'_>,
    headers: Option<&HeaderMap>,
) -> Result<(), Fault> {
    let served = |text: &str| SERVED.iter().any(|version| version.as_str() == text);
    let version = message.params.meta.version.as_str();
    let fault = match (version_header(headers), version) {
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
    if let Some(fault) = fault {
        return Err(fault);
    }
    match header(headers, &MCP_METHOD) {
        Header::Absent | Header::None => Ok(()),
        method => check_method(method, message.method()),
    }
}
