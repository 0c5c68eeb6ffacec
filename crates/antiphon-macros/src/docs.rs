//! Doc comments, as texts to be sent.

use proc_macro2::{Literal, TokenStream};
use quote::{ToTokens, quote};
use syn::{Attribute, Expr, ExprLit, Lit, Meta};

/// The doc comment as one string.
pub(crate) fn documentation(attributes: &[Attribute]) -> Option<TokenStream> {
    let values = attributes.iter().filter_map(|attribute| {
        match (&attribute.meta, attribute.path().is_ident("doc")) {
            (Meta::NameValue(pair), true) => Some(&pair.value),
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
                let line = line.value();
                text.push_str(line.strip_prefix(' ').unwrap_or(&line));
                text.push('\n');
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

/// The doc comment, if it is written out.
pub(crate) fn text(attributes: &[Attribute]) -> Option<String> {
    let text = documentation(attributes)?;
    syn::parse2::<syn::LitStr>(text)
        .ok()
        .map(|text| text.value())
}
