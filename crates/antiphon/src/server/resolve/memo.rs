//! [`Memo`]: what resolvers gave in one round, and who waits for whom.

use std::{
    any::{Any, TypeId},
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::OnceCell;

use super::Stop;
use crate::server::{fault::Fault, stop::Shared};

/// What a resolver gave, for all who take it.
type Given<T> = OnceCell<Result<T, Shared>>;

pub(super) type Running<'a, T> = Pin<Box<dyn Future<Output = Result<T, Stop>> + Send + 'a>>;

/// What resolvers gave in one round. Few take part in a call, so they stand in a list.
#[derive(Default)]
pub(crate) struct Memo(Mutex<Vec<Node>>);

struct Node {
    /// What it gives.
    of: TypeId,
    name: &'static str,
    /// What it waits for now, by place in the list.
    waits_for: Vec<usize>,
    /// A [`Given`].
    given: Arc<dyn Any + Send + Sync>,
}

/// A resolver that runs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Resolver {
    pub(crate) name: &'static str,
    at: usize,
}

/// Somebody, perhaps a resolver, who waits for another.
pub(super) struct Waiting<'m, T> {
    pub(super) resolver: Resolver,
    pub(super) given: Arc<Given<T>>,
    memo: &'m Memo,
    by: Option<Resolver>,
}

impl Memo {
    /// Somebody is about to wait for a resolver.
    ///
    /// # Errors
    /// If they would wait for each other, or if another has this name.
    pub(super) fn enter<T: Clone + Send + Sync + 'static>(
        &self,
        name: &'static str,
        by: Option<Resolver>,
    ) -> Result<Waiting<'_, T>, Fault> {
        let mut nodes = self.nodes();
        let of = TypeId::of::<T>();
        let at = match nodes.iter().position(|node| node.of == of) {
            Some(at) => at,
            None => {
                if let Some(other) = nodes.iter().find(|node| are_alike(node.name, name)) {
                    let (name, other) = (name.to_owned(), other.name.to_owned());
                    return Err(Fault::Namesakes { name, other });
                }
                nodes.push(Node {
                    of,
                    name,
                    waits_for: Vec::new(),
                    given: Arc::new(Given::<T>::new()),
                });
                nodes.len() - 1
            }
        };
        if let Some(by) = by {
            let mut path = Vec::new();
            if leads(&nodes, at, by.at, &mut path, &mut Vec::new()) {
                path.push(name);
                let path = names(&path);
                return Err(Fault::Circle { path });
            }
            nodes[by.at].waits_for.push(at);
        }
        let given = nodes[at].given.clone().downcast();
        Ok(Waiting {
            resolver: Resolver { name, at },
            given: given.expect("a node is found by its type"),
            memo: self,
            by,
        })
    }

    fn nodes(&self) -> MutexGuard<'_, Vec<Node>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whoever has what it waited for, or has left, waits no longer.
impl<T> Drop for Waiting<'_, T> {
    fn drop(&mut self) {
        if let Some(by) = self.by {
            let mut nodes = self.memo.nodes();
            let waits_for = &mut nodes[by.at].waits_for;
            if let Some(at) = waits_for.iter().position(|at| *at == self.resolver.at) {
                waits_for.swap_remove(at);
            }
        }
    }
}

/// Whether one waits, through others or not, for the other; the names on the way.
fn leads(
    nodes: &[Node],
    from: usize,
    to: usize,
    path: &mut Vec<&'static str>,
    seen: &mut Vec<usize>,
) -> bool {
    if seen.contains(&from) {
        return false;
    }
    seen.push(from);
    path.push(nodes[from].name);
    let waits_for = &nodes[from].waits_for;
    let found = from == to
        || waits_for
            .iter()
            .any(|next| leads(nodes, *next, to, path, seen));
    if !found {
        path.pop();
    }
    found
}

/// Whether two resolvers of these names could have one key: `b.c` of `a` is `c` of `a.b`.
fn are_alike(one: &str, other: &str) -> bool {
    let begins = |long: &str, short: &str| {
        let rest = long.strip_prefix(short);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    begins(one, other) || begins(other, one)
}

/// A way from one resolver to another, as people read it.
pub(super) fn names(path: &[&str]) -> String {
    let names: Vec<_> = path.iter().map(|name| format!("`{name}`")).collect();
    names.join(" → ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone)]
    struct Hen;
    #[derive(Clone)]
    struct Egg;

    fn waits<'m, T: Clone + Send + Sync + 'static>(
        memo: &'m Memo,
        name: &'static str,
        by: Option<Resolver>,
    ) -> Result<Waiting<'m, T>, String> {
        memo.enter::<T>(name, by).map_err(|fault| fault.to_string())
    }

    #[test]
    fn whoever_has_left_waits_for_nobody() {
        let memo = Memo::default();
        let hen = waits::<Hen>(&memo, "hen", None).map(|it| it.resolver);
        let egg = waits::<Egg>(&memo, "egg", None).map(|it| it.resolver);
        let (hen, egg) = (hen.expect("new"), egg.expect("new"));
        let waiting = waits::<Egg>(&memo, "egg", Some(hen)).expect("no circle");
        let told = waits::<Hen>(&memo, "hen", Some(egg)).map(drop);
        assert!(
            told.expect_err("a circle")
                .contains("`hen` → `egg` → `hen`")
        );
        drop(waiting);
        waits::<Hen>(&memo, "hen", Some(egg)).expect("nobody waits any more");
    }

    #[test]
    fn what_many_ways_lead_to_is_looked_at_once() {
        // Layers of two, each of which waits for both of the next: 2^40 ways.
        let node = |name, waits_for| Node {
            of: TypeId::of::<Hen>(),
            name,
            waits_for,
            given: Arc::new(()),
        };
        let layer = |at: usize| vec![2 * at, 2 * at + 1];
        let mut nodes: Vec<_> = (0..40)
            .flat_map(|at| [node("one", layer(at + 1)), node("other", layer(at + 1))])
            .collect();
        nodes.extend([node("one", vec![]), node("other", vec![])]);
        nodes.push(node("end", vec![]));
        let end = nodes.len() - 1;
        assert!(!leads(&nodes, 0, end, &mut Vec::new(), &mut Vec::new()));
        nodes[81].waits_for.push(end);
        assert!(leads(&nodes, 0, end, &mut Vec::new(), &mut Vec::new()));
    }
}
