//! [`Table`]: what a server offers of one kind, by name, in the order it was added.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
    time::Duration,
};

use antiphon_types::CacheScope;

use crate::raw::{Error, Listing, Pages, Rendered};

/// Entries of one kind, and their list, which is rendered once after every change.
pub(crate) struct Table<E, L>(RwLock<Rows<E, L>>);

struct Rows<E, L> {
    names: Names,
    /// In the order of their names.
    entries: Vec<Arc<E>>,
    pages: OnceLock<Pages<L>>,
    hints: Hints,
}

/// What entries are called, in the order they were added, so that lists are the same every time
/// (TOOL-S-05). Apart from the entries, whose types are the author's: this is not compiled anew for
/// each of them.
#[derive(Default)]
struct Names {
    all: Vec<Name>,
    /// They are the author's: nobody else can choose them so that they collide.
    places: HashMap<String, usize, foldhash::fast::RandomState>,
}

struct Name {
    key: String,
    enabled: bool,
}

impl Names {
    /// Adds one at the end; `false` if it is taken.
    fn add(&mut self, key: &str, enabled: bool) -> bool {
        if self.places.contains_key(key) {
            return false;
        }
        self.places.insert(key.to_owned(), self.all.len());
        let key = key.to_owned();
        self.all.push(Name { key, enabled });
        true
    }

    /// Takes one away; where it was.
    fn remove(&mut self, key: &str) -> Option<usize> {
        let place = self.places.remove(key)?;
        self.all.remove(place);
        for later in self.places.values_mut().filter(|later| **later > place) {
            *later -= 1;
        }
        Some(place)
    }

    fn place(&self, key: &str) -> Option<usize> {
        self.places.get(key).copied()
    }

    /// Hides or shows one: whether that changed anything.
    fn enable(&mut self, key: &str, enabled: bool) -> Option<bool> {
        let place = self.place(key)?;
        let name = &mut self.all[place];
        Some(std::mem::replace(&mut name.enabled, enabled) != enabled)
    }
}

/// How a list is cut, and how long it may be kept.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Hints {
    pub(crate) page: Option<usize>,
    pub(crate) cache: Option<(Duration, CacheScope)>,
}

impl<E, L> Default for Table<E, L> {
    fn default() -> Self {
        Self(RwLock::new(Rows {
            names: Names::default(),
            entries: Vec::new(),
            pages: OnceLock::new(),
            hints: Hints::default(),
        }))
    }
}

impl<E, L> Rows<E, L> {
    fn all(&self) -> impl Iterator<Item = (&Name, &Arc<E>)> {
        self.names.all.iter().zip(&self.entries)
    }

    /// The entries that are enabled.
    fn enabled(&self) -> impl Iterator<Item = &Arc<E>> {
        let enabled = self.all().filter(|(name, _)| name.enabled);
        enabled.map(|(_, entry)| entry)
    }
}

impl<E, L> Table<E, L> {
    /// Adds an entry, or puts it in the place of another; `false` if the key is taken.
    pub(crate) fn put(&self, key: &str, entry: E, replace: bool) -> bool {
        let entry = Arc::new(entry);
        (replace && self.replace(key, entry.clone())) || self.add(key, entry, true)
    }

    fn add(&self, key: &str, entry: Arc<E>, enabled: bool) -> bool {
        let mut rows = self.write();
        if !rows.names.add(key, enabled) {
            return false;
        }
        rows.entries.push(entry);
        rows.pages = OnceLock::new();
        true
    }

    /// Takes an entry away; whether there was one.
    pub(crate) fn remove(&self, key: &str) -> bool {
        let mut rows = self.write();
        let Some(place) = rows.names.remove(key) else {
            return false;
        };
        let removed = rows.entries.remove(place);
        rows.pages = OnceLock::new();
        drop(rows);
        // Only now: dropping a handler runs code of its author, which may come back here.
        drop(removed);
        true
    }

    /// Puts an entry in the place of one with the same key; `false` if there is none.
    fn replace(&self, key: &str, entry: Arc<E>) -> bool {
        let mut rows = self.write();
        let Some(place) = rows.names.place(key) else {
            return false;
        };
        let replaced = std::mem::replace(&mut rows.entries[place], entry);
        rows.pages = OnceLock::new();
        drop(rows);
        drop(replaced);
        true
    }

    /// Hides or shows an entry: whether that changed anything, `None` if there is no such entry.
    pub(crate) fn enable(&self, key: &str, enabled: bool) -> Option<bool> {
        let mut rows = self.write();
        let changed = rows.names.enable(key, enabled)?;
        if changed {
            rows.pages = OnceLock::new();
        }
        Some(changed)
    }

    /// The entry of this name, if it is enabled.
    pub(crate) fn get(&self, key: &str) -> Option<Arc<E>> {
        let rows = self.read();
        let place = rows.names.place(key)?;
        let enabled = rows.names.all[place].enabled;
        enabled.then(|| rows.entries[place].clone())
    }

    /// The first enabled entry that `test` takes, with what it makes of it.
    pub(crate) fn find<T>(&self, test: impl Fn(&E) -> Option<T>) -> Option<(Arc<E>, T)> {
        let rows = self.read();
        rows.enabled()
            .find_map(|entry| Some((entry.clone(), test(entry)?)))
    }

    /// Whether there is an entry, enabled or not, that `test` takes.
    pub(crate) fn any(&self, test: impl Fn(&E) -> bool) -> bool {
        self.read().entries.iter().any(|entry| test(entry))
    }

    /// The enabled entries.
    pub(crate) fn entries(&self) -> Vec<Arc<E>> {
        self.read().enabled().cloned().collect()
    }

    /// Another table with the same rows, each made into something else.
    pub(crate) fn map<F>(&self, make: impl Fn(&E) -> F) -> Table<F, L> {
        let table = Table::default();
        let rows = self.read();
        table.set_hints(|hints| *hints = rows.hints);
        for (name, entry) in rows.all() {
            table.add(&name.key, Arc::new(make(entry)), name.enabled);
        }
        table
    }

    /// Adds the rows of another table, each made into something else; the first key that was
    /// taken is the error.
    pub(crate) fn append(&self, other: &Self, make: impl Fn(&E) -> E) -> Result<(), String> {
        let rows: Vec<_> = {
            let other = other.read();
            let made = |(name, entry): (&Name, &Arc<E>)| {
                (name.key.clone(), Arc::new(make(entry)), name.enabled)
            };
            other.all().map(made).collect()
        };
        for (key, entry, enabled) in rows {
            if !self.add(&key, entry, enabled) {
                return Err(key);
            }
        }
        Ok(())
    }

    pub(crate) fn set_hints(&self, set: impl FnOnce(&mut Hints)) {
        let mut rows = self.write();
        set(&mut rows.hints);
        rows.pages = OnceLock::new();
    }

    pub(crate) fn hints(&self) -> Hints {
        self.read().hints
    }

    fn read(&self) -> RwLockReadGuard<'_, Rows<E, L>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Rows<E, L>> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<E, L: Listing> Table<E, L>
where
    Rendered<L>: From<L>,
{
    /// One page of the list that `list` makes of the enabled entries.
    pub(crate) fn page(
        &self,
        cursor: Option<&str>,
        list: impl FnOnce(Vec<&E>, Hints) -> L,
    ) -> Result<Rendered<L>, Error> {
        let rows = self.read();
        let render = || {
            let enabled = rows.enabled().map(|entry| &**entry).collect();
            cut(list(enabled, rows.hints), rows.hints)
        };
        rows.pages.get_or_init(render).page(cursor)
    }
}

/// A list in its pages.
pub(crate) fn cut<L: Listing>(list: L, hints: Hints) -> Pages<L>
where
    Rendered<L>: From<L>,
{
    match hints.page {
        Some(size) => Pages::of(size, list),
        None => Pages::one(list),
    }
}

impl<E, L> fmt::Debug for Table<E, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = self.read();
        f.debug_list()
            .entries(rows.names.all.iter().map(|name| &name.key))
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use antiphon_types::{ListToolsResult, Tool};

    type Names = Table<&'static str, ListToolsResult>;

    fn listed(table: &Names) -> String {
        let page = table.page(None, |names, _| {
            ListToolsResult::new(names.into_iter().map(|name| Tool::empty(*name)).collect())
        });
        let page: serde_json::Value =
            serde_json::from_str(page.expect("the first page").json()).expect("JSON");
        let names = page["tools"].as_array().expect("tools").iter();
        names
            .map(|tool| tool["name"].as_str().expect("a name"))
            .collect()
    }

    /// TOOL-S-05
    #[test]
    fn lists_keep_their_order_through_changes() {
        let table = Names::default();
        for name in ["c", "a", "d", "b"] {
            assert!(table.put(name, name, false));
        }
        assert!(!table.put("a", "again", false));
        assert_eq!(listed(&table), "cadb");
        assert_eq!(table.enable("a", false), Some(true));
        assert_eq!(table.enable("a", false), Some(false));
        assert_eq!(table.enable("x", false), None);
        assert_eq!(listed(&table), "cdb");
        assert!(table.get("a").is_none());
        assert!(table.remove("c"));
        assert!(!table.remove("c"));
        table.enable("a", true);
        assert_eq!(listed(&table), "adb");
        assert_eq!(table.get("b").as_deref(), Some(&"b"));
        assert_eq!(table.get("d").as_deref(), Some(&"d"));
        table.put("c", "c", true);
        assert_eq!(listed(&table), "adbc");
        table.put("d", "x", true);
        assert_eq!(listed(&table), "axbc");
    }
}
