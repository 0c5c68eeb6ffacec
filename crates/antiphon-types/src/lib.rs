//! Wire types of the Model Context Protocol: revision 2026-07-28, and what a
//! peer that also speaks the earlier revisions needs.
//!
//! Plain data and serde, nothing else. A result is decoded by the method that
//! was asked ([`decode_result`]), never by guessing from its fields. Whatever
//! else a peer sends should go through [`decode()`], which takes no list for an
//! object.

#[macro_use]
mod setter;

mod cache;
mod capabilities;
mod complete;
mod content;
mod decode;
mod discover;
mod elicit;
mod extra;
mod form;
mod implementation;
mod jsonrpc;
mod legacy;
mod listen;
pub mod meta;
pub mod method;
mod notification;
mod prompt;
mod resource;
mod roots;
mod round;
mod sample;
mod tagged;
mod tool;
mod version;

pub use cache::CacheScope;
pub use capabilities::{
    ClientCapabilities, ElicitationCapability, ListChangedCapability, ResourcesCapability,
    RootsCapability, SamplingCapability, ServerCapabilities,
};
pub use complete::{
    CompleteArgument, CompleteContext, CompleteRequestParams, CompleteResult, Completion, Reference,
};
pub use content::{
    Annotations, AudioContent, ContentBlock, EmbeddedResource, ImageContent, Role, TextContent,
};
pub use decode::{decode, decode_from};
pub use discover::DiscoverResult;
pub use elicit::{
    ElicitAction, ElicitRequestFormParams, ElicitRequestParams, ElicitRequestUrlParams,
    ElicitResult,
};
pub use form::{
    BooleanSchema, FormSchema, LegacyTitledEnumSchema, NumberKind, NumberSchema, PreparedForm,
    PrimitiveSchema, RequestedSchema, StringFormat, StringSchema, TitledMultiSelectEnumSchema,
    TitledOption, TitledSingleSelectEnumSchema, UntitledMultiSelectEnumSchema,
    UntitledSingleSelectEnumSchema,
};
pub use implementation::{Icon, IconTheme, Implementation};
pub use jsonrpc::{ErrorObject, Notification, ProgressToken, Request, RequestId, Response, code};
pub use legacy::{
    CancelTaskResult, CreateTaskResult, ElicitationCompleteNotificationParams, EmptyResult,
    GetTaskResult, InitializeRequestParams, InitializeResult, ListTasksResult, RelatedTaskMetadata,
    SetLevelRequestParams, SubscribeRequestParams, Task, TaskMetadata, TaskRequestParams,
    TaskStatus, TaskStatusNotificationParams, UnsubscribeRequestParams, UrlElicitationRequiredData,
};
pub use listen::{
    SubscriptionFilter, SubscriptionsAcknowledgedNotificationParams,
    SubscriptionsListenRequestParams, SubscriptionsListenResult,
};
pub use meta::{MetaObject, PaginatedRequestParams, RequestParams};
pub use method::{
    DecodeError, DecodeErrorKind, Method, Outcome, decode_result, decode_result_text,
};
pub use notification::{
    CancelledNotificationParams, LoggingLevel, LoggingMessageNotificationParams,
    NotificationParams, ProgressNotificationParams, ResourceUpdatedNotificationParams,
    UnknownLoggingLevel,
};
pub use prompt::{
    GetPromptRequestParams, GetPromptResult, ListPromptsResult, Prompt, PromptArgument,
    PromptMessage,
};
pub use resource::{
    BlobResourceContents, ListResourceTemplatesResult, ListResourcesResult,
    ReadResourceRequestParams, ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
    TextResourceContents,
};
pub use roots::{ListRootsRequestParams, ListRootsResult, Root};
pub use round::{InputRequest, InputRequired, Modern};
pub use sample::{
    CreateMessageRequestParams, CreateMessageResult, IncludeContext, ModelHint, ModelPreferences,
    OneOrMany, SamplingContent, SamplingMessage, ToolChoice, ToolChoiceMode, ToolResultContent,
    ToolUseContent,
};
pub use tool::{
    CallToolRequestParams, CallToolResult, ListToolsResult, TaskSupport, Tool, ToolAnnotations,
    ToolExecution,
};
pub use version::{UnknownVersion, Version};
