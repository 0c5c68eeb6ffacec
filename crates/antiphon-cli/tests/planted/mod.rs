//! [`Planted`]: an interactive server that was written by hand, speaks real HTTP, and is right in
//! everything but the one thing that it was told to do wrong. For 2026-07-28, and for sessions of
//! 2025-11-25.
//!
//! It has the tools `order` and `reserve`, which ask a form, and `pay`, which asks by link; the
//! prompt `brief` and the resource `shop://ledger`, which ask as well. The tokens `one` and `two`
//! are those of two principals. Two replicas stand for one server.

mod flaw;
mod http;
mod json;
mod listing;
mod modern;
mod older;
mod questions;
mod shop;
mod state;
mod used;

use std::{sync::Arc, time::Duration};

use axum::Router;
use tokio::{net::TcpListener, task::JoinHandle};

pub(crate) use flaw::{FLAWS, Flaw};

use self::{http::Replica, shop::Shop};
use crate::runtime::RUNTIME;

/// How long states live that need not expire.
const LIFE: Duration = Duration::from_secs(600);

/// A server, until it is dropped.
pub(crate) struct Planted {
    pub(crate) url: String,
    /// Its other replica.
    pub(crate) replica: String,
    tasks: [JoinHandle<()>; 2],
}

impl Planted {
    /// Serves with this flaw, or with none.
    pub(crate) fn serve(flaw: Option<Flaw>) -> Self {
        Self::serve_with_life(flaw, LIFE)
    }

    /// The same, with states that live as long as this.
    pub(crate) fn serve_with_life(flaw: Option<Flaw>, life: Duration) -> Self {
        let shop = Arc::new(Shop::new(flaw, life));
        let [(url, first), (replica, second)] = [0, 1].map(|number| {
            listen(Replica {
                shop: shop.clone(),
                number,
                sessions: older::Sessions::default(),
            })
        });
        Self {
            url,
            replica,
            tasks: [first, second],
        }
    }
}

impl Drop for Planted {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

fn listen(replica: Replica) -> (String, JoinHandle<()>) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    listener.set_nonblocking(true).expect("a socket");
    let app = Router::new()
        .fallback(http::answer)
        .with_state(Arc::new(replica));
    let task = RUNTIME.spawn(async move {
        let listener = TcpListener::from_std(listener).expect("a socket");
        _ = axum::serve(listener, app).await;
    });
    (format!("http://{address}/mcp"), task)
}
