//! [`Ask`]: what only the user has, asked for in a straight line.

mod anchor;
mod answer;
mod completions;
mod confirm;
mod confirmed;
mod given;
mod lines;
mod once;
mod question;
mod receipt;
mod settle;

use std::{borrow::Cow, fmt, sync::Arc, time::Duration};

use antiphon_core::{
    asking::{self, Unanswered},
    link::Handle,
    question::Kind,
};
use antiphon_types::{
    ClientCapabilities, CreateMessageRequestParams as Sample, CreateMessageResult, ElicitAction,
    ElicitRequestParams, ElicitResult, ErrorObject, InputRequest, ListRootsResult, Root, decode,
};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::{
    FromCall, Stop,
    extract::at_once,
    fault::{Fault, Faults},
};
use crate::{
    form::{Definition, Form, RawForm},
    links,
    sealing::Dialogue,
};

pub(crate) use self::once::Begun;
pub use self::{
    answer::{Answer, FromAnswer},
    completions::{Completions, NotCompleted},
    confirmed::Confirmed,
    given::Given,
    once::Once,
    receipt::Receipt,
};

/// Asks for what only the user has: an extractor.
///
/// A question that has no answer yet ends the handler by `?`, and the client is asked. When the
/// answer comes, the handler runs again, from its top, and the answer is there. Questions that are
/// asked before the first `?` leave together.
///
/// ```
/// use antiphon::{Args, Ask, Form, Stop, schemars::{self, JsonSchema}};
/// # use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Order { title: String }
///
/// #[derive(Form)]
/// struct Confirm { approve: bool }
///
/// async fn order(Args(order): Args<Order>, ask: Ask) -> Result<String, Stop> {
///     let Confirm { approve } = ask.form("confirm", format!("Order {}?", order.title))?;
///     Ok(match approve {
///         true => format!("Ordered {}.", order.title),
///         false => "Nothing ordered.".to_owned(),
///     })
/// }
/// # let _ = antiphon::Server::<()>::new("shop", "1.0").tool("order", order);
/// ```
///
/// So a question must not depend on anything that differs from round to round, like the time; and
/// what must not be done twice goes after the last question, or into [`once`](Self::once). See the
/// guide on [asking](crate::guide::asking).
///
/// In a [resolver](macro@crate::resolver) all keys begin with its name, so they are nobody else's:
/// `when` of `delivery` is `delivery.when` for the client, and `delivery` stays that.
///
/// Clones are the same; none can ask any more once the handler has returned.
#[derive(Clone)]
pub struct Ask {
    dialogue: Arc<Dialogue>,
    faults: Faults,
    /// The resolver whose keys these are, if it is one's.
    resolver: Option<&'static str>,
}

impl Ask {
    /// Asks the user to fill in a form.
    ///
    /// As a `T: Form` there is an answer, or the call ends with what the user did instead. As an
    /// [`Answer<T>`] declining and cancelling come back too. What is filled in is checked; if it
    /// does not fit, the user is asked again and told why.
    ///
    /// # Errors
    /// To be returned by `?`: the question, or why there is no answer.
    pub fn form<A: FromAnswer>(&self, key: &str, message: impl Into<String>) -> Result<A, Stop> {
        let mut filled = None;
        let asked = self.ask_form(key, message.into(), A::Form::definition(), &mut |content| {
            filled = Some(A::Form::read(content)?);
            Ok(())
        });
        A::from_answer(match (asked, filled) {
            (Ok(()), Some(filled)) => Ok(filled),
            (Ok(()), None) => Err(Stop::internal()),
            (Err(stop), _) => Err(stop),
        })
    }

    /// Asks for a form that `read` reads when it is filled in; whoever does not fill it in ends the
    /// call.
    fn ask_form(
        &self,
        key: &str,
        message: String,
        definition: &'static Definition,
        read: &mut dyn FnMut(Map<String, Value>) -> Result<(), Vec<String>>,
    ) -> Result<(), Stop> {
        let key = &*self.full(key);
        let canonical = question::form(&message, definition);
        let answer = self.ask(
            key,
            &canonical,
            |answer| filled_in(answer, read),
            || InputRequest::Elicit(ElicitRequestParams::form(message, definition.prepared())),
        )?;
        answer.or_stop(key)
    }

    /// The same with a form that is made at run time; what was filled in, by name.
    ///
    /// # Errors
    /// As [`form`](Self::form).
    pub fn raw_form(
        &self,
        key: &str,
        message: impl Into<String>,
        form: &RawForm,
    ) -> Result<Answer<Map<String, Value>>, Stop> {
        let key = &*self.full(key);
        let definition = &**form.definition();
        let message = message.into();
        let canonical = question::form(&message, definition);
        self.ask(
            key,
            &canonical,
            |answer| {
                filled_in(answer, |content| match definition.errors(&content) {
                    errors if errors.is_empty() => Ok(content),
                    errors => Err(errors),
                })
            },
            || {
                InputRequest::Elicit(ElicitRequestParams::form(
                    message,
                    definition.schema().clone(),
                ))
            },
        )
    }

    /// Asks the user to open a link, for what must not go through the client: signing in, paying,
    /// secrets.
    ///
    /// `link` makes the URL of the handle, which must be https or of this machine. That the user
    /// agreed to open it is not enough: `done` says whether what is behind the link has been done,
    /// and gives what came of it. [`Completions`] remembers that within one process.
    ///
    /// ```
    /// use antiphon::{Ask, Completions, State, Stop};
    ///
    /// async fn balance(State(accounts): State<Completions<String>>, ask: Ask) -> Result<String, Stop> {
    ///     let account = ask.url(
    ///         "signin",
    ///         "Sign in to see your balance",
    ///         |handle| format!("https://bank.example/sign-in/{handle}"),
    ///         |handle| accounts.get(handle),
    ///     )?;
    ///     Ok(format!("{account} has 7 ducats."))
    /// }
    /// # let _ = antiphon::Server::new("bank", "1.0").tool("balance", balance)
    /// #     .with_state::<()>(Completions::<String>::new());
    /// ```
    ///
    /// Where finding that out has to wait, do so first: [`handle`](Self::handle) is the same.
    ///
    /// # Errors
    /// To be returned by `?`: the question, or that the user will not. [`Answer::of`] tells that
    /// apart.
    pub fn url<T>(
        &self,
        key: &str,
        message: impl Into<String>,
        link: impl FnOnce(&Handle) -> String,
        done: impl FnOnce(&Handle) -> Option<T>,
    ) -> Result<T, Stop> {
        let handle = self.handle(key);
        let key = &*self.full(key);
        let url = link(&handle);
        if !links::is_safe(&url) {
            tracing::error!(key, "a link cannot be sent. {}", links::RULE);
            let text = format!("Internal error: `{key}` has a link that is not allowed");
            return Err(Stop::reject(-32603, text));
        }
        let request = InputRequest::Elicit(ElicitRequestParams::url(message, url));
        let canonical = question::any(&request)?;
        let answer = self.ask(
            key,
            &canonical,
            |answer| match elicited(answer)?.action {
                ElicitAction::Accept => match (done(&handle), self.dialogue.links()) {
                    (Some(value), _) => Ok(Answer::Accept(Some(value))),
                    (None, Some(links)) => {
                        links.wait(key);
                        Ok(Answer::Accept(None))
                    }
                    (None, None) => {
                        Err(vec!["what is behind the link is not completed".to_owned()])
                    }
                },
                ElicitAction::Decline => Ok(Answer::Decline),
                ElicitAction::Cancel => Ok(Answer::Cancel),
            },
            || request,
        )?;
        match answer.or_stop(key)? {
            Some(value) => Ok(value),
            // The call waits for it, and nobody need be asked again.
            None => Err(self.come_back("url", LOOK_AGAIN)),
        }
    }

    /// What [`url`](Self::url) hands out for this key: the same in every round of this call, and
    /// in no other.
    pub fn handle(&self, key: &str) -> Handle {
        self.dialogue.handle(&self.full(key))
    }

    /// Asks the client's model for a completion.
    ///
    /// # Errors
    /// As [`form`](Self::form).
    pub fn sample(&self, key: &str, sample: Sample) -> Result<CreateMessageResult, Stop> {
        self.ask_for(key, sample.into(), "a message of a model")
    }

    /// Asks for the workspace roots.
    ///
    /// # Errors
    /// As [`form`](Self::form).
    pub fn roots(&self, key: &str) -> Result<Vec<Root>, Stop> {
        let roots: ListRootsResult = self.ask_for(key, InputRequest::roots(), "a list of roots")?;
        Ok(roots.roots)
    }

    /// A value that may have been given up front, as an argument say; else it can be
    /// [asked for](Given::or_form). Not for consent: a model gives arguments, and says yes to
    /// anything.
    pub fn given<V>(&self, value: Option<V>) -> Given<'_, V> {
        Given::new(self, value)
    }

    /// Says that it is not done yet: the client comes back by itself, and the handler runs again.
    /// The answer is held back for as long as that, but for 20 seconds at most.
    ///
    /// # Errors
    /// Always; to be returned by `?`.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use antiphon::{Ask, Stop};
    /// # async fn is_printed(_: &str) -> bool { true }
    /// async fn print(ask: Ask) -> Result<String, Stop> {
    ///     let job = ask.once("start", async || Ok("job 7".to_owned())).await?;
    ///     if !is_printed(&job).await {
    ///         ask.later(Duration::from_secs(5))?;
    ///     }
    ///     Ok(format!("{job} is printed."))
    /// }
    /// # let _ = antiphon::Server::<()>::new("printer", "1.0").tool("print", print);
    /// ```
    pub fn later(&self, span: Duration) -> Result<(), Stop> {
        Err(self.come_back("later", span))
    }

    fn come_back(&self, what: &'static str, span: Duration) -> Stop {
        if let Err(stop) = self.check(what) {
            return stop;
        }
        self.dialogue.run().wait(span, what);
        Stop::asked()
    }

    /// Whether this client can be asked questions of a kind at all.
    pub fn can(&self, kind: Kind) -> bool {
        let declared = self.dialogue.caller().capabilities();
        decode::<ClientCapabilities>(declared).is_ok_and(|declared| kind.is_declared(&declared))
    }

    /// How many rounds came before this one.
    pub fn round(&self) -> u32 {
        self.dialogue.run().asking.round().into()
    }

    /// A key for others to know this call by, the same in every round and in no other call: for
    /// services that take an idempotency key. 32 hexadecimal digits.
    pub fn idempotency_key(&self, key: &str) -> String {
        // Not the bare name of a resolver: nobody would notice that the handler has the same, and
        // a service would take two charges for one.
        let key = match self.resolver {
            Some(name) => Cow::from(format!("{name}.{key}")),
            None => key.into(),
        };
        let key = u128::from_be_bytes(self.dialogue.run().key(&key));
        format!("{key:032x}")
    }

    /// A key as it is known outside: those of a resolver begin with its name, or are just that.
    fn full<'k>(&self, key: &'k str) -> Cow<'k, str> {
        match self.resolver {
            Some(name) if key != name && !key.is_empty() => format!("{name}.{key}").into(),
            _ => key.into(),
        }
    }

    /// A question that is answered with a `T` or not at all.
    fn ask_for<T: DeserializeOwned>(
        &self,
        key: &str,
        request: InputRequest,
        what: &str,
    ) -> Result<T, Stop> {
        let key = &*self.full(key);
        let canonical = question::any(&request)?;
        self.ask(
            key,
            &canonical,
            |answer| decode(answer).map_err(|_| unread(answer, &format!("must be {what}"))),
            || request,
        )
    }

    /// The answer to a question, as `read` makes it of what came; else it is asked.
    fn ask<T>(
        &self,
        key: &str,
        canonical: &[u8],
        read: impl FnOnce(&str) -> Result<T, Vec<String>>,
        request: impl FnOnce() -> InputRequest,
    ) -> Result<T, Stop> {
        self.check(key)?;
        let found = {
            let mut run = self.dialogue.run();
            let digest = run.digest(canonical);
            let found = run.asking.find(key, &digest);
            found.map(Option::<&Arc<str>>::cloned)
        };
        // The author's code runs without the lock: it may ask things too.
        let unanswered = match found.map(|answer| answer.map(|answer| read(&answer))) {
            Ok(Some(Ok(value))) => return Ok(value),
            Ok(Some(Err(errors))) => {
                let request = request();
                self.dialogue.run().asking.ask_again(key, errors, request)
            }
            Ok(None) => {
                let request = request();
                self.dialogue.run().asking.ask(key, request)
            }
            Err(unanswered) => unanswered,
        };
        Err(self.stop(key, unanswered))
    }

    /// Whether anything can be asked here and now.
    fn check(&self, key: &str) -> Result<(), Stop> {
        let key = || key.to_owned();
        if self.dialogue.is_over() {
            return Err(self.fault(Fault::AskedLate { key: key() }));
        }
        if once::is_inside(&self.dialogue) {
            return Err(self.fault(Fault::AskedWithin { key: key() }));
        }
        Ok(())
    }

    /// A mistake of the author's: the call ends, and whoever looks after the server is told.
    fn fault(&self, fault: Fault) -> Stop {
        let error = ErrorObject::internal(format!("Internal error: {fault}"));
        {
            let mut run = self.dialogue.run();
            let flow = run.flow();
            tracing::error!(%flow, "{fault}");
            run.broken.get_or_insert_with(|| error.clone());
        }
        self.faults.tell(fault);
        error.into()
    }

    fn stop(&self, key: &str, unanswered: Unanswered) -> Stop {
        let internal = |why: &str| {
            let flow = self.dialogue.run().flow();
            tracing::error!(key, %flow, "a question cannot be asked: {why}");
            Stop::reject(-32603, format!("Internal error: `{key}` {why}"))
        };
        match unanswered {
            Unanswered::Asked | Unanswered::Postponed => Stop::asked(),
            Unanswered::Clash => self.fault(Fault::Clash { key: key.into() }),
            Unanswered::Drift => self.fault(Fault::Drift { key: key.into() }),
            Unanswered::Unusable(errors) => {
                let lines = asking::lines(&errors);
                Stop::fail(format!("There was no usable answer to `{key}`:\n{lines}"))
            }
            Unanswered::Changed => Stop::fail(format!(
                "The question `{key}` is not what it was, and something was done upon its answer. \
                 Nothing more was done: call again."
            )),
            _ => internal("is no key: it must have 1 to 255 bytes"),
        }
    }
}

/// How long to wait before looking again whether a link has done its work.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// What was filled in, if it fits.
fn filled_in<T>(
    answer: &str,
    read: impl FnOnce(Map<String, Value>) -> Result<T, Vec<String>>,
) -> Result<Answer<T>, Vec<String>> {
    let answer = elicited(answer)?;
    match answer.action {
        ElicitAction::Accept => Ok(Answer::Accept(read(answer.content.unwrap_or_default())?)),
        ElicitAction::Decline => Ok(Answer::Decline),
        ElicitAction::Cancel => Ok(Answer::Cancel),
    }
}

fn elicited(answer: &str) -> Result<ElicitResult, Vec<String>> {
    let rule = "must be an object with `action` and, if accepted, `content`";
    decode(answer).map_err(|_| unread(answer, rule))
}

/// What is wrong with an answer that is none.
fn unread(answer: &str, rule: &str) -> Vec<String> {
    // What stands for an answer that was too large.
    match decode::<String>(answer) {
        Ok(why) if is_too_large(&why) => vec![why],
        _ => vec![rule.to_owned()],
    }
}

/// Exactly so: anybody can answer with a text, and no answer is told to anyone.
fn is_too_large(why: &str) -> bool {
    let bytes = why.strip_prefix("has more than ");
    let bytes = bytes.and_then(|rest| rest.strip_suffix(" bytes"));
    bytes.is_some_and(|bytes| bytes.parse::<u32>().is_ok_and(|it| it.to_string() == bytes))
}

#[diagnostic::do_not_recommend]
impl<S: Sync> FromCall<S> for Ask {
    at_once!(|call, _| call.ask());
}

impl fmt::Debug for Ask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let run = self.dialogue.run();
        f.debug_struct("Ask")
            .field("round", &run.asking.round())
            .field("asks", &run.asking.pending().collect::<Vec<_>>())
            .field("answered", &run.asking.answered().collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}
