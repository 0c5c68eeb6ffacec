//! [`Streams`]: all streams of one session, within the bytes they may hold.

use std::{
    collections::VecDeque,
    sync::atomic::{AtomicUsize, Ordering},
    task::Waker,
    time::Duration,
};

use tokio::time::Instant;

use super::{
    settings::Sessions,
    stream::{Attached, Kind, STREAM_COST, Stream, Taken, Weight},
};

/// Those that are open, and those that a client may still come back for; the oldest first.
#[derive(Debug, Default)]
pub(super) struct Streams {
    all: VecDeque<Stream>,
    /// How many of them are standalone.
    standalone: usize,
    /// The last stream, and the last connection, that there was.
    last: u64,
    turns: u64,
    bytes: usize,
}

/// What the streams of a session may use up, and what those of all sessions do.
#[derive(Clone, Copy)]
pub(super) struct Budget<'a> {
    pub(super) settings: &'a Sessions,
    pub(super) total: &'a AtomicUsize,
    /// Whether a question has no answer yet.
    pub(super) waits: &'a dyn Fn(u64) -> bool,
}

/// A connection's place at a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Seat {
    pub(super) stream: u64,
    pub(super) turn: u64,
    /// The number of the first event to send.
    pub(super) from: u64,
}

/// Why a stream cannot be gone on with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lost {
    /// There is no such stream, or not any more.
    Stream,
    /// That event was never sent.
    Event,
}

impl Streams {
    /// Opens a stream, and begins to read it: one that nobody reads may be forgotten at once.
    pub(super) fn open(&mut self, kind: Kind, now: Instant, budget: Budget<'_>) -> Seat {
        self.make_room(None, STREAM_COST, budget);
        self.last += 1;
        self.turns += 1;
        let (stream, turn) = (self.last, self.turns);
        let mut opened = Stream::new(stream, kind, now);
        opened.reader = Some(Attached { turn, waker: None });
        self.all.push_back(opened);
        self.standalone += usize::from(kind == Kind::Standalone);
        self.grow(STREAM_COST, budget);
        self.end_oldest(budget.settings.streams, now);
        Seat {
            stream,
            turn,
            from: 0,
        }
    }

    /// Says first what a stream is called.
    pub(super) fn prime(&mut self, stream: u64, retry: Duration, budget: Budget<'_>) {
        if let Some(found) = self.find(stream) {
            let cost = found.prime(retry);
            self.grow(cost, budget);
        }
    }

    /// Adds a message to a stream; `false` if nobody can ever read it.
    pub(super) fn push(
        &mut self,
        stream: u64,
        weight: Weight,
        message: Vec<u8>,
        budget: Budget<'_>,
    ) -> bool {
        if self.find(stream).is_none_or(|found| found.closed) {
            return false;
        }
        let need = Stream::cost(&message);
        let has_room = self.make_room(Some(stream), need, budget);
        let total = budget.total.load(Ordering::Relaxed);
        let fits = total.saturating_add(need) <= budget.settings.all_event_bytes;
        let is_small = self.bytes.saturating_add(need) <= budget.settings.event_bytes;
        let Some(found) = self.find(stream) else {
            return false;
        };
        // What others leave behind is not held against a reader that keeps up.
        let keeps_up = is_small && found.reader.is_some() && found.is_sent();
        if !has_room && !keeps_up && weight == Weight::Passing {
            found.skip();
            tracing::debug!("a client is too far behind; a notification was dropped");
            return true;
        }
        if !fits && found.reader.is_none() {
            tracing::warn!(
                limit = budget.settings.all_event_bytes,
                "too much is kept for clients that are away; what one of them waits for was \
                 dropped; see Sessions::all_event_bytes"
            );
            self.forget(stream, budget);
            return false;
        }
        let cost = found.push(weight, message);
        self.grow(cost, budget);
        true
    }

    /// Nothing more comes on this stream.
    pub(super) fn close(&mut self, stream: u64, now: Instant) {
        if let Some(found) = self.find(stream) {
            found.closed = true;
            found.since = now;
            found.wake();
        }
    }

    /// Nothing more comes on any standalone stream.
    pub(super) fn close_standalone(&mut self, now: Instant) {
        for stream in &mut self.all {
            if stream.kind == Kind::Standalone {
                stream.closed = true;
                stream.since = now;
                stream.wake();
            }
        }
    }

    /// Has the reader of a stream leave, and come back later.
    pub(super) fn let_go(&mut self, stream: u64, retry: Duration) {
        if let Some(found) = self.find(stream) {
            found.let_go = Some(retry);
            found.wake();
        }
    }

    /// Goes on to read a stream after an event; whoever read it before stops.
    pub(super) fn attach(
        &mut self,
        stream: u64,
        last: u64,
        now: Instant,
        budget: Budget<'_>,
    ) -> Result<(Seat, Kind), Lost> {
        let turn = self.turns + 1;
        let found = self.find(stream).ok_or(Lost::Stream)?;
        let (from, missing) = found.after(last).map_err(|_| Lost::Event)?;
        if missing {
            tracing::warn!(
                "a client came back for events of which some are not kept any more; see \
                 Sessions::event_bytes"
            );
        }
        let kind = found.kind;
        found.wake();
        found.let_go = None;
        // Whoever comes back to hear more does, although that was to be all.
        found.closed &= found.kind != Kind::Standalone;
        found.reader = Some(Attached { turn, waker: None });
        self.turns = turn;
        self.end_oldest(budget.settings.streams, now);
        Ok((Seat { stream, turn, from }, kind))
    }

    /// Standalone streams beyond what a session may have open.
    fn end_oldest(&mut self, most: usize, now: Instant) {
        if self.standalone <= most {
            return;
        }
        let open =
            |stream: &&mut Stream| stream.kind == Kind::Standalone && stream.reader.is_some();
        while self.all.iter_mut().filter(open).count() > most {
            let turn = |stream: &&mut Stream| stream.reader.as_ref().map(|reader| reader.turn);
            let oldest = self.all.iter_mut().filter(open).min_by_key(turn);
            let Some(oldest) = oldest else { return };
            oldest.wake();
            oldest.reader = None;
            oldest.since = now;
        }
    }

    /// A reader leaves. A stream that it never learnt the name of is lost.
    pub(super) fn detach(&mut self, seat: Seat, now: Instant, budget: Budget<'_>) {
        let Some(found) = self.find(seat.stream) else {
            return;
        };
        let reader = found.reader.as_ref();
        if reader.is_some_and(|reader| reader.turn == seat.turn) {
            found.reader = None;
            found.since = now;
        }
        if found.reader.is_none() && !found.is_known() {
            self.forget(seat.stream, budget);
        }
        // What comes next goes to the newest of the others.
        if let Some(newest) = self.newest() {
            self.wake(newest);
        }
    }

    /// The standalone stream that messages go to: the one that was begun to be read last.
    pub(super) fn newest(&self) -> Option<u64> {
        if self.standalone == 0 {
            // Answers that are kept for those who come back can be many.
            return None;
        }
        let open = |stream: &&Stream| stream.kind == Kind::Standalone && !stream.closed;
        let turn = |stream: &Stream| Some((stream.reader.as_ref()?.turn, stream.number));
        self.all
            .iter()
            .filter(open)
            .filter_map(turn)
            .max()
            .map(|(_, stream)| stream)
    }

    /// Has the reader of a stream look again.
    pub(super) fn wake(&mut self, stream: u64) {
        if let Some(found) = self.find(stream) {
            found.wake();
        }
    }

    /// What there is for a reader.
    pub(super) fn take(&mut self, seat: &mut Seat, waker: &Waker) -> Taken {
        match self.find(seat.stream) {
            None => Taken::End,
            Some(stream) => stream.take(seat.turn, &mut seat.from, waker),
        }
    }

    /// Forgets what nobody came back for.
    pub(super) fn sweep(&mut self, now: Instant, budget: Budget<'_>) {
        let longest = budget.settings.replay;
        let old = |stream: &Stream| stream.is_left() && now - stream.since >= longest;
        let gone: Vec<_> = self
            .all
            .iter()
            .filter(|it| old(it))
            .map(|it| it.number)
            .collect();
        gone.into_iter()
            .for_each(|stream| self.forget(stream, budget));
        if self.all.is_empty() {
            self.all = VecDeque::new();
        }
    }

    /// Whether there is anything to sweep, now or later.
    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// What is held.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Makes room for `need` more bytes, if that is possible: first by what a client has had and
    /// what is over, then by what it can do without.
    fn make_room(&mut self, for_stream: Option<u64>, need: usize, budget: Budget<'_>) -> bool {
        loop {
            let total = budget.total.load(Ordering::Relaxed).saturating_add(need);
            let own = self.bytes.saturating_add(need);
            let settings = budget.settings;
            if own <= settings.event_bytes && total <= settings.all_event_bytes {
                return true;
            }
            let freed = self.drop_stream(for_stream, true, budget)
                || self.drop_event(true, budget)
                || self.drop_stream(for_stream, false, budget)
                || self.drop_event(false, budget);
            if !freed {
                return false;
            }
        }
    }

    fn drop_stream(&mut self, except: Option<u64>, sent: bool, budget: Budget<'_>) -> bool {
        let may = |stream: &&Stream| {
            stream.is_left() && Some(stream.number) != except && (stream.is_sent() || !sent)
        };
        let Some(stream) = self.all.iter().find(may).map(|stream| stream.number) else {
            return false;
        };
        if !sent {
            tracing::warn!(
                limit = budget.settings.event_bytes,
                "what a client did not come back for was dropped early; see Sessions::event_bytes"
            );
        }
        self.forget(stream, budget);
        true
    }

    fn drop_event(&mut self, sent: bool, budget: Budget<'_>) -> bool {
        let dropped = self
            .all
            .iter_mut()
            .find_map(|stream| stream.drop_oldest(sent, budget.waits));
        let Some(cost) = dropped else {
            return false;
        };
        self.shrink(cost, budget);
        true
    }

    fn forget(&mut self, stream: u64, budget: Budget<'_>) {
        let at = self.position(stream);
        let Some(mut gone) = at.and_then(|at| self.all.remove(at)) else {
            return;
        };
        self.standalone -= usize::from(gone.kind == Kind::Standalone);
        gone.wake();
        self.shrink(gone.bytes(), budget);
    }

    fn find(&mut self, stream: u64) -> Option<&mut Stream> {
        // Mostly the newest is meant, of all that are kept.
        let at = match self.all.back() {
            Some(newest) if newest.number == stream => self.all.len() - 1,
            _ => self.position(stream)?,
        };
        self.all.get_mut(at)
    }

    fn position(&self, stream: u64) -> Option<usize> {
        self.all.binary_search_by_key(&stream, |it| it.number).ok()
    }

    fn grow(&mut self, bytes: usize, budget: Budget<'_>) {
        self.bytes += bytes;
        budget.total.fetch_add(bytes, Ordering::Relaxed);
    }

    fn shrink(&mut self, bytes: usize, budget: Budget<'_>) {
        self.bytes -= bytes;
        budget.total.fetch_sub(bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Shelf {
        streams: Streams,
        settings: Sessions,
        total: AtomicUsize,
        now: Instant,
        /// What other sessions hold.
        others: usize,
    }

    impl Shelf {
        fn new(settings: Sessions) -> Self {
            Self {
                streams: Streams::default(),
                settings,
                total: AtomicUsize::new(0),
                now: Instant::now(),
                others: 0,
            }
        }

        fn with<T>(&mut self, act: impl FnOnce(&mut Streams, Instant, Budget<'_>) -> T) -> T {
            let budget = Budget {
                settings: &self.settings,
                total: &self.total,
                waits: &|id| id % 2 == 1,
            };
            self.total.fetch_add(self.others, Ordering::Relaxed);
            let done = act(&mut self.streams, self.now, budget);
            self.total.fetch_sub(self.others, Ordering::Relaxed);
            let held: usize = self.streams.all.iter().map(Stream::bytes).sum();
            assert_eq!(self.streams.bytes, held, "what is held is known");
            let standalone = |stream: &&Stream| stream.kind == Kind::Standalone;
            let standalone = self.streams.all.iter().filter(standalone).count();
            assert_eq!(self.streams.standalone, standalone);
            assert_eq!(self.total.load(Ordering::Relaxed), held);
            done
        }

        fn open(&mut self, kind: Kind) -> Seat {
            self.with(|streams, now, budget| streams.open(kind, now, budget))
        }

        fn push(&mut self, stream: u64, weight: Weight) -> bool {
            let message = vec![b'1'; 100];
            self.with(|streams, _, budget| streams.push(stream, weight, message, budget))
        }

        fn attach(&mut self, stream: u64, last: u64) -> Result<Seat, Lost> {
            self.with(|streams, now, budget| streams.attach(stream, last, now, budget))
                .map(|(seat, _)| seat)
        }

        /// The numbers of the events that there are for a reader; `None` at the end.
        fn read(&mut self, seat: &mut Seat) -> Option<Vec<String>> {
            match self.streams.take(seat, Waker::noop()) {
                Taken::Frame(frame) => {
                    let text = String::from_utf8(frame.to_vec()).expect("UTF-8");
                    let ids = text.lines().filter_map(|line| line.strip_prefix("id: "));
                    Some(ids.map(str::to_owned).collect())
                }
                Taken::Nothing => Some(Vec::new()),
                Taken::End => None,
            }
        }

        fn leave(&mut self, seat: Seat) {
            self.with(|streams, now, budget| streams.detach(seat, now, budget));
        }
    }

    /// LHTTP-S-19
    #[test]
    fn a_stream_is_gone_on_with_and_no_other() {
        let mut shelf = Shelf::new(Sessions::new());
        let mut seat = shelf.open(Kind::Response);
        let (one, two) = (seat.stream, shelf.open(Kind::Response).stream);
        shelf.push(one, Weight::Passing);
        shelf.push(two, Weight::Passing);
        shelf.push(one, Weight::Passing);
        assert_eq!(shelf.read(&mut seat).expect("open"), ["1-0", "1-1"]);
        shelf.leave(seat);
        shelf.push(one, Weight::Answer);
        let mut again = shelf.attach(one, 0).expect("there");
        assert_eq!(shelf.read(&mut again).expect("open"), ["1-1", "1-2"]);
        shelf.with(|streams, now, _| streams.close(one, now));
        assert_eq!(shelf.read(&mut again), None);
        assert_eq!(shelf.attach(one, 3), Err(Lost::Event));
        assert_eq!(shelf.attach(two, 0), Err(Lost::Event), "nobody has had it");
        assert_eq!(shelf.attach(9, 0), Err(Lost::Stream));
    }

    #[test]
    fn a_stream_that_nobody_can_name_is_lost() {
        let mut shelf = Shelf::new(Sessions::new());
        let seat = shelf.open(Kind::Response);
        shelf.leave(seat);
        assert!(!shelf.push(seat.stream, Weight::Question(1)));
        assert!(shelf.streams.is_empty());
    }

    /// LHTTP-S-12: whatever else the session does meanwhile, its client gets the stream it opens.
    #[test]
    fn a_stream_is_read_from_the_moment_it_is_opened() {
        let settings = Sessions::new().replay(Duration::ZERO).event_bytes(1);
        let mut shelf = Shelf::new(settings);
        let mut seat = shelf.open(Kind::Standalone);
        shelf.with(|streams, now, budget| streams.sweep(now, budget));
        shelf.open(Kind::Response);
        assert_eq!(shelf.read(&mut seat), Some(Vec::new()), "it is open");
    }

    #[test]
    fn what_is_over_is_kept_for_a_while() {
        let mut shelf = Shelf::new(Sessions::new().replay(Duration::from_secs(10)));
        let mut seats = Vec::new();
        for kind in [Kind::Response, Kind::Response, Kind::Standalone] {
            let mut seat = shelf.open(kind);
            shelf.push(seat.stream, Weight::Answer);
            shelf.read(&mut seat);
            seats.push(seat);
        }
        shelf.with(|streams, now, _| streams.close(2, now));
        for seat in seats {
            shelf.leave(seat);
        }
        shelf.now += Duration::from_secs(9);
        shelf.with(|streams, now, budget| streams.sweep(now, budget));
        assert_eq!(shelf.streams.all.len(), 3);
        shelf.now += Duration::from_secs(1);
        shelf.with(|streams, now, budget| streams.sweep(now, budget));
        let kept: Vec<_> = shelf.streams.all.iter().map(|it| it.number).collect();
        assert_eq!(kept, [1], "its call still runs");
    }

    /// LHTTP-S-15
    #[test]
    fn messages_go_to_the_newest_reader() {
        let mut shelf = Shelf::new(Sessions::new().streams(2));
        let mut one = shelf.open(Kind::Standalone);
        let two = shelf.open(Kind::Standalone);
        assert_eq!(shelf.streams.newest(), Some(two.stream));
        shelf.leave(two);
        assert_eq!(shelf.streams.newest(), Some(one.stream));
        let three = shelf.open(Kind::Standalone);
        let four = shelf.open(Kind::Standalone);
        assert_eq!(shelf.read(&mut one), None, "two at most");
        assert_eq!(shelf.streams.newest(), Some(four.stream));
        shelf.with(|streams, now, _| streams.close_standalone(now));
        assert_eq!(shelf.streams.newest(), None);
        shelf.leave(three);
    }

    #[test]
    fn bytes_are_bounded_and_what_matters_stays() {
        let mut shelf = Shelf::new(Sessions::new().event_bytes(4000));
        let mut seat = shelf.open(Kind::Response);
        let stream = seat.stream;
        shelf.push(stream, Weight::Question(1));
        assert_eq!(shelf.read(&mut seat).expect("open"), ["1-0"]);
        for _ in 0..1000 {
            assert!(shelf.push(stream, Weight::Passing));
            assert!(shelf.streams.bytes() <= 4000);
        }
        assert!(shelf.push(stream, Weight::Answer));
        let ids = shelf.read(&mut seat).expect("open");
        assert_eq!(ids.last().map(String::as_str), Some("1-1001"));
        let mut again = shelf.attach(stream, 0).expect("there");
        assert!(shelf.read(&mut again).is_some_and(|ids| ids.len() < 20));
        // Only what must be kept may exceed it.
        for _ in 0..100 {
            assert!(shelf.push(stream, Weight::Question(3)));
        }
        assert!(shelf.streams.bytes() > 4000);
        assert!(shelf.push(stream, Weight::Passing), "left out");
        let last = shelf.read(&mut again).expect("open").pop();
        assert_eq!(last.as_deref(), Some("1-1101"));
    }

    #[test]
    fn what_is_over_makes_room_first() {
        let mut shelf = Shelf::new(Sessions::new().event_bytes(1900));
        let mut seat = shelf.open(Kind::Response);
        let over = seat.stream;
        shelf.push(over, Weight::Answer);
        shelf.read(&mut seat);
        shelf.with(|streams, now, _| streams.close(over, now));
        shelf.leave(seat);
        let mut seat = shelf.open(Kind::Response);
        let running = seat.stream;
        shelf.push(running, Weight::Passing);
        for _ in 0..3 {
            shelf.push(running, Weight::Question(2));
        }
        shelf.read(&mut seat);
        shelf.push(running, Weight::Question(1));
        shelf.push(running, Weight::Question(1));
        assert_eq!(shelf.attach(over, 0), Err(Lost::Stream));
        assert_eq!(shelf.attach(running, 0).map(|seat| seat.from), Ok(1));
    }

    /// Of what is kept for those who are away, also what matters has a bound.
    #[test]
    fn all_sessions_together_are_bounded() {
        let settings = Sessions::new().all_event_bytes(1000);
        let mut shelf = Shelf::new(settings);
        let mut seat = shelf.open(Kind::Response);
        let stream = seat.stream;
        for _ in 0..10 {
            assert!(shelf.push(stream, Weight::Question(1)), "somebody reads it");
        }
        shelf.read(&mut seat);
        shelf.leave(seat);
        assert!(!shelf.push(stream, Weight::Answer));
        assert_eq!(shelf.attach(stream, 0), Err(Lost::Stream));
    }

    /// LHTTP-S-07: whoever is told to come back finds what it is to come back for, however long it
    /// was there before.
    #[test]
    fn a_stream_that_lets_its_reader_go_is_kept_from_then_on() {
        let mut shelf = Shelf::new(Sessions::new().replay(Duration::from_secs(10)));
        shelf.now -= Duration::from_secs(60);
        let mut seat = shelf.open(Kind::Standalone);
        let stream = seat.stream;
        shelf.push(stream, Weight::Passing);
        assert_eq!(shelf.read(&mut seat).expect("open"), ["1-0"]);
        shelf.now += Duration::from_secs(60);
        shelf.with(|streams, _, _| streams.let_go(stream, Duration::from_secs(1)));
        assert_eq!(shelf.read(&mut seat), Some(Vec::new()), "come back");
        assert_eq!(shelf.read(&mut seat), None);
        shelf.leave(seat);
        shelf.now += Duration::from_secs(5);
        shelf.with(|streams, now, budget| streams.sweep(now, budget));
        assert!(shelf.attach(stream, 0).is_ok());
    }

    /// What others leave behind does not cost a client that keeps up its messages.
    #[test]
    fn whoever_keeps_up_hears_all_there_is() {
        let mut shelf = Shelf::new(Sessions::new().all_event_bytes(2000));
        let mut seat = shelf.open(Kind::Standalone);
        let stream = seat.stream;
        shelf.push(stream, Weight::Passing);
        shelf.read(&mut seat);
        shelf.others = 10_000;
        for number in 1..20 {
            assert!(shelf.push(stream, Weight::Passing));
            let id = format!("1-{number}");
            assert_eq!(shelf.read(&mut seat).expect("open"), [id]);
            assert!(shelf.streams.bytes() < 1000);
        }
        // Once it does not, it loses what it can do without.
        for _ in 0..20 {
            assert!(shelf.push(stream, Weight::Passing));
            assert!(shelf.streams.bytes() < 1000);
        }
    }
}
