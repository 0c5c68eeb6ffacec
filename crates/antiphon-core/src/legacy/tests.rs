//! All members that came after the first revision, by name: there since their revision, not
//! before. And results of any shape at all.

use antiphon_types::Version::{self, V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25};
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

/// Where a member stands, and the first older revision that has it; none if none does.
const SINCE: &[(&str, &str, Option<Version>)] = &[
    ("tools/list", "/tools/0/name", Some(V2024_11_05)),
    ("tools/list", "/tools/0/description", Some(V2024_11_05)),
    (
        "tools/list",
        "/tools/0/inputSchema/properties/port",
        Some(V2024_11_05),
    ),
    (
        "tools/list",
        "/tools/0/annotations/readOnlyHint",
        Some(V2025_03_26),
    ),
    (
        "tools/list",
        "/tools/0/annotations/title",
        Some(V2025_03_26),
    ),
    ("tools/list", "/tools/0/title", Some(V2025_06_18)),
    ("tools/list", "/tools/0/outputSchema", Some(V2025_06_18)),
    ("tools/list", "/tools/0/_meta", Some(V2025_06_18)),
    ("tools/list", "/tools/0/icons", Some(V2025_11_25)),
    ("tools/list", "/tools/0/execution", Some(V2025_11_25)),
    ("tools/list", "/nextCursor", Some(V2024_11_05)),
    ("tools/call", "/content/0/text", Some(V2024_11_05)),
    (
        "tools/call",
        "/content/0/annotations/audience",
        Some(V2024_11_05),
    ),
    (
        "tools/call",
        "/content/0/annotations/priority",
        Some(V2024_11_05),
    ),
    (
        "tools/call",
        "/content/0/annotations/lastModified",
        Some(V2025_06_18),
    ),
    ("tools/call", "/content/0/_meta", Some(V2025_06_18)),
    ("tools/call", "/content/1/data", Some(V2024_11_05)),
    (
        "tools/call",
        "/content/1/annotations/lastModified",
        Some(V2025_06_18),
    ),
    ("tools/call", "/content/1/_meta", Some(V2025_06_18)),
    ("tools/call", "/content/2/resource/text", Some(V2024_11_05)),
    ("tools/call", "/content/2/resource/_meta", Some(V2025_06_18)),
    (
        "tools/call",
        "/content/2/annotations/lastModified",
        Some(V2025_06_18),
    ),
    ("tools/call", "/content/2/_meta", Some(V2025_06_18)),
    ("tools/call", "/content/3/data", Some(V2025_03_26)),
    ("tools/call", "/content/3/mimeType", Some(V2025_03_26)),
    (
        "tools/call",
        "/content/3/annotations/priority",
        Some(V2024_11_05),
    ),
    (
        "tools/call",
        "/content/3/annotations/lastModified",
        Some(V2025_06_18),
    ),
    ("tools/call", "/content/3/_meta", Some(V2025_06_18)),
    ("tools/call", "/content/4/uri", Some(V2025_06_18)),
    ("tools/call", "/content/4/size", Some(V2025_06_18)),
    ("tools/call", "/content/4/title", Some(V2025_06_18)),
    (
        "tools/call",
        "/content/4/annotations/lastModified",
        Some(V2025_06_18),
    ),
    ("tools/call", "/content/4/_meta", Some(V2025_06_18)),
    ("tools/call", "/content/4/icons", Some(V2025_11_25)),
    ("tools/call", "/structuredContent", Some(V2025_06_18)),
    ("tools/call", "/isError", Some(V2024_11_05)),
    ("prompts/list", "/prompts/0/description", Some(V2024_11_05)),
    (
        "prompts/list",
        "/prompts/0/arguments/0/required",
        Some(V2024_11_05),
    ),
    ("prompts/list", "/prompts/0/title", Some(V2025_06_18)),
    ("prompts/list", "/prompts/0/_meta", Some(V2025_06_18)),
    (
        "prompts/list",
        "/prompts/0/arguments/0/title",
        Some(V2025_06_18),
    ),
    ("prompts/list", "/prompts/0/icons", Some(V2025_11_25)),
    ("prompts/get", "/messages/0/content/text", Some(V2024_11_05)),
    (
        "prompts/get",
        "/messages/0/content/_meta",
        Some(V2025_06_18),
    ),
    (
        "prompts/get",
        "/messages/2/content/resource/_meta",
        Some(V2025_06_18),
    ),
    ("prompts/get", "/messages/3/content/data", Some(V2025_03_26)),
    ("prompts/get", "/messages/4/content/uri", Some(V2025_06_18)),
    (
        "prompts/get",
        "/messages/4/content/icons",
        Some(V2025_11_25),
    ),
    ("resources/list", "/resources/0/size", Some(V2024_11_05)),
    (
        "resources/list",
        "/resources/0/annotations/priority",
        Some(V2024_11_05),
    ),
    (
        "resources/list",
        "/resources/0/annotations/lastModified",
        Some(V2025_06_18),
    ),
    ("resources/list", "/resources/0/title", Some(V2025_06_18)),
    ("resources/list", "/resources/0/_meta", Some(V2025_06_18)),
    ("resources/list", "/resources/0/icons", Some(V2025_11_25)),
    (
        "resources/templates/list",
        "/resourceTemplates/0/mimeType",
        Some(V2024_11_05),
    ),
    (
        "resources/templates/list",
        "/resourceTemplates/0/annotations/audience",
        Some(V2024_11_05),
    ),
    (
        "resources/templates/list",
        "/resourceTemplates/0/annotations/lastModified",
        Some(V2025_06_18),
    ),
    (
        "resources/templates/list",
        "/resourceTemplates/0/title",
        Some(V2025_06_18),
    ),
    (
        "resources/templates/list",
        "/resourceTemplates/0/_meta",
        Some(V2025_06_18),
    ),
    (
        "resources/templates/list",
        "/resourceTemplates/0/icons",
        Some(V2025_11_25),
    ),
    ("resources/read", "/contents/0/text", Some(V2024_11_05)),
    ("resources/read", "/contents/0/_meta", Some(V2025_06_18)),
    (
        "completion/complete",
        "/completion/hasMore",
        Some(V2024_11_05),
    ),
    ("initialize", "/instructions", Some(V2024_11_05)),
    ("initialize", "/serverInfo/title", Some(V2025_06_18)),
    ("initialize", "/serverInfo/description", Some(V2025_11_25)),
    ("initialize", "/serverInfo/icons", Some(V2025_11_25)),
    ("initialize", "/serverInfo/websiteUrl", Some(V2025_11_25)),
];

/// Members of all results.
const OF_ALL: &[(&str, Option<Version>)] = &[
    ("/resultType", None),
    ("/ttlMs", None),
    ("/cacheScope", None),
    ("/_meta/io.modelcontextprotocol~1serverInfo", None),
    ("/_meta/harbor.example~1quay", Some(V2024_11_05)),
];

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
    for method in METHODS {
        let of_this = SINCE.iter().filter(|row| row.0 == method);
        let of_this = of_this.map(|(_, place, since)| (*place, *since));
        let places: Vec<_> = of_this.chain(OF_ALL.iter().copied()).collect();
        assert!(places.len() > OF_ALL.len(), "{method}");
        let modern = rich(method);
        for (place, since) in places {
            assert!(modern.pointer(place).is_some(), "{method} {place}");
            for version in Version::LEGACY {
                let mut older = modern.clone();
                result(method, *version, &mut older);
                let has = older.pointer(place).is_some();
                let should = since.is_some_and(|since| *version >= since);
                assert_eq!(has, should, "{version} {method} {place}");
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
