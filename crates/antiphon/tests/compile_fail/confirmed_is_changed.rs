//! Something else than what the user has agreed to.

use antiphon::Confirmed;

struct Delete {
    path: String,
}

fn redirect(what: &mut Confirmed<Delete>) {
    what.path = "another".to_owned();
}

fn swap(what: &mut Confirmed<Delete>, other: &mut Delete) {
    std::mem::swap(&mut **what, other);
}

fn main() {}
