//! A tool that asks as it goes along: it reads like a program that waits for its user, and yet every
//! answer comes with a call of its own.
//!
//! `antiphon demo` serves more of the kind; their sources are in `crates/antiphon-cli/src/demo/flows`.

mod shop;

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    antiphon::stdio::serve(shop::server()).await
}
