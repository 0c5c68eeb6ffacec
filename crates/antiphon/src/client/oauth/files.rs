//! [`TokenFiles`]: tokens in files of their owner alone.

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::digest::{SHA256, digest};

use super::{Secret, TokenStore};
use crate::client::{Pending, error::Boxed};

/// As long as a file may be.
const LIMIT: u64 = 1 << 20;

/// Keeps tokens in a folder, a file for each key, which only their owner can read (0600 in 0700).
///
/// A file is replaced as a whole, so whoever reads it meanwhile reads the old or the new. One that
/// others could read or write is not used: its error says so.
#[derive(Debug, Clone)]
pub struct TokenFiles {
    folder: PathBuf,
}

impl TokenFiles {
    /// Keeps them in this folder, which is made with the first file.
    pub fn in_folder(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
        }
    }

    /// A key may hold anything, and be longer than a file's name.
    fn path(&self, key: &str) -> PathBuf {
        let name = URL_SAFE_NO_PAD.encode(digest(&SHA256, key.as_bytes()));
        self.folder.join(format!("{name}.json"))
    }
}

impl TokenStore for TokenFiles {
    fn load<'a>(&'a self, key: &'a str) -> Pending<'a, Result<Option<Secret>, Boxed>> {
        let path = self.path(key);
        blocking(move || read(&path))
    }

    fn save<'a>(&'a self, key: &'a str, value: &'a Secret) -> Pending<'a, Result<(), Boxed>> {
        let (folder, path, value) = (self.folder.clone(), self.path(key), value.clone());
        blocking(move || {
            make_folder(&folder)?;
            replace(&path, value.reveal().as_bytes())
        })
    }

    fn remove<'a>(&'a self, key: &'a str) -> Pending<'a, Result<(), Boxed>> {
        let path = self.path(key);
        blocking(move || match fs::remove_file(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        })
    }
}

/// Files are no business of a thread that has others waiting.
fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Pending<'static, Result<T, Boxed>> {
    Box::pin(async move { Ok(tokio::task::spawn_blocking(work).await??) })
}

fn read(path: &Path) -> io::Result<Option<Secret>> {
    let file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file.map_err(|error| at(path, &error))?,
    };
    if !is_private(&file)? {
        let why = "others could read or write it, so it is not used: remove it and sign in again";
        return Err(at(path, &io::Error::other(why)));
    }
    let mut text = String::new();
    file.take(LIMIT)
        .read_to_string(&mut text)
        .map_err(|error| at(path, &error))?;
    Ok(Some(Secret::new(text)))
}

/// Puts a file in the place of another, at once.
fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut random = [0; 8];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    let new = path.with_extension(format!("{}.new", URL_SAFE_NO_PAD.encode(random)));
    let written = private_file(&new)
        .and_then(|mut file| file.write_all(content).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&new, path));
    written.map_err(|error| {
        _ = fs::remove_file(&new);
        at(path, &error)
    })
}

fn private_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn make_folder(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(|error| at(path, &error))
}

#[cfg(unix)]
fn is_private(file: &File) -> io::Result<bool> {
    Ok(std::os::unix::fs::MetadataExt::mode(&file.metadata()?) & 0o077 == 0)
}

/// A user's folders are theirs alone already.
#[cfg(not(unix))]
fn is_private(_: &File) -> io::Result<bool> {
    Ok(true)
}

fn at(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let name = format!("antiphon-tokens-{name}-{}", std::process::id());
            let folder = std::env::temp_dir().join(name);
            _ = fs::remove_dir_all(&folder);
            Self(folder)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            _ = fs::remove_dir_all(&self.0);
        }
    }

    #[tokio::test]
    async fn what_is_kept_is_there_again() {
        let folder = Folder::new("kept");
        let store = TokenFiles::in_folder(folder.0.join("a").join("b"));
        let keys = [
            "tokens https://a.example/../x",
            "tokens https://a.example",
            "",
        ];
        for key in keys {
            assert_eq!(store.load(key).await.expect("a store"), None);
            store.remove(key).await.expect("nothing to remove");
        }
        for key in keys {
            store
                .save(key, &Secret::new("before"))
                .await
                .expect("saved");
            let value = Secret::new(format!("of {key}"));
            store.save(key, &value).await.expect("saved");
        }
        let again = TokenFiles::in_folder(folder.0.join("a").join("b"));
        for key in keys {
            let value = again.load(key).await.expect("a store").expect("a value");
            assert_eq!(value.reveal(), format!("of {key}"));
        }
        again.remove(keys[0]).await.expect("removed");
        assert_eq!(store.load(keys[0]).await.expect("a store"), None);
        assert!(store.load(keys[1]).await.expect("a store").is_some());
        let files = fs::read_dir(folder.0.join("a").join("b")).expect("a folder");
        assert_eq!(files.count(), 2, "nothing else is left behind");
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn nobody_else_can_read_it() {
        use std::os::unix::fs::PermissionsExt;
        let folder = Folder::new("private");
        let store = TokenFiles::in_folder(&folder.0);
        store
            .save("key", &Secret::new("canary"))
            .await
            .expect("saved");
        let mode = |path: &Path| fs::metadata(path).expect("a file").permissions().mode() & 0o777;
        let path = store.path("key");
        assert_eq!((mode(&folder.0), mode(&path)), (0o700, 0o600));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("changed");
        let error = store.load("key").await.expect_err("not used").to_string();
        assert!(
            error.contains("others") && !error.contains("canary"),
            "{error}"
        );
    }
}
