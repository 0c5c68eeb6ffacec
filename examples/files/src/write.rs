//! Writing a file as a whole or not at all.

use std::{
    io::{self, ErrorKind, Write},
    sync::atomic::{AtomicU64, Ordering},
};

use antiphon::Stop;
use cap_std::fs::{Dir, File, OpenOptions, Permissions};

use crate::roots::Place;

/// Puts `text` at `place`, and makes the directories it is in. Whoever reads meanwhile sees the old
/// file or the new one. Without `overwrite` a file that is there stays, even one that came this very
/// moment.
///
/// Returns whether there was a file before.
pub(crate) fn write(place: &Place<'_>, text: &str, overwrite: bool) -> Result<bool, Stop> {
    let (Some(name), Some(parent)) = (place.name(), place.parent()) else {
        return Err(Stop::fail(format!("`{place}` is a served directory.")));
    };
    let wrong = |error| place.wrong(&error);
    // A handle from here on: whatever happens to the path, this stays the directory.
    let dir = open_or_create(&parent).map_err(wrong)?;
    let old = match dir.symlink_metadata(name) {
        Ok(old) => Some(old),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(wrong(error)),
    };
    match &old {
        Some(old) if !old.is_file() => {
            let text = format!("`{place}` is there, and is no regular file.");
            return Err(Stop::fail(text));
        }
        Some(_) if !overwrite => return Err(is_there(place)),
        _ => {}
    }
    let (draft, file) = Draft::new(&dir).map_err(wrong)?;
    let permissions = old.as_ref().map(|old| old.permissions());
    fill(file, text, permissions).map_err(wrong)?;
    let placed = match overwrite {
        true => draft.replace(name),
        false => draft.settle(name),
    };
    match placed {
        Ok(()) => Ok(old.is_some()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(is_there(place)),
        Err(error) => Err(wrong(error)),
    }
}

fn open_or_create(directory: &Place<'_>) -> io::Result<Dir> {
    let (root, path) = directory.within();
    match root.open_dir(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            root.create_dir_all(path)?;
            root.open_dir(path)
        }
        opened => opened,
    }
}

fn is_there(place: &Place<'_>) -> Stop {
    Stop::fail(format!(
        "`{place}` is there already; to replace it say `overwrite`."
    ))
}

fn fill(mut file: File, text: &str, permissions: Option<Permissions>) -> io::Result<()> {
    if let Some(permissions) = permissions {
        file.set_permissions(permissions)?;
    }
    file.write_all(text.as_bytes())?;
    // Not before the contents are on the disk may the name lead to them.
    file.sync_all()
}

/// A file under a name of its own, beside the one it is to become; gone when dropped.
struct Draft<'a> {
    dir: &'a Dir,
    name: String,
}

impl<'a> Draft<'a> {
    fn new(dir: &'a Dir) -> io::Result<(Self, File)> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        loop {
            let count = COUNT.fetch_add(1, Ordering::Relaxed);
            let name = format!(".antiphon-{}-{count}.tmp", std::process::id());
            match dir.open_with(&name, &options) {
                Ok(file) => return Ok((Self { dir, name }, file)),
                // Left behind by a process that was killed.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Takes the place of whatever has this name.
    fn replace(&self, name: &str) -> io::Result<()> {
        self.dir.rename(&self.name, self.dir, name)
    }

    /// Takes this name, if nothing has it. A link is made only where there is nothing; where the
    /// file system has no links, an empty file holds the name for a moment.
    fn settle(&self, name: &str) -> io::Result<()> {
        match self.dir.hard_link(&self.name, self.dir, name) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                let mut options = OpenOptions::new();
                self.dir
                    .open_with(name, options.write(true).create_new(true))?;
                self.replace(name)
            }
            settled => settled,
        }
    }
}

impl Drop for Draft<'_> {
    fn drop(&mut self) {
        // Renamed, it is not there any more; otherwise nobody else knows its name.
        _ = self.dir.remove_file(&self.name);
    }
}
