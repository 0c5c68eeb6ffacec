//! What the demo serves: a flow a file, each for one need.
//!
//! | what | asks | shows |
//! |---|---|---|
//! | `provision {name}` | region | a choice |
//! | `issue_card {}` | name | a tool without arguments |
//! | `deploy {env}` | confirm | no is an answer, too |
//! | `new_database {}` | name and region | two questions in one round |
//! | `wipe_cache {}` | confirm, then scope | a question that follows from an answer |
//! | `wizard {}` | name, then age | step by step |
//! | `charge {amount}` | confirm, receipt | an effect that happens once |
//! | `order_book {title, copies}` | backorder, if it is not in stock | what is needed before |
//! | `summarize {text}` | summary | the client's model |
//! | `workspace {}` | roots | the client's directories |
//! | `sign_in {}` | signin | a page, past the client |
//! | `report {rounds}` | nothing | work that takes its time |
//! | `client_features {}` | nothing | what the client says it can do |
//! | prompt `brief {topic}` | audience | prompts ask |
//! | `vault://{id}` | reason | resources ask |

mod brief;
mod charge;
mod client_features;
mod deploy;
mod issue_card;
mod new_database;
mod order_book;
mod provision;
mod report;
mod sign_in;
mod summarize;
mod vault;
mod wipe_cache;
mod wizard;
mod workspace;

use antiphon::{FromRef, Prompt, Resource, Server};

use charge::Till;
use order_book::Orders;
pub(crate) use sign_in::SignIn;

/// What the flows share.
#[derive(Clone)]
struct Shared {
    till: Till,
    orders: Orders,
    sign_in: SignIn,
}

impl FromRef<Shared> for Till {
    fn from_ref(shared: &Shared) -> Self {
        shared.till.clone()
    }
}

impl FromRef<Shared> for Orders {
    fn from_ref(shared: &Shared) -> Self {
        shared.orders.clone()
    }
}

impl FromRef<Shared> for SignIn {
    fn from_ref(shared: &Shared) -> Self {
        shared.sign_in.clone()
    }
}

/// The server.
pub(crate) fn server(sign_in: SignIn) -> Server {
    serve(Shared {
        till: Till::default(),
        orders: Orders::default(),
        sign_in,
    })
}

fn serve(shared: Shared) -> Server {
    let brief = Prompt::new("brief", brief::brief).description("Brief somebody about a topic.");
    let vault = Resource::new("vault://{id}", vault::vault)
        .name("vault")
        .description("What is kept in a vault, for those who say why.");
    Server::new("antiphon-demo", env!("CARGO_PKG_VERSION"))
        .instructions("Every tool here needs something that only the user has, and asks for it.")
        .add(provision::provision())
        .add(issue_card::issue_card())
        .add(deploy::deploy())
        .add(new_database::new_database())
        .add(wipe_cache::wipe_cache())
        .add(wizard::wizard())
        .add(charge::charge())
        .add(order_book::order_book())
        .add(summarize::summarize())
        .add(workspace::workspace())
        .add(sign_in::sign_in())
        .add(report::report())
        .add(client_features::client_features())
        .add(brief)
        .add(vault)
        .with_state(shared)
}

#[cfg(test)]
mod tests;
