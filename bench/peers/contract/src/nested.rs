//! The arguments of the tool `nested`: a book of orders, three levels deep. Servers on Rust share
//! this file, so that all of them read the same structs.

use schemars::JsonSchema;
use serde::Deserialize;

/// Some orders.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Nested {
    /// All of them.
    pub orders: Vec<Order>,
}

/// What somebody orders.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Order {
    /// The order's own name.
    pub id: String,
    /// Who ordered.
    pub customer: String,
    /// Where it goes.
    pub address: Address,
    /// What it holds.
    pub lines: Vec<Line>,
    /// Whether it is wrapped.
    pub gift: bool,
    /// What else was said.
    pub note: Option<String>,
}

/// Where an order goes.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Address {
    /// Street and number.
    pub street: String,
    /// The town.
    pub city: String,
    /// The code of the town.
    pub zip: String,
    /// The country.
    pub country: String,
}

/// One item of an order.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Line {
    /// Which item.
    pub sku: String,
    /// How it is called.
    pub title: String,
    /// How many of it.
    pub quantity: u64,
    /// What one of it costs.
    pub price: f64,
    /// Where it is found.
    pub tags: Vec<String>,
}

impl Nested {
    /// The text that `nested` answers with.
    pub fn summary(&self) -> String {
        let lines = self.orders.iter().flat_map(|order| &order.lines);
        let (count, pieces) = lines.fold((0_u64, 0_u64), |(count, pieces), line| {
            (count + 1, pieces.saturating_add(line.quantity))
        });
        format!("{count} lines, {pieces} pieces")
    }
}
