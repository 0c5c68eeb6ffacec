//! A shop of the SDK, with one of everything that commands ask a server for.

use std::{
    future::pending,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use antiphon::{
    Args, Contents, Image, Json, Logger, Progress, Prompt, Resource, Server, Tool,
    schemars::{self, JsonSchema},
};
use serde::{Deserialize, Serialize};

use crate::served::Served;

/// The first bytes of every such picture.
pub(crate) const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

#[derive(Deserialize, Serialize, JsonSchema)]
struct Order {
    title: String,
    copies: u32,
    #[serde(default)]
    gift: bool,
    #[serde(default)]
    tags: Vec<String>,
    price: Option<f64>,
}

#[derive(Deserialize, JsonSchema)]
struct Review {
    title: String,
    tone: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
struct Book {
    title: String,
}

async fn review(Args(review): Args<Review>) -> String {
    let tone = review.tone.as_deref().unwrap_or("plain");
    format!("Review {} in a {tone} tone.", review.title)
}

async fn busy(progress: Progress, logger: Logger) -> &'static str {
    progress.report_with(1_u32, Some(2_u32), "half");
    logger.debug("quietly");
    logger.warning("careful");
    "busy no more"
}

/// Says when it is let go of.
struct Held(Arc<AtomicBool>);

impl Drop for Held {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// What happens to the tool `stuck`.
#[derive(Clone, Default)]
pub(crate) struct Stuck {
    pub(crate) called: Arc<AtomicBool>,
    pub(crate) dropped: Arc<AtomicBool>,
}

/// The shop.
pub(crate) fn server(stuck: &Stuck) -> Server {
    let stuck = stuck.clone();
    let never = move || {
        let Stuck { called, dropped } = stuck.clone();
        async move {
            let _held = Held(dropped);
            called.store(true, Ordering::SeqCst);
            pending::<String>().await
        }
    };
    Server::new("shop", "1.0")
        .logging()
        .add(Tool::new("order", async |Args(order): Args<Order>| {
            Json(order)
        }))
        .add(Tool::new("fail", async || {
            Err::<String, _>("sold out: \u{1b}[2Jnothing left")
        }))
        .add(Tool::new("picture", async || Image::new(PNG, "image/png")))
        .add(Tool::new("busy", busy))
        .add(Tool::new("stuck", never))
        .add(
            Prompt::new("review", review)
                .choices("tone", ["plain", "poetic"])
                .choices("title", ["Dune", "Dubliners", "Emma"]),
        )
        .add(Resource::new("shop://about", async || "A book shop.").watched())
        .add(
            Resource::new("shop://cover.png", async || {
                Contents::blob(PNG).mime_type("image/png")
            })
            .mime_type("image/png"),
        )
        .add(
            Resource::new("shop://books/{title}", async |Args(book): Args<Book>| {
                format!("About {}.", book.title)
            })
            .choices("title", ["Dune", "Emma"]),
        )
}

/// The shop, open.
pub(crate) fn open() -> Served {
    Served::server(server(&Stuck::default()))
}
