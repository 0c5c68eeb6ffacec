//! `_meta` objects, their reserved keys, and params that hold little else.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A `_meta` object, keys in the order they came.
pub type MetaObject = Map<String, Value>;

/// Request: the protocol revision it is written in.
pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// Request: what the client can do.
pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// Request: who the client is.
pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
/// Request: least severe log level to send.
pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
/// Request: token that progress notifications repeat.
pub const PROGRESS_TOKEN: &str = "progressToken";
/// Result: who the server is.
pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
/// Notification and listen result: id of the listen request they belong to.
pub const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
/// Revision 2025-11-25: the task a message belongs to.
pub const RELATED_TASK: &str = "io.modelcontextprotocol/related-task";
/// W3C trace context: parent.
pub const TRACEPARENT: &str = "traceparent";
/// W3C trace context: vendor state.
pub const TRACESTATE: &str = "tracestate";
/// W3C baggage.
pub const BAGGAGE: &str = "baggage";

/// Params of a request that has no others.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RequestParams {
    /// Metadata of the request.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl RequestParams {
    /// Params without metadata.
    pub fn new() -> Self {
        Self::default()
    }
}

setters!(RequestParams { plain { meta: MetaObject } });

/// Params of the list requests.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PaginatedRequestParams {
    /// Where to go on; absent for the first page. An empty string is a cursor too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// Metadata of the request.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl PaginatedRequestParams {
    /// Asks for the first page.
    pub fn new() -> Self {
        Self::default()
    }
}

setters!(PaginatedRequestParams {
    into { cursor: String }
    plain { meta: MetaObject }
});
