//! [`Effects`]: what was done outside the server, as far as the test counts it.

use std::{fmt::Debug, ops::Sub, sync::Arc};

/// How the test counts what was done.
#[derive(Clone, Default)]
pub(super) struct Effects(Vec<Arc<dyn Fn() -> Since + Send + Sync>>);

/// Tells what has changed since it was made, if anything has.
type Since = Box<dyn FnOnce() -> Option<String> + Send>;

/// A count that goes on.
#[must_use = "it is for comparing"]
pub(super) struct Counting(Vec<Since>);

impl Effects {
    pub(super) fn add<T>(&mut self, count: impl Fn() -> T + Send + Sync + 'static)
    where
        T: PartialOrd + Sub<Output = T> + Debug + Send + 'static,
    {
        let count = Arc::new(count);
        self.0.push(Arc::new(move || {
            let (before, count) = (count(), count.clone());
            Box::new(move || {
                let now = count();
                match now == before {
                    true => None,
                    false if now > before => Some(format!("+{:?}", now - before)),
                    false => Some(format!("-{:?}", before - now)),
                }
            })
        }));
    }

    pub(super) fn count(&self) -> Counting {
        Counting(self.0.iter().map(|count| count()).collect())
    }
}

impl Counting {
    /// What has changed: `+1`, or of several counts `+1, 0`; `None` if nothing has.
    pub(super) fn changed(self) -> Option<String> {
        let changed: Vec<_> = self.0.into_iter().map(|since| since()).collect();
        changed.iter().any(Option::is_some).then(|| {
            let each = changed.into_iter();
            let each = each.map(|it| it.unwrap_or_else(|| "0".to_owned()));
            each.collect::<Vec<_>>().join(", ")
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn counts_tell_how_much_they_changed() {
        let stock = Arc::new(AtomicU32::new(5));
        let (up, down) = (Arc::<AtomicU32>::default(), stock.clone());
        let mut effects = Effects::default();
        assert_eq!(effects.count().changed(), None);
        let charges = up.clone();
        effects.add(move || charges.load(Ordering::SeqCst));
        effects.add(move || down.load(Ordering::SeqCst));
        assert_eq!(effects.count().changed(), None);
        let counting = effects.count();
        stock.store(3, Ordering::SeqCst);
        assert_eq!(counting.changed().as_deref(), Some("0, -2"));
        let counting = effects.count();
        up.store(1, Ordering::SeqCst);
        assert_eq!(counting.changed().as_deref(), Some("+1, 0"));
    }
}
