//! [`Rehearsal`]: a call that is played smoothly once, and then with everything going wrong that may.

mod course;
mod effects;
mod finding;
mod heard;
mod rough;
mod spelling;
mod stage;
mod trouble;

use std::{
    fmt::{self, Debug},
    future::Future,
    ops::Sub,
    panic::Location,
    sync::{Arc, Mutex, atomic::AtomicU32},
};

use antiphon_types::{CallToolResult, GetPromptResult, Method, ReadResourceResult};
use serde::Serialize;

use self::{
    effects::Effects,
    finding::Finding,
    rough::{Inner, Way},
    stage::{Build, Stage},
};
use super::{Played, Script, play, trace::Failure};
use crate::{
    Server,
    auth::Principal,
    client::{CallTool, Finished, GetPrompt, ReadResource, Request},
    sealing::Sealing,
};

pub use self::trouble::Trouble;

/// A [`Script`] that is played on a fleet in which everything goes wrong that may: what
/// [`Script::rehearse`] makes.
///
/// A handler runs once per round, on any instance, and again whenever a client sends a request again.
/// A rehearsal shows that yours may. It plays the call smoothly, on one server, to see how it goes; and
/// then once for each [`Trouble`], every request on a new instance and under rotated keys, with
/// nothing in common but the guard and the journal of the sealing, and whatever your closure shares.
/// Each time it must go as it went before.
///
/// ```
/// use antiphon::{Ask, Form, Server, State, Stop, testing::Script};
/// use serde_json::json;
/// # use std::sync::{Arc, atomic::{AtomicU32, Ordering}};
/// # #[derive(Clone, Default)]
/// # struct Database(Arc<AtomicU32>);
/// # impl Database {
/// #     async fn charge(&self) -> Result<(), Stop> { self.0.fetch_add(1, Ordering::SeqCst); Ok(()) }
/// #     fn charges(&self) -> u32 { self.0.load(Ordering::SeqCst) }
/// # }
///
/// #[derive(Form)]
/// struct Confirm { confirm: bool }
///
/// async fn charge(State(database): State<Database>, ask: Ask) -> Result<&'static str, Stop> {
///     let Confirm { confirm: true } = ask.form("confirm", "Charge 5 ducats?")? else {
///         return Ok("Nothing was charged");
///     };
///     ask.once("charge", async || database.charge().await).await?;
///     Ok("Charged")
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let database = Database::default(); // what all instances share
/// let counted = database.clone();
/// let played = Script::new()
///     .accept("confirm", json!({ "confirm": true }))
///     .rehearse(move |sealing| {
///         Server::new("shop", "1.0")
///             .tool("charge", charge)
///             .sealing(sealing)
///             .with_state(database.clone())
///     })
///     .effects(move || counted.charges())
///     .call_tool("charge", ())
///     .await;
/// assert_eq!(played.text(), "Charged");
/// # }
/// ```
///
/// # Panics
///
/// Playing fails the test as [`Script`] does, and when in one of the plays
///
/// * a question is another one than it was: on another instance, when the handler runs again, or with
///   the arguments spelt in another way,
/// * an answer that was given is asked for again,
/// * the same answers lead to other questions, to another end, or to an error,
/// * the work of `once` is done twice, under other keys, or is skipped,
/// * the [`effects`](Self::effects) are others than in the smooth play,
/// * a request that is sent again gets another response.
#[derive(Clone)]
#[must_use = "a rehearsal does nothing until it is played"]
pub struct Rehearsal {
    script: Script,
    build: Build,
    effects: Effects,
    before_each: Option<Arc<dyn Fn() + Send + Sync>>,
    principal: Option<Principal>,
    without: Vec<Trouble>,
    result_may_differ: bool,
}

/// Making one.
impl Rehearsal {
    pub(super) fn new(script: Script, build: Build) -> Self {
        Self {
            script,
            build,
            effects: Effects::default(),
            before_each: None,
            principal: None,
            without: Vec::new(),
            result_may_differ: false,
        }
    }

    /// Counts what was done, such as the rows of a table: each play must do as much as the smooth
    /// one. Without this nobody sees what handlers do outside `once`. There may be several.
    pub fn effects<T>(mut self, count: impl Fn() -> T + Send + Sync + 'static) -> Self
    where
        T: PartialOrd + Sub<Output = T> + Debug + Send + 'static,
    {
        self.effects.add(count);
        self
    }

    /// Does this before each play, as to empty a table in which nothing may be twice.
    pub fn before_each(mut self, reset: impl Fn() + Send + Sync + 'static) -> Self {
        self.before_each = Some(Arc::new(reset));
        self
    }

    /// Calls as somebody whose identity the host vouches for.
    pub fn principal(mut self, principal: Principal) -> Self {
        self.principal = Some(principal);
        self
    }

    /// Leaves out a trouble.
    pub fn without(mut self, trouble: Trouble) -> Self {
        self.without.push(trouble);
        self
    }

    /// The result may be another one each time, as long as it is one: it has a number in it that
    /// somebody draws, say.
    pub fn result_may_differ(mut self) -> Self {
        self.result_may_differ = true;
        self
    }
}

/// Plays. All of them fail the test as [`Rehearsal`] says, and return the smooth play.
impl Rehearsal {
    /// Calls a tool.
    #[track_caller]
    pub fn call_tool(
        &self,
        tool: &str,
        arguments: impl Serialize,
    ) -> impl Future<Output = Played<CallToolResult>> {
        self.play(CallTool::new(tool, arguments))
    }

    /// Gets a prompt.
    #[track_caller]
    pub fn get_prompt(
        &self,
        prompt: &str,
        arguments: impl Serialize,
    ) -> impl Future<Output = Played<GetPromptResult>> {
        self.play(GetPrompt::new(prompt, arguments))
    }

    /// Reads a resource.
    #[track_caller]
    pub fn read_resource(&self, uri: &str) -> impl Future<Output = Played<ReadResourceResult>> {
        self.play(ReadResource::new(uri))
    }

    #[track_caller]
    fn play<M>(&self, request: Request<M>) -> impl Future<Output = Played<M::Result>>
    where
        M: Method<Result: Finished> + Clone,
    {
        let at = Location::caller();
        async move {
            let played = self.plays(request, at).await;
            played.unwrap_or_else(|failure| failure.panic())
        }
    }

    async fn plays<M>(
        &self,
        request: Request<M>,
        at: &'static Location<'static>,
    ) -> Result<Played<M::Result>, Failure>
    where
        M: Method<Result: Finished> + Clone,
    {
        let smooth = Arc::new(self.way(None, None));
        let (played, done) = self.one(&smooth, request.clone(), at).await?;
        let troubles = Trouble::ALL.into_iter();
        for trouble in troubles.filter(|trouble| !self.without.contains(trouble)) {
            let way = self.way(Some(trouble), Some(smooth.clone()));
            let (rough, again) = self.one(&way, request.clone(), at).await?;
            if done != again {
                let shown =
                    |it: &Option<String>| it.clone().unwrap_or_else(|| "nothing".to_owned());
                let finding = Finding::all_effects(&shown(&done), &shown(&again));
                let told = finding.told(way.0.legs(), Some(trouble));
                return Err(rough.failure_of(told));
            }
        }
        Ok(played)
    }

    fn way(&self, trouble: Option<Trouble>, wanted: Option<Arc<Way>>) -> Way {
        let stage = Stage::new(&self.build, self.principal.as_ref(), trouble.is_none());
        Way(Arc::new(Inner {
            stage,
            trouble,
            wanted,
            effects: self.effects.clone(),
            reworded: self.script.reworded.clone(),
            result_may_differ: self.result_may_differ,
            legs: AtomicU32::new(0),
            course: Mutex::default(),
            found: Mutex::default(),
        }))
    }

    /// One play, and what changed by it.
    async fn one<M>(
        &self,
        way: &Way,
        request: Request<M>,
        at: &'static Location<'static>,
    ) -> Result<(Played<M::Result>, Option<String>), Failure>
    where
        M: Method<Result: Finished>,
    {
        if let Some(reset) = &self.before_each {
            reset();
        }
        let counting = self.effects.count();
        let ended = play::run(&self.script, way.clone(), request, at).await;
        let done = counting.changed();
        let told = |finding: Finding| finding.told(way.0.legs(), way.0.trouble);
        match (ended, way.0.finding().map(told)) {
            (Ok(played), None) => Ok((played, done)),
            (Ok(played), Some(found)) => Err(played.failure_of(found)),
            // That it broke off is what came of it.
            (Err(failure), Some(found)) => Err(failure.found(found)),
            (Err(failure), None) => Err(match way.0.trouble {
                None => failure,
                Some(_) => {
                    let why = Finding::plain(failure.why.clone());
                    failure.found(told(why))
                }
            }),
        }
    }
}

impl Script {
    /// Plays this on a fleet in which everything goes wrong that may. The closure makes an instance
    /// of the server, with the sealing that it is handed: a new one each time, with nothing in
    /// common with the others but what a database would share.
    ///
    /// See [`Rehearsal`].
    pub fn rehearse(
        &self,
        server: impl Fn(Sealing) -> Server + Send + Sync + 'static,
    ) -> Rehearsal {
        Rehearsal::new(self.clone(), Arc::new(server))
    }
}

/// Shows which questions are answered, and not how.
impl Debug for Rehearsal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rehearsal")
            .field("script", &self.script)
            .field("without", &self.without)
            .finish_non_exhaustive()
    }
}
