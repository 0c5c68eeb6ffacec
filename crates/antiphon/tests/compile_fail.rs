//! What the compiler says to what does not compile.
//!
//! The messages are part of the API: they are what a newcomer meets first. Each is pinned in a
//! `.stderr` file beside its case. To write them anew, run this with `TRYBUILD=overwrite`, and read
//! every one that has changed.

#[test]
#[rustversion::attr(
    not(stable(1.95)),
    ignore = "another compiler may say it in other words than the pinned ones of 1.95"
)]
fn what_does_not_compile_is_explained() {
    trybuild::TestCases::new().compile_fail("tests/compile_fail/*.rs");
}
