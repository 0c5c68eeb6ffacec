//! A server on one end of a pair.

use std::{future::Future, sync::Arc};

use antiphon_types::ErrorObject;
use bytes::Bytes;

use super::{Peer, pair};
use crate::{
    auth::Principal,
    engine::{connection::Connection, lifecycle::Serving, lines::Lines},
    raw::{Endpoint, Transport},
};

/// Serves `endpoint` on a fresh pair, on a task of its own, and returns the client's end.
///
/// Dropping that end ends the server.
pub fn connect(endpoint: impl Into<Endpoint>) -> Peer {
    let (client, server) = pair();
    tokio::spawn(serve(endpoint.into(), server));
    client
}

/// The same, for a caller whose identity the host vouches for.
pub fn connect_as(endpoint: impl Into<Endpoint>, principal: Principal) -> Peer {
    let (client, server) = pair();
    tokio::spawn(serve_as(endpoint.into(), server, Some(principal)));
    client
}

/// Serves `endpoint` on one end of a pair until the other is gone; not at all if the service
/// does not start, which the log tells.
///
/// The service stops with the last transport of its endpoint. One that serves connection after
/// connection is started before the first with [`Endpoint::start`].
pub async fn serve(endpoint: impl Into<Endpoint>, peer: Peer) {
    serve_as(endpoint, peer, None).await;
}

/// The same, for a caller whose identity the host vouches for.
pub fn serve_as(
    endpoint: impl Into<Endpoint>,
    mut peer: Peer,
    principal: Option<Principal>,
) -> impl Future<Output = ()> + Send {
    let endpoint = endpoint.into();
    let limit = endpoint.inner().limits.message_bytes;
    async move {
        let Ok(serving) = Serving::begin(&endpoint).await else {
            return;
        };
        let lines = Arc::new(Lines::default());
        let connection = Connection::new(endpoint, Transport::Memory, principal, lines.clone());
        let sender = peer.sender;
        let write = async {
            let mut buffer = Vec::new();
            while lines.take(&mut buffer).await {
                for message in buffer.split(|byte| *byte == b'\n') {
                    if !message.is_empty()
                        && sender.send(Bytes::copy_from_slice(message)).await.is_err()
                    {
                        lines.close();
                        return;
                    }
                }
                buffer.clear();
            }
        };
        let read = async {
            while let Some(message) = peer.receiver.recv().await {
                if message.len() > limit {
                    let error = format!("The message is longer than {limit} bytes");
                    connection.refuse(&ErrorObject::invalid_request(error));
                } else {
                    connection.receive(message);
                }
                lines.room().await;
            }
            connection.finish().await;
        };
        tokio::join!(read, write);
        serving.end().await;
    }
}
