//! [`Rendered`]: a result that is written once and sent many times, or passed on as it came.

use std::{borrow::Cow, fmt, marker::PhantomData};

use antiphon_core::write;
use antiphon_types::{
    CacheScope, CallToolResult, CompleteResult, ContentBlock, DiscoverResult, GetPromptResult,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    MetaObject, ReadResourceResult,
};
use bytes::Bytes;
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{MapAccess, Visitor},
};
use serde_json::{Map, Value, value::RawValue};

use super::Error;

/// A result already written as JSON. Cloning it is cheap.
///
/// Lists rarely change, so a service makes one when they do and answers with a clone; a result
/// made for one answer only converts with `.into()`. A gateway passes on what another server
/// wrote, member for member, with [`Rendered::from_raw`].
#[derive(Debug)]
pub struct Rendered<T> {
    /// An object without `resultType` and `_meta`.
    pub(crate) json: Bytes,
    pub(crate) meta: Option<MetaObject>,
    /// What `resultType` says, if not `complete`.
    pub(crate) result_type: Option<String>,
    /// What `isError` says.
    pub(crate) is_error: bool,
    kind: PhantomData<fn() -> T>,
}

impl<T> Rendered<T> {
    /// A result as another server wrote it. Members we do not know, their order and the spelling
    /// of numbers stay as they are.
    ///
    /// # Errors
    /// `-32603` for what is no result: no object, or questions
    /// (see [`Reply::from_raw`](super::Reply::from_raw)).
    pub fn from_raw(result: &RawValue) -> Result<Self, Error> {
        let members: Members<'_> = serde_json::from_str(result.get())
            .map_err(|error| Error::internal(format!("not a result: {error}")))?;
        if members.result_type.as_deref() == Some("input_required") {
            return Err(Error::internal("not a result: these are questions"));
        }
        Ok(Self {
            json: members.json.into(),
            meta: members.meta,
            result_type: members
                .result_type
                .filter(|kind| kind != "complete")
                .map(Cow::into_owned),
            is_error: members.is_error,
            kind: PhantomData,
        })
    }

    /// The members, as a JSON object without `resultType` and `_meta`.
    pub fn json(&self) -> &str {
        std::str::from_utf8(&self.json).unwrap_or_default()
    }

    /// A result that this type writes, without `_meta`.
    pub(crate) fn of(result: &impl Serialize) -> serde_json::Result<Self> {
        Ok(Self::written(serde_json::to_vec(result)?, None))
    }

    /// What is written already: an object without `resultType` and `_meta`. Nothing, if it could not
    /// be written; sending that is an internal error.
    pub(crate) fn written(json: impl Into<Bytes>, meta: Option<MetaObject>) -> Self {
        Self {
            json: json.into(),
            meta,
            result_type: None,
            is_error: false,
            kind: PhantomData,
        }
    }
}

impl<T> Clone for Rendered<T> {
    fn clone(&self) -> Self {
        Self {
            json: self.json.clone(),
            meta: self.meta.clone(),
            result_type: self.result_type.clone(),
            is_error: self.is_error,
            kind: PhantomData,
        }
    }
}

impl<T: Outgoing> From<T> for Rendered<T> {
    fn from(mut result: T) -> Self {
        let meta = result.prepare();
        let mut json = Vec::with_capacity(result.size_hint());
        if result.write(&mut json).is_err() {
            json.clear();
        }
        Self {
            is_error: result.is_error(),
            ..Self::written(json, meta)
        }
    }
}

impl From<Map<String, Value>> for Rendered<Value> {
    fn from(mut result: Map<String, Value>) -> Self {
        let meta = match result.shift_remove("_meta") {
            Some(Value::Object(meta)) => Some(meta),
            _ => None,
        };
        let result_type = match result.shift_remove("resultType") {
            Some(Value::String(kind)) if kind != "complete" => Some(kind),
            _ => None,
        };
        Self {
            result_type,
            ..Self::written(serde_json::to_vec(&result).unwrap_or_default(), meta)
        }
    }
}

/// Results on their way out.
pub trait Outgoing: Serialize {
    /// Fills in what the protocol requires of every result of this kind, and takes `_meta` out:
    /// it is written apart, together with the server's identity.
    fn prepare(&mut self) -> Option<MetaObject>;

    /// Writes it as JSON.
    ///
    /// # Errors
    /// When it does not serialise; part of it may be written then.
    fn write(&self, out: &mut Vec<u8>) -> serde_json::Result<()> {
        serde_json::to_writer(out, self)
    }

    /// Whether it tells of a failure.
    fn is_error(&self) -> bool {
        false
    }

    /// About how many bytes it takes.
    fn size_hint(&self) -> usize {
        256
    }
}

impl Outgoing for CallToolResult {
    fn prepare(&mut self) -> Option<MetaObject> {
        self.meta.take()
    }

    /// Results that are texts and nothing else, as nearly all are, are put together here: by way of
    /// serde each name is looked through for escapes, and each text a character at a time, which for
    /// a megabyte takes ten times the instructions.
    fn write(&self, out: &mut Vec<u8>) -> serde_json::Result<()> {
        if self.structured_content.is_some() || self.meta.is_some() || !self.extra.is_empty() {
            return serde_json::to_writer(out, self);
        }
        out.extend_from_slice(br#"{"content":["#);
        for (at, block) in self.content.iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            match block {
                ContentBlock::Text(text) if text.annotations.is_none() && text.meta.is_none() => {
                    out.extend_from_slice(br#"{"type":"text","text":"#);
                    write::string(out, &text.text)?;
                    out.push(b'}');
                }
                block => serde_json::to_writer(&mut *out, block)?,
            }
        }
        out.push(b']');
        if let Some(is_error) = self.is_error {
            out.extend_from_slice(br#","isError":"#);
            out.extend_from_slice(if is_error { b"true" } else { b"false" });
        }
        out.push(b'}');
        Ok(())
    }

    fn is_error(&self) -> bool {
        self.is_error == Some(true)
    }

    fn size_hint(&self) -> usize {
        let block = |block: &ContentBlock| match block {
            ContentBlock::Text(text) => text.text.len(),
            ContentBlock::Image(image) => image.data.len(),
            ContentBlock::Audio(audio) => audio.data.len(),
            _ => 256,
        };
        256 + self.content.iter().map(block).sum::<usize>()
    }
}

macro_rules! outgoing {
    ($($result:ty),* $(,)?; cacheable $($cacheable:ty),* $(,)?) => {
        $(impl Outgoing for $result {
            fn prepare(&mut self) -> Option<MetaObject> {
                self.meta.take()
            }
        })*
        $(impl Outgoing for $cacheable {
            fn prepare(&mut self) -> Option<MetaObject> {
                // CACHE-S-01; an older server's results have no hints.
                self.ttl_ms.get_or_insert(0);
                self.cache_scope.get_or_insert(CacheScope::Private);
                self.meta.take()
            }
        })*
    };
}

outgoing!(
    CompleteResult,
    GetPromptResult;
    cacheable
    DiscoverResult,
    ListPromptsResult,
    ListResourceTemplatesResult,
    ListResourcesResult,
    ListToolsResult,
    ReadResourceResult,
);

/// The members of a result, two of them set apart and the others copied as they came.
struct Members<'a> {
    json: Vec<u8>,
    meta: Option<MetaObject>,
    result_type: Option<Cow<'a, str>>,
    is_error: bool,
}

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Apart;
        impl<'de> Visitor<'de> for Apart {
            type Value = Members<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Members {
                    json: b"{".to_vec(),
                    meta: None,
                    result_type: None,
                    is_error: false,
                };
                while let Some(key) = map.next_key::<Cow<'de, str>>()? {
                    match &*key {
                        "_meta" => members.meta = map.next_value()?,
                        "resultType" => members.result_type = map.next_value()?,
                        _ => {
                            let value: &RawValue = map.next_value()?;
                            members.is_error |= key == "isError" && value.get() == "true";
                            if members.json.len() > 1 {
                                members.json.push(b',');
                            }
                            serde_json::to_writer(&mut members.json, &key)
                                .map_err(serde::de::Error::custom)?;
                            members.json.push(b':');
                            members.json.extend_from_slice(value.get().as_bytes());
                        }
                    }
                }
                members.json.push(b'}');
                Ok(members)
            }
        }
        deserializer.deserialize_map(Apart)
    }
}

#[cfg(test)]
mod tests {
    use antiphon_types::TextContent;

    use super::*;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).expect("JSON")
    }

    /// What is put together by hand is what serde would write.
    #[test]
    fn results_are_written_as_they_serialise() {
        let texts = |texts: &[&str]| {
            CallToolResult::content(texts.iter().map(|text| ContentBlock::text(*text)).collect())
        };
        let mut told = TextContent::new("told");
        told.meta = Map::from_iter([("k".to_owned(), Value::from(1))]).into();
        let mut structured = texts(&["x"]);
        structured.structured_content = Some(serde_json::json!({"n": 1}));
        let mut extra = texts(&["x"]);
        extra.extra.insert("more".to_owned(), Value::Null);
        for result in [
            texts(&[]),
            texts(&["", "plain"]),
            texts(&[
                "\"quoted\" \\ \n \u{1f} ü \u{2028}",
                "0123456789abcdef",
                "0123456789abcde\"",
            ]),
            CallToolResult::error("no"),
            texts(&["yes"]).is_error(false),
            CallToolResult::content(vec![told.into(), ContentBlock::image("AAAA", "image/png")]),
            structured,
            extra,
        ] {
            let mut written = b"before".to_vec();
            result.write(&mut written).expect("written");
            let expected = serde_json::to_string(&result).expect("JSON");
            assert_eq!(
                String::from_utf8_lossy(&written),
                format!("before{expected}")
            );
        }
    }

    #[test]
    fn a_foreign_result_keeps_what_we_do_not_know() {
        let text = r#"{"z":1e400,"resultType":"complete","content":[],"_meta":{"k":1},"a":12345678901234567890123}"#;
        let rendered = Rendered::<CallToolResult>::from_raw(&raw(text)).expect("a result");
        assert_eq!(
            rendered.json(),
            r#"{"z":1e400,"content":[],"a":12345678901234567890123}"#
        );
        assert_eq!(rendered.meta.expect("kept")["k"], 1);
        assert_eq!(rendered.result_type, None);
        for bad in [
            "[]",
            "7",
            r#"{"resultType":"input_required","requestState":"x"}"#,
        ] {
            let error = Rendered::<CallToolResult>::from_raw(&raw(bad)).expect_err(bad);
            assert_eq!(error.code, -32603);
        }
    }
}
