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
    of: TypeId,
    name: &'static str,
    /// What it has asked for so far, by place in the list.
    takes: Vec<usize>,
    done: bool,
    /// A [`Given`].
    given: Arc<dyn Any + Send + Sync>,
}

/// A resolver that runs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Resolver {
    pub(crate) name: &'static str,
    at: usize,
}

impl Memo {
    /// Somebody, perhaps a resolver, is about to wait for another.
    ///
    /// # Errors
    /// If they would wait for each other, or if another has this name.
    pub(super) fn enter<T: Clone + Send + Sync + 'static>(
        &self,
        name: &'static str,
        by: Option<Resolver>,
    ) -> Result<(Resolver, Arc<Given<T>>), Fault> {
        let mut nodes = self.nodes();
        let of = TypeId::of::<T>();
        let known = nodes.iter().position(|node| node.of == of);
        let at = match known {
            Some(at) => at,
            None => {
                if let Some(other) = nodes.iter().find(|node| are_alike(node.name, name)) {
                    let (name, other) = (name.to_owned(), other.name.to_owned());
                    return Err(Fault::Namesakes { name, other });
                }
                nodes.push(Node {
                    of,
                    name,
                    takes: Vec::new(),
                    done: false,
                    given: Arc::new(Given::<T>::new()),
                });
                nodes.len() - 1
            }
        };
        if let Some(by) = by {
            let mut path = Vec::new();
            if !nodes[at].done && leads(&nodes, at, by.at, &mut path) {
                path.push(nodes[at].name);
                let path = names(&path);
                return Err(Fault::Circle { path });
            }
            nodes[by.at].takes.push(at);
        }
        let given = nodes[at].given.clone().downcast();
        let given = given.expect("a node is found by its type");
        Ok((Resolver { name, at }, given))
    }

    pub(super) fn done(&self, resolver: Resolver) {
        self.nodes()[resolver.at].done = true;
    }

    fn nodes(&self) -> MutexGuard<'_, Vec<Node>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether one waits, through others or not, for the other; the names on the way.
fn leads(nodes: &[Node], from: usize, to: usize, path: &mut Vec<&'static str>) -> bool {
    // What waits does not wait in a circle so far, so this ends.
    path.push(nodes[from].name);
    let waits = |at: &&usize| !nodes[**at].done;
    let found = from == to
        || (nodes[from].takes.iter().filter(waits)).any(|next| leads(nodes, *next, to, path));
    if !found {
        path.pop();
    }
    found
}

/// Whether two resolvers of these names could have one key: `b.c` of `a` is `c` of `a.b`.
pub(super) fn are_alike(one: &str, other: &str) -> bool {
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
