//! antiphon
