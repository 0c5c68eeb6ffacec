//! [`Question`]: what a callback is asked, and [`Reply`]: what it says.

use std::{
    fmt,
    ops::Deref,
    sync::Arc,
    time::{Duration, Instant},
};

use antiphon_types::{
    CreateMessageRequestParams, CreateMessageResult, ElicitRequestFormParams,
    ElicitRequestUrlParams, InputRequest, InputRequired, ListRootsRequestParams, ListRootsResult,
    MetaObject, Root,
};
use serde::Serialize;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::{Answer, Identity, Target, error::Boxed};

/// A form for the user; see [`Client::on_form`](super::Client::on_form).
pub type Form = Question<ElicitRequestFormParams>;
/// A link for the user; see [`Client::on_url`](super::Client::on_url).
pub type Link = Question<ElicitRequestUrlParams>;
/// A completion of the model; see [`Client::on_sample`](super::Client::on_sample).
pub type Sample = Question<CreateMessageRequestParams>;
/// The workspace roots; see [`Client::on_roots`](super::Client::on_roots).
pub type Roots = Question<ListRootsRequestParams>;

/// A question as a callback gets it: what is asked (the fields of `T`, its `meta` among them),
/// by whom, in which call, and until when.
#[derive(Debug, Clone)]
pub struct Question<T> {
    asked: T,
    pub(super) about: About,
}

/// What stands beside a question.
#[derive(Debug, Clone)]
pub(super) struct About {
    pub(super) key: String,
    pub(super) round: u32,
    pub(super) attempt: u32,
    pub(super) errors: Vec<String>,
    pub(super) server: Arc<Identity>,
    pub(super) call: Arc<Target>,
    pub(super) tag: Option<String>,
    pub(super) cancelled: CancellationToken,
    pub(super) deadline: Instant,
}

impl About {
    /// The first try to ask a question.
    pub(super) fn first(
        key: String,
        round: u32,
        server: Arc<Identity>,
        call: (Arc<Target>, Option<String>),
        cancelled: CancellationToken,
        deadline: tokio::time::Instant,
    ) -> Self {
        let (call, tag) = call;
        Self {
            key,
            round,
            attempt: 1,
            errors: Vec::new(),
            server,
            call,
            tag,
            cancelled,
            deadline: deadline.into_std(),
        }
    }

    /// The next try, after an answer that did not fit.
    pub(super) fn again(mut self, errors: Vec<String>) -> Self {
        self.errors = errors;
        self.attempt += 1;
        self
    }
}

impl<T> Question<T> {
    pub(super) fn new(asked: T, about: About) -> Self {
        Self { asked, about }
    }

    /// The key that names the question within its round.
    pub fn key(&self) -> &str {
        &self.about.key
    }

    /// Who asks: where this client connected to, not what the server says of itself. Show it to
    /// the user (ELIC-C-09).
    pub fn server(&self) -> &Identity {
        &self.about.server
    }

    /// The call that led to the question. With servers of 2025-11-25 or before that cannot always be
    /// known, see [`Target::is_known`](super::Target::is_known).
    pub fn call(&self) -> &Target {
        &self.about.call
    }

    /// The name that the caller gave the call, see [`Request::tag`](super::Request::tag).
    pub fn tag(&self) -> Option<&str> {
        self.about.tag.as_deref()
    }

    /// In which round of the call it is asked, from 1.
    pub fn round(&self) -> u32 {
        self.about.round
    }

    /// Which try this is, from 1 to 3: an answer that does not fit is handed back.
    pub fn attempt(&self) -> u32 {
        self.about.attempt
    }

    /// What was wrong with the last answer, field by field; empty on the first try.
    pub fn errors(&self) -> &[String] {
        &self.about.errors
    }

    /// Fires when the answer is no longer wanted: the deadline passed, or the call was cancelled
    /// or has failed. The callback's future is dropped as well; this is for what it started.
    pub fn cancelled(&self) -> &CancellationToken {
        &self.about.cancelled
    }

    /// Until when the answer must be there.
    pub fn deadline(&self) -> Instant {
        self.about.deadline
    }

    /// How much time is left.
    pub fn remaining(&self) -> Duration {
        let now = Instant::now();
        self.about.deadline.saturating_duration_since(now)
    }

    /// Gives no answer: the call ends with an error that names the key, and the server hears
    /// nothing. One of 2025-11-25 or before is told that there is no answer instead, and its call
    /// goes on: forms and links are cancelled, completions refused (-1). For what the *user* did there are `decline` and `cancel`.
    pub fn refuse(&self, why: impl Into<String>) -> Reply {
        Reply::refused(why.into())
    }

    /// Leaves the answer to whoever made the call, as if it were a question that is answered
    /// [by hand](super::Client::by_hand): the call comes back [paused](super::Paused), with the
    /// answers of this round that others gave. A call to a server of 2025-11-25 or before cannot be
    /// paused: that server is told that there is no answer, the call is cancelled, and its error is
    /// [`ErrorKind::NotPausable`](super::ErrorKind::NotPausable).
    ///
    /// ```
    /// use antiphon::{Ask, Client, Form, Server, Stop, memory};
    /// use antiphon::client::{Answer, CallTool, Outcome};
    /// use serde_json::json;
    ///
    /// # #[derive(Form)]
    /// # struct Confirm { approve: bool }
    /// # async fn order(ask: Ask) -> Result<&'static str, Stop> {
    /// #     let Confirm { approve } = ask.form("confirm", "Order?")?;
    /// #     Ok(if approve { "Ordered." } else { "Nothing ordered." })
    /// # }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let server: Server = Server::new("shop", "1.0").tool("order", order);
    /// # let somebody_is_there = || false;
    /// let client = Client::new("desk", "1.0").on_form(move |form| async move {
    ///     match somebody_is_there() {
    ///         true => form.accept(json!({ "approve": true })),
    ///         false => form.pause(),
    ///     }
    /// });
    /// let shop = client.connect(memory(server)).await?;
    /// let Outcome::Paused(paused) = shop.start(CallTool::new("order", ())).await? else {
    ///     panic!("somebody was there");
    /// };
    /// let paused = paused.answer("confirm", Answer::decline());
    /// # _ = shop.resume::<antiphon::client::Completed>(paused).await?;
    /// # Ok(()) }
    /// ```
    pub fn pause(&self) -> Reply {
        Reply(Replied::ByHand)
    }

    /// The question itself.
    pub fn into_inner(self) -> T {
        self.asked
    }
}

impl<T> Deref for Question<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.asked
    }
}

impl Form {
    /// The user filled in the form; `content` serialises to an object of its fields.
    pub fn accept(&self, content: impl Serialize) -> Reply {
        match serde_json::to_value(content) {
            Ok(content @ Value::Object(_)) => Answer::accepted(content).into(),
            Ok(_) => Reply::refused("a form is answered with an object of its fields"),
            Err(error) => Reply::refused(format!("the answer does not serialise: {error}")),
        }
    }

    /// The values that the form starts with: the defaults of its fields.
    pub fn defaults(&self) -> Map<String, Value> {
        let fields = self.requested_schema.properties.iter();
        let defaults =
            fields.filter_map(|(name, field)| Some((name.clone(), field.default_value()?)));
        defaults.collect()
    }

    /// The user said no.
    pub fn decline(&self) -> Reply {
        Answer::decline().into()
    }

    /// The user went away without choosing.
    pub fn cancel(&self) -> Reply {
        Answer::cancel().into()
    }
}

impl Link {
    /// The user agreed to open the link. That is all it says: whether they are done over there,
    /// the server finds out by itself.
    pub fn accept(&self) -> Reply {
        Answer::accept(()).into()
    }

    /// The user said no.
    pub fn decline(&self) -> Reply {
        Answer::decline().into()
    }

    /// The user went away without choosing.
    pub fn cancel(&self) -> Reply {
        Answer::cancel().into()
    }
}

impl Sample {
    /// What the model said.
    pub fn accept(&self, message: &CreateMessageResult) -> Reply {
        Answer::of(message).into()
    }

    /// A text that the model said.
    pub fn text(&self, text: impl Into<String>, model: impl Into<String>) -> Reply {
        self.accept(&CreateMessageResult::text(text, model).stop_reason("endTurn"))
    }
}

impl Roots {
    /// The roots, `file://` URIs that the server may know of.
    pub fn list(&self, roots: impl IntoIterator<Item = Root>) -> Reply {
        Answer::from(ListRootsResult::new(roots.into_iter().collect())).into()
    }
}

/// A round of questions, before anybody is asked; for
/// [`Client::on_round`](super::Client::on_round).
#[derive(Debug, Clone, Copy)]
pub struct Round<'a> {
    pub(super) call: &'a Target,
    pub(super) tag: Option<&'a str>,
    pub(super) server: &'a Identity,
    pub(super) round: u32,
    pub(super) asked: &'a InputRequired,
}

impl<'a> Round<'a> {
    /// The call it belongs to.
    pub fn call(&self) -> &'a Target {
        self.call
    }

    /// Who asks: where this client connected to.
    pub fn server(&self) -> &'a Identity {
        self.server
    }

    /// The name that the caller gave the call.
    pub fn tag(&self) -> Option<&'a str> {
        self.tag
    }

    /// Which round it is, from 1. One that asks nothing but to come back does not count.
    pub fn number(&self) -> u32 {
        self.round
    }

    /// The questions by key; none if the server only asks to come back.
    pub fn questions(&self) -> impl ExactSizeIterator<Item = (&'a str, &'a InputRequest)> {
        self.asked.requests()
    }

    /// The metadata of the result.
    pub fn meta(&self) -> Option<&'a MetaObject> {
        self.asked.meta()
    }
}

/// What a callback says; made by the question's own methods.
///
/// A callback may also return `Result<Reply, E>`: an error refuses the question.
#[must_use]
pub struct Reply(pub(super) Replied);

pub(super) enum Replied {
    Answer(Value),
    Refused(Boxed),
    /// The caller answers.
    ByHand,
}

/// Does not show the answer.
impl fmt::Debug for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Replied::Answer(_) => f.write_str("Reply(..)"),
            Replied::Refused(why) => write!(f, "Reply(refused: {why})"),
            Replied::ByHand => f.write_str("Reply(by hand)"),
        }
    }
}

impl Reply {
    fn refused(why: impl Into<Boxed>) -> Self {
        Self(Replied::Refused(why.into()))
    }
}

impl From<Answer> for Reply {
    fn from(Answer(answer): Answer) -> Self {
        match answer {
            Ok(answer) => Self(Replied::Answer(answer)),
            Err(why) => Self::refused(why),
        }
    }
}

impl<E: Into<Boxed>> From<Result<Self, E>> for Reply {
    fn from(reply: Result<Self, E>) -> Self {
        reply.unwrap_or_else(|error| Self::refused(error))
    }
}
