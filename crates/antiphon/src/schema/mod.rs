//! Schemas made from types, checks against them, and typed values from strings.

mod arguments;
mod check;
mod enforced;
mod generate;
mod invalid;
mod keywords;
mod plain;
mod probe;
mod strings;

pub(crate) use arguments::{StringArgument, string_arguments};
pub(crate) use check::{Checker, Violation, Violations};
pub(crate) use enforced::enforced;
pub(crate) use generate::{Described, input, output, raw_input};
pub(crate) use invalid::InvalidSchema;
pub(crate) use strings::{BadString, Strings, from_strings};
