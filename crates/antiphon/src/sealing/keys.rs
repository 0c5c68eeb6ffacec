//! [`KeyRing`]: keys, where they come from, and new ones while the server runs.

use std::{
    env, fmt, fs, io,
    path::{Path, PathBuf},
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use antiphon_core::seal::{
    Key,
    key::BadKey,
    ring::{BadRing, KeyId, Ring},
};
use zeroize::Zeroizing;

/// Keys to seal and open with. The first seals, all open. Clones are one and the same ring.
///
/// To rotate a fleet's keys without refusing anybody: give every replica the new key as the
/// second one (`[old, new]`), then as the first (`[new, old]`), and drop the old one when what it
/// sealed has expired (`[new]`).
///
/// ```
/// use antiphon::sealing::{Key, KeyRing, Sealing};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let old = Key::new(&[7; 32])?; // 32 random bytes, in real life
/// let new = Key::parse("hex:8c5a9ad34f1c5a43a4a2c1c4a13d64b2c0f0b2b74ab7ee8a9c4ef67fe4bb3d85")?;
/// let ring = KeyRing::new([old.clone()])?;
/// let sealing = Sealing::keys(ring.clone()).audience("shop");
/// // Later, while the server runs:
/// ring.replace([old, new])?;
/// # let _ = sealing;
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct KeyRing(Arc<Inner>);

struct Inner {
    ring: RwLock<Result<Arc<Ring>, BadRing>>,
    source: Source,
}

#[derive(Debug)]
enum Source {
    Given,
    Variable(String),
    File(PathBuf),
}

impl KeyRing {
    /// A ring of these keys.
    ///
    /// # Errors
    /// If there is none, or the same twice.
    pub fn new(keys: impl IntoIterator<Item = Key>) -> Result<Self, KeysError> {
        let ring = Self::of(keys, Source::Given);
        ring.ring().map(|_| ring).map_err(KeysError::of("the keys"))
    }

    /// The keys in an environment variable, as [`Key::parse`] reads them, with spaces or commas
    /// between them.
    ///
    /// # Errors
    /// If it is not set, or there is anything in it but keys.
    pub fn from_env(name: impl Into<String>) -> Result<Self, KeysError> {
        let source = Source::Variable(name.into());
        Ok(Self::of(source.read()?, source))
    }

    /// The keys in a file, one on a line, as [`Key::parse`] reads them. Blank lines and lines that
    /// begin with `#` are skipped.
    ///
    /// # Errors
    /// If it cannot be read, or there is anything in it but keys.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, KeysError> {
        let source = Source::File(path.as_ref().to_owned());
        Ok(Self::of(source.read()?, source))
    }

    fn of(keys: impl IntoIterator<Item = Key>, source: Source) -> Self {
        let keys: Vec<_> = keys.into_iter().collect();
        let ring = Ring::new(&keys).map(Arc::new);
        Self(Arc::new(Inner {
            ring: RwLock::new(ring),
            source,
        }))
    }

    /// Whether they are one and the same.
    #[cfg(feature = "testing")]
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Puts other keys on the ring.
    ///
    /// # Errors
    /// If these make no ring. Then it stays as it is.
    pub fn replace(&self, keys: impl IntoIterator<Item = Key>) -> Result<(), KeysError> {
        let keys: Vec<_> = keys.into_iter().collect();
        let ring = Ring::new(&keys).map_err(KeysError::of("the keys"))?;
        *self.0.ring.write().unwrap_or_else(PoisonError::into_inner) = Ok(Arc::new(ring));
        Ok(())
    }

    /// Reads the file or the variable again. Whether there are other keys now; a ring of given
    /// keys never has.
    ///
    /// # Errors
    /// If that fails. Then the ring stays as it is.
    pub fn reload(&self) -> Result<bool, KeysError> {
        if matches!(self.0.source, Source::Given) {
            return Ok(false);
        }
        let before = self.ids();
        self.replace(self.0.source.read()?)?;
        let ids = self.ids();
        let changed = ids != before;
        if changed {
            tracing::info!(source = %self.0.source, ?ids, "the keys were reloaded");
        }
        Ok(changed)
    }

    /// [Reloads](Self::reload) time and again, for ever: to be spawned. What fails is logged, once
    /// as long as it is the same, and changes nothing.
    pub async fn keep_reloading(self, every: Duration) {
        let mut told = None;
        loop {
            tokio::time::sleep(every).await;
            let ring = self.clone();
            let reloaded = tokio::task::spawn_blocking(move || ring.reload()).await;
            let error = match reloaded {
                Ok(Ok(_)) => None,
                Ok(Err(error)) => Some(error.to_string()),
                Err(lost) => Some(lost.to_string()),
            };
            if let Some(error) = &error
                && told.as_ref() != Some(error)
            {
                tracing::error!(%error, "the keys could not be reloaded; the old ones stay");
            }
            told = error;
        }
    }

    /// The ids of the keys, that of the one that seals first. They are no secret.
    pub fn ids(&self) -> Vec<KeyId> {
        self.ring()
            .map(|ring| ring.ids().collect())
            .unwrap_or_default()
    }

    pub(super) fn ring(&self) -> Result<Arc<Ring>, BadRing> {
        let ring = self.0.ring.read().unwrap_or_else(PoisonError::into_inner);
        ring.clone()
    }
}

/// What makes no ring is told when the server starts.
impl<const N: usize> From<[Key; N]> for KeyRing {
    fn from(keys: [Key; N]) -> Self {
        Self::of(keys, Source::Given)
    }
}

/// What makes no ring is told when the server starts.
impl From<Vec<Key>> for KeyRing {
    fn from(keys: Vec<Key>) -> Self {
        Self::of(keys, Source::Given)
    }
}

/// A ring of one.
impl From<Key> for KeyRing {
    fn from(key: Key) -> Self {
        Self::of([key], Source::Given)
    }
}

/// The ids and where the keys come from, and nothing of the keys.
impl fmt::Debug for KeyRing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyRing")
            .field("ids", &self.ids())
            .field("source", &self.0.source)
            .finish()
    }
}

impl Source {
    fn read(&self) -> Result<Vec<Key>, KeysError> {
        let failed = |why| KeysError {
            place: self.to_string(),
            why,
        };
        let text = match self {
            Self::Given => return Ok(Vec::new()),
            Self::Variable(name) => env::var(name).map_err(|error| failed(Why::Variable(error)))?,
            Self::File(path) => {
                fs::read_to_string(path).map_err(|error| failed(Why::File(error)))?
            }
        };
        let text = Zeroizing::new(text);
        let separates = |c: char| match self {
            Self::File(_) => c == '\n',
            _ => c == ',' || c.is_whitespace(),
        };
        let mut keys = Vec::new();
        for (index, word) in text.split(separates).map(str::trim).enumerate() {
            if word.is_empty() || word.starts_with('#') {
                continue;
            }
            let bad = |error| KeysError {
                place: match self {
                    Self::File(path) => format!("{}, line {}", path.display(), index + 1),
                    _ => self.to_string(),
                },
                why: Why::Key(error),
            };
            keys.push(Key::parse(word).map_err(bad)?);
        }
        match Ring::new(&keys) {
            Ok(_) => Ok(keys),
            Err(bad) => Err(failed(Why::Ring(bad))),
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Given => f.write_str("the keys"),
            Self::Variable(name) => write!(f, "the variable {name}"),
            Self::File(path) => path.display().fmt(f),
        }
    }
}

/// Why there are no keys; where, and nothing of what stands there.
pub struct KeysError {
    place: String,
    why: Why,
}

#[derive(Debug)]
enum Why {
    Variable(env::VarError),
    File(io::Error),
    Key(BadKey),
    Ring(BadRing),
}

impl KeysError {
    fn of(place: &str) -> impl FnOnce(BadRing) -> Self {
        let place = place.to_owned();
        move |bad| Self {
            place,
            why: Why::Ring(bad),
        }
    }
}

impl fmt::Display for KeysError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.place)?;
        match &self.why {
            Why::Variable(env::VarError::NotPresent) => f.write_str("not set"),
            Why::Variable(env::VarError::NotUnicode(_)) => f.write_str("not text"),
            Why::File(error) => error.fmt(f),
            Why::Key(error) => error.fmt(f),
            Why::Ring(error) => error.fmt(f),
        }
    }
}

/// As it is told: `main` prints errors like this.
impl fmt::Debug for KeysError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeysError: {self}")
    }
}

impl std::error::Error for KeysError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.why {
            Why::Variable(env::VarError::NotPresent) | Why::Variable(_) => None,
            Why::File(error) => Some(error),
            Why::Key(error) => Some(error),
            Why::Ring(error) => Some(error),
        }
    }
}
