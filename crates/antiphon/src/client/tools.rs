//! What is known of a server's tools: which arguments travel in headers, and what results must
//! look like.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use antiphon_core::mirror::HeaderParams;
use antiphon_types::{CallToolResult, Tool};
use serde_json::value::RawValue;

use super::Error;
use crate::schema::Foreign;

/// Most tools that are remembered. Whatever is forgotten can be learnt again.
const MOST: usize = 10_000;

/// The tools that were listed, by name.
#[derive(Debug, Default)]
pub(super) struct Tools(Mutex<HashMap<String, Arc<Known>>>);

#[derive(Debug)]
pub(super) struct Known {
    headers: HeaderParams,
    output: Option<Foreign>,
}

impl Tools {
    /// Learns a page of tools; those with broken annotations are taken out and returned with
    /// what is wrong (HDR-C-07, HDR-C-08). Where nothing is mirrored they do no harm
    /// (HDR-C-10).
    pub(super) fn learn(&self, tools: &mut Vec<Tool>, mirrors: bool) -> Vec<(String, String)> {
        let mut hidden = Vec::new();
        let mut known = self.lock();
        if known.len() >= MOST {
            known.clear();
        }
        tools.retain(|tool| {
            let headers = match HeaderParams::of(&tool.input_schema) {
                Ok(headers) => headers,
                Err(_) if !mirrors => HeaderParams::default(),
                Err(why) => {
                    known.remove(&tool.name);
                    hidden.push((tool.name.clone(), why.to_string()));
                    return false;
                }
            };
            let output = tool.output_schema.as_ref().map(Foreign::new);
            known.insert(tool.name.clone(), Arc::new(Known { headers, output }));
            true
        });
        hidden
    }

    /// What is known of a tool.
    pub(super) fn get(&self, name: &str) -> Option<Arc<Known>> {
        self.lock().get(name).cloned()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<Known>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    /// The headers that these arguments are mirrored in (HDR-C-11, HDR-C-13, HDR-C-19).
    ///
    /// # Errors
    /// When the arguments name a mirrored one twice.
    pub(super) fn headers(
        &self,
        arguments: Option<&RawValue>,
    ) -> Result<Vec<(String, String)>, Error> {
        let Some(arguments) = arguments.filter(|_| !self.headers.is_empty()) else {
            return Ok(Vec::new());
        };
        let mut headers = Vec::new();
        for param in self.headers.iter() {
            if let Some(value) = param.value(arguments).map_err(Error::invalid)? {
                let text = match value.get().as_bytes().first() {
                    Some(b'"') => serde_json::from_str(value.get())
                        .map_err(|error| Error::invalid(format!("{}: {error}", param.header)))?,
                    // No value that a header can hold: for the server to refuse.
                    Some(b'{' | b'[') => continue,
                    // Numbers and booleans are spelt as in the body.
                    _ => value.get().to_owned(),
                };
                headers.push((param.header.clone(), text));
            }
        }
        Ok(headers)
    }

    /// Whether a result keeps what the tool's definition promises (TOOL-C-05).
    ///
    /// # Errors
    /// What it does not keep.
    pub(super) fn check(&self, result: &CallToolResult) -> Result<(), Error> {
        let Some(output) = self.output.as_ref().filter(|_| !result.failed()) else {
            return Ok(());
        };
        let Some(content) = &result.structured_content else {
            return Err(Error::decode(
                "the tool promises structured content and sent none",
            ));
        };
        let Some(violations) = output.violations(content) else {
            tracing::debug!("the tool's own schema takes too long to check");
            return Ok(());
        };
        match violations.is_empty() {
            true => Ok(()),
            false => Err(Error::decode(format!(
                "the structured content does not fit the tool's own schema:\n{violations}"
            ))),
        }
    }
}
