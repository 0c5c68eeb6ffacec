//! [`Ask::once`]: work that is done in one round and known in all later ones.

use std::{
    cell::Cell,
    fmt,
    future::{Future, poll_fn},
    pin::{Pin, pin},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU8, Ordering},
    },
    task::{Context, Poll},
};

use pin_project_lite::pin_project;
use serde::{Serialize, de::DeserializeOwned};
use tokio::sync::OnceCell;

use super::{Ask, Dialogue, Fault, Stop};
use crate::sealing::{Barred, Entering, Mine};

/// A step that was begun in this run.
pub(crate) struct Begun {
    pub(crate) key: Arc<str>,
    /// What came of it, JSON.
    result: OnceCell<Arc<str>>,
    /// How many have begun it.
    times: AtomicU8,
    /// Whether somebody has had what came of it.
    had: AtomicBool,
    /// Whether its work was begun, and neither was done nor has failed.
    open: AtomicBool,
    /// Whether it may be done again if nobody knows whether it was.
    rerun: AtomicBool,
}

impl Begun {
    fn new(key: Arc<str>) -> Self {
        Self {
            key,
            result: OnceCell::new(),
            times: AtomicU8::new(0),
            had: AtomicBool::new(false),
            open: AtomicBool::new(false),
            rerun: AtomicBool::new(false),
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.open.load(Ordering::Relaxed)
    }
}

impl Ask {
    /// Does something once in this call, although the handler runs in every round: what came of it
    /// is carried along in the sealed state, and is there in all later rounds.
    ///
    /// ```
    /// use antiphon::{Ask, Form, Stop};
    ///
    /// #[derive(Form)]
    /// struct Post { post: bool }
    ///
    /// # async fn compose() -> Result<String, Stop> { Ok(String::new()) }
    /// async fn publish(ask: Ask) -> Result<String, Stop> {
    ///     let draft: String = ask.once("draft", async || compose().await).await?;
    ///     let Post { post } = ask.form("post", format!("Post this?\n{draft}"))?;
    ///     Ok(if post { "Posted." } else { "Dropped." }.to_owned())
    /// }
    /// # let _ = antiphon::Server::<()>::new("blog", "1.0").tool("publish", publish);
    /// ```
    ///
    /// A key is good for one piece of work in a run. Those that are begun under the same key
    /// before the first is done share it. A failure is not remembered: the next round tries again.
    /// Nothing can be asked within.
    ///
    /// Work that was begun has to be awaited to its end. If the handler drops it, or asks while it
    /// goes on elsewhere, nobody knows what was done: it is not begun again, and the call fails.
    ///
    /// What is done is known from the next state on, so a process that ends before it has sent
    /// that may do it again when the client does. A [journal](crate::sealing::Sealing::journal)
    /// knows of it before; give an [`idempotency_key`](Self::idempotency_key) to services that take
    /// one.
    ///
    /// # Errors
    /// Those of the work. With a journal also, as tools fail, that it is not known whether it was
    /// done, see [`rerun_if_unknown`](Once::rerun_if_unknown), and that it was done upon other
    /// answers.
    pub fn once<'a, T, F>(
        &'a self,
        key: &'a str,
        work: F,
    ) -> Once<impl Future<Output = Result<T, Stop>> + use<'a, T, F>>
    where
        T: Serialize + DeserializeOwned,
        F: AsyncFnOnce() -> Result<T, Stop>,
    {
        // Begun when it is called, not when it is first polled: so it does not depend on the time
        // that work takes whether two of them share.
        let key = self.full(key);
        let begun = self.begin(&key);
        let step = begun.as_ref().ok().cloned();
        let doing = async move {
            let begun = begun?;
            let result = begun
                .result
                .get_or_try_init(|| self.run_step(&key, &begun, work))
                .await?;
            begun.had.store(true, Ordering::Relaxed);
            let read = serde_json::from_str(result);
            read.map_err(|_| self.fault(Fault::Unreadable { key: key.into() }))
        };
        Once { step, doing }
    }

    fn begin(&self, key: &str) -> Result<Arc<Begun>, Stop> {
        self.check(key)?;
        let mut run = self.dialogue.run();
        // Before anything is done that the next state could not tell of.
        if let Err(why) = run.asking.done(key).map(drop) {
            drop(run);
            return Err(self.stop(key, why));
        }
        let begun = match run.steps.iter().find(|begun| *begun.key == *key) {
            Some(begun) => begun.clone(),
            None => {
                let begun = Arc::new(Begun::new(run.asking.step_key(key)));
                run.steps.push(begun.clone());
                begun
            }
        };
        let times = begun.times.load(Ordering::Relaxed).saturating_add(1);
        begun.times.store(times, Ordering::Relaxed);
        let together = !begun.had.load(Ordering::Relaxed);
        if !run.asking.may_share(key, times, together) {
            drop(run);
            return Err(self.fault(Fault::Twice { key: key.into() }));
        }
        Ok(begun)
    }

    async fn run_step<T: Serialize>(
        &self,
        key: &str,
        begun: &Begun,
        work: impl AsyncFnOnce() -> Result<T, Stop>,
    ) -> Result<Arc<str>, Stop> {
        if let Some(done) = self.open_step(key, begun).map_err(|it| self.fault(it))? {
            self.faults.tell_step(key, false);
            return Ok(done);
        }
        let mine = match self.enter(key, begun).await {
            Ok(Entering::Begin(mine)) => mine,
            Ok(Entering::Known { shared, result }) => {
                let mut run = self.dialogue.run();
                begun.open.store(false, Ordering::Relaxed);
                let result: Arc<str> = result.into();
                run.asking.note_known(key, shared, result.clone());
                self.faults.tell_step(key, false);
                return Ok(result);
            }
            Err(barred) => {
                begun.open.store(false, Ordering::Relaxed);
                return Err(self.barred(key, barred));
            }
        };
        let work = async {
            let ended = inside(&self.dialogue, work()).await;
            let ended = ended.map(|value| serde_json::to_string(&value));
            if let Some(mine) = &mine {
                self.write_down(key, begun, mine, &ended).await;
            }
            ended
        };
        let ended = match &mine {
            None => work.await,
            Some(mine) => self.dialogue.hold(mine, pin!(work)).await,
        };
        let mut run = self.dialogue.run();
        begun.open.store(false, Ordering::Relaxed);
        match ended {
            Ok(Ok(result)) => {
                let result: Arc<str> = result.into();
                run.asking.note_done(begun.key.clone(), result.clone());
                let times = begun.times.load(Ordering::Relaxed);
                run.asking.may_share(key, times, true);
                self.faults.tell_step(key, true);
                Ok(result)
            }
            Ok(Err(_)) => {
                drop(run);
                Err(self.fault(Fault::Unreadable { key: key.into() }))
            }
            Err(stop) => Err(stop),
        }
    }

    /// Enters the step in the journal, if there is one.
    async fn enter(&self, key: &str, begun: &Begun) -> Result<Entering, Barred> {
        if !self.dialogue.has_journal() {
            return Ok(Entering::Begin(None));
        }
        let rerun = begun.rerun.load(Ordering::Relaxed);
        // What few servers need is kept out of the future that all of them have.
        Box::pin(self.dialogue.enter(key, rerun)).await
    }

    /// Writes down how the step ended, before anybody builds upon that.
    async fn write_down(
        &self,
        key: &str,
        begun: &Begun,
        mine: &Mine,
        ended: &Result<serde_json::Result<String>, Stop>,
    ) {
        let shared = begun.times.load(Ordering::Relaxed);
        match ended {
            Ok(Ok(result)) => {
                Box::pin(self.dialogue.write_done(key, mine, shared, result)).await;
            }
            // It was done, and nobody can be told what came of it: an entry without a result.
            Ok(Err(_)) => {}
            Err(_) => Box::pin(self.dialogue.write_failed(key, mine)).await,
        }
    }

    /// Why a step is not begun.
    fn barred(&self, key: &str, barred: Barred) -> Stop {
        match barred {
            Barred::Changed => Stop::fail(format!(
                "`{key}` was begun upon other answers. Nothing more was done: call again."
            )),
            Barred::Unknown => Stop::fail(format!(
                "It is not known whether `{key}` was done: the server ended in the middle of it. \
                 Find out whether it was, and call again only if it was not."
            )),
            Barred::Over => Stop::fail(format!(
                "The time of this call is over. `{key}` was not done: call again."
            )),
            Barred::Trouble(error) => error.into(),
        }
    }

    /// What came of the work, if it was done; else it is to be done now.
    fn open_step(&self, key: &str, begun: &Begun) -> Result<Option<Arc<str>>, Fault> {
        // Under the lock, like the look at what is open when the handler has ended.
        let run = self.dialogue.run();
        if let Some(done) = run.asking.result(key) {
            return Ok(Some(done));
        }
        let key = || key.to_owned();
        if begun.is_open() {
            return Err(Fault::Unfinished { key: key() });
        }
        if self.dialogue.is_over() {
            return Err(Fault::AskedLate { key: key() });
        }
        if !self.dialogue.is_claimed() {
            return Err(Fault::Unclaimed { key: key() });
        }
        begun.open.store(true, Ordering::Relaxed);
        Ok(None)
    }
}

pin_project! {
    /// Something that is done once in a call, when this is awaited: what [`Ask::once`] returns.
    #[must_use = "nothing is done unless it is awaited"]
    pub struct Once<W> {
        step: Option<Arc<Begun>>,
        #[pin]
        doing: W,
    }
}

impl<W> Once<W> {
    /// Does it again if it is not known whether it was done: for what does no harm twice.
    ///
    /// With a [journal](crate::sealing::Sealing::journal), a step that was begun by a process that
    /// was not heard of again ends the call, because nobody knows how far it came. Without a
    /// journal this changes nothing; and where states are used once, the call gets here again only
    /// with [`Sealing::rerun_if_unknown`](crate::sealing::Sealing::rerun_if_unknown).
    ///
    /// ```
    /// # use antiphon::{Ask, Stop};
    /// # async fn mail() -> Result<u32, Stop> { Ok(1) }
    /// async fn remind(ask: Ask) -> Result<String, Stop> {
    ///     let sent: u32 = ask.once("mail", async || mail().await).rerun_if_unknown().await?;
    ///     Ok(format!("{sent} sent."))
    /// }
    /// # let _ = antiphon::Server::<()>::new("desk", "1.0").tool("remind", remind);
    /// ```
    ///
    /// Where several share a step, it is enough if one of them says so.
    pub fn rerun_if_unknown(self) -> Self {
        if let Some(step) = &self.step {
            step.rerun.store(true, Ordering::Relaxed);
        }
        self
    }
}

impl<W: Future> Future for Once<W> {
    type Output = W::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<W::Output> {
        self.project().doing.poll(context)
    }
}

impl<W> fmt::Debug for Once<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Once").finish_non_exhaustive()
    }
}

thread_local! {
    /// Whose work is being polled on this thread.
    static INSIDE: Cell<*const Dialogue> = const { Cell::new(std::ptr::null()) };
}

/// Whether this is called from within the work of `once`.
pub(super) fn is_inside(dialogue: &Arc<Dialogue>) -> bool {
    std::ptr::eq(INSIDE.get(), Arc::as_ptr(dialogue))
}

async fn inside<T>(dialogue: &Arc<Dialogue>, work: impl Future<Output = T>) -> T {
    /// Restores what was before, also when the work panics.
    struct Entered(*const Dialogue);
    impl Drop for Entered {
        fn drop(&mut self) {
            INSIDE.set(self.0);
        }
    }
    let mut work = pin!(work);
    poll_fn(|context| {
        let _entered = Entered(INSIDE.replace(Arc::as_ptr(dialogue)));
        work.as_mut().poll(context)
    })
    .await
}

#[cfg(all(test, feature = "client"))]
mod tests {
    use std::sync::atomic::AtomicU32;

    use serde_json::json;

    use super::*;
    use crate::{Client, Server, State, memory};

    #[tokio::test]
    async fn nothing_is_done_under_a_key_that_no_state_can_hold() {
        for (length, done) in [(0, 0), (1, 1), (255, 1), (256, 0)] {
            let count = Arc::new(AtomicU32::new(0));
            let work = move |State(count): State<Arc<AtomicU32>>, ask: Ask| async move {
                let key = "k".repeat(length);
                ask.once(&key, async || Ok(count.fetch_add(1, Ordering::Relaxed)))
                    .await
                    .map(|before| before.to_string())
            };
            let server = Server::new("tests", "1.0").tool("work", work);
            let server = server.with_state::<()>(count.clone());
            let client = Client::new("tests", "1.0").connect(memory(server)).await;
            let result = client
                .expect("in memory")
                .call_tool("work", json!({}))
                .await;
            assert_eq!(result.is_ok(), done == 1, "{length}: {result:?}");
            assert_eq!(count.load(Ordering::Relaxed), done, "{length}");
        }
    }
}
