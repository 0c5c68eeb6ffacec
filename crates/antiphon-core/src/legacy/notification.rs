//! Notifications, as a revision knows them.

use antiphon_types::Version::{self, V2025_11_25};
use serde_json::Value;

use super::members::{self, PROGRESS};

/// Makes the params of a notification those of an older revision, in place; `false` if the
/// revision does not have the notification at all, and it must not be sent.
#[must_use]
pub fn notification(method: &str, version: Version, params: &mut Value) -> bool {
    let Some(name) = method.strip_prefix("notifications/") else {
        return false;
    };
    let known = match name {
        "progress" | "message" | "cancelled" | "initialized" => true,
        "resources/updated" | "resources/list_changed" => true,
        "tools/list_changed" | "prompts/list_changed" | "roots/list_changed" => true,
        "elicitation/complete" | "tasks/status" => version == V2025_11_25,
        _ => false,
    };
    if let Value::Object(params) = params {
        // LFEAT-S-02: no subscription is named.
        members::strip_meta(params, version);
        if name == "progress" {
            members::strip(params, PROGRESS, version);
        }
    }
    known
}

#[cfg(test)]
mod tests {
    use antiphon_types::Version::{V2024_11_05, V2025_06_18};
    use serde_json::json;

    use super::*;

    fn sent(method: &str, version: Version, mut params: Value) -> Option<Value> {
        notification(method, version, &mut params).then_some(params)
    }

    #[test]
    fn progress_has_words_since_2025_03_26() {
        let full = json!({"progressToken": 1, "progress": 0.5, "total": 1, "message": "half"});
        let plain = json!({"progressToken": 1, "progress": 0.5, "total": 1});
        for version in Version::LEGACY {
            let expected = match version {
                V2024_11_05 => &plain,
                _ => &full,
            };
            let sent = sent("notifications/progress", *version, full.clone());
            assert_eq!(sent.as_ref(), Some(expected));
        }
    }

    /// LFEAT-S-02
    #[test]
    fn no_subscription_is_named() {
        let tagged = json!({"uri": "a:b", "_meta": {"io.modelcontextprotocol/subscriptionId": 7}});
        for version in Version::LEGACY {
            assert_eq!(
                sent("notifications/resources/updated", *version, tagged.clone()),
                Some(json!({"uri": "a:b"}))
            );
        }
        let noted = json!({"_meta": {"io.modelcontextprotocol/subscriptionId": 7, "quay": 1}});
        assert_eq!(
            sent("notifications/tools/list_changed", V2025_06_18, noted),
            Some(json!({"_meta": {"quay": 1}}))
        );
    }

    #[test]
    fn what_a_revision_lacks_is_not_sent() {
        for version in Version::LEGACY {
            for method in [
                "notifications/subscriptions/acknowledged",
                "notifications/harbor/closed",
                "tools/list",
                "",
            ] {
                assert_eq!(sent(method, *version, json!({})), None, "{method}");
            }
            let complete = json!({"elicitationId": "e-1"});
            let sent = sent("notifications/elicitation/complete", *version, complete);
            assert_eq!(sent.is_some(), *version == V2025_11_25);
        }
    }

    #[test]
    fn logs_are_not_touched() {
        let log = json!({"level": "info", "data": {"message": "m", "_meta": 1}, "logger": "quay"});
        assert_eq!(
            sent("notifications/message", V2024_11_05, log.clone()),
            Some(log)
        );
        assert_eq!(
            sent("notifications/initialized", V2024_11_05, Value::Null),
            Some(Value::Null)
        );
    }
}
