//! What the programs of the grid share. See `interop/README.md`.

pub mod cases;
pub mod process;
pub mod transcript;

use std::fmt::Debug;

/// Whether two values are the same.
///
/// # Errors
/// If they are not: what they are.
pub fn same<F, W>(found: &F, wanted: &W) -> Result<(), Box<dyn std::error::Error>>
where
    F: PartialEq<W> + Debug + ?Sized,
    W: Debug + ?Sized,
{
    match found == wanted {
        true => Ok(()),
        false => Err(format!("expected {wanted:?}, got {found:?}").into()),
    }
}
