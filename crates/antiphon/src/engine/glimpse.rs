//! [`Glimpse`]: what a client can be asked, seen without reading all it declares.

use antiphon_types::decode;
use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, Visitor},
};

/// Which kinds of elicitation a client declares. Everything else it declares is looked at, so that
/// what cannot be read is not taken for good, but not kept: reading it takes four times as long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Glimpse {
    pub(super) form: bool,
    pub(super) url: bool,
}

impl Glimpse {
    /// `None` if capabilities cannot be read.
    pub(super) fn of(capabilities: &str) -> Option<Self> {
        let declared: Declared = decode(capabilities).ok()?;
        Some(match declared.elicitation {
            None => Self {
                form: false,
                url: false,
            },
            // None named means form.
            Some(modes) => Self {
                form: modes.form.is_some() || modes.url.is_none(),
                url: modes.url.is_some(),
            },
        })
    }
}

/// The shape of capabilities, as [`ClientCapabilities`](antiphon_types::ClientCapabilities) has it.
#[derive(Deserialize)]
#[expect(dead_code, reason = "what is not asked for is only looked at")]
struct Declared {
    elicitation: Option<Elicitation>,
    sampling: Option<Sampling>,
    roots: Option<Roots>,
    extensions: Option<Members>,
    experimental: Option<Members>,
}

#[derive(Deserialize)]
struct Elicitation {
    form: Option<Members>,
    url: Option<Members>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "only looked at")]
struct Sampling {
    tools: Option<Members>,
    context: Option<Members>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "only looked at")]
struct Roots {
    list_changed: Option<bool>,
}

/// An object, whatever is in it.
struct Members;

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Passing;
        impl<'de> Visitor<'de> for Passing {
            type Value = Members;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Members)
            }
        }
        deserializer.deserialize_map(Passing)
    }
}

#[cfg(test)]
mod tests {
    use antiphon_core::question::Kind;
    use antiphon_types::ClientCapabilities;

    use super::*;

    /// The same as is read by the types that keep everything.
    #[test]
    fn it_is_what_the_whole_says() {
        for capabilities in [
            "{}",
            r#"{"elicitation":{}}"#,
            r#"{"elicitation":{"form":{}}}"#,
            r#"{"elicitation":{"url":{}}}"#,
            r#"{"elicitation":{"form":{"a":[1]},"url":{}},"sampling":{"tools":{}},"roots":{}}"#,
            r#"{"elicitation":{"form":null}}"#,
            r#"{"elicitation":null,"extensions":{"x/y":{"z":1}},"tasks":{"list":{}},"more":[2]}"#,
            r#"{"elicitation":{"form":{}},"sampling":7}"#,
            r#"{"elicitation":{"form":{}},"sampling":{"context":true}}"#,
            r#"{"elicitation":{"form":{}},"roots":{"listChanged":"yes"}}"#,
            r#"{"elicitation":{"form":{}},"extensions":[]}"#,
            r#"{"elicitation":{"form":{}},"experimental":"none"}"#,
            r#"{"elicitation":{"form":true}}"#,
            r#"{"elicitation":[{},{}]}"#,
            r#"{"elicitation":{"form":{}},"elicitation":{"url":{}}}"#,
            "[]",
        ] {
            let whole = decode::<ClientCapabilities>(capabilities).ok();
            let expected = whole.map(|whole| Glimpse {
                form: Kind::Form.is_declared(&whole),
                url: Kind::Url.is_declared(&whole),
            });
            assert_eq!(Glimpse::of(capabilities), expected, "{capabilities}");
        }
    }
}
