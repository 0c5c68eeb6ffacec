//! A resolver that says its state is checked where it stands.

use antiphon::{State, resolver};

#[derive(Clone)]
struct Shop;
#[derive(Clone)]
struct Depot;
#[derive(Clone)]
struct Stock;

#[resolver(state = Shop)]
async fn stock(State(_): State<Depot>) -> Stock {
    Stock
}

fn main() {}
