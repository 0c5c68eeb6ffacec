//! Two things of one yes.

use antiphon::Confirmed;

#[derive(Clone)]
struct Delete {
    path: String,
}

fn delete(what: Confirmed<Delete>) {
    drop(what);
}

fn twice(what: Confirmed<Delete>) {
    let again: Confirmed<Delete> = what.clone();
    delete(what);
    delete(again);
}

fn without_a_clone(what: Confirmed<Delete>) {
    delete(what);
    delete(what);
}

fn main() {}
