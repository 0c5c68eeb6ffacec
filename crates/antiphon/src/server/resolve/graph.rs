//! [`Graph`]: which resolvers a handler leads to and what they take, checked when it is registered.

use std::any::TypeId;

use serde_json::{Map, Value};

use super::memo::{are_alike, names};
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
    pub(crate) fn enter(&mut self, of: TypeId, name: &'static str) -> bool {
        let known = Known { of, name };
        if self.path.iter().any(|passed| passed.of == of) {
            self.path.push(known);
            self.refuse("they wait for each other");
            self.path.pop();
            return false;
        }
        if self.known.iter().any(|other| other.of == of) {
            return false;
        }
        if name.is_empty() || name.chars().any(char::is_control) {
            self.refuse(format!("the name of a resolver, {name:?}, cannot be read"));
        }
        let alike = self.known.iter().find(|it| are_alike(it.name, name));
        match alike.map(|other| other.name) {
            None => {}
            Some(other) if other == name => {
                self.refuse(format!("two resolvers have the name `{name}`"));
            }
            Some(other) => self.refuse(format!(
                "the names `{other}` and `{name}` begin alike, and so could their keys"
            )),
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
    /// schema, and others of which only the names are known.
    ///
    /// # Errors
    /// What is wrong, and the way from the handler to the resolver.
    pub(crate) fn check(
        &self,
        handler: &str,
        schema: &Map<String, Value>,
        others: &[&str],
    ) -> Result<(), String> {
        let way = |path: &[&str]| {
            let whole: Vec<_> = std::iter::once(handler)
                .chain(path.iter().copied())
                .collect();
            names(&whole)
        };
        if let Some((path, why)) = &self.wrong {
            return Err(format!("of the resolvers {}: {why}", way(path)));
        }
        for need in &self.needs {
            let taken = need.arguments.as_ref();
            let misfit = match taken {
                Ok(taken) => misfits(&taken.schema, schema, others).map(|it| it.to_string()),
                Err(error) => Some(format!("takes arguments that have no schema: {error}")),
            };
            if let Some(misfit) = misfit {
                return Err(format!("the resolver {} {misfit}", way(&need.path)));
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
        graph.enter(TypeId::of::<T>(), name)
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
            .check("order", &order, &[])
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
            "of the resolvers `order` → `backorder` → `stock` → `backorder`: they wait for each other"
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
            told.contains("two resolvers have the name `stock`"),
            "{told}"
        );
    }

    #[test]
    fn names_whose_keys_could_be_the_same_are_refused() {
        for (one, other, alike) in [
            ("a", "a.b", true),
            ("a.b.c", "a.b", true),
            ("a", "ab", false),
            ("a.b", "a.c", false),
        ] {
            let mut graph = Graph::default();
            enter::<Stock>(&mut graph, one);
            graph.leave();
            enter::<Depot>(&mut graph, other);
            assert_eq!(graph.wrong.is_some(), alike, "{one} {other}");
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
            "the resolver `order` → `backorder` → `stock` takes the argument `isbn`, which there is \
             not; there is `title`"
        );
    }
}
