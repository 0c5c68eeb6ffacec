//! [`Named`]: a server under a name that its user chose.

use std::time::Duration;

use antiphon_types::Version;
use bytes::Bytes;

use crate::client::{Connect, Error, Events, Identity, Incoming, Outgoing, Pending, Transport};

/// A way to a server, or the way taken, under a name; see [`Connect::named`].
#[derive(Debug)]
pub struct Named<T> {
    inner: T,
    name: String,
    identity: Option<Identity>,
}

impl<T> Named<T> {
    pub(super) fn new(inner: T, name: String) -> Self {
        Self {
            inner,
            name,
            identity: None,
        }
    }
}

impl<C: Connect + Send> Connect for Named<C> {
    type Transport = Named<C::Transport>;

    async fn connect(self, events: Events) -> Result<Self::Transport, Error> {
        let connected = self.inner.connect(events).await;
        let inner =
            connected.map_err(|error| error.during(format_args!("connecting to {}", self.name)))?;
        let identity = Identity::Named {
            name: self.name.clone(),
            server: Box::new(inner.identity().clone()),
        };
        Ok(Named {
            inner,
            name: self.name,
            identity: Some(identity),
        })
    }
}

impl<T: Transport> Transport for Named<T> {
    fn identity(&self) -> &Identity {
        match &self.identity {
            Some(identity) => identity,
            None => self.inner.identity(),
        }
    }

    fn send<'a>(&'a self, request: Outgoing<'a>) -> Pending<'a, Result<Incoming, Error>> {
        self.inner.send(request)
    }

    fn authorization(&self) -> Pending<'_, Result<Option<u64>, Error>> {
        self.inner.authorization()
    }

    fn held(&self) -> Duration {
        self.inner.held()
    }

    fn mirrors(&self) -> bool {
        self.inner.mirrors()
    }

    fn life(&self) -> u64 {
        self.inner.life()
    }

    fn is_channel(&self) -> bool {
        self.inner.is_channel()
    }

    fn tell(&self, version: Version, message: Bytes) -> Pending<'_, Result<(), Error>> {
        self.inner.tell(version, message)
    }

    fn settled(&self, version: Version) -> Pending<'_, ()> {
        self.inner.settled(version)
    }

    fn start_over(&self) -> Pending<'_, Result<(), Error>> {
        self.inner.start_over()
    }

    fn fall_back(&self) -> Pending<'_, Result<bool, Error>> {
        self.inner.fall_back()
    }

    fn close(&self) -> Pending<'_, ()> {
        self.inner.close()
    }
}
