//! The arguments of a prompt, from the schema of the type that they are read as.

use antiphon_types::PromptArgument;
use serde_json::{Map, Value};

use super::InvalidSchema;
use super::keywords::{followed, members, names, types};

/// An argument that is given as a string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StringArgument {
    pub(crate) name: String,
    pub(crate) title: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) required: bool,
    /// The strings that are accepted, if the type is an enum.
    pub(crate) choices: Option<Vec<String>>,
}

impl From<StringArgument> for PromptArgument {
    fn from(argument: StringArgument) -> Self {
        let mut prompt = Self::new(argument.name).required(argument.required);
        prompt.title = argument.title;
        prompt.description = argument.description;
        prompt
    }
}

/// The arguments that a schema made from a type has, in order.
///
/// # Errors
/// Which argument no string can be.
pub(crate) fn string_arguments(
    schema: &Map<String, Value>,
) -> Result<Vec<StringArgument>, InvalidSchema> {
    let root = Value::Object(schema.clone());
    let required = names(schema.get("required")).unwrap_or_default();
    let properties = members(schema, "properties").into_iter().flatten();
    let arguments = properties.map(|(name, said)| {
        let text = |keyword: &str| said.get(keyword).and_then(Value::as_str).map(str::to_owned);
        // Something beside a reference may hide what it leads to; the type itself still decides.
        let meant = followed(&root, said).map_or(said, |(it, _)| it);
        if !may_be_string(&root, meant) {
            return Err(InvalidSchema::new(format!(
                "`{name}`: prompt arguments are strings, so it cannot be an object, nor a list of \
                 objects or lists"
            )));
        }
        Ok(StringArgument {
            title: text("title"),
            description: text("description"),
            required: required.contains(&&**name),
            choices: choices(meant),
            name: name.clone(),
        })
    });
    arguments.collect()
}

/// Whether a value can be given as a string, or as a list of strings.
fn may_be_string(root: &Value, schema: &Value) -> bool {
    let Some(schema) = schema.as_object() else {
        return true;
    };
    let mut kinds = types(schema).filter(|it| *it != "null").peekable();
    if kinds.peek().is_some() {
        let item = schema.get("items").and_then(|it| followed(root, it));
        return kinds.any(|kind| match kind {
            "object" => false,
            "array" => item.is_none_or(|(item, _)| {
                let kinds = item.as_object().into_iter().flat_map(types);
                may_be_string(root, item) && !kinds.into_iter().any(|it| it == "array")
            }),
            _ => true,
        });
    }
    let branches = ["oneOf", "anyOf"]
        .iter()
        .find_map(|it| schema.get(*it)?.as_array());
    branches.is_none_or(|branches| {
        let mut followed = branches.iter().filter_map(|it| followed(root, it));
        followed.any(|(it, _)| may_be_string(root, it))
    })
}

/// The strings of an enum.
fn choices(schema: &Value) -> Option<Vec<String>> {
    if let Some(branches) = schema.get("oneOf").and_then(Value::as_array) {
        let all: Option<Vec<_>> = branches.iter().map(choices).collect();
        return all.map(|it| it.concat());
    }
    if let Some(only) = schema.get("const") {
        return Some(vec![only.as_str()?.to_owned()]);
    }
    let listed = schema.get("enum")?.as_array()?.iter();
    let strings = listed.filter(|it| !it.is_null());
    strings.map(|it| it.as_str().map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;
    use serde::Deserialize;
    use serde::de::DeserializeOwned;

    use super::*;
    use crate::schema::input;

    #[derive(Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    enum Tone {
        Warm,
        Cold,
    }

    #[derive(Deserialize, JsonSchema)]
    enum Size {
        /// A few words.
        Small,
        Large,
    }

    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code)]
    struct Nested {
        inner: u8,
    }

    fn arguments<T: JsonSchema + DeserializeOwned>() -> Result<Vec<StringArgument>, String> {
        let schema = input::<T>().expect("a schema").schema;
        string_arguments(&schema).map_err(|error| error.to_string())
    }

    #[test]
    fn every_property_is_an_argument() {
        #[derive(Deserialize, JsonSchema)]
        #[allow(dead_code)]
        struct Brief {
            /// What it is about.
            #[schemars(title = "Topic")]
            topic: String,
            copies: Option<u8>,
            /// How it sounds.
            tone: Tone,
            other: Option<Tone>,
            #[serde(default)]
            tags: Vec<String>,
            size: Size,
            any: Option<Value>,
        }
        let arguments = arguments::<Brief>().unwrap();
        let seen: Vec<_> = (arguments.iter())
            .map(|it| {
                (
                    &*it.name,
                    it.required,
                    it.choices.as_ref().map(|it| it.join(" ")),
                )
            })
            .collect();
        let tones = || Some("warm cold".to_owned());
        assert_eq!(
            seen,
            [
                ("topic", true, None),
                ("copies", false, None),
                ("tone", true, tones()),
                ("other", false, tones()),
                ("tags", false, None),
                ("size", true, Some("Large Small".to_owned())),
                ("any", false, None),
            ]
        );
        assert_eq!(arguments[0].title.as_deref(), Some("Topic"));
        assert_eq!(
            arguments[0].description.as_deref(),
            Some("What it is about.")
        );
        assert_eq!(arguments[2].description.as_deref(), Some("How it sounds."));
        assert_eq!(arguments[1].description, None);
    }

    #[test]
    fn objects_are_no_arguments() {
        macro_rules! refused {
            ($($type:ty)*) => {$({
                #[derive(Deserialize, JsonSchema)]
                #[allow(dead_code)]
                struct Bad {
                    fine: String,
                    bad: $type,
                }
                let error = arguments::<Bad>().unwrap_err();
                assert!(error.starts_with("`bad`: prompt arguments are strings"), "{error}");
            })*};
        }
        refused! {
            Nested
            Option<Nested>
            Vec<Nested>
            Vec<Vec<String>>
            Option<Vec<Nested>>
            std::collections::HashMap<String, String>
            Result<u8, u8>
        }
    }
}
