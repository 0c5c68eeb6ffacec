//! [`Ask::anchor`]: nothing is done in a request that nobody would know again.

use std::time::Duration;

use super::{Ask, Stop};

impl Ask {
    /// Makes sure that this call is known by its state before anything is done: in the first round
    /// the client comes back by itself, at once; in all later ones nothing happens.
    ///
    /// A first request that is sent twice, because its response was lost, is two calls to a server:
    /// nothing tells them apart from two orders. What comes before this is done in both; what comes
    /// after, in the one that the client goes on with. A handler that asks before its first effect
    /// has no need of it. It costs one round trip.
    ///
    /// ```
    /// use antiphon::{Ask, Stop};
    ///
    /// # async fn pay(_: &str) -> Result<u32, Stop> { Ok(17) }
    /// async fn charge(ask: Ask) -> Result<String, Stop> {
    ///     ask.anchor()?;
    ///     let key = ask.idempotency_key("charge");
    ///     let number = ask.once("charge", async || pay(&key).await).await?;
    ///     Ok(format!("Charge {number}."))
    /// }
    /// # let _ = antiphon::Server::<()>::new("shop", "1.0").tool("charge", charge);
    /// ```
    ///
    /// # Errors
    /// In the first round; to be returned by `?`.
    pub fn anchor(&self) -> Result<(), Stop> {
        match self.round() {
            0 => Err(self.come_back("anchor", Duration::ZERO)),
            _ => Ok(()),
        }
    }
}
