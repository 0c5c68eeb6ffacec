//! The variables of a template and their values.

/// Values by variable name, in the order they were given.
///
/// Two of them are equal if they hold the same values, in whatever order.
#[derive(Debug, Clone, Default)]
pub struct Bindings(Vec<(String, Binding)>);

impl Bindings {
    /// No values.
    pub fn new() -> Self {
        Self::default()
    }

    /// With a value for `name`, in place of one it may have had.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl Into<Binding>) -> Self {
        let (name, value) = (name.into(), value.into());
        match self.0.iter_mut().find(|(other, _)| *other == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name, value)),
        }
        self
    }

    /// The value of `name`.
    pub fn get(&self, name: &str) -> Option<&Binding> {
        let found = self.0.iter().find(|(other, _)| other == name);
        found.map(|(_, value)| value)
    }

    /// All names and values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Binding)> {
        self.0.iter().map(|(name, value)| (&**name, value))
    }

    /// Adds a value for a name that has none yet.
    pub(super) fn push(&mut self, name: &str, value: Binding) {
        self.0.push((name.to_owned(), value));
    }
}

impl PartialEq for Bindings {
    fn eq(&self, other: &Self) -> bool {
        self.0.len() == other.0.len()
            && self
                .iter()
                .all(|(name, value)| other.get(name) == Some(value))
    }
}

impl Eq for Bindings {}

/// What a variable stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Binding {
    /// One text.
    One(String),
    /// A list of texts; an empty list is no value at all.
    Many(Vec<String>),
}

impl Binding {
    pub(super) fn items(&self) -> &[String] {
        match self {
            Self::One(text) => std::slice::from_ref(text),
            Self::Many(texts) => texts,
        }
    }
}

impl From<String> for Binding {
    fn from(text: String) -> Self {
        Self::One(text)
    }
}

impl From<&str> for Binding {
    fn from(text: &str) -> Self {
        Self::One(text.to_owned())
    }
}

impl From<Vec<String>> for Binding {
    fn from(texts: Vec<String>) -> Self {
        Self::Many(texts)
    }
}

impl<const N: usize> From<[&str; N]> for Binding {
    fn from(texts: [&str; N]) -> Self {
        Self::Many(texts.map(str::to_owned).to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_value_of_a_name_counts() {
        let bindings = Bindings::new()
            .with("a", "1")
            .with("b", "2")
            .with("a", ["3"]);
        let names: Vec<_> = bindings.iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["a", "b"]);
        assert_eq!(bindings.get("a"), Some(&Binding::Many(vec!["3".into()])));
        assert_eq!(bindings.get("c"), None);
    }

    #[test]
    fn order_is_no_difference_but_a_list_is() {
        let ab = Bindings::new().with("a", "1").with("b", "2");
        let ba = Bindings::new().with("b", "2").with("a", "1");
        assert_eq!(ab, ba);
        assert_ne!(ab, Bindings::new().with("a", "1"));
        assert_ne!(
            Bindings::new().with("a", "1"),
            Bindings::new().with("a", ["1"])
        );
    }
}
