//! Forms: what may stand in a field, and what must not be asked for.

mod check;
mod fit;
pub mod format;
mod number;
mod secret;
mod uri;

pub use check::{Broken, check};
pub use fit::plainly_fits;
pub use secret::looks_like_secret;
