//! What the programs of the grid share. See `interop/README.md`.

pub mod transcript;
