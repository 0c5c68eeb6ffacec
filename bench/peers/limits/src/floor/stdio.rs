//! The floor over pipes: a message per line, answers written together when input runs dry.

use std::{
    future::poll_fn,
    io::{self, stdin, stdout},
    os::fd::AsFd,
    task::Poll,
};

use bytes::{Bytes, BytesMut};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::unix::pipe,
    sync::mpsc::{self, Sender},
};

use super::{Floor, Step, reply::tool_answer};
use crate::body::LIMIT;

const CHUNK: usize = 64 << 10;

pub(crate) async fn stdio(fillers: usize) -> io::Result<()> {
    let floor = Floor::new(fillers);
    let mut input = pipe::Receiver::from_owned_fd(stdin().as_fd().try_clone_to_owned()?)?;
    let mut output = pipe::Sender::from_owned_fd(stdout().as_fd().try_clone_to_owned()?)?;
    let (finished, mut late) = mpsc::channel::<Vec<u8>>(64);
    let mut unread = BytesMut::with_capacity(CHUNK);
    let mut unsent = Vec::with_capacity(CHUNK);
    loop {
        tokio::select! {
            read = input.read_buf(&mut unread) => {
                if read? == 0 {
                    return Ok(());
                }
                while let Some(end) = memchr::memchr(b'\n', &unread) {
                    let line = unread.split_to(end + 1).freeze();
                    floor.line(&line, &mut unsent, &finished).await;
                }
                if unread.len() > LIMIT {
                    return Err(io::Error::other("a message is too long"));
                }
                unread.reserve(CHUNK);
            }
            Some(answer) = late.recv() => unsent.extend_from_slice(&answer),
        }
        output.write_all(&unsent).await?;
        unsent.clear();
    }
}

impl Floor {
    /// Takes one line. A tool that has to wait goes on as a task, so that it delays no one.
    async fn line(&self, line: &Bytes, unsent: &mut Vec<u8>, finished: &Sender<Vec<u8>>) {
        let answer = match self.take(line, |_| Ok(())) {
            Ok(Step::Answer(answer)) => answer,
            Ok(Step::Nothing) => return,
            Err((id, refusal)) => refusal.answer(&id),
            Ok(Step::Work(id, mut work)) => {
                let first = poll_fn(|context| Poll::Ready(work.as_mut().poll(context))).await;
                if let Poll::Ready(outcome) = first {
                    tool_answer(&id, &outcome)
                } else {
                    let finished = finished.clone();
                    tokio::spawn(async move {
                        let mut answer = tool_answer(&id, &work.await);
                        answer.push(b'\n');
                        // The reader is gone only when the server is going too.
                        let _ = finished.send(answer).await;
                    });
                    return;
                }
            }
        };
        unsent.extend_from_slice(&answer);
        unsent.push(b'\n');
    }
}
