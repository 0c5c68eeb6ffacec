//! A `Confirmed` of what nobody was asked about.

use antiphon::{Confirmed, Receipt};

struct Delete {
    path: String,
}

fn by_a_function(args: Delete, receipt: Receipt) -> Confirmed<Delete> {
    Confirmed::new(args, receipt)
}

fn by_conversion(args: Delete) -> Confirmed<Delete> {
    args.into()
}

fn out_of_nothing() -> Confirmed<()> {
    Confirmed::default()
}

fn main() {}
