//! [`Paused`]: a call that waits for answers, as plain data.

/// A call that waits for answers.
#[derive(Debug)]
pub struct Paused {}
