//! 10 KB of nested arguments into a handler's struct.
//!
//! `serde` is the measure: `serde_json` straight into the struct, and the struct dropped. `unread` is the
//! whole server with a tool that looks at the length of its arguments and no further; `typed` is the same with
//! one that takes the struct. What the SDK does from the text to the struct is the difference of the two, and
//! that over `serde` is the ratio. `checked` has a rule in its schema that decoding does not enforce, so
//! that a validator runs as well.

use std::{collections::BTreeMap, hint::black_box};

use antiphon::{
    Args, Context, FromCall, Server, Stop,
    client::Bytes,
    schemars::{self, JsonSchema},
};
use serde::{Deserialize, Serialize};

use crate::{
    dispatch::{Served, holds},
    messages,
    meter::Meter,
};

/// Order what a ship needs.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Order {
    reference: String,
    ship: Ship,
    deliver_to: Address,
    lines: Vec<Line>,
    remarks: Option<String>,
    labels: BTreeMap<String, String>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Ship {
    name: String,
    call_sign: String,
    gross_tonnage: u32,
    berth: Option<String>,
    position: Position,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Position {
    latitude: f64,
    longitude: f64,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Address {
    street: String,
    city: String,
    postal_code: String,
    country: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Line {
    article: String,
    quantity: u32,
    unit: Unit,
    price: f64,
    hazardous: bool,
    packing: Packing,
    alternatives: Vec<String>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Unit {
    Piece,
    Metre,
    Litre,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Packing {
    boxes: Vec<Parcel>,
    note: Option<String>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Parcel {
    length: u32,
    width: u32,
    height: u32,
    marks: Vec<String>,
}

/// The same, with a rule that only a validator knows.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "they are read and dropped")]
struct Checked {
    #[schemars(length(min = 1))]
    reference: String,
    ship: Ship,
    deliver_to: Address,
    lines: Vec<Line>,
    remarks: Option<String>,
    labels: BTreeMap<String, String>,
}

/// What the tools say: the lines and the boxes they were told of.
fn said(lines: &[Line]) -> String {
    let boxes = lines.iter().map(|line| line.packing.boxes.len());
    let pieces: u32 = lines.iter().map(|line| line.quantity).sum();
    let boxes: usize = boxes.sum();
    format!("{} lines, {boxes} boxes, {pieces} pieces", lines.len())
}

/// How many lines make 10 KB.
const LINES: u32 = 29;

/// The arguments.
pub(crate) fn arguments() -> String {
    let line = |number: u32| Line {
        article: format!("Mooring rope, eight strands, No. {number}"),
        quantity: 3 + number,
        unit: match number % 3 {
            0 => Unit::Piece,
            1 => Unit::Metre,
            _ => Unit::Litre,
        },
        price: 129.5 + f64::from(number) / 4.0,
        hazardous: number.is_multiple_of(5),
        packing: Packing {
            boxes: (0..2)
                .map(|side| Parcel {
                    length: 120 + side,
                    width: 80,
                    height: 60 + number,
                    marks: vec!["keep dry".to_owned(), format!("box {number}/{side}")],
                })
                .collect(),
            note: number
                .is_multiple_of(2)
                .then(|| "Leave \"as is\" on the quay.".to_owned()),
        },
        alternatives: vec![format!("rope-{number}-a"), format!("rope-{number}-b")],
    };
    let labels = ["priority", "agent", "invoice", "customs"];
    let order = Order {
        reference: "NQ-2026-000417".to_owned(),
        ship: Ship {
            name: "Low Water".to_owned(),
            call_sign: "PBXY".to_owned(),
            gross_tonnage: 2_981,
            berth: Some("north quay 4".to_owned()),
            position: Position {
                latitude: 51.9054,
                longitude: 4.4666,
            },
        },
        deliver_to: Address {
            street: "Waalhaven Oostzijde 85".to_owned(),
            city: "Rotterdam".to_owned(),
            postal_code: "3087 BM".to_owned(),
            country: "NL".to_owned(),
        },
        lines: (0..LINES).map(line).collect(),
        remarks: None,
        labels: labels
            .map(|name| (name.to_owned(), format!("{name} of the order")))
            .into(),
    };
    let text = serde_json::to_string(&order).expect("JSON");
    assert!(
        (9_500..10_500).contains(&text.len()),
        "{} bytes",
        text.len()
    );
    text
}

/// The length of the arguments, which nobody reads.
struct Length(usize);

impl<S: Sync> FromCall<S> for Length {
    async fn from_call(call: &Context<'_>, _: &S) -> Result<Self, Stop> {
        Ok(Self(call.arguments().map_or(0, |raw| raw.get().len())))
    }
}

fn server() -> Server {
    Server::new("bench", "1.0.0")
        .tool("unread", async |Length(bytes): Length| {
            format!("{bytes} bytes")
        })
        .tool("typed", async |Args(order): Args<Order>| said(&order.lines))
        .tool("checked", async |Args(order): Args<Checked>| {
            said(&order.lines)
        })
}

/// `serde_json` alone.
pub(crate) fn serde(meter: &mut Meter) {
    let text = arguments();
    meter.repeat(|meter| {
        let lines = meter.count(|| black_box(read(black_box(&text))).lines.len());
        assert_eq!(lines, LINES as usize);
    });
}

fn read(text: &str) -> Order {
    serde_json::from_slice(text.as_bytes()).expect("an order")
}

/// The server, and nobody who reads the arguments.
pub(crate) fn unread(meter: &mut Meter) {
    let text = arguments();
    dispatch(meter, "unread", &text, &format!("{} bytes", text.len()));
}

/// The server, with a handler that takes the struct.
pub(crate) fn typed(meter: &mut Meter) {
    let text = arguments();
    dispatch(meter, "typed", &text, &said(&read(&text).lines));
}

/// The same under a schema that asserts more.
pub(crate) fn checked(meter: &mut Meter) {
    let text = arguments();
    dispatch(meter, "checked", &text, &said(&read(&text).lines));
}

fn dispatch(meter: &mut Meter, tool: &str, arguments: &str, expected: &str) {
    let mut served = Served::new(server());
    let body = Bytes::from(messages::call(tool, arguments));
    meter.repeat(|meter| {
        let answer = served.answer(meter, tool, &body);
        assert!(holds(&answer, expected), "{answer:?}");
    });
}
