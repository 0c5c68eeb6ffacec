//! Streamable HTTP, the client's side.
//!
//! [`wire`] makes one exchange, [`transport`] the requests that stand alone. The rest is for servers
//! of older revisions: [`session`] with its requests ([`asked`], [`reply`]) and the streams that are
//! come back to ([`resume`], [`standalone`]), and the transport before this one ([`sse`]). Servers that
//! want a token are for [`bearer`], [`challenge`] and [`metadata`].

mod answer;
mod asked;
mod bearer;
mod challenge;
mod events;
mod head;
mod metadata;
mod reply;
mod resume;
mod session;
mod settings;
mod sse;
mod stamp;
mod standalone;
mod transport;
mod waiting;
mod wire;
mod www_authenticate;

pub use bearer::Bearer;
pub(in crate::client) use bearer::Token;
pub use challenge::{BearerChallenge, Challenge};
pub use metadata::ResourceMetadata;
pub use settings::Http;
pub use transport::HttpTransport;
