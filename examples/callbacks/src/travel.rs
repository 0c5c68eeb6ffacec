//! A server that asks before it books: one form, and the roots, in the same round.

use antiphon::{
    Args, Call, Server, Stop,
    raw::Answer,
    schemars::{self, JsonSchema},
    types::{
        ElicitAction, ElicitRequestParams, FormSchema, InputRequest, InputRequired, NumberSchema,
    },
};
use serde::Deserialize;

/// Book a trip.
#[derive(Deserialize, JsonSchema)]
struct Book {
    city: String,
}

async fn book(Args(Book { city }): Args<Book>, call: Call) -> Result<String, Stop> {
    let answers = call.unsolicited_responses()?;
    let (Answer::Given(stay), Answer::Given(roots)) =
        (answers.elicit("stay"), answers.roots("where"))
    else {
        let nights = NumberSchema::integer().minimum(1).maximum(14).default(2);
        let form = FormSchema::new().required("nights", nights);
        let question = ElicitRequestParams::form(format!("How long in {city}?"), form);
        let asked = InputRequired::ask("stay", question).and("where", InputRequest::roots());
        return Err(Stop::ask(asked));
    };
    Ok(match (stay.action, stay.content) {
        (ElicitAction::Accept, Some(content)) => {
            let place = roots
                .roots
                .first()
                .map_or("nowhere", |root| root.uri.as_str());
            format!(
                "{} nights in {city}; the ticket is in {place}.",
                content["nights"]
            )
        }
        _ => "Nothing was booked.".to_owned(),
    })
}

pub(crate) fn server() -> Server {
    Server::new("travel", "1.0").tool("book", book)
}
