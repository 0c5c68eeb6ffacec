//! [`Roots`]: the directories that are served, and the only way to anything in them.
//!
//! A root is a handle on a directory, opened once. Everything else is opened relative to that
//! handle, by `cap-std`, which resolves a path beneath it (with `openat2` where there is one) and
//! fails where `..`, an absolute path or a symbolic link would lead out. No path is checked first
//! and opened later, so there is nothing in between to race with.

use std::{
    fmt::Display,
    io,
    path::{Component, Path, PathBuf},
};

use antiphon::Stop;
use cap_std::{
    ambient_authority,
    fs::{Dir, File, Metadata},
};

/// The directories that are served.
pub(crate) struct Roots(Vec<Root>);

struct Root {
    /// Where it was when it was opened, for names in answers.
    path: PathBuf,
    /// As it was given, where that differs.
    given: PathBuf,
    dir: Dir,
}

/// Something under a root, which may be there or not.
#[derive(Clone)]
pub(crate) struct Place<'a> {
    root: &'a Root,
    /// Below the root; the root itself is `.`.
    inner: PathBuf,
}

impl Roots {
    pub(crate) fn open(paths: &[PathBuf]) -> io::Result<Self> {
        let open = |given: &PathBuf| {
            let wrong = |error: io::Error| {
                io::Error::new(error.kind(), format!("{}: {error}", given.display()))
            };
            let path = given.canonicalize().map_err(wrong)?;
            let dir = Dir::open_ambient_dir(&path, ambient_authority()).map_err(wrong)?;
            let given = std::path::absolute(given).map_err(wrong)?;
            Ok(Root { path, given, dir })
        };
        let mut roots = paths.iter().map(open).collect::<io::Result<Vec<_>>>()?;
        roots.sort_by(|one, other| one.path.cmp(&other.path));
        roots.dedup_by(|one, other| one.path == other.path);
        Ok(Self(roots))
    }

    pub(crate) fn is_single(&self) -> bool {
        self.0.len() == 1
    }

    /// The roots by name.
    pub(crate) fn names(&self) -> Vec<String> {
        let names = self.0.iter().map(|root| root.path.display().to_string());
        names.collect()
    }

    /// The roots themselves.
    pub(crate) fn places(&self) -> impl Iterator<Item = Place<'_>> {
        self.0.iter().map(|root| Place {
            root,
            inner: PathBuf::from("."),
        })
    }

    /// What a path means: absolute and below a root, or relative to the only one.
    pub(crate) fn find(&self, path: &str) -> Result<Place<'_>, Stop> {
        if path.contains('\0') {
            return Err(Stop::fail("A path has no NUL character."));
        }
        let wanted = Path::new(path);
        if wanted.components().any(|part| part == Component::ParentDir) {
            return Err(Stop::fail(format!(
                "`{path}` has a `..`, which is not followed."
            )));
        }
        let found = match (&self.0[..], wanted.is_absolute()) {
            ([root], false) => Some((root, wanted)),
            (_, false) => None,
            // The innermost root, where one is inside another.
            (roots, true) => roots
                .iter()
                .filter_map(|root| Some((root, root.below(wanted)?)))
                .min_by_key(|(_, inner)| inner.components().count()),
        };
        let Some((root, inner)) = found else {
            let roots = self.names().join(", ");
            return Err(Stop::fail(format!("`{path}` is not under {roots}.")));
        };
        Ok(Place {
            root,
            inner: Path::new(".").join(inner),
        })
    }
}

impl Root {
    fn below<'p>(&self, path: &'p Path) -> Option<&'p Path> {
        let inner = path.strip_prefix(&self.path);
        inner.or_else(|_| path.strip_prefix(&self.given)).ok()
    }
}

impl<'a> Place<'a> {
    /// The handle everything goes through, and the path below it.
    pub(crate) fn within(&self) -> (&'a Dir, &Path) {
        (&self.root.dir, &self.inner)
    }

    /// Its absolute path.
    pub(crate) fn path(&self) -> PathBuf {
        // Dots are dropped on the way.
        self.root.path.join(&self.inner).components().collect()
    }

    /// Its name; none for a root.
    pub(crate) fn name(&self) -> Option<&str> {
        self.inner.file_name()?.to_str()
    }

    /// What it is in; none for a root.
    pub(crate) fn parent(&self) -> Option<Self> {
        self.inner.file_name()?;
        Some(Self {
            root: self.root,
            inner: self.inner.parent()?.to_owned(),
        })
    }

    /// Something in it.
    pub(crate) fn join(&self, name: impl AsRef<Path>) -> Self {
        Self {
            root: self.root,
            inner: self.inner.join(name),
        }
    }

    pub(crate) fn dir(&self) -> Result<Dir, Stop> {
        let (root, inner) = self.within();
        root.open_dir(inner).map_err(|error| self.wrong(&error))
    }

    /// The regular file it is. Looked at before it is opened, because opening a pipe waits for a
    /// writer.
    pub(crate) fn file(&self) -> Result<(File, Metadata), Stop> {
        let (root, inner) = self.within();
        let wrong = |error| self.wrong(&error);
        let metadata = root.metadata(inner).map_err(wrong)?;
        if metadata.is_dir() {
            return Err(Stop::fail(format!("`{self}` is a directory.")));
        }
        if !metadata.is_file() {
            return Err(Stop::fail(format!("`{self}` is not a regular file.")));
        }
        let file = root.open(inner).map_err(wrong)?;
        let metadata = file.metadata().map_err(wrong)?;
        Ok((file, metadata))
    }

    /// Somebody was asked about what is no longer there.
    pub(crate) fn has_changed(&self) -> Stop {
        Stop::fail(format!("`{self}` has changed meanwhile; nothing was done."))
    }

    /// What an error of the file system means, in words for a model.
    pub(crate) fn wrong(&self, error: &io::Error) -> Stop {
        Stop::fail(match error.kind() {
            io::ErrorKind::NotFound => format!("There is no `{self}`."),
            io::ErrorKind::NotADirectory => format!("`{self}` is not in a directory, or not one."),
            // The system's refusals have a number, those of the sandbox have none.
            io::ErrorKind::PermissionDenied if error.raw_os_error().is_none() => {
                format!("`{self}` leads out of the served directories.")
            }
            _ => format!("`{self}`: {error}"),
        })
    }
}

impl Display for Place<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.path().display().fmt(f)
    }
}
