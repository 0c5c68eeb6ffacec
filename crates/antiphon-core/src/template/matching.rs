//! From a URI to values.
//!
//! First, from the end, every place from which the remaining parts fit the remaining URI is
//! marked, then the URI is read forwards along those marks. Nothing is tried twice, so there is
//! no URI on which this would take exponential, or even quadratic, time.

use percent_encoding::percent_decode_str;

use super::{
    bindings::{Binding, Bindings},
    parse::{Expression, Part},
};

/// The values in `uri`, each as short as it can be, the first ones first.
pub(super) fn read(parts: &[Part], uri: &str) -> Option<Bindings> {
    if let Some(Part::Literal(text)) = parts.first()
        && !uri.starts_with(&**text)
    {
        return None;
    }
    let fits = fits(parts, uri.as_bytes());
    let mut bindings = Bindings::new();
    let mut at = 0;
    if !fits[0].has(at) {
        return None;
    }
    for (part, after) in parts.iter().zip(&fits[1..]) {
        match part {
            Part::Literal(text) => at += text.len(),
            Part::Expression(expression) => {
                if let Some((start, end)) = expression.extent(uri.as_bytes(), at, after) {
                    expression.read(uri.get(start..end)?, &mut bindings)?;
                    at = end;
                }
            }
        }
    }
    Some(bindings)
}

/// For each part, and for the end, the places where it and all after it fit.
fn fits(parts: &[Part], uri: &[u8]) -> Vec<Marks> {
    let mut fits = vec![Marks::none(uri.len()); parts.len() + 1];
    fits[parts.len()].set(uri.len());
    for (index, part) in parts.iter().enumerate().rev() {
        let (here, after) = fits.split_at_mut(index + 1);
        let (here, after) = (&mut here[index], &after[0]);
        match part {
            Part::Literal(text) => {
                let text = text.as_bytes();
                for at in 0..=uri.len().saturating_sub(text.len()) {
                    if after.has(at + text.len()) && uri[at..].starts_with(text) {
                        here.set(at);
                    }
                }
            }
            Part::Expression(expression) => expression.mark(uri, after, here),
        }
    }
    fits
}

impl Expression {
    /// Sets `here` wherever this can stand, with a mark of `after` behind it.
    fn mark(&self, uri: &[u8], after: &Marks, here: &mut Marks) {
        // Where the inside can begin, the prefix being before it.
        let mut inside = Marks::none(uri.len());
        for at in (0..=uri.len()).rev() {
            let unit = self.inside.unit(&uri[at..]);
            if unit.is_some_and(|unit| after.has(at + unit) || inside.has(at + unit)) {
                inside.set(at);
            }
            let fits = match self.operator.prefix() {
                None => inside.has(at),
                Some(_) if after.has(at) => true,
                Some(prefix) => uri.get(at) == Some(&(prefix as u8)) && inside.has(at + 1),
            };
            if fits {
                here.set(at);
            }
        }
    }

    /// Where the inside begins and ends if this stands at `at`; the first end that will do.
    fn extent(&self, uri: &[u8], at: usize, after: &Marks) -> Option<(usize, usize)> {
        let start = match self.operator.prefix() {
            None => at,
            Some(prefix) if uri.get(at) == Some(&(prefix as u8)) => at + 1,
            Some(_) => return None,
        };
        let mut end = start;
        loop {
            end += self.inside.unit(&uri[end..])?;
            if after.has(end) {
                return Some((start, end));
            }
        }
    }

    fn read(&self, inside: &str, bindings: &mut Bindings) -> Option<()> {
        if self.operator.is_named() {
            self.read_named(inside, bindings)
        } else {
            self.read_in_order(inside, bindings)
        }
    }

    /// `1,2` or `a/b/c`.
    fn read_in_order(&self, inside: &str, bindings: &mut Bindings) -> Option<()> {
        let pieces = if self.is_divided() { usize::MAX } else { 1 };
        let mut pieces = inside.splitn(pieces, self.operator.separator());
        for variable in &self.variables {
            let binding = if variable.explode {
                let items: Vec<_> = pieces.by_ref().map(filled).collect::<Option<_>>()?;
                (!items.is_empty()).then_some(Binding::Many(items))
            } else {
                match pieces.next() {
                    Some(piece) => Some(Binding::One(filled(piece)?)),
                    None => None,
                }
            };
            match binding {
                Some(binding) => bindings.push(&variable.name, binding),
                None if self.operator.prefix().is_none() => return None,
                None => break,
            }
        }
        pieces.next().is_none().then_some(())
    }

    /// `a=1&b=2`, in any order.
    fn read_named(&self, inside: &str, bindings: &mut Bindings) -> Option<()> {
        let mut found = vec![Vec::new(); self.variables.len()];
        for pair in inside.split(self.operator.separator()) {
            let (name, value) = match pair.split_once('=') {
                Some((_, "")) if !self.operator.writes_equals_for_empty() => return None,
                None if !self.operator.writes_equals_for_empty() => (pair, ""),
                split => split?,
            };
            let mut names = self.variables.iter();
            let index = names.position(|variable| *variable.name == *name)?;
            if !self.unescaped.covers(value) {
                return None;
            }
            found[index].push(decoded(value)?);
        }
        for (variable, mut values) in self.variables.iter().zip(found) {
            let binding = match values.len() {
                0 => continue,
                _ if variable.explode => Binding::Many(values),
                1 => Binding::One(values.remove(0)),
                _ => return None,
            };
            bindings.push(&variable.name, binding);
        }
        Some(())
    }
}

fn filled(piece: &str) -> Option<String> {
    (!piece.is_empty()).then(|| decoded(piece)).flatten()
}

fn decoded(value: &str) -> Option<String> {
    let text = percent_decode_str(value).decode_utf8().ok()?;
    Some(text.into_owned())
}

/// A set of places in a URI, its end included.
#[derive(Clone)]
struct Marks(Vec<u64>);

impl Marks {
    fn none(length: usize) -> Self {
        Self(vec![0; length / 64 + 1])
    }

    fn has(&self, at: usize) -> bool {
        cost::look();
        let word = self.0.get(at / 64);
        word.is_some_and(|word| word & (1 << (at % 64)) != 0)
    }

    fn set(&mut self, at: usize) {
        self.0[at / 64] |= 1 << (at % 64);
    }
}

/// What reading a URI costs, for tests: how often a place in it is looked at.
#[cfg(test)]
mod cost {
    use std::cell::Cell;

    thread_local!(static LOOKS: Cell<u64> = const { Cell::new(0) });

    pub(super) fn look() {
        LOOKS.set(LOOKS.get() + 1);
    }

    pub(super) fn of(work: impl FnOnce()) -> u64 {
        let before = LOOKS.get();
        work();
        LOOKS.get() - before
    }
}

#[cfg(not(test))]
mod cost {
    pub(super) fn look() {}
}

#[cfg(test)]
mod tests {
    use super::super::{Binding, Bindings, Template};

    fn found(template: &str, uri: &str) -> Option<Bindings> {
        Template::parse(template).expect(template).matches(uri)
    }

    fn one(values: &[(&str, &str)]) -> Option<Bindings> {
        let values = values.iter().copied();
        Some(values.fold(Bindings::new(), |all, (name, value)| all.with(name, value)))
    }

    #[test]
    fn values_are_found_and_decoded() {
        for (template, uri, values) in [
            ("a:{x}", "a:1", &[("x", "1")] as &[_]),
            ("a:{x}", "a:..%2f%2e%2E%00%5c", &[("x", "../..\0\\")]),
            ("a:{x}", "a:Malm%C3%B6", &[("x", "Malmö")]),
            ("a:{x}", "a:Malmö", &[("x", "Malmö")]),
            ("a:{x}", "a:%252F", &[("x", "%2F")]),
            ("a:{x}/b/{y}", "a:b/b/b", &[("x", "b"), ("y", "b")]),
            ("{x}.json", "a.json.json", &[("x", "a.json")]),
            ("{x}-{y}", "1-2-3", &[("x", "1"), ("y", "2-3")]),
            ("{x}4{y}", "%3441", &[("x", "4"), ("y", "1")]),
            ("{x,y}", "1,2", &[("x", "1"), ("y", "2")]),
            ("f:{+x}", "f:a/../b?c#d", &[("x", "a/../b?c#d")]),
            ("f:{+x}/{y}", "f:a/b/c", &[("x", "a/b"), ("y", "c")]),
            ("f:{+x}{?y}", "f:a/b?y=1", &[("x", "a/b"), ("y", "1")]),
            ("f:{+x}{?y}", "f:a%3Fy=1", &[("x", "a?y=1")]),
            ("a{#x}", "a#b/c?d", &[("x", "b/c?d")]),
            ("a{.x}", "a.b.c", &[("x", "b.c")]),
            ("a{/x,y}", "a/b", &[("x", "b")]),
            ("a{/x}/b", "a/b", &[]),
            ("a{/x}/b", "a/b/b", &[("x", "b")]),
            ("a{;x,y}", "a;y=2;x", &[("x", ""), ("y", "2")]),
            ("a{?x,y}", "a?y=2&x=%26", &[("x", "&"), ("y", "2")]),
            ("a{?x,y}", "a?y=", &[("y", "")]),
            ("a{?x,y}", "a", &[]),
            ("a?k{&x,y}", "a?k&y=2", &[("y", "2")]),
        ] {
            assert_eq!(found(template, uri), one(values), "{template} {uri}");
        }
    }

    #[test]
    fn lists_are_found_where_the_template_says_so() {
        for (template, uri, list) in [
            ("a{/x*}", "a/b/%2F/d", ["b", "/", "d"]),
            ("a{.x*}", "a.b.c.d", ["b", "c", "d"]),
            ("a:{x*}", "a:b,c,d", ["b", "c", "d"]),
            ("a:{+x*}", "a:b/1,c,d", ["b/1", "c", "d"]),
            ("a{?x*}", "a?x=b&x=c&x=d", ["b", "c", "d"]),
            ("a{;x*}", "a;x=b;x;x=d", ["b", "", "d"]),
        ] {
            let expected = Bindings::new().with("x", list);
            assert_eq!(found(template, uri), Some(expected), "{template} {uri}");
        }
        let mixed = found("a{?x*,y}", "a?x=1&y=2&x=3").expect("a match");
        assert_eq!(mixed, Bindings::new().with("x", ["1", "3"]).with("y", "2"));
    }

    #[test]
    fn a_uri_of_another_shape_is_not_matched() {
        for (template, uri) in [
            ("a:{x}", "a:"),
            ("a:{x}", "A:1"),
            ("a:{x}", "a:1/2"),
            ("a:{x}", "a:1?"),
            ("a:{x}", "a:1#"),
            ("a:{x}", "a:1,2"),
            ("a:{x}", "a:1+2"),
            ("a:{x}", "a:{x}"),
            ("a:{x}", "a:1 2"),
            ("a:{x}", "a:%"),
            ("a:{x}", "a:%4"),
            ("a:{x}", "a:%zz"),
            ("a:{x}", "a:%C3"),
            ("a:{+x}", "a:%FF/%"),
            ("a:{x}b", "a:b"),
            ("%41{x}", "A1"),
            ("a:{x,y}", "a:1"),
            ("a:{x,y}", "a:1,2,3"),
            ("a:{x,y}", "a:1,"),
            ("a{/x}", "a/"),
            ("a{/x*}", "a/b//c"),
            ("a{/x,y}", "a/1/2/3"),
            ("a{?x}", "a?"),
            ("a{?x}", "a?x"),
            ("a{?x}", "a?x=1&y=2"),
            ("a{?x}", "a?x=1&x=2"),
            ("a{?x,y}", "a?x=1&x=2"),
            ("a{?x,y}", "a?x=1&"),
            ("a{?x,y}", "a?z=1"),
            ("a{?x,y}", "a?x=1=2"),
            ("a{;x}", "a;x="),
            ("f:{+x}{?y}", "f:a?z=1"),
            ("{x}-{y}", "1%2D2-3"),
            ("a{.x*}", "a.b%2Ec"),
            ("", "a"),
        ] {
            assert_eq!(found(template, uri), None, "{template} {uri}");
        }
    }

    #[test]
    fn hostile_uris_cost_no_more_than_their_length() {
        let templates = [
            "{+a}/{+b}/{+c}/{+d}/{+e}/x",
            "{/a*}/a{/b*}/a{/c*}/a/x",
            "{+a}/a{?b*}",
            "{a}a{b}a{c}a{d}a/",
            "{a}%41{b}%41{c}!",
            "a{.a*}",
            "{?a*}",
            "{x}",
        ];
        let uris = ["/a", "%", "%41", "a", "a.", "?a=", "&a", "/"];
        for template in templates.map(|text| Template::parse(text).expect(text)) {
            for unit in uris {
                let cost = |bytes: usize| {
                    let uri = unit.repeat(bytes / unit.len());
                    super::cost::of(|| drop(template.matches(&uri)))
                };
                let (short, long) = (cost(6 << 10), cost(60 << 10));
                assert!(
                    long <= 10 * short + 100,
                    "{template} {unit}: {short} {long}"
                );
            }
        }
    }

    #[test]
    fn a_long_list_is_read_to_its_end() {
        let uri = format!("a{}", "/a".repeat(32 << 10));
        let Some(bindings) = found("a{/x*}", &uri) else {
            panic!("a match");
        };
        let Some(Binding::Many(items)) = bindings.get("x") else {
            panic!("a list");
        };
        assert_eq!(items.len(), 32 << 10);
    }
}
