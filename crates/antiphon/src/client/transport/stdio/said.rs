//! What a server says on its standard error: for the log, and the end of it for the error text
//! of a server that died; or for whom events are reported to. It is no sign of an error (STDIO-C-03).

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::io::{AsyncRead, AsyncReadExt};

use crate::{
    client::{Event, Events},
    excerpt::excerpt,
};

/// Lines that are kept.
const LINES: usize = 10;

/// The longest line that is logged whole.
const LOGGED: usize = 4096;

/// The most of a line that is kept.
const KEPT: usize = 300;

/// The last lines.
#[derive(Clone, Default)]
pub(super) struct Said(Arc<Mutex<VecDeque<String>>>);

impl Said {
    /// The last lines to add to a sentence, each on a line of its own; or nothing.
    pub(super) fn last(&self) -> String {
        let lines = self.lock();
        if lines.is_empty() {
            return String::new();
        }
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        format!("; it last said:\n{}", lines.join("\n"))
    }

    /// What was said until now is not worth an error text any more.
    pub(super) fn forget(&self) {
        self.lock().clear();
    }

    /// Logs and remembers what `server` says until it says no more.
    pub(super) async fn follow(self, output: impl AsyncRead + Unpin, server: String) {
        let said = |line: &[u8]| {
            tracing::info!(target: "antiphon::stderr", server, "{}", excerpt(line, LOGGED));
            self.remember(line);
        };
        each_line(output, said).await;
    }

    fn remember(&self, line: &[u8]) {
        let mut lines = self.lock();
        if lines.len() == LINES {
            lines.pop_front();
        }
        lines.push_back(excerpt(line, KEPT));
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reports what a server says until it says no more.
pub(super) async fn report(output: impl AsyncRead + Unpin, events: Events) {
    let said = |line: &[u8]| events.report(Event::Stderr(excerpt(line, LOGGED)));
    each_line(output, said).await;
}

/// Calls `said` with every line that is not blank.
async fn each_line(mut output: impl AsyncRead + Unpin, said: impl Fn(&[u8])) {
    let say = |line: &[u8]| match line.trim_ascii_end() {
        b"" => {}
        line => said(line),
    };
    let mut chunk = [0; 8192];
    let mut line = Vec::new();
    while let Ok(read @ 1..) = output.read(&mut chunk).await {
        let mut parts = chunk[..read].split(|byte| *byte == b'\n');
        // Whatever comes after the first part begins a line of its own.
        append(&mut line, parts.next().unwrap_or_default());
        for part in parts {
            say(&line);
            line.clear();
            append(&mut line, part);
        }
    }
    say(&line);
}

/// Adds to a line what there is room for; one byte more tells that it was longer.
fn append(line: &mut Vec<u8>, part: &[u8]) {
    let room = (LOGGED + 1).saturating_sub(line.len());
    line.extend_from_slice(&part[..part.len().min(room)]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_last_lines_are_kept_in_short() {
        let said = Said::default();
        assert_eq!(said.last(), "");
        let mut text: String = (0..30).map(|line| format!("line {line}\r\n\n")).collect();
        text.push_str(&"x".repeat(100_000));
        text.push_str("\nthe end");
        said.clone()
            .follow(text.as_bytes(), "a server".into())
            .await;
        let last = said.last();
        assert!(
            last.starts_with("; it last said:\nline 22\nline 23\n"),
            "{last}"
        );
        assert!(last.ends_with("xxx…\nthe end"), "{last}");
        assert!(last.len() < LINES * (KEPT + 10), "{}", last.len());
    }
}
