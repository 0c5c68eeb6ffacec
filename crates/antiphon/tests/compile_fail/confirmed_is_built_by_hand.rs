//! A `Confirmed` that nobody has agreed to.

use antiphon::{Confirmed, Receipt};

struct Delete {
    path: String,
}

fn forge(args: Delete, receipt: Receipt) -> Confirmed<Delete> {
    Confirmed { args, receipt }
}

fn main() {}
