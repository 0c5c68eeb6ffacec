//! What is known of a server's tools: which arguments travel in headers, and what results must
//! look like.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use antiphon_core::mirror::HeaderParams;
use antiphon_types::{CallToolResult, Tool};
use serde_json::{Value, value::RawValue};

use super::{Error, ErrorKind};
use crate::schema::Foreign;

/// Most bytes of definitions that are remembered, roughly.
const BYTES: usize = 8 * 1024 * 1024;

/// The tools that were listed, by name.
#[derive(Debug, Default)]
pub(super) struct Tools(Mutex<Entries>);

#[derive(Debug, Default)]
struct Entries {
    by_name: HashMap<String, Arc<Known>>,
    bytes: usize,
}

#[derive(Debug, Clone)]
pub(super) struct Known {
    headers: HeaderParams,
    output: Option<Arc<Foreign>>,
    bytes: usize,
}

impl Tools {
    /// Learns a page of tools; those with broken annotations are taken out and returned with
    /// what is wrong (HDR-C-07, HDR-C-08). Where nothing is mirrored they do no harm
    /// (HDR-C-10).
    pub(super) fn learn(&self, tools: &mut Vec<Tool>, mirrors: bool) -> Vec<(String, String)> {
        let mut hidden = Vec::new();
        let mut known = self.lock();
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
            let output = tool.output_schema.as_ref();
            let bytes = tool.name.len()
                + (headers.iter().map(|param| param.header.len())).sum::<usize>()
                + output.map_or(0, |output| output.values().map(size).sum())
                + 256;
            let output = output.map(Foreign::new).map(Arc::new);
            let learnt = Known {
                headers,
                output,
                bytes,
            };
            known.insert(&tool.name, learnt);
            true
        });
        hidden
    }

    /// What is known of a tool.
    pub(super) fn get(&self, name: &str) -> Option<Arc<Known>> {
        self.lock().by_name.get(name).cloned()
    }

    /// The definitions have changed: what they promised of results holds no more. Their headers
    /// are the best guess until the server says otherwise (HDR-C-17).
    pub(super) fn changed(&self) {
        for known in self.lock().by_name.values_mut() {
            Arc::make_mut(known).output = None;
        }
    }

    /// Forgets all.
    pub(super) fn forget(&self) {
        *self.lock() = Entries::default();
    }

    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entries {
    /// Remembers a tool. If that is too much, the others are forgotten: nothing breaks, it only
    /// costs a refused call.
    fn insert(&mut self, name: &str, known: Known) {
        self.remove(name);
        if known.bytes > BYTES / 4 {
            return;
        }
        if self.bytes + known.bytes > BYTES {
            *self = Self::default();
        }
        self.bytes += known.bytes;
        self.by_name.insert(name.to_owned(), Arc::new(known));
    }

    fn remove(&mut self, name: &str) {
        if let Some(known) = self.by_name.remove(name) {
            self.bytes -= known.bytes;
        }
    }
}

/// HDR-C-13: an integer with a fraction or an exponent, such as `1e2`, in decimal; `None` for
/// anything else.
fn decimal(number: &str) -> Option<String> {
    /// Up to here every integer has a float of its own.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let value: f64 = number
        .parse()
        .ok()
        .filter(|_| number.contains(['.', 'e', 'E']))?;
    (value.fract() == 0.0 && value.abs() <= EXACT).then(|| format!("{value:.0}"))
}

/// What a value takes, roughly.
fn size(value: &Value) -> usize {
    let parts = match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(size).sum(),
        Value::Object(members) => members
            .iter()
            .map(|(name, value)| name.len() + size(value))
            .sum(),
        _ => 0,
    };
    size_of::<Value>() + parts
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
                    // Booleans, and numbers that are no integers, are spelt as in the body.
                    _ => decimal(value.get()).unwrap_or_else(|| value.get().to_owned()),
                };
                headers.push((param.header.clone(), text));
            }
        }
        Ok(headers)
    }

    /// Whether a result keeps what the tool's definition promises (TOOL-C-05).
    ///
    /// # Errors
    /// What it does not keep, with the result itself. A definition that cannot be checked
    /// promises nothing.
    pub(super) fn check(&self, result: &CallToolResult) -> Result<(), Error> {
        let Some(output) = self.output.as_ref().filter(|_| !result.failed()) else {
            return Ok(());
        };
        let broken = |what: String| {
            let kind = ErrorKind::SchemaMismatch(Box::new(result.clone()));
            Err(Error::new(kind, what))
        };
        let Some(content) = &result.structured_content else {
            return broken("the tool promises structured content and sent none".to_owned());
        };
        let Some(violations) = output.violations(content) else {
            tracing::warn!("a result is not checked: its schema is wrong, or takes too long");
            return Ok(());
        };
        match violations.is_empty() {
            true => Ok(()),
            false => broken(format!(
                "the structured content does not fit the tool's own schema:\n{violations}"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn tool(name: &str, output: &Value) -> Tool {
        let tool = json!({
            "name": name, "inputSchema": { "type": "object" }, "outputSchema": output,
        });
        serde_json::from_value(tool).expect("a tool")
    }

    /// HDR-C-13: however the body spells them.
    #[test]
    fn integers_are_mirrored_in_decimal() {
        let tools = Tools::default();
        let tool = json!({ "name": "t", "inputSchema": { "type": "object", "properties": {
            "n": { "type": "integer", "x-mcp-header": "N" },
        }}});
        let tool = serde_json::from_value(tool).expect("a tool");
        tools.learn(&mut vec![tool], true);
        for (body, header) in [
            ("7", Some("7")),
            ("-7", Some("-7")),
            ("18446744073709551615", Some("18446744073709551615")),
            ("1e2", Some("100")),
            ("5.0", Some("5")),
            ("-2.5E1", Some("-25")),
            // No integers: for the server to refuse.
            ("1.5", Some("1.5")),
            ("1e300", Some("1e300")),
            ("true", Some("true")),
            ("null", None),
        ] {
            let arguments = RawValue::from_string(format!(r#"{{"n":{body}}}"#)).expect("JSON");
            let known = tools.get("t").expect("known");
            let headers = known.headers(Some(&arguments)).expect("headers");
            let value = headers.first().map(|(_, value)| value.as_str());
            assert_eq!(value, header, "{body}");
        }
    }

    /// A server may list as many as it likes; not all of them are remembered.
    #[test]
    fn what_is_known_is_bounded() {
        let tools = Tools::default();
        let output = json!({ "type": "object", "description": "x".repeat(100_000) });
        for at in 0..1_000 {
            tools.learn(&mut vec![tool(&at.to_string(), &output)], true);
        }
        assert!(tools.get("999").is_some() && tools.get("0").is_none());
        let entries = tools.lock();
        assert!(entries.by_name.len() < BYTES / 100_000);
        drop(entries);
        let endless = json!({ "type": "object", "description": "x".repeat(BYTES) });
        tools.learn(&mut vec![tool("endless", &endless)], true);
        assert!(tools.get("endless").is_none() && tools.get("999").is_some());
    }

    #[test]
    fn a_tool_is_counted_once() {
        let tools = Tools::default();
        let output = json!({ "type": "object", "description": "x".repeat(BYTES / 5) });
        tools.learn(&mut vec![tool("other", &json!({ "type": "object" }))], true);
        for _ in 0..20 {
            tools.learn(&mut vec![tool("same", &output)], true);
        }
        assert!(tools.get("same").is_some() && tools.get("other").is_some());
    }
}
