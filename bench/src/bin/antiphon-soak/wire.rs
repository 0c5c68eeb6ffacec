//! [`Wire`]: one HTTP connection, which ends the moment it is dropped.

use std::{net::Ipv4Addr, time::Duration};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{
    Request, Response,
    body::Incoming,
    client::conn::http1::{self, SendRequest},
};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::{io::AsyncWriteExt, net::TcpStream, task::JoinHandle, time::sleep};

use crate::message::{Done, Failure, expect};

/// A connection to the server.
pub(crate) struct Wire {
    sender: SendRequest<Full<Bytes>>,
    connection: JoinHandle<()>,
}

impl Wire {
    pub(crate) async fn open(port: u16) -> Result<Self, Failure> {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await?;
        stream.set_nodelay(true)?;
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        let connection = tokio::spawn(async move { _ = connection.await });
        Ok(Self { sender, connection })
    }

    /// Waits for a server that has not begun to listen.
    pub(crate) async fn open_soon(port: u16) -> Result<Self, Failure> {
        for _ in 0..500 {
            if let Ok(wire) = Self::open(port).await {
                return Ok(wire);
            }
            sleep(Duration::from_millis(20)).await;
        }
        Self::open(port).await
    }

    /// Sends a request; the head of its answer.
    pub(crate) async fn send(&mut self, request: Request<Full<Bytes>>) -> Result<Reply, Failure> {
        self.sender.ready().await?;
        Ok(Reply(self.sender.send_request(request).await?))
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.connection.abort();
    }
}

/// An answer, of which only the head is known to be there.
pub(crate) struct Reply(Response<Incoming>);

impl Reply {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.0.headers().get(name)?.to_str().ok()
    }

    /// Its body as JSON, after its status was found right; null if there is none.
    pub(crate) async fn json(self, status: u16) -> Result<Value, Failure> {
        let got = self.0.status().as_u16();
        let body = self.0.into_body().collect().await?.to_bytes();
        let text = String::from_utf8_lossy(&body);
        let answer = format!("{got} {text}");
        expect(got == status, format_args!("status {status}"), &answer)?;
        match text.is_empty() {
            true => Ok(Value::Null),
            false => Ok(serde_json::from_str(&text)?),
        }
    }

    /// Its events, after its type was found right.
    pub(crate) async fn events(self) -> Result<Events, Failure> {
        if self.header("content-type") == Some("text/event-stream") {
            return Ok(Events {
                body: self.0.into_body(),
                unread: Vec::new(),
            });
        }
        let status = self.0.status().as_u16();
        let answer = self.json(status).await?;
        Err(format!("expected events, got {status} {answer}").into())
    }
}

/// An event stream.
pub(crate) struct Events {
    body: Incoming,
    unread: Vec<u8>,
}

/// One event: its id, if it has one, and its data.
pub(crate) struct Event {
    pub(crate) id: Option<String>,
    pub(crate) data: Value,
}

impl Events {
    /// The next event that has data.
    pub(crate) async fn next(&mut self) -> Result<Option<Event>, Failure> {
        loop {
            if let Some(event) = self.take()? {
                if !event.data.is_null() {
                    return Ok(Some(event));
                }
                continue;
            }
            match self.body.frame().await {
                None => return Ok(None),
                Some(frame) => {
                    let data = frame?.into_data().unwrap_or_default();
                    self.unread.extend_from_slice(&data);
                }
            }
        }
    }

    /// The next message, which must be there.
    pub(crate) async fn message(&mut self) -> Result<Event, Failure> {
        let event = self.next().await?;
        event.ok_or_else(|| "the stream ended early".into())
    }

    /// The last message, of which the stream is the answer.
    pub(crate) async fn last(mut self) -> Result<Value, Failure> {
        let mut last = Value::Null;
        while let Some(event) = self.next().await? {
            last = event.data;
        }
        Ok(last)
    }

    /// An event that is whole.
    fn take(&mut self) -> Result<Option<Event>, Failure> {
        let Some(length) = self.unread.windows(2).position(|end| end == b"\n\n") else {
            return Ok(None);
        };
        let event: Vec<u8> = self.unread.drain(..length + 2).collect();
        let event = String::from_utf8(event)?;
        let field = |name| event.lines().find_map(|line| line.strip_prefix(name));
        let data = field("data:").map(str::trim).unwrap_or_default();
        Ok(Some(Event {
            id: field("id:").map(|id| id.trim().to_owned()),
            data: match data {
                "" => Value::Null,
                data => serde_json::from_str(data)?,
            },
        }))
    }
}

/// Sends some bytes, and hangs up.
pub(crate) async fn stammer(port: u16, bytes: &[u8]) -> Done {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await?;
    stream.write_all(bytes).await?;
    sleep(Duration::from_millis(2)).await;
    Ok(())
}
