//! What `#[derive(Choice)]` writes.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::{Error, Fields, Ident, Item, Result, ext::IdentExt, spanned::Spanned};

use crate::{
    attributes::Attributes,
    form::{not_generic, nothing_said},
};

/// A variant to choose.
struct Variant {
    name: Ident,
    wire: String,
    title: Option<String>,
    /// Where its name and its title come from.
    spans: [Span; 2],
}

/// Expands the derive.
pub(crate) fn expand(item: TokenStream) -> Result<TokenStream> {
    let item = match syn::parse2(item)? {
        Item::Enum(item) => item,
        Item::Struct(item) => {
            return Err(Error::new(
                item.struct_token.span(),
                "a choice is an enum; a struct to fill in has `#[derive(Form)]`",
            ));
        }
        other => return Err(Error::new_spanned(other, "a choice is an enum")),
    };
    not_generic(&item.generics, "a choice")?;
    nothing_said(&item.attrs, "the variants")?;
    if item.variants.is_empty() {
        return Err(Error::new_spanned(
            &item.ident,
            "there is nothing to choose from",
        ));
    }
    let mut variants: Vec<Variant> = Vec::new();
    for variant in item.variants {
        variants.push(Variant::of(variant)?);
    }
    // All have a title, or none.
    if variants.iter().any(|variant| variant.title.is_some()) {
        for variant in &mut variants {
            let words = || in_words(&variant.name.unraw().to_string());
            variant.title.get_or_insert_with(words);
        }
    }
    all_different(&variants)?;
    Ok(written(&item.ident, &variants))
}

impl Variant {
    fn of(variant: syn::Variant) -> Result<Self> {
        if !matches!(variant.fields, Fields::Unit) {
            return Err(Error::new(
                variant.fields.span(),
                "what is chosen has no data: a form is flat, so ask for the data by fields of its \
                 own",
            ));
        }
        let said = Attributes::of(&variant.attrs, &["title", "rename"])?;
        let name = variant.ident;
        let (wire, title) = (said.text("rename")?, said.text("title")?);
        let spans = [wire, title].map(|text| text.map_or(name.span(), |text| text.span()));
        Ok(Self {
            wire: match wire {
                Some(wire) => wire.value(),
                None => snake_case(&name.unraw().to_string()),
            },
            title: title.map(|title| title.value()),
            name,
            spans,
        })
    }
}

fn all_different(variants: &[Variant]) -> Result<()> {
    for (at, variant) in variants.iter().enumerate() {
        let before = &variants[..at];
        if before.iter().any(|other| other.wire == variant.wire) {
            let problem = format!("there is another variant `{}`", variant.wire);
            return Err(Error::new(variant.spans[0], problem));
        }
        let title = variant.title.as_deref();
        if title.is_some() && before.iter().any(|other| other.title.as_deref() == title) {
            let problem =
                "there is another variant of this title, and people could not tell them apart";
            return Err(Error::new(variant.spans[1], problem));
        }
    }
    Ok(())
}

fn written(name: &Ident, variants: &[Variant]) -> TokenStream {
    let names: Vec<_> = variants.iter().map(|variant| &variant.name).collect();
    let values: Vec<_> = variants.iter().map(|variant| &variant.wire).collect();
    let titles = variants.iter().map(|variant| match &variant.title {
        Some(title) => quote!(::core::option::Option::Some(#title)),
        None => quote!(::core::option::Option::None),
    });
    let text = quote!(&'static ::core::primitive::str);
    let option = quote!(::core::option::Option);
    let form = quote!(::antiphon::form);
    let value = quote!(#form::__private::Value);
    quote! {
        #[automatically_derived]
        impl #form::Choice for #name {
            const OPTIONS: &'static [(#text, #option<#text>)] = &[#((#values, #titles)),*];

            fn value(&self) -> #text {
                match self {
                    #(Self::#names => #values,)*
                }
            }

            fn from_value(value: &::core::primitive::str) -> #option<Self> {
                match value {
                    #(#values => #option::Some(Self::#names),)*
                    _ => #option::None,
                }
            }
        }

        #[automatically_derived]
        impl #form::Field for #name {
            type Literal = Self;

            fn blank() -> #form::__private::Blank {
                #form::__private::Blank::one_of(<Self as #form::Choice>::OPTIONS)
            }

            fn read(value: #option<#value>) -> #option<Self> {
                <Self as #form::Choice>::from_value(value?.as_str()?)
            }

            fn write(&self) -> #option<#value> {
                #option::Some(::core::convert::From::from(<Self as #form::Choice>::value(self)))
            }

            fn literal(literal: Self) -> #value {
                ::core::convert::From::from(<Self as #form::Choice>::value(&literal))
            }
        }
    }
}

/// `FirstClass` as `first_class`, `HTTPProxy` as `http_proxy`.
fn snake_case(name: &str) -> String {
    words(name).join("_")
}

/// `FirstClass` as `First class`.
fn in_words(name: &str) -> String {
    let words = words(name).join(" ");
    let mut letters = words.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}

/// The words of a name in camel case, in lower case.
fn words(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().collect();
    let mut words = vec![String::new()];
    for (at, letter) in letters.iter().enumerate() {
        let before = at.checked_sub(1).map(|at| letters[at]);
        let starts = letter.is_uppercase()
            && before.is_some_and(|before| {
                let next = letters.get(at + 1).is_some_and(|next| next.is_lowercase());
                !before.is_uppercase() || next
            });
        if *letter == '_' || starts {
            words.push(String::new());
        }
        if *letter != '_' {
            let word = words.last_mut().expect("there is one from the start");
            word.extend(letter.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variants_are_written_in_snake_case() {
        for (name, wire, title) in [
            ("Economy", "economy", "Economy"),
            ("FirstClass", "first_class", "First class"),
            ("EuWest1", "eu_west1", "Eu west1"),
            ("HTTPProxy", "http_proxy", "Http proxy"),
            ("TLS", "tls", "Tls"),
            ("A4Paper", "a4_paper", "A4 paper"),
            ("with_line", "with_line", "With line"),
            ("Größe", "größe", "Größe"),
        ] {
            assert_eq!(snake_case(name), wire);
            assert_eq!(in_words(name), title);
        }
    }
}
