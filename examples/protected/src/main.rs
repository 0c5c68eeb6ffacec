//! A shop that knows who orders: tokens of an authorization server, a scope for each tool, and a
//! question that nobody can answer but who was asked.
//!
//! `cargo run -p example-protected -- 3000 http://127.0.0.1:4000`: the shop on port 3000, whose
//! tokens come from the authorization server on port 4000. `examples/protected/run` starts both.

use antiphon::{
    Args, Ask, Form, Server, Stop, Tool,
    auth::{Principal, Protected, jwt::JwtVerifier},
    http,
    schemars::{self, JsonSchema},
};
use serde::Deserialize;
use tokio::net::TcpListener;

/// Order a book.
#[derive(Deserialize, JsonSchema)]
struct Order {
    title: String,
}

#[derive(Form)]
struct Confirm {
    /// It is charged to your account.
    confirm: bool,
}

fn name(who: &Principal) -> &str {
    who.subject.as_deref().unwrap_or("nobody")
}

/// Say who is calling.
async fn whoami(who: Principal) -> String {
    name(&who).to_owned()
}

async fn order(Args(order): Args<Order>, who: Principal, ask: Ask) -> Result<String, Stop> {
    let question = format!("Order {} for {}?", order.title, name(&who));
    let Confirm { confirm } = ask.form("confirm", question)?;
    Ok(match confirm {
        true => format!("Ordered {} for {}.", order.title, name(&who)),
        false => "Nothing was ordered.".to_owned(),
    })
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let usage = "usage: protected PORT ISSUER";
    let mut words = std::env::args().skip(1);
    let port: u16 = words.next().ok_or(usage)?.parse()?;
    let issuer = words.next().ok_or(usage)?;

    let server: Server = Server::new("shop", "1.0")
        .tool("whoami", whoami)
        .add(Tool::new("order", order).require_scopes(["orders:write"]));

    let here = format!("http://127.0.0.1:{port}/mcp");
    let protected = Protected::new(&here, [&issuer])
        .scopes_supported(["orders:read", "orders:write"])
        .name("Shop");
    let service = http::service(server)
        .protected(protected, JwtVerifier::new(&issuer, &here))
        .require_scopes(["orders:read"]);

    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    println!("ready");
    http::serve(listener, service).await?;
    Ok(())
}
