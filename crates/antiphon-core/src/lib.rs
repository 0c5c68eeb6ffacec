//! antiphon-core
