//! Who answers a server's questions: what was given with the command, rules, a command for the model,
//! the person at the terminal; or nobody, and the call waits.

mod fill;
pub(crate) mod given;
pub(crate) mod rules;
pub(crate) mod sampler;

use std::{
    io::ErrorKind,
    sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError},
    time::Instant,
};

use antiphon::{
    CancellationToken, Client,
    client::{Pending, Question, Reply},
    types::{CreateMessageResult, ElicitRequestParams, InputRequest, Root},
};

use crate::{
    asked::{Asked, Reaction, Said},
    failure::Failure,
    options::Asking,
    printable,
    progress::{Hidden, Progress},
    root::root,
    terminal::{self, Person, Screen},
};
pub(crate) use rules::Rules;
use sampler::Sampler;

/// Everybody who may answer, in order.
pub(crate) struct Desk {
    /// What was said already to questions like these, each once, and how that is told.
    before: Mutex<Vec<(Answered, &'static str)>>,
    rules: Option<Rules>,
    strict: bool,
    max_rounds: u32,
    roots: Vec<Root>,
    sampler: Option<Sampler>,
    person: Option<Mutex<Person<Screen>>>,
    /// Whose turn it is at the terminal.
    turn: tokio::sync::Mutex<()>,
    /// The question at the terminal.
    open: Mutex<Option<OpenQuestion>>,
    /// What was asked, and what came of it.
    record: Mutex<Record>,
    /// Somebody pressed Ctrl-C.
    pub(crate) interrupted: CancellationToken,
    progress: Progress,
}

/// A question and what was said to it.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Answered {
    pub(crate) question: InputRequest,
    pub(crate) said: Said,
}

/// What was asked, and what came of it.
#[derive(Default)]
pub(crate) struct Record {
    pub(crate) answered: Vec<Answered>,
    /// In which round the question was that somebody left by Ctrl-C.
    pub(crate) left_in: Option<u32>,
    /// A rule that does not fit its question.
    pub(crate) misfit: Option<String>,
    /// Whether there was a question that nobody answered in time.
    pub(crate) is_late: bool,
}

/// A question that is being answered. One that is given up after its deadline was too late, which
/// the servers of older sessions are told as if nobody had made a choice.
struct Waiting<'a> {
    desk: &'a Desk,
    deadline: Instant,
    is_over: bool,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if !self.is_over && Instant::now() >= self.deadline {
            self.desk.record().is_late = true;
        }
    }
}

impl Desk {
    /// Reads whatever the options name. Nobody is asked anything yet.
    pub(crate) fn new(asking: &Asking, progress: Progress) -> Result<Arc<Self>, Failure> {
        let roots = asking.root.iter().map(|path| {
            root(path).map_err(|error| {
                let path = printable::line(&path.to_string_lossy());
                Failure::usage(format!("--root {path}: {error}"))
            })
        });
        let is_attended = terminal::is_attended() && !asking.no_input;
        Ok(Arc::new(Self {
            before: Mutex::default(),
            rules: asking.answers.as_deref().map(Rules::read).transpose()?,
            strict: asking.strict,
            max_rounds: asking.max_rounds,
            roots: roots.collect::<Result<_, _>>()?,
            sampler: asking.sampler.as_deref().map(Sampler::parse).transpose()?,
            person: is_attended.then(|| Mutex::new(Person::new(Screen).can_wait())),
            turn: tokio::sync::Mutex::default(),
            open: Mutex::default(),
            record: Mutex::default(),
            interrupted: CancellationToken::new(),
            progress,
        }))
    }

    /// Answers questions like these as they were answered before, or as is given now, each once.
    pub(crate) fn remember(&self, before: Vec<Answered>, given: Vec<Answered>) {
        let before = before.into_iter().map(|answered| (answered, "as before"));
        let given = given.into_iter().map(|answered| (answered, "as given"));
        lock(&self.before).extend(before.chain(given));
    }

    /// Has a client put every question to the desk.
    pub(crate) fn serve(self: &Arc<Self>, client: Client) -> Client {
        let client = client
            .on_form(self.asking(|form| InputRequest::Elicit(ElicitRequestParams::Form(form))))
            .on_url(self.asking(|link| InputRequest::Elicit(ElicitRequestParams::Url(link))))
            .on_roots(self.asking(|roots| InputRequest::Roots(Some(roots))));
        let sample = self.asking(|sample| InputRequest::Sample(Box::new(sample)));
        match self.sampler {
            Some(_) => client.on_sample_with_tools(sample),
            None => client.on_sample(sample),
        }
    }

    /// A callback that puts questions of one kind to the desk.
    fn asking<T: Clone + Send + Sync + 'static>(
        self: &Arc<Self>,
        of_kind: fn(T) -> InputRequest,
    ) -> impl Fn(Question<T>) -> Pending<'static, Reply> + Send + Sync + 'static {
        let desk = self.clone();
        move |question| {
            let desk = desk.clone();
            Box::pin(async move {
                let asked = Asked::of(question.clone(), of_kind);
                let as_asked = asked.question.clone();
                match desk.ask(asked).await {
                    Reaction::Says(said) => said.to(&as_asked).into(),
                    Reaction::Later => question.pause(),
                    Reaction::Refuses(why) => question.refuse(why),
                }
            })
        }
    }

    async fn ask(self: &Arc<Self>, asked: Asked) -> Reaction {
        let question = asked.question.clone();
        let mut waiting = Waiting {
            desk: self,
            deadline: asked.deadline,
            is_over: false,
        };
        let reaction = self.consider(asked).await;
        waiting.is_over = true;
        if let Reaction::Says(said) = &reaction {
            let said = said.clone();
            self.record().answered.push(Answered { question, said });
        }
        reaction
    }

    async fn consider(self: &Arc<Self>, asked: Asked) -> Reaction {
        if let Some((said, how)) = self.said_already(&asked) {
            self.report(&asked, how, &said);
            return Reaction::Says(said);
        }
        let ruled = self.rules.as_ref().and_then(|rules| {
            let (number, said) = rules.answer(&asked)?;
            Some((rules.describe(number), said))
        });
        match ruled {
            Some((rule, Ok(said))) => {
                self.report(&asked, &format!("by {rule}"), &said);
                return Reaction::Says(said);
            }
            Some((_, Err(why))) => {
                self.record().misfit = Some(why.clone());
                return Reaction::Later;
            }
            None if asked.is_aside() => {
                let said = Said::Roots(self.roots.clone());
                self.report(&asked, "outside any call", &said);
                return Reaction::Says(said);
            }
            None if self.strict => return Reaction::Later,
            None => {}
        }
        let draft = match self.automatic(&asked).await {
            Ok(Automatic::Says(said)) => {
                self.report(&asked, "by the command line", &said);
                return Reaction::Says(said);
            }
            Ok(Automatic::Draft(draft)) => Some(draft),
            Ok(Automatic::Nothing) => None,
            Err(why) => {
                self.progress.line(&format!("antiphon: {why}"));
                None
            }
        };
        match self.person {
            Some(_) => self.at_the_terminal(asked, draft).await,
            None => match draft {
                Some(draft) => {
                    let said = Said::Sample(draft);
                    self.report(&asked, "by the sampler", &said);
                    Reaction::Says(said)
                }
                None => Reaction::Later,
            },
        }
    }

    /// What was said already to this very question. One in other words is another question.
    fn said_already(&self, asked: &Asked) -> Option<(Said, &'static str)> {
        // It was not taken.
        if !asked.errors.is_empty() {
            return None;
        }
        let mut before = lock(&self.before);
        let mut all = before.iter();
        let at = all.position(|(one, _)| is_same(&one.question, &asked.question))?;
        let (answered, how) = before.remove(at);
        Some((answered.said, how))
    }

    /// What the command line answers.
    async fn automatic(&self, asked: &Asked) -> Result<Automatic, String> {
        Ok(match (&asked.question, &self.sampler) {
            (InputRequest::Roots(_), _) if !self.roots.is_empty() => {
                Automatic::Says(Said::Roots(self.roots.clone()))
            }
            (InputRequest::Sample(request), Some(sampler)) => {
                Automatic::Draft(Box::new(sampler.complete(request).await?))
            }
            _ => Automatic::Nothing,
        })
    }

    async fn at_the_terminal(
        self: &Arc<Self>,
        asked: Asked,
        draft: Option<Box<CreateMessageResult>>,
    ) -> Reaction {
        let _turn = self.turn.lock().await;
        let over = CancellationToken::new();
        *lock(&self.open) = Some(OpenQuestion {
            over: over.clone(),
            round: asked.round,
            deadline: asked.deadline,
            is_roots: matches!(asked.question, InputRequest::Roots(_)),
            _hidden: self.progress.hide(),
        });
        let _closed = Closed(self);
        let desk = self.clone();
        let asking = tokio::task::spawn_blocking(move || {
            let mut person = at_the_prompt(desk.person.as_ref()?);
            let _prompting = terminal::begin(&over);
            Some(match draft {
                None => person.ask(&asked),
                Some(draft) => person.review(&asked, &draft),
            })
        });
        let asked = asking.await;
        if matches!(&asked, Ok(Some(Err(error))) if error.kind() == ErrorKind::Interrupted) {
            self.interrupt();
            // Whoever made the call drops it: only so is its server told. An answer of this end
            // would be there before that.
            return std::future::pending().await;
        }
        lock(&self.open).take();
        match asked {
            Ok(Some(Ok(reaction))) => reaction,
            Ok(Some(Err(error))) => Reaction::Refuses(format!("the terminal failed: {error}")),
            Ok(None) => Reaction::Later,
            Err(panic) => Reaction::Refuses(panic.to_string()),
        }
    }

    /// Somebody pressed Ctrl-C.
    pub(crate) fn interrupt(&self) {
        let round = lock(&self.open).as_ref().map(|open| open.round);
        let mut record = self.record();
        record.left_in = record.left_in.or(round);
        self.interrupted.cancel();
    }

    /// Nobody waits for the answer of the person at the terminal any more: its time is up, or an
    /// older server took its question back. They may still be typing.
    pub(crate) fn close(&self) {
        let Some(open) = lock(&self.open).take() else {
            return;
        };
        open.over.cancel();
        if self.interrupted.is_cancelled() {
            return;
        }
        terminal::put_aside(match (Instant::now() < open.deadline, open.is_roots) {
            // It may never have been for this call: older servers do not say.
            (true, true) => "The server goes on without these directories.",
            (true, false) => "The server took its question back.",
            (false, _) => "No time is left for this question (the human clock).",
        });
    }

    /// Says what was answered without anybody being asked.
    fn report(&self, asked: &Asked, by: &str, said: &Said) {
        let key = printable::excerpt(&asked.key, 80);
        self.progress
            .line(&format!("answered [{key}] {by}: {said}"));
    }

    /// What was asked, and what came of it.
    pub(crate) fn record(&self) -> MutexGuard<'_, Record> {
        lock(&self.record)
    }

    /// Under `--strict`, whether something is left over.
    pub(crate) fn check_rules(&self) -> Result<(), Failure> {
        let Some(rules) = self.rules.as_ref().filter(|_| self.strict) else {
            return Ok(());
        };
        let unused: Vec<_> = rules
            .unused()
            .iter()
            .map(|at| rules.describe(*at))
            .collect();
        match unused.is_empty() {
            true => Ok(()),
            false => Err(Failure::usage(format!(
                "--strict: nothing asked for {}",
                unused.join(", ")
            ))),
        }
    }

    pub(crate) fn is_strict(&self) -> bool {
        self.strict
    }

    pub(crate) fn max_rounds(&self) -> u32 {
        self.max_rounds
    }
}

/// The question at the terminal.
struct OpenQuestion {
    /// Cancelled when nobody waits for the answer any more.
    over: CancellationToken,
    round: u32,
    deadline: Instant,
    is_roots: bool,
    _hidden: Hidden,
}

/// Closes the question at the terminal.
struct Closed<'a>(&'a Desk);

impl Drop for Closed<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// The person, who may still be at the prompt of a question that is over.
fn at_the_prompt<P>(person: &Mutex<P>) -> MutexGuard<'_, P> {
    match person.try_lock() {
        Ok(person) => person,
        Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        Err(TryLockError::WouldBlock) => {
            tell!("  ! There is another question: press Enter to go on.\r");
            lock(person)
        }
    }
}

/// What the command line has to say to a question.
enum Automatic {
    Says(Said),
    /// What the model's command says, which a person may look at first.
    Draft(Box<CreateMessageResult>),
    Nothing,
}

/// Whether two questions are the same, whatever metadata they came with.
fn is_same(one: &InputRequest, other: &InputRequest) -> bool {
    use ElicitRequestParams::{Form, Url};
    match (one, other) {
        (InputRequest::Elicit(Form(one)), InputRequest::Elicit(Form(other))) => {
            (&one.message, &one.requested_schema) == (&other.message, &other.requested_schema)
        }
        (InputRequest::Elicit(Url(one)), InputRequest::Elicit(Url(other))) => {
            (&one.message, &one.url) == (&other.message, &other.url)
        }
        (InputRequest::Sample(one), InputRequest::Sample(other)) => {
            (&one.system_prompt, &one.messages) == (&other.system_prompt, &other.messages)
        }
        (InputRequest::Roots(_), InputRequest::Roots(_)) => true,
        _ => false,
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
