//! Sessions of 2025-11-25, in which the server asks in a request of its own.

use std::{
    collections::HashMap,
    convert::Infallible,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard},
    task::{Context, Poll},
};

use axum::{
    body::Body,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use futures_core::Stream;
use serde_json::{Value, json, value::RawValue};
use tokio::sync::{mpsc, oneshot};

use super::{
    Flaw,
    http::{Message, OLDER, Replica, answered, failed, text_of},
    listing::{capabilities, listed, result},
    questions::{Question, is_too_much},
    shop::Shop,
    state::random,
};

/// Why a call ends that ends its server.
const CRASHED: &str = "The server does not know how to go on.";

/// The sessions of one replica.
#[derive(Clone, Default)]
pub(crate) struct Sessions(Arc<Mutex<HashMap<String, Session>>>);

struct Session {
    principal: Option<String>,
    capabilities: Value,
    /// The questions that wait for their answer, by id.
    waiting: HashMap<String, oneshot::Sender<Value>>,
}

impl Sessions {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Session>> {
        self.0.lock().expect("nobody panics")
    }

    /// Ends the session that a request names.
    pub(crate) fn end(&self, headers: &HeaderMap, principal: Option<&str>) -> Response {
        match self.find(headers, principal) {
            Ok(id) => {
                self.lock().remove(&id);
                StatusCode::NO_CONTENT.into_response()
            }
            Err(status) => status.into_response(),
        }
    }

    /// The session that a request names, if it is this principal's.
    fn find(&self, headers: &HeaderMap, principal: Option<&str>) -> Result<String, StatusCode> {
        let id = text_of(headers, "mcp-session-id").ok_or(StatusCode::BAD_REQUEST)?;
        match self.lock().get(id) {
            Some(session) if session.principal.as_deref() == principal => Ok(id.to_owned()),
            _ => Err(StatusCode::NOT_FOUND),
        }
    }

    fn open(&self, principal: Option<&str>, capabilities: &Value) -> String {
        let id = URL_SAFE_NO_PAD.encode(random::<16>());
        let session = Session {
            principal: principal.map(str::to_owned),
            capabilities: capabilities.clone(),
            waiting: HashMap::new(),
        };
        self.lock().insert(id.clone(), session);
        id
    }

    /// A question of this session begins to wait.
    fn wait(&self, session: &str, question: &str) -> Option<oneshot::Receiver<Value>> {
        let (sender, receiver) = oneshot::channel();
        let mut all = self.lock();
        let waiting = &mut all.get_mut(session)?.waiting;
        waiting.insert(question.to_owned(), sender);
        Some(receiver)
    }

    /// An answer in this session, which counts for its own questions only.
    fn deliver(&self, session: &str, message: &Message<'_>) {
        let Some(id) = message.id.as_ref().and_then(Value::as_str) else {
            return;
        };
        let mut all = self.lock();
        let waiting = all.get_mut(session).map(|session| &mut session.waiting);
        if let Some(asked) = waiting.and_then(|waiting| waiting.remove(id)) {
            // An error is no answer. Whoever asked may be gone.
            _ = asked.send(message.result.clone().unwrap_or_default());
        }
    }
}

/// Answers a message.
pub(crate) fn answer(
    replica: &Replica,
    headers: &HeaderMap,
    principal: Option<&str>,
    message: Message<'_>,
) -> Response {
    let sessions = &replica.sessions;
    let id = message.id.as_ref();
    if message.method.as_deref() == Some("initialize") {
        let asked = message.params.unwrap_or_default().capabilities;
        let session = sessions.open(principal, &asked);
        let result = json!({
            "protocolVersion": OLDER, "capabilities": capabilities(),
            "serverInfo": { "name": "planted", "version": "1" },
        });
        let response = answered(200, id, "result", &result);
        return ([("mcp-session-id", session)], response).into_response();
    }
    let session = match sessions.find(headers, principal) {
        Ok(session) => session,
        Err(status) => return failed(status.as_u16(), id, -32600, "There is no such session."),
    };
    let (Some(method), true) = (message.method.as_deref(), id.is_some()) else {
        if message.result.is_some() || message.error.is_some() {
            sessions.deliver(&session, &message);
        }
        return StatusCode::ACCEPTED.into_response();
    };
    match method {
        "ping" => return answered(200, id, "result", &json!({})),
        "completion/complete" => {
            let result = json!({ "completion": { "values": [], "hasMore": false } });
            return answered(200, id, "result", &result);
        }
        "server/discover" => return failed(200, id, -32601, "There is no such method."),
        _ => {}
    }
    if let Some(listed) = listed(method) {
        return answered(200, id, "result", &listed);
    }
    let name = message.name().unwrap_or_default();
    let Some(question) = Shop::question(method, name) else {
        return failed(200, id, -32601, "There is no such thing.");
    };
    // What is of the other era means nothing here, but to a flawed server.
    let answers = match replica.shop.flaw {
        Some(Flaw::EraConfusion) => message.params.as_ref().and_then(|it| it.input_responses),
        _ => None,
    };
    let answers: Value = serde_json::from_str(answers.map_or("null", RawValue::get))
        .expect("it was parsed as a part of the message");
    let call = Call {
        shop: replica.shop.clone(),
        sessions: sessions.clone(),
        session,
        method: method.to_owned(),
        name: name.to_owned(),
        question,
        id: id.cloned(),
    };
    let (sender, events) = mpsc::unbounded_channel();
    tokio::spawn(call.run(answers, sender));
    let kind = [(header::CONTENT_TYPE, "text/event-stream")];
    (kind, Body::from_stream(Events(events))).into_response()
}

/// A call, which asks on the stream that it is answered on.
struct Call {
    shop: Arc<Shop>,
    sessions: Sessions,
    session: String,
    method: String,
    name: String,
    question: Question,
    id: Option<Value>,
}

impl Call {
    async fn run(self, answers: Value, events: mpsc::UnboundedSender<Value>) {
        let said = match self.question.answered(Some(&answers), self.shop.flaw) {
            Some(said) if answers.is_object() => Ok(said),
            _ => self.ask(&events).await,
        };
        let result = match said {
            // Nobody is told anything any more.
            Err(CRASHED) => return,
            Ok(said) => result(
                &self.method,
                &self.name,
                &self.shop.finish(&self.name, &said),
            ),
            Err(why) => {
                let mut failed = result(&self.method, &self.name, why);
                failed["isError"] = json!(true);
                failed
            }
        };
        // The client may be gone.
        _ = events.send(json!({ "jsonrpc": "2.0", "id": self.id, "result": result }));
    }

    /// Asks until the answer can be used.
    async fn ask(&self, events: &mpsc::UnboundedSender<Value>) -> Result<String, &'static str> {
        let can = |session: &Session| self.question.can_be_asked(&session.capabilities);
        let can_be_asked = self.sessions.lock().get(&self.session).is_some_and(can);
        if !can_be_asked && self.shop.flaw != Some(Flaw::UndeclaredCapabilities) {
            return Err("The client cannot be asked.");
        }
        for _ in 0..3 {
            let id = URL_SAFE_NO_PAD.encode(random::<9>());
            let waits = self.sessions.wait(&self.session, &id);
            let waits = waits.ok_or("The session has ended.")?;
            let mut asked = self.shop.question_of(self.question, &self.name)["confirm"].take();
            if self.question == Question::Link {
                asked["params"]["elicitationId"] = json!(id);
            }
            let mut request = json!({ "jsonrpc": "2.0", "id": id });
            request["method"] = asked["method"].take();
            request["params"] = asked["params"].take();
            _ = events.send(request);
            let answer = tokio::select! {
                answer = waits => answer.map_err(|_| "The session has ended.")?,
                () = events.closed() => return Err("The client is gone."),
            };
            if is_too_much(&answer, &answer.to_string()) {
                match self.shop.flaw {
                    Some(Flaw::OversizedAnswers) => return Err(CRASHED),
                    _ => continue,
                }
            }
            if let Some(said) = self.question.judge(answer, self.shop.flaw) {
                return Ok(said);
            }
        }
        Err("The answer is not what was asked for.")
    }
}

/// Messages as events.
struct Events(mpsc::UnboundedReceiver<Value>);

impl Stream for Events {
    type Item = Result<String, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let event = |message: Value| Ok(format!("event: message\ndata: {message}\n\n"));
        self.0.poll_recv(context).map(|message| message.map(event))
    }
}
