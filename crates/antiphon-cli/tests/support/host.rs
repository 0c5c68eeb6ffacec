//! [`Host`]: a server in this process that does what a call tells it, step by step. It asks in any
//! form that can be written down, also in those that no well-behaved server sends.

use std::{
    net::TcpListener,
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

use antiphon::{
    http,
    raw::{About, Answering, Call, CallTool, Endpoint, Error, Reply, Service},
    types::{
        CallToolResult, Implementation, InputRequest, InputRequired, LoggingLevel,
        ServerCapabilities,
    },
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// A server on a port of this machine, for as long as the tests run.
pub(crate) struct Host {
    url: String,
    notes: Notes,
}

/// What a step of a call does.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Step {
    /// Reports progress: how much of how much, and a message.
    Report(u64, u64, String),
    /// Logs this at this level.
    Log(LoggingLevel, Value),
    /// Works for so many milliseconds.
    Wait(u64),
    /// Asks these questions, by key, in one round.
    Ask(Map<String, Value>),
    /// Asks an older client, says this meanwhile, and takes the question back after so many
    /// milliseconds.
    Push(Value, String, u64),
    /// Ends with this text.
    Say(String),
}

/// The call that does these steps, as `--args` takes it.
pub(crate) fn steps(steps: &[Value]) -> String {
    json!({ "steps": steps }).to_string()
}

/// The step that asks one question.
pub(crate) fn ask(key: &str, question: Value) -> Value {
    let questions = Map::from_iter([(key.to_owned(), question)]);
    json!({ "ask": questions })
}

/// A form with these fields, all of which but those named `…?` are required.
pub(crate) fn form(message: &str, fields: &[(&str, Value)]) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for (name, field) in fields {
        if name.strip_suffix('?').is_none() {
            required.push(*name);
        }
        properties.insert(name.trim_end_matches('?').to_owned(), field.clone());
    }
    let schema = json!({ "type": "object", "properties": properties, "required": required });
    let params = json!({ "mode": "form", "message": message, "requestedSchema": schema });
    json!({ "method": "elicitation/create", "params": params })
}

/// A link to this address.
pub(crate) fn link(message: &str, url: &str) -> Value {
    let params = json!({ "mode": "url", "message": message, "url": url, "elicitationId": "e1" });
    json!({ "method": "elicitation/create", "params": params })
}

/// A model's answer to this text.
pub(crate) fn sample(text: &str) -> Value {
    let message = json!({ "role": "user", "content": { "type": "text", "text": text } });
    let params = json!({ "messages": [message], "maxTokens": 100 });
    json!({ "method": "sampling/createMessage", "params": params })
}

/// The directories of the client.
pub(crate) fn roots() -> Value {
    json!({ "method": "roots/list" })
}

/// Serves this on a port of this machine, for as long as the tests run; where it is found.
pub(crate) fn serve(server: impl Into<Endpoint>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    listener.set_nonblocking(true).expect("a socket");
    let service = http::service(server);
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener).expect("a socket");
            http::serve(listener, service).await
        })
    });
    format!("http://{address}/mcp")
}

impl Host {
    pub(crate) fn open() -> Self {
        let notes = Notes::default();
        let url = serve(Player(notes.clone()));
        Self { url, notes }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// What was answered in each round, by key.
    pub(crate) fn answers(&self) -> Vec<Value> {
        self.notes.lock(|notes| notes.answers.clone())
    }

    /// The answer to the only question there was.
    pub(crate) fn answer(&self) -> Value {
        match self.answers().as_slice() {
            [Value::Object(round)] if round.len() == 1 => {
                round.values().next().cloned().unwrap_or_default()
            }
            other => panic!("not one answer: {other:?}"),
        }
    }

    /// Waits until a call was left before its end: the client has cancelled it, or is gone.
    pub(crate) fn wait_until_left(&self) {
        let until = Instant::now() + Duration::from_secs(20);
        while self.notes.lock(|notes| notes.left == 0) {
            assert!(Instant::now() < until, "the server was not told");
            thread::sleep(Duration::from_millis(10));
        }
    }
}

/// What happened at the server.
#[derive(Clone, Default)]
struct Notes(Arc<Mutex<Noted>>);

#[derive(Default)]
struct Noted {
    answers: Vec<Value>,
    left: usize,
}

impl Notes {
    fn lock<T>(&self, look: impl FnOnce(&mut Noted) -> T) -> T {
        look(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

struct Player(Notes);

impl Service for Player {
    fn about(&self) -> About {
        let offers = ServerCapabilities::default().tools(false).logging();
        About::new(Implementation::new("player", "1.0")).capabilities(offers)
    }

    fn call_tool<'a>(
        &'a self,
        call: &'a Call<'a>,
        tool: CallTool<'a>,
    ) -> Answering<'a, Reply<CallToolResult>> {
        Box::pin(self.play(call, tool))
    }
}

impl Player {
    async fn play(
        &self,
        call: &Call<'_>,
        tool: CallTool<'_>,
    ) -> Result<Reply<CallToolResult>, Error> {
        #[derive(Deserialize)]
        struct Arguments {
            steps: Vec<Step>,
        }
        let Arguments { steps } = match tool.arguments() {
            Ok(arguments) => arguments,
            Err(bad) => return Ok(CallToolResult::from(bad).into()),
        };
        let unfinished = Left(&self.0);
        let answers = tool.round.answers()?;
        if !answers.is_empty() {
            let answer = |key: &str| {
                let text = answers.raw(key).map_or("null", |answer| answer.get());
                (
                    key.to_owned(),
                    serde_json::from_str(text).unwrap_or_default(),
                )
            };
            let round: Map<String, Value> = answers.keys().map(answer).collect();
            self.0.lock(|notes| notes.answers.push(round.into()));
        }
        // The state is how many steps are done; nothing here is worth a seal.
        let done = tool.round.state.and_then(|state| state.parse().ok());
        let mut reply: Reply<CallToolResult> = CallToolResult::text("Done.").into();
        for (at, step) in steps.into_iter().enumerate().skip(done.unwrap_or(0)) {
            match step {
                Step::Report(done, total, message) => {
                    call.progress().report_with(done, Some(total), message);
                }
                Step::Log(level, data) => call.logger().log(level, data),
                Step::Wait(millis) => tokio::time::sleep(Duration::from_millis(millis)).await,
                Step::Push(question, says, millis) => {
                    let asking = call.ask_client(question_of(question)?);
                    let meanwhile = async {
                        tokio::time::sleep(Duration::from_millis(300)).await;
                        call.logger().info(says);
                        tokio::time::sleep(Duration::from_millis(millis)).await;
                    };
                    let answer = tokio::select! {
                        answer = asking => Some(answer),
                        () = meanwhile => None,
                    };
                    if let Some(answer) = answer {
                        let answer = json!({ "pushed": answer? });
                        self.0.lock(|notes| notes.answers.push(answer));
                    }
                }
                Step::Ask(questions) => {
                    reply = asked(questions)?.with_state((at + 1).to_string()).into();
                    break;
                }
                Step::Say(text) => {
                    reply = CallToolResult::text(text).into();
                    break;
                }
            }
        }
        std::mem::forget(unfinished);
        Ok(reply)
    }
}

/// Notes a call that did not come to its end.
struct Left<'a>(&'a Notes);

impl Drop for Left<'_> {
    fn drop(&mut self) {
        self.0.lock(|notes| notes.left += 1);
    }
}

fn asked(questions: Map<String, Value>) -> Result<InputRequired, Error> {
    let mut asked: Option<InputRequired> = None;
    for (key, question) in questions {
        let question = question_of(question)?;
        asked = Some(match asked {
            None => InputRequired::ask(key, question),
            Some(asked) => asked.and(key, question),
        });
    }
    asked.ok_or_else(|| Error::invalid_params("no question"))
}

fn question_of(question: Value) -> Result<InputRequest, Error> {
    serde_json::from_value(question).map_err(|error| Error::invalid_params(error.to_string()))
}
