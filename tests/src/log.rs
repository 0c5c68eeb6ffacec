//! What the program logs, as a test can read it.

use std::{
    io::Write,
    sync::{Arc, Mutex},
};

use tracing_subscriber::fmt::{MakeWriter, format::FmtSpan};

/// A log of everything one thread does.
#[derive(Clone, Default)]
pub struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    /// Starts one for this thread; it ends when the guard is dropped.
    pub fn of_everything() -> (Self, tracing::subscriber::DefaultGuard) {
        // What no thread listens to is switched off for all of them, also for those that begin to
        // listen at that moment. So somebody always listens to everything.
        _ = tracing::subscriber::set_global_default(tracing_subscriber::registry());
        let log = Self::default();
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(tracing::Level::TRACE)
            .with_span_events(FmtSpan::FULL)
            .with_writer(log.clone())
            .with_ansi(false)
            .finish();
        let guard = tracing::subscriber::set_default(subscriber);
        (log, guard)
    }

    /// All of it so far.
    pub fn text(&self) -> String {
        String::from_utf8(self.0.lock().expect("not poisoned").clone()).expect("UTF-8")
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("not poisoned").write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}
