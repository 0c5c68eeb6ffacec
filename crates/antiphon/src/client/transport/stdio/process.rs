//! [`Process`]: a server in a process of its own, started anew when it dies.

use std::{
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use antiphon_types::Version;
use bytes::Bytes;
use process_wrap::tokio::CommandWrap;
use tokio::time::timeout;

use super::{Options, life, said::Said};
use crate::client::{
    Error, Events, Identity, Incoming, Outgoing, Pending, Transport, transport::channel::Shared,
};

/// A server in a process of its own, as [`Stdio`](super::Stdio) started it.
///
/// The process, and all that it started, is ended by [`close`](Transport::close), or when this is
/// dropped.
pub struct Process {
    identity: Identity,
    /// What it says on its standard error.
    said: Said,
    restarts: u32,
    /// The process as it lives now, or as it lived last.
    life: Mutex<Arc<Shared>>,
    starter: tokio::sync::Mutex<Starter>,
    /// How often it was started anew.
    lives: AtomicU64,
    /// In which life a handshake was made last, counted from 1; 0 if there was none.
    settled: AtomicU64,
}

/// What starts the process.
struct Starter {
    command: CommandWrap,
    options: Options,
    events: Events,
    /// Starts since there was a result.
    in_vain: u32,
    /// It was started anew because it left when it was probed.
    second_chance: bool,
}

impl Process {
    pub(super) fn start(
        mut command: CommandWrap,
        options: Options,
        identity: Identity,
        events: Events,
    ) -> Result<Self, Error> {
        let said = Said::default();
        let life = life::start(
            &mut command,
            &options,
            &identity,
            events.clone(),
            said.clone(),
        )?;
        Ok(Self {
            identity,
            said,
            restarts: options.restarts,
            life: Mutex::new(life),
            starter: tokio::sync::Mutex::new(Starter {
                command,
                options,
                events,
                in_vain: 0,
                second_chance: false,
            }),
            lives: AtomicU64::new(0),
            settled: AtomicU64::new(0),
        })
    }

    /// The process to send to, started anew if it died (STDIO-C-08).
    async fn alive(&self) -> Result<Arc<Shared>, Error> {
        let life = self.life().clone();
        match self.restarts == 0 || !is_dead(&life) {
            true => Ok(life),
            false => self.revive(false).await,
        }
    }

    /// Starts it anew if it died. One that left before it ever agreed on anything, as some older
    /// ones do when they are probed, has a `second_chance`.
    async fn revive(&self, second_chance: bool) -> Result<Arc<Shared>, Error> {
        let mut starter = self.starter.lock().await;
        let life = self.life().clone();
        if !is_dead(&life) {
            return Ok(life);
        }
        // Two of them might be in each other's way.
        life.done().await;
        if life.take_answered() {
            starter.in_vain = 0;
        }
        if second_chance && !starter.second_chance && self.settled.load(Ordering::SeqCst) == 0 {
            starter.second_chance = true;
            return self.replace(&mut starter);
        }
        if starter.in_vain >= self.restarts {
            return Err(self.hopeless(&life));
        }
        _ = timeout(pause(starter.in_vain), life.closing.cancelled()).await;
        starter.in_vain += 1;
        self.replace(&mut starter)
    }

    fn replace(&self, starter: &mut Starter) -> Result<Arc<Shared>, Error> {
        let Starter {
            command,
            options,
            events,
            ..
        } = starter;
        // Whoever closes it now finds the old life, or closes the new one.
        let mut life = self.life();
        if life.is_closed() {
            return Ok(life.clone());
        }
        let said = self.said.clone();
        *life = life::start(command, options, &self.identity, events.clone(), said)?;
        self.lives.fetch_add(1, Ordering::SeqCst);
        tracing::debug!(server = %self.identity, "the server was started anew");
        Ok(life.clone())
    }

    fn hopeless(&self, life: &Shared) -> Error {
        let why = life.why_over();
        let times = match self.restarts {
            1 => "once".into(),
            times => format!("{times} times"),
        };
        let why = why.as_deref().unwrap_or("the server is gone");
        Error::transport(match self.restarts {
            0 => why.to_owned(),
            _ => format!("it was started anew {times} in vain: {why}"),
        })
    }

    /// The process that lives now, if it has agreed on something.
    fn settled_life(&self) -> Option<Arc<Shared>> {
        let life = self.life();
        let lives = self.lives.load(Ordering::SeqCst);
        let settled = self.settled.load(Ordering::SeqCst) == lives + 1;
        (settled && !is_dead(&life)).then(|| life.clone())
    }

    fn life(&self) -> MutexGuard<'_, Arc<Shared>> {
        self.life.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Transport for Process {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn send<'a>(&'a self, request: Outgoing<'a>) -> Pending<'a, Result<Incoming, Error>> {
        Box::pin(async {
            // A request of an older revision must not be the first that a new process gets.
            let is_older = !request.version.is_modern() && request.method != "initialize";
            let life = match (is_older, self.settled_life()) {
                (true, None) => return Err(Error::session_lost().unsent()),
                (true, Some(life)) => life,
                (false, _) => self.alive().await?,
            };
            // What it says until it is connected to belongs together.
            let connects = ["server/discover", "initialize"].contains(&request.method);
            if !connects && life.is_idle() {
                self.said.forget();
            }
            life.send(request).await
        })
    }

    fn is_channel(&self) -> bool {
        true
    }

    fn tell(&self, _: Version, message: Bytes) -> Pending<'_, Result<(), Error>> {
        let life = self.life().clone();
        Box::pin(async move { life.tell(message).await })
    }

    fn settled(&self, version: Version) -> Pending<'_, ()> {
        let life = self.life();
        life.settled(version);
        let lives = self.lives.load(Ordering::SeqCst);
        self.settled.store(lives + 1, Ordering::SeqCst);
        Box::pin(async {})
    }

    fn start_over(&self) -> Pending<'_, Result<(), Error>> {
        Box::pin(async { self.revive(true).await.map(drop) })
    }

    fn life(&self) -> u64 {
        self.lives.load(Ordering::SeqCst)
    }

    fn close(&self) -> Pending<'_, ()> {
        let life = self.life().clone();
        // Here and not in the future: nothing is started from now on.
        life.close();
        Box::pin(async move { life.done().await })
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.life().close();
    }
}

impl fmt::Debug for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Process({})", self.identity)
    }
}

/// Whether it ended, and not because this side wanted it to.
fn is_dead(life: &Shared) -> bool {
    life.is_over() && !life.is_closed()
}

/// How long to wait before a server that died so often in vain is started anew.
fn pause(in_vain: u32) -> Duration {
    const LONGEST: Duration = Duration::from_secs(5);
    let doubled = 2u32.saturating_pow(in_vain);
    Duration::from_millis(100)
        .saturating_mul(doubled)
        .min(LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_an_end() {
        let pauses = [0, 1, 2, 5, 6, 40].map(|tries| pause(tries).as_millis());
        assert_eq!(pauses, [100, 200, 400, 3200, 5000, 5000]);
    }
}
