//! Schemas made from types, checks against them, and typed values from strings.

#![cfg_attr(
    not(feature = "server"),
    expect(dead_code, reason = "a client checks, and makes no schemas")
)]

#[cfg(feature = "server")]
mod arguments;
mod check;
mod effort;
#[cfg(feature = "server")]
mod enforced;
mod excerpt;
#[cfg(feature = "server")]
mod feed;
#[cfg(feature = "client")]
mod foreign;
mod forms;
#[cfg(feature = "server")]
mod generate;
mod invalid;
#[cfg(feature = "server")]
mod json;
mod keywords;
#[cfg(feature = "server")]
mod misfit;
#[cfg(feature = "server")]
mod misread;
mod narrow;
#[cfg(feature = "server")]
mod once;
#[cfg(feature = "server")]
mod plain;
#[cfg(feature = "server")]
mod probe;
#[cfg(feature = "server")]
mod reading;
#[cfg(feature = "server")]
mod spelt;
#[cfg(feature = "server")]
mod strings;
mod violations;
#[cfg(feature = "server")]
mod whole;

#[cfg(feature = "server")]
pub(crate) use arguments::string_arguments;
pub(crate) use check::Checker;
#[cfg(feature = "client")]
pub(crate) use foreign::Foreign;
#[cfg(feature = "server")]
pub(crate) use generate::{Described, input, no_input, output, raw_input};
pub(crate) use invalid::InvalidSchema;
#[cfg(feature = "server")]
pub(crate) use json::without_place;
#[cfg(feature = "server")]
pub(crate) use misfit::misfits;
#[cfg(feature = "server")]
pub(crate) use once::read_once;
#[cfg(feature = "server")]
pub(crate) use reading::{Read, Reading, explain, read_json};
#[cfg(feature = "server")]
pub(crate) use spelt::SpeltChecker;
#[cfg(feature = "server")]
pub(crate) use strings::{Strings, read_strings};
pub(crate) use violations::Violations;
#[cfg(feature = "server")]
pub(crate) use whole::write_whole;
