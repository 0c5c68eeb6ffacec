//! What only the revisions before 2026-07-28 have.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::capabilities::{ClientCapabilities, ServerCapabilities};
use crate::elicit::ElicitRequestUrlParams;
use crate::extra;
use crate::implementation::Implementation;
use crate::meta::MetaObject;
use crate::notification::LoggingLevel;

/// Params of `initialize`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct InitializeRequestParams {
    /// The revision the client proposes.
    pub protocol_version: String,
    /// What the client can do.
    pub capabilities: ClientCapabilities,
    /// Who the client is.
    pub client_info: Implementation,
    /// Metadata of the request.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl InitializeRequestParams {
    /// Proposes a revision.
    pub fn new(
        protocol_version: impl Into<String>,
        capabilities: ClientCapabilities,
        client_info: Implementation,
    ) -> Self {
        Self {
            protocol_version: protocol_version.into(),
            capabilities,
            client_info,
            meta: None,
        }
    }
}

setters!(InitializeRequestParams { plain { meta: MetaObject } });

/// Result of `initialize`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct InitializeResult {
    /// The revision to speak.
    pub protocol_version: String,
    /// What the server can do.
    pub capabilities: ServerCapabilities,
    /// Who the server is.
    pub server_info: Implementation,
    /// How to use it, for the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// Metadata of the result.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
    /// Members this revision does not define.
    #[serde(flatten, deserialize_with = "extra::beyond_result")]
    pub extra: Map<String, Value>,
}

impl InitializeResult {
    /// Settles on a revision.
    pub fn new(
        protocol_version: impl Into<String>,
        capabilities: ServerCapabilities,
        server_info: Implementation,
    ) -> Self {
        Self {
            protocol_version: protocol_version.into(),
            capabilities,
            server_info,
            instructions: None,
            meta: None,
            extra: Map::new(),
        }
    }
}

setters!(InitializeResult {
    into { instructions: String }
    plain { meta: MetaObject }
});

/// A result that says no more than "done".
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EmptyResult {
    /// Metadata of the result.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl EmptyResult {
    /// Done.
    pub fn new() -> Self {
        Self::default()
    }
}

setters!(EmptyResult { plain { meta: MetaObject } });

/// Params of `logging/setLevel`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SetLevelRequestParams {
    /// Least severe level to send.
    pub level: LoggingLevel,
    /// Metadata of the request.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl SetLevelRequestParams {
    /// Asks for this level and above.
    pub fn new(level: LoggingLevel) -> Self {
        Self { level, meta: None }
    }
}

setters!(SetLevelRequestParams { plain { meta: MetaObject } });

/// Params of `resources/subscribe`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SubscribeRequestParams {
    /// Which resource.
    pub uri: String,
    /// Metadata of the request.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl SubscribeRequestParams {
    /// Asks for changes of the resource at `uri`.
    pub fn new(uri: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            meta: None,
        }
    }
}

setters!(SubscribeRequestParams { plain { meta: MetaObject } });

/// Params of `resources/unsubscribe`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct UnsubscribeRequestParams {
    /// Which resource.
    pub uri: String,
    /// Metadata of the request.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl UnsubscribeRequestParams {
    /// No longer asks for changes of the resource at `uri`.
    pub fn new(uri: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            meta: None,
        }
    }
}

setters!(UnsubscribeRequestParams { plain { meta: MetaObject } });

/// A link that the user was asked to open has done its work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ElicitationCompleteNotificationParams {
    /// Which one.
    pub elicitation_id: String,
    /// Metadata of the notification.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl ElicitationCompleteNotificationParams {
    /// The elicitation of this id.
    pub fn new(elicitation_id: impl Into<String>) -> Self {
        Self {
            elicitation_id: elicitation_id.into(),
            meta: None,
        }
    }
}

setters!(ElicitationCompleteNotificationParams { plain { meta: MetaObject } });

/// Data of the error that says links must be opened first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct UrlElicitationRequiredData {
    /// The links, each with its elicitation id.
    pub elicitations: Vec<ElicitRequestUrlParams>,
}

impl UrlElicitationRequiredData {
    /// These links.
    pub fn new(elicitations: Vec<ElicitRequestUrlParams>) -> Self {
        Self { elicitations }
    }
}

/// A request that runs on its own (revision 2025-11-25, experimental).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Task {
    /// Its id.
    pub task_id: String,
    /// How it stands.
    pub status: TaskStatus,
    /// The same for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status_message: Option<String>,
    /// When it was made, in ISO 8601.
    pub created_at: String,
    /// When it last changed, in ISO 8601.
    pub last_updated_at: String,
    /// How long it is kept, in milliseconds; `null` for ever.
    pub ttl: Option<u64>,
    /// How often to ask, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub poll_interval: Option<u64>,
    /// Metadata, where the task is a whole result or notification.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl Task {
    /// A task made and last changed at `created_at`, kept for ever.
    pub fn new(
        task_id: impl Into<String>,
        status: TaskStatus,
        created_at: impl Into<String>,
    ) -> Self {
        let created_at = created_at.into();
        Self {
            task_id: task_id.into(),
            status,
            status_message: None,
            last_updated_at: created_at.clone(),
            created_at,
            ttl: None,
            poll_interval: None,
            meta: None,
        }
    }

    /// Sets `last_updated_at`.
    #[must_use]
    pub fn last_updated_at(mut self, last_updated_at: impl Into<String>) -> Self {
        self.last_updated_at = last_updated_at.into();
        self
    }
}

setters!(Task {
    into { status_message: String }
    plain { ttl: u64, poll_interval: u64, meta: MetaObject }
});

/// Result of `tasks/get`.
pub type GetTaskResult = Task;

/// Result of `tasks/cancel`.
pub type CancelTaskResult = Task;

/// Params of `notifications/tasks/status`.
pub type TaskStatusNotificationParams = Task;

/// How a task stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskStatus {
    /// Running.
    Working,
    /// Waiting for the client.
    InputRequired,
    /// Done.
    Completed,
    /// Went wrong.
    Failed,
    /// Given up.
    Cancelled,
}

/// Asks that a request be run as a task.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TaskMetadata {
    /// How long to keep it, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl: Option<u64>,
}

impl TaskMetadata {
    /// No wish as to how long.
    pub fn new() -> Self {
        Self::default()
    }
}

setters!(TaskMetadata { plain { ttl: u64 } });

/// The task a message belongs to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RelatedTaskMetadata {
    /// Its id.
    pub task_id: String,
}

impl RelatedTaskMetadata {
    /// The task of this id.
    pub fn new(task_id: impl Into<String>) -> Self {
        Self {
            task_id: task_id.into(),
        }
    }
}

/// Params of `tasks/get`, `tasks/result` and `tasks/cancel`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TaskRequestParams {
    /// Which task.
    pub task_id: String,
    /// Metadata of the request.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl TaskRequestParams {
    /// The task of this id.
    pub fn new(task_id: impl Into<String>) -> Self {
        Self {
            task_id: task_id.into(),
            meta: None,
        }
    }
}

setters!(TaskRequestParams { plain { meta: MetaObject } });

/// Result of a request that now runs as a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CreateTaskResult {
    /// The task.
    pub task: Task,
    /// Metadata of the result.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl CreateTaskResult {
    /// This task.
    pub fn new(task: Task) -> Self {
        Self { task, meta: None }
    }
}

setters!(CreateTaskResult { plain { meta: MetaObject } });

/// One page of tasks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ListTasksResult {
    /// The tasks.
    pub tasks: Vec<Task>,
    /// Where the next page starts; absent on the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// Metadata of the result.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl ListTasksResult {
    /// A last page.
    pub fn new(tasks: Vec<Task>) -> Self {
        Self {
            tasks,
            next_cursor: None,
            meta: None,
        }
    }
}

setters!(ListTasksResult {
    into { next_cursor: String }
    plain { meta: MetaObject }
});

#[cfg(test)]
mod tests {
    use serde_json::{from_value, json, to_value};

    use super::*;
    use crate::version::Version;

    #[test]
    fn the_handshake_round_trips() {
        let value = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {"elicitation": {"form": {}, "url": {}}, "roots": {"listChanged": true}},
            "clientInfo": {"name": "harbor-cli", "version": "0.3.1"},
        });
        let params: InitializeRequestParams = from_value(value.clone()).unwrap();
        assert_eq!(to_value(params).unwrap(), value);

        let result = InitializeResult::new(
            Version::V2025_06_18,
            ServerCapabilities::new().tools(false),
            Implementation::new("harbor", "1.4.0"),
        );
        let value = json!({
            "protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
            "serverInfo": {"name": "harbor", "version": "1.4.0"},
        });
        assert_eq!(to_value(&result).unwrap(), value);
        assert_eq!(from_value::<InitializeResult>(value).unwrap(), result);
    }

    #[test]
    fn tasks_write_an_endless_ttl_as_null() {
        let task =
            Task::new("t", TaskStatus::InputRequired, "2025-12-01T00:00:00Z").poll_interval(5);
        let value = json!({
            "taskId": "t", "status": "input_required", "createdAt": "2025-12-01T00:00:00Z",
            "lastUpdatedAt": "2025-12-01T00:00:00Z", "ttl": null, "pollInterval": 5,
        });
        assert_eq!(to_value(&task).unwrap(), value);
        assert_eq!(from_value::<Task>(value).unwrap(), task);
    }

    #[test]
    fn required_links_round_trip() {
        let value = json!({"elicitations": [
            {"mode": "url", "message": "m", "url": "https://x", "elicitationId": "e"},
        ]});
        let data: UrlElicitationRequiredData = from_value(value.clone()).unwrap();
        assert_eq!(to_value(data).unwrap(), value);
    }
}
