//! What a resolver gives goes to all who take it.

use antiphon::resolver;

struct Stock;

#[resolver]
async fn stock() -> Stock {
    Stock
}

fn main() {}
