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

    fn is_callback(&self) -> bool {
        matches!(self, Self::Callback(_))
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

    /// Whether a callback answers this question; otherwise the caller has to.
    pub(super) fn answer(&self, question: &InputRequest) -> bool {
        let is_callback = match question {
            InputRequest::Elicit(ElicitRequestParams::Form(_)) => self.form.is_callback(),
            InputRequest::Elicit(ElicitRequestParams::Url(_)) => self.url.is_callback(),
            InputRequest::Sample(_) => self.sample.is_callback(),
            InputRequest::Roots(_) => self.roots.is_callback(),
            _ => false,
        };
        is_callback && self.allow(question)
    }

    /// Has the callback for a question answer it; `None` if there is none, and the caller has to.
    pub(super) fn ask(
        &self,
        question: &InputRequest,
        about: About,
    ) -> Option<Pending<'static, Reply>> {
        fn asked<Q: Clone>(
            answerer: &Answerer<Question<Q>>,
            question: &Q,
            about: About,
        ) -> Option<Pending<'static, Reply>> {
            match answerer {
                Answerer::Callback(callback) => {
                    Some(callback(Question::new(question.clone(), about)))
                }
                Answerer::Nobody | Answerer::Caller => None,
            }
        }

        match question {
            _ if !self.allow(question) => None,
            InputRequest::Elicit(ElicitRequestParams::Form(form)) => asked(&self.form, form, about),
            InputRequest::Elicit(ElicitRequestParams::Url(link)) => asked(&self.url, link, about),
            InputRequest::Sample(sample) => asked(&self.sample, &**sample, about),
            InputRequest::Roots(roots) => {
                asked(&self.roots, &roots.clone().unwrap_or_default(), about)
            }
            _ => None,
        }
    }

    /// Whether a model may be given tools, if that is what is asked.
    fn allow(&self, question: &InputRequest) -> bool {
        match question {
            InputRequest::Sample(_) => self.tools || Kind::of(question) == Some(Kind::Sample),
            _ => true,
        }
    }
}
