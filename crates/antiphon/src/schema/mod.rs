//! Schemas made from types, checks against them, and typed values from strings.

mod arguments;
mod check;
mod effort;
mod enforced;
mod excerpt;
mod forms;
mod generate;
mod invalid;
mod keywords;
mod narrow;
mod once;
mod plain;
mod probe;
mod spelt;
mod strings;
mod violations;
mod whole;

pub(crate) use arguments::string_arguments;
pub(crate) use check::Checker;
pub(crate) use generate::{Described, input, no_input, output, raw_input};
pub(crate) use invalid::InvalidSchema;
pub(crate) use once::read_once;
pub(crate) use spelt::SpeltChecker;
pub(crate) use strings::{Strings, from_strings};
pub(crate) use violations::Violations;
pub(crate) use whole::write_whole;
