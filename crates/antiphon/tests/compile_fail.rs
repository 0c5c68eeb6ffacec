//! What the compiler says to what does not compile.
//!
//! The messages are part of the API: they are what a newcomer meets first. Each is pinned in a
//! `.stderr` file beside its case. To write them anew, run this with `TRYBUILD=overwrite`, and read
//! every one that has changed.

use std::{env, process::Command};

/// The compiler that said what is pinned; another one may say it in other words.
const PINNED: &str = "rustc 1.95.";

#[test]
fn what_does_not_compile_is_explained() {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(rustc).arg("--version").output();
    let version = String::from_utf8(version.expect("there is a compiler").stdout);
    let version = version.expect("its version is text");
    if !version.starts_with(PINNED) {
        eprintln!("skipped: the messages are those of {PINNED}x, this is {version}");
        return;
    }
    trybuild::TestCases::new().compile_fail("tests/compile_fail/*.rs");
}
