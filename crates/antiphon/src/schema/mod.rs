//! Schemas made from types, checks against them, and typed values from strings.

mod check;
mod enforced;
mod generate;
mod invalid;
mod keywords;
mod plain;
mod probe;
mod strings;

pub(crate) use check::{Checker, Violation, Violations};
pub(crate) use enforced::enforced;
pub(crate) use generate::{Described, input, no_input, output, raw_input};
pub(crate) use invalid::InvalidSchema;
pub(crate) use strings::{BadString, StringArgument, Strings, from_strings, string_arguments};
