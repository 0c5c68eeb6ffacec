//! A directory of a test's own.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering},
};

/// A new directory, gone with this.
#[derive(Debug)]
pub struct Ground(PathBuf);

impl Ground {
    /// Somewhere among the files that are temporary.
    pub fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("antiphon-tests-{}-{count}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).expect("nobody else has this name");
        Self(path)
    }

    /// A file in it, which need not be there.
    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Default for Ground {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        // What a test leaves behind is not worth failing for.
        let _ = fs::remove_dir_all(&self.0);
    }
}
