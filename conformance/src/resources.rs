//! Resources and the template.

use antiphon::{
    Args, Contents, Json, Resource, Server,
    schemars::{self, JsonSchema},
    types::ResourceContents,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::fixtures;

pub(crate) fn add(server: Server) -> Server {
    server
        .add(
            Resource::new(
                "test://static-text",
                async || "This is the content of the static text resource.",
            )
            .name("Static text")
            .mime_type("text/plain"),
        )
        .add(
            Resource::new("test://static-binary", async || {
                ResourceContents::blob("test://static-binary", fixtures::PNG)
            })
            .name("Static image")
            .mime_type("image/png"),
        )
        .add(
            Resource::new("test://watched-resource", async || {
                Contents::text("Watch me.")
            })
            .name("Watched text")
            .mime_type("text/plain")
            .watched(),
        )
        .add(
            Resource::new("test://template/{id}/data", data)
                .name("Data by id")
                .mime_type("application/json"),
        )
}

#[derive(Deserialize, JsonSchema)]
struct Data {
    id: String,
}

async fn data(Args(Data { id }): Args<Data>) -> Json<Value> {
    Json(json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") }))
}
