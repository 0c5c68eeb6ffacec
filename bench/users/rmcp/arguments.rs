use rmcp::schemars::{self, JsonSchema};
use serde::{Deserialize, Serialize};

/// What changes.
pub const GREETING: &str = "Good morning from desk0";

/// Find books by their title.
#[derive(Deserialize, JsonSchema)]
pub struct Find {
    /// A part of the title.
    pub title: String,
    pub author: Option<String>,
    /// How many to name at most.
    #[serde(default)]
    pub most: u32,
}

#[derive(Serialize, JsonSchema)]
pub struct Found {
    pub books: Vec<Book>,
    pub more: bool,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct Book {
    pub title: String,
    pub author: String,
    pub year: Option<i32>,
}

/// How many copies of a book there are.
#[derive(Deserialize, JsonSchema)]
pub struct Stock {
    pub book: Book,
    /// Where to look.
    pub shelves: Vec<String>,
}

/// Order a book.
#[derive(Deserialize, JsonSchema)]
pub struct Order {
    pub title: String,
    pub copies: u32,
    pub binding: Binding,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Binding {
    Paper,
    Cloth,
    Leather,
}

#[derive(Deserialize, JsonSchema)]
pub struct Agreed {
    pub ok: bool,
}

/// Send a book back.
#[derive(Deserialize, JsonSchema)]
pub struct SendBack {
    pub order: u64,
    pub reason: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
pub struct Refund {
    /// Where the money goes.
    pub account: String,
    /// All of it.
    pub whole: bool,
    pub remark: Option<String>,
}
