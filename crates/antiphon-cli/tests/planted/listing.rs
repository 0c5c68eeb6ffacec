//! What the planted server has: tools, a prompt, a resource.

use serde_json::{Value, json};

/// What is answered to a method that lists or describes; none if it does neither.
pub(crate) fn listed(method: &str) -> Option<Value> {
    Some(match method {
        "server/discover" => json!({
            "supportedVersions": ["2026-07-28", "2025-11-25"], "capabilities": capabilities(),
        }),
        "tools/list" => json!({ "tools": [
            tool("order", "Orders something."),
            tool("reserve", "Keeps something for later."),
            tool("pay", "Sends the user to a page."),
        ] }),
        "prompts/list" => json!({ "prompts": [
            { "name": "brief", "description": "What there is to know." },
        ] }),
        "resources/list" => json!({ "resources": [
            { "uri": "shop://ledger", "name": "ledger", "mimeType": "text/plain" },
        ] }),
        "resources/templates/list" => json!({ "resourceTemplates": [] }),
        _ => return None,
    })
}

pub(crate) fn capabilities() -> Value {
    json!({ "tools": {}, "prompts": {}, "resources": {}, "completions": {} })
}

fn tool(name: &str, description: &str) -> Value {
    let properties = json!({
        "item": { "type": "string" },
        "reference": { "type": "integer" },
        "options": { "type": "object" },
    });
    json!({
        "name": name, "description": description,
        "inputSchema": { "type": "object", "properties": properties, "required": ["item"] },
    })
}

/// The result of a call of this method that ended with this text.
pub(crate) fn result(method: &str, name: &str, text: &str) -> Value {
    let content = json!({ "type": "text", "text": text });
    match method {
        "tools/call" => json!({ "content": [content] }),
        "prompts/get" => json!({ "messages": [{ "role": "user", "content": content }] }),
        _ => json!({ "contents": [{ "uri": name, "mimeType": "text/plain", "text": text }] }),
    }
}
