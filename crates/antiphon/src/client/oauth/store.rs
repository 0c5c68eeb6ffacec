//! [`TokenStore`]: where tokens are kept between connections.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::Secret;
use crate::client::{Pending, error::Boxed};

/// Keeps what a client got from authorization servers: tokens by the server they are for, and
/// registrations by their issuer (AUTH-C-25).
///
/// Keys are text without secrets; values are secrets (AUTH-C-48). A keyring of the system's, or a
/// database, is a store of one's own.
pub trait TokenStore: Send + Sync + 'static {
    /// What is kept under a key.
    ///
    /// # Errors
    /// When it cannot be read; the request that needed it fails.
    fn load<'a>(&'a self, key: &'a str) -> Pending<'a, Result<Option<Secret>, Boxed>>;

    /// Keeps this under a key, in place of what was there.
    ///
    /// # Errors
    /// When it cannot be written. That is logged, and the connection goes on with what it has.
    fn save<'a>(&'a self, key: &'a str, value: &'a Secret) -> Pending<'a, Result<(), Boxed>>;

    /// Forgets what is kept under a key, if anything is.
    ///
    /// # Errors
    /// When it cannot be removed.
    fn remove<'a>(&'a self, key: &'a str) -> Pending<'a, Result<(), Boxed>>;
}

impl<S: TokenStore + ?Sized> TokenStore for Arc<S> {
    fn load<'a>(&'a self, key: &'a str) -> Pending<'a, Result<Option<Secret>, Boxed>> {
        S::load(self, key)
    }

    fn save<'a>(&'a self, key: &'a str, value: &'a Secret) -> Pending<'a, Result<(), Boxed>> {
        S::save(self, key, value)
    }

    fn remove<'a>(&'a self, key: &'a str) -> Pending<'a, Result<(), Boxed>> {
        S::remove(self, key)
    }
}

/// Keeps tokens in memory; clones share them. What [`OAuth`](super::OAuth) uses unless told
/// otherwise.
#[derive(Debug, Clone, Default)]
pub struct MemoryTokens(Arc<Mutex<HashMap<String, Secret>>>);

impl MemoryTokens {
    /// Keeps none yet.
    pub fn new() -> Self {
        Self::default()
    }

    fn kept(&self) -> MutexGuard<'_, HashMap<String, Secret>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TokenStore for MemoryTokens {
    fn load<'a>(&'a self, key: &'a str) -> Pending<'a, Result<Option<Secret>, Boxed>> {
        Box::pin(async move { Ok(self.kept().get(key).cloned()) })
    }

    fn save<'a>(&'a self, key: &'a str, value: &'a Secret) -> Pending<'a, Result<(), Boxed>> {
        Box::pin(async move {
            self.kept().insert(key.to_owned(), value.clone());
            Ok(())
        })
    }

    fn remove<'a>(&'a self, key: &'a str) -> Pending<'a, Result<(), Boxed>> {
        Box::pin(async move {
            self.kept().remove(key);
            Ok(())
        })
    }
}
