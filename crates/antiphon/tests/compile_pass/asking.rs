//! Handlers that ask, in the ways that people write them.

use std::{collections::HashMap, fmt::Display, time::Duration};

use antiphon::{Answer, Args, Ask, Form, Server, State, Stop, schemars::JsonSchema};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

#[derive(Deserialize, JsonSchema)]
struct Order {
    title: String,
    size: Option<u32>,
}

#[derive(Form)]
struct Confirm {
    confirm: bool,
}

#[derive(Form)]
struct Size {
    size: u32,
}

#[derive(Clone)]
struct Shop {
    prices: HashMap<String, u32>,
}

impl Shop {
    async fn price(&self, title: &str) -> Option<u32> {
        tokio::task::yield_now().await;
        self.prices.get(title).copied()
    }

    /// A method that asks.
    async fn charge(&self, ask: &Ask, title: &str) -> Result<u32, Stop> {
        let price = ask
            .once("price", async || {
                self.price(title).await.ok_or_else(|| Stop::fail(title))
            })
            .await?;
        sure(ask, format!("{price} for {title}?")).await?;
        Ok(price)
    }
}

/// A function that asks.
async fn sure(ask: &Ask, what: impl Display + Send) -> Result<(), Stop> {
    match ask.form("confirm", what.to_string())? {
        Answer::Accept(Confirm { confirm: true }) => Ok(()),
        _ => Err(Stop::fail("Then not.")),
    }
}

/// A generic one, around work of any kind.
async fn timed<T, F>(ask: &Ask, key: &str, work: F) -> Result<T, Stop>
where
    T: Serialize + DeserializeOwned + Send,
    F: Future<Output = Result<T, Stop>> + Send,
{
    ask.once(key, async || {
        let within = tokio::time::timeout(Duration::from_secs(1), work).await;
        within.map_err(Stop::from)?
    })
    .await
}

/// Borrows its locals, also within loops, and holds them over awaits.
async fn order(
    Args(order): Args<Order>,
    State(shop): State<Shop>,
    ask: Ask,
) -> Result<String, Stop> {
    let Size { size } = ask.given(order.size).or_form("size", "Which size?")?;
    let title = order.title.as_str();
    let mut paid = Vec::new();
    for number in 0..size {
        let key = format!("copy {number}");
        let price = ask
            .once(&key, async || {
                let price = shop.price(title).await;
                Ok((number, price, title.to_owned()))
            })
            .await?;
        paid.push(price);
    }
    let price = shop.charge(&ask, title).await?;
    let (one, two) = tokio::join!(
        timed(&ask, "one", async { Ok(title.len()) }),
        timed(&ask, "two", async { Ok(price) }),
    );
    let closure = async |what: &str| sure(&ask, what).await;
    closure("Really?").await?;
    let moved = paid;
    let total = ask
        .once("total", async move || {
            Ok(moved.len() + one? + two? as usize)
        })
        .await?;
    Ok(format!("{total}"))
}

/// On a task of its own, which is waited for.
async fn elsewhere(ask: Ask) -> Result<String, Stop> {
    let theirs = ask.clone();
    let task = tokio::spawn(async move { theirs.once("work", async || Ok(7)).await });
    let number: u32 = task.await??;
    Ok(number.to_string())
}

/// In a function that is not async.
#[expect(clippy::manual_async_fn, reason = "that is what is shown")]
fn by_hand(ask: Ask) -> impl Future<Output = Result<String, Stop>> {
    async move {
        sure(&ask, "Sure?").await?;
        Ok("done".to_owned())
    }
}

#[test]
fn all_of_them_register() {
    let prices = HashMap::new();
    let _: Server = Server::new("shop", "1.0")
        .tool("order", order)
        .tool("elsewhere", elsewhere)
        .tool("by_hand", by_hand)
        .prompt("by_hand", by_hand)
        .with_state(Shop { prices });
}
