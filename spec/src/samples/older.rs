//! What an older peer gets: modern samples, made those of its revision.

use antiphon_core::legacy;
use antiphon_types::Version::{self, V2025_03_26, V2025_11_25};
use antiphon_types::{
    InitializeResult, InputRequest, ListToolsResult, Notification, Request, SamplingContent, Tool,
};
use serde_json::{Value, from_value, json};

use super::capabilities;
use super::parts::{implementation, object, result_meta};
use crate::sample::{Sample, Samples};

/// Results by definition, and the method that gives them.
const RESULTS: [(&str, &str); 8] = [
    ("CallToolResult", "tools/call"),
    ("CompleteResult", "completion/complete"),
    ("GetPromptResult", "prompts/get"),
    ("ListPromptsResult", "prompts/list"),
    ("ListResourceTemplatesResult", "resources/templates/list"),
    ("ListResourcesResult", "resources/list"),
    ("ListToolsResult", "tools/list"),
    ("ReadResourceResult", "resources/read"),
];

/// The modern samples as a legacy revision gets them.
pub(crate) fn of(version: Version) -> Samples {
    let mut s = Samples::new(version);
    for Sample {
        definitions, json, ..
    } in super::of(Version::LATEST).list
    {
        let [definition, rest @ ..] = &*definitions else {
            continue;
        };
        let is = |union: &str| rest.iter().any(|definition| definition == union);
        let known = RESULTS.iter().find(|(result, _)| result == definition);
        match known {
            Some((_, method)) => result(&mut s, definition, method, json),
            None if is("InputRequest") => question(&mut s, definition, json),
            None if is("ServerNotification") => notification(&mut s, definition, json),
            None => {}
        }
    }
    odd_tools(&mut s);
    initialize(&mut s);
    s
}

fn result(s: &mut Samples, definition: &str, method: &str, mut json: Value) {
    legacy::result(method, s.version, &mut json);
    s.fits(&[definition, "ServerResult", "Result"], &json);
}

/// Tools that only modern schemas can describe.
fn odd_tools(s: &mut Samples) {
    let input = json!({"type": "object", "properties": {"any": true, "none": false}});
    let tool = Tool::new("survey", object(input.clone()));
    let tools = [
        json!({"type": "array"}),
        json!({"$ref": "#/$defs/depth"}),
        input,
    ];
    let tools = tools.map(|output| tool.clone().output_schema(object(output)));
    let list = json!(ListToolsResult::new(tools.to_vec()));
    result(s, "ListToolsResult", "tools/list", list);
}

fn initialize(s: &mut Samples) {
    let version = s.version;
    let peer = legacy::implementation(&implementation(Version::LATEST), version);
    for pushes in [false, true] {
        let all = capabilities::server(Version::LATEST);
        let offered = legacy::offer(&all, version, pushes);
        let initialized = InitializeResult::new(version, offered, peer.clone())
            .instructions("Ask for the tide before you reserve a berth.")
            .meta(result_meta(Version::LATEST));
        result(s, "InitializeResult", "initialize", json!(initialized));
    }
}

fn question(s: &mut Samples, definition: &str, json: Value) {
    let request: InputRequest = from_value(json).expect("a sample decodes");
    let request = answerable(request, s.version);
    if let Ok((method, params)) = legacy::question(&request, s.version, Some("e-1")) {
        let request = Request::new(s.id(), method, params);
        let bases = [
            "ServerRequest",
            "Request",
            "JSONRPCRequest",
            "JSONRPCMessage",
        ];
        s.fits(&[&[definition], &bases[..]].concat(), &request);
    }
}

/// The question without the parts for which it would not be asked at all.
fn answerable(mut request: InputRequest, version: Version) -> InputRequest {
    if let InputRequest::Sample(params) = &mut request
        && version < V2025_11_25
    {
        params.tools = None;
        params.tool_choice = None;
        for message in &mut params.messages {
            let said = |block: &SamplingContent| match block {
                SamplingContent::Text(_) | SamplingContent::Image(_) => true,
                SamplingContent::Audio(_) => version >= V2025_03_26,
                _ => false,
            };
            let blocks = message.content.clone().into_vec();
            let blocks: Vec<_> = blocks.into_iter().filter(said).collect();
            message.content = blocks.into();
        }
    }
    request
}

fn notification(s: &mut Samples, definition: &str, json: Value) {
    let notification: Notification<Value> = from_value(json).expect("a sample decodes");
    let mut params = notification.params.unwrap_or_default();
    if legacy::notification(&notification.method, s.version, &mut params) {
        let params = Some(params).filter(|params| !params.is_null());
        let notification = Notification::<Value>::new(notification.method, params);
        let bases = [
            "ServerNotification",
            "Notification",
            "JSONRPCNotification",
            "JSONRPCMessage",
        ];
        s.fits(&[&[definition], &bases[..]].concat(), &notification);
    }
}

#[cfg(test)]
mod tests {
    use antiphon_types::Version::V2025_06_18;

    use super::*;

    /// How many of the definition's samples have all these words in them.
    fn count(version: Version, definition: &str, words: &[&str]) -> usize {
        let has = |sample: &&Sample| {
            let text = sample.json.to_string();
            sample.definitions[0] == definition && words.iter().all(|word| text.contains(word))
        };
        of(version).list.iter().filter(has).count()
    }

    #[test]
    fn every_kind_of_message_is_there() {
        for version in Version::LEGACY.iter().copied() {
            for (definition, _) in RESULTS {
                assert!(
                    count(version, definition, &[]) > 1,
                    "{version} {definition}"
                );
            }
            for definition in [
                "InitializeResult",
                "CancelledNotification",
                "LoggingMessageNotification",
                "ProgressNotification",
                "ToolListChangedNotification",
                "ListRootsRequest",
            ] {
                assert!(
                    count(version, definition, &[]) > 1,
                    "{version} {definition}"
                );
            }
            let sampling = count(version, "CreateMessageRequest", &["image/png"]);
            assert!(sampling > 0, "{version}");
            let forms = count(version, "ElicitRequest", &["requestedSchema"]);
            assert_eq!(forms > 0, version >= V2025_06_18, "{version}");
            let links = count(version, "ElicitRequest", &["elicitationId"]);
            assert_eq!(links > 0, version >= V2025_11_25, "{version}");
            let heard = count(version, "CreateMessageRequest", &["audio/wav"]);
            assert_eq!(heard > 0, version >= V2025_03_26, "{version}");
        }
    }

    /// The check of types lets `mode` pass, as they always write it.
    #[test]
    fn forms_have_a_mode_only_where_it_is_known() {
        let modes = |version| count(version, "ElicitRequest", &[r#""mode":"form""#]);
        assert_eq!(modes(V2025_06_18), 0);
        assert!(modes(V2025_11_25) > 0);
    }
}
