//! [`Graph`]: which resolvers a handler leads to and what they take, checked when it is registered.

use std::any::TypeId;

use serde_json::{Map, Value};

use super::memo::names;
use crate::schema::{Described, InvalidSchema, misfits};

/// The resolvers that a handler leads to.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    /// From the handler to the resolver that is being described.
    path: Vec<Known>,
    known: Vec<Known>,
    needs: Vec<Need>,
    /// What is wrong with it, and where.
    wrong: Option<(Vec<&'static str>, String)>,
}

#[derive(Debug, Clone, Copy)]
struct Known {
    of: TypeId,
    /// The type, for people.
    gives: &'static str,
    name: &'static str,
}

/// Arguments that a resolver takes.
#[derive(Debug)]
struct Need {
    path: Vec<&'static str>,
    arguments: Result<Described, InvalidSchema>,
}

impl Graph {
    /// Whether a resolver is being described, and not the handler itself.
    pub(crate) fn is_within(&self) -> bool {
        !self.path.is_empty()
    }

    /// Comes to a resolver. Whether it is to be described now; then it has to be left.
    pub(crate) fn enter<T: 'static>(&mut self, name: &'static str) -> bool {
        let known = Known {
            of: TypeId::of::<T>(),
            gives: std::any::type_name::<T>(),
            name,
        };
        let of = known.of;
        if self.path.iter().any(|passed| passed.of == of) {
            self.path.push(known);
            self.refuse("its resolvers wait for each other");
            self.path.pop();
            return false;
        }
        if self.known.iter().any(|other| other.of == of) {
            return false;
        }
        // A point would end the name in the middle of a key.
        if name.is_empty() || name.contains('.') || name.chars().any(char::is_control) {
            self.refuse(format!(
                "{name:?} is no name for a resolver: it is empty, or has a point in it"
            ));
        }
        if let Some(other) = self.known.iter().find(|other| other.name == name) {
            let (one, other) = (other.gives, known.gives);
            self.refuse(format!(
                "two of its resolvers have the name `{name}`: those of `{one}` and `{other}`"
            ));
        }
        self.known.push(known);
        self.path.push(known);
        true
    }

    pub(crate) fn leave(&mut self) {
        self.path.pop();
    }

    /// The resolver that is being described takes these arguments.
    pub(crate) fn takes(&mut self, arguments: Result<Described, InvalidSchema>) {
        self.needs.push(Need {
            path: self.names(),
            arguments,
        });
    }

    /// The resolver that is being described cannot be used.
    pub(crate) fn refuse(&mut self, why: impl Into<String>) {
        let path = self.names();
        self.wrong.get_or_insert_with(|| (path, why.into()));
    }

    fn names(&self) -> Vec<&'static str> {
        self.path.iter().map(|known| known.name).collect()
    }

    /// Compares what the resolvers of a handler take with what there is: the arguments of this
    /// schema, and, where arguments are spelt, others of which only the names are known.
    ///
    /// # Errors
    /// What is wrong, and the way from the handler to the resolver.
    pub(crate) fn check(
        &self,
        handler: &str,
        schema: &Map<String, Value>,
        spelt: Option<&[&str]>,
    ) -> Result<(), String> {
        let way = |path: &[&str]| {
            let whole: Vec<_> = std::iter::once(handler)
                .chain(path.iter().copied())
                .collect();
            names(&whole)
        };
        if let Some((path, why)) = &self.wrong {
            return Err(match path.is_empty() {
                true => why.clone(),
                false => format!("{why} ({})", way(path)),
            });
        }
        for need in &self.needs {
            let taken = need.arguments.as_ref();
            let misfit = match taken {
                Ok(taken) => {
                    let others = spelt.unwrap_or_default();
                    let misfit = misfits(&taken.schema, schema, others, spelt.is_some());
                    misfit.map(|misfit| misfit.to_string())
                }
                Err(error) => Some(format!("takes arguments that have no schema: {error}")),
            };
            if let Some(misfit) = misfit {
                let name = need.path.last().copied().unwrap_or_default();
                let way = way(&need.path);
                return Err(format!("the resolver `{name}` ({way}) {misfit}"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    struct Stock;
    struct Backorder;
    struct Depot;

    fn described(schema: Value) -> Result<Described, InvalidSchema> {
        let Value::Object(schema) = schema else {
            panic!("a schema is an object")
        };
        Ok(Described {
            schema,
            description: None,
            enforced: true,
        })
    }

    fn enter<T: 'static>(graph: &mut Graph, name: &'static str) -> bool {
        graph.enter::<T>(name)
    }

    fn refused(graph: &Graph) -> String {
        let Value::Object(order) = json!({
            "type": "object",
            "properties": { "title": { "type": "string" } },
            "required": ["title"],
        }) else {
            panic!("an object")
        };
        graph
            .check("order", &order, None)
            .expect_err("something is wrong")
    }

    #[test]
    fn a_circle_is_told_with_the_way_around() {
        let mut graph = Graph::default();
        assert!(enter::<Backorder>(&mut graph, "backorder"));
        assert!(enter::<Stock>(&mut graph, "stock"));
        assert!(!enter::<Backorder>(&mut graph, "backorder"));
        graph.leave();
        graph.leave();
        assert_eq!(
            refused(&graph),
            "its resolvers wait for each other (`order` → `backorder` → `stock` → `backorder`)"
        );
    }

    #[test]
    fn what_is_taken_twice_is_described_once() {
        let mut graph = Graph::default();
        assert!(enter::<Stock>(&mut graph, "stock"));
        graph.leave();
        assert!(!enter::<Stock>(&mut graph, "stock"));
        assert!(graph.wrong.is_none());
    }

    #[test]
    fn namesakes_are_told_apart_by_nobody() {
        let mut graph = Graph::default();
        enter::<Stock>(&mut graph, "stock");
        enter::<Depot>(&mut graph, "stock");
        let told = refused(&graph);
        assert!(
            told.contains("two of its resolvers have the name `stock`: those of "),
            "{told}"
        );
    }

    #[test]
    fn a_name_cannot_be_taken_for_another_with_a_key() {
        for name in ["", "stock.count", "stock\n"] {
            let mut graph = Graph::default();
            enter::<Stock>(&mut graph, name);
            let told = refused(&graph);
            assert!(told.contains("is no name"), "{told}");
        }
    }

    #[test]
    fn an_argument_that_is_not_there_is_told_with_the_way_to_it() {
        let mut graph = Graph::default();
        enter::<Backorder>(&mut graph, "backorder");
        enter::<Stock>(&mut graph, "stock");
        graph.takes(described(
            json!({ "properties": { "isbn": { "type": "string" } } }),
        ));
        assert_eq!(
            refused(&graph),
            "the resolver `stock` (`order` → `backorder` → `stock`) takes the argument `isbn`, which \
             there is not; there is `title`"
        );
    }
}
