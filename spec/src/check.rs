//! Checking samples against a schema document, and that none are missing.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use jsonschema::Validator;
use serde_json::Value;

use crate::closed::{self, Extra};
use crate::exempt::Exempt;
use crate::members;
use crate::sample::{Sample, Samples};
use crate::schema::Document;

/// What came of checking one revision.
pub(crate) struct Report {
    covered: usize,
    definitions: usize,
    samples: usize,
    pub(crate) failures: Vec<Failure>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            covered,
            definitions,
            samples,
            ..
        } = self;
        write!(
            f,
            "{covered} of {definitions} definitions, {samples} samples"
        )
    }
}

/// Something wrong with a sample, or with the samples of a definition.
pub(crate) struct Failure {
    definition: String,
    sample: Option<Value>,
    message: String,
}

impl Failure {
    fn new(definition: &str, sample: Option<&Value>, message: impl Into<String>) -> Self {
        Self {
            definition: definition.to_owned(),
            sample: sample.cloned(),
            message: message.into(),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.definition, self.message)?;
        match &self.sample {
            Some(sample) => write!(f, "\n    {sample}"),
            None => Ok(()),
        }
    }
}

/// Checks every sample, then that every definition and member has one.
pub(crate) fn check(document: &Document, samples: &Samples, exempt: &Exempt) -> Report {
    let closed = closed::close(document, !samples.modern(), &exempt.extras);
    let by_definition = by_definition(samples);
    let mut failures = unfit(document, samples, &exempt.extras);
    for definition in document.definitions().keys() {
        let samples = by_definition.get(definition.as_str()).map(Vec::as_slice);
        failures.extend(cover(
            &closed,
            definition,
            samples.unwrap_or_default(),
            exempt,
        ));
    }
    failures.extend(stale(document, exempt));
    Report {
        covered: by_definition.len(),
        definitions: document.definitions().len(),
        samples: samples.list.len(),
        failures,
    }
}

/// Checks every sample, and not whether any are missing.
pub(crate) fn unfit(document: &Document, samples: &Samples, extras: &[Extra]) -> Vec<Failure> {
    let closed = closed::close(document, !samples.modern(), extras);
    let mut failures: Vec<_> = samples.list.iter().filter_map(round_trip).collect();
    for (definition, samples) in by_definition(samples) {
        failures.extend(fit(document, &closed, definition, &samples));
    }
    failures
}

fn by_definition(samples: &Samples) -> BTreeMap<&str, Vec<&Value>> {
    let mut by_definition = BTreeMap::<&str, Vec<&Value>>::new();
    for sample in &samples.list {
        for definition in &sample.definitions {
            let list = by_definition.entry(definition).or_default();
            list.push(&sample.json);
        }
    }
    by_definition
}

/// Decoding a sample must lose and change nothing.
fn round_trip(sample: &Sample) -> Option<Failure> {
    let message = match &sample.again {
        Ok(again) if *again == sample.json => return None,
        Ok(again) => format!("decoded and written again it is {again}"),
        Err(error) => format!("it does not decode: {error}"),
    };
    let definition = sample.definitions.join(", ");
    Some(Failure::new(&definition, Some(&sample.json), message))
}

/// The samples of a definition must be valid, and have no members it lacks.
fn fit(document: &Document, closed: &Document, name: &str, samples: &[&Value]) -> Vec<Failure> {
    let validators = document
        .validator(name)
        .and_then(|open| Ok((open, closed.validator(name)?)));
    let (open, closed) = match validators {
        Ok(validators) => validators,
        Err(message) => return vec![Failure::new(name, samples.first().copied(), message)],
    };
    let refused = |sample: &Value| {
        errors(&open, sample).or_else(|| {
            errors(&closed, sample).map(|errors| format!("with unnamed members refused: {errors}"))
        })
    };
    samples
        .iter()
        .filter_map(|sample| Some(Failure::new(name, Some(sample), refused(sample)?)))
        .collect()
}

/// What a validator says against a sample.
fn errors(validator: &Validator, sample: &Value) -> Option<String> {
    let errors: Vec<String> = validator
        .iter_errors(sample)
        .map(|error| match error.instance_path().to_string() {
            path if path.is_empty() => error.to_string(),
            path => format!("{path}: {error}"),
        })
        .collect();
    (!errors.is_empty()).then(|| errors.join("; "))
}

/// A definition must have samples, and among them all of its members, or
/// stand on the list of those that do not; never both.
fn cover(closed: &Document, name: &str, samples: &[&Value], exempt: &Exempt) -> Vec<Failure> {
    let fail = |message: String| Failure::new(name, None, message);
    match (samples.is_empty(), exempt.definitions.contains_key(name)) {
        (true, true) => return Vec::new(),
        (true, false) => return vec![fail("no sample".to_owned())],
        (false, true) => return vec![fail("has samples, but is listed as having none".to_owned())],
        (false, false) => {}
    }
    let schema = &closed.definitions()[name];
    let present: BTreeSet<String> = samples
        .iter()
        .flat_map(|sample| members::present(schema, sample))
        .collect();
    let named = members::named(schema);
    let listed = |member: &str| exempt.members.contains_key(&(name, member));
    let missing = named
        .difference(&present)
        .filter(|member| !listed(member))
        .map(|member| fail(format!("no sample has `{member}`")));
    let needless = present
        .iter()
        .filter(|member| listed(member))
        .map(|member| fail(format!("a sample has `{member}`, listed as never sent")));
    missing.chain(needless).collect()
}

/// The lists of exceptions must not name what the schema does not have.
fn stale(document: &Document, exempt: &Exempt) -> Vec<Failure> {
    let known = document.definitions();
    let definitions = exempt.definitions.keys();
    let definitions = definitions
        .filter(|name| !known.contains_key(**name))
        .map(|name| (*name, "listed, but the schema has no such definition"));
    let members = exempt.members.keys();
    let members = members
        .filter(|(name, member)| {
            let definition = known.get(*name);
            !definition.is_some_and(|schema| members::named(schema).contains(*member))
        })
        .map(|(name, _)| (*name, "a member is listed that the schema does not have"));
    let extras = exempt.extras.iter();
    let extras = extras
        .filter(|(pointer, ..)| document.place(pointer).is_none())
        .map(|(pointer, ..)| (*pointer, "listed, but the schema has no such place"));
    definitions
        .chain(members)
        .chain(extras)
        .map(|(name, message)| Failure::new(name, None, message))
        .collect()
}

#[cfg(test)]
mod tests {
    use antiphon_types::{Root, Version};
    use serde_json::json;

    use super::*;

    fn document() -> Document {
        Document::new(json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$defs": {"Root": {
                "type": "object",
                "properties": {"uri": {"type": "string", "format": "uri"}, "name": {"type": "string"}},
                "required": ["uri"],
            }},
        }))
        .unwrap()
    }

    fn failures(samples: &Samples, exempt: &Exempt) -> Vec<String> {
        let report = check(&document(), samples, exempt);
        report.failures.iter().map(Failure::to_string).collect()
    }

    fn good() -> Samples {
        let mut samples = Samples::new(Version::LATEST);
        samples.value("Root", &Root::new("file:///quay").name("Quay"));
        samples
    }

    #[test]
    fn good_samples_pass() {
        let report = check(&document(), &good(), &Exempt::default());
        assert!(report.failures.is_empty());
        assert_eq!(report.to_string(), "1 of 1 definitions, 1 samples");
    }

    #[test]
    fn broken_samples_are_refused() {
        for (broken, message) in [
            (json!({"uri": 7}), "7 is not of type \"string\""),
            (json!({"name": "Quay"}), "\"uri\" is a required property"),
            (
                json!({"uri": "file:///quay", "Name": "Quay"}),
                "unnamed members refused",
            ),
        ] {
            let mut samples = good();
            samples.value("Root", &broken);
            let failures = failures(&samples, &Exempt::default());
            assert_eq!(failures.len(), 1, "{failures:?}");
            assert!(failures[0].starts_with("Root: "), "{failures:?}");
            assert!(failures[0].contains(message), "{failures:?}");
            assert!(failures[0].contains(&broken.to_string()), "{failures:?}");
        }
    }

    #[test]
    fn a_lossy_type_is_refused() {
        #[derive(serde::Serialize, serde::Deserialize)]
        struct Lossy {
            uri: String,
            #[serde(skip_deserializing)]
            name: String,
        }
        let mut samples = good();
        let (uri, name) = ("file:///quay".to_owned(), "Quay".to_owned());
        samples.value("Root", &Lossy { uri, name });
        let failures = failures(&samples, &Exempt::default());
        assert_eq!(failures.len(), 1, "{failures:?}");
        assert!(failures[0].contains("written again"), "{failures:?}");
    }

    #[test]
    fn missing_samples_and_members_are_told() {
        let mut samples = Samples::new(Version::LATEST);
        let none = Exempt::default();
        assert_eq!(failures(&samples, &none), ["Root: no sample"]);
        samples.value("Root", &Root::new("file:///quay"));
        assert_eq!(failures(&samples, &none), ["Root: no sample has `name`"]);
        samples.value("Berth", &Root::new("file:///quay"));
        assert!(failures(&samples, &none)[0].starts_with("Berth: the schema has no such"));
    }

    #[test]
    fn needless_exceptions_are_told() {
        let listed = Exempt {
            definitions: BTreeMap::from([("Root", "test"), ("Berth", "test")]),
            members: BTreeMap::from([(("Root", "depth"), "test")]),
            extras: vec![("/Berth/properties", "depth", "test")],
        };
        let told = [
            "Root: has samples, but is listed as having none",
            "Berth: listed, but the schema has no such definition",
            "Root: a member is listed that the schema does not have",
            "/Berth/properties: listed, but the schema has no such place",
        ];
        assert_eq!(failures(&good(), &listed), told);

        let listed = Exempt {
            members: BTreeMap::from([(("Root", "name"), "test")]),
            ..Exempt::default()
        };
        let told = "Root: a sample has `name`, listed as never sent";
        assert_eq!(failures(&good(), &listed), [told]);
    }
}
