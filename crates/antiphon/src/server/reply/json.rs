//! [`Json`]: a value of any type, as structured content.

use antiphon_types::{CallToolResult, ReadResourceResult, ResourceContents};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;

use super::{Context, Description, IntoReply, Rendered, Reply, Stop};

/// A value as JSON.
///
/// From a tool it is structured content, and the same JSON as text for clients that do not read
/// that (TOOL-S-19); the type's schema is the tool's output schema. From a resource it is a text
/// of the type `application/json`.
///
/// ```
/// use antiphon::{Json, schemars::{self, JsonSchema}};
/// use serde::Serialize;
///
/// #[derive(Serialize, JsonSchema)]
/// struct Weather { celsius: f64, sky: String }
///
/// async fn weather() -> Json<Weather> {
///     Json(Weather { celsius: 21.5, sky: "clear".into() })
/// }
/// # let _ = antiphon::Server::<()>::new("weather", "1.0").tool("weather", weather);
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Json<T>(pub T);

impl<T: Serialize + JsonSchema> IntoReply<CallToolResult> for Json<T> {
    fn into_reply(self, _: &Context<'_>) -> Result<Reply<CallToolResult>, Stop> {
        // Written once, and set in twice.
        let json = serde_json::value::to_raw_value(&self.0)?;
        Ok(Reply::Rendered(Rendered::structured(&json)?))
    }

    fn describe(description: &mut Description) {
        description.result::<T>();
    }
}

impl<T: Serialize> IntoReply<ReadResourceResult> for Json<T> {
    fn into_reply(self, call: &Context<'_>) -> Result<Reply<ReadResourceResult>, Stop> {
        let json = serde_json::to_string(&self.0)?;
        let contents = ResourceContents::text(call.requested(), json);
        match call.mime_type() {
            Some(_) => contents.into_reply(call),
            None => contents.mime_type("application/json").into_reply(call),
        }
    }
}

impl Rendered<CallToolResult> {
    /// A result with this structured content.
    fn structured(json: &RawValue) -> serde_json::Result<Self> {
        #[derive(Serialize)]
        struct Text<'a> {
            r#type: &'static str,
            text: &'a str,
        }
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Structured<'a> {
            content: [Text<'a>; 1],
            structured_content: &'a RawValue,
        }
        let text = json.get();
        Self::of(&Structured {
            content: [Text {
                r#type: "text",
                text,
            }],
            structured_content: json,
        })
    }
}
