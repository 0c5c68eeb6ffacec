//! Forms that are derived, as each revision gets them.

use antiphon::{Choice, Form};
use antiphon_types::{ElicitRequestFormParams, Version};

use crate::sample::Samples;

use super::form;

#[derive(Choice)]
enum Side {
    Port,
    Starboard,
}

#[derive(Choice)]
enum Berth {
    #[form(title = "Small one")]
    Small,
    Large,
}

#[derive(Form)]
struct Arrival {
    /// The captain.
    #[form(title = "Name", min_length = 1, max_length = 80, default = "Ada")]
    name: String,
    #[form(format = "email", default = "ada@harbor.example")]
    mail: String,
    #[form(format = "uri")]
    page: Option<String>,
    #[form(format = "date")]
    day: Option<String>,
    #[form(format = "date-time")]
    moment: Option<String>,
    #[form(pattern = "^[A-Z]+$", rule = "letters")]
    sign: String,
    #[form(min = 1, max = 14, default = 1)]
    nights: u8,
    distance: i64,
    #[form(min = 0.5, default = 4.5)]
    draught: f64,
    #[form(default = true)]
    pilot: bool,
    #[form(default = Side::Port)]
    side: Side,
    #[form(default = Berth::Small)]
    berth: Berth,
    #[form(title = "Sides", min_items = 1, max_items = 2, default = [Side::Port])]
    sides: Vec<Side>,
    /// All that would do.
    #[form(default = [Berth::Small, Berth::Large])]
    berths: Vec<Berth>,
    #[form(options("north", "south"), default = "north")]
    quay: String,
    #[form(options("north", "south"))]
    quays: Option<Vec<String>>,
}

pub(super) fn add(s: &mut Samples) {
    let version = s.version;
    let derived = Arrival::definition().schema_in(version);
    // Fields of every kind, made by hand for the latest.
    let by_hand = form::full(Version::LATEST).in_revision(version);
    for form in [derived, by_hand] {
        for (_, field) in &form.properties {
            s.value("PrimitiveSchemaDefinition", field);
        }
        let params = ElicitRequestFormParams::new("Who comes?", form);
        s.ask(["ElicitRequest", "ElicitRequestFormParams"], params);
    }
}
