//! The same requests on every transport.

use std::{process::Stdio, time::Duration};

use antiphon::{memory, raw::Endpoint};
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines},
    process::{Child, ChildStdin, ChildStdout, Command},
    time::timeout,
};

use crate::{
    harbour,
    http::{Answer, Server},
};

/// How long any one answer may take; a test that waits longer has found a hang.
const PATIENCE: Duration = Duration::from_secs(20);

/// Which transport.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wire {
    /// In process.
    Memory,
    /// A child process.
    Stdio,
    /// A socket.
    Http,
}

impl Open for Wire {
    async fn open(wire: Wire, _: &str) -> Self {
        wire
    }
}

/// An open connection to a fresh harbour.
pub enum Connection {
    /// In process.
    Memory(memory::Peer),
    /// A child process, with `stdio_binary` as its program.
    Stdio(Box<Process>),
    /// A socket.
    Http(Server),
}

/// A child process that serves the harbour.
pub struct Process {
    /// The process.
    pub child: Child,
    /// Its input; `None` once closed.
    pub input: Option<ChildStdin>,
    /// Its output.
    pub output: Lines<BufReader<ChildStdout>>,
}

impl Process {
    /// Starts one.
    pub fn start(binary: &str) -> Self {
        Self::run(&mut Command::new(binary))
    }

    /// Runs any server that speaks on stdio.
    pub fn run(command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .expect("the test server starts");
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().expect("piped")).lines();
        Self {
            child,
            input,
            output,
        }
    }

    /// Writes bytes as they are.
    pub async fn write(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().expect("open");
        input.write_all(bytes).await.expect("written");
        input.flush().await.expect("flushed");
    }

    /// The next message; `None` at the end of the output.
    pub async fn read(&mut self) -> Option<Value> {
        let line = timeout(PATIENCE, self.output.next_line())
            .await
            .expect("no hang");
        line.expect("readable")
            .map(|line| serde_json::from_str(&line).expect("only messages"))
    }
}

/// What a request brought: its notifications, then its response.
#[derive(Debug)]
pub struct Exchange {
    /// The HTTP status, on that transport.
    pub status: Option<u16>,
    /// What came before the response.
    pub notifications: Vec<Value>,
    /// The response.
    pub response: Value,
}

impl Exchange {
    /// The result; fails the test if there is none.
    pub fn result(&self) -> &Value {
        self.response
            .get("result")
            .unwrap_or_else(|| panic!("no result: {}", self.response))
    }

    /// The first text of a tool's result.
    pub fn text(&self) -> &str {
        self.result()["content"][0]["text"]
            .as_str()
            .expect("a text")
    }

    /// The error's code, or 0.
    pub fn code(&self) -> i64 {
        self.response["error"]["code"].as_i64().unwrap_or(0)
    }

    /// Asserts an error of this code, and on HTTP of this status.
    pub fn refused(&self, code: i64, status: u16) {
        assert_eq!(self.code(), code, "{}", self.response);
        if let Some(actual) = self.status {
            assert_eq!(actual, status, "{}", self.response);
        }
    }
}

impl Wire {
    /// Opens a connection to a fresh harbour; `binary` serves it on stdio.
    pub async fn open(self, binary: &str) -> Connection {
        match self {
            Self::Memory => Connection::Memory(memory::connect(harbour::endpoint())),
            Self::Stdio => Connection::Stdio(Box::new(Process::start(binary))),
            Self::Http => {
                let service = antiphon::http::service(harbour::endpoint());
                Connection::Http(Server::start(service).await)
            }
        }
    }
}

impl Connection {
    /// A connection to this server, in process.
    pub fn memory(server: impl Into<Endpoint>) -> Self {
        Self::Memory(memory::connect(server))
    }

    /// A connection to this server, over a socket.
    pub async fn http(server: impl Into<Endpoint>) -> Self {
        Self::Http(Server::start(antiphon::http::service(server)).await)
    }

    /// Calls a tool.
    pub async fn call(&mut self, tool: &str, arguments: Value) -> Exchange {
        self.ask(&crate::call(1, tool, arguments)).await
    }

    /// Sends any request.
    pub async fn request(&mut self, method: &str, params: Value) -> Exchange {
        self.ask(&crate::request(1, method, params)).await
    }

    /// A server in a child process: a program and its arguments.
    pub fn stdio(binary: &str, arguments: &[&str]) -> Self {
        Self::Stdio(Box::new(Process::run(Command::new(binary).args(arguments))))
    }

    /// Sends a request and waits for its response.
    pub async fn ask(&mut self, request: &Value) -> Exchange {
        if let Self::Http(server) = self {
            let answer = timeout(PATIENCE, server.post(request))
                .await
                .expect("no hang");
            return exchange(answer);
        }
        self.send(request).await;
        let mut notifications = Vec::new();
        loop {
            let message = self.receive().await.expect("an answer");
            if message.get("method").is_none() {
                return Exchange {
                    status: None,
                    notifications,
                    response: message,
                };
            }
            notifications.push(message);
        }
    }

    /// Sends without waiting; not on HTTP.
    pub async fn send(&mut self, message: &Value) {
        self.send_text(&message.to_string()).await;
    }

    /// Sends a message as it is spelt; not on HTTP.
    pub async fn send_text(&mut self, message: &str) {
        match self {
            Self::Memory(peer) => assert!(peer.send(message.to_owned()).await, "open"),
            Self::Stdio(process) => process.write(format!("{message}\n").as_bytes()).await,
            Self::Http(_) => panic!("HTTP has no stream to send on"),
        }
    }

    /// The next message; not on HTTP.
    pub async fn receive(&mut self) -> Option<Value> {
        match self {
            Self::Memory(peer) => {
                let message = timeout(PATIENCE, peer.receive()).await.expect("no hang");
                message.map(|message| serde_json::from_slice(&message).expect("JSON"))
            }
            Self::Stdio(process) => process.read().await,
            Self::Http(_) => panic!("HTTP has no stream to receive from"),
        }
    }
}

fn exchange(mut answer: Answer) -> Exchange {
    let response = answer.messages.pop().unwrap_or(Value::Null);
    Exchange {
        status: Some(answer.status),
        notifications: answer.messages,
        response,
    }
}

/// What a behaviour is shown on, opened afresh for each.
pub trait Open: Sized {
    /// Opens one; `binary` serves the harbour on stdio.
    fn open(wire: Wire, binary: &str) -> impl Future<Output = Self>;
}

impl Open for Connection {
    async fn open(wire: Wire, binary: &str) -> Self {
        wire.open(binary).await
    }
}

/// Makes each behaviour a test on each transport: `memory::NAME`, `stdio::NAME`, `http::NAME`.
/// It is given a [`Connection`], or whatever it says it wants to have [opened](Open).
#[macro_export]
macro_rules! behaviours {
    ($($(#[$doc:meta])* async fn $name:ident($connection:ident) $body:block)*) => {
        $crate::behaviours! {
            $($(#[$doc])* async fn $name(mut $connection: $crate::wire::Connection) $body)*
        }
    };
    ($($(#[$doc:meta])* async fn $name:ident($opened:ident: $open:ty) $body:block)*) => {
        $crate::behaviours! {
            @each $($(#[$doc])* async fn $name([$opened] $opened: $open) $body)*
        }
    };
    ($($(#[$doc:meta])* async fn $name:ident(mut $opened:ident: $open:ty) $body:block)*) => {
        $crate::behaviours! {
            @each $($(#[$doc])* async fn $name([mut $opened] $opened: $open) $body)*
        }
    };
    (@each $(
        $(#[$doc:meta])*
        async fn $name:ident([$($pattern:tt)*] $opened:ident: $open:ty) $body:block
    )*) => {
        mod behaviour {
            use super::*;
            $($(#[$doc])*
            pub(super) async fn $name($($pattern)*: $open) $body)*
        }
        $crate::behaviours!(@wire memory Memory: $($name: $open;)*);
        $crate::behaviours!(@wire stdio Stdio: $($name: $open;)*);
        $crate::behaviours!(@wire http Http: $($name: $open;)*);
    };
    (@wire $module:ident $wire:ident: $($name:ident: $open:ty;)*) => {
        mod $module {
            #[allow(unused_imports, reason = "what is opened may be named in full")]
            use super::*;
            $(#[tokio::test]
            async fn $name() {
                let binary = env!("CARGO_BIN_EXE_antiphon-tests-stdio");
                let wire = $crate::wire::Wire::$wire;
                let opened = <$open as $crate::wire::Open>::open(wire, binary).await;
                behaviour::$name(opened).await;
            })*
        }
    };
}
