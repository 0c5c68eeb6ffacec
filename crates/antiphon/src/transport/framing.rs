//! One message per line (STDIO-B-01): cutting bytes into lines.

use bytes::{Buf, Bytes, BytesMut};

/// Cuts bytes into lines and never holds much more than the longest line allowed.
pub(crate) struct Reader {
    buffer: BytesMut,
    /// Bytes at the front of `buffer` known to hold no line break.
    searched: usize,
    /// Inside a line that is too long: its bytes are thrown away.
    skipping: bool,
    limit: usize,
}

#[derive(Debug, PartialEq)]
pub(crate) enum Line {
    Message(Bytes),
    /// How a line began that is too long.
    TooLong(Bytes),
}

const CHUNK: usize = 64 * 1024;

/// How much is kept of a line that is too long.
const BEGINNING: usize = 1024;

impl Reader {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            buffer: BytesMut::with_capacity(CHUNK),
            searched: 0,
            skipping: false,
            limit,
        }
    }

    pub(crate) fn space(&mut self) -> &mut BytesMut {
        // A long line must not be paid for ever after.
        if self.buffer.is_empty() && self.buffer.capacity() > 4 * CHUNK {
            self.buffer = BytesMut::with_capacity(CHUNK);
        }
        self.buffer.reserve(CHUNK / 4);
        &mut self.buffer
    }

    /// Whether enough is read to go on with for a while.
    #[cfg(feature = "server")]
    pub(crate) fn is_ahead(&self) -> bool {
        self.buffer.len() >= CHUNK
    }

    pub(crate) fn next(&mut self) -> Option<Line> {
        loop {
            let Some(at) = memchr::memchr(b'\n', &self.buffer[self.searched..]) else {
                self.searched = self.buffer.len();
                if self.skipping {
                    self.buffer.clear();
                    self.searched = 0;
                } else if self.searched > self.limit {
                    let beginning = self.beginning(self.searched);
                    self.buffer.clear();
                    self.searched = 0;
                    self.skipping = true;
                    return Some(Line::TooLong(beginning));
                }
                return None;
            };
            let end = self.searched + at;
            self.searched = 0;
            let skipped = std::mem::take(&mut self.skipping);
            if skipped || end > self.limit {
                let beginning = self.beginning(end);
                self.buffer.advance(end + 1);
                if skipped {
                    continue;
                }
                return Some(Line::TooLong(beginning));
            }
            if let Some(message) = self.take_line(end) {
                return Some(Line::Message(message));
            }
        }
    }

    /// How the line begins that ends at `end`.
    fn beginning(&self, end: usize) -> Bytes {
        Bytes::copy_from_slice(&self.buffer[..end.min(BEGINNING)])
    }

    /// Takes the line that ends at `end`, without white space around it; `None` if that was all.
    ///
    /// A short line is copied, so that a call that runs for long holds on to no more than it.
    fn take_line(&mut self, end: usize) -> Option<Bytes> {
        const SHORT: usize = 16 * 1024;
        if end <= SHORT {
            let line = self.buffer[..end].trim_ascii();
            let line = (!line.is_empty()).then(|| Bytes::copy_from_slice(line));
            self.buffer.advance(end + 1);
            return line;
        }
        let line = self.buffer.split_to(end + 1).freeze();
        let trimmed = line.trim_ascii();
        (!trimmed.is_empty()).then(|| line.slice_ref(trimmed))
    }

    /// A last line without a line break.
    pub(crate) fn rest(&mut self) -> Option<Line> {
        if self.skipping {
            return None;
        }
        let line = self.buffer.split().freeze();
        let trimmed = line.trim_ascii();
        (!trimmed.is_empty()).then(|| Line::Message(line.slice_ref(trimmed)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(limit: usize, chunks: &[&[u8]]) -> Vec<Option<Vec<u8>>> {
        let mut reader = Reader::new(limit);
        let mut all = Vec::new();
        let mut add = |line| {
            all.push(match line {
                Line::Message(bytes) => Some(bytes.to_vec()),
                Line::TooLong(_) => None,
            });
        };
        for chunk in chunks {
            reader.space().extend_from_slice(chunk);
            while let Some(line) = reader.next() {
                add(line);
            }
        }
        if let Some(line) = reader.rest() {
            add(line);
        }
        all
    }

    #[test]
    fn lines_are_found_however_they_are_cut() {
        let text = b"one\r\n\n  \ntwo\nthree";
        let whole = lines(100, &[text]);
        let expected: Vec<_> = ["one", "two", "three"]
            .iter()
            .map(|line| Some(line.as_bytes().to_vec()))
            .collect();
        assert_eq!(whole, expected);
        for at in 0..text.len() {
            assert_eq!(
                lines(100, &[&text[..at], &text[at..]]),
                expected,
                "cut at {at}"
            );
        }
    }

    #[test]
    fn a_line_too_long_is_refused_once_and_skipped() {
        let long = [b'x'; 50];
        let all = lines(10, &[b"a\n", &long, &long, b"\nb\n", &long, b"\nc"]);
        let expected = [
            Some(b"a".to_vec()),
            None,
            Some(b"b".to_vec()),
            None,
            Some(b"c".to_vec()),
        ];
        assert_eq!(all, expected);
    }

    #[test]
    fn how_a_line_too_long_begins_is_known() {
        let mut reader = Reader::new(10);
        for text in [&b"begun and not ended"[..], b"\nbegun and ended\n"] {
            reader.space().extend_from_slice(text);
            let Some(Line::TooLong(beginning)) = reader.next() else {
                panic!("{text:?}");
            };
            assert!(beginning.starts_with(b"begun and "), "{beginning:?}");
        }
    }

    #[test]
    fn a_line_too_long_is_refused_however_it_is_cut() {
        for text in [b"            \nb\n", b"xxxxxxxxxxxx\nb\n"] {
            for at in 0..text.len() {
                let all = lines(10, &[&text[..at], &text[at..]]);
                assert_eq!(all, [None, Some(b"b".to_vec())], "cut at {at}");
            }
        }
    }
}
