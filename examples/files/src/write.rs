//! Writing a file as a whole or not at all, and replacing one if the user agrees: the only module
//! that replaces what was there.

use std::{
    io::{self, ErrorKind, Write},
    sync::atomic::{AtomicU64, Ordering},
};

use antiphon::{Confirmed, Stop};
use cap_std::fs::{Dir, File, OpenOptions, Permissions};
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::{
    roots::{Place, Roots},
    version::Version,
};

/// What is to be replaced, and by what, as the user is asked about it.
#[derive(Serialize)]
pub(crate) struct Overwrite {
    path: String,
    old: Version,
    new: Text,
}

/// A text, shown by its size and bound by its digest.
#[derive(Serialize)]
struct Text {
    bytes: usize,
    sha256: String,
    #[serde(skip)]
    text: String,
}

impl Overwrite {
    pub(crate) fn new(path: String, old: Version, text: String) -> Self {
        let digest = Sha256::digest(text.as_bytes());
        let new = Text {
            bytes: text.len(),
            sha256: digest.iter().map(|byte| format!("{byte:02x}")).collect(),
            text,
        };
        Self { path, old, new }
    }
}

/// The file that is there, if there is one.
pub(crate) fn old(place: &Place<'_>) -> Result<Option<Version>, Stop> {
    if place.name().is_none() {
        return Err(Stop::fail(format!("`{place}` is a served directory.")));
    }
    let (root, inner) = place.within();
    match root.symlink_metadata(inner) {
        Ok(old) if old.is_file() => Ok(Some(Version::of(&old))),
        Ok(_) => {
            let text = format!("`{place}` is there, and is no regular file.");
            Err(Stop::fail(text))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(place.wrong(&error)),
    }
}

/// Puts a new file at `place`, and makes the directories it is in. A file that is there stays, even
/// one that came this very moment.
pub(crate) fn create(place: &Place<'_>, text: &str) -> Result<String, Stop> {
    let (Some(name), Some(parent)) = (place.name(), place.parent()) else {
        return Err(Stop::fail(format!("`{place}` is a served directory.")));
    };
    let wrong = |error| place.wrong(&error);
    // A handle from here on: whatever happens to the path, this stays the directory.
    let dir = open_or_create(&parent).map_err(wrong)?;
    let (draft, file) = Draft::new(&dir).map_err(wrong)?;
    fill(file, text, None).map_err(wrong)?;
    match draft.settle(name, text) {
        Ok(()) => Ok(format!("Wrote {} bytes to `{place}`.", text.len())),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(is_there(place)),
        Err(error) => Err(wrong(error)),
    }
}

/// Replaces what the user has agreed to, if it still is what it was. Whoever reads meanwhile sees
/// the old file or the new one.
pub(crate) fn replace(roots: &Roots, overwrite: Confirmed<Overwrite>) -> Result<String, Stop> {
    let place = roots.find(&overwrite.path)?;
    let (Some(name), Some(parent)) = (place.name(), place.parent()) else {
        return Err(Stop::fail(format!("`{place}` is a served directory.")));
    };
    let wrong = |error| place.wrong(&error);
    let dir = parent.dir()?;
    let permissions = dir.symlink_metadata(name).map_err(wrong)?.permissions();
    let (draft, file) = Draft::new(&dir).map_err(wrong)?;
    fill(file, &overwrite.new.text, Some(permissions)).map_err(wrong)?;
    // As late as can be.
    let old = dir.symlink_metadata(name).map_err(wrong)?;
    if !old.is_file() || Version::of(&old) != overwrite.old {
        return Err(place.has_changed());
    }
    draft.replace(name).map_err(wrong)?;
    let (Overwrite { path, new, .. }, _) = overwrite.into_parts();
    Ok(format!("Replaced `{path}` by {} bytes.", new.bytes))
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

pub(crate) fn is_there(place: &Place<'_>) -> Stop {
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
    /// file system has no links, the text is written once more, under that name.
    fn settle(&self, name: &str, text: &str) -> io::Result<()> {
        match self.dir.hard_link(&self.name, self.dir, name) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                let mut options = OpenOptions::new();
                let options = options.write(true).create_new(true);
                fill(self.dir.open_with(name, options)?, text, None)
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
