//! A resolver is known by the type that it gives.

use antiphon::resolver;

#[resolver]
async fn stock() -> u32 {
    7
}

#[derive(Clone)]
struct Stock;

#[resolver]
async fn answered() -> Result<antiphon::Answer<Stock>, antiphon::Stop> {
    Ok(antiphon::Answer::Decline)
}

#[resolver(sate = ())]
async fn misspelt() -> Stock {
    Stock
}

fn main() {}
