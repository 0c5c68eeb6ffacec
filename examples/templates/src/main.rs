//! Resources by template: one handler for all URIs that fit, with typed variables.
//!
//! `cargo run -p example-templates`, on stdio. Read `garden://beds/2/plants/basil`; there is no bed 9,
//! and a bed that is no number is refused.

use std::{collections::BTreeMap, sync::Arc};

use antiphon::{
    Args, Json, Resource, Server, State, Stop,
    schemars::{self, JsonSchema},
    stdio, types,
};
use serde::{Deserialize, Serialize};

/// By bed and name, the weeks until harvest. Each call gets a clone, hence the `Arc`.
type Garden = Arc<BTreeMap<(u8, &'static str), u8>>;

/// The variables of the template, by name.
#[derive(Deserialize, JsonSchema)]
struct Spot {
    bed: u8,
    plant: String,
}

#[derive(Serialize)]
struct Plant {
    weeks_to_harvest: u8,
}

/// Reads one.
async fn plant(Args(spot): Args<Spot>, State(garden): State<Garden>) -> Result<Json<Plant>, Stop> {
    let weeks = garden.get(&(spot.bed, &*spot.plant));
    let weeks_to_harvest = *weeks.ok_or_else(Stop::not_found)?;
    Ok(Json(Plant { weeks_to_harvest }))
}

/// Lists all there are, for clients to choose from.
async fn plants(State(garden): State<Garden>) -> Vec<types::Resource> {
    let uri = |bed: u8, plant: &str| format!("garden://beds/{bed}/plants/{plant}");
    let plants = garden.keys();
    plants
        .map(|(bed, plant)| types::Resource::new(uri(*bed, plant), *plant))
        .collect()
}

/// A variable at the end may be left out; a query is a variable as well.
#[derive(Deserialize, JsonSchema)]
struct Calendar {
    month: Month,
    brief: Option<bool>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Month {
    May,
    June,
}

async fn calendar(Args(calendar): Args<Calendar>) -> &'static str {
    match (calendar.month, calendar.brief) {
        (_, Some(true)) => "Water.",
        (Month::May, _) => "Sow beans, water basil.",
        (Month::June, _) => "Pick strawberries, water everything.",
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    let plants_in_beds = [((1, "bean"), 9), ((2, "basil"), 3), ((2, "chive"), 5)];
    let garden = Garden::new(BTreeMap::from(plants_in_beds));
    let plant = Resource::new("garden://beds/{bed}/plants/{plant}", plant)
        .name("plant")
        .mime_type("application/json")
        .choices("bed", ["1", "2"])
        .list(plants);
    let server = Server::new("garden", "1.0")
        .add(plant)
        .resource("garden://calendar/{month}{?brief}", calendar)
        .with_state(garden);
    stdio::serve(server).await
}
