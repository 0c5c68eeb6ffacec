//! [`Turns`]: one file for the replicas on one machine.

use std::{
    io,
    path::{Path, PathBuf},
    sync::{Arc, Weak},
    time::Duration,
};

use antiphon::store::{
    Claim, Ending, FileStore, Guard, Holder, Moment, Standing, StateId, Storing, Unavailable,
};
use tokio::{sync::Mutex, task::spawn_blocking, time::sleep};

/// A guard in a file that several processes share. One process at a time has a [`FileStore`] open, so
/// each opens it for a moment only, and the others wait. That takes some milliseconds: little, where
/// people are asked.
pub(crate) struct Turns {
    path: PathBuf,
    /// The store, while it is this process's turn. Whoever comes meanwhile shares it.
    open: Mutex<Weak<FileStore>>,
}

impl Turns {
    pub(crate) fn at(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            open: Mutex::default(),
        }
    }

    /// The store, when it is our turn. The turn ends when all have dropped it.
    async fn turn(&self) -> Result<Arc<FileStore>, Unavailable> {
        let mut open = self.open.lock().await;
        if let Some(store) = open.upgrade() {
            return Ok(store);
        }
        loop {
            let path = self.path.clone();
            let opened = spawn_blocking(|| FileStore::open(path)).await;
            match opened.map_err(Unavailable::because)? {
                Ok(store) => {
                    let store = Arc::new(store);
                    *open = Arc::downgrade(&store);
                    return Ok(store);
                }
                Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                    sleep(Duration::from_millis(2)).await;
                }
                Err(error) => return Err(Unavailable::because(error)),
            }
        }
    }
}

impl Guard for Turns {
    fn claim<'a>(&'a self, claim: &'a Claim) -> Storing<'a, Standing> {
        Box::pin(async move { self.turn().await?.claim(claim).await })
    }

    fn renew<'a>(&'a self, id: &'a StateId, holder: &'a Holder, until: Moment) -> Storing<'a, ()> {
        Box::pin(async move { self.turn().await?.renew(id, holder, until).await })
    }

    fn end<'a>(
        &'a self,
        id: &'a StateId,
        holder: &'a Holder,
        ending: Ending<'a>,
    ) -> Storing<'a, ()> {
        Box::pin(async move { self.turn().await?.end(id, holder, ending).await })
    }

    fn is_shared(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use std::{
        fs, process,
        sync::atomic::{AtomicU32, Ordering::Relaxed},
    };

    use antiphon::testing::guard_contract;

    use super::*;

    /// A file of its own for every store, in a folder that goes with this.
    struct Folder(PathBuf, AtomicU32);

    impl Drop for Folder {
        fn drop(&mut self) {
            _ = fs::remove_dir_all(&self.0);
        }
    }

    #[tokio::test]
    async fn it_is_a_guard() {
        let folder = std::env::temp_dir().join(format!("antiphon-turns-{}", process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let folder = Folder(folder, AtomicU32::new(0));
        guard_contract(async || {
            let number = folder.1.fetch_add(1, Relaxed);
            Turns::at(&folder.0.join(number.to_string()))
        })
        .await;
    }
}
