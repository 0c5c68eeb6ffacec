//! Members beyond those a type has, which a peer may add.

use std::fmt;

use serde::Deserializer;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde_json::{Map, Value};

/// Reads what is left of a result; its `resultType` belongs to the envelope.
pub(crate) fn beyond_result<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Map<String, Value>, D::Error> {
    struct Beyond;

    impl<'de> Visitor<'de> for Beyond {
        type Value = Map<String, Value>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a map")
        }

        // Not put in to be taken out again: most results have nothing else.
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut extra = Map::new();
            while let Some(key) = map.next_key::<String>()? {
                if key == "resultType" {
                    map.next_value::<IgnoredAny>()?;
                } else {
                    extra.insert(key, map.next_value()?);
                }
            }
            Ok(extra)
        }
    }

    from.deserialize_map(Beyond)
}

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use serde::Serialize;
    use serde::de::DeserializeOwned;
    use serde_json::value::RawValue;
    use serde_json::{from_str, json, to_string};

    use super::*;
    use crate::method::{self, Method};
    use crate::*;

    /// Members no revision defines, at the end of an object.
    const BEYOND: &str = r#""charts":{"b":[1,null],"a":{}},"tides":null"#;

    /// `plain` with more members; `plain` itself must be written as it came.
    fn extended<T: Serialize + DeserializeOwned>(plain: &str) -> String {
        let value: T = decode(plain).unwrap();
        assert_eq!(to_string(&value).unwrap(), plain);
        let comma = if plain == "{}" { "" } else { "," };
        format!("{}{comma}{BEYOND}}}", plain.strip_suffix('}').unwrap())
    }

    fn kept<T: Serialize + DeserializeOwned + PartialEq + Debug>(plain: &str) {
        let text = extended::<T>(plain);
        let value: T = decode(&text).unwrap();
        assert_eq!(to_string(&value).unwrap(), text);
        assert_eq!(from_str::<T>(&text).unwrap(), value);
    }

    /// As [`kept`], and through [`decode_result`] and [`Modern`].
    fn kept_in_result<M: Method<Result: PartialEq + Debug>>(plain: &str) {
        kept::<M::Result>(plain);
        let text = extended::<M::Result>(plain);
        let modern = format!(r#"{{"resultType":"complete",{}"#, &text[1..]);
        for (read, written) in [(&text, &text), (&modern, &text)] {
            let raw: &RawValue = from_str(read).unwrap();
            let Ok(Outcome::Complete(result)) = decode_result::<M>(raw) else {
                panic!("{read} is not complete");
            };
            assert_eq!(to_string(&result).unwrap(), *written);
            assert_eq!(to_string(&Modern(&result)).unwrap(), modern);
        }
    }

    #[test]
    fn members_beyond_the_revision_are_kept() {
        kept::<ClientCapabilities>("{}");
        kept::<ClientCapabilities>(r#"{"elicitation":{"form":{}},"tasks":{}}"#);
        kept::<ServerCapabilities>("{}");
        kept::<ServerCapabilities>(r#"{"tools":{"listChanged":true},"extensions":{}}"#);
        kept::<InitializeResult>(
            r#"{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"n","version":"1"}}"#,
        );
        kept_in_result::<method::Discover>(
            r#"{"supportedVersions":[],"capabilities":{},"ttlMs":1,"cacheScope":"public"}"#,
        );
        kept_in_result::<method::ListTools>(r#"{"tools":[],"nextCursor":"c"}"#);
        kept_in_result::<method::ListPrompts>(r#"{"prompts":[],"_meta":{}}"#);
        kept_in_result::<method::ListResources>(r#"{"resources":[],"ttlMs":0}"#);
        kept_in_result::<method::ListResourceTemplates>(r#"{"resourceTemplates":[]}"#);
        kept_in_result::<method::CallTool>(
            r#"{"content":[{"type":"text","text":"a"}],"structuredContent":null,"isError":false}"#,
        );
        kept_in_result::<method::GetPrompt>(r#"{"description":"d","messages":[]}"#);
        kept_in_result::<method::ReadResource>(
            r#"{"contents":[{"uri":"a:b","text":"t"}],"cacheScope":"private"}"#,
        );
        kept_in_result::<method::Complete>(r#"{"completion":{"values":["a"]}}"#);
    }

    #[test]
    fn extra_holds_nothing_else() {
        let text = r#"{"tides":2,"content":[],"resultType":"complete","isError":null}"#;
        let result: CallToolResult = decode(text).unwrap();
        assert_eq!(Value::from(result.extra), json!({"tides": 2}));
        let text = r#"{"roots":{},"resultType":{},"charts":{}}"#;
        let capabilities: ClientCapabilities = decode(text).unwrap();
        assert_eq!(
            Value::from(capabilities.extra),
            json!({"resultType": {}, "charts": {}})
        );
    }

    #[test]
    fn what_is_defined_is_still_checked() {
        for text in [
            r#"{"content":[],"content":[],"tides":1}"#,
            r#"{"tides":1}"#,
            r#"{"content":{},"tides":1}"#,
            "[[]]",
        ] {
            assert!(decode::<CallToolResult>(text).is_err(), "{text}");
        }
    }
}
