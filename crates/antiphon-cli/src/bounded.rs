//! Files that are named on the command line: whatever their names lead to, they are read to an end.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

/// The most of a file with arguments, answers or servers.
pub(crate) const LARGEST: u64 = 16 << 20;

/// The most of a file with a token.
pub(crate) const TOKEN: u64 = 64 << 10;

/// The text in a file of at most so many bytes.
pub(crate) fn read(path: &Path, limit: u64) -> io::Result<String> {
    text(File::open(path)?, limit)
}

/// The text that comes from somewhere, at most so many bytes.
pub(crate) fn text(from: impl Read, limit: u64) -> io::Result<String> {
    let text = String::from_utf8(bytes(from, limit)?);
    text.map_err(|_| io::Error::other("it is not UTF-8"))
}

/// What comes from somewhere, at most so many bytes.
pub(crate) fn bytes(from: impl Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(limit + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > limit {
        true => Err(io::Error::other(format!(
            "it is larger than {}, the most that is read of it",
            size(limit)
        ))),
        false => Ok(bytes),
    }
}

/// A limit, in words.
fn size(limit: u64) -> String {
    match limit >> 20 {
        0 => format!("{} KiB", limit >> 10),
        mebibytes => format!("{mebibytes} MiB"),
    }
}
