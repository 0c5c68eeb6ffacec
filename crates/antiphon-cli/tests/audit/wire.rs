//! Plain requests, written by hand, so that what is sent is what a test says.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    time::Duration,
};

use serde_json::{Value, json};

/// Longest wait for an answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// Who sends, and where to.
#[derive(Clone, Copy)]
pub(crate) struct Sender<'a> {
    pub(crate) url: &'a str,
    pub(crate) token: Option<&'a str>,
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) session: Option<String>,
    pub(crate) body: Value,
}

impl Reply {
    /// The state, if it asks.
    pub(crate) fn state(&self) -> Option<&str> {
        let result = &self.body["result"];
        match result["resultType"] == "input_required" {
            true => result["requestState"].as_str(),
            false => None,
        }
    }

    /// The text of what was done.
    pub(crate) fn done(&self) -> Option<&str> {
        let result = &self.body["result"];
        let (tool, prompt) = (&result["content"][0], &result["messages"][0]["content"]);
        let texts = [tool, prompt, &result["contents"][0]].map(|part| part["text"].as_str());
        texts.into_iter().flatten().next()
    }
}

/// What is there of an answer so far.
pub(crate) struct Incoming {
    pub(crate) status: u16,
    session: Option<String>,
    lines: BufReader<TcpStream>,
}

impl Sender<'_> {
    /// A request of 2026-07-28. The body is a template: `META` is the metadata of a client that
    /// can be asked anything.
    pub(crate) fn modern(self, method: &str, name: &str, params: &str) -> Reply {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": { "elicitation": { "form": {}, "url": {} } },
        });
        let params = params.replace("META", &meta.to_string());
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
        let headers = [
            ("MCP-Protocol-Version", "2026-07-28"),
            ("Mcp-Method", method),
            ("Mcp-Name", name),
        ];
        self.post(&headers, &body).whole()
    }

    /// A message of a session of 2025-11-25.
    pub(crate) fn older(self, session: Option<&str>, body: &Value) -> Incoming {
        let version = ("MCP-Protocol-Version", "2025-11-25");
        let body = body.to_string();
        match session {
            Some(session) => self.post(&[version, ("Mcp-Session-Id", session)], &body),
            None => self.post(&[version], &body),
        }
    }

    pub(crate) fn post(self, headers: &[(&str, &str)], body: &str) -> Incoming {
        let address = self.url.trim_start_matches("http://");
        let (address, path) = address.split_once('/').expect("a path");
        let mut stream = TcpStream::connect(address).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a clock");
        let length = body.len();
        let mut text = format!(
            "POST /{path} HTTP/1.1\r\nHost: {address}\r\nContent-Length: {length}\r\n\
             Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
             Connection: close\r\n"
        );
        for (name, value) in headers {
            text += &format!("{name}: {value}\r\n");
        }
        if let Some(token) = self.token {
            text += &format!("Authorization: Bearer {token}\r\n");
        }
        stream.write_all(text.as_bytes()).expect("it reads");
        stream.write_all(b"\r\n").expect("it reads");
        stream.write_all(body.as_bytes()).expect("it reads");
        Incoming::read(stream)
    }
}

impl Incoming {
    fn read(stream: TcpStream) -> Self {
        let mut lines = BufReader::new(stream);
        let mut line = String::new();
        lines.read_line(&mut line).expect("a status");
        let status = line
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok());
        let mut session = None;
        loop {
            line.clear();
            lines.read_line(&mut line).expect("a header");
            match line.trim_end().split_once(": ") {
                Some(("mcp-session-id", id)) => session = Some(id.to_owned()),
                Some(_) => {}
                None => break,
            }
        }
        Self {
            status: status.expect("a status"),
            session,
            lines,
        }
    }

    /// The next message on a stream of events.
    pub(crate) fn event(&mut self) -> Value {
        let mut line = String::new();
        while !line.starts_with("data: ") {
            line.clear();
            let read = self.lines.read_line(&mut line).expect("an event");
            assert_ne!(read, 0, "the stream has ended");
        }
        serde_json::from_str(&line["data: ".len()..]).expect("a message")
    }

    /// All of an answer that is no stream; null if there is no message in it.
    pub(crate) fn whole(mut self) -> Reply {
        let mut body = String::new();
        self.lines.read_to_string(&mut body).expect("a body");
        Reply {
            status: self.status,
            session: self.session,
            body: serde_json::from_str(&body).unwrap_or_default(),
        }
    }
}
