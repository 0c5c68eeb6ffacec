//! A flow of questions, resolvers and work comes to what a plain run with the same answers comes to,
//! whatever happens between its rounds.

mod flow;
mod plain;
mod rough;

use proptest::{prelude::*, test_runner::TestCaseError};

use flow::{Flow, flows};
use rough::{Trip, trips};

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 160,
        max_shrink_iters: 2_000,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_flow_is_a_plain_run(flow in flows(), trip in trips()) {
        compare(&flow, &trip)?;
    }
}

fn compare(flow: &Flow, trip: &Trip) -> Result<(), TestCaseError> {
    let plain = plain::run(flow);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .expect("a runtime");
    let came = runtime.block_on(rough::run(flow, trip))?;
    prop_assert_eq!(&came.text, &plain.text, "the result");
    prop_assert_eq!(&came.done, &plain.done, "what was done, each thing once");
    prop_assert_eq!(&came.asked, &plain.asked, "what was asked");
    Ok(())
}

/// The generator reaches what the test is about.
#[test]
fn flows_are_neither_empty_nor_all_alike() {
    use proptest::{strategy::ValueTree, test_runner::TestRunner};
    let mut runner = TestRunner::deterministic();
    let (mut asked, mut done, mut several) = (0, 0, 0);
    for _ in 0..200 {
        let flow = flows().new_tree(&mut runner).expect("a flow").current();
        let plain = plain::run(&flow);
        asked += usize::from(plain.asked.len() > 2);
        done += usize::from(!plain.done.is_empty());
        several += usize::from(plain.done.len() > 2);
    }
    assert!(
        asked > 80 && done > 80 && several > 30,
        "{asked} {done} {several}"
    );
}
