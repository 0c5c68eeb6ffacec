//! Results with structure, and arguments that are checked before the handler sees them.
//!
//! `cargo run -p example-structured`, on stdio. The types say everything: their schemas are what
//! clients are told, and what does not fit is refused with the name of the argument.

use antiphon::{
    Args, Json, Server, Stop, Tool,
    schemars::{self, JsonSchema},
    stdio,
};
use serde::{Deserialize, Serialize};

/// Plan a walk through a list of stops.
#[derive(Deserialize, JsonSchema)]
struct Plan {
    /// Where to go, in this order.
    #[schemars(length(min = 2, max = 20))]
    stops: Vec<Place>,
    /// Walking speed in km/h.
    #[schemars(range(min = 1, max = 10))]
    speed: Option<f64>,
}

#[derive(Deserialize, JsonSchema)]
struct Place {
    #[schemars(length(min = 1))]
    name: String,
    #[schemars(range(min = -90, max = 90))]
    latitude: f64,
    #[schemars(range(min = -180, max = 180))]
    longitude: f64,
}

#[derive(Serialize, JsonSchema)]
struct Walk {
    legs: Vec<Leg>,
    /// All legs together.
    hours: f64,
}

#[derive(Serialize, JsonSchema)]
struct Leg {
    to: String,
    kilometres: f64,
}

async fn plan(Args(plan): Args<Plan>) -> Result<Json<Walk>, Stop> {
    let legs: Vec<Leg> = plan.stops.windows(2).map(leg).collect();
    let distance: f64 = legs.iter().map(|leg| leg.kilometres).sum();
    if distance > 100.0 {
        // Not wrong, but not possible either: a failure, in words the model can act on.
        return Err(Stop::fail("Nobody walks more than 100 km; drop some stops"));
    }
    let hours = distance / plan.speed.unwrap_or(5.0);
    Ok(Json(Walk { legs, hours }))
}

/// On a map this small the earth is flat.
fn leg(ends: &[Place]) -> Leg {
    let (from, to) = (&ends[0], &ends[1]);
    let north = to.latitude - from.latitude;
    let east = (to.longitude - from.longitude) * from.latitude.to_radians().cos();
    Leg {
        to: to.name.clone(),
        kilometres: 111.2 * north.hypot(east),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    let plan = Tool::new("plan", plan).title("Plan a walk").read_only();
    stdio::serve(Server::new("walks", "1.0").add(plan)).await
}
