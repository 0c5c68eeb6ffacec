//! Directories to serve, and the server as a child process.

use std::{
    fs,
    net::SocketAddr,
    path::{Path, PathBuf},
    process::Stdio,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
};

use antiphon_tests::{
    asking::{retry, state_of},
    call,
    http::{Answer, post, send},
    older::Older,
    request,
    wire::{Connection, Exchange, Process},
};
use serde_json::{Value, json};
use tokio::io::AsyncBufReadExt;

/// A directory of one test: `served` in it is served, `secret.txt` beside it is not.
pub(crate) struct Ground {
    base: PathBuf,
}

impl Ground {
    /// A fresh one. The name is the test's.
    pub(crate) fn new(name: &str) -> Self {
        let base = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        _ = fs::remove_dir_all(&base);
        fs::create_dir_all(base.join("served")).expect("made");
        fs::write(base.join("secret.txt"), "The secret.\n").expect("written");
        let base = base.canonicalize().expect("there");
        Self { base }
    }

    /// Something beside what is served.
    pub(crate) fn outside(&self, name: &str) -> PathBuf {
        self.base.join(name)
    }

    /// Something that is served.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.base.join("served").join(name)
    }

    /// A file that is served.
    pub(crate) fn file(&self, name: &str, contents: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("below the root")).expect("made");
        fs::write(&path, contents).expect("written");
        path
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect("a text")
    }

    /// Nothing was written or removed beside what is served.
    pub(crate) fn assert_untouched(&self) {
        let secret = fs::read_to_string(self.outside("secret.txt"));
        assert_eq!(secret.expect("still there"), "The secret.\n");
        let names = fs::read_dir(&self.base).expect("readable");
        assert_eq!(names.count(), 2, "only `served` and `secret.txt`");
    }

    /// The server.
    pub(crate) fn process(&self) -> Process {
        let binary = env!("CARGO_BIN_EXE_antiphon-files");
        Process::run(tokio::process::Command::new(binary).arg(self.path("")))
    }

    /// A client of the server, with these options.
    pub(crate) fn serve(&self, options: &[&str]) -> Client {
        let root = self.path("");
        let mut arguments = options.to_vec();
        arguments.push(root.to_str().expect("UTF-8"));
        Client::start(&arguments)
    }
}

/// Something that is done over and over while a test runs, also by a test that fails.
pub(crate) struct Meanwhile {
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Meanwhile {
    pub(crate) fn start(mut work: impl FnMut() + Send + 'static) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let is_over = over.clone();
        let thread = thread::spawn(move || {
            while !is_over.load(Ordering::Relaxed) {
                work();
            }
        });
        Self {
            over,
            thread: Some(thread),
        }
    }

    /// Ends it; fails the test if it failed.
    pub(crate) fn end(mut self) {
        self.over.store(true, Ordering::Relaxed);
        let thread = self.thread.take().expect("ended once");
        thread.join().expect("no panic");
    }
}

impl Drop for Meanwhile {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
    }
}

/// A client of the server.
pub(crate) struct Client(Connection);

impl Client {
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let binary = env!("CARGO_BIN_EXE_antiphon-files");
        Self(Connection::stdio(binary, arguments))
    }

    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> Exchange {
        self.0.ask(&request(1, method, params)).await
    }

    /// The response to a message as it is.
    pub(crate) async fn send(&mut self, message: &Value) -> Value {
        self.0.ask(message).await.response
    }

    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let exchange = self.0.ask(&call(1, tool, arguments)).await;
        exchange.result().clone()
    }

    /// Calls a tool with each of these at once; the results come in any order.
    pub(crate) async fn call_all(&mut self, tool: &str, all: &[Value]) -> Vec<Value> {
        for (id, arguments) in all.iter().enumerate() {
            self.0.send(&call(id, tool, arguments.clone())).await;
        }
        let mut results = Vec::new();
        for _ in all {
            let answer = self.0.receive().await.expect("an answer");
            results.push(answer["result"].clone());
        }
        results
    }

    /// What a tool that succeeds says first.
    pub(crate) async fn text(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments).await;
        assert_ne!(result["isError"], true, "{result}");
        text(&result)
    }

    /// What a tool that asks first says once the user has agreed.
    pub(crate) async fn agreed(&mut self, tool: &str, arguments: Value) -> String {
        let first = call(1, tool, arguments);
        let asked = self.0.ask(&first).await;
        let (state, key) = (state_of(asked.result()), key_of(asked.result()));
        let agreed = retry(&first, &state, json!({ key: yes() }));
        let done = self.0.ask(&agreed).await;
        assert_ne!(done.result()["isError"], true, "{}", done.response);
        done.text().to_owned()
    }

    /// What a tool that fails says.
    pub(crate) async fn failure(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments).await;
        assert_eq!(result["isError"], true, "{result}");
        text(&result)
    }

    /// The structured result of a tool.
    pub(crate) async fn structured(&mut self, tool: &str, arguments: Value) -> Value {
        self.call(tool, arguments).await["structuredContent"].clone()
    }

    /// Reads a resource.
    pub(crate) async fn resource(&mut self, uri: &str) -> Exchange {
        self.ask("resources/read", json!({ "uri": uri })).await
    }
}

/// The server on HTTP, as a child process.
pub(crate) struct Web {
    _child: tokio::process::Child,
    address: SocketAddr,
}

impl Web {
    /// The only token it knows.
    const TOKEN: &str = "t0ken";

    pub(crate) async fn start(ground: &Ground) -> Self {
        let mut child = tokio::process::Command::new(env!("CARGO_BIN_EXE_antiphon-files"))
            .args(["--http", "0"])
            .arg(ground.path(""))
            .env("ANTIPHON_FILES_TOKEN", Self::TOKEN)
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("it starts");
        let mut lines = tokio::io::BufReader::new(child.stderr.take().expect("piped")).lines();
        let line = lines.next_line().await.expect("readable").expect("a line");
        let address = line
            .strip_prefix("http://")
            .and_then(|line| line.strip_suffix("/mcp"));
        Self {
            address: address.expect("a URL").parse().expect("an address"),
            _child: child,
        }
    }

    /// A client of an older revision, which has the token.
    pub(crate) fn older(&self) -> Older {
        Older::at(self.address).bearer(Self::TOKEN)
    }

    /// Posts a message, with the token or without.
    pub(crate) async fn post(&self, message: &Value, token: bool) -> Answer {
        let mut request = post(message);
        let headers = request.headers_mut();
        if token {
            let bearer = format!("Bearer {}", Self::TOKEN);
            headers.insert("authorization", bearer.parse().expect("a header"));
        }
        send(self.address, request).await
    }
}

/// The key of the one question that is asked.
pub(crate) fn key_of(result: &Value) -> String {
    let questions = result["inputRequests"].as_object().expect("questions");
    assert_eq!(questions.len(), 1, "{result}");
    questions.keys().next().expect("one").clone()
}

/// A user who agrees.
pub(crate) fn yes() -> Value {
    json!({ "action": "accept", "content": { "confirm": true } })
}

fn text(result: &Value) -> String {
    let text = result["content"][0]["text"].as_str();
    text.expect("a text").to_owned()
}
