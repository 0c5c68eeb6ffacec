//! Server-sent events: any cut gives the same events, and a plain reader line by line agrees.
#![no_main]

use antiphon_core::sse::{Decoder, Event};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, u8, &[u8])| {
    let (step, limit, bytes) = input;
    let limit = usize::from(limit);
    let whole = decoded(limit, bytes, bytes.len().max(1));
    assert_eq!(decoded(limit, bytes, usize::from(step) + 1), whole);
    let (events, fits) = whole;
    let plain = plain(bytes);
    for event in &events {
        assert!(event.kind.len() + event.data.len() <= limit);
    }
    if fits {
        assert_eq!(events, plain);
    } else {
        assert!(plain.starts_with(&events));
    }
    assert_eq!(decoded(bytes.len(), bytes, 1), (plain, true));
});

/// The events when the bytes come `step` at a time, and whether all of them fit.
fn decoded(limit: usize, bytes: &[u8], step: usize) -> (Vec<Event>, bool) {
    let mut decoder = Decoder::new(limit);
    let mut events = Vec::new();
    for mut part in bytes.chunks(step) {
        loop {
            match decoder.next(&mut part) {
                Ok(Some(event)) => events.push(event),
                Ok(None) => break,
                Err(_) => return (events, false),
            }
        }
        assert!(part.is_empty());
    }
    (events, true)
}

/// The events as the standard words it, on the stream as a whole.
fn plain(bytes: &[u8]) -> Vec<Event> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let (mut events, mut lines, mut line) = (Vec::new(), Vec::new(), Vec::new());
    let mut rest = bytes.iter().copied().peekable();
    while let Some(byte) = rest.next() {
        match byte {
            b'\r' | b'\n' => {
                if byte == b'\r' {
                    rest.next_if_eq(&b'\n');
                }
                lines.push(std::mem::take(&mut line));
            }
            byte => line.push(byte),
        }
    }
    let (mut kind, mut data) = (Vec::new(), Vec::new());
    for line in lines {
        let colon = line.iter().position(|byte| *byte == b':');
        let (name, value) = match colon {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (&line[..], &[][..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match name {
            b"" if line.is_empty() => {
                let kind = std::mem::take(&mut kind);
                // Every line of data left a line feed behind it.
                let mut data: Vec<u8> = std::mem::take(&mut data);
                if data.pop().is_some() {
                    events.push(Event { kind, data });
                }
            }
            b"event" => kind = value.to_vec(),
            b"data" => {
                data.extend_from_slice(value);
                data.push(b'\n');
            }
            _ => {}
        }
    }
    events
}
