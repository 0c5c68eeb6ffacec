//! `limits bare`: fixed answers, picked without parsing.

use std::{
    convert::Infallible,
    io::{self, BufRead, BufReader, BufWriter, Write, stdin, stdout},
    sync::Arc,
    time::Duration,
};

use bytes::Bytes;
use http_body_util::Full;
use hyper::{Request, Response, StatusCode, body::Incoming, service::service_fn};

use crate::{
    body::{json, read},
    floor,
};

/// The harness sends texts of this length, of which the answer repeats the unchanging part.
const TEXT: &str = "Low water at the north quay, sounding 00000000, wind slack.";
/// What comes of the nested arguments that the harness sends, likewise.
const NESTED: &str = "50 lines, 10001274 pieces";
/// Anything longer than this is taken for the large echo.
const LARGE: usize = 64 << 10;
/// What the harness has confirmed, likewise.
const ACTION: &str = "deploy 00000000";
/// As long as the floor's state for that.
const STATE: usize = 307;
/// A second leg is longer than this, and nothing else that is short: it brings the state back.
const RETRY: usize = 512;
/// Over pipes, where no header names the tool, an `echo` is longer than this, a first leg is not.
const FIRST_LEG: usize = 360;
/// As long as the harness keeps its slow calls open; the argument is not looked at.
const SLOW: Duration = Duration::from_secs(5);

struct Answers {
    echo: Bytes,
    nested: Bytes,
    ask: Bytes,
    done: Bytes,
    large: Bytes,
    slow: Bytes,
    list: Bytes,
}

impl Answers {
    fn new(fillers: usize) -> Self {
        let text = |text: &str| Bytes::from(floor::text_answer(b"1", text));
        Self {
            echo: text(TEXT),
            nested: text(NESTED),
            ask: Bytes::from(floor::ask_answer(
                b"1",
                &format!("Run {ACTION}?"),
                &"A".repeat(STATE),
            )),
            done: text(&format!("done: {ACTION}")),
            large: text(&format!("{TEXT}{}", "~".repeat(1 << 20))),
            slow: text(&format!("slept {}", SLOW.as_millis())),
            list: Bytes::from(floor::list_answer(b"1", fillers)),
        }
    }

    async fn http(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        let (head, body) = request.into_parts();
        let Ok(body) = read(body).await else {
            return json(StatusCode::BAD_REQUEST, Bytes::new());
        };
        let tool = head.headers.get("mcp-name").map(|name| name.as_bytes());
        let answer = match tool {
            None => &self.list,
            Some(b"slow") => {
                tokio::time::sleep(SLOW).await;
                &self.slow
            }
            Some(b"nested") => &self.nested,
            Some(b"confirm") if body.len() > RETRY => &self.done,
            Some(b"confirm") => &self.ask,
            Some(_) if body.len() > LARGE => &self.large,
            Some(_) => &self.echo,
        };
        json(StatusCode::OK, answer.clone())
    }
}

pub(crate) async fn http(port: u16, fillers: usize) -> io::Result<()> {
    let answers = Arc::new(Answers::new(fillers));
    let service = service_fn(move |request| {
        let answers = answers.clone();
        async move { Ok::<_, Infallible>(answers.http(request).await) }
    });
    contract::serve(port, service).await
}

/// A line out for every line in, on blocking pipes, written when no whole line is left to read.
pub(crate) fn stdio() -> io::Result<()> {
    let mut input = BufReader::with_capacity(64 << 10, stdin().lock());
    let mut output = BufWriter::with_capacity(64 << 10, stdout().lock());
    let answers = Answers::new(0);
    let line = |answer: &Bytes| [answer, &b"\n"[..]].concat();
    let (echo, ask, done) = (line(&answers.echo), line(&answers.ask), line(&answers.done));
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line)? > 0 {
        output.write_all(match line.len() {
            length if length > RETRY => &done,
            length if length > FIRST_LEG => &echo,
            _ => &ask,
        })?;
        line.clear();
        if memchr::memchr(b'\n', input.buffer()).is_none() {
            output.flush()?;
        }
    }
    output.flush()
}
