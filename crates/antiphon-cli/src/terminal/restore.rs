//! The terminal as it was: while a question is asked, keys are not echoed, and while a prompt is
//! open, the cursor may be hidden. Whoever ends the program then puts that right.
//!
//! A prompt cannot be closed by anybody but the person: a question that is over before it is
//! answered is put aside, and its prompt leads nowhere.

use std::{
    io::{self, Write},
    sync::{
        Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use antiphon::CancellationToken;
use modes::{Modes, Thread};

/// How long a prompt may take to close when the program ends. It takes no time, but on a machine
/// that has none.
const CLOSES_WITHIN: Duration = Duration::from_secs(2);

/// The prompt that is open, and the question that is asked.
static STATE: Mutex<State> = Mutex::new(State {
    before: None,
    open: None,
    over: None,
    is_aside: false,
    is_ended: false,
});

/// Told when a prompt closes.
static CLOSED: Condvar = Condvar::new();

/// Whether there was a signal that closed a prompt, and that nobody has heard of.
static DISTURBED: AtomicBool = AtomicBool::new(false);

struct State {
    /// The modes of the terminal from before the first prompt of the question that is asked.
    before: Option<Modes>,
    /// The thread of the prompt that is open.
    open: Option<Thread>,
    /// Cancelled when nobody waits for the answer any more.
    over: Option<CancellationToken>,
    /// Whether something was said below the prompt that is open.
    is_aside: bool,
    /// The program ends: nobody is asked any more.
    is_ended: bool,
}

impl State {
    fn is_over(&self) -> bool {
        self.over
            .as_ref()
            .is_some_and(CancellationToken::is_cancelled)
    }
}

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A question that is asked: what is typed ahead of its next prompt is not shown.
#[must_use]
pub(crate) struct Prompting(());

impl Drop for Prompting {
    fn drop(&mut self) {
        if let Some(before) = state().before.take() {
            modes::put_back(&before);
        }
    }
}

/// The prompts from here on belong to a question that is over when this is cancelled.
pub(crate) fn begin(over: &CancellationToken) -> Prompting {
    state().over = Some(over.clone());
    Prompting(())
}

/// Says why the question that is asked is over, below the prompt that is open, if there is one.
pub(crate) fn put_aside(why: &str) {
    let mut state = state();
    if state.open.is_some() && state.is_over() && !state.is_aside {
        state.is_aside = true;
        _ = write!(io::stderr(), "\r\n\x1b[J  ! {why}\r\n");
    }
}

/// Runs a prompt in a terminal that is its own; `None` if nobody waits for what it gives.
pub(super) fn around<T>(prompt: impl FnOnce() -> T) -> Option<T> {
    modes::heed_interrupts();
    {
        let mut state = state();
        if state.is_ended || state.is_over() {
            return None;
        }
        if state.before.is_none() {
            state.before = modes::now();
        }
        if let Some(before) = &state.before {
            modes::take_over(before);
        }
        state.open = Some(modes::this_thread());
    }
    let given = prompt();
    let mut state = state();
    state.is_aside = false;
    state.open = None;
    CLOSED.notify_all();
    if let Some(before) = &state.before {
        modes::keep_quiet(before);
    }
    (!state.is_ended && !state.is_over()).then_some(given)
}

/// Leaves the terminal as it was found: to be called before the program says why it ends. Does
/// nothing unless a question is asked.
pub(crate) fn restore() {
    let mut state = state();
    state.is_ended = true;
    let (was_open, was_aside) = (state.open.is_some(), state.is_aside);
    if was_open {
        // It leaves the cursor wherever it likes.
        _ = io::stderr().write_all(b"\x1b7");
    }
    // A prompt that reads a key sets modes of its own before and after, so it must be over first.
    let until = Instant::now() + CLOSES_WITHIN;
    while let Some(thread) = state.open
        && Instant::now() < until
    {
        DISTURBED.store(true, Ordering::Relaxed);
        modes::disturb(thread);
        let waited = CLOSED.wait_timeout(state, Duration::from_millis(10));
        (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
    }
    if let Some(before) = state.before.take() {
        modes::put_back(&before);
    }
    if was_open {
        // Past the line of the prompt, without its options and its help; the cursor is shown.
        let past: &[u8] = match was_aside {
            true => b"\x1b8\r\x1b[J\x1b[?25h",
            false => b"\x1b8\r\n\x1b[J\x1b[?25h",
        };
        _ = io::stderr().write_all(past);
    }
}

/// Whether a signal that was just heard was [`restore`]'s own, and not somebody's who presses Ctrl-C.
/// All that it sent are heard as one: they come while it runs, and nobody listens then.
pub(crate) fn was_disturbed() -> bool {
    DISTURBED.swap(false, Ordering::Relaxed)
}

#[cfg(unix)]
mod modes {
    use std::{io::stdin, sync::Once};

    use nix::sys::{
        pthread::{Pthread, pthread_kill, pthread_self},
        signal::Signal,
        termios::{LocalFlags, SetArg, Termios, tcgetattr, tcsetattr},
    };
    use tokio::{
        runtime::Handle,
        signal::unix::{SignalKind, signal},
    };

    pub(super) type Modes = Termios;
    pub(super) type Thread = Pthread;

    pub(super) fn now() -> Option<Modes> {
        tcgetattr(stdin()).ok()
    }

    /// Keys come one by one, and are neither echoed nor signals. Prompts see to that only while
    /// they wait for a key; what is typed between two would be in the way of what they draw.
    pub(super) fn take_over(before: &Modes) {
        without(
            before,
            LocalFlags::ECHO | LocalFlags::ICANON | LocalFlags::ISIG,
        );
    }

    /// Between two prompts, keys are lines and signals again, but not echoed.
    pub(super) fn keep_quiet(before: &Modes) {
        without(before, LocalFlags::ECHO);
    }

    pub(super) fn put_back(before: &Modes) {
        without(before, LocalFlags::empty());
    }

    fn without(before: &Modes, flags: LocalFlags) {
        let mut modes = before.clone();
        modes.local_flags -= flags;
        // There is nothing else to try.
        _ = tcsetattr(stdin(), SetArg::TCSADRAIN, &modes);
    }

    pub(super) fn this_thread() -> Thread {
        pthread_self()
    }

    /// Has a prompt stop waiting for a key, if it does just now. The thread must not have ended.
    pub(super) fn disturb(thread: Thread) {
        _ = pthread_kill(thread, Signal::SIGINT);
    }

    /// Prompts raise the signal for Ctrl-C, which would end this process on the spot if nobody
    /// took it.
    pub(super) fn heed_interrupts() {
        static HEEDED: Once = Once::new();
        HEEDED.call_once(|| {
            if Handle::try_current().is_ok() {
                // Once taken, it is taken until the process ends.
                _ = signal(SignalKind::interrupt());
            }
        });
    }
}

#[cfg(not(unix))]
mod modes {
    /// Prompts change nothing that stays.
    pub(super) struct Modes;

    #[derive(Clone, Copy)]
    pub(super) struct Thread;

    pub(super) fn this_thread() -> Thread {
        Thread
    }

    pub(super) fn disturb(_: Thread) {}

    pub(super) fn now() -> Option<Modes> {
        Some(Modes)
    }

    pub(super) fn take_over(_: &Modes) {}

    pub(super) fn keep_quiet(_: &Modes) {}

    pub(super) fn put_back(_: &Modes) {}

    pub(super) fn heed_interrupts() {}
}
