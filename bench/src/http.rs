//! One kept-alive HTTP/1.1 connection: the least that reads an answer correctly, because what the
//! load generator spends is taken from the machine that the server runs on.

use std::{
    io,
    net::Ipv4Addr,
    time::{Duration, Instant},
};

use memchr::memmem;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::sleep,
};

use crate::request::wrong;

/// A connection to the server on this machine.
pub(crate) struct Connection {
    stream: TcpStream,
    reader: Reader,
}

impl Connection {
    pub(crate) async fn open(port: u16) -> io::Result<Self> {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            reader: Reader::new(),
        })
    }

    /// Waits for a server that has not begun to listen.
    pub(crate) async fn open_soon(port: u16, patience: Duration) -> io::Result<Self> {
        let deadline = Instant::now() + patience;
        loop {
            match Self::open(port).await {
                Err(error) if error.kind() != io::ErrorKind::ConnectionRefused => {
                    return Err(error);
                }
                Err(error) if Instant::now() > deadline => return Err(error),
                Err(_) => sleep(Duration::from_millis(2)).await,
                Ok(connection) => return Ok(connection),
            }
        }
    }

    pub(crate) async fn send(&mut self, request: &[u8]) -> io::Result<()> {
        self.stream.write_all(request).await
    }

    /// The body of the next answer, which must be a success.
    pub(crate) async fn receive(&mut self) -> io::Result<&[u8]> {
        self.receive_as(200).await
    }

    /// The body of the next answer, which must have this status.
    pub(crate) async fn receive_as(&mut self, expected: u16) -> io::Result<&[u8]> {
        self.receive_any().await?;
        self.body_of(expected)
    }

    /// The next answer, whatever it is.
    pub(crate) async fn receive_any(&mut self) -> io::Result<()> {
        self.reader.begin();
        self.finish().await
    }

    /// What is found in the body of the next answer as soon as it is there; the rest of that answer
    /// comes with [`Self::rest`].
    pub(crate) async fn receive_until<T>(
        &mut self,
        find: impl Fn(&[u8]) -> Option<T>,
    ) -> io::Result<T> {
        self.reader.begin();
        loop {
            let whole = self.reader.advance()?;
            if let Some(found) = find(&self.reader.body) {
                return Ok(found);
            }
            if whole {
                let problem = format!("status {}, and not what was expected", self.reader.status);
                return Err(wrong(&problem, &self.reader.body));
            }
            self.read().await?;
        }
    }

    /// The body of an answer that was begun, which must be a success.
    pub(crate) async fn rest(&mut self) -> io::Result<&[u8]> {
        self.finish().await?;
        self.body_of(200)
    }

    /// The session that the last answer named.
    pub(crate) fn session(&self) -> Option<&str> {
        self.reader.session.as_deref()
    }

    async fn finish(&mut self) -> io::Result<()> {
        while !self.reader.advance()? {
            self.read().await?;
        }
        Ok(())
    }

    async fn read(&mut self) -> io::Result<()> {
        match self.stream.read_buf(&mut self.reader.input).await? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }

    fn body_of(&self, expected: u16) -> io::Result<&[u8]> {
        match self.reader.status {
            status if status == expected => Ok(&self.reader.body),
            status => Err(wrong(&format!("status {status}"), &self.reader.body)),
        }
    }
}

/// What is read next.
#[derive(Clone, Copy)]
enum Stage {
    Head,
    /// So many bytes, then the end.
    Sized(usize),
    ChunkSize,
    /// So many bytes of a chunk, then a line break.
    Chunk(usize),
    Trailer,
    Done,
}

/// Takes an answer apart as its bytes arrive.
struct Reader {
    input: Vec<u8>,
    /// How much of the input has been taken.
    taken: usize,
    stage: Stage,
    status: u16,
    session: Option<String>,
    body: Vec<u8>,
}

impl Reader {
    fn new() -> Self {
        Self {
            // As much as is read at a time: a vector without room is offered very little.
            input: Vec::with_capacity(64 << 10),
            taken: 0,
            stage: Stage::Head,
            status: 0,
            session: None,
            body: Vec::new(),
        }
    }

    /// Makes ready for the next answer, of which the first bytes may be here already.
    fn begin(&mut self) {
        self.input.drain(..self.taken);
        self.taken = 0;
        self.body.clear();
        self.stage = Stage::Head;
    }

    /// Takes as much as there is; true once the answer is whole.
    fn advance(&mut self) -> io::Result<bool> {
        loop {
            match self.stage {
                Stage::Done => return Ok(true),
                Stage::Head => {
                    let unread = &self.input[self.taken..];
                    let Some(length) = memmem::find(unread, b"\r\n\r\n") else {
                        return Ok(false);
                    };
                    let head = head(&unread[..length])?;
                    self.taken += length + 4;
                    (self.status, self.stage, self.session) =
                        (head.status, head.framing, head.session);
                }
                Stage::Sized(0) => self.stage = Stage::Done,
                Stage::Sized(left) => match self.take(left) {
                    0 => return Ok(false),
                    taken => self.stage = Stage::Sized(left - taken),
                },
                Stage::ChunkSize => {
                    let Some(line) = self.line() else {
                        return Ok(false);
                    };
                    let digits = line.split(|&byte| byte == b';').next();
                    let size = digits
                        .and_then(|digits| std::str::from_utf8(digits).ok())
                        .and_then(|digits| usize::from_str_radix(digits.trim(), 16).ok())
                        .ok_or_else(|| wrong("not a chunk size", line))?;
                    self.stage = match size {
                        0 => Stage::Trailer,
                        size => Stage::Chunk(size),
                    };
                }
                Stage::Chunk(0) => {
                    if self.line().is_none() {
                        return Ok(false);
                    }
                    self.stage = Stage::ChunkSize;
                }
                Stage::Chunk(left) => match self.take(left) {
                    0 => return Ok(false),
                    taken => self.stage = Stage::Chunk(left - taken),
                },
                Stage::Trailer => match self.line() {
                    None => return Ok(false),
                    Some(b"") => self.stage = Stage::Done,
                    Some(_) => {}
                },
            }
        }
    }

    /// Moves up to so many bytes to the body; how many there were.
    fn take(&mut self, most: usize) -> usize {
        let unread = &self.input[self.taken..];
        let taken = unread.len().min(most);
        self.body.extend_from_slice(&unread[..taken]);
        self.taken += taken;
        if self.taken == self.input.len() {
            self.input.clear();
            self.taken = 0;
        }
        taken
    }

    /// The next line, if it is whole.
    fn line(&mut self) -> Option<&[u8]> {
        let start = self.taken;
        let length = memmem::find(&self.input[start..], b"\r\n")?;
        self.taken += length + 2;
        Some(&self.input[start..start + length])
    }
}

/// What is of use in the head of an answer.
struct Head {
    status: u16,
    framing: Stage,
    session: Option<String>,
}

fn head(bytes: &[u8]) -> io::Result<Head> {
    let text = std::str::from_utf8(bytes).map_err(|_| wrong("not a head", bytes))?;
    let mut lines = text.split("\r\n");
    let status = lines
        .next()
        .and_then(|line| line.split(' ').nth(1))
        .and_then(|status| status.parse().ok())
        .ok_or_else(|| wrong("not a status line", bytes))?;
    // One that has no body need not say so.
    let mut framing = (status == 204).then_some(Stage::Done);
    let mut session = None;
    for (name, value) in lines.filter_map(|line| line.split_once(':')) {
        if name.eq_ignore_ascii_case("content-length") {
            let length = value.trim().parse();
            let length = length.map_err(|_| wrong("not a length", bytes))?;
            framing = Some(Stage::Sized(length));
        } else if name.eq_ignore_ascii_case("transfer-encoding") {
            framing = Some(Stage::ChunkSize);
        } else if name.eq_ignore_ascii_case("mcp-session-id") {
            session = Some(value.trim().to_owned());
        }
    }
    Ok(Head {
        status,
        framing: framing.ok_or_else(|| wrong("an answer of unknown length", bytes))?,
        session,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds the bytes in pieces of every size and returns the bodies found.
    fn bodies(bytes: &[u8], piece: usize) -> Vec<Vec<u8>> {
        let (mut reader, mut found) = (Reader::new(), Vec::new());
        for bytes in bytes.chunks(piece) {
            reader.input.extend_from_slice(bytes);
            while reader.advance().expect("well formed") {
                found.push(reader.body.clone());
                reader.begin();
            }
        }
        found
    }

    #[test]
    fn reads_both_framings_in_pieces_of_any_size() {
        let bytes = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfirst\
            HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nsec\r\n3;x=y\r\nond\r\n0\r\n\r\n\
            HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
        for piece in 1..=bytes.len() {
            assert_eq!(
                bodies(bytes, piece),
                [&b"first"[..], &b"second"[..], &b""[..]],
                "in pieces of {piece}"
            );
        }
    }

    #[test]
    fn the_session_is_that_of_the_last_answer() {
        let mut reader = Reader::new();
        reader.input.extend_from_slice(
            b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nMCP-Session-Id: a1\r\n\r\n{}\
            HTTP/1.1 204 No Content\r\n\r\n",
        );
        assert!(reader.advance().expect("well formed"));
        assert_eq!(reader.session.as_deref(), Some("a1"));
        reader.begin();
        assert!(reader.advance().expect("well formed"));
        assert_eq!((reader.status, reader.session), (204, None));
    }

    #[test]
    fn an_answer_without_a_length_is_refused() {
        let mut reader = Reader::new();
        reader.input.extend_from_slice(b"HTTP/1.1 200 OK\r\n\r\n");
        assert!(reader.advance().is_err());
    }
}
