//! An inn: the same resolvers serve a tool and a prompt.

use antiphon::{
    Answer, Args, Ask, Choice, Form, Resolved, Server, State, Stop, resolver,
    schemars::{self, JsonSchema},
};
use serde::Deserialize;

/// Reserve a table.
#[derive(Deserialize, JsonSchema)]
struct Party {
    guests: u32,
}

/// What the inn has.
#[derive(Clone)]
pub(crate) struct Inn {
    seats_inside: u32,
}

/// Where there is room: of two places, or of one.
#[derive(Clone, Copy)]
struct Room {
    inside: bool,
}

#[resolver]
async fn room(#[arg] guests: u32, State(inn): State<Inn>) -> Room {
    let inside = guests <= inn.seats_inside;
    Room { inside }
}

/// Where they sit, which is asked only if there is a choice.
#[derive(Form, Clone)]
struct Place {
    place: Side,
}

#[derive(Choice, Debug, Clone, Copy)]
enum Side {
    Inside,
    Garden,
}

#[resolver]
async fn place(Resolved(room): Resolved<Room>, ask: Ask) -> Result<Place, Stop> {
    match room.inside {
        true => ask.form("place", "Where would you like to sit?"),
        false => Ok(Place {
            place: Side::Garden,
        }),
    }
}

/// What they pay beforehand, which only large parties are asked for.
#[derive(Form, Clone)]
struct Deposit {
    /// Whether you pay it.
    deposit: bool,
}

#[resolver]
async fn deposit(#[arg] guests: u32, ask: Ask) -> Result<Deposit, Stop> {
    match guests {
        ..8 => Ok(Deposit { deposit: false }),
        _ => ask.form(
            "deposit",
            format!("{guests} guests pay {guests} ducats first."),
        ),
    }
}

async fn reserve(
    Args(Party { guests }): Args<Party>,
    Resolved(Place { place }): Resolved<Place>,
    Resolved(deposit): Resolved<Answer<Deposit>>,
) -> String {
    match deposit {
        Answer::Accept(Deposit { deposit }) => {
            let paid = if deposit { ", paid for" } else { "" };
            format!("A table for {guests}, {place:?}{paid}.")
        }
        Answer::Decline | Answer::Cancel => "No table was reserved.".to_owned(),
    }
}

async fn invitation(
    Args(Party { guests }): Args<Party>,
    Resolved(Place { place }): Resolved<Place>,
) -> String {
    format!("Write an invitation for {guests} guests, who meet at the inn ({place:?}).")
}

/// The inn.
pub(crate) fn server() -> Server {
    Server::new("inn", "1.0")
        .tool("reserve", reserve)
        .prompt("invitation", invitation)
        .with_state(Inn { seats_inside: 12 })
}

#[cfg(test)]
mod tests {
    use antiphon::testing::Script;
    use serde_json::json;

    use super::*;

    #[tokio::test]
    async fn questions_that_do_not_need_each_other_leave_together() {
        let played = Script::new()
            .accept("place", json!({ "place": "inside" }))
            .accept("deposit", json!({ "deposit": true }))
            // Each request at another instance, sent again, answered one by one, ..
            .rehearse(|sealing| server().sealing(sealing))
            .call_tool("reserve", json!({ "guests": 9 }))
            .await;
        assert_eq!(played.text(), "A table for 9, Inside, paid for.");
        played.assert_rounds([["place", "deposit"]]);
    }

    #[tokio::test]
    async fn nobody_is_asked_where_there_is_no_choice() {
        let played = Script::new()
            .decline("deposit")
            .call_tool(&server(), "reserve", json!({ "guests": 40 }))
            .await;
        assert_eq!(played.text(), "No table was reserved.");
        played.assert_rounds([["deposit"]]);
    }

    #[tokio::test]
    async fn a_resolver_is_a_function() {
        let Room { inside } = room(13, State(Inn { seats_inside: 12 })).await;
        assert!(!inside);
    }
}
