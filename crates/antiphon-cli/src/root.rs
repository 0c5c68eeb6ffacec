//! A directory becomes a root: a place that a server may work in.

use std::{io, path::Path};

use antiphon::types::Root;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};

/// What stands in the path of a URI as it is.
const PATH: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'/')
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// The directory at this path, which must exist.
pub(crate) fn root(path: &Path) -> io::Result<Root> {
    let path = path.canonicalize()?;
    if !path.is_dir() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    let encoded = percent_encode(path.as_os_str().as_encoded_bytes(), PATH);
    let root = Root::new(format!("file://{encoded}"));
    Ok(match path.file_name() {
        Some(name) => root.name(name.to_string_lossy()),
        None => root,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_named_and_found() {
        let root = root(Path::new("src")).expect("a directory");
        assert!(root.uri.starts_with("file:///"), "{}", root.uri);
        assert!(root.uri.ends_with("/src"), "{}", root.uri);
        assert_eq!(root.name.as_deref(), Some("src"));
    }

    #[test]
    fn a_root_is_a_directory_that_exists() {
        for path in ["Cargo.toml", "/no such place"] {
            assert!(root(Path::new(path)).is_err(), "{path}");
        }
    }
}
