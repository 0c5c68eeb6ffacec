//! A stream of lines, cut anywhere: every line that asks for an answer gets one.
#![no_main]

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
};

use antiphon_core::envelope::Message;
use antiphon_fuzz::{Due, due, endpoint, limits, response_id, runtime};
use libfuzzer_sys::fuzz_target;
use tokio::io::{AsyncRead, ReadBuf};

fuzz_target!(|input: (u8, &[u8])| {
    let (step, bytes) = input;
    let cut = answers(bytes, usize::from(step) + 1);
    let expected = expected(bytes);
    if cancels(bytes) {
        assert!(cut.len() <= expected.len());
        return;
    }
    assert_eq!(sorted(cut), sorted(expected));
});

/// The ids of all responses when `bytes` come `step` at a time.
fn answers(bytes: &[u8], step: usize) -> Vec<Due> {
    let mut output = Vec::new();
    let input = Chunks { bytes, step };
    let served = antiphon::stdio::serve_on(endpoint().clone(), input, &mut output);
    runtime().block_on(served).expect("served to the end");
    assert_eq!(endpoint().calls(), 0, "every call is over");
    assert!(output.is_empty() || output.ends_with(b"\n"));
    assert!(!output.contains(&b'\r'));
    let lines = output.split(|byte| *byte == b'\n');
    lines
        .filter(|line| !line.is_empty())
        .filter_map(response_id)
        .collect()
}

fn expected(bytes: &[u8]) -> Vec<Due> {
    bytes
        .split(|byte| *byte == b'\n')
        .filter_map(|line| match line.trim_ascii() {
            _ if line.len() > limits().message_bytes => Some(Due::Anonymous),
            [] => None,
            message => Some(due(message)),
        })
        .filter(|due| *due != Due::Nothing)
        .collect()
}

/// Whether some answer may rightly be missing.
fn cancels(bytes: &[u8]) -> bool {
    bytes.split(|byte| *byte == b'\n').any(|line| {
        let text = std::str::from_utf8(line.trim_ascii()).unwrap_or_default();
        Message::parse(text).is_ok_and(|message| message.method() == "notifications/cancelled")
    })
}

fn sorted(mut due: Vec<Due>) -> Vec<Due> {
    due.sort_by_key(|due| format!("{due:?}"));
    due
}

/// Gives out its bytes a few at a time.
struct Chunks<'a> {
    bytes: &'a [u8],
    step: usize,
}

impl AsyncRead for Chunks<'_> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let step = self.step.min(self.bytes.len()).min(buffer.remaining());
        let (now, later) = self.bytes.split_at(step);
        buffer.put_slice(now);
        self.bytes = later;
        Poll::Ready(Ok(()))
    }
}
