//! Completions: what fits what the user has typed.

use std::sync::Arc;

use antiphon_types::CompleteResult;

use super::{
    Context, Extract, Handler, IntoReply,
    entry::{Around, Entry},
    handler::{Bound, Run, Running, Typed},
    layer::Layers,
};
use crate::raw::Reply;

/// Who completes one argument.
pub(crate) struct Completer<S> {
    pub(crate) argument: String,
    work: Work<S>,
}

enum Work<S> {
    Handler(Arc<dyn Run<CompleteResult, S>>),
    Choices(Arc<[String]>),
}

impl<S: Send + Sync + 'static> Completer<S> {
    pub(crate) fn handler<F, M>(argument: String, handler: F) -> Self
    where
        F: Handler<M>,
        F::Future: Send,
        F::Output: IntoReply<CompleteResult>,
        M: Extract<S>,
    {
        Self {
            argument,
            work: Work::Handler(Arc::new(Typed::new(handler))),
        }
    }

    pub(crate) fn with_state<Other>(&self, state: &S) -> Completer<Other>
    where
        S: Clone,
    {
        Completer {
            argument: self.argument.clone(),
            work: match &self.work {
                Work::Choices(choices) => Work::Choices(choices.clone()),
                Work::Handler(handler) => Work::Handler(Arc::new(Bound {
                    handler: handler.clone(),
                    state: state.clone(),
                })),
            },
        }
    }
}

impl<S> Completer<S> {
    pub(crate) fn choices(argument: String, choices: Vec<String>) -> Self {
        Self {
            argument,
            work: Work::Choices(choices.into()),
        }
    }
}

impl<S> Clone for Completer<S> {
    fn clone(&self) -> Self {
        Self {
            argument: self.argument.clone(),
            work: match &self.work {
                Work::Handler(handler) => Work::Handler(handler.clone()),
                Work::Choices(choices) => Work::Choices(choices.clone()),
            },
        }
    }
}

/// The completer of one argument, if there is one, within the layers of what the argument belongs to.
pub(crate) struct Completing<'e> {
    pub(crate) completer: Option<&'e Completer<()>>,
    pub(crate) around: &'e Around,
}

impl Entry for Completing<'_> {
    type Result = CompleteResult;

    fn layers(&self) -> &Layers {
        &self.around.layers
    }

    fn attempt<'a>(&'a self, call: &'a Context<'a>) -> Running<'a, CompleteResult> {
        let values = match self.completer.map(|completer| &completer.work) {
            Some(Work::Handler(handler)) => return handler.run(call, &()),
            Some(Work::Choices(choices)) => fitting(choices, call.prefix().unwrap_or_default()),
            None => Vec::new(),
        };
        Box::pin(async move { Ok(Reply::Complete(CompleteResult::new(values))) })
    }
}

/// The choices that begin with what was typed, in either case.
fn fitting(choices: &[String], prefix: &str) -> Vec<String> {
    let prefix = prefix.to_lowercase();
    let fits = |choice: &&String| choice.to_lowercase().starts_with(&prefix);
    choices.iter().filter(fits).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_narrowed_as_one_types() {
        let choices = ["Formal", "friendly", "Café", "terse"].map(String::from);
        assert_eq!(fitting(&choices, ""), choices);
        assert_eq!(fitting(&choices, "f"), ["Formal", "friendly"]);
        assert_eq!(fitting(&choices, "CAFÉ"), ["Café"]);
        assert!(fitting(&choices, "formally").is_empty());
    }
}
