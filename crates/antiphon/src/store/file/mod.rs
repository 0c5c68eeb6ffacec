//! [`FileStore`]: a guard, a spill and a journal in one file.
//!
//! | module | concern |
//! |---|---|
//! | `disk` | the file: created, opened, recognised |
//! | `thread` | many requests, one transaction |
//! | `tables` | what one transaction works on |
//! | `states` | a guard: states, and the answers they got |
//! | `bodies` | a spill: bodies, and whose they are |
//! | `steps` | a journal: steps, and what came of them |
//! | `claims` | what is held by one at a time, until it is done |
//! | `record` | how all that is written down |

mod bodies;
mod claims;
mod disk;
mod record;
mod states;
mod steps;
mod tables;
mod thread;

#[cfg(test)]
mod tests;

use std::{fmt, io, path::Path, sync::Arc};

use self::{
    disk::{Disk, InFile},
    thread::Thread,
};
/// Remembers used states and what came of steps, and keeps large bodies, in a file of its own.
///
/// What was granted, recorded or kept is on the disk before the answer is given, and is there again
/// when the process starts anew, however it ended. All that is asked for at the same time shares one
/// write to the disk. What has expired is removed as new things come.
///
/// One process at a time has the file open; within it, clones share the store. When the last of them
/// is dropped, that waits until everything asked for is on the disk.
///
/// ```no_run
/// use antiphon::{Server, sealing::{KeyRing, Sealing}, store::FileStore};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let store = FileStore::open("/var/lib/shop/states")?.markers(100_000);
/// let sealing = Sealing::keys(KeyRing::from_file("/etc/shop/keys")?)
///     .audience("shop")
///     .single_use(store.clone())
///     .spill(store);
/// let server: Server = Server::new("shop", "1.0").sealing(sealing);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct FileStore {
    thread: Arc<Thread>,
    limits: Limits,
}

#[derive(Debug, Clone, Copy)]
struct Limits {
    markers: u64,
    answer_bytes: u64,
    body_bytes: u64,
    steps: u64,
    step_bytes: u64,
}

impl FileStore {
    /// Opens the store in this file, which is created if there is none, for its owner only.
    ///
    /// # Errors
    ///
    /// All of them name the path, and leave the file as it is: it is open already
    /// ([`ResourceBusy`](io::ErrorKind::ResourceBusy)), it is damaged, of another format or no such
    /// store ([`InvalidData`](io::ErrorKind::InvalidData)), or the system refuses.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        Self::on(InFile::new(path.as_ref()))
    }

    fn on(disk: impl Disk) -> io::Result<Self> {
        Ok(Self {
            thread: Arc::new(Thread::start(disk)?),
            limits: Limits {
                markers: 1 << 20,
                answer_bytes: 32 << 20,
                body_bytes: 256 << 20,
                steps: 1 << 20,
                step_bytes: 256 << 20,
            },
        })
    }

    /// How many states it remembers at once. 1,048,576; more are refused until others expire.
    pub fn markers(mut self, most: usize) -> Self {
        self.limits.markers = most as u64;
        self
    }

    /// How many bytes of answers it keeps. 32 MiB; beyond that those that would expire first are
    /// forgotten, though never that they were given.
    pub fn answer_bytes(mut self, most: usize) -> Self {
        self.limits.answer_bytes = most as u64;
        self
    }

    /// How many bytes of bodies it keeps. 256 MiB; more are refused until others expire.
    pub fn body_bytes(mut self, most: u64) -> Self {
        self.limits.body_bytes = most;
        self
    }

    /// How many steps it remembers at once. 1,048,576; more are refused until others expire or fail.
    pub fn steps(mut self, most: usize) -> Self {
        self.limits.steps = most as u64;
        self
    }

    /// From how many bytes of results on no more steps may begin until others expire. 256 MiB; the
    /// results of those that have begun are kept beyond that.
    pub fn step_bytes(mut self, most: u64) -> Self {
        self.limits.step_bytes = most;
        self
    }
}

impl fmt::Debug for FileStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileStore")
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
