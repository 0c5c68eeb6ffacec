//! antiphon-types
