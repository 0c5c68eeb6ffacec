//! `completion/complete`.

use std::collections::BTreeMap;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::extra;
use crate::meta::MetaObject;
use crate::tagged::{self, Tagged};

/// Most values one result may hold.
const MAX_VALUES: usize = 100;

/// Params of `completion/complete`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CompleteRequestParams {
    /// What the argument belongs to.
    #[serde(rename = "ref")]
    pub reference: Reference,
    /// What has been typed so far.
    pub argument: CompleteArgument,
    /// What is already known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<CompleteContext>,
    /// Metadata of the request.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl CompleteRequestParams {
    /// Completes `argument` of `reference`.
    pub fn new(reference: Reference, argument: CompleteArgument) -> Self {
        Self {
            reference,
            argument,
            context: None,
            meta: None,
        }
    }

    /// Completes what was typed as this argument of a prompt.
    pub fn prompt(
        name: impl Into<String>,
        argument: impl Into<String>,
        typed: impl Into<String>,
    ) -> Self {
        let argument = CompleteArgument::new(argument, typed);
        Self::new(Reference::prompt(name), argument)
    }

    /// Completes what was typed as this variable of a resource template.
    pub fn template(
        template: impl Into<String>,
        variable: impl Into<String>,
        typed: impl Into<String>,
    ) -> Self {
        let argument = CompleteArgument::new(variable, typed);
        Self::new(Reference::resource(template), argument)
    }

    /// Adds the value of another argument, which is known already.
    #[must_use]
    pub fn known(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        let context = self.context.get_or_insert_default();
        let arguments = context.arguments.get_or_insert_default();
        arguments.insert(name.into(), value.into());
        self
    }
}

setters!(CompleteRequestParams { plain { context: CompleteContext, meta: MetaObject } });

/// What is being filled in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type")]
#[non_exhaustive]
pub enum Reference {
    /// A prompt.
    #[serde(rename = "ref/prompt")]
    Prompt {
        /// Its name.
        name: String,
        /// Its name for people.
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<String>,
    },
    /// A resource template.
    #[serde(rename = "ref/resource")]
    Resource {
        /// Its URI template.
        uri: String,
    },
}

impl Reference {
    /// The prompt of this name.
    pub fn prompt(name: impl Into<String>) -> Self {
        Self::Prompt {
            name: name.into(),
            title: None,
        }
    }

    /// The template of this URI template.
    pub fn resource(uri: impl Into<String>) -> Self {
        Self::Resource { uri: uri.into() }
    }
}

impl Tagged for Reference {
    const TAG: &'static str = "type";
    const DEFAULT: Option<&'static str> = None;

    fn from_tag<'de, D: Deserializer<'de>>(tag: &str, rest: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Prompt {
            name: String,
            title: Option<String>,
        }
        #[derive(Deserialize)]
        struct Resource {
            uri: String,
        }
        match tag {
            "ref/prompt" => {
                let Prompt { name, title } = Prompt::deserialize(rest)?;
                Ok(Self::Prompt { name, title })
            }
            "ref/resource" => {
                let Resource { uri } = Resource::deserialize(rest)?;
                Ok(Self::Resource { uri })
            }
            other => Err(D::Error::unknown_variant(
                other,
                &["ref/prompt", "ref/resource"],
            )),
        }
    }
}

impl<'de> Deserialize<'de> for Reference {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        tagged::deserialize(from)
    }
}

/// The argument being typed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CompleteArgument {
    /// Its name.
    pub name: String,
    /// What has been typed.
    pub value: String,
}

impl CompleteArgument {
    /// The argument `name`, with `value` typed so far.
    pub fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            value: value.into(),
        }
    }
}

/// Arguments filled in before.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CompleteContext {
    /// Values by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<BTreeMap<String, String>>,
}

impl CompleteContext {
    /// Nothing known.
    pub fn new() -> Self {
        Self::default()
    }
}

setters!(CompleteContext { plain { arguments: BTreeMap<String, String> } });

/// Result of `completion/complete`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CompleteResult {
    /// The suggestions.
    pub completion: Completion,
    /// Metadata of the result.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
    /// Members this revision does not define.
    #[serde(flatten, deserialize_with = "extra::beyond_result")]
    pub extra: Map<String, Value>,
}

impl CompleteResult {
    /// Suggests the first hundred of `values` (COMP-S-02); if there were more,
    /// says how many.
    pub fn new(mut values: Vec<String>) -> Self {
        let mut completion = Completion {
            values: Vec::new(),
            total: None,
            has_more: None,
        };
        if values.len() > MAX_VALUES {
            completion.total = Some(values.len() as u64);
            completion.has_more = Some(true);
            values.truncate(MAX_VALUES);
        }
        completion.values = values;
        Self {
            completion,
            meta: None,
            extra: Map::new(),
        }
    }

    /// Says how many values there are in all.
    #[must_use]
    pub fn total(mut self, total: u64) -> Self {
        self.completion.total = Some(total);
        self
    }

    /// Says whether there are more values.
    #[must_use]
    pub fn has_more(mut self, has_more: bool) -> Self {
        self.completion.has_more = Some(has_more);
        self
    }
}

setters!(CompleteResult { plain { meta: MetaObject } });

/// Suggested values.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Completion {
    /// The best ones first.
    pub values: Vec<String>,
    /// How many there are in all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// Whether there are more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub has_more: Option<bool>,
}

#[cfg(test)]
mod tests {
    use serde_json::{from_value, json, to_value};

    use super::*;

    #[test]
    fn params_round_trip() {
        for value in [
            json!({
                "ref": {"type": "ref/resource", "uri": "tide://{port}"},
                "argument": {"name": "port", "value": "os"},
                "context": {"arguments": {"day": "today"}},
            }),
            json!({"ref": {"type": "ref/prompt", "name": "p"}, "argument": {"name": "a", "value": ""}}),
            json!({"ref": {"type": "ref/prompt", "name": "p", "title": "P"}, "argument": {"name": "a", "value": ""}, "context": {}}),
        ] {
            let params: CompleteRequestParams = from_value(value.clone()).unwrap();
            assert_eq!(to_value(params).unwrap(), value);
        }
        let other = json!({"ref": {"type": "ref/tool", "name": "p"}, "argument": {"name": "a", "value": ""}});
        assert!(from_value::<CompleteRequestParams>(other).is_err());
    }

    #[test]
    fn at_most_a_hundred_values_are_sent() {
        let values = |n: usize| (0..n).map(|i| i.to_string()).collect::<Vec<_>>();
        let result = CompleteResult::new(values(100));
        assert_eq!(result.completion.values.len(), 100);
        assert_eq!(
            (result.completion.total, result.completion.has_more),
            (None, None)
        );
        let result = CompleteResult::new(values(101));
        assert_eq!(result.completion.values, values(100));
        assert_eq!(
            (result.completion.total, result.completion.has_more),
            (Some(101), Some(true))
        );
    }
}
