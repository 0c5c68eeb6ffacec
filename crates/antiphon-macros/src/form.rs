//! What `#[derive(Form)]` writes.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::{Attribute, Error, Fields, Generics, Item, Result, spanned::Spanned};

use crate::field::Field;

/// Expands the derive.
pub(crate) fn expand(item: TokenStream) -> Result<TokenStream> {
    let item = match syn::parse2(item)? {
        Item::Struct(item) => item,
        Item::Enum(item) => {
            return Err(Error::new(
                item.enum_token.span(),
                "a form is a struct; an enum to choose from has `#[derive(Choice)]`",
            ));
        }
        other => return Err(Error::new_spanned(other, "a form is a struct")),
    };
    not_generic(&item.generics, "a form")?;
    nothing_said(&item.attrs, "the fields")?;
    let Fields::Named(named) = item.fields else {
        return Err(Error::new_spanned(
            &item.ident,
            "the fields of a form have names: `struct Name { field: Type }`",
        ));
    };
    if named.named.is_empty() {
        return Err(Error::new_spanned(
            &item.ident,
            "a form without fields asks for nothing",
        ));
    }
    let fields = fields(named.named)?;

    let name = &item.ident;
    let entries = fields
        .iter()
        .map(|Field { wire, blank, .. }| quote!((#wire, #blank)));
    let reads = fields.iter().map(|field| {
        let Field {
            name, wire, kind, ..
        } = field;
        let read = quote_spanned!(kind.span()=> <#kind as ::antiphon::form::Field>::read);
        quote! {
            #name: #read(content.remove(#wire))
                .ok_or_else(|| ::antiphon::form::__private::unread(#wire))?
        }
    });
    let writes = fields.iter().map(|field| {
        let Field {
            name, wire, kind, ..
        } = field;
        let write = quote_spanned!(kind.span()=> <#kind as ::antiphon::form::Field>::write);
        quote! {
            if let ::core::option::Option::Some(value) = #write(&self.#name) {
                content.insert(::core::convert::From::from(#wire), value);
            }
        }
    });
    let from = match &fields[..] {
        [
            Field {
                name: field, kind, ..
            },
        ] => quote! {
            #[automatically_derived]
            impl ::core::convert::From<#kind> for #name {
                fn from(value: #kind) -> Self {
                    Self { #field: value }
                }
            }
        },
        _ => TokenStream::new(),
    };
    let private = quote!(::antiphon::form::__private);
    let content = quote!(#private::Map<::std::string::String, #private::Value>);
    Ok(quote! {
        #[automatically_derived]
        impl ::antiphon::form::Form for #name {
            fn definition() -> &'static ::antiphon::form::Definition {
                static DEFINITION: ::std::sync::LazyLock<::antiphon::form::Definition> =
                    ::std::sync::LazyLock::new(|| {
                        ::antiphon::form::Definition::of([#(#entries),*])
                    });
                &DEFINITION
            }

            fn read(
                mut content: #content,
            ) -> ::core::result::Result<Self, ::std::vec::Vec<::std::string::String>> {
                let errors = <Self as ::antiphon::form::Form>::definition().errors(&content);
                if !errors.is_empty() {
                    return ::core::result::Result::Err(errors);
                }
                ::core::result::Result::Ok(Self { #(#reads,)* })
            }

            fn write(&self) -> #content {
                let mut content = #private::Map::new();
                #(#writes)*
                content
            }
        }
        #from
    })
}

/// All fields, or all that is wrong with them.
fn fields(named: impl IntoIterator<Item = syn::Field>) -> Result<Vec<Field>> {
    let mut fields: Vec<Field> = Vec::new();
    let mut wrong: Option<Error> = None;
    for field in named {
        let field = Field::of(field).and_then(|field| {
            match fields.iter().any(|other| other.wire == field.wire) {
                true => Err(Error::new(
                    field.span,
                    format!("there is another field `{}`", field.wire),
                )),
                false => Ok(field),
            }
        });
        match (field, &mut wrong) {
            (Ok(field), _) => fields.push(field),
            (Err(error), Some(wrong)) => wrong.combine(error),
            (Err(error), wrong) => *wrong = Some(error),
        }
    }
    match wrong {
        None => Ok(fields),
        Some(wrong) => Err(wrong),
    }
}

/// Its schema is one, so it cannot be generic.
pub(crate) fn not_generic(generics: &Generics, what: &str) -> Result<()> {
    let problem = format!("{what} is not generic: it has one schema");
    if !generics.params.is_empty() {
        return Err(Error::new_spanned(&generics.params, problem));
    }
    match &generics.where_clause {
        Some(bounds) => Err(Error::new_spanned(bounds, problem)),
        None => Ok(()),
    }
}

/// Nothing is said about the whole.
pub(crate) fn nothing_said(attributes: &[Attribute], parts: &str) -> Result<()> {
    match attributes.iter().find(|it| it.path().is_ident("form")) {
        None => Ok(()),
        Some(attribute) => Err(Error::new_spanned(
            attribute.to_token_stream(),
            format!("`#[form(..)]` stands on {parts}"),
        )),
    }
}
