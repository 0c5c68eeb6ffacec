//! Doc comments, as texts to be sent.

use proc_macro2::{Literal, TokenStream};
use quote::{ToTokens, quote};
use syn::{Attribute, Expr, ExprLit, Lit, Meta};

use crate::attributes::bare;

/// The doc comment as one string.
pub(crate) fn documentation(attributes: &[Attribute]) -> Option<TokenStream> {
    let values = attributes.iter().filter_map(|attribute| {
        match (&attribute.meta, attribute.path().is_ident("doc")) {
            (Meta::NameValue(pair), true) => Some(bare(pair.value.clone())),
            _ => None,
        }
    });
    let mut text = String::new();
    let mut parts = Vec::new();
    for value in values {
        match value {
            Expr::Lit(ExprLit {
                lit: Lit::Str(line),
                ..
            }) => {
                let lines = line.value();
                for line in without_margin(&lines) {
                    text.push_str(line.strip_prefix(' ').unwrap_or(line));
                    text.push('\n');
                }
            }
            // Such as `include_str!("..")`.
            other => {
                parts.push(Literal::string(&text).into_token_stream());
                parts.push(other.to_token_stream());
                text = "\n".to_owned();
            }
        }
    }
    if !parts.is_empty() {
        parts.push(Literal::string(text.trim_end()).into_token_stream());
        return Some(quote!(::core::concat!(#(#parts),*).trim()));
    }
    let text = text.trim();
    (!text.is_empty()).then(|| Literal::string(text).into_token_stream())
}

/// The lines of a comment; of a `/** */` without the stars, or the spaces, that they begin with.
fn without_margin(text: &str) -> impl Iterator<Item = &str> {
    let lines = || text.split('\n').skip(1);
    let written = || lines().filter(|line| !line.trim().is_empty());
    let indent = |line: &str| line.len() - line.trim_start().len();
    let has_star = |line: &str| indent(line) > 0 && line.trim_start().starts_with('*');
    let has_stars = written().all(has_star);
    let margin = written().map(indent).min().unwrap_or_default();
    let rest = lines().map(move |line| match has_stars {
        true => line.trim_start().strip_prefix('*').unwrap_or_default(),
        false => line.get(margin..).unwrap_or_default(),
    });
    text.split('\n').take(1).chain(rest)
}

/// The doc comment, if it is written out.
pub(crate) fn text(attributes: &[Attribute]) -> Option<String> {
    let text = documentation(attributes)?;
    syn::parse2::<syn::LitStr>(text)
        .ok()
        .map(|text| text.value())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_margin_is_not_part_of_a_text() {
        for (comment, lines) in [
            ("", &[""][..]),
            (" one", &[" one"]),
            (" one\n     * two\n     *\n     ", &[" one", " two", "", ""]),
            ("\n     one\n       two\n     ", &["", "one", "  two", ""]),
            // A list, and no margin.
            ("some:\n* one\n* two", &["some:", "* one", "* two"]),
        ] {
            let read: Vec<_> = without_margin(comment).collect();
            assert_eq!(read, lines, "{comment:?}");
        }
    }
}
