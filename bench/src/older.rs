//! A `confirm` of revision 2025-11-25: one call in a session, which asks on its own event stream.

use std::io::{self, Write};

use memchr::memmem;
use serde::Deserialize;
use serde_json::Value;

use crate::{
    http::Connection,
    load::Repeated,
    request::{FIRST_SERIAL, Kind, LANE_SERIALS, Request, next, serial, wrong},
    server::Listening,
};

const INITIALIZE: &str = concat!(
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","#,
    r#""capabilities":{"elicitation":{"form":{}}},"#,
    r#""clientInfo":{"name":"antiphon-bench","version":"0.1.0"}}}"#,
);
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// Opens a session over this connection; the id by which the server knows it.
pub(crate) async fn open_session(connection: &mut Connection, port: u16) -> io::Result<String> {
    let mut bytes = Vec::new();
    post(&mut bytes, &head(port, None), INITIALIZE.as_bytes());
    connection.send(&bytes).await?;
    let answer = connection.receive().await?;
    if memmem::find(answer, br#""2025-11-25""#).is_none() {
        return Err(wrong("another revision", answer));
    }
    let id = connection.session();
    let id = id.ok_or_else(|| io::Error::other("a session without an id"))?;
    let id = id.to_owned();
    post(&mut bytes, &head(port, Some(&id)), INITIALIZED.as_bytes());
    connection.send(&bytes).await?;
    connection.receive_as(202).await?;
    Ok(id)
}

/// One session, the call that it repeats, and the connections for both ways.
pub(crate) struct Visit {
    /// Here the call is made and answered, and the server asks.
    calls: Connection,
    /// Here the user's answer is sent, while the call is not over.
    answers: Connection,
    call: Request,
    /// The head of whatever is posted in the session, up to the length of the body.
    head: String,
    bytes: Vec<u8>,
    serial: u32,
}

impl Visit {
    /// Opens a session on a connection to this port.
    pub(crate) async fn open(mut calls: Connection, port: u16, serial: u32) -> io::Result<Self> {
        let id = open_session(&mut calls, port).await?;
        let head = head(port, Some(&id));
        Ok(Self {
            calls,
            answers: Connection::open(port).await?,
            call: Request::in_session(&head),
            head,
            bytes: Vec::new(),
            serial,
        })
    }

    /// Ends the session, if the server lets clients do that.
    pub(crate) async fn end(mut self) -> io::Result<()> {
        let head = self.head.replacen("POST", "DELETE", 1);
        post(&mut self.bytes, &head, b"");
        self.calls.send(&self.bytes).await?;
        self.calls.receive_any().await
    }
}

impl Repeated for Visit {
    async fn exchange(&mut self) -> io::Result<()> {
        self.serial = next(self.serial);
        self.calls.send(self.call.stamp(self.serial)).await?;
        let asked = self.calls.receive_until(question).await?;
        if asked.serial != Some(self.serial) {
            return Err(io::Error::other("not the question of this call"));
        }
        let answer = format!(
            r#"{{"jsonrpc":"2.0","id":{},"result":{{"action":"accept","content":{{"ok":true}}}}}}"#,
            asked.id
        );
        post(&mut self.bytes, &self.head, answer.as_bytes());
        self.answers.send(&self.bytes).await?;
        self.answers.receive_as(202).await?;
        let answer = self.calls.rest().await?;
        match serial(Kind::Confirmed, answer) == Some(self.serial) {
            true => Ok(()),
            false => Err(wrong("not the answer to the call", answer)),
        }
    }
}

/// Sessions with a server, each on connections of its own, in each of which one call was answered.
pub(crate) async fn open(server: &Listening, count: u32) -> io::Result<Vec<Visit>> {
    let mut visits = Vec::new();
    for number in 0..count {
        let connection = Connection::open(server.port).await?;
        let serial = FIRST_SERIAL + number * LANE_SERIALS;
        let mut visit = Visit::open(connection, server.port, serial).await?;
        visit.exchange().await?;
        visits.push(visit);
    }
    Ok(visits)
}

/// What a server asks.
#[derive(Debug, PartialEq)]
struct Question {
    id: Value,
    serial: Option<u32>,
}

/// The elicitation among the events that are whole.
fn question(stream: &[u8]) -> Option<Question> {
    #[derive(Deserialize)]
    struct Event {
        id: Value,
    }
    for line in stream.split_inclusive(|&byte| byte == b'\n') {
        let data = line
            .strip_prefix(b"data:")
            .and_then(|data| data.strip_suffix(b"\n"));
        let Some(data) = data else { continue };
        if memmem::find(data, br#""elicitation/create""#).is_none() {
            continue;
        }
        let event: Event = serde_json::from_slice(data).ok()?;
        return Some(Question {
            id: event.id,
            serial: serial(Kind::Confirm, data),
        });
    }
    None
}

/// The head of a POST up to the length of its body; nothing names the revision before there is a
/// session.
fn head(port: u16, session: Option<&str>) -> String {
    let session = session.map_or_else(String::new, |id| {
        format!("MCP-Protocol-Version: 2025-11-25\r\nMcp-Session-Id: {id}\r\n")
    });
    format!(
        "POST /mcp HTTP/1.1\r\n\
         Host: 127.0.0.1:{port}\r\n\
         Content-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\n\
         {session}Content-Length: "
    )
}

/// Puts a whole request together.
fn post(bytes: &mut Vec<u8>, head: &str, body: &[u8]) {
    bytes.clear();
    write!(bytes, "{head}{}\r\n\r\n", body.len()).expect("memory can be written to");
    bytes.extend_from_slice(body);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_in_a_session_names_it_and_its_serial() {
        let mut call = Request::in_session(&head(1, Some("abc")));
        let text = String::from_utf8(call.stamp(12_345_678).to_vec()).expect("text");
        let (head, body) = text.split_once("\r\n\r\n").expect("a head");
        assert!(head.contains("\r\nMcp-Session-Id: abc\r\n"), "{head}");
        assert!(head.ends_with(&format!("Content-Length: {}", body.len())));
        let body: Value = serde_json::from_str(body).expect("JSON");
        assert_eq!(body["id"], 12_345_678);
        let params = serde_json::json!({
            "name": "confirm", "arguments": {"action": "deploy 12345678"},
        });
        assert_eq!(body["params"], params);
    }

    #[test]
    fn a_question_is_seen_once_its_event_is_whole() {
        let stream = "id: 1-0\nretry: 1000\ndata: \n\nid: 1-1\ndata: {\"jsonrpc\":\"2.0\",\
            \"id\":\"q7\",\"method\":\"elicitation/create\",\"params\":{\"message\":\
            \"Run deploy 12345678?\"}}\r\n\r\n";
        let data = stream.find("\r\n").expect("an end") + 2;
        for length in 0..data {
            assert_eq!(question(&stream.as_bytes()[..length]), None, "{length}");
        }
        let asked = Question {
            id: "q7".into(),
            serial: Some(12_345_678),
        };
        assert_eq!(question(stream.as_bytes()), Some(asked));
        let other = stream.replace("elicitation/create", "roots/list");
        assert_eq!(question(other.as_bytes()), None);
    }
}
