//! An HTTP server made of answers: for each request that comes, a function says what to write back.
//! For tests of clients that hold several connections at once.

use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};

use crate::{socket, until};

/// One thing that it does for a request.
#[derive(Debug, Clone)]
pub enum Step {
    /// Writes this as it is.
    Write(String),
    /// Waits.
    Wait(Duration),
    /// Waits until there was a request like that.
    Until(fn(&Asked) -> bool),
    /// Waits until there was a request like that, and writes what this makes of the last one.
    To(fn(&Asked) -> bool, fn(&Asked) -> String),
    /// Writes this for ever.
    Flood(String),
    /// Waits until the client closes the connection.
    Hold,
    /// Closes the connection.
    Close,
}

/// Writes this as it is.
pub fn write(text: impl Into<String>) -> Step {
    Step::Write(text.into())
}

/// Waits so many milliseconds.
pub fn wait(ms: u64) -> Step {
    Step::Wait(Duration::from_millis(ms))
}

/// The head of a stream of events that ends with the connection.
pub fn events() -> Step {
    write("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")
}

/// The head of a stream of events that would be longer, so that it breaks if it ends.
pub fn fragile_events() -> Step {
    write("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 99999999\r\n\r\n")
}

/// A whole response.
pub fn response(status: &str, kind: &str, body: &str) -> Vec<Step> {
    vec![write(socket::response(status, kind, body))]
}

/// A JSON response.
pub fn json(body: &str) -> Vec<Step> {
    response("200 OK", "application/json", body)
}

/// A response of nothing but a status.
pub fn status(status: &str) -> Vec<Step> {
    vec![write(format!(
        "HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n"
    ))]
}

/// A request, and when it came.
#[derive(Debug, Clone)]
pub struct Asked {
    /// When.
    pub at: Instant,
    /// `GET`, `POST` or `DELETE`.
    pub verb: String,
    /// The path and the query.
    pub path: String,
    /// All before the body.
    pub head: String,
    /// The body.
    pub body: String,
}

impl Asked {
    /// A header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.head.lines().skip(1).filter_map(|line| {
            let (given, value) = line.split_once(": ")?;
            given.eq_ignore_ascii_case(name).then_some(value)
        });
        let value = found.next();
        assert_eq!(found.next(), None, "{name} stands twice");
        value
    }

    /// Whether it carries a request or notification of this method.
    pub fn calls(&self, method: &str) -> bool {
        self.body.contains(&format!(r#""method":"{method}""#))
    }
}

/// A running server, which ends when it is dropped.
pub struct Desk {
    /// Where it is, without a path.
    pub origin: String,
    seen: Arc<Seen>,
    task: JoinHandle<()>,
}

#[derive(Default)]
struct Seen {
    requests: Mutex<Vec<Asked>>,
    /// Connections that the client closed.
    left: Mutex<usize>,
}

impl Desk {
    /// Starts one that answers like this; the number is how many requests of the same verb there
    /// were before.
    pub async fn start(
        answer: impl Fn(&Asked, usize) -> Vec<Step> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let origin = format!("http://{}", listener.local_addr().expect("an address"));
        let seen = Arc::<Seen>::default();
        let (answer, log) = (Arc::new(answer), seen.clone());
        let task = tokio::spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                connections.spawn(serve(stream, answer.clone(), log.clone()));
            }
        });
        Self { origin, seen, task }
    }

    /// All requests so far.
    pub fn requests(&self) -> Vec<Asked> {
        self.seen.requests.lock().expect("unpoisoned").clone()
    }

    /// The requests of this verb so far.
    pub fn of(&self, verb: &str) -> Vec<Asked> {
        let mut requests = self.requests();
        requests.retain(|request| request.verb == verb);
        requests
    }

    /// The methods of all messages that were posted so far.
    pub fn methods(&self) -> Vec<String> {
        let method = |request: &Asked| {
            let message: serde_json::Value = serde_json::from_str(&request.body).ok()?;
            Some(message["method"].as_str().unwrap_or("-").to_owned())
        };
        self.requests().iter().filter_map(method).collect()
    }

    /// Waits for so many requests of this verb, and gives all there are.
    pub async fn wait_for(&self, verb: &str, count: usize) -> Vec<Asked> {
        until(|| self.of(verb).len() >= count).await;
        self.of(verb)
    }

    /// How many connections the client closed in the middle of an answer.
    pub fn left(&self) -> usize {
        *self.seen.left.lock().expect("unpoisoned")
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve<A>(mut stream: TcpStream, answer: Arc<A>, seen: Arc<Seen>)
where
    A: Fn(&Asked, usize) -> Vec<Step>,
{
    while let Some(request) = read(&mut stream).await {
        let steps = {
            let mut requests = seen.requests.lock().expect("unpoisoned");
            let same = |asked: &&Asked| asked.verb == request.verb;
            let before = requests.iter().filter(same).count();
            requests.push(request.clone());
            answer(&request, before)
        };
        let mut closes = false;
        for step in steps {
            match step {
                Step::Write(text) => {
                    closes |= text.contains("connection: close");
                    if stream.write_all(text.as_bytes()).await.is_err() {
                        *seen.left.lock().expect("unpoisoned") += 1;
                        return;
                    }
                }
                Step::Wait(pause) => tokio::time::sleep(pause).await,
                Step::Until(seen_it) => {
                    until(|| {
                        seen.requests
                            .lock()
                            .expect("unpoisoned")
                            .iter()
                            .any(seen_it)
                    })
                    .await;
                }
                Step::To(seen_it, reply) => {
                    let last = || {
                        let requests = seen.requests.lock().expect("unpoisoned");
                        requests.iter().rfind(|asked| seen_it(asked)).map(reply)
                    };
                    until(|| last().is_some()).await;
                    let text = last().unwrap_or_default();
                    if stream.write_all(text.as_bytes()).await.is_err() {
                        *seen.left.lock().expect("unpoisoned") += 1;
                        return;
                    }
                }
                Step::Flood(text) => while stream.write_all(text.as_bytes()).await.is_ok() {},
                Step::Hold => {
                    let mut rest = Vec::new();
                    _ = stream.read_to_end(&mut rest).await;
                    *seen.left.lock().expect("unpoisoned") += 1;
                    return;
                }
                Step::Close => return,
            }
        }
        if closes {
            return;
        }
    }
}

/// One request; none once the client is gone.
async fn read(stream: &mut TcpStream) -> Option<Asked> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|part| part == b"\r\n\r\n") {
            break end + 4;
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8(bytes[..end].to_vec()).ok()?;
    let mut words = head.split(' ');
    let (verb, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut request = Asked {
        at: Instant::now(),
        verb,
        path,
        head,
        body: String::new(),
    };
    let length = request.header("content-length").unwrap_or("0");
    let length: usize = length.parse().ok()?;
    while bytes.len() < end + length {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
    request.body = String::from_utf8(bytes.split_off(end)).ok()?;
    Some(request)
}
