//! Tasks, which only 2025-11-25 has.

use antiphon_types::{
    CallToolResult, CancelTaskResult, CreateTaskResult, GetTaskResult, ListTasksResult,
    PaginatedRequestParams, RelatedTaskMetadata, Task, TaskMetadata, TaskRequestParams, TaskStatus,
    TaskStatusNotificationParams,
};

use super::parts::{note, notification_meta, request_meta, result_meta};
use crate::sample::Samples;

const MADE: &str = "2025-12-01T06:10:00Z";

pub(super) fn add(s: &mut Samples) {
    for status in [
        TaskStatus::Working,
        TaskStatus::InputRequired,
        TaskStatus::Completed,
        TaskStatus::Failed,
        TaskStatus::Cancelled,
    ] {
        s.value("TaskStatus", &status);
        s.value("Task", &Task::new("t-1", status, MADE));
    }
    s.value("Task", &full());
    s.value("TaskMetadata", &TaskMetadata::new());
    s.value("TaskMetadata", &TaskMetadata::new().ttl(60_000));
    s.value("RelatedTaskMetadata", &RelatedTaskMetadata::new("t-1"));
    requests(s);
    results(s);
    notifications(s);
}

fn full() -> Task {
    Task::new("t-1", TaskStatus::Working, MADE)
        .last_updated_at("2025-12-01T06:11:00Z")
        .status_message("Dredging")
        .ttl(60_000)
        .poll_interval(500)
}

/// Both sides may ask for tasks.
fn requests(s: &mut Samples) {
    for (definition, method) in [
        ("GetTaskRequest", "tasks/get"),
        ("GetTaskPayloadRequest", "tasks/result"),
        ("CancelTaskRequest", "tasks/cancel"),
    ] {
        let params = TaskRequestParams::new("t-1");
        s.client_request([definition, ""], method, params.clone());
        let full = params.meta(request_meta(s.version));
        s.client_request([definition, ""], method, full);
    }
    let names = ["ListTasksRequest", "PaginatedRequestParams"];
    let params = PaginatedRequestParams::new();
    s.client_request(names, "tasks/list", params.clone());
    let full = params.cursor("page-2").meta(request_meta(s.version));
    s.client_request(names, "tasks/list", full);
    s.bare_request("ListTasksRequest", "ServerRequest", "tasks/list");
}

fn results(s: &mut Samples) {
    let meta = result_meta(s.version);
    let bare = Task::new("t-1", TaskStatus::Completed, MADE);
    let with_meta = full().meta(meta.clone());
    for task in [bare.clone(), with_meta] {
        let (got, cancelled): (GetTaskResult, CancelTaskResult) = (task.clone(), task);
        s.result("GetTaskResult", &got);
        s.answer("GetTaskResult", &got);
        s.result("CancelTaskResult", &cancelled);
        s.answer("CancelTaskResult", &cancelled);
    }
    s.value("CreateTaskResult", &CreateTaskResult::new(bare.clone()));
    s.value(
        "CreateTaskResult",
        &CreateTaskResult::new(full()).meta(note()),
    );
    s.result("ListTasksResult", &ListTasksResult::new(Vec::new()));
    let list = ListTasksResult::new(vec![bare, full()])
        .next_cursor("page-2")
        .meta(meta.clone());
    s.result("ListTasksResult", &list);
    s.answer("ListTasksResult", &list);
    // The payload is the result of the request that became the task.
    let payload = CallToolResult::text("Dredged.");
    s.result("GetTaskPayloadResult", &payload);
    s.result("GetTaskPayloadResult", &payload.meta(meta));
}

fn notifications(s: &mut Samples) {
    let bare: TaskStatusNotificationParams = Task::new("t-1", TaskStatus::Failed, MADE);
    let full: TaskStatusNotificationParams = full().meta(notification_meta(s.version));
    for params in [bare, full] {
        s.value("TaskStatusNotificationParams", &params);
        s.notification(
            "TaskStatusNotification",
            &["ClientNotification", "ServerNotification"],
            "notifications/tasks/status",
            params,
        );
    }
}
