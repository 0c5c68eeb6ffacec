//! [`Pipe`]: a server on pipes, shared by several clients.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    process::{ChildStdin, ChildStdout},
    sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
};

use crate::message::{Done, Failure};

/// The two ends of the pipes.
pub(crate) struct Pipe {
    input: tokio::sync::Mutex<ChildStdin>,
    heard: Arc<Mutex<Heard>>,
}

/// What the server said.
#[derive(Default)]
struct Heard {
    /// Whoever waits for what concerns a request.
    waiting: HashMap<u64, UnboundedSender<Value>>,
    /// How many lines it could not read.
    unread: usize,
    /// The first that should not have been said.
    stray: Option<String>,
}

impl Pipe {
    pub(crate) fn new(input: ChildStdin, output: ChildStdout) -> Self {
        let heard = Arc::<Mutex<Heard>>::default();
        let hearing = heard.clone();
        tokio::spawn(async move {
            let mut lines = BufReader::new(output).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                lock(&hearing).hear(&line);
            }
            // Nobody is answered any more.
            lock(&hearing).waiting.clear();
        });
        Self {
            input: input.into(),
            heard,
        }
    }

    /// Sends a request; what is heard of it.
    pub(crate) async fn ask(&self, request: &Value) -> Result<Talk, Failure> {
        let id = request["id"].as_u64().ok_or("a request without an id")?;
        let (sender, receiver) = unbounded_channel();
        lock(&self.heard).waiting.insert(id, sender);
        let talk = Talk {
            heard: self.heard.clone(),
            id,
            receiver,
        };
        self.say(&request.to_string()).await?;
        Ok(talk)
    }

    pub(crate) async fn say(&self, line: &str) -> Done {
        let line = format!("{line}\n");
        let mut input = self.input.lock().await;
        Ok(input.write_all(line.as_bytes()).await?)
    }

    /// How many lines the server could not read.
    pub(crate) fn unread(&self) -> usize {
        lock(&self.heard).unread
    }

    /// Fails if something was said that nobody waited for.
    pub(crate) fn check(&self) -> Done {
        match lock(&self.heard).stray.take() {
            None => Ok(()),
            Some(line) => Err(format!("nobody waited for {line}").into()),
        }
    }
}

/// What is heard of one request. Nobody waits for more of it once this is dropped.
pub(crate) struct Talk {
    heard: Arc<Mutex<Heard>>,
    id: u64,
    receiver: UnboundedReceiver<Value>,
}

impl Talk {
    pub(crate) async fn next(&mut self) -> Result<Value, Failure> {
        let next = self.receiver.recv().await;
        next.ok_or_else(|| "the server ended".into())
    }
}

impl Drop for Talk {
    fn drop(&mut self) {
        lock(&self.heard).waiting.remove(&self.id);
    }
}

impl Heard {
    fn hear(&mut self, line: &str) {
        let Ok(message) = serde_json::from_str::<Value>(line) else {
            self.stray.get_or_insert_with(|| line.to_owned());
            return;
        };
        let told = message["method"].is_string();
        if !told && message["error"]["code"] == -32700 {
            self.unread += 1;
            return;
        }
        let waits = concerns(&message).and_then(|id| self.waiting.get(&id));
        match waits {
            Some(waits) => _ = waits.send(message),
            // What was on its way when its request was cancelled.
            None if told => {}
            None => _ = self.stray.get_or_insert_with(|| line.to_owned()),
        }
    }
}

/// The request that a message is about.
fn concerns(message: &Value) -> Option<u64> {
    let params = &message["params"];
    let id = match message["method"].as_str() {
        None => &message["id"],
        Some("notifications/progress") => &params["progressToken"],
        // The action is named after the request.
        Some("elicitation/create") => {
            let action = params["message"].as_str()?.strip_prefix("Run deploy ")?;
            return action.strip_suffix('?')?.parse().ok();
        }
        Some(_) => &params["_meta"]["io.modelcontextprotocol/subscriptionId"],
    };
    id.as_u64()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
