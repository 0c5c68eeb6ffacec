//! A server that misbehaves: the same script over a real socket and in a child process.
//!
//! A [`Rogue`] knows what to do for each method, as plain data, so that a program of its own can
//! do it as well. What it was not told it does properly: it answers `server/discover` and calls of
//! the tool `fine`; about everything else it is silent.

use std::{
    collections::HashMap,
    io::{BufRead, Write},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};

use crate::script::{discovered, text};

/// One thing that it does.
///
/// In texts, `$ID` is the id of the request, `$N` counts the requests of its method, and `$FF` is
/// a byte that is no UTF-8. `${deep}` are 100,000 opening brackets, `${peed}` closing ones,
/// `${long}` are 1 MiB in red, `${state}` are 5 MiB, and `${questions}` are 10,000 of them.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Act {
    /// Sends one message, framed as the transport wants it.
    Say(String),
    /// Writes this as it is.
    Write(String),
    /// Sends one message for ever.
    Chatter(String),
    /// Writes this for ever.
    Flood(String),
    /// Writes this for ever, one byte each so many milliseconds.
    Drip(u64, String),
    /// Waits so many milliseconds.
    Wait(u64),
    /// Does nothing more until the client is gone.
    Hold,
    /// Dies, or closes the connection.
    Die,
}

/// What it does for whom.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Rogue(HashMap<String, Vec<Act>>);

impl Rogue {
    /// One that behaves.
    pub fn new() -> Self {
        Self::default()
    }

    /// What to do for requests of this method.
    #[must_use]
    pub fn on(mut self, method: &str, acts: impl Into<Vec<Act>>) -> Self {
        self.0.insert(method.to_owned(), acts.into());
        self
    }

    fn acts(&self, request: &Value) -> Vec<Act> {
        let method = request["method"].as_str().unwrap_or_default();
        let behave = |result: &Value| vec![Act::Say(result_of(&result.to_string()))];
        if request["params"]["name"] == "fine" {
            return behave(&text("fine"));
        }
        match (self.0.get(method), method) {
            (Some(acts), _) => acts.clone(),
            (None, "server/discover") => {
                let mut result = discovered();
                result["capabilities"]["resources"] = json!({ "subscribe": true });
                behave(&result)
            }
            (None, _) => vec![Act::Hold],
        }
    }
}

/// The response with this result.
pub fn result_of(result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":$ID,"result":{result}}}"#)
}

/// The request as far as a script needs it.
struct Asked<'a> {
    request: &'a Value,
    count: usize,
}

/// A text without its `$`s.
fn filled(text: &str, asked: &Asked<'_>) -> Vec<u8> {
    let text = text
        .replace("$ID", &asked.request["id"].to_string())
        .replace("$N", &asked.count.to_string());
    let mut bytes = Vec::new();
    let mut parts = text.split('$');
    bytes.extend_from_slice(parts.next().unwrap_or_default().as_bytes());
    for part in parts {
        let rest = match part.strip_prefix("FF") {
            Some(rest) => {
                bytes.push(0xff);
                rest
            }
            None => {
                let (name, rest) = part
                    .strip_prefix('{')
                    .and_then(|part| part.split_once('}'))
                    .expect("a `$` begins a name");
                bytes.extend(large(name).into_bytes());
                rest
            }
        };
        bytes.extend_from_slice(rest.as_bytes());
    }
    bytes
}

fn large(name: &str) -> String {
    match name {
        "deep" => "[".repeat(100_000),
        "peed" => "]".repeat(100_000),
        "long" => r"x\u001b[31m".repeat(100_000),
        "state" => "s".repeat(5 << 20),
        "questions" => {
            let question = |at| format!(r#""question {at}":{{"method":"roots/list"}}"#);
            let questions: Vec<_> = (0..10_000).map(question).collect();
            questions.join(",")
        }
        name => panic!("nothing is called {name}"),
    }
}

/// How a message travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// A response of its own.
    Json,
    /// An event of a stream.
    Events,
    /// A line.
    Lines,
}

impl Framing {
    fn opening(self) -> &'static str {
        match self {
            Self::Events => "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n",
            Self::Json | Self::Lines => "",
        }
    }

    fn frame(self, message: &[u8]) -> Vec<u8> {
        let length = message.len();
        let (before, after) = match self {
            Self::Json => (
                format!(
                    "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n"
                ),
                "",
            ),
            Self::Events => ("data: ".to_owned(), "\n\n"),
            Self::Lines => (String::new(), "\n"),
        };
        [before.as_bytes(), message, after.as_bytes()].concat()
    }
}

/// Plays a rogue on standard input and output; its script is the first argument.
pub fn play() {
    let script = std::env::args().nth(1).expect("a script");
    let rogue: Rogue = serde_json::from_str(&script).expect("a script");
    let mut counts = HashMap::<String, usize>::new();
    for line in std::io::stdin().lock().lines() {
        let request: Value = match line {
            Ok(line) => serde_json::from_str(&line).expect("JSON"),
            Err(_) => return,
        };
        if request.get("id").is_none() {
            continue;
        }
        let count = counts.entry(request["method"].to_string()).or_default();
        *count += 1;
        let asked = Asked {
            request: &request,
            count: *count,
        };
        for act in rogue.acts(&request) {
            if perform(&act, &asked).is_err() {
                return;
            }
        }
    }
}

fn perform(act: &Act, asked: &Asked<'_>) -> std::io::Result<()> {
    let mut output = std::io::stdout().lock();
    match act {
        Act::Say(text) => output.write_all(&Framing::Lines.frame(&filled(text, asked)))?,
        Act::Write(text) => output.write_all(&filled(text, asked))?,
        Act::Chatter(text) => {
            let message = Framing::Lines.frame(&filled(text, asked));
            loop {
                output.write_all(&message)?;
            }
        }
        Act::Flood(text) => loop {
            output.write_all(text.as_bytes())?;
        },
        Act::Drip(pause, text) => {
            for byte in text.bytes().cycle() {
                output.write_all(&[byte])?;
                output.flush()?;
                std::thread::sleep(Duration::from_millis(*pause));
            }
        }
        Act::Wait(pause) => std::thread::sleep(Duration::from_millis(*pause)),
        // Other requests may still come.
        Act::Hold => {}
        Act::Die => std::process::exit(3),
    }
    output.flush()
}

/// A rogue behind a socket.
pub struct Running {
    /// Its URL.
    pub url: String,
    seen: Arc<Seen>,
    task: JoinHandle<()>,
}

#[derive(Default)]
struct Seen {
    requests: Mutex<Vec<String>>,
    counts: Mutex<HashMap<String, usize>>,
    written: AtomicU64,
}

impl Seen {
    /// Notes a request; how many of its kind there were.
    fn note(&self, method: &str) -> usize {
        let mut requests = self.requests.lock().expect("unpoisoned");
        requests.push(method.to_owned());
        let mut counts = self.counts.lock().expect("unpoisoned");
        let count = counts.entry(method.to_owned()).or_default();
        *count += 1;
        *count
    }
}

impl Running {
    /// Starts it.
    pub async fn start(rogue: Rogue, framing: Framing) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}/mcp", listener.local_addr().expect("an address"));
        let seen = Arc::<Seen>::default();
        let (rogue, log) = (Arc::new(rogue), seen.clone());
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, rogue.clone(), framing, log.clone()));
            }
        });
        Self { url, seen, task }
    }

    /// The methods of all requests since this was last asked.
    pub fn requests(&self) -> Vec<String> {
        std::mem::take(&mut self.seen.requests.lock().expect("unpoisoned"))
    }

    /// How many bytes it could get rid of.
    pub fn written(&self) -> u64 {
        self.seen.written.load(Ordering::SeqCst)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Serves one connection until either side has had enough.
async fn serve(mut stream: TcpStream, rogue: Arc<Rogue>, framing: Framing, seen: Arc<Seen>) {
    while let Some(request) = read(&mut stream).await {
        let count = seen.note(request["method"].as_str().unwrap_or_default());
        let asked = Asked {
            request: &request,
            count,
        };
        let mut opened = false;
        for act in rogue.acts(&request) {
            if act_on(&mut stream, &act, &asked, framing, &mut opened, &seen)
                .await
                .is_err()
            {
                return;
            }
        }
        // A stream has no other end.
        if opened {
            return;
        }
    }
}

async fn act_on(
    stream: &mut TcpStream,
    act: &Act,
    asked: &Asked<'_>,
    framing: Framing,
    opened: &mut bool,
    seen: &Seen,
) -> std::io::Result<()> {
    let gone = || std::io::Error::from(std::io::ErrorKind::ConnectionAborted);
    if let (Act::Say(_) | Act::Chatter(_), false, Framing::Events) = (act, *opened, framing) {
        *opened = true;
        stream.write_all(framing.opening().as_bytes()).await?;
    }
    match act {
        Act::Say(text) => {
            stream
                .write_all(&framing.frame(&filled(text, asked)))
                .await?
        }
        Act::Write(text) => {
            *opened = true;
            stream.write_all(&filled(text, asked)).await?;
        }
        Act::Chatter(_) | Act::Flood(_) => {
            let bytes = match act {
                Act::Chatter(text) => framing.frame(&filled(text, asked)),
                Act::Flood(text) => filled(text, asked),
                _ => Vec::new(),
            };
            loop {
                stream.write_all(&bytes).await?;
                seen.written.fetch_add(bytes.len() as u64, Ordering::SeqCst);
            }
        }
        Act::Drip(pause, text) => {
            for byte in text.bytes().cycle() {
                stream.write_all(&[byte]).await?;
                tokio::time::sleep(Duration::from_millis(*pause)).await;
            }
        }
        Act::Wait(pause) => tokio::time::sleep(Duration::from_millis(*pause)).await,
        Act::Hold => {
            let mut rest = Vec::new();
            _ = stream.read_to_end(&mut rest).await;
            return Err(gone());
        }
        Act::Die => return Err(gone()),
    }
    stream.flush().await
}

/// One request's message; none once the client is gone.
async fn read(stream: &mut TcpStream) -> Option<Value> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|part| part == b"\r\n\r\n") {
            break end + 4;
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase();
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "));
    let length: usize = length?.parse().ok()?;
    while bytes.len() < end + length {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
    serde_json::from_slice(&bytes[end..]).ok()
}
