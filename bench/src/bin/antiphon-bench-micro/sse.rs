//! Server-sent events.
//!
//! They are written where a call tells of its progress: `answer` is a whole request whose answer is a stream
//! of two events, the progress and the result. They are read by clients.

use std::hint::black_box;

use antiphon::{Progress, Server, client::Bytes};
use antiphon_core::sse::Decoder;

use crate::{
    dispatch::{Served, holds},
    messages,
    meter::Meter,
};

const LARGE: usize = 64 * 1024;

/// Short ones.
pub(crate) fn answer(meter: &mut Meter) {
    written(meter, messages::TEXT.len());
}

/// A result of 64 KB.
pub(crate) fn answer_64k(meter: &mut Meter) {
    written(meter, LARGE);
}

fn written(meter: &mut Meter, length: usize) {
    let tell = move |progress: Progress| async move {
        progress.report_of(1, 2);
        "x".repeat(length)
    };
    let mut served = Served::new(Server::new("bench", "1.0.0").tool("tell", tell));
    let body = messages::call("tell", "{}");
    let body = Bytes::from(body.replace(r#""_meta":{"#, r#""_meta":{"progressToken":7,"#));
    meter.repeat(|meter| {
        let answer = served.answer(meter, "tell", &body);
        assert!(answer.starts_with(b"data: ") && answer.len() > length);
        assert!(holds(
            &answer,
            "\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":10000001,\"result\":"
        ));
    });
}

/// Two short events, one of them without a type.
pub(crate) fn read(meter: &mut Meter) {
    decoded(meter, messages::TEXT.len());
}

/// The same with 64 KB in one of them, in pieces of 16 KB.
pub(crate) fn read_64k(meter: &mut Meter) {
    decoded(meter, LARGE);
}

fn decoded(meter: &mut Meter, length: usize) {
    let data = "x".repeat(length);
    let stream = format!("id: 1\ndata: 7\n\nevent: message\nid: 2\ndata: {data}\n\n");
    meter.repeat(|meter| {
        let events = meter.count(|| {
            let mut decoder = Decoder::new(1 << 20);
            let (mut events, mut bytes) = (0, 0);
            for mut piece in black_box(stream.as_bytes()).chunks(16 * 1024) {
                while let Some(event) = decoder.next(&mut piece).expect("it is short enough") {
                    events += 1;
                    bytes += event.data.len();
                }
            }
            (events, bytes)
        });
        assert_eq!(events, (2, 1 + length));
    });
}
