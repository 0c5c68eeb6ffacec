//! [`Script`]: what the people of a test say to whatever they are asked.

use std::{fmt, future::Future, panic::Location, sync::Arc};

use antiphon_core::question::Kind;
use antiphon_types::{
    CallToolResult, CreateMessageResult, GetPromptResult, ListRootsResult, Method,
    ReadResourceResult, Root,
};
use serde::Serialize;
use serde_json::Value;

use super::{Played, play};
use crate::{
    Server,
    client::{
        Answer, CallTool, Client, Connect, Finished, GetPrompt, Pending, ReadResource, Request,
    },
    memory,
    server::fault::Fault,
};

/// Scripted people: the answers they give, by the keys of the questions.
///
/// A script is played by making a call: [`call_tool`](Self::call_tool) and its like on a server,
/// [`play`](Self::play) on any way to one. Each answer is used once; several to one key are used in
/// the order they stand here, for questions that are asked again. A script can be played any number
/// of times, and begins anew each time.
///
/// ```
/// use antiphon::{Responses, Server, Stop, testing::Script};
/// use antiphon::types::{BooleanSchema, ElicitRequestParams, FormSchema, InputRequired};
/// use serde_json::json;
///
/// async fn wipe(responses: Responses) -> Result<&'static str, Stop> {
///     match responses.answers().raw("confirm") {
///         Some(_) => Ok("Wiped"),
///         None => {
///             let form = FormSchema::new().required("confirm", BooleanSchema::new());
///             let form = ElicitRequestParams::form("Wipe it all?", form);
///             Err(Stop::ask(InputRequired::ask("confirm", form)))
///         }
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let server = Server::new("cache", "1.0").tool("wipe", wipe);
/// let played = Script::new()
///     .accept("confirm", json!({ "confirm": true }))
///     .call_tool(&server, "wipe", ())
///     .await;
/// assert_eq!(played.text(), "Wiped");
/// assert_eq!(played.message("confirm"), "Wipe it all?");
/// played.assert_rounds([["confirm"]]);
/// # }
/// ```
///
/// # Panics
///
/// Playing fails the test, with what happened and what to do, when
///
/// * a question comes that the script has no answer to, or one of another kind than it should be,
/// * an accepted form does not fit the form that was asked; [`answer`](Self::answer) sends it
///   nevertheless,
/// * an answer is left over that is not [`optional`](Self::optional),
/// * a question is worded in another way when it comes again, but for a note beside its text: it may
///   be made of something that changes, and then no answer ever counts,
/// * the server asks in more than 40 rounds, or in 1000 rounds in a row only to come back,
/// * there is neither a result nor a JSON-RPC error,
/// * on a server: a handler asked in a way that only the server can see is wrong.
#[derive(Clone, Default)]
#[must_use = "a script does nothing until it is played"]
pub struct Script {
    pub(super) lines: Vec<Line>,
    pub(super) reworded: Vec<String>,
    without: Vec<Kind>,
}

/// One answer.
#[derive(Clone)]
pub(super) struct Line {
    pub(super) key: String,
    pub(super) says: Says,
    /// What it is called in a trace.
    pub(super) action: &'static str,
    /// The kinds of questions that it is an answer to.
    pub(super) kinds: &'static [Kind],
    /// Whether it has to fit.
    pub(super) checked: bool,
    pub(super) optional: bool,
}

#[derive(Clone)]
pub(super) enum Says {
    This(Answer),
    /// Opens the link, then accepts.
    Visits(Browser),
    Nothing,
}

type Browser = Arc<dyn Fn(String) -> Pending<'static, ()> + Send + Sync>;

const SAMPLES: &[Kind] = &[Kind::Sample, Kind::SampleWithTools];

/// Answers.
impl Script {
    /// People who have nothing to say yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Accepts a form, with an object of its fields.
    pub fn accept(self, key: impl Into<String>, content: impl Serialize) -> Self {
        let answer = Answer::accept(content);
        self.says(key, "accept", &[Kind::Form], Says::This(answer))
    }

    /// Declines a form or a link.
    pub fn decline(self, key: impl Into<String>) -> Self {
        let answer = Says::This(Answer::decline());
        self.says(key, "decline", &[Kind::Form, Kind::Url], answer)
    }

    /// Goes away from a form or a link without choosing.
    pub fn cancel(self, key: impl Into<String>) -> Self {
        let answer = Says::This(Answer::cancel());
        self.says(key, "cancel", &[Kind::Form, Kind::Url], answer)
    }

    /// Opens a link, then accepts it. The function plays the browser.
    pub fn visit<F>(
        self,
        key: impl Into<String>,
        open: impl Fn(String) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let open: Browser = Arc::new(move |url| Box::pin(open(url)));
        self.says(key, "visit", &[Kind::Url], Says::Visits(open))
    }

    /// Accepts a link, and does not open it.
    pub fn accept_link(self, key: impl Into<String>) -> Self {
        let answer = Says::This(Answer::accept(()));
        self.says(key, "accept", &[Kind::Url], answer)
    }

    /// Has the model complete: with a text, or with a whole [`CreateMessageResult`].
    pub fn sample(self, key: impl Into<String>, completion: impl Into<Completion>) -> Self {
        let Completion(completion) = completion.into();
        self.says(key, "sample", SAMPLES, Says::This(completion.into()))
    }

    /// Names the workspace roots, by their URIs.
    pub fn roots<U: Into<String>>(
        self,
        key: impl Into<String>,
        uris: impl IntoIterator<Item = U>,
    ) -> Self {
        let roots = uris.into_iter().map(Root::new).collect();
        let answer = Says::This(ListRootsResult::new(roots).into());
        self.says(key, "roots", &[Kind::Roots], answer)
    }

    /// Gives this very answer to a question of any kind, right or wrong: the entry of
    /// `inputResponses`, such as `{ "action": "decline" }`.
    pub fn answer(self, key: impl Into<String>, entry: Value) -> Self {
        let answer = Says::This(Answer::of(&entry));
        self.unchecked(key, "answer", answer)
    }

    /// Leaves the question out of the answers, where there are others in its round. A call that
    /// comes back without any is refused, unless its states are not sealed.
    pub fn skip(self, key: impl Into<String>) -> Self {
        self.unchecked(key, "skip", Says::Nothing)
    }

    /// The answer that stands last so far need not be asked for.
    ///
    /// # Panics
    /// If there is none.
    #[track_caller]
    pub fn optional(mut self) -> Self {
        let last = self.lines.last_mut();
        last.expect("`optional` comes after an answer").optional = true;
        self
    }

    /// This question may be worded in another way when it comes again.
    pub fn reworded(mut self, key: impl Into<String>) -> Self {
        self.reworded.push(key.into());
        self
    }

    /// People whose client cannot be asked questions of this kind. Without this it can be asked
    /// everything.
    pub fn without(mut self, kind: Kind) -> Self {
        self.without.push(kind);
        self
    }

    fn says(
        mut self,
        key: impl Into<String>,
        action: &'static str,
        kinds: &'static [Kind],
        says: Says,
    ) -> Self {
        self.lines.push(Line {
            key: key.into(),
            says,
            action,
            kinds,
            checked: true,
            optional: false,
        });
        self
    }

    fn unchecked(self, key: impl Into<String>, action: &'static str, says: Says) -> Self {
        let mut script = self.says(key, action, &Kind::ALL, says);
        if let Some(line) = script.lines.last_mut() {
            line.checked = false;
        }
        script
    }
}

/// Plays. All of them fail the test as [`Script`] says.
impl Script {
    /// Calls a tool of this server, on a connection of its own.
    #[track_caller]
    pub fn call_tool(
        &self,
        server: &Server,
        tool: &str,
        arguments: impl Serialize,
    ) -> impl Future<Output = Played<CallToolResult>> {
        self.on(server, CallTool::new(tool, arguments))
    }

    /// Gets a prompt of this server, on a connection of its own.
    #[track_caller]
    pub fn get_prompt(
        &self,
        server: &Server,
        prompt: &str,
        arguments: impl Serialize,
    ) -> impl Future<Output = Played<GetPromptResult>> {
        self.on(server, GetPrompt::new(prompt, arguments))
    }

    /// Reads a resource of this server, on a connection of its own.
    #[track_caller]
    pub fn read_resource(
        &self,
        server: &Server,
        uri: &str,
    ) -> impl Future<Output = Played<ReadResourceResult>> {
        self.on(server, ReadResource::new(uri))
    }

    /// Makes a call on any way to a server: `Stdio::spawn(..)`, `Http::new(..)`, or one of your
    /// own. What only the server sees is for [`check_late`](Self::check_late) then.
    #[track_caller]
    pub fn play<M>(
        &self,
        to: impl Connect,
        request: Request<M>,
    ) -> impl Future<Output = Played<M::Result>>
    where
        M: Method<Result: Finished>,
    {
        let at = Location::caller();
        async move {
            let played = play::run(self, to, request, at).await;
            played.unwrap_or_else(|failure| failure.panic())
        }
    }

    /// Fails the test if a handler of this server asked in a wrong way since the last play on it,
    /// such as from a task that outlived its call. The next play finds that, too.
    ///
    /// Of a server that is not played on in memory this is told from the first time on: call it
    /// once before.
    ///
    /// # Panics
    /// If a handler did.
    #[track_caller]
    pub fn check_late(server: &Server) {
        let faults = server.settings.faults.take();
        assert!(faults.is_empty(), "{}", told(&faults));
    }

    #[track_caller]
    fn on<M>(&self, server: &Server, request: Request<M>) -> impl Future<Output = Played<M::Result>>
    where
        M: Method<Result: Finished>,
    {
        let (at, server) = (Location::caller(), server.clone());
        async move {
            let faults = &server.settings.faults;
            let late = faults.take();
            assert!(
                late.is_empty(),
                "before this play, at {at}: {}",
                told(&late)
            );
            let played = play::run(self, memory(server.clone()), request, at).await;
            let faults = faults.take();
            match played {
                Ok(played) if faults.is_empty() => played,
                Ok(played) => played.failure_of(told(&faults)).panic(),
                Err(failure) if faults.is_empty() => failure.panic(),
                // What the client saw is what came of it.
                Err(failure) => failure.because(&told(&faults)).panic(),
            }
        }
    }

    /// Who calls.
    pub(super) fn client(&self) -> Client {
        let lacks = |kind| self.without.contains(kind);
        let kinds = Kind::ALL.iter().filter(|kind| {
            !lacks(kind) && !(**kind == Kind::SampleWithTools && lacks(&Kind::Sample))
        });
        Client::new("antiphon test kit", env!("CARGO_PKG_VERSION"))
            .by_hand(kinds.copied())
            .max_rounds(play::ROUNDS)
    }
}

fn told(faults: &[Fault]) -> String {
    let faults: Vec<_> = faults.iter().map(ToString::to_string).collect();
    faults.join("\n")
}

/// Shows which questions are answered, and not how.
impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = self.lines.iter().map(|line| (line.action, &line.key));
        f.debug_list().entries(lines).finish()
    }
}

/// What a model says in a [`Script`].
#[derive(Debug, Clone)]
pub struct Completion(CreateMessageResult);

impl From<&str> for Completion {
    fn from(text: &str) -> Self {
        Self(CreateMessageResult::text(text, "scripted"))
    }
}

impl From<String> for Completion {
    fn from(text: String) -> Self {
        Self(CreateMessageResult::text(text, "scripted"))
    }
}

impl From<CreateMessageResult> for Completion {
    fn from(result: CreateMessageResult) -> Self {
        Self(result)
    }
}

#[cfg(test)]
mod tests {
    use antiphon_types::{BooleanSchema, ElicitRequestParams, FormSchema, InputRequired};
    use serde_json::json;
    use tokio::task::JoinHandle;

    use super::*;
    use crate::{Responses, Stop, server::fault::Faults};

    fn key() -> String {
        "scope".to_owned()
    }

    /// Asks `scope`, then tells of this fault and ends well.
    fn faulty(fault: Fault) -> Server {
        let server = Server::new("faulty", "1.0");
        let faults = server.settings.faults.clone();
        server.tool("wipe", move |responses: Responses| {
            let (faults, fault) = (faults.clone(), fault.clone());
            async move {
                if responses.answers().is_empty() {
                    let form = FormSchema::new().required("all", BooleanSchema::new());
                    let form = ElicitRequestParams::form("All?", form);
                    return Err(Stop::ask(InputRequired::ask("scope", form)));
                }
                faults.tell(fault);
                Ok("Wiped")
            }
        })
    }

    fn people() -> Script {
        Script::new().accept("scope", json!({ "all": true }))
    }

    async fn told(task: JoinHandle<()>) -> String {
        let panic = task.await.expect_err("it does not fail").into_panic();
        panic.downcast_ref::<String>().expect("a text").clone()
    }

    /// What the test is told when this is played.
    async fn played(script: Script, server: &Server) -> String {
        let server = server.clone();
        told(tokio::spawn(async move {
            drop(script.call_tool(&server, "wipe", ()).await);
        }))
        .await
    }

    #[tokio::test]
    async fn a_fault_fails_the_play_it_is_told_in() {
        for fault in [
            Fault::Swallowed { key: key() },
            Fault::Clash { key: key() },
            Fault::AskedLate { key: key() },
            Fault::Drift { key: key() },
        ] {
            let server = faulty(fault.clone());
            let text = played(people(), &server).await;
            assert!(text.starts_with(&format!("{fault}\nplayed at ")), "{text}");
            let trace = "tools/call wipe\n  round 1: `scope`, a form: accept\n  a result";
            assert!(text.ends_with(trace), "{text}");
            // It is told once.
            Script::check_late(&server);
        }
    }

    /// What a fault led to is told after it.
    #[tokio::test]
    async fn a_fault_comes_before_what_came_of_it() {
        let server = faulty(Fault::Clash { key: key() });
        let text = played(people().decline("confirm"), &server).await;
        let begin = format!("{}\nand so nobody asked for", Fault::Clash { key: key() });
        assert!(text.starts_with(&begin), "{text}");
    }

    #[tokio::test]
    async fn a_late_fault_is_found_later() {
        let server: Server = Server::new("late", "1.0").tool("wipe", async || "Wiped");
        let faults: Faults = server.settings.faults.clone();
        let fault = Fault::AskedLate { key: key() };
        let play = || async { Script::new().call_tool(&server, "wipe", ()).await };
        assert_eq!(play().await.text(), "Wiped");

        faults.tell(fault.clone());
        let text = played(Script::new(), &server).await;
        assert!(text.starts_with("before this play, at "), "{text}");
        assert!(text.ends_with(&fault.to_string()), "{text}");
        assert_eq!(play().await.text(), "Wiped");

        faults.tell(fault.clone());
        let late = server.clone();
        let text = told(tokio::spawn(async move { Script::check_late(&late) })).await;
        assert_eq!(text, fault.to_string());
        assert_eq!(play().await.text(), "Wiped");
    }
}
