//! A panicking handler costs its own call, nothing else.

use std::{
    any::Any,
    future::Future,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    task::{Context, Poll},
};

/// Runs a handler; a panic becomes an error with the panic's text.
///
/// What the handler shared with others across an unwind is its own concern: nothing of ours is
/// left half changed, because a call owns everything it writes to.
pub(crate) struct Caught<F>(pub(crate) F);

impl<F: Future + Unpin> Future for Caught<F> {
    type Output = Result<F::Output, String>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let future = Pin::new(&mut self.0);
        match catch_unwind(AssertUnwindSafe(|| future.poll(context))) {
            Ok(poll) => poll.map(Ok),
            Err(panic) => Poll::Ready(Err(text(&*panic))),
        }
    }
}

/// Makes a future and runs it; a panic in either is an error with its text.
pub(crate) async fn run<F: Future + Unpin>(make: impl FnOnce() -> F) -> Result<F::Output, String> {
    Caught(caught(make)?).await
}

/// Does something; a panic is an error with its text.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| text(&*panic))
}

/// The text of a caught panic.
pub(crate) fn text(panic: &(dyn Any + Send)) -> String {
    panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a text".to_owned())
}
