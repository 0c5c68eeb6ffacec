//! Extractors: what a handler's arguments can be.

mod args;
mod client;
mod http;
mod resolved;
mod round;
mod running;
mod state;

use std::future::Future;

use antiphon_types::InputRequired;

use super::{Context, Description, Stop, stop::Why};

/// How an extractor that never waits takes its value.
macro_rules! at_once {
    (|$call:pat_param, $state:pat_param| $taken:expr) => {
        const AT_ONCE: bool = true;

        fn at_once(
            $call: &$crate::server::Context<'_>,
            $state: &S,
        ) -> Result<Self, $crate::server::Stop> {
            $taken
        }

        async fn from_call(
            call: &$crate::server::Context<'_>,
            state: &S,
        ) -> Result<Self, $crate::server::Stop> {
            Self::at_once(call, state)
        }
    };
}
pub(super) use at_once;

pub use self::{
    args::{Args, Prefix},
    client::ClientInfo,
    http::Extension,
    resolved::Resolved,
    round::{RequestState, Responses},
    state::{FromRef, State},
};

/// A value that can be taken from a call: what an argument of a handler must be.
///
/// | argument | what it is |
/// |---|---|
/// | [`Args<T>`] | the arguments, as your type |
/// | [`State<S>`] | the server's state, or a part of it |
/// | [`Call`](crate::Call) | the whole call, as a value to keep |
/// | [`Ask`](crate::Ask) | asks for what only the user has |
/// | [`Resolved<T>`](Resolved) | what a resolver found, or asked for |
/// | [`Responses`], [`RequestState<S>`](RequestState) | answers to what was asked, and what was carried along |
/// | [`Progress`](crate::Progress), [`Logger`](crate::Logger) | the way back while it runs |
/// | [`CancellationToken`](crate::CancellationToken) | for work moved to other tasks |
/// | [`Principal`](crate::auth::Principal) | who calls; `Option<Principal>` if it may be nobody |
/// | [`ClientInfo`], [`ClientCapabilities`](crate::types::ClientCapabilities) | what the client says of itself |
/// | [`HeaderMap`](::http::HeaderMap), [`Extension<T>`] | the HTTP request's headers; what layers attached |
/// | [`Server`](crate::Server) | the running server, to change or announce things |
/// | [`Prefix`] | in a completion: what was typed so far |
/// | `Option<T>`, `Result<T, Stop>` | what may be absent; what may fail |
///
/// Write your own for what several handlers need:
///
/// ```
/// use antiphon::{Context, FromCall, State, Stop};
///
/// #[derive(Clone)]
/// struct Shop { accounts: Vec<String> }
///
/// /// The customer a token speaks for.
/// struct Customer(String);
///
/// impl FromCall<Shop> for Customer {
///     async fn from_call(call: &Context<'_>, shop: &Shop) -> Result<Self, Stop> {
///         let subject = call.principal().and_then(|who| who.subject.clone());
///         match subject.filter(|subject| shop.accounts.contains(subject)) {
///             Some(subject) => Ok(Self(subject)),
///             None => Err(Stop::fail("There is no account for you here.")),
///         }
///     }
/// }
///
/// async fn orders(Customer(name): Customer) -> String {
///     format!("No orders for {name}.")
/// }
/// # let _ = antiphon::Server::new("shop", "1.0").tool("orders", orders)
/// #     .with_state::<()>(Shop { accounts: vec![] });
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an extractor: a handler cannot take it as an argument",
    label = "not an extractor",
    note = "an argument is `Args<T>` (where `T: Deserialize + JsonSchema`), `State<S>`, `Call` or another type that implements `FromCall`",
    note = "the arguments a client sends come as one struct: `Args(input): Args<Input>`",
    note = "in a function with `#[tool]` or `#[resolver]` they are marked one by one: `#[arg] name: String`"
)]
// An `impl` whose bounds may be what is missing is recommended by the compiler, others are not:
// the notes say more than a list of them.
pub trait FromCall<S>: Sized + Send + 'static {
    /// Whether it may end the call with questions. Extractors that ask are taken after all
    /// others, and their questions leave together.
    const ASKS: bool = false;

    /// Whether it never waits. A handler of nothing but such extractors is a future less, in what its
    /// author compiles and in what a call costs.
    #[doc(hidden)]
    const AT_ONCE: bool = false;

    /// What is called instead of [`from_call`](Self::from_call) then.
    #[doc(hidden)]
    fn at_once(call: &Context<'_>, state: &S) -> Result<Self, Stop> {
        _ = (call, state);
        Err(Stop::internal())
    }

    /// Takes the value from a call.
    fn from_call(call: &Context<'_>, state: &S) -> impl Future<Output = Result<Self, Stop>> + Send;

    /// What it says about the handlers that take it: an extractor that reads arguments names
    /// them here, so that they are part of the schema.
    fn describe(description: &mut Description) {
        _ = description;
    }
}

/// An extractor that may find nothing: what makes `Option<Self>` one too.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an extractor that may be absent",
    label = "`Option<{Self}>` is not an extractor",
    note = "take `{Self}` without `Option` if it is an extractor; if a client may leave out an argument, it is an `Option` inside the struct in `Args`",
    note = "what a resolver asks for and a user may decline is a `Resolved<Answer<T>>`"
)]
pub trait OptionalFromCall<S>: Sized + Send + 'static {
    /// See [`FromCall::ASKS`].
    const ASKS: bool = false;

    /// Takes the value, if there is one.
    fn from_call(
        call: &Context<'_>,
        state: &S,
    ) -> impl Future<Output = Result<Option<Self>, Stop>> + Send;

    /// See [`FromCall::describe`].
    fn describe(description: &mut Description) {
        _ = description;
    }
}

impl<S: Sync, T: OptionalFromCall<S>> FromCall<S> for Option<T> {
    const ASKS: bool = T::ASKS;

    async fn from_call(call: &Context<'_>, state: &S) -> Result<Self, Stop> {
        T::from_call(call, state).await
    }

    fn describe(description: &mut Description) {
        T::describe(description);
    }
}

/// The failure goes to the handler instead of ending the call. A question is none, and is asked.
impl<S: Sync, T: FromCall<S>> FromCall<S> for Result<T, Stop> {
    const ASKS: bool = T::ASKS;

    async fn from_call(call: &Context<'_>, state: &S) -> Result<Self, Stop> {
        let taken = T::from_call(call, state).await;
        match taken {
            Err(stop) if stop.asks() || stop.is_repeat() => Err(stop),
            Err(stop) => {
                call.hand_over(&stop);
                Ok(Err(stop))
            }
            taken => Ok(taken),
        }
    }

    fn describe(description: &mut Description) {
        T::describe(description);
    }
}

/// The questions of all the extractors that ask, gathered.
#[derive(Default)]
pub(crate) struct Questions {
    by_hand: Option<InputRequired>,
    /// Whether there are others, which the call knows itself.
    asked: bool,
}

impl Questions {
    /// Adds the questions of one extractor.
    ///
    /// # Errors
    /// What is no question ends the call; so do two states, of which only one can be carried.
    pub(crate) fn add(&mut self, stop: Stop) -> Result<(), Stop> {
        let more = match stop.why() {
            Why::Ask(more) => more,
            Why::Asked => {
                self.asked = true;
                return Ok(());
            }
            why => return Err(Stop::because(why)),
        };
        self.by_hand = Some(match self.by_hand.take() {
            None => more,
            Some(questions) => together(questions, &more)?,
        });
        Ok(())
    }

    pub(crate) fn into_stop(self) -> Stop {
        match self.by_hand {
            Some(questions) => Stop::ask(questions),
            None if self.asked => Stop::asked(),
            None => Stop::internal(),
        }
    }
}

fn together(questions: InputRequired, more: &InputRequired) -> Result<InputRequired, Stop> {
    if questions.state().is_some() && more.state().is_some() {
        tracing::error!("two extractors ask with a state of their own; only one can be carried");
        return Err(Stop::internal());
    }
    let state = more.state().map(str::to_owned);
    let mut all = questions;
    for (key, request) in more.requests() {
        all = all.and(key, request.clone());
    }
    Ok(match state {
        Some(state) => all.with_state(state),
        None => all,
    })
}
