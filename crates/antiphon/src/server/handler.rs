//! [`Handler`]: plain `async fn`s as the handlers of tools, prompts, resources and completions.
//!
//! Three questions are asked of a function apart, so that the compiler can say which of them has
//! no answer: is it an async function at all ([`Handler`]), can each of its arguments be taken
//! from a call ([`Extract`], [`FromCall`]), can a reply be made of what it returns
//! ([`IntoReply`])?

use std::{
    future::{Future, poll_fn},
    marker::PhantomData,
    pin::{Pin, pin},
    task::{self, Poll},
};

use super::{Context, Description, FromCall, IntoReply, Stop, extract::Questions};
use crate::raw::Reply;

/// An async function of up to 12 arguments.
///
/// Whether it can serve a tool, a prompt or a resource is up to its arguments, each of which must
/// be an extractor ([`FromCall`]), and to what it returns, which must convert into the reply
/// ([`IntoReply`]). Implemented for functions and closures; there is nothing to implement by hand.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a handler",
    label = "not an async function of up to 12 arguments",
    note = "a handler is an `async fn`, or a closure that returns a future, whose arguments are extractors such as `Args<T>` or `State<S>`",
    note = "a function with `#[tool]` is no handler: add what it returns, `.add(name())`"
)]
pub trait Handler<M>: Clone + Send + Sync + 'static {
    /// What it returns.
    type Output;
    /// Its future.
    type Future: Future<Output = Self::Output>;

    /// Runs it.
    fn call(&self, arguments: M) -> Self::Future;
}

/// The arguments of a handler: a tuple of extractors.
///
/// Those that do not ask are taken first, in order, and the first that fails ends the call; then
/// those that do, all of them side by side, so that their questions leave together.
pub trait Extract<S>: Sized + Send + 'static {
    /// Whether none of them waits.
    #[doc(hidden)]
    const AT_ONCE: bool;

    /// Takes them all from one call without waiting.
    #[doc(hidden)]
    fn at_once(call: &Context<'_>, state: &S) -> Result<Self, Stop>;

    /// Takes them all from one call.
    fn extract(call: &Context<'_>, state: &S) -> impl Future<Output = Result<Self, Stop>> + Send;

    /// What they say about the handler.
    fn describe(description: &mut Description);
}

pub(crate) type Running<'a, R> = Pin<Box<dyn Future<Output = Result<Reply<R>, Stop>> + Send + 'a>>;

/// A handler whose types are forgotten.
pub(crate) trait Run<R, S>: Send + Sync {
    fn run<'a>(&'a self, call: &'a Context<'a>, state: &'a S) -> Running<'a, R>;
}

/// A handler before its types are forgotten.
pub(crate) struct Typed<F, M> {
    handler: F,
    arguments: PhantomData<fn(M)>,
}

impl<F, M> Typed<F, M> {
    pub(crate) fn new(handler: F) -> Self {
        Self {
            handler,
            arguments: PhantomData,
        }
    }
}

impl<R, S, F, M> Run<R, S> for Typed<F, M>
where
    S: Send + Sync,
    F: Handler<M>,
    F::Future: Send,
    F::Output: IntoReply<R>,
    M: Extract<S>,
{
    fn run<'a>(&'a self, call: &'a Context<'a>, state: &'a S) -> Running<'a, R> {
        // Which of the two is known when this is compiled, so that only that one is.
        if M::AT_ONCE {
            Box::pin(async move {
                let ended = match M::at_once(call, state) {
                    Ok(arguments) => match call.claimed().await {
                        Ok(()) => self.handler.call(arguments).await.into_reply(call),
                        Err(stop) => Err(stop),
                    },
                    Err(stop) => Err(stop),
                };
                call.settle(ended)
            })
        } else {
            Box::pin(async move {
                let ended = match M::extract(call, state).await {
                    Ok(arguments) => self.handler.call(arguments).await.into_reply(call),
                    Err(stop) => Err(stop),
                };
                call.settle(ended)
            })
        }
    }
}

/// A handler together with its state.
pub(crate) struct Bound<R, S> {
    pub(crate) handler: std::sync::Arc<dyn Run<R, S>>,
    pub(crate) state: S,
}

impl<R, S: Send + Sync, Other> Run<R, Other> for Bound<R, S> {
    fn run<'a>(&'a self, call: &'a Context<'a>, _: &'a Other) -> Running<'a, R> {
        self.handler.run(call, &self.state)
    }
}

/// An extractor, as it is being taken.
struct Slot<'a, F, T> {
    future: Pin<&'a mut F>,
    taken: Option<T>,
}

/// One whose type is forgotten.
trait Taking: Send {
    fn poll(&mut self, context: &mut task::Context<'_>) -> Poll<Result<(), Stop>>;
}

impl<F, T> Taking for Slot<'_, F, T>
where
    F: Future<Output = Result<T, Stop>> + Send,
    T: Send,
{
    fn poll(&mut self, context: &mut task::Context<'_>) -> Poll<Result<(), Stop>> {
        match self.future.as_mut().poll(context) {
            Poll::Ready(Ok(value)) => {
                self.taken = Some(value);
                Poll::Ready(Ok(()))
            }
            Poll::Ready(Err(stop)) => Poll::Ready(Err(stop)),
            Poll::Pending => Poll::Pending,
        }
    }
}

/// Takes all extractors of a handler, and what else comes before it runs. Which of them ask is in
/// `asks`.
async fn take(
    call: &Context<'_>,
    asks: &[bool],
    slots: &mut [&mut dyn Taking],
) -> Result<(), Stop> {
    for (asks, slot) in asks.iter().zip(&mut *slots) {
        if !asks {
            poll_fn(|context| slot.poll(context)).await?;
        }
    }
    call.claimed().await?;
    if !asks.contains(&true) {
        return Ok(());
    }
    gathered(side_by_side(asks, slots).await)
}

/// What comes of extractors that ask, of which these were stopped.
fn gathered(mut stops: Vec<(usize, Stop)>) -> Result<(), Stop> {
    if stops.is_empty() {
        return Ok(());
    }
    stops.sort_by_key(|(at, _)| *at);
    let mut questions = Questions::default();
    for (_, stop) in stops {
        questions.add(stop)?;
    }
    Err(questions.into_stop())
}

/// Runs all that ask to their ends, each while others wait; what stopped which of them.
async fn side_by_side(asks: &[bool], slots: &mut [&mut dyn Taking]) -> Vec<(usize, Stop)> {
    let mut running: u32 = (asks.iter().enumerate()).fold(0, |all, (at, asks)| match asks {
        true => all | 1 << at,
        false => all,
    });
    let mut stops = Vec::new();
    poll_fn(|context| {
        for (at, slot) in slots.iter_mut().enumerate() {
            if running & (1 << at) != 0
                && let Poll::Ready(taken) = slot.poll(context)
            {
                running &= !(1 << at);
                stops.extend(taken.err().map(|stop| (at, stop)));
            }
        }
        match running {
            0 => Poll::Ready(()),
            _ => Poll::Pending,
        }
    })
    .await;
    stops
}

macro_rules! handlers {
    ($($T:ident)*) => {
        impl<F, Fut, $($T,)*> Handler<($($T,)*)> for F
        where
            F: Fn($($T,)*) -> Fut + Clone + Send + Sync + 'static,
            Fut: Future,
        {
            type Output = Fut::Output;
            type Future = Fut;

            #[allow(non_snake_case, reason = "a value is named as its type")]
            fn call(&self, ($($T,)*): ($($T,)*)) -> Fut {
                self($($T,)*)
            }
        }

        impl<S: Send + Sync, $($T: FromCall<S>,)*> Extract<S> for ($($T,)*) {
            const AT_ONCE: bool = $($T::AT_ONCE &&)* true;

            #[allow(unused_variables, reason = "there may be none")]
            fn at_once(call: &Context<'_>, state: &S) -> Result<Self, Stop> {
                Ok(($($T::at_once(call, state)?,)*))
            }

            #[allow(non_snake_case, unused_variables, unused_mut,
                reason = "a value is named as its type, and there may be none")]
            async fn extract(call: &Context<'_>, state: &S) -> Result<Self, Stop> {
                $(let mut $T = Slot {
                    future: pin!($T::from_call(call, state)),
                    taken: None,
                };)*
                take(call, &[$($T::ASKS),*], &mut [$(&mut $T),*]).await?;
                match ($($T.taken,)*) {
                    ($(Some($T),)*) => Ok(($($T,)*)),
                    #[allow(unreachable_patterns, reason = "not without arguments")]
                    _ => Err(Stop::internal()),
                }
            }

            #[allow(unused_variables, reason = "there may be none")]
            fn describe(description: &mut Description) {
                $($T::describe(description);)*
            }
        }
    };
}

handlers!();
handlers!(A);
handlers!(A B);
handlers!(A B C);
handlers!(A B C D);
handlers!(A B C D E);
handlers!(A B C D E G);
handlers!(A B C D E G H);
handlers!(A B C D E G H I);
handlers!(A B C D E G H I J);
handlers!(A B C D E G H I J K);
handlers!(A B C D E G H I J K L);
handlers!(A B C D E G H I J K L N);
