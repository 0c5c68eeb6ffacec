//! The file server as a host runs it: a child process, seen from a client.

mod consent;
mod escapes;
mod ground;
mod resources;
mod tools;
