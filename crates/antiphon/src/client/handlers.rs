//! Who answers which kind of question.

use std::{future::Future, sync::Arc};

use antiphon_core::question::Kind;
use antiphon_types::{ClientCapabilities, ElicitRequestParams, InputRequest};

use super::{
    Form, Link, Pending, Reply, Roots, Sample,
    question::{About, Question},
};

type Callback<Q> = Arc<dyn Fn(Q) -> Pending<'static, Reply> + Send + Sync>;

/// Erases the types of a callback.
pub(super) fn callback<Q, F, R>(f: impl Fn(Q) -> F + Send + Sync + 'static) -> Answerer<Q>
where
    F: Future<Output = R> + Send + 'static,
    R: Into<Reply>,
{
    Answerer::Callback(Arc::new(move |question| {
        let reply = f(question);
        Box::pin(async move { reply.await.into() })
    }))
}

/// Who answers one kind.
pub(super) enum Answerer<Q> {
    Nobody,
    /// The caller, by hand.
    Caller,
    Callback(Callback<Q>),
}

impl<Q> Clone for Answerer<Q> {
    fn clone(&self) -> Self {
        match self {
            Self::Nobody => Self::Nobody,
            Self::Caller => Self::Caller,
            Self::Callback(callback) => Self::Callback(callback.clone()),
        }
    }
}

impl<Q> Answerer<Q> {
    fn is_somebody(&self) -> bool {
        !matches!(self, Self::Nobody)
    }
}

/// Who answers each kind.
#[derive(Clone)]
pub(super) struct Handlers {
    pub(super) form: Answerer<Form>,
    pub(super) url: Answerer<Link>,
    pub(super) sample: Answerer<Sample>,
    /// Whether sampling may come with tools.
    pub(super) tools: bool,
    pub(super) roots: Answerer<Roots>,
}

impl Default for Handlers {
    fn default() -> Self {
        Self {
            form: Answerer::Nobody,
            url: Answerer::Nobody,
            sample: Answerer::Nobody,
            tools: false,
            roots: Answerer::Nobody,
        }
    }
}

impl Handlers {
    /// The caller answers questions of this kind.
    pub(super) fn by_hand(&mut self, kind: Kind) {
        match kind {
            Kind::Form => self.form = Answerer::Caller,
            Kind::Url => self.url = Answerer::Caller,
            Kind::Sample => {
                self.sample = Answerer::Caller;
                self.tools = false;
            }
            Kind::SampleWithTools => {
                self.sample = Answerer::Caller;
                self.tools = true;
            }
            Kind::Roots => self.roots = Answerer::Caller,
            _ => {}
        }
    }

    /// Declares what somebody answers.
    pub(super) fn declare(&self, capabilities: &mut ClientCapabilities) {
        let sample = self.sample.is_somebody();
        for (answered, kind) in [
            (self.form.is_somebody(), Kind::Form),
            (self.url.is_somebody(), Kind::Url),
            (sample, Kind::Sample),
            (sample && self.tools, Kind::SampleWithTools),
            (self.roots.is_somebody(), Kind::Roots),
        ] {
            if answered {
                kind.declare(capabilities);
            }
        }
    }

    /// The callback for a question; `None` if there is none, and the caller has to answer.
    pub(super) fn asking(&self, question: &InputRequest) -> Option<Asking> {
        fn bound<Q: Clone + Send + Sync + 'static>(
            answerer: &Answerer<Question<Q>>,
            question: &Q,
        ) -> Option<Asking> {
            let Answerer::Callback(callback) = answerer else {
                return None;
            };
            let (callback, question) = (callback.clone(), question.clone());
            Some(Box::new(move |about| {
                callback(Question::new(question.clone(), about))
            }))
        }

        match question {
            InputRequest::Elicit(ElicitRequestParams::Form(form)) => bound(&self.form, form),
            InputRequest::Elicit(ElicitRequestParams::Url(link)) => bound(&self.url, link),
            InputRequest::Sample(sample) => {
                let allowed = self.tools || Kind::of(question) == Some(Kind::Sample);
                bound(&self.sample, &**sample).filter(|_| allowed)
            }
            InputRequest::Roots(roots) => bound(&self.roots, &roots.clone().unwrap_or_default()),
            _ => None,
        }
    }
}

/// A callback with its question; it may be asked again.
pub(super) type Asking = Box<dyn Fn(About) -> Pending<'static, Reply> + Send + Sync>;
