//! [`Resolved`]: what a resolver gives.

use super::{Context, FromCall, Stop};
use crate::server::{Description, resolve::Resolve};

/// What a resolver gives: an extractor.
///
/// A resolver is an `async fn` with [`#[resolver]`](macro@crate::resolver). It may take whatever a
/// handler takes, other resolvers among them, and may ask. In one round it runs once, however many
/// take what it gives; those that do not need each other run side by side, and their
/// questions leave together. Nothing of it is in the schema, and no client can supply it.
///
/// ```
/// use antiphon::{Ask, Form, Resolved, Server, State, Stop, resolver, tool};
///
/// #[derive(Clone)]
/// struct Shop { copies: u32 }
///
/// #[derive(Clone)]
/// struct Stock(u32);
///
/// #[resolver]
/// async fn stock(#[arg] title: String, State(shop): State<Shop>) -> Stock {
///     Stock(if title == "Dune" { shop.copies } else { 0 })
/// }
///
/// #[derive(Form, Clone)]
/// struct Backorder { accept: bool }
///
/// #[resolver]
/// async fn backorder(Resolved(stock): Resolved<Stock>, ask: Ask) -> Result<Backorder, Stop> {
///     match stock {
///         Stock(0) => ask.form("backorder", "It is out of stock. Order it nevertheless?"),
///         Stock(_) => Ok(Backorder { accept: true }),
///     }
/// }
///
/// /// Order a book.
/// #[tool]
/// async fn order(#[arg] title: String, Resolved(it): Resolved<Backorder>) -> String {
///     if it.accept { format!("Ordered {title}.") } else { "Nothing was ordered.".to_owned() }
/// }
///
/// let server: Server = Server::new("shop", "1.0").add(order()).with_state(Shop { copies: 3 });
/// ```
///
/// A user who declines ends the call. Take a `Resolved<Answer<T>>` to go on without.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Resolved<T>(pub T);

impl<S: Sync, T: Resolve<S>> FromCall<S> for Resolved<T> {
    const ASKS: bool = true;

    async fn from_call(call: &Context<'_>, state: &S) -> Result<Self, Stop> {
        T::obtain(call, state).await.map(Self)
    }

    fn describe(description: &mut Description) {
        T::declare(description);
    }
}
