//! A resolver is known by the type that it gives.

use antiphon::{Answer, Stop, resolver};

#[resolver]
async fn stock() -> u32 {
    7
}

#[derive(Clone)]
struct Stock;

#[resolver]
async fn answered() -> Result<Answer<Stock>, Stop> {
    Ok(Answer::Decline)
}

#[resolver(sate = ())]
async fn misspelt() -> Stock {
    Stock
}

fn main() {}
