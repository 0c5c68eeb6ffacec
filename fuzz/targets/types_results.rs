//! Every wire type from any JSON: what is read, writes and reads the same.
#![no_main]

use std::fmt::Debug;

use antiphon_types::{
    Annotations, AudioContent, BlobResourceContents, BooleanSchema, CacheScope,
    CallToolRequestParams, CallToolResult, CancelledNotificationParams, ClientCapabilities,
    CompleteArgument, CompleteContext, CompleteRequestParams, CompleteResult, Completion,
    ContentBlock, CreateMessageRequestParams, CreateMessageResult, CreateTaskResult,
    DiscoverResult, ElicitAction, ElicitRequestFormParams, ElicitRequestParams,
    ElicitRequestUrlParams, ElicitResult, ElicitationCapability,
    ElicitationCompleteNotificationParams, EmbeddedResource, EmptyResult, ErrorObject, FormSchema,
    GetPromptRequestParams, GetPromptResult, Icon, IconTheme, ImageContent, Implementation,
    IncludeContext, InitializeRequestParams, InitializeResult, InputRequest, InputRequired,
    LegacyTitledEnumSchema, ListChangedCapability, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListRootsRequestParams, ListRootsResult, ListTasksResult, ListToolsResult,
    LoggingLevel, LoggingMessageNotificationParams, Method, ModelHint, ModelPreferences,
    Notification, NotificationParams, NumberKind, NumberSchema, OneOrMany, Outcome,
    PaginatedRequestParams, PrimitiveSchema, ProgressNotificationParams, Prompt, PromptArgument,
    PromptMessage, ReadResourceRequestParams, ReadResourceResult, Reference, RelatedTaskMetadata,
    Request, RequestId, RequestParams, Resource, ResourceContents, ResourceTemplate,
    ResourceUpdatedNotificationParams, ResourcesCapability, Response, Role, Root, RootsCapability,
    SamplingCapability, SamplingContent, SamplingMessage, ServerCapabilities,
    SetLevelRequestParams, StringFormat, StringSchema, SubscribeRequestParams, SubscriptionFilter,
    SubscriptionsAcknowledgedNotificationParams, SubscriptionsListenRequestParams,
    SubscriptionsListenResult, Task, TaskMetadata, TaskRequestParams, TaskStatus, TaskSupport,
    TextContent, TextResourceContents, TitledMultiSelectEnumSchema, TitledOption,
    TitledSingleSelectEnumSchema, Tool, ToolAnnotations, ToolChoice, ToolChoiceMode, ToolExecution,
    ToolResultContent, ToolUseContent, UnsubscribeRequestParams, UntitledMultiSelectEnumSchema,
    UntitledSingleSelectEnumSchema, UrlElicitationRequiredData, Version, decode, decode_result,
    method,
};
use libfuzzer_sys::fuzz_target;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, value::RawValue};

fuzz_target!(|text: &str| {
    let Ok(raw) = serde_json::from_str::<&RawValue>(text) else {
        return;
    };
    results(raw);
    messages(text);
    macro_rules! each {
        ($($type:ident),* $(,)?) => {$( again::<$type>(text); )*};
    }
    each!(
        Annotations,
        AudioContent,
        BlobResourceContents,
        BooleanSchema,
        CacheScope,
        CallToolRequestParams,
        CallToolResult,
        CancelledNotificationParams,
        ClientCapabilities,
        CompleteArgument,
        CompleteContext,
        CompleteRequestParams,
        CompleteResult,
        Completion,
        ContentBlock,
        CreateMessageRequestParams,
        CreateMessageResult,
        CreateTaskResult,
        DiscoverResult,
        ElicitAction,
        ElicitRequestFormParams,
        ElicitRequestParams,
        ElicitRequestUrlParams,
        ElicitResult,
        ElicitationCapability,
        ElicitationCompleteNotificationParams,
        EmbeddedResource,
        EmptyResult,
        ErrorObject,
        FormSchema,
        GetPromptRequestParams,
        GetPromptResult,
        Icon,
        IconTheme,
        ImageContent,
        Implementation,
        IncludeContext,
        InitializeRequestParams,
        InitializeResult,
        InputRequest,
        InputRequired,
        LegacyTitledEnumSchema,
        ListChangedCapability,
        ListPromptsResult,
        ListResourceTemplatesResult,
        ListResourcesResult,
        ListRootsRequestParams,
        ListRootsResult,
        ListTasksResult,
        ListToolsResult,
        LoggingLevel,
        LoggingMessageNotificationParams,
        ModelHint,
        ModelPreferences,
        NotificationParams,
        NumberKind,
        NumberSchema,
        PaginatedRequestParams,
        PrimitiveSchema,
        ProgressNotificationParams,
        Prompt,
        PromptArgument,
        PromptMessage,
        ReadResourceRequestParams,
        ReadResourceResult,
        Reference,
        RelatedTaskMetadata,
        RequestId,
        RequestParams,
        Resource,
        ResourceContents,
        ResourceTemplate,
        ResourceUpdatedNotificationParams,
        ResourcesCapability,
        Role,
        Root,
        RootsCapability,
        SamplingCapability,
        SamplingContent,
        SamplingMessage,
        ServerCapabilities,
        SetLevelRequestParams,
        StringFormat,
        StringSchema,
        SubscribeRequestParams,
        SubscriptionFilter,
        SubscriptionsAcknowledgedNotificationParams,
        SubscriptionsListenRequestParams,
        SubscriptionsListenResult,
        Task,
        TaskMetadata,
        TaskRequestParams,
        TaskStatus,
        TaskSupport,
        TextContent,
        TextResourceContents,
        TitledMultiSelectEnumSchema,
        TitledOption,
        TitledSingleSelectEnumSchema,
        Tool,
        ToolAnnotations,
        ToolChoice,
        ToolChoiceMode,
        ToolExecution,
        ToolResultContent,
        ToolUseContent,
        UnsubscribeRequestParams,
        UntitledMultiSelectEnumSchema,
        UntitledSingleSelectEnumSchema,
        UrlElicitationRequiredData,
        Version
    );
    again::<OneOrMany<SamplingContent>>(text);
});

fn messages(text: &str) {
    again::<Request<Value>>(text);
    again::<Request<CallToolRequestParams>>(text);
    again::<Request<RequestParams>>(text);
    again::<Notification<Value>>(text);
    again::<Notification<CancelledNotificationParams>>(text);
    again::<Response<Value>>(text);
    again::<Response<CallToolResult>>(text);
}

/// Reads, writes and reads again, as text and as a value.
fn again<T: Serialize + DeserializeOwned + PartialEq + Debug>(text: &str) {
    let Ok(first) = serde_json::from_str::<T>(text) else {
        return;
    };
    // Strictly, it is the same or it is refused.
    if let Ok(strict) = decode::<T>(text) {
        assert_eq!(strict, first);
    }
    let written = serde_json::to_string(&first).expect("what was read can be written");
    let second = decode::<T>(&written);
    assert_eq!(second.as_ref().ok(), Some(&first), "{written}: {second:?}");
    // By way of a value, which rounds integers of more than 64 bits, and respells raw JSON.
    let long = |digits: &str| digits.len() > 18;
    if !written.split(|c: char| !c.is_ascii_digit()).any(long)
        && let Ok(value) = serde_json::to_value(&first)
    {
        let third = T::deserialize(&value).expect("what was written can be read");
        assert_eq!(serde_json::to_value(third).expect("a value"), value);
    }
}

fn results(raw: &RawValue) {
    result::<method::Discover>(raw);
    result::<method::ListTools>(raw);
    result::<method::CallTool>(raw);
    result::<method::ListPrompts>(raw);
    result::<method::GetPrompt>(raw);
    result::<method::ListResources>(raw);
    result::<method::ListResourceTemplates>(raw);
    result::<method::ReadResource>(raw);
    result::<method::Complete>(raw);
    result::<method::SubscriptionsListen>(raw);
}

fn result<M: Method>(raw: &RawValue)
where
    M::Result: Serialize + PartialEq + Debug,
{
    let (kind, members) = match decode_result::<M>(raw) {
        Err(_) => return,
        Ok(Outcome::Complete(result)) => ("complete", serde_json::to_string(&result)),
        Ok(Outcome::InputRequired(input)) => ("input_required", serde_json::to_string(&input)),
        Ok(other) => panic!("a new outcome: {other:?}"),
    };
    let members = members.expect("what was read can be written");
    let comma = if members == "{}" { "" } else { "," };
    let whole = format!(r#"{{"resultType":"{kind}"{comma}{}"#, &members[1..]);
    let again = serde_json::from_str(&whole).expect("JSON");
    assert_eq!(
        decode_result::<M>(again).expect("a result"),
        decode_result::<M>(raw).expect("a result"),
    );
}
