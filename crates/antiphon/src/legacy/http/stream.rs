//! [`Stream`]: the events of one stream, kept for a client that loses its connection.

use std::{collections::VecDeque, task::Waker, time::Duration};

use bytes::{BufMut, Bytes, BytesMut};
use tokio::time::Instant;

use crate::transport::one_line::one_line;

/// What a stream is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The answer to a POST; it ends with it.
    Response,
    /// What the client is told of its own accord; it ends when the client leaves.
    Standalone,
}

/// How much an event matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Weight {
    /// It says what the stream is called, and nothing else.
    Priming,
    /// A notification.
    Passing,
    /// A request of the server's, with its id.
    Question(u64),
    /// What the client is waiting for.
    Answer,
}

/// One event, as it is sent.
#[derive(Debug)]
struct Event {
    number: u64,
    weight: Weight,
    frame: Bytes,
}

/// What an event costs beside its bytes.
const EVENT_COST: usize = 96;
/// What a stream costs without any events.
pub(super) const STREAM_COST: usize = 256;
/// What is sent at once, unless one event is longer.
const FRAME: usize = 32 * 1024;

/// Events in order, and whoever reads them now.
#[derive(Debug)]
pub(super) struct Stream {
    pub(super) number: u64,
    pub(super) kind: Kind,
    pub(super) reader: Option<Attached>,
    /// Whether nothing is added any more.
    pub(super) closed: bool,
    /// When it was closed, or its reader left.
    pub(super) since: Instant,
    /// The reader is to leave now, and come back after so long.
    pub(super) let_go: Option<Duration>,
    events: VecDeque<Event>,
    /// The number of the next event.
    next: u64,
    /// All events before this one were on their way to a reader.
    sent: u64,
    /// Of the events that were dropped, one more than the last.
    dropped: u64,
    bytes: usize,
}

/// A connection that a stream is read on. There is one at most: the newest.
#[derive(Debug)]
pub(super) struct Attached {
    /// Which of all connections of the session.
    pub(super) turn: u64,
    pub(super) waker: Option<Waker>,
}

/// What there is for a reader.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Taken {
    Frame(Bytes),
    /// Not yet.
    Nothing,
    End,
}

/// An event that was not one of this stream's.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NotSent;

impl Stream {
    pub(super) fn new(number: u64, kind: Kind, now: Instant) -> Self {
        Self {
            number,
            kind,
            reader: None,
            closed: false,
            since: now,
            let_go: None,
            events: VecDeque::new(),
            next: 0,
            sent: 0,
            dropped: 0,
            bytes: STREAM_COST,
        }
    }

    /// What it holds, all costs included.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// What an event of this message would cost.
    pub(super) fn cost(message: &[u8]) -> usize {
        message.len() + EVENT_COST
    }

    /// Adds the event that names the stream (LHTTP-S-06); what it costs.
    pub(super) fn prime(&mut self, retry: Duration) -> usize {
        let retry = u64::try_from(retry.as_millis()).unwrap_or(u64::MAX);
        let numbers = [self.number, self.next, retry].map(Digits::of);
        let [stream, event, retry] = numbers.each_ref().map(Digits::as_bytes);
        let parts = [
            b"id: ",
            stream,
            b"-",
            event,
            b"\nretry: ",
            retry,
            b"\ndata: \n\n",
        ];
        self.add(Weight::Priming, joined(parts))
    }

    /// Adds a message; what it costs.
    pub(super) fn push(&mut self, weight: Weight, mut message: Vec<u8>) -> usize {
        one_line(&mut message);
        let numbers = [self.number, self.next].map(Digits::of);
        let [stream, event] = numbers.each_ref().map(Digits::as_bytes);
        let parts = [
            b"id: ",
            stream,
            b"-",
            event,
            b"\ndata: ",
            &*message,
            b"\n\n",
        ];
        self.add(weight, joined(parts))
    }

    fn add(&mut self, weight: Weight, frame: Bytes) -> usize {
        let cost = frame.len() + EVENT_COST;
        self.bytes += cost;
        self.events.push_back(Event {
            number: self.next,
            weight,
            frame,
        });
        self.next += 1;
        self.wake();
        cost
    }

    /// Leaves out an event for which there is no room.
    pub(super) fn skip(&mut self) {
        self.next += 1;
        self.dropped = self.next;
    }

    /// Where a reader begins that has had the event `last`, and whether something is missing there.
    pub(super) fn after(&self, last: u64) -> Result<(u64, bool), NotSent> {
        match last < self.sent {
            true => Ok((last + 1, self.dropped > last + 1)),
            false => Err(NotSent),
        }
    }

    /// Takes what there is from `from` on.
    pub(super) fn take(&mut self, turn: u64, from: &mut u64, waker: &Waker) -> Taken {
        let Some(attached) = self.reader.as_mut().filter(|it| it.turn == turn) else {
            return Taken::End;
        };
        let at = self.events.partition_point(|event| event.number < *from);
        let (mut length, mut end) = (0, at);
        while let Some(event) = self.events.get(end)
            && (length == 0 || length + event.frame.len() <= FRAME)
        {
            length += event.frame.len();
            end += 1;
        }
        if end > at {
            *from = self.events[end - 1].number + 1;
            self.sent = self.sent.max(*from);
            if end == at + 1 {
                return Taken::Frame(self.events[at].frame.clone());
            }
            let mut frame = BytesMut::with_capacity(length);
            for event in self.events.range(at..end) {
                frame.put_slice(&event.frame);
            }
            return Taken::Frame(frame.freeze());
        }
        if self.closed {
            return Taken::End;
        }
        if let Some(retry) = self.let_go.take() {
            self.reader = None;
            self.since = Instant::now();
            return Taken::Frame(format!("retry: {}\n\n", retry.as_millis()).into());
        }
        attached.waker = Some(waker.clone());
        Taken::Nothing
    }

    /// Whether the client knows what it is called.
    pub(super) fn is_known(&self) -> bool {
        self.sent > 0
    }

    /// Whether all of it was on its way to the client.
    pub(super) fn is_sent(&self) -> bool {
        self.sent >= self.next
    }

    /// Whether nobody reads it and it may be forgotten.
    pub(super) fn is_left(&self) -> bool {
        self.reader.is_none() && (self.closed || self.kind == Kind::Standalone)
    }

    /// Drops the oldest event that may be; what that frees. `sent` keeps to those that a reader
    /// has had, `waits` says whether a question has no answer yet.
    pub(super) fn drop_oldest(&mut self, sent: bool, waits: &dyn Fn(u64) -> bool) -> Option<usize> {
        let at = self.events.iter().position(|event| {
            let had = event.number < self.sent;
            match event.weight {
                Weight::Priming => had,
                Weight::Passing => had || !sent,
                Weight::Question(id) => (had || !sent) && !waits(id),
                Weight::Answer => false,
            }
        })?;
        let event = self.events.remove(at)?;
        let cost = event.frame.len() + EVENT_COST;
        self.bytes -= cost;
        self.dropped = self.dropped.max(event.number + 1);
        Some(cost)
    }

    pub(super) fn wake(&mut self) {
        let waker = self.reader.as_mut().and_then(|reader| reader.waker.take());
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

/// Parts in one piece, which is no longer than it must be: then it is not moved again.
fn joined<const N: usize>(parts: [&[u8]; N]) -> Bytes {
    let length = parts.iter().map(|part| part.len()).sum();
    let mut frame = Vec::with_capacity(length);
    parts.iter().for_each(|part| frame.extend_from_slice(part));
    frame.into()
}

/// A number as it is written. `format!` takes several hundred instructions more for an event.
struct Digits {
    text: [u8; 20],
    from: usize,
}

impl Digits {
    fn of(mut number: u64) -> Self {
        let (mut text, mut from) = ([b'0'; 20], 19);
        while number > 9 {
            text[from] += (number % 10) as u8;
            number /= 10;
            from -= 1;
        }
        text[from] += number as u8;
        Self { text, from }
    }

    fn as_bytes(&self) -> &[u8] {
        &self.text[self.from..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_others_do() {
        for number in [0, 7, 10, 99, 100, 1_234_567, u64::MAX] {
            assert_eq!(Digits::of(number).as_bytes(), number.to_string().as_bytes());
        }
    }

    fn read(stream: &mut Stream, from: &mut u64) -> Option<String> {
        match stream.take(1, from, Waker::noop()) {
            Taken::Frame(frame) => Some(String::from_utf8(frame.to_vec()).expect("UTF-8")),
            Taken::Nothing => Some(String::new()),
            Taken::End => None,
        }
    }

    fn stream() -> Stream {
        let mut stream = Stream::new(7, Kind::Response, Instant::now());
        stream.reader = Some(Attached {
            turn: 1,
            waker: None,
        });
        stream
    }

    /// LHTTP-S-06, LHTTP-S-16, LHTTP-S-17
    #[test]
    fn events_are_numbered_and_name_their_stream() {
        let (mut stream, mut from) = (stream(), 0);
        assert_eq!(read(&mut stream, &mut from).as_deref(), Some(""));
        stream.prime(Duration::from_millis(1500));
        stream.push(Weight::Passing, b"{\"a\":\n1}".to_vec());
        let text = "id: 7-0\nretry: 1500\ndata: \n\nid: 7-1\ndata: {\"a\": 1}\n\n";
        assert_eq!(read(&mut stream, &mut from).as_deref(), Some(text));
        stream.push(Weight::Answer, b"{}".to_vec());
        stream.closed = true;
        let last = read(&mut stream, &mut from);
        assert_eq!(last.as_deref(), Some("id: 7-2\ndata: {}\n\n"));
        assert_eq!(read(&mut stream, &mut from), None);
    }

    /// LHTTP-S-18: only what was sent can be named.
    #[test]
    fn reading_goes_on_after_the_event_that_is_named() {
        let (mut stream, mut from) = (stream(), 0);
        for _ in 0..3 {
            stream.push(Weight::Passing, b"{}".to_vec());
        }
        assert_eq!(stream.after(0), Err(NotSent));
        read(&mut stream, &mut from);
        assert_eq!(stream.after(0), Ok((1, false)));
        assert_eq!(stream.after(2), Ok((3, false)));
        assert_eq!(stream.after(3), Err(NotSent));
        assert_eq!(stream.after(u64::MAX), Err(NotSent));
        let mut from = 1;
        let again = read(&mut stream, &mut from).expect("events");
        assert_eq!(again, "id: 7-1\ndata: {}\n\nid: 7-2\ndata: {}\n\n");
    }

    /// What a client waits for stays; what it can do without goes first.
    #[test]
    fn answers_and_open_questions_are_not_dropped() {
        let (mut stream, mut from) = (stream(), 0);
        stream.prime(Duration::ZERO);
        stream.push(Weight::Question(1), b"{}".to_vec());
        stream.push(Weight::Question(2), b"{}".to_vec());
        stream.push(Weight::Passing, b"{}".to_vec());
        stream.push(Weight::Answer, b"{}".to_vec());
        let waits = |id| id == 2;
        assert_eq!(stream.drop_oldest(true, &waits), None, "nothing was sent");
        let full = stream.bytes();
        let freed = stream
            .drop_oldest(false, &waits)
            .expect("the first question");
        assert_eq!(stream.bytes(), full - freed);
        assert!(
            stream.drop_oldest(false, &waits).is_some(),
            "the notification"
        );
        assert_eq!(stream.drop_oldest(false, &waits), None);
        let text = read(&mut stream, &mut from).expect("events");
        let numbers: Vec<_> = text.lines().filter(|line| line.starts_with("id")).collect();
        assert_eq!(numbers, ["id: 7-0", "id: 7-2", "id: 7-4"]);
        assert!(stream.drop_oldest(true, &waits).is_some(), "the priming");
        assert_eq!(stream.after(0), Ok((1, true)));
        assert_eq!(stream.after(3), Ok((4, false)));
    }

    #[test]
    fn there_is_one_reader_and_it_can_be_let_go() {
        let (mut stream, mut from) = (stream(), 0);
        stream.prime(Duration::ZERO);
        stream.let_go = Some(Duration::from_millis(250));
        let text = read(&mut stream, &mut from).expect("an event");
        assert!(text.starts_with("id: 7-0"), "{text}");
        assert_eq!(
            read(&mut stream, &mut from).as_deref(),
            Some("retry: 250\n\n")
        );
        assert_eq!(read(&mut stream, &mut from), None);
        stream.reader = Some(Attached {
            turn: 2,
            waker: None,
        });
        assert_eq!(read(&mut stream, &mut from), None, "another reads it now");
        assert!(!stream.closed);
    }

    #[test]
    fn much_is_sent_in_pieces() {
        let (mut stream, mut from) = (stream(), 0);
        for _ in 0..100 {
            stream.push(Weight::Passing, vec![b'1'; 1000]);
        }
        stream.push(Weight::Answer, vec![b'1'; 100_000]);
        let mut frames = Vec::new();
        while let Some(text) = read(&mut stream, &mut from).filter(|text| !text.is_empty()) {
            frames.push(text.len());
        }
        assert!(frames.len() > 3, "{frames:?}");
        assert!(frames.iter().filter(|length| **length > FRAME).count() == 1);
        assert!(stream.is_sent());
    }
}
