//! From the text of a template to its parts.

use std::ops::Range;

use super::{
    InvalidTemplate,
    charset::{Charset, RESERVED, UNRESERVED, is_hex_pair},
};

#[derive(Debug, Clone)]
pub(super) enum Part {
    Literal(String),
    Expression(Expression),
}

impl Part {
    pub(super) fn variables(&self) -> &[Variable] {
        match self {
            Self::Literal(_) => &[],
            Self::Expression(expression) => &expression.variables,
        }
    }
}

/// What stands in one pair of braces.
#[derive(Debug, Clone)]
pub(super) struct Expression {
    pub(super) operator: Operator,
    pub(super) variables: Vec<Variable>,
    /// What a value may hold as it is; the rest is escaped.
    pub(super) unescaped: Charset,
    /// What the whole may hold, after the prefix: values, separators, and the `=` after names.
    pub(super) inside: Charset,
}

impl Expression {
    /// Whether separators may stand in it.
    pub(super) fn is_divided(&self) -> bool {
        self.variables.len() > 1 || self.variables.iter().any(|variable| variable.explode)
    }
}

#[derive(Debug, Clone)]
pub(super) struct Variable {
    pub(super) name: String,
    pub(super) explode: bool,
}

/// The character after the opening brace, and what follows from it (RFC 6570, appendix A).
///
/// An expression that has a prefix may be absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    Simple,
    Reserved,
    Fragment,
    Label,
    Segment,
    Parameter,
    Query,
    Continuation,
}

impl Operator {
    fn of(character: char) -> Option<Self> {
        Some(match character {
            '+' => Self::Reserved,
            '#' => Self::Fragment,
            '.' => Self::Label,
            '/' => Self::Segment,
            ';' => Self::Parameter,
            '?' => Self::Query,
            '&' => Self::Continuation,
            _ => return None,
        })
    }

    pub(super) fn prefix(self) -> Option<char> {
        match self {
            Self::Simple | Self::Reserved => None,
            Self::Fragment => Some('#'),
            Self::Label => Some('.'),
            Self::Segment => Some('/'),
            Self::Parameter => Some(';'),
            Self::Query => Some('?'),
            Self::Continuation => Some('&'),
        }
    }

    pub(super) fn separator(self) -> char {
        match self {
            Self::Simple | Self::Reserved | Self::Fragment => ',',
            Self::Label => '.',
            Self::Segment => '/',
            Self::Parameter => ';',
            Self::Query | Self::Continuation => '&',
        }
    }

    /// Whether values stand as `name=value`.
    pub(super) fn is_named(self) -> bool {
        matches!(self, Self::Parameter | Self::Query | Self::Continuation)
    }

    /// Whether an empty value stands as `name=`, and not as `name`.
    pub(super) fn writes_equals_for_empty(self) -> bool {
        matches!(self, Self::Query | Self::Continuation)
    }

    fn keeps_reserved(self) -> bool {
        matches!(self, Self::Reserved | Self::Fragment)
    }
}

pub(super) fn parse(text: &str) -> Result<Vec<Part>, InvalidTemplate> {
    let mut parts: Vec<(Range<usize>, Part)> = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let part = if let Some(body) = rest.strip_prefix('{') {
            let body = body_of(body, at)?;
            let expression = expression(body, at + 1)?;
            (at..at + body.len() + 2, Part::Expression(expression))
        } else {
            let end = rest.find('{').unwrap_or(rest.len());
            check_literal(&rest[..end], at)?;
            (at..at + end, Part::Literal(rest[..end].to_owned()))
        };
        at = part.0.end;
        parts.push(part);
    }
    check_names(text, &parts)?;
    for index in 0..parts.len() {
        let (before, after) = parts.split_at_mut(index + 1);
        if let (range, Part::Expression(expression)) = &mut before[index] {
            settle(&text[range.clone()], expression, text, after)?;
        }
    }
    Ok(parts.into_iter().map(|(_, part)| part).collect())
}

/// What stands before the closing brace; the opening one, at `at`, is already gone.
fn body_of(rest: &str, at: usize) -> Result<&str, InvalidTemplate> {
    match rest.find(['{', '}']) {
        Some(end) if rest[end..].starts_with('}') => Ok(&rest[..end]),
        Some(end) => Err(InvalidTemplate::new(
            at + 1 + end,
            "a `{` inside an expression: close the one before it with a `}`",
        )),
        None => Err(InvalidTemplate::new(
            at,
            "this `{` is never closed: add a `}`, or write %7B for the character itself",
        )),
    }
}

fn check_literal(text: &str, at: usize) -> Result<(), InvalidTemplate> {
    for (offset, character) in text.char_indices() {
        let why = match character {
            '}' => "a `}` without a `{`: write %7D for the character itself".to_owned(),
            '%' if is_hex_pair(&text.as_bytes()[offset + 1..]) => continue,
            '%' => "a `%` that begins no escape: write %25 for the character itself".to_owned(),
            _ if u8::try_from(character).is_ok_and(|byte| (UNRESERVED | RESERVED).has(byte)) => {
                continue;
            }
            _ => {
                let mut buffer = [0; 4];
                let bytes = character.encode_utf8(&mut buffer).bytes();
                let escaped: String = bytes.map(percent_encoding::percent_encode_byte).collect();
                format!("{character:?} cannot stand in a URI: write {escaped}")
            }
        };
        return Err(InvalidTemplate::new(at + offset, why));
    }
    Ok(())
}

/// Reads what is between the braces. Its character sets are settled later.
fn expression(body: &str, at: usize) -> Result<Expression, InvalidTemplate> {
    let first = body.chars().next();
    if let Some(reserved @ ('=' | ',' | '!' | '@' | '|')) = first {
        return Err(InvalidTemplate::new(
            at,
            format!("the operator `{reserved}` is reserved and has no meaning yet: leave it out"),
        ));
    }
    let operator = first.and_then(Operator::of);
    let skip = usize::from(operator.is_some());
    let operator = operator.unwrap_or(Operator::Simple);
    let mut variables = Vec::new();
    let mut at = at + skip;
    for spec in body[skip..].split(',') {
        let (name, explode) = match spec.strip_suffix('*') {
            Some(name) => (name, true),
            None => (spec, false),
        };
        check_name(name, at)?;
        let name = name.to_owned();
        variables.push((at, Variable { name, explode }));
        at += spec.len() + 1;
    }
    let last = variables.len() - 1;
    let list = variables.iter().position(|(_, variable)| variable.explode);
    if let Some(list) = list.filter(|list| *list < last && !operator.is_named()) {
        let (at, Variable { name, .. }) = &variables[list];
        return Err(InvalidTemplate::new(
            *at,
            format!("the list `{name}*` would take the values after it as well: put it last"),
        ));
    }
    Ok(Expression {
        operator,
        variables: variables
            .into_iter()
            .map(|(_, variable)| variable)
            .collect(),
        unescaped: UNRESERVED,
        inside: UNRESERVED,
    })
}

fn check_name(name: &str, at: usize) -> Result<(), InvalidTemplate> {
    if name.is_empty() {
        return Err(InvalidTemplate::new(at, "a variable has no name: add one"));
    }
    if let Some((name, length)) = name.split_once(':') {
        return Err(InvalidTemplate::new(
            at + name.len(),
            format!("the prefix `:{length}` would lose the rest of the value: write `{name}`"),
        ));
    }
    let letters = UNRESERVED - Charset::of(b"-.~");
    let is_word = |word: &str| !word.is_empty() && word.is_ascii() && letters.covers(word);
    if name.split('.').all(is_word) {
        return Ok(());
    }
    Err(InvalidTemplate::new(
        at,
        format!(
            "`{}` is no name for a variable: use letters of ASCII, digits, `_`, and single dots \
             between them",
            name.escape_debug()
        ),
    ))
}

fn check_names(text: &str, parts: &[(Range<usize>, Part)]) -> Result<(), InvalidTemplate> {
    let mut seen = Vec::new();
    for (range, part) in parts {
        for Variable { name, .. } in part.variables() {
            if seen.contains(&name) {
                return Err(InvalidTemplate::new(
                    range.start,
                    format!(
                        "`{name}` in `{}` stands twice in the template: give it another name here",
                        &text[range.clone()]
                    ),
                ));
            }
            seen.push(name);
        }
    }
    Ok(())
}

/// Works out the character sets of an expression from what follows it, and refuses it if its
/// end could not be told.
fn settle(
    own: &str,
    expression: &mut Expression,
    text: &str,
    after: &[(Range<usize>, Part)],
) -> Result<(), InvalidTemplate> {
    let operator = expression.operator;
    let mut separators = Vec::new();
    if expression.is_divided() {
        separators.push(operator.separator() as u8);
    }
    if operator.is_named() {
        separators.push(b'=');
    }
    let separators = Charset::of(&separators);
    let mut unescaped = UNRESERVED;
    if operator.keeps_reserved() {
        unescaped = (UNRESERVED | RESERVED) - separators;
    }
    // Everything up to the next literal may be absent, so any of it may come next.
    for (range, part) in after {
        let Part::Expression(next) = part else { break };
        let other = &text[range.clone()];
        let Some(prefix) = next.operator.prefix() else {
            return Err(InvalidTemplate::new(
                range.start,
                format!(
                    "`{other}` follows `{own}` with nothing to tell where one ends and the other \
                     begins: put a character such as `/` between them"
                ),
            ));
        };
        if operator == Operator::Reserved && matches!(prefix, '?' | '#') {
            unescaped = unescaped - Charset::of(&[prefix as u8]);
        }
        let inside = unescaped | separators;
        if inside.has(prefix as u8) || operator.prefix() == Some(prefix) {
            return Err(InvalidTemplate::new(
                range.start,
                format!(
                    "`{other}` follows `{own}`, where a `{prefix}` may stand as well: put other \
                     text between them, or all variables into one expression"
                ),
            ));
        }
    }
    expression.unescaped = unescaped;
    expression.inside = unescaped | separators;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::Template;

    #[test]
    fn refuses_with_the_place_and_the_reason() {
        for (text, at, why) in [
            ("a/{b", 2, "never closed"),
            ("a/{b{c}}", 4, "inside an expression"),
            ("a}/{b}", 1, "without a `{`"),
            ("{a}}", 3, "without a `{`"),
            ("a/{}", 3, "no name"),
            ("a/{+}", 4, "no name"),
            ("a/{b,}", 5, "no name"),
            ("{*}", 1, "no name"),
            ("{a b}", 1, "`a b` is no name"),
            ("{a.}", 1, "is no name"),
            ("{a..b}", 1, "is no name"),
            ("{x,a-b}", 3, "is no name"),
            ("{a**}", 1, "is no name"),
            ("{é}", 1, "is no name"),
            ("{a%2}", 1, "is no name"),
            ("{$a}", 1, "is no name"),
            ("{a:3}", 2, "the prefix `:3`"),
            ("{=a}", 1, "operator `=` is reserved"),
            ("{,a}", 1, "operator `,`"),
            ("{!a}", 1, "operator `!`"),
            ("{@a}", 1, "operator `@`"),
            ("{|a}", 1, "operator `|`"),
            ("{a}/{b}/{a}", 8, "`a` in `{a}` stands twice"),
            ("{?a,b,a*}", 0, "stands twice"),
            ("a/{b*,c}", 3, "the list `b*`"),
            ("a b{c}", 1, "write %20"),
            ("ö{c}", 0, "write %C3%B6"),
            ("a%4{c}", 1, "write %25"),
        ] {
            let error = Template::parse(text).expect_err(text);
            assert_eq!(error.at(), at, "{text}: {error}");
            assert!(error.to_string().contains(why), "{text}: {error}");
        }
    }

    #[test]
    fn refuses_neighbours_that_cannot_be_told_apart() {
        for (text, at) in [
            ("{a}{b}", 3),
            ("{a}{+b}", 3),
            ("{/a}{b}", 4),
            ("{/a}{?b}{c}", 8),
            ("{a}{.b}", 3),
            ("{/a}{.b}", 4),
            ("{/a}{/b}", 4),
            ("{/a}{?b}{/c}", 8),
            ("{?a}{?b}", 4),
            ("{?a,b}{&c}", 6),
            ("{?a*}{&c}", 5),
            ("{+a}{/b}", 4),
            ("{+a}{&b}", 4),
            ("{#a}{?b}", 4),
        ] {
            let error = Template::parse(text).expect_err(text);
            assert_eq!(error.at(), at, "{text}: {error}");
            assert!(error.to_string().contains("follows `{"), "{text}: {error}");
        }
    }

    #[test]
    fn accepts_neighbours_that_can() {
        for text in [
            "{a}{/b}{?c}{#d}",
            "{+a}{?b}{#c}",
            "{.a}{/b}",
            "{?a}{&b}",
            "{a}-{b}",
            "{+a}/{+b}",
            "{a,b}{;c}",
            "{a%20b.c_1}",
        ] {
            Template::parse(text).expect(text);
        }
    }
}
