//! A published schema document, and validators for its definitions.

use std::fs;
use std::path::Path;

use antiphon_types::Version;
use jsonschema::{Draft, Validator};
use serde_json::{Map, Value};

/// A schema document: definitions by name.
pub(crate) struct Document {
    root: Map<String, Value>,
    /// The member that holds the definitions.
    holder: &'static str,
}

impl Document {
    /// Reads the schema of a revision.
    pub(crate) fn load(dir: &Path, version: Version) -> Result<Self, String> {
        let path = dir.join(format!("{version}.json"));
        let fail = |what: &dyn std::fmt::Display| format!("{}: {what}", path.display());
        let text = fs::read_to_string(&path).map_err(|error| fail(&error))?;
        let value = serde_json::from_str(&text).map_err(|error| fail(&error))?;
        Self::new(value).map_err(|error| fail(&error))
    }

    /// A document that names its dialect and has definitions.
    pub(crate) fn new(document: Value) -> Result<Self, &'static str> {
        let Value::Object(root) = document else {
            return Err("not an object");
        };
        if !root.contains_key("$schema") {
            return Err("no `$schema`");
        }
        let has = |holder: &&str| root.get(*holder).is_some_and(Value::is_object);
        let holder = ["$defs", "definitions"].into_iter().find(has);
        let holder = holder.ok_or("neither `$defs` nor `definitions`")?;
        Ok(Self { root, holder })
    }

    /// The definitions.
    pub(crate) fn definitions(&self) -> &Map<String, Value> {
        self.root[self.holder]
            .as_object()
            .expect("the holder was found to be an object")
    }

    /// A place within the definitions.
    pub(crate) fn place(&self, pointer: &str) -> Option<&Value> {
        self.root[self.holder].pointer(pointer)
    }

    /// The same document with other definitions.
    pub(crate) fn with_definitions(&self, definitions: Map<String, Value>) -> Self {
        let mut root = self.root.clone();
        root.insert(self.holder.to_owned(), definitions.into());
        Self {
            root,
            holder: self.holder,
        }
    }

    /// The definition that a `$ref` names.
    pub(crate) fn resolve(&self, reference: &str) -> Option<&Value> {
        let name = reference.strip_prefix("#/")?.strip_prefix(self.holder)?;
        self.definitions().get(name.strip_prefix('/')?)
    }

    /// A validator for one definition.
    pub(crate) fn validator(&self, name: &str) -> Result<Validator, String> {
        if !self.definitions().contains_key(name) {
            return Err("the schema has no such definition".to_owned());
        }
        let mut root = self.root.clone();
        root.insert(
            "$ref".to_owned(),
            format!("#/{}/{name}", self.holder).into(),
        );
        let draft = match self.holder {
            "$defs" => Draft::Draft202012,
            _ => Draft::Draft7,
        };
        jsonschema::options()
            .with_draft(draft)
            .should_validate_formats(true)
            .build(&root.into())
            .map_err(|error| format!("the schema does not compile: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_document_without_definitions_is_refused() {
        assert!(Document::new(json!([])).is_err());
        assert!(Document::new(json!({"$defs": {}})).is_err());
        assert!(Document::new(json!({"$schema": "x", "$defs": 1})).is_err());
    }

    #[test]
    fn both_dialects_resolve_references() {
        for (dialect, holder) in [
            ("http://json-schema.org/draft-07/schema#", "definitions"),
            ("https://json-schema.org/draft/2020-12/schema", "$defs"),
        ] {
            let document = Document::new(json!({
                "$schema": dialect,
                holder: {
                    "Place": {"type": "object", "properties": {"uri": {"$ref": format!("#/{holder}/Uri")}}},
                    "Uri": {"type": "string", "format": "uri"},
                },
            }))
            .unwrap();
            let place = document.validator("Place").unwrap();
            assert!(place.is_valid(&json!({"uri": "file:///quay"})));
            assert!(!place.is_valid(&json!({"uri": 1})));
            assert!(!place.is_valid(&json!({"uri": "not a uri"})));
            assert!(document.validator("Nowhere").is_err());
        }
    }
}
