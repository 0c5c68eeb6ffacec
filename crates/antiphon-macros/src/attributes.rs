//! [`Attributes`]: what stands in `#[form(..)]`.

use proc_macro2::Span;
use syn::{
    Attribute, Error, Expr, ExprLit, Ident, Lit, LitStr, Result, Token,
    ext::IdentExt,
    parse::{Parse, ParseStream},
    punctuated::Punctuated,
};

/// All that `#[form(..)]` says about one thing.
pub(crate) struct Attributes {
    entries: Vec<Entry>,
}

struct Entry {
    key: Ident,
    value: Given,
}

enum Given {
    Nothing,
    Value(Box<Expr>),
    List(Vec<LitStr>),
}

impl Attributes {
    /// Reads them; `known` is what may be said there.
    pub(crate) fn of(attributes: &[Attribute], known: &[&str]) -> Result<Self> {
        let mut entries: Vec<Entry> = Vec::new();
        for attribute in attributes.iter().filter(|it| it.path().is_ident("form")) {
            let more =
                attribute.parse_args_with(Punctuated::<Entry, Token![,]>::parse_terminated)?;
            for entry in more {
                let word = entry.key.to_string();
                let problem = if !known.contains(&word.as_str()) {
                    let known: Vec<_> = known.iter().map(|it| format!("`{it}`")).collect();
                    let known = known.join(", ");
                    format!("`#[form(..)]` does not know `{word}` here; it knows {known}")
                } else if entries.iter().any(|other| other.key == word) {
                    format!("`{word}` is said twice")
                } else {
                    entries.push(entry);
                    continue;
                };
                return Err(Error::new(entry.key.span(), problem));
            }
        }
        Ok(Self { entries })
    }

    fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    /// Where it is said.
    pub(crate) fn span(&self, key: &str) -> Option<Span> {
        self.entry(key).map(|entry| entry.key.span())
    }

    /// Whether it is said, without a value.
    pub(crate) fn flag(&self, key: &str) -> Result<bool> {
        match self.entry(key) {
            None => Ok(false),
            Some(Entry {
                value: Given::Nothing,
                ..
            }) => Ok(true),
            Some(entry) => Err(Error::new(
                entry.key.span(),
                format!("`{key}` takes no value; leave it out"),
            )),
        }
    }

    /// Any expression.
    pub(crate) fn value(&self, key: &str) -> Result<Option<&Expr>> {
        match self.entry(key) {
            None => Ok(None),
            Some(Entry {
                value: Given::Value(value),
                ..
            }) => Ok(Some(value)),
            Some(entry) => Err(Error::new(
                entry.key.span(),
                format!("`{key}` needs a value: `{key} = ..`"),
            )),
        }
    }

    /// A string literal.
    pub(crate) fn text(&self, key: &str) -> Result<Option<&LitStr>> {
        let Some(value) = self.value(key)? else {
            return Ok(None);
        };
        match literal(value) {
            Some(text) => Ok(Some(text)),
            None => Err(Error::new_spanned(
                value,
                format!("`{key}` is a string: `{key} = \"..\"`"),
            )),
        }
    }

    /// Strings in parentheses: some, and none twice.
    pub(crate) fn list(&self, key: &str) -> Result<Option<&[LitStr]>> {
        let Some(entry) = self.entry(key) else {
            return Ok(None);
        };
        let example = format!("`{key}(\"one\", \"two\")`");
        let Given::List(list) = &entry.value else {
            let problem = format!("`{key}` needs a list: {example}");
            return Err(Error::new(entry.key.span(), problem));
        };
        if list.is_empty() {
            let problem = format!("`{key}` leaves nothing to choose from; write {example}");
            return Err(Error::new(entry.key.span(), problem));
        }
        for (at, text) in list.iter().enumerate() {
            if list[..at].iter().any(|other| other.value() == text.value()) {
                return Err(Error::new(text.span(), "this is listed twice"));
            }
        }
        Ok(Some(list))
    }
}

impl Parse for Entry {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let key = input.call(Ident::parse_any)?;
        let value = if input.peek(Token![=]) {
            input.parse::<Token![=]>()?;
            Given::Value(Box::new(bare(input.parse()?)))
        } else if input.peek(syn::token::Paren) {
            let inner;
            syn::parenthesized!(inner in input);
            let list = Punctuated::<LitStr, Token![,]>::parse_terminated(&inner)?;
            Given::List(list.into_iter().collect())
        } else {
            Given::Nothing
        };
        Ok(Self { key, value })
    }
}

/// The expression itself, where a `macro_rules!` macro has put it in.
pub(crate) fn bare(value: Expr) -> Expr {
    match value {
        Expr::Group(group) => bare(*group.expr),
        other => other,
    }
}

/// The text, if it is a literal.
pub(crate) fn literal(value: &Expr) -> Option<&LitStr> {
    match value {
        Expr::Lit(ExprLit {
            lit: Lit::Str(text),
            ..
        }) => Some(text),
        _ => None,
    }
}
