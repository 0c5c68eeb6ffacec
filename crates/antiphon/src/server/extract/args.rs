//! [`Args`]: the arguments of a call, as a type.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::{Context, FromCall, OptionalFromCall, Stop, at_once};
use crate::server::Description;

/// The arguments of a call as a type of yours.
///
/// * **Tools** read them from JSON. The type's schema is the tool's input schema, its doc comment
///   the tool's description, the doc comments of its fields those of the arguments.
/// * **Prompts** and **resource templates** get strings, which are parsed: numbers, booleans,
///   enums and `Option`s are as welcome as `String`.
///
/// Arguments that violate the schema never get here: a tool answers with an error result that
/// names each of them (AMB-10), a prompt or a resource with `-32602`.
///
/// ```
/// use antiphon::{Args, schemars::{self, JsonSchema}};
/// use serde::Deserialize;
///
/// /// Order a book.
/// #[derive(Deserialize, JsonSchema)]
/// struct Order {
///     /// As it stands on the cover.
///     title: String,
///     #[schemars(range(min = 1, max = 10))]
///     copies: u32,
/// }
///
/// async fn order(Args(order): Args<Order>) -> String {
///     format!("{} times {}", order.copies, order.title)
/// }
/// # let _ = antiphon::Server::<()>::new("shop", "1.0").tool("order", order);
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Args<T>(pub T);

impl<S: Sync, T> FromCall<S> for Args<T>
where
    T: DeserializeOwned + JsonSchema + Send + 'static,
{
    at_once!(|call, _| call.args().map(Self));

    fn describe(description: &mut Description) {
        description.decoded::<T>();
    }
}

/// What the user has typed so far of the argument to be completed. Only in completions.
///
/// The other arguments, as far as they are known, are there as [`Args`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prefix(pub String);

#[diagnostic::do_not_recommend]
impl<S: Sync> FromCall<S> for Prefix {
    at_once!(|call, _| {
        match call.prefix() {
            Some(prefix) => Ok(Self(prefix.to_owned())),
            None => Err(Stop::reject(-32603, "Only a completion has a prefix")),
        }
    });

    fn describe(description: &mut Description) {
        description.completes();
    }
}

impl<S: Sync> OptionalFromCall<S> for Prefix {
    async fn from_call(call: &Context<'_>, _: &S) -> Result<Option<Self>, Stop> {
        Ok(call.prefix().map(|prefix| Self(prefix.to_owned())))
    }
}
