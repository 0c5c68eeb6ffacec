//! Resolvers that wait for each other.

use antiphon::{Resolved, Server, resolver};

#[derive(Clone)]
struct Hen;
#[derive(Clone)]
struct Egg;

#[resolver]
async fn hen(_: Resolved<Egg>) -> Hen {
    Hen
}

#[resolver]
async fn egg(_: Resolved<Hen>) -> Egg {
    Egg
}

async fn lay(_: Resolved<Hen>) {}

fn main() {
    let _: Server = Server::new("farm", "1.0").tool("lay", lay);
}
