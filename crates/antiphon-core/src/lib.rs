//! The sans-io heart of [Antiphon](https://docs.rs/antiphon): what must be right whatever
//! carries the bytes. Nothing here owns a socket, a clock, a random generator or a runtime.
//!
//! | module | concern |
//! |---|---|
//! | [`envelope`] | one pass over an incoming message, borrowing from its bytes |
//! | [`depth`] | the nesting cap |
//! | [`exchange`] | the rounds of one call, seen from the client |
//! | [`form`] | whether an answer fits its form, and what a form must not ask for |
//! | [`ledger`] | what a call carries from one round to the next |
//! | [`legacy`] | shapes of the revisions before 2026-07-28 |
//! | [`moment`] | a point in time, handed in |
//! | [`negotiate`] | which protocol version a message claims, and whether we serve it |
//! | [`mirror`] | header values that repeat body values: encoding, annotations, comparison |
//! | [`question`] | the kinds of questions, and the capabilities they need |
//! | [`reply`] | one pass over a message that a server sent |
//! | [`seal`] | states and bytes that nobody else can read, change, or use twice |
//! | [`sse`] | server-sent events, from bytes cut anywhere |
//! | [`template`] | URI templates: which one a URI belongs to, and URIs from values |
//! | [`link`] | what links that users open say of the call they belong to |
//! | [`asking`] | one run of a handler that asks, against what the call knows |
//! | [`answers`] | what came back for the questions of an earlier round |
//! | [`canonical`] | one spelling for every JSON value |
//! | [`write`](mod@write) | outgoing messages, written once |

pub mod answers;
pub mod asking;
pub mod canonical;
pub mod depth;
pub mod envelope;
pub mod exchange;
pub mod form;
pub mod ledger;
pub mod legacy;
pub mod link;
pub mod mirror;
pub mod moment;
pub mod negotiate;
pub mod question;
pub mod reply;
pub mod seal;
pub mod sse;
pub mod template;
pub mod write;
