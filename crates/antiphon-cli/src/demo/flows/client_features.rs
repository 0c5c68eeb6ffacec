//! What the client says it can do: by name, and by name and part where it says more, such as
//! `elicitation` and `elicitation.url`.

use antiphon::{
    Json, Stop,
    schemars::{self, JsonSchema},
    tool,
    types::ClientCapabilities,
};
use serde::Serialize;
use serde_json::Value;

/// The capabilities that came with the call.
#[derive(Serialize, JsonSchema)]
pub(super) struct Features {
    features: Vec<String>,
}

/// Tell what the client can do.
#[tool(read_only)]
pub(super) async fn client_features(declared: ClientCapabilities) -> Result<Json<Features>, Stop> {
    let mut features = Vec::new();
    if let Value::Object(declared) = serde_json::to_value(declared)? {
        for (name, about) in declared {
            let parts = about.as_object().into_iter().flatten();
            let parts: Vec<_> = parts.map(|(part, _)| format!("{name}.{part}")).collect();
            features.push(name);
            features.extend(parts);
        }
    }
    Ok(Json(Features { features }))
}
