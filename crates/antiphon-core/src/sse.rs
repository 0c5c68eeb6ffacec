//! Server-sent events: bytes in, events out, within a bound.
//!
//! A [`Decoder`] keeps nothing but the event it is in the middle of. Comments, ids, retry times
//! and fields it does not know cost no memory, however long they are (HTTP-C-08).

use std::{fmt, mem};

use memchr::memchr2;

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Its type; empty if it names none, which stands for `message`.
    pub kind: Vec<u8>,
    /// Its data, the lines of it joined by line feeds.
    pub data: Vec<u8>,
}

/// Reads events from bytes that may be cut anywhere.
///
/// ```
/// use antiphon_core::sse::Decoder;
/// let mut decoder = Decoder::new(1024);
/// let mut input: &[u8] = b": hello\n\ndata: 1\n\nda";
/// let event = decoder.next(&mut input)?.expect("an event");
/// assert_eq!(event.data, b"1");
/// assert_eq!(decoder.next(&mut input)?, None);
/// let mut input: &[u8] = b"ta: 2\n\n";
/// let event = decoder.next(&mut input)?.expect("an event");
/// assert_eq!(event.data, b"2");
/// # Ok::<(), antiphon_core::sse::TooLong>(())
/// ```
#[derive(Debug)]
pub struct Decoder {
    limit: usize,
    /// Where in a line the next byte stands.
    at: At,
    /// The last byte was a carriage return: a line feed belongs to it.
    returned: bool,
    kind: Vec<u8>,
    /// The data so far, if there is a line of it.
    data: Option<Vec<u8>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    /// In the byte order mark that may open the stream, after so many bytes of it.
    Mark(usize),
    /// In a field's name.
    Name(Name),
    /// After the colon, where one space is no part of the value.
    Colon(Field),
    /// In a value.
    Value(Field),
    /// In a line that does not matter.
    Ignored,
    /// Past an event that was too long.
    Failed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    Data,
    Event,
}

/// As much of a field's name as it takes to tell it from the two that matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Name {
    bytes: [u8; 5],
    len: usize,
}

const MARK: &[u8] = b"\xef\xbb\xbf";

/// An event whose type and data are longer than the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLong {
    /// The limit, in bytes.
    pub limit: usize,
}

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an event is longer than {} bytes", self.limit)
    }
}

impl std::error::Error for TooLong {}

impl Decoder {
    /// A decoder for one stream, which bounds the bytes of one event's type and data.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            at: At::Mark(0),
            returned: false,
            kind: Vec::new(),
            data: None,
        }
    }

    /// The next event. What was read is cut off from `input`; with none found it is empty.
    ///
    /// # Errors
    /// When an event is too long; the stream is of no use then, and every further call fails.
    pub fn next(&mut self, input: &mut &[u8]) -> Result<Option<Event>, TooLong> {
        while let [first, rest @ ..] = *input {
            if mem::take(&mut self.returned) && *first == b'\n' {
                *input = rest;
                continue;
            }
            match self.at {
                At::Failed => return Err(TooLong { limit: self.limit }),
                At::Mark(read) if read < MARK.len() && *first == MARK[read] => {
                    self.at = At::Mark(read + 1);
                    *input = rest;
                }
                At::Mark(0 | 3) => self.at = At::Name(Name::default()),
                // Half a mark is the beginning of no field.
                At::Mark(_) => self.at = At::Ignored,
                At::Colon(field) => {
                    if *first == b' ' {
                        *input = rest;
                    }
                    self.at = At::Value(field);
                }
                At::Name(_) | At::Value(_) | At::Ignored if is_end(*first) => {
                    *input = rest;
                    self.returned = *first == b'\r';
                    if let Some(event) = self.end_line()? {
                        return Ok(Some(event));
                    }
                }
                At::Name(name) => {
                    *input = rest;
                    self.at = match *first {
                        b':' => match self.open(name)? {
                            Some(field) => At::Colon(field),
                            None => At::Ignored,
                        },
                        byte => name.with(byte).map_or(At::Ignored, At::Name),
                    };
                }
                At::Value(field) => {
                    let (part, rest) = to_end(input);
                    *input = rest;
                    self.add(field, part)?;
                }
                At::Ignored => *input = to_end(input).1,
            }
        }
        Ok(None)
    }

    /// Begins the value of a field.
    fn open(&mut self, name: Name) -> Result<Option<Field>, TooLong> {
        let field = match name.as_slice() {
            b"data" => Field::Data,
            b"event" => Field::Event,
            _ => return Ok(None),
        };
        match (field, &mut self.data) {
            (Field::Event, _) => self.kind.clear(),
            (Field::Data, data @ None) => *data = Some(Vec::new()),
            (Field::Data, Some(_)) => self.add(field, b"\n")?,
        }
        Ok(Some(field))
    }

    /// Adds to the value of a field.
    fn add(&mut self, field: Field, part: &[u8]) -> Result<(), TooLong> {
        let held = self.kind.len() + self.data.as_ref().map_or(0, Vec::len);
        if part.len() > self.limit.saturating_sub(held) {
            self.at = At::Failed;
            self.kind = Vec::new();
            self.data = None;
            return Err(TooLong { limit: self.limit });
        }
        match field {
            Field::Data => self.data.get_or_insert_default().extend_from_slice(part),
            Field::Event => self.kind.extend_from_slice(part),
        }
        Ok(())
    }

    /// Ends a line, and with an empty one an event, if there is data in it.
    fn end_line(&mut self) -> Result<Option<Event>, TooLong> {
        let at = mem::replace(&mut self.at, At::Name(Name::default()));
        let At::Name(name) = at else {
            return Ok(None);
        };
        if name.len > 0 {
            // A field without a colon is one without a value.
            self.open(name)?;
            return Ok(None);
        }
        let kind = mem::take(&mut self.kind);
        Ok(self.data.take().map(|data| Event { kind, data }))
    }
}

impl Name {
    /// The name with one more byte, unless it gets longer than any that matters.
    fn with(mut self, byte: u8) -> Option<Self> {
        *self.bytes.get_mut(self.len)? = byte;
        self.len += 1;
        Some(self)
    }

    fn as_slice(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

fn is_end(byte: u8) -> bool {
    matches!(byte, b'\r' | b'\n')
}

/// The bytes before the end of the line, and those from there on.
fn to_end(input: &[u8]) -> (&[u8], &[u8]) {
    input.split_at(memchr2(b'\r', b'\n', input).unwrap_or(input.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The events of a stream that comes in these parts, as text.
    fn read<'p>(
        limit: usize,
        parts: impl IntoIterator<Item = &'p [u8]>,
    ) -> (Vec<(String, String)>, bool) {
        let mut decoder = Decoder::new(limit);
        let mut events = Vec::new();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        for mut part in parts {
            loop {
                match decoder.next(&mut part) {
                    Ok(Some(event)) => events.push((text(&event.kind), text(&event.data))),
                    Ok(None) => break,
                    Err(TooLong { .. }) => return (events, false),
                }
            }
            assert!(part.is_empty());
        }
        (events, true)
    }

    fn data(stream: &str) -> Vec<String> {
        let (events, _) = read(1000, [stream.as_bytes()]);
        events.into_iter().map(|(_, data)| data).collect()
    }

    #[test]
    fn lines_end_in_three_ways() {
        for end in ["\n", "\r", "\r\n"] {
            let stream = "data: a\ndata: b\n\n: c\n\ndata:d\n\n".replace('\n', end);
            assert_eq!(data(&stream), ["a\nb", "d"], "{end:?}");
        }
        assert_eq!(data("data: a\r\ndata: b\r\r\ndata: c\n\r"), ["a\nb", "c"]);
    }

    #[test]
    fn fields_are_told_apart() {
        for (stream, expected) in [
            ("data:  two spaces\n\n", &[" two spaces"][..]),
            ("data\n\n", &[""]),
            ("data\ndata\n\n", &["\n"]),
            ("data:\n\n", &[""]),
            ("data:a:b\n\n", &["a:b"]),
            ("dat: a\ndata : b\ndatum: c\nDATA: d\n data: e\n\n", &[]),
            ("database: a\ndata: b\n\n", &["b"]),
            (":data: a\n\n", &[]),
            ("id: 7\nretry: 10\n\n\n\n", &[]),
            ("data: unfinished", &[]),
            ("data: unfinished\n", &[]),
            ("\u{feff}data: a\n\ndata: b\n\n", &["a", "b"]),
            ("\u{feff}\u{feff}data: a\n\ndata: b\n\n", &["b"]),
            ("data: a\n\n\u{feff}data: b\n\n", &["a"]),
            ("\u{feff}\n\ndata: \u{feff}\n\n", &["\u{feff}"]),
        ] {
            assert_eq!(data(stream), expected, "{stream:?}");
        }
    }

    #[test]
    fn half_a_mark_spoils_its_line_only() {
        let stream = [&MARK[..2], b"data: a\ndata: b\n\n"].concat();
        let (events, _) = read(100, [&*stream]);
        assert_eq!(events, [(String::new(), "b".to_owned())]);
    }

    #[test]
    fn the_type_belongs_to_one_event() {
        let stream = "event: a\nevent: b\ndata: 1\n\ndata: 2\n\nevent: c\n\ndata: 3\n\n";
        let (events, _) = read(100, [stream.as_bytes()]);
        let expected = [("b", "1"), ("", "2"), ("", "3")];
        assert_eq!(events, expected.map(|(a, b)| (a.to_owned(), b.to_owned())));
    }

    #[test]
    fn events_are_bounded_and_what_is_ignored_is_not() {
        let long = "x".repeat(50);
        assert_eq!(data(&format!(": {long}\ndata: a\n\n")), ["a"]);
        let fits = |stream: &str| read(10, [stream.as_bytes()]).1;
        assert!(fits(&format!(
            ": {long}\nid: {long}\n{long}\n{long}: {long}\n"
        )));
        assert!(fits("data: 1234567890\n\ndata: 1234567890\n\n"));
        assert!(fits("event: 12345\ndata: 12\ndata: 45\n\n"));
        assert!(fits("event: 1234567890\nevent: 1234567890\n\n"));
        assert!(!fits("data: 12345678901"));
        assert!(!fits("data: 1234567890\ndata\n"));
        assert!(!fits("event: 123456\ndata: 12345\n"));
        assert!(!fits("event: 12345678901"));
    }

    #[test]
    fn a_stream_that_failed_stays_failed() {
        let mut decoder = Decoder::new(2);
        let mut input: &[u8] = b"data: 123\n\n";
        assert_eq!(decoder.next(&mut input), Err(TooLong { limit: 2 }));
        let mut input: &[u8] = b"\n\ndata: 1\n\n";
        assert_eq!(decoder.next(&mut input), Err(TooLong { limit: 2 }));
    }

    proptest::proptest! {
        #[test]
        fn cuts_change_nothing(
            pieces in proptest::collection::vec(proptest::sample::select(vec![
                &b"data"[..], b"event", b":", b" ", b"\n", b"\r", b"\r\n", b"\xef", b"\xbb",
                b"\xbf", b"x", b"id: 1", b"data: y", b"data: longer than that\n\n", b"\n\n",
            ]), 0..40),
            limit in 0usize..60,
            step in 1usize..7,
        ) {
            let stream = pieces.concat();
            let whole = read(limit, [&*stream]);
            proptest::prop_assert_eq!(read(limit, stream.chunks(step)), whole);
        }
    }
}
