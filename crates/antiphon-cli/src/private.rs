//! Files that only their owner may read.

use std::{
    fs::{DirBuilder, File, Metadata, OpenOptions},
    io::{self, Write},
    path::Path,
};

/// Creates a file that its owner alone may read and write. One that exists stays as it is, and
/// that is an error.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    for_the_owner(&mut options);
    options.open(path)
}

/// Creates such a file with this in it; if that fails half way, there is none.
pub(crate) fn write_new(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = create(path)?;
    let written = file.write_all(content).and_then(|()| file.sync_all());
    drop(file);
    written.inspect_err(|_| _ = std::fs::remove_file(path))
}

/// Puts such a file with this in it in the place of another, at once.
pub(crate) fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut new = path.as_os_str().to_owned();
    new.push(format!(".{}.new", std::process::id()));
    let new = Path::new(&new);
    write_new(new, content)?;
    std::fs::rename(new, path).inspect_err(|_| _ = std::fs::remove_file(new))
}

/// Creates a directory, and those above it, that their owner alone may look into. Those that exist
/// stay as they are.
pub(crate) fn create_directory(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Whether nobody but this user can have written a file: it is theirs, and closed to others.
#[cfg(unix)]
pub(crate) fn is_own(about: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    let is_mine = about.uid() == nix::unistd::geteuid().as_raw();
    is_mine && about.mode() & 0o077 == 0
}

/// A user's directories are theirs alone already.
#[cfg(not(unix))]
pub(crate) fn is_own(_: &Metadata) -> bool {
    true
}

/// Whether a file belongs to this user, or to who may do anything here.
#[cfg(unix)]
pub(crate) fn is_from_here(about: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    [nix::unistd::geteuid().as_raw(), 0].contains(&about.uid())
}

/// A user's directories are theirs alone already.
#[cfg(not(unix))]
pub(crate) fn is_from_here(_: &Metadata) -> bool {
    true
}

#[cfg(unix)]
fn for_the_owner(options: &mut OpenOptions) {
    use std::os::unix::fs::OpenOptionsExt;
    options.mode(0o600);
}

/// A user's directories are theirs alone already.
#[cfg(not(unix))]
fn for_the_owner(_: &mut OpenOptions) {}
