//! Results, as a revision knows them.

use antiphon_types::Version;
use serde_json::Value;

use super::members::{self, ANNOTATIONS, ARGUMENT, CONTENTS, IMPLEMENTATION, MODERN, NAMED};
use super::{content, tool};

/// Makes the modern result of a method one of an older revision, in place (LEG-S-06, SHIM-S-10,
/// LFEAT-S-10).
///
/// Content that the revision cannot carry becomes text that says what was there. Whatever is not
/// of the shape a result has is left alone, and so is a result that was made an older one before.
pub fn result(method: &str, version: Version, result: &mut Value) {
    let Value::Object(result) = result else {
        return;
    };
    if MODERN.iter().any(|name| result.contains_key(*name)) {
        result.retain(|name, _| !MODERN.contains(&name.as_str()));
    }
    members::strip_meta(result, version);
    match method {
        "tools/call" => tool::given(result, version),
        "tools/list" => members::each(result, "tools", |it| tool::tool(it, version)),
        "prompts/list" => members::each(result, "prompts", |prompt| {
            members::strip(prompt, NAMED, version);
            members::each(prompt, "arguments", |argument| {
                members::strip(argument, ARGUMENT, version);
            });
        }),
        "prompts/get" => members::each(result, "messages", |message| {
            if let Some(Value::Object(block)) = message.get_mut("content") {
                content::block(block, version);
            }
        }),
        "resources/list" | "resources/templates/list" => {
            for list in ["resources", "resourceTemplates"] {
                members::each(result, list, |resource| {
                    members::strip(resource, NAMED, version);
                    members::strip_in(resource, "annotations", ANNOTATIONS, version);
                });
            }
        }
        "resources/read" => members::each(result, "contents", |contents| {
            members::strip(contents, CONTENTS, version);
        }),
        "initialize" => members::strip_in(result, "serverInfo", IMPLEMENTATION, version),
        _ => {}
    }
}
