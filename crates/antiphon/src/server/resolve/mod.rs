//! [`Resolve`]: values that handlers declare to need, and that are found, or asked for, before.

mod graph;
mod memo;

use std::future::Future;

use antiphon_types::ErrorObject;

use super::{Answer, Context, Description, Stop, fault::Fault};

pub(crate) use self::{
    graph::Graph,
    memo::{Memo, Resolver},
};

/// A value that is found, or asked for, before a handler runs: what
/// [`Resolved<T>`](crate::Resolved) takes.
///
/// [`#[resolver]`](macro@crate::resolver) makes one of an `async fn`. By hand it is this:
///
/// ```
/// use antiphon::{Ask, Context, Description, Form, Resolve, Resolved, Server, Stop};
///
/// #[derive(Clone)]
/// struct Shop;
///
/// #[derive(Clone)]
/// struct Stock(u32);
///
/// impl Resolve<Shop> for Stock {
///     const NAME: &str = "stock";
///
///     async fn resolve(_: &Context<'_>, _: &Shop) -> Result<Self, Stop> {
///         Ok(Self(0))
///     }
/// }
///
/// #[derive(Form, Clone)]
/// struct Backorder { accept: bool }
///
/// impl Resolve<Shop> for Backorder {
///     const NAME: &str = "backorder";
///
///     async fn resolve(call: &Context<'_>, shop: &Shop) -> Result<Self, Stop> {
///         match call.resolve::<Stock, _>(shop).await? {
///             Stock(0) => call.ask()?.form("backorder", "It is out of stock. Order it?"),
///             Stock(_) => Ok(Self { accept: true }),
///         }
///     }
///
///     fn describe(description: &mut Description) {
///         description.takes::<Resolved<Stock>, Shop>();
///         description.takes::<Ask, Shop>();
///     }
/// }
///
/// async fn order(Resolved(backorder): Resolved<Backorder>) -> &'static str {
///     if backorder.accept { "Ordered." } else { "Nothing was ordered." }
/// }
/// # let _ = Server::new("shop", "1.0").tool("order", order).with_state::<()>(Shop);
/// ```
///
/// `S` is the server's state.
#[diagnostic::on_unimplemented(
    message = "nothing resolves `{Self}` for a server whose state is `{S}`",
    label = "no resolver",
    note = "a resolver of `T` is an `async fn` with `#[resolver]` that returns a `T`, or a `Result` with one; it also gives an `Answer<T>`",
    note = "all that it takes must be there too: look at its own arguments, and at what those of its resolvers are"
)]
pub trait Resolve<S>: Clone + Send + Sync + 'static {
    /// What it is called, without a point. All keys that it uses begin with this, so they are
    /// nobody else's.
    const NAME: &'static str;

    /// Finds the value, or asks for it. Runs once in a round, however many take it.
    fn resolve(call: &Context<'_>, state: &S) -> impl Future<Output = Result<Self, Stop>> + Send;

    /// What it takes from a call, [one by one](Description::takes). That is checked when whatever
    /// takes this is registered: arguments that are not there, and circles, are found then.
    fn describe(description: &mut Description) {
        _ = description;
    }

    /// How it is taken from a call.
    #[doc(hidden)]
    fn obtain(call: &Context<'_>, state: &S) -> impl Future<Output = Result<Self, Stop>> + Send
    where
        S: Sync,
    {
        call.resolve_once(state)
    }

    /// How it is declared.
    #[doc(hidden)]
    fn declare(description: &mut Description) {
        description.resolver::<Self>(Self::NAME, Self::describe);
    }
}

/// What the user did, for those who go on without: declining, or going away from, whatever was
/// asked for this value does not end the call.
#[diagnostic::do_not_recommend]
impl<S, T: Resolve<S>> Resolve<S> for Answer<T> {
    const NAME: &'static str = T::NAME;

    fn resolve(call: &Context<'_>, state: &S) -> impl Future<Output = Result<Self, Stop>> + Send {
        let value = T::resolve(call, state);
        async { Self::of(value.await) }
    }

    fn describe(description: &mut Description) {
        T::describe(description);
    }

    fn obtain(call: &Context<'_>, state: &S) -> impl Future<Output = Result<Self, Stop>> + Send
    where
        S: Sync,
    {
        let value = T::obtain(call, state);
        async { Self::of(value.await) }
    }

    fn declare(description: &mut Description) {
        T::declare(description);
    }
}

impl Context<'_> {
    /// Takes what a resolver gives: how resolvers, extractors and layers do what
    /// [`Resolved<T>`](crate::Resolved) does for handlers.
    ///
    /// There is one value of a type in a round, for layers and handlers alike, from whichever state
    /// it was found first.
    ///
    /// Await it to its end: it runs as part of whoever takes it first. If that is dropped, the next
    /// begins it anew; if it is kept and not polled, the next waits for it.
    ///
    /// # Errors
    /// Those of the resolver. `-32603` if it waits for whoever asks here.
    pub async fn resolve<T, S>(&self, state: &S) -> Result<T, Stop>
    where
        T: Resolve<S>,
        S: Sync,
    {
        T::obtain(self, state).await
    }

    async fn resolve_once<T, S>(&self, state: &S) -> Result<T, Stop>
    where
        T: Resolve<S>,
        S: Sync,
    {
        let entered = self.memo().enter::<T>(T::NAME, self.resolver());
        let waiting = entered.map_err(|fault| self.fault(fault))?;
        let run = async || {
            let call = self.within(waiting.resolver);
            // Boxed, since those that lead to each other have no size otherwise.
            let run: memo::Running<'_, T> = Box::pin(async {
                // A layer may come to it before anybody has claimed the state.
                call.claimed().await?;
                T::resolve(&call, state).await
            });
            run.await.map_err(Into::into)
        };
        match waiting.given.get_or_init(run).await {
            Ok(value) => Ok(value.clone()),
            Err(stop) => Err(stop.tell()),
        }
    }

    /// A mistake of the author's: the call ends, whatever is made of this.
    fn fault(&self, fault: Fault) -> Stop {
        tracing::error!("{fault}");
        let error = ErrorObject::internal(format!("Internal error: {fault}"));
        self.server().settings.faults.tell(fault);
        if let Some(Ok(dialogue)) = self.leg().map(|leg| leg.dialogue(self)) {
            let mut run = dialogue.run();
            run.broken.get_or_insert_with(|| error.clone());
        }
        error.into()
    }
}
