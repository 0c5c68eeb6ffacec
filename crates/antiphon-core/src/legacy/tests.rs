//! All members that came after the first revision, by name: there since their revision, not
//! before. And results of any shape at all.

use antiphon_types::Version::{self, V2025_11_25};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{notification, result};

/// Each method's modern result with everything in it.
fn rich(method: &str) -> Value {
    let icons = json!([{"src": "https://harbor.example/i.svg", "theme": "dark"}]);
    let annotations =
        json!({"audience": ["user"], "priority": 0.5, "lastModified": "2026-07-28T06:10:00Z"});
    let meta = json!({"harbor.example/quay": 1});
    let block = |kind: Value| {
        let mut block = kind;
        block["annotations"] = annotations.clone();
        block["_meta"] = meta.clone();
        block
    };
    let contents =
        json!({"uri": "tide://oslo", "mimeType": "text/csv", "text": "t", "_meta": meta});
    let blocks = || {
        vec![
            block(json!({"type": "text", "text": "t"})),
            block(json!({"type": "image", "data": "AA==", "mimeType": "image/png"})),
            block(json!({"type": "resource", "resource": contents})),
            block(json!({"type": "audio", "data": "AA==", "mimeType": "audio/wav"})),
            block(json!({
                "type": "resource_link", "uri": "tide://oslo", "name": "oslo", "title": "Oslo",
                "description": "d", "icons": icons, "mimeType": "text/csv", "size": 7,
            })),
        ]
    };
    let schema = json!({"type": "object", "properties": {"port": {"type": "string"}}});
    let mut result = match method {
        "tools/list" => json!({"tools": [{
            "name": "tide", "title": "Tide", "description": "d", "icons": icons,
            "inputSchema": schema, "outputSchema": schema,
            "annotations": {"title": "Tide", "readOnlyHint": true},
            "execution": {"taskSupport": "forbidden"}, "_meta": meta,
        }], "nextCursor": "c"}),
        "tools/call" => json!({
            "content": blocks(), "structuredContent": {"depth": 4}, "isError": false,
        }),
        "prompts/list" => json!({"prompts": [{
            "name": "brief", "title": "Brief", "description": "d", "icons": icons, "_meta": meta,
            "arguments": [{"name": "ship", "title": "Ship", "description": "d", "required": true}],
        }]}),
        "prompts/get" => {
            let messages = blocks().into_iter();
            let messages = messages.map(|block| json!({"role": "user", "content": block}));
            json!({"description": "d", "messages": messages.collect::<Vec<_>>()})
        }
        "resources/list" => json!({"resources": [{
            "uri": "tide://oslo", "name": "oslo", "title": "Oslo", "description": "d",
            "icons": icons, "mimeType": "text/csv", "size": 7, "annotations": annotations,
            "_meta": meta,
        }]}),
        "resources/templates/list" => json!({"resourceTemplates": [{
            "uriTemplate": "tide://{port}", "name": "tide", "title": "Tide", "description": "d",
            "icons": icons, "mimeType": "text/csv", "annotations": annotations, "_meta": meta,
        }]}),
        "resources/read" => json!({"contents": [contents]}),
        "completion/complete" => {
            json!({"completion": {"values": ["oslo"], "total": 1, "hasMore": false}})
        }
        "initialize" => json!({
            "protocolVersion": "2025-11-25", "capabilities": {}, "instructions": "i",
            "serverInfo": {
                "name": "harbor", "version": "1", "title": "Harbor", "description": "d",
                "icons": icons, "websiteUrl": "https://harbor.example/",
            },
        }),
        other => panic!("no result for {other}"),
    };
    result["resultType"] = json!("complete");
    result["ttlMs"] = json!(60_000);
    result["cacheScope"] = json!("public");
    result["_meta"] = json!({
        "io.modelcontextprotocol/serverInfo": {"name": "harbor", "version": "1"},
        "harbor.example/quay": 1,
    });
    result
}

/// The first older revision that has a member, the method, and where in its result it stands;
/// `never` if no older one has it, `all` for all methods.
const SINCE: &str = "
2024-11-05 tools/list /tools/0/name
2024-11-05 tools/list /tools/0/description
2024-11-05 tools/list /tools/0/inputSchema/properties/port
2025-03-26 tools/list /tools/0/annotations/readOnlyHint
2025-03-26 tools/list /tools/0/annotations/title
2025-06-18 tools/list /tools/0/title
2025-06-18 tools/list /tools/0/outputSchema
2025-06-18 tools/list /tools/0/_meta
2025-11-25 tools/list /tools/0/icons
2025-11-25 tools/list /tools/0/execution
2024-11-05 tools/list /nextCursor
2024-11-05 tools/call /content/0/text
2024-11-05 tools/call /content/0/annotations/audience
2024-11-05 tools/call /content/0/annotations/priority
2025-06-18 tools/call /content/0/annotations/lastModified
2025-06-18 tools/call /content/0/_meta
2024-11-05 tools/call /content/1/data
2025-06-18 tools/call /content/1/annotations/lastModified
2025-06-18 tools/call /content/1/_meta
2024-11-05 tools/call /content/2/resource/text
2025-06-18 tools/call /content/2/resource/_meta
2025-06-18 tools/call /content/2/annotations/lastModified
2025-06-18 tools/call /content/2/_meta
2025-03-26 tools/call /content/3/data
2025-03-26 tools/call /content/3/mimeType
2024-11-05 tools/call /content/3/annotations/priority
2025-06-18 tools/call /content/3/annotations/lastModified
2025-06-18 tools/call /content/3/_meta
2025-06-18 tools/call /content/4/uri
2025-06-18 tools/call /content/4/size
2025-06-18 tools/call /content/4/title
2025-06-18 tools/call /content/4/annotations/lastModified
2025-06-18 tools/call /content/4/_meta
2025-11-25 tools/call /content/4/icons
2025-06-18 tools/call /structuredContent
2024-11-05 tools/call /isError
2024-11-05 prompts/list /prompts/0/description
2024-11-05 prompts/list /prompts/0/arguments/0/required
2025-06-18 prompts/list /prompts/0/title
2025-06-18 prompts/list /prompts/0/_meta
2025-06-18 prompts/list /prompts/0/arguments/0/title
2025-11-25 prompts/list /prompts/0/icons
2024-11-05 prompts/get /messages/0/content/text
2025-06-18 prompts/get /messages/0/content/_meta
2025-06-18 prompts/get /messages/2/content/resource/_meta
2025-03-26 prompts/get /messages/3/content/data
2025-06-18 prompts/get /messages/4/content/uri
2025-11-25 prompts/get /messages/4/content/icons
2024-11-05 resources/list /resources/0/size
2024-11-05 resources/list /resources/0/annotations/priority
2025-06-18 resources/list /resources/0/annotations/lastModified
2025-06-18 resources/list /resources/0/title
2025-06-18 resources/list /resources/0/_meta
2025-11-25 resources/list /resources/0/icons
2024-11-05 resources/templates/list /resourceTemplates/0/mimeType
2024-11-05 resources/templates/list /resourceTemplates/0/annotations/audience
2025-06-18 resources/templates/list /resourceTemplates/0/annotations/lastModified
2025-06-18 resources/templates/list /resourceTemplates/0/title
2025-06-18 resources/templates/list /resourceTemplates/0/_meta
2025-11-25 resources/templates/list /resourceTemplates/0/icons
2024-11-05 resources/read /contents/0/text
2025-06-18 resources/read /contents/0/_meta
2024-11-05 completion/complete /completion/hasMore
2024-11-05 initialize /instructions
2025-06-18 initialize /serverInfo/title
2025-11-25 initialize /serverInfo/description
2025-11-25 initialize /serverInfo/icons
2025-11-25 initialize /serverInfo/websiteUrl
never all /resultType
never all /ttlMs
never all /cacheScope
never all /_meta/io.modelcontextprotocol~1serverInfo
2024-11-05 all /_meta/harbor.example~1quay
";

const METHODS: [&str; 9] = [
    "tools/list",
    "tools/call",
    "prompts/list",
    "prompts/get",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "completion/complete",
    "initialize",
];

#[test]
fn every_member_is_there_since_its_revision() {
    for row in SINCE.trim().lines() {
        let row: Vec<&str> = row.split(' ').collect();
        let [since, method, place] = row[..] else {
            panic!("{row:?}");
        };
        assert!(method == "all" || METHODS.contains(&method), "{method}");
        let since = match since {
            "never" => Version::LATEST,
            since => since.parse().expect("a revision"),
        };
        for of in METHODS
            .into_iter()
            .filter(|it| [*it, "all"].contains(&method))
        {
            assert!(rich(of).pointer(place).is_some(), "{of} {place}");
            for version in Version::LEGACY {
                let mut older = rich(of);
                result(of, *version, &mut older);
                let has = older.pointer(place).is_some();
                assert_eq!(has, *version >= since, "{version} {of} {place}");
            }
        }
    }
}

#[test]
fn nothing_is_lost_but_what_came_later() {
    for method in METHODS {
        let mut older = rich(method);
        result(method, V2025_11_25, &mut older);
        let mut expected = rich(method);
        let members = expected.as_object_mut().expect("a result");
        for name in ["resultType", "ttlMs", "cacheScope"] {
            members.shift_remove(name);
        }
        members["_meta"] = json!({"harbor.example/quay": 1});
        assert_eq!(older, expected, "{method}");
    }
}

/// JSON with names that occur in results, so that a good part of it looks like one.
fn any_json() -> impl Strategy<Value = Value> {
    let names = proptest::sample::select(vec![
        "_meta",
        "annotations",
        "arguments",
        "content",
        "contents",
        "icons",
        "inputSchema",
        "io.modelcontextprotocol/serverInfo",
        "lastModified",
        "message",
        "messages",
        "mimeType",
        "name",
        "outputSchema",
        "progress",
        "prompts",
        "properties",
        "resource",
        "resourceTemplates",
        "resources",
        "resultType",
        "serverInfo",
        "structuredContent",
        "text",
        "title",
        "tools",
        "ttlMs",
        "type",
        "uri",
    ]);
    let texts = proptest::sample::select(vec![
        "",
        "text",
        "image",
        "audio",
        "resource",
        "resource_link",
        "tool_result",
        "object",
        "scene",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::from),
        texts.prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 64, 6, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec((names.clone(), inner), 0..7)
                .prop_map(|members| members.into_iter().collect()),
        ]
    })
}

proptest! {
    #[test]
    fn an_older_result_stays_as_it_is(value in any_json()) {
        for version in Version::LEGACY {
            for method in METHODS {
                let mut once = value.clone();
                result(method, *version, &mut once);
                let mut twice = once.clone();
                result(method, *version, &mut twice);
                prop_assert_eq!(&once, &twice, "{} {}", version, method);
            }
        }
    }

    #[test]
    fn older_params_stay_as_they_are(value in any_json()) {
        for version in Version::LEGACY {
            for method in ["notifications/progress", "notifications/message"] {
                let mut once = value.clone();
                prop_assert!(notification(method, *version, &mut once));
                let mut twice = once.clone();
                prop_assert!(notification(method, *version, &mut twice));
                prop_assert_eq!(&once, &twice);
            }
        }
    }
}
