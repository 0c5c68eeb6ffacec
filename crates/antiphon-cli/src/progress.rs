//! [`Progress`]: how far a call has come, on standard error.
//!
//! At a terminal that is a bar, elsewhere a line now and then. Whoever else writes to standard
//! error goes through it, so that neither garbles the other.

use std::{
    collections::VecDeque,
    io::{self, Write},
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use antiphon::types::ProgressNotificationParams;
use console::Term;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::printable;

/// How often a line is written where there is no bar.
const EVERY: Duration = Duration::from_secs(1);

/// After how long somebody wonders what is going on.
const LONG: Duration = Duration::from_secs(1);

/// Most characters of a message.
const LONGEST: usize = 200;

/// Steps of a bar, however far the server counts.
const STEPS: u64 = 1000;

/// Most lines that wait for somebody at the terminal.
const WAITING: usize = 1000;

/// How far a call has come. Clones show the same.
#[derive(Clone)]
pub(crate) struct Progress(Arc<Mutex<State>>);

impl Progress {
    /// On standard error: a bar if that is a terminal which can draw one.
    pub(crate) fn stderr() -> Self {
        let draws = Term::stderr().is_term() && !console::is_dumb();
        let target: Target = Box::new(ProgressDrawTarget::stderr);
        Self::new(draws.then_some(target), Box::new(io::stderr()))
    }

    fn new(target: Option<Target>, lines: Box<dyn Write + Send>) -> Self {
        Self(Arc::new(Mutex::new(State {
            target,
            lines,
            bar: None,
            last: None,
            told: None,
            hidden: 0,
            waiting: VecDeque::new(),
            dropped: 0,
        })))
    }

    /// Shows a report. Does not wait for anybody.
    pub(crate) fn report(&self, report: &ProgressNotificationParams) {
        self.report_at(report, Instant::now());
    }

    fn report_at(&self, report: &ProgressNotificationParams, now: Instant) {
        let mut state = self.lock();
        state.last = Some(Report::new(report));
        match state.target.is_some() {
            true => state.draw(),
            false => state.tell(now),
        }
    }

    /// Says what is waited for, as soon as that takes long enough to wonder, and if there is a
    /// terminal; when it is over, that is gone.
    pub(crate) async fn while_waiting<T>(&self, what: &str, work: impl Future<Output = T>) -> T {
        let _cleared = Cleared(self);
        let mut work = pin!(work);
        tokio::select! {
            biased;
            done = &mut work => return done,
            () = tokio::time::sleep(LONG) => self.wait_for(what),
        }
        work.await
    }

    /// Says what is waited for, which is printable, if there is a terminal.
    fn wait_for(&self, what: &str) {
        let mut state = self.lock();
        if state.target.is_some() {
            let text = what.to_owned();
            state.last = Some(Report { part: None, text });
            state.draw();
        }
    }

    /// Writes a line, which is printable, without harm to the bar; while somebody is asked
    /// something, it waits.
    pub(crate) fn line(&self, text: &str) {
        self.lock().line(text);
    }

    /// Leaves the terminal to somebody else until what this gives is dropped.
    pub(crate) fn hide(&self) -> Hidden {
        let mut state = self.lock();
        state.hidden += 1;
        state.clear();
        drop(state);
        Hidden(self.clone())
    }

    /// Leaves the terminal to `whoever`.
    #[cfg(test)]
    fn suspend<T>(&self, whoever: impl FnOnce() -> T) -> T {
        let _hidden = self.hide();
        whoever()
    }

    /// The call has ended: the bar goes, a report that was not written yet is.
    pub(crate) fn clear(&self) {
        let mut state = self.lock();
        state.clear();
        if state.target.is_none() {
            state.tell_last();
        }
        state.last = None;
        state.told = None;
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Clears what is shown, however what it is about ends.
struct Cleared<'a>(&'a Progress);

impl Drop for Cleared<'_> {
    fn drop(&mut self) {
        self.0.clear();
    }
}

/// As long as this is there, nothing is shown.
#[must_use]
pub(crate) struct Hidden(Progress);

impl Drop for Hidden {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.hidden = state.hidden.saturating_sub(1);
        if state.hidden == 0 {
            state.flush();
            state.draw();
        }
    }
}

/// Where bars are drawn.
type Target = Box<dyn Fn() -> ProgressDrawTarget + Send>;

struct State {
    /// None if there is only place for lines.
    target: Option<Target>,
    lines: Box<dyn Write + Send>,
    bar: Option<ProgressBar>,
    /// The last report that is not written as a line.
    last: Option<Report>,
    /// When one was written.
    told: Option<Instant>,
    /// How many want the terminal for themselves.
    hidden: usize,
    waiting: VecDeque<String>,
    dropped: usize,
}

impl State {
    fn draw(&mut self) {
        let (Some(target), Some(report), 0) = (&self.target, &self.last, self.hidden) else {
            return;
        };
        let bar = self.bar.get_or_insert_with(|| {
            let bar = ProgressBar::with_draw_target(Some(STEPS), target());
            bar.with_style(report.style())
        });
        bar.set_style(report.style());
        match report.part {
            Some(part) => bar.set_position((part * STEPS as f64) as u64),
            None => bar.tick(),
        }
        bar.set_message(report.text.clone());
    }

    /// Writes the last report as a line, unless one was just written.
    fn tell(&mut self, now: Instant) {
        let due = |told: Instant| now.saturating_duration_since(told) >= EVERY;
        if self.told.is_none_or(due) {
            self.told = Some(now);
            self.tell_last();
        }
    }

    fn tell_last(&mut self) {
        if let Some(report) = self.last.take() {
            self.line(&format!("progress: {}", report.text));
        }
    }

    fn line(&mut self, text: &str) {
        if self.hidden > 0 {
            if self.waiting.len() == WAITING {
                self.waiting.pop_front();
                self.dropped += 1;
            }
            self.waiting.push_back(text.to_owned());
            return;
        }
        let lines = &mut self.lines;
        // Whoever closed standard error does not want to know.
        match &self.bar {
            Some(bar) => _ = bar.suspend(|| writeln!(lines, "{text}")),
            None => _ = writeln!(lines, "{text}"),
        }
    }

    /// Writes what had to wait.
    fn flush(&mut self) {
        if std::mem::take(&mut self.dropped) > 0 {
            self.line("(some lines before this one were left out)");
        }
        for text in std::mem::take(&mut self.waiting) {
            self.line(&text);
        }
    }

    fn clear(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

/// A report, as it is shown.
#[derive(Debug, PartialEq)]
struct Report {
    /// How much is done, from 0 to 1, if that can be said.
    part: Option<f64>,
    text: String,
}

impl Report {
    fn new(report: &ProgressNotificationParams) -> Self {
        let done = report.progress.as_f64();
        let total = report.total.as_ref().and_then(|total| total.as_f64());
        let part = match (done, total) {
            (Some(done), Some(total)) if total > 0.0 => Some(done / total),
            _ => None,
        };
        let mut text = match &report.total {
            Some(total) if part.is_some() => format!("{}/{total}", report.progress),
            _ => report.progress.to_string(),
        };
        if let Some(message) = report.message.as_deref().filter(|it| !it.is_empty()) {
            text += ": ";
            text += &printable::excerpt(message, LONGEST);
        }
        Self {
            part: part
                .filter(|part| part.is_finite())
                .map(|it| it.clamp(0.0, 1.0)),
            text,
        }
    }

    fn style(&self) -> ProgressStyle {
        let template = match self.part {
            Some(_) => "[{bar:30}] {wide_msg}",
            None => "{spinner} {wide_msg}",
        };
        ProgressStyle::with_template(template)
            .expect("both templates are well-formed")
            .progress_chars("=> ")
    }
}

#[cfg(test)]
mod tests {
    use antiphon::types::ProgressToken;
    use indicatif::TermLike;
    use serde_json::{Number, Value, json};

    use super::*;

    /// What was written, in the order it was.
    #[derive(Debug, Clone, Default)]
    struct Paper(Arc<Mutex<String>>);

    impl Paper {
        fn add(&self, text: &str) -> io::Result<()> {
            self.0.lock().unwrap().push_str(text);
            Ok(())
        }

        fn take(&self) -> String {
            std::mem::take(&mut self.0.lock().unwrap())
        }
    }

    impl Write for Paper {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.add(std::str::from_utf8(bytes).unwrap())?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl TermLike for Paper {
        fn width(&self) -> u16 {
            60
        }

        fn move_cursor_up(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn move_cursor_down(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn move_cursor_right(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn move_cursor_left(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn write_line(&self, text: &str) -> io::Result<()> {
            self.add(&format!("{text}\n"))
        }

        fn write_str(&self, text: &str) -> io::Result<()> {
            self.add(text)
        }

        fn clear_line(&self) -> io::Result<()> {
            self.add("<clear>")
        }

        fn flush(&self) -> io::Result<()> {
            Ok(())
        }
    }

    fn at_a_terminal() -> (Progress, Paper) {
        let paper = Paper::default();
        let screen = paper.clone();
        let target: Target =
            Box::new(move || ProgressDrawTarget::term_like_with_hz(Box::new(screen.clone()), 255));
        let progress = Progress::new(Some(target), Box::new(paper.clone()));
        (progress, paper)
    }

    fn in_a_pipe() -> (Progress, Paper) {
        let paper = Paper::default();
        (Progress::new(None, Box::new(paper.clone())), paper)
    }

    fn number(value: &Value) -> Number {
        value.as_number().unwrap().clone()
    }

    fn report(
        progress: &Value,
        total: Option<&Value>,
        message: &str,
    ) -> ProgressNotificationParams {
        let token = ProgressToken::from("t");
        let mut report = ProgressNotificationParams::new(token, number(progress)).message(message);
        report.total = total.map(number);
        report
    }

    #[test]
    fn numbers_that_make_no_sense_break_nothing() {
        let table = [
            (json!(3), Some(json!(10)), Some(0.3), "3/10: m"),
            (json!(0.5), Some(json!(1.0)), Some(0.5), "0.5/1.0: m"),
            (json!(3), None, None, "3: m"),
            (json!(3), Some(json!(0)), None, "3: m"),
            (json!(3), Some(json!(-1)), None, "3: m"),
            (json!(-3), Some(json!(10)), Some(0.0), "-3/10: m"),
            (json!(11), Some(json!(10)), Some(1.0), "11/10: m"),
            (
                json!(u64::MAX),
                Some(json!(1)),
                Some(1.0),
                "18446744073709551615/1: m",
            ),
            (json!(1e308), Some(json!(1e-308)), None, "1e+308/1e-308: m"),
        ];
        for (progress, total, part, text) in table {
            let report = report(&progress, total.as_ref(), "m");
            let text = text.to_owned();
            assert_eq!(Report::new(&report), Report { part, text });
            let (progress, _) = at_a_terminal();
            progress.report(&report);
            progress.clear();
        }
    }

    #[test]
    fn a_pipe_gets_a_line_a_second_and_the_last() {
        let (progress, paper) = in_a_pipe();
        let start = Instant::now();
        for at in 0..25 {
            let report = report(&json!(at), Some(&json!(24)), "");
            progress.report_at(&report, start + Duration::from_millis(100 * at));
        }
        progress.clear();
        let lines = "progress: 0/24\nprogress: 10/24\nprogress: 20/24\nprogress: 24/24\n";
        assert_eq!(paper.take(), lines);
        // The next call begins anew, and what was told is not told again.
        progress.report_at(&report(&json!(1), None, "again"), start);
        progress.clear();
        progress.clear();
        assert_eq!(paper.take(), "progress: 1: again\n");
    }

    #[test]
    fn a_terminal_gets_a_bar_if_the_end_is_known() {
        let (progress, paper) = at_a_terminal();
        progress.report(&report(&json!(1), Some(&json!(2)), "half"));
        let shown = paper.take();
        assert!(shown.contains("[==============="), "{shown:?}");
        assert!(shown.contains("1/2: half"), "{shown:?}");
        progress.clear();
        assert!(paper.take().contains("<clear>"));

        progress.report(&report(&json!(7), None, "who knows"));
        let shown = paper.take();
        assert!(!shown.contains('['), "{shown:?}");
        assert!(shown.contains("7: who knows"), "{shown:?}");
    }

    #[test]
    fn a_line_stands_beside_the_bar() {
        let (progress, paper) = at_a_terminal();
        progress.line("before");
        assert_eq!(paper.take(), "before\n");
        progress.report(&report(&json!(1), Some(&json!(2)), "half"));
        paper.take();
        progress.line("warning: x");
        let shown = paper.take();
        let (before, after) = shown.split_once("warning: x\n").unwrap();
        assert!(
            before.contains("<clear>") && !before.contains("half"),
            "{shown:?}"
        );
        assert!(after.contains("1/2: half"), "{shown:?}");
    }

    #[test]
    fn nothing_is_written_while_somebody_is_asked() {
        let (progress, paper) = at_a_terminal();
        progress.report(&report(&json!(1), Some(&json!(3)), "one"));
        let hidden = progress.hide();
        assert!(paper.take().ends_with("<clear>"));
        progress.suspend(|| {
            progress.report(&report(&json!(2), Some(&json!(3)), "two"));
            progress.line("a line");
        });
        assert_eq!(paper.take(), "");
        drop(hidden);
        let shown = paper.take();
        let after = shown.strip_prefix("a line\n").unwrap();
        assert!(
            after.contains("2/3: two") && !after.contains("one"),
            "{shown:?}"
        );
    }

    #[test]
    fn not_every_line_waits_for_ever() {
        let (progress, paper) = in_a_pipe();
        progress.suspend(|| (0..3 * WAITING).for_each(|at| progress.line(&at.to_string())));
        let shown = paper.take();
        assert_eq!(shown.lines().count(), WAITING + 1);
        assert!(shown.starts_with("(some lines"), "{shown}");
        assert!(shown.ends_with("\n2999\n"), "{shown}");
    }

    #[test]
    fn messages_do_no_harm() {
        let hostile = "\u{1b}[2J\u{202e}\r\n{bar}\t".repeat(1000);
        let hostile = report(&json!(1), Some(&json!(2)), &hostile);
        let (progress, paper) = in_a_pipe();
        progress.report(&hostile);
        let shown = paper.take();
        assert!(
            !shown.trim_end().chars().any(printable::deceives),
            "{shown:?}"
        );
        assert!(shown.len() < 1000, "{shown}");
        let (progress, paper) = at_a_terminal();
        progress.report(&hostile);
        let shown = paper.take();
        assert!(
            shown.contains(r"\u{1b}[2J") && !shown.contains('\u{1b}'),
            "{shown:?}"
        );
    }
}
