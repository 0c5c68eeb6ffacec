//! [`Description`]: what the types of a handler say about it.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::{FromCall, resolve::Graph};
use crate::schema::{self, Described, InvalidSchema};

/// What the types of a handler say about it, gathered when it is registered.
///
/// Extractors write to it in [`FromCall::describe`](crate::FromCall::describe), replies in
/// [`IntoReply::describe`](crate::IntoReply::describe).
#[derive(Debug, Default)]
pub struct Description {
    input: Option<Result<Described, InvalidSchema>>,
    output: Option<Described>,
    logs: bool,
    completes: bool,
    graph: Graph,
}

impl Description {
    /// It takes this extractor: how extractors and resolvers that build on others say so.
    pub fn takes<T: FromCall<S>, S>(&mut self) {
        T::describe(self);
    }

    /// It takes what this resolver gives.
    pub(crate) fn resolver<T: 'static>(&mut self, name: &'static str, describe: fn(&mut Self)) {
        if self.graph.enter::<T>(name) {
            describe(self);
            self.graph.leave();
        }
    }

    /// The handler reads the members of `T` from its arguments. Several types add up, as long as
    /// they do not disagree about a member.
    pub fn arguments<T: DeserializeOwned + JsonSchema>(&mut self) {
        // Who knows how they are read: the schema is not taken for enforced.
        self.add(schema::input::<T>().map(|input| Described {
            enforced: false,
            ..input
        }));
    }

    /// The same, for arguments that are decoded as `T` and in no other way.
    pub(crate) fn decoded<T: DeserializeOwned + JsonSchema>(&mut self) {
        self.add(schema::input::<T>());
    }

    fn add(&mut self, more: Result<Described, InvalidSchema>) {
        // Arguments are those of the handler: a resolver only reads them.
        if self.graph.is_within() {
            return self.graph.takes(more);
        }
        self.input = Some(match self.input.take() {
            None => more,
            Some(input) => input.and_then(|input| both(input, more?)),
        });
    }

    fn without_prefix(&mut self) {
        if self.completes {
            let error = "its handler takes a `Prefix`, which only a completion has";
            self.input = Some(Err(InvalidSchema::new(error)));
        }
    }

    /// The handler's structured result is a `T`.
    pub fn result<T: JsonSchema>(&mut self) {
        self.output = schema::output::<T>();
    }

    /// The handler sends log messages to the client.
    pub fn logs(&mut self) {
        self.logs = true;
    }

    /// Only a completion can take this.
    pub(crate) fn completes(&mut self) {
        match self.graph.is_within() {
            true => self
                .graph
                .refuse("a resolver takes a `Prefix`, which only a completion has"),
            false => self.completes = true,
        }
    }

    pub(crate) fn wants_logging(&self) -> bool {
        self.logs
    }

    /// What is said about a handler that is no completion.
    pub(crate) fn into_parts(mut self) -> Parts {
        self.without_prefix();
        Parts {
            input: self.input,
            output: self.output,
            graph: self.graph,
        }
    }
}

/// What is said about a handler, taken apart.
pub(crate) struct Parts {
    pub(crate) input: Option<Result<Described, InvalidSchema>>,
    pub(crate) output: Option<Described>,
    pub(crate) graph: Graph,
}

/// One schema that asks for what both do.
fn both(mut one: Described, other: Described) -> Result<Described, InvalidSchema> {
    let is_closed = |described: &Described| described.schema.contains_key("additionalProperties");
    if is_closed(&one) || is_closed(&other) {
        return Err(InvalidSchema::new(
            "the handler takes its arguments as two types, one of which allows no other members",
        ));
    }
    for (key, value) in other.schema {
        match (key.as_str(), one.schema.get_mut(&key), value) {
            (_, None, value) => {
                one.schema.insert(key, value);
            }
            (_, Some(present), value) if *present == value => {}
            ("properties" | "$defs", Some(Value::Object(present)), Value::Object(more)) => {
                add(present, more)?;
            }
            ("required", Some(Value::Array(present)), Value::Array(more)) => {
                let more = more.into_iter().filter(|name| !present.contains(name));
                let more: Vec<Value> = more.collect();
                present.extend(more);
            }
            (key, ..) => {
                return Err(InvalidSchema::new(format!(
                    "the handler takes its arguments as two types that disagree about `{key}`"
                )));
            }
        }
    }
    one.description = one.description.or(other.description);
    one.enforced &= other.enforced;
    Ok(one)
}

fn add(members: &mut Map<String, Value>, more: Map<String, Value>) -> Result<(), InvalidSchema> {
    for (name, schema) in more {
        if members.get(&name).is_some_and(|present| *present != schema) {
            return Err(InvalidSchema::new(format!(
                "the handler takes its arguments as two types that disagree about `{name}`"
            )));
        }
        members.insert(name, schema);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    /// Find books.
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema matters")]
    struct Find {
        title: String,
    }

    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema matters")]
    struct Page {
        from: Option<u32>,
    }

    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema matters")]
    struct Odd {
        title: u32,
    }

    #[test]
    fn two_types_of_arguments_add_up() {
        let mut description = Description::default();
        description.arguments::<Find>();
        description.arguments::<Page>();
        let input = description
            .into_parts()
            .input
            .expect("some")
            .expect("they agree");
        let names: Vec<_> = input.schema["properties"]
            .as_object()
            .expect("an object")
            .keys()
            .collect();
        assert_eq!(names, ["title", "from"]);
        assert_eq!(input.schema["required"], serde_json::json!(["title"]));
        assert_eq!(input.description.as_deref(), Some("Find books."));
    }

    #[test]
    fn two_types_that_disagree_are_refused() {
        let mut description = Description::default();
        description.arguments::<Find>();
        description.arguments::<Odd>();
        let error = description
            .into_parts()
            .input
            .expect("some")
            .expect_err("they disagree");
        assert!(error.to_string().contains("`title`"), "{error}");
    }
}
