//! A server that asks before it books: one form, and the roots, in the same round.

use antiphon::{
    Args, Call, Server, Stop,
    schemars::{self, JsonSchema},
    types::{ElicitRequestParams, FormSchema, InputRequest, InputRequired, NumberSchema},
};
use serde::Deserialize;

/// Book a trip.
#[derive(Deserialize, JsonSchema)]
struct Book {
    city: String,
}

/// What the user fills in.
#[derive(Deserialize)]
struct Stay {
    nights: u8,
}

async fn book(Args(Book { city }): Args<Book>, call: Call) -> Result<String, Stop> {
    let answers = call.responses();
    if answers.is_empty() {
        let nights = NumberSchema::integer().minimum(1).maximum(14).default(2);
        let form = FormSchema::new().required("nights", nights);
        let question = ElicitRequestParams::form(format!("How long in {city}?"), form);
        let asked = InputRequired::ask("stay", question).and("where", InputRequest::roots());
        return Err(Stop::ask(asked));
    }
    let Some(Stay { nights }) = answers.accepted("stay") else {
        return Ok("Nothing was booked.".to_owned());
    };
    let roots = answers.roots("where").given();
    let place = roots.as_ref().and_then(|given| given.roots.first());
    let place = place.map_or("nowhere", |root| root.uri.as_str());
    Ok(format!(
        "{nights} nights in {city}; the ticket is in {place}."
    ))
}

pub(crate) fn server() -> Server {
    Server::new("travel", "1.0").tool("book", book)
}
