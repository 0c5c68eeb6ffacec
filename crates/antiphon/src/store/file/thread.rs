//! Many requests, one transaction: the thread that owns the file.

use std::{
    io,
    sync::mpsc::{self, Receiver, Sender},
    thread::JoinHandle,
};

use redb::{Database, StorageError};
use tokio::sync::oneshot;

use super::{
    disk::{self, Disk},
    tables::Tables,
};
use crate::store::{Storing, Unavailable};

/// Most that one transaction takes in, so that none of them waits for too much.
const MOST_REQUESTS: usize = 1024;
const MOST_BYTES: usize = 8 << 20;

/// The thread, from the outside. When this is dropped, it has done all it was asked for.
pub(super) struct Thread {
    requests: Option<Sender<Box<dyn Request>>>,
    handle: Option<JoinHandle<()>>,
}

impl Thread {
    pub(super) fn start(disk: impl Disk) -> io::Result<Self> {
        let (requests, queue) = mpsc::channel();
        let (report, opened) = mpsc::channel();
        let name = disk.name();
        let run = move || match disk::open(&disk, true) {
            Ok(database) => {
                let mut writer = Writer {
                    disk,
                    database: Some(database),
                };
                // Whoever opens it waits for this.
                let _ = report.send(Ok(()));
                writer.run(&queue);
            }
            Err(error) => {
                let _ = report.send(Err(error));
            }
        };
        let handle = std::thread::Builder::new()
            .name("antiphon-store".to_owned())
            .spawn(run)?;
        // A thread that ends without a word came upon something it could not even refuse.
        opened.recv().unwrap_or_else(|_| {
            let message = format!("the file {name} is damaged");
            Err(io::Error::new(io::ErrorKind::InvalidData, message))
        })?;
        Ok(Self {
            requests: Some(requests),
            handle: Some(handle),
        })
    }

    /// Asks for work on the tables, with so many bytes to be written, and for its result once that
    /// is on the disk.
    pub(super) fn ask<T: Send + 'static>(
        &self,
        bytes: usize,
        work: impl FnOnce(&mut Tables<'_>) -> Result<T, StorageError> + Send + 'static,
    ) -> Storing<'static, T> {
        let (reply, answer) = oneshot::channel();
        let job = Job {
            bytes,
            work: Some(work),
            result: None,
            reply,
        };
        if let Some(requests) = &self.requests {
            // Where it cannot be sent, the reply is dropped, which is an answer too.
            let _ = requests.send(Box::new(job));
        }
        Box::pin(async {
            let ended = || Unavailable("the thread of the store has ended".to_owned());
            answer.await.unwrap_or_else(|_| Err(ended()))
        })
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        self.requests = None;
        if let Some(handle) = self.handle.take() {
            // It panicked, which was told already.
            let _ = handle.join();
        }
    }
}

/// Something to do within a transaction, and to answer after it.
trait Request: Send {
    fn bytes(&self) -> usize;

    fn apply(&mut self, tables: &mut Tables<'_>) -> Result<(), StorageError>;

    fn answer(self: Box<Self>, failed: Option<&Unavailable>);
}

struct Job<T, W> {
    bytes: usize,
    work: Option<W>,
    result: Option<T>,
    reply: oneshot::Sender<Result<T, Unavailable>>,
}

impl<T, W> Request for Job<T, W>
where
    T: Send,
    W: FnOnce(&mut Tables<'_>) -> Result<T, StorageError> + Send,
{
    fn bytes(&self) -> usize {
        self.bytes
    }

    fn apply(&mut self, tables: &mut Tables<'_>) -> Result<(), StorageError> {
        if let Some(work) = self.work.take() {
            self.result = Some(work(tables)?);
        }
        Ok(())
    }

    fn answer(self: Box<Self>, failed: Option<&Unavailable>) {
        let answer = match (failed, self.result) {
            (None, Some(result)) => Ok(result),
            (Some(failed), _) => Err(failed.clone()),
            (None, None) => return,
        };
        // Nobody may wait for it any more.
        let _ = self.reply.send(answer);
    }
}

/// The thread, from the inside.
struct Writer<D> {
    disk: D,
    /// Nothing after a failure: the next requests begin with what the disk really has.
    database: Option<Database>,
}

impl<D: Disk> Writer<D> {
    fn run(&mut self, queue: &Receiver<Box<dyn Request>>) {
        while let Ok(first) = queue.recv() {
            let mut batch = gather(first, queue);
            let failed = self.settle(&mut batch).err();
            if let Some(failed) = &failed {
                tracing::warn!("the store {}: {failed}", self.disk.name());
                self.database = None;
            }
            for request in batch {
                request.answer(failed.as_ref());
            }
        }
    }

    /// All of a batch, on the disk, or none of it.
    fn settle(&mut self, batch: &mut [Box<dyn Request>]) -> Result<(), Unavailable> {
        let database = match self.database.take() {
            Some(database) => database,
            None => disk::open(&self.disk, false).map_err(Unavailable::because)?,
        };
        let database = self.database.insert(database);
        let transaction = database.begin_write().map_err(Unavailable::because)?;
        let mut tables = Tables::open(&transaction).map_err(Unavailable::because)?;
        let requests = batch.len();
        let applied = batch
            .iter_mut()
            .try_for_each(|request| request.apply(&mut tables))
            .and_then(|()| tables.sweep(requests));
        let changed = tables.changed();
        drop(tables);
        applied.map_err(Unavailable::because)?;
        if changed {
            transaction.commit().map_err(Unavailable::because)
        } else {
            transaction.abort().map_err(Unavailable::because)
        }
    }
}

/// Takes what waits already.
fn gather(first: Box<dyn Request>, queue: &Receiver<Box<dyn Request>>) -> Vec<Box<dyn Request>> {
    let mut bytes = first.bytes();
    let mut batch = vec![first];
    while batch.len() < MOST_REQUESTS
        && bytes < MOST_BYTES
        && let Ok(next) = queue.try_recv()
    {
        bytes += next.bytes();
        batch.push(next);
    }
    batch
}
