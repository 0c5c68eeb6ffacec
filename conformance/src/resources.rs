//! Resources and the template.

use antiphon::raw::Error;
use antiphon::types::{ReadResourceResult, Resource, ResourceContents, ResourceTemplate};

use crate::fixtures;

pub(crate) fn all() -> Vec<Resource> {
    vec![
        Resource::new("test://static-text", "Static text").mime_type("text/plain"),
        Resource::new("test://static-binary", "Static image").mime_type("image/png"),
        Resource::new("test://watched-resource", "Watched text").mime_type("text/plain"),
    ]
}

pub(crate) fn templates() -> Vec<ResourceTemplate> {
    let template = ResourceTemplate::new("test://template/{id}/data", "Data by id");
    vec![template.mime_type("application/json")]
}

pub(crate) fn read(uri: &str) -> Result<ReadResourceResult, Error> {
    let contents = match uri {
        "test://static-text" => {
            ResourceContents::text(uri, "This is the content of the static text resource.")
                .mime_type("text/plain")
        }
        "test://static-binary" => ResourceContents::blob(uri, fixtures::PNG).mime_type("image/png"),
        "test://watched-resource" => {
            ResourceContents::text(uri, "Watch me.").mime_type("text/plain")
        }
        _ => {
            let id = uri
                .strip_prefix("test://template/")
                .and_then(|rest| rest.strip_suffix("/data"))
                .filter(|id| !id.is_empty() && !id.contains('/'))
                .ok_or_else(|| Error::resource_not_found(uri))?;
            let data = serde_json::json!({
                "id": id, "templateTest": true, "data": format!("Data for ID: {id}")
            });
            ResourceContents::text(uri, data.to_string()).mime_type("application/json")
        }
    };
    Ok(ReadResourceResult::new(vec![contents]))
}
