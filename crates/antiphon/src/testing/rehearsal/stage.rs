//! [`Stage`]: the instances of a server that a call meets, and what they share.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use antiphon_core::seal::memory::MemoryStore;
use bytes::Bytes;

use super::{course::Steps, finding::Finding, heard::Heard};
use crate::{
    Server,
    auth::Principal,
    memory,
    sealing::{Key, KeyRing, Sealing},
};

/// Makes an instance.
pub(super) type Build = Arc<dyn Fn(Sealing) -> Server + Send + Sync>;

/// Where one play is performed.
pub(super) struct Stage {
    build: Build,
    principal: Option<Principal>,
    /// The guard and the journal, which all instances share.
    store: Arc<MemoryStore>,
    /// The one instance of a smooth play, once it is made.
    only: Option<OnceLock<Server>>,
    instances: Mutex<Vec<Server>>,
}

/// What came of one request.
pub(super) struct Sent {
    pub(super) heard: Heard,
    pub(super) steps: Steps,
}

/// Who knows which states were used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Guarding {
    All,
    /// This instance alone, which knows nothing yet.
    Alone,
}

impl Stage {
    pub(super) fn new(build: &Build, principal: Option<&Principal>, smooth: bool) -> Self {
        Self {
            build: build.clone(),
            principal: principal.cloned(),
            store: Arc::default(),
            only: smooth.then(OnceLock::new),
            instances: Mutex::default(),
        }
    }

    /// Sends a request that is no part of the call, such as one for a list.
    pub(super) async fn ask(&self, body: Bytes) -> Result<Bytes, Finding> {
        self.exchange(&self.server(0, Guarding::All)?, body).await
    }

    /// Sends a request of the call, its leg of this number, to an instance of its own.
    pub(super) async fn send(
        &self,
        leg: u32,
        guarding: Guarding,
        body: Bytes,
    ) -> Result<Sent, Finding> {
        let server = self.server(leg, guarding)?;
        let response = self.exchange(&server, body).await?;
        let heard = Heard::of(response)
            .ok_or_else(|| Finding::plain("what the server answered is no response"))?;
        let steps = server.settings.faults.take_steps().into_iter().collect();
        match Finding::faults(&server.settings.faults.take()) {
            Some(finding) => Err(finding),
            None => Ok(Sent { heard, steps }),
        }
    }

    /// What instances told of after they had answered.
    pub(super) fn late(&self) -> Option<Finding> {
        let instances = self.instances.lock();
        let instances = instances.unwrap_or_else(PoisonError::into_inner);
        let faults = instances.iter().map(|server| server.settings.faults.take());
        Finding::faults(&faults.flatten().collect::<Vec<_>>())
    }

    fn server(&self, leg: u32, guarding: Guarding) -> Result<Server, Finding> {
        let Some(only) = &self.only else {
            return self.instance(leg, guarding);
        };
        if let Some(only) = only.get() {
            return Ok(only.clone());
        }
        let server = self.instance(0, guarding)?;
        Ok(only.get_or_init(|| server).clone())
    }

    fn instance(&self, leg: u32, guarding: Guarding) -> Result<Server, Finding> {
        let keys = KeyRing::new(keys(leg)).expect("two keys that differ");
        let sealing = Sealing::keys(keys.clone())
            .audience("rehearsal")
            // So that a large answer can be told again.
            .answer_bytes(1 << 20)
            .journal(self.store.clone());
        let sealing = match guarding {
            Guarding::All => sealing.single_use(self.store.clone()),
            Guarding::Alone => sealing.single_use(MemoryStore::new()),
        };
        let server = (self.build)(sealing);
        if !server.settings.sealing.is_under(&keys) {
            return Err(Finding::plain(
                "the closure of a rehearsal must give the sealing that it is handed to the server: \
                 `.sealing(sealing)`",
            ));
        }
        // From now on they are kept.
        _ = server.settings.faults.take();
        let instances = self.instances.lock();
        let mut instances = instances.unwrap_or_else(PoisonError::into_inner);
        instances.push(server.clone());
        Ok(server)
    }

    async fn exchange(&self, server: &Server, body: Bytes) -> Result<Bytes, Finding> {
        let mut peer = match &self.principal {
            None => memory::connect(server.clone()),
            Some(principal) => memory::connect_as(server.clone(), principal.clone()),
        };
        peer.send(body).await;
        while let Some(message) = peer.receive().await {
            if !is_notification(&message) {
                return Ok(message);
            }
        }
        Err(Finding::plain(
            "the server ended without a response; if it did not start, its log says why",
        ))
    }
}

fn is_notification(message: &[u8]) -> bool {
    #[derive(serde::Deserialize)]
    struct Head {
        method: Option<serde::de::IgnoredAny>,
    }
    serde_json::from_slice::<Head>(message).is_ok_and(|head| head.method.is_some())
}

/// The keys of a leg: `[a, b]`, `[b, a]`, `[b, c]`, `[c, b]` and so on, as a fleet's are rotated.
fn keys(leg: u32) -> [Key; 2] {
    let key = |number: u32| {
        let mut bytes = [0x5a; 32];
        bytes[..4].copy_from_slice(&number.to_be_bytes());
        Key::new(&bytes).expect("32 bytes")
    };
    let (old, new) = (leg / 2, leg / 2 + 1);
    match leg % 2 {
        0 => [key(old), key(new)],
        _ => [key(new), key(old)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_leg_seals_the_next_opens() {
        let ids = |leg| KeyRing::new(keys(leg)).expect("two keys").ids();
        for leg in 0..6 {
            let (now, next) = (ids(leg), ids(leg + 1));
            assert!(next.contains(&now[0]), "{leg}");
            assert_ne!(now, next, "{leg}");
        }
    }
}
