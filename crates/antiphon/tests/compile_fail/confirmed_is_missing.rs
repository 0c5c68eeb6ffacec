//! Forgetting to ask.

use antiphon::{Args, Ask, Confirmed, Stop, schemars::{self, JsonSchema}};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, JsonSchema)]
struct Delete {
    path: String,
}

fn delete(what: Confirmed<Delete>) -> String {
    format!("Deleted {}", what.path)
}

async fn remove(Args(what): Args<Delete>) -> Result<String, Stop> {
    Ok(delete(what))
}

/// Asked about something else.
async fn other(Args(what): Args<Delete>, ask: Ask) -> Result<String, Stop> {
    Ok(delete(ask.confirm("delete", "Delete it?", what.path)?))
}

fn main() {}
