//! A server's log messages, for standard error.

use std::io::{self, Write};

use antiphon::types::{LoggingLevel, LoggingMessageNotificationParams};
use console::Term;
use serde_json::Value;
use tracing_subscriber::{
    filter::{FilterExt, LevelFilter, filter_fn},
    layer::{Layer, SubscriberExt},
    util::SubscriberInitExt,
};

use crate::{printable, progress::Progress};

/// Most characters of a message, and of who says it.
const LONGEST: usize = 4000;
const LOGGER: usize = 100;

/// Whether levels are coloured: standard error is a terminal, and `NO_COLOR` is not set.
pub(crate) fn coloured() -> bool {
    Term::stderr().features().colors_supported()
}

/// As `warning: logger: text`. Further lines of the text are marked, so that none passes for ours.
pub(crate) fn line(log: &LoggingMessageNotificationParams, colour: bool) -> String {
    let mut shown = match code(log.level).filter(|_| colour) {
        Some(code) => format!("\u{1b}[{code}m{}\u{1b}[0m: ", log.level),
        None => format!("{}: ", log.level),
    };
    if let Some(logger) = log.logger.as_deref().filter(|it| !it.is_empty()) {
        shown += &printable::excerpt(logger, LOGGER);
        shown += ": ";
    }
    let data = match &log.data {
        Value::String(text) => text.trim_end().to_owned(),
        data => data.to_string(),
    };
    let (data, rest) = match data.char_indices().nth(LONGEST) {
        Some((end, _)) => (&data[..end], "…"),
        None => (&*data, ""),
    };
    for (at, line) in data.split('\n').enumerate() {
        if at > 0 {
            shown += "\n  | ";
        }
        shown += &printable::line(line.strip_suffix('\r').unwrap_or(line));
    }
    shown + rest
}

/// How a level looks.
fn code(level: LoggingLevel) -> Option<&'static str> {
    Some(match level {
        LoggingLevel::Debug => "2",
        LoggingLevel::Info => return None,
        LoggingLevel::Notice => "36",
        LoggingLevel::Warning => "33",
        LoggingLevel::Error => "31",
        LoggingLevel::Critical | LoggingLevel::Alert | LoggingLevel::Emergency => "1;31",
    })
}

/// Has what the SDK warns of beside the log of a server, and reports in no other way, told where
/// `progress` is.
pub(crate) fn tell(progress: &Progress) {
    let lines = Lines(progress.clone());
    let elsewhere = ["antiphon::event", "antiphon::stderr"];
    let told = filter_fn(move |of| !elsewhere.contains(&of.target()));
    let layer = tracing_subscriber::fmt::layer()
        .with_writer(move || lines.clone())
        .with_ansi(false)
        .without_time()
        .with_level(false)
        .with_target(false)
        .with_filter(LevelFilter::WARN.and(told));
    // Whoever did that before has decided.
    _ = tracing_subscriber::registry().with(layer).try_init();
}

/// Writes lines beside a bar.
#[derive(Clone)]
struct Lines(Progress);

impl Write for Lines {
    /// An event comes as a whole.
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        let line = String::from_utf8_lossy(text);
        let line = printable::line(line.trim_end());
        self.0.line(&format!("antiphon: {line}"));
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Has what the SDK logs go to standard error, from this level on.
pub(crate) fn listen(level: LevelFilter) {
    // Whoever did that before has decided.
    _ = tracing_subscriber::fmt()
        .with_writer(io::stderr)
        .with_ansi(coloured())
        .with_max_level(level)
        .try_init();
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn message(level: LoggingLevel, data: Value) -> LoggingMessageNotificationParams {
        LoggingMessageNotificationParams::new(level, data)
    }

    #[test]
    fn the_level_comes_first_then_who_says_what() {
        use LoggingLevel::{Debug, Error, Info, Warning};
        let table = [
            (message(Info, json!("hello")), "info: hello"),
            (
                message(Warning, json!("full")).logger("disk"),
                "warning: disk: full",
            ),
            (
                message(Debug, json!({"a": [1, "x"]})),
                r#"debug: {"a":[1,"x"]}"#,
            ),
            (message(Debug, json!(null)).logger(""), "debug: null"),
            (
                message(Error, json!("it broke\r\nerror: ours\n\n")).logger("db"),
                "error: db: it broke\n  | error: ours",
            ),
        ];
        for (log, shown) in table {
            assert_eq!(line(&log, false), shown);
        }
    }

    #[test]
    fn only_the_level_is_coloured() {
        let table = [
            (LoggingLevel::Warning, "\u{1b}[33mwarning\u{1b}[0m: x"),
            (LoggingLevel::Info, "info: x"),
            (LoggingLevel::Emergency, "\u{1b}[1;31memergency\u{1b}[0m: x"),
        ];
        for (level, shown) in table {
            assert_eq!(line(&message(level, json!("x")), true), shown);
        }
    }

    #[test]
    fn nothing_in_it_commands_a_terminal() {
        let hostile = "\u{1b}[2J\u{202e}\u{9b}H\r";
        for data in [json!(hostile), json!({ hostile: [hostile] })] {
            let log = message(LoggingLevel::Info, data).logger(hostile);
            let shown = line(&log, false);
            assert!(!shown.chars().any(printable::deceives), "{shown:?}");
        }
        let log = message(LoggingLevel::Info, json!("x".repeat(100_000)));
        assert_eq!(
            line(&log, false).chars().count(),
            "info: …".chars().count() + LONGEST
        );
    }
}
