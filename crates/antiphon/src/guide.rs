//! The guides. Begin with [`first_server`]; the others can be read in any order.
//!
//! | guide | what |
//! |---|---|
//! | [`first_server`] | from nothing to a server that runs and is tested |
//! | [`asking`] | tools, prompts and resources that ask their users, as straight-line code |
//! | [`resolvers`] | what handlers need before: found, or asked for |
//! | [`extractors`] | what handlers take and return |
//! | [`layers`] | what runs around them |
//! | [`schemas`] | from types to JSON Schema, and who is told what |
//! | [`errors`] | how a call fails |
//! | [`resources`] | resources, templates, completions, caching, changes at run time |
//! | [`prompts`] | prompts and their arguments |
//! | [`client`] | clients: calls, questions, paused calls, clocks, transports |
//! | [`testing`] | scripted people, for tests of what asks; rehearsals with everything that may go wrong |
//! | [`sealing`] | what holds of answers and states; keys, single use, replicas |
//! | [`deployment`] | on stdio, over HTTP, behind a proxy; what to watch |
//! | [`authorization`] | tokens, scopes, who calls |
//! | [`http`] | every check and limit of the HTTP service |
//! | [`raw`] | the tier below |

// In the repository the guides link to each other's files. Here the same labels lead to modules and
// types, because of two definitions of a label the first counts.

pub mod first_server {
    #![doc = include_str!("links.md")]
    #![doc = include_str!("../docs/first-server.md")]
}

/// How handlers ask; its code needs the feature `testing`.
#[cfg_attr(feature = "testing", doc = "")]
#[cfg_attr(feature = "testing", doc = include_str!("links.md"))]
#[cfg_attr(feature = "testing", doc = include_str!("../docs/asking.md"))]
pub mod asking {}

/// What handlers need before; its code needs the feature `testing`.
#[cfg_attr(feature = "testing", doc = "")]
#[cfg_attr(feature = "testing", doc = include_str!("links.md"))]
#[cfg_attr(feature = "testing", doc = include_str!("../docs/resolvers.md"))]
pub mod resolvers {}

pub mod extractors {
    #![doc = include_str!("links.md")]
    #![doc = include_str!("../docs/extractors.md")]
}

pub mod layers {
    #![doc = include_str!("links.md")]
    #![doc = include_str!("../docs/layers.md")]
}

pub mod schemas {
    #![doc = include_str!("links.md")]
    #![doc = include_str!("../docs/schemas.md")]
}

pub mod errors {
    #![doc = include_str!("links.md")]
    #![doc = include_str!("../docs/errors.md")]
}

pub mod resources {
    #![doc = include_str!("links.md")]
    #![doc = include_str!("../docs/resources.md")]
}

pub mod prompts {
    #![doc = include_str!("links.md")]
    #![doc = include_str!("../docs/prompts.md")]
}

pub mod client {
    #![doc = include_str!("links.md")]
    #![doc = include_str!("../docs/client.md")]
}

/// The guide to the feature `testing`; its code needs it.
#[cfg_attr(feature = "testing", doc = "")]
#[cfg_attr(feature = "testing", doc = include_str!("links.md"))]
#[cfg_attr(feature = "testing", doc = include_str!("../docs/testing.md"))]
pub mod testing {}

pub mod sealing {
    #![doc = include_str!("links.md")]
    #![doc = include_str!("../docs/sealing.md")]
}

pub mod deployment {
    #![doc = include_str!("links.md")]
    #![doc = include_str!("../docs/deployment.md")]
}

/// The guide to the features `jwt` and `oauth`; its code needs them.
#[cfg_attr(all(feature = "jwt", feature = "oauth"), doc = "")]
#[cfg_attr(all(feature = "jwt", feature = "oauth"), doc = include_str!("links.md"))]
#[cfg_attr(all(feature = "jwt", feature = "oauth"), doc = include_str!("../docs/authorization.md"))]
pub mod authorization {}

pub mod http {
    #![doc = include_str!("links.md")]
    #![doc = include_str!("../docs/http.md")]
}

pub mod older_peers {
    #![doc = include_str!("links.md")]
    #![doc = include_str!("../docs/older-peers.md")]
}

pub mod raw {
    #![doc = include_str!("links.md")]
    #![doc = include_str!("../docs/raw.md")]
}
