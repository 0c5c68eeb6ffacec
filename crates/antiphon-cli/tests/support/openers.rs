//! [`Openers`]: where programs are that open links, or not.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

/// A directory for `PATH` that holds nothing else.
pub(crate) struct Openers(PathBuf);

impl Openers {
    pub(crate) fn new(name: &str) -> Self {
        let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        _ = fs::remove_dir_all(&place);
        fs::create_dir_all(&place).expect("a directory");
        Self(place)
    }

    /// One that notes what it is told to open, and says something that nobody should see.
    pub(crate) fn with_xdg_open(self) -> Self {
        let program = self.0.join("xdg-open");
        let log = self.log();
        let script = format!(
            "#!/bin/sh\necho noise\necho noise >&2\nprintf '%s\\n' \"$#\" \"$@\" > '{0}.new'\n\
             /bin/mv '{0}.new' '{0}'\n",
            log.display()
        );
        fs::write(&program, script).expect("written");
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("a program");
        self
    }

    pub(crate) fn place(&self) -> &Path {
        &self.0
    }

    /// The link that was opened last, as the only argument of the program.
    pub(crate) fn opened(&self) -> Option<String> {
        let text = fs::read_to_string(self.log()).ok()?;
        let link = text.strip_prefix("1\n").expect("one argument");
        Some(link.trim_end().to_owned())
    }

    /// Waits until this was opened last: nobody else waits for the program.
    pub(crate) fn wait_for(&self, link: &str) {
        let until = Instant::now() + Duration::from_secs(20);
        while self.opened().is_none_or(|opened| opened != link) {
            assert!(Instant::now() < until, "{link} was not opened");
            thread::sleep(Duration::from_millis(10));
        }
    }

    fn log(&self) -> PathBuf {
        self.0.join("opened")
    }
}
