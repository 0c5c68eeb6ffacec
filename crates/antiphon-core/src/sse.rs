//! Server-sent events: bytes in, events out, within a bound.
//!
//! A [`Decoder`] keeps nothing but the event it is in the middle of. Comments, ids, retry times
//! and fields it does not know cost no memory, however long they are (HTTP-C-08). One that is
//! [`resumable`](Decoder::resumable) keeps the last id and the last retry time as well, within a
//! bound of their own.

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
    /// What it takes to come back to the stream, if anybody wants to.
    trail: Option<Trail>,
}

/// The longest id that is kept.
pub const MAX_ID: usize = 4096;

/// Where to go on, and when.
#[derive(Debug, Default)]
struct Trail {
    /// The value of the line that is being read, cut off beyond its bound.
    value: Vec<u8>,
    /// The id that the next empty line makes the last one.
    id: Id,
    last: Id,
    retry: Option<u64>,
}

/// An id as it stands.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
enum Id {
    /// There was none, or it was taken back.
    #[default]
    None,
    Known(Vec<u8>),
    /// There is one, too long to be kept.
    TooLong,
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
    Id,
    Retry,
}

/// As much of a field's name as it takes to tell it from those that matter.
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
            trail: None,
        }
    }

    /// A decoder for one stream that may be resumed: it knows [`last_id`](Self::last_id) and
    /// [`retry_ms`](Self::retry_ms).
    ///
    /// ```
    /// use antiphon_core::sse::Decoder;
    /// let mut decoder = Decoder::resumable(1024);
    /// let mut input: &[u8] = b"id: 7\nretry: 500\ndata:\n\nid: 8\ndata: unfinis";
    /// while decoder.next(&mut input)?.is_some() {}
    /// assert_eq!(decoder.last_id(), Some(&b"7"[..]));
    /// assert_eq!(decoder.retry_ms(), Some(500));
    /// # Ok::<(), antiphon_core::sse::TooLong>(())
    /// ```
    pub fn resumable(limit: usize) -> Self {
        Self {
            trail: Some(Trail::default()),
            ..Self::new(limit)
        }
    }

    /// The decoder for the connection that goes on where this one's ended: what it knows of ids and
    /// retry times stays, what was cut off is gone.
    #[must_use]
    pub fn resumed(self) -> Self {
        let trail = self.trail.map(|trail| Trail {
            value: Vec::new(),
            id: trail.last.clone(),
            ..trail
        });
        Self {
            trail,
            ..Self::new(self.limit)
        }
    }

    /// The id of the last event that was read whole. None if there was none, if it was taken back
    /// (`id` without a value), or if it is longer than [`MAX_ID`].
    pub fn last_id(&self) -> Option<&[u8]> {
        match &self.trail.as_ref()?.last {
            Id::Known(id) => Some(id),
            Id::None | Id::TooLong => None,
        }
    }

    /// How many milliseconds to wait before coming back, if the stream says so.
    pub fn retry_ms(&self) -> Option<u64> {
        self.trail.as_ref()?.retry
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
            b"id" if self.trail.is_some() => Field::Id,
            b"retry" if self.trail.is_some() => Field::Retry,
            _ => return Ok(None),
        };
        match (field, &mut self.data) {
            (Field::Event, _) => self.kind.clear(),
            (Field::Data, data @ None) => *data = Some(Vec::new()),
            (Field::Data, Some(_)) => self.add(field, b"\n")?,
            (Field::Id | Field::Retry, _) => {
                if let Some(trail) = &mut self.trail {
                    trail.value.clear();
                }
            }
        }
        Ok(Some(field))
    }

    /// Adds to the value of a field.
    fn add(&mut self, field: Field, part: &[u8]) -> Result<(), TooLong> {
        if let (Field::Id | Field::Retry, Some(trail)) = (field, &mut self.trail) {
            trail.add(part);
            return Ok(());
        }
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
            // Without a trail they are not read at all.
            Field::Id | Field::Retry => {}
        }
        Ok(())
    }

    /// Ends a line, and with an empty one an event, if there is data in it.
    fn end_line(&mut self) -> Result<Option<Event>, TooLong> {
        let at = mem::replace(&mut self.at, At::Name(Name::default()));
        let field = match at {
            At::Name(Name { len: 0, .. }) => return Ok(self.end_event()),
            // A field without a colon is one without a value.
            At::Name(name) => self.open(name)?,
            At::Value(field) => Some(field),
            _ => None,
        };
        if let (Some(field), Some(trail)) = (field, &mut self.trail) {
            trail.end_line(field);
        }
        Ok(None)
    }

    /// What an empty line makes of what came before it.
    fn end_event(&mut self) -> Option<Event> {
        if let Some(trail) = &mut self.trail
            && trail.last != trail.id
        {
            trail.last.clone_from(&trail.id);
        }
        let kind = mem::take(&mut self.kind);
        self.data.take().map(|data| Event { kind, data })
    }
}

impl Trail {
    /// Adds to the value of a line, as far as it matters: one byte more than there may be.
    fn add(&mut self, part: &[u8]) {
        let room = (MAX_ID + 1).saturating_sub(self.value.len());
        self.value.extend_from_slice(&part[..part.len().min(room)]);
    }

    fn end_line(&mut self, field: Field) {
        let value = &self.value;
        match field {
            Field::Id if value.len() > MAX_ID => self.id = Id::TooLong,
            // The standard has it ignored.
            Field::Id if value.contains(&0) => {}
            Field::Id if value.is_empty() => self.id = Id::None,
            Field::Id => self.id = Id::Known(value.clone()),
            Field::Retry if !value.is_empty() && value.iter().all(u8::is_ascii_digit) => {
                let digits = value.iter().map(|digit| u64::from(digit - b'0'));
                let more = |sum: u64, digit| sum.saturating_mul(10).saturating_add(digit);
                self.retry = Some(digits.fold(0, more));
            }
            Field::Retry | Field::Data | Field::Event => {}
        }
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
        read_with(Decoder::new(limit), parts)
    }

    fn read_with<'p>(
        mut decoder: Decoder,
        parts: impl IntoIterator<Item = &'p [u8]>,
    ) -> (Vec<(String, String)>, bool) {
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

    /// The last id and the retry time after a stream that comes in these parts.
    fn trail<'p>(parts: impl IntoIterator<Item = &'p [u8]>) -> (Option<String>, Option<u64>) {
        let mut decoder = Decoder::resumable(1000);
        for mut part in parts {
            while let Ok(Some(_)) = decoder.next(&mut part) {}
        }
        let id = decoder.last_id().map(String::from_utf8_lossy);
        (id.map(|id| id.into_owned()), decoder.retry_ms())
    }

    #[test]
    fn the_last_id_is_that_of_the_last_whole_event() {
        for (stream, expected) in [
            ("data: 1\n\n", None),
            ("id: 1\ndata: 1\n\n", Some("1")),
            // Without data, and for all events after it.
            ("id: a b \n\ndata: 1\n\n", Some("a b ")),
            ("id:1\r\rid:2\r\n\r\n", Some("2")),
            ("id: 1\n\nid: 2\ndata: unfinished\n", Some("1")),
            ("id: 1\n\nid: 2", Some("1")),
            ("id: 1\nid: 2\n\n", Some("2")),
            ("id: 1\n\nid: 2\0\n\n", Some("1")),
            ("id: 1\n\nid\n\n", None),
            ("id: 1\n\nid:\n\n", None),
            ("ID: 1\nid : 1\nidx: 1\ni: 1\n\n", None),
        ] {
            assert_eq!(
                trail([stream.as_bytes()]).0.as_deref(),
                expected,
                "{stream:?}"
            );
        }
    }

    #[test]
    fn the_retry_time_is_a_number() {
        for (stream, expected) in [
            ("retry: 500\n", Some(500)),
            ("retry:0\n\n", Some(0)),
            ("retry: 1\nretry: 2\n", Some(2)),
            (
                "retry: 7\nretry: x\nretry\nretry: -1\nretry: 1.5\nretry:  1\n",
                Some(7),
            ),
            ("retry: 99999999999999999999999\n", Some(u64::MAX)),
            ("retry: 5", None),
            ("retr: 5\nretryy: 5\n", None),
        ] {
            assert_eq!(trail([stream.as_bytes()]).1, expected, "{stream:?}");
        }
    }

    #[test]
    fn long_ids_are_not_kept_and_not_mistaken_for_others() {
        let fits = "x".repeat(MAX_ID);
        let stream = format!("id: {fits}\n\n");
        assert_eq!(trail([stream.as_bytes()]).0, Some(fits.clone()));
        let long = format!("id: 1\n\nid: {fits}x\n\n");
        assert_eq!(trail([long.as_bytes()]).0, None);
        let endless = format!("id: {}", "x".repeat(1 << 20));
        let mut decoder = Decoder::resumable(10);
        assert_eq!(decoder.next(&mut endless.as_bytes()), Ok(None));
        let held = decoder.trail.map(|trail| trail.value.capacity());
        assert!(held.is_some_and(|held| held <= 2 * MAX_ID), "{held:?}");
    }

    #[test]
    fn a_resumed_stream_goes_on_with_what_was_known() {
        let mut decoder = Decoder::resumable(100);
        let mut input: &[u8] = b"id: 1\nretry: 5\n\nid: 2\nevent: a\ndata: cut";
        assert_eq!(decoder.next(&mut input), Ok(None));
        let mut decoder = decoder.resumed();
        let mut input: &[u8] = b"\xef\xbb\xbfdata: 1\n\n";
        let event = decoder.next(&mut input).expect("short").expect("an event");
        assert_eq!((&*event.kind, &*event.data), (&b""[..], &b"1"[..]));
        assert_eq!(decoder.last_id(), Some(&b"1"[..]));
        assert_eq!(decoder.retry_ms(), Some(5));
    }

    #[test]
    fn nothing_is_kept_of_a_stream_that_is_not_resumed() {
        let mut decoder = Decoder::new(10);
        let mut input: &[u8] = b"id: 1\nretry: 5\ndata: 1\n\n";
        assert!(matches!(decoder.next(&mut input), Ok(Some(_))));
        assert_eq!((decoder.last_id(), decoder.retry_ms()), (None, None));
    }

    proptest::proptest! {
        #[test]
        fn cuts_change_nothing(
            pieces in proptest::collection::vec(proptest::sample::select(vec![
                &b"data"[..], b"event", b":", b" ", b"\n", b"\r", b"\r\n", b"\xef", b"\xbb",
                b"\xbf", b"x", b"id: 1", b"id", b"retry: 2", b"data: y", b"data: longer than that\n\n", b"\n\n",
            ]), 0..40),
            limit in 0usize..60,
            step in 1usize..7,
        ) {
            let stream = pieces.concat();
            let whole = read(limit, [&*stream]);
            proptest::prop_assert_eq!(&read(limit, stream.chunks(step)), &whole);
            let resumable = read_with(Decoder::resumable(limit), stream.chunks(step));
            proptest::prop_assert_eq!(resumable, whole);
            proptest::prop_assert_eq!(trail(stream.chunks(step)), trail([&*stream]));
        }
    }
}
