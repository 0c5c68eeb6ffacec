//! The attributes `#[tool]` and `#[resolver]`, and the derives of forms. They are documented, and
//! used, as `antiphon::tool`, `antiphon::resolver`, `antiphon::Form` and `antiphon::Choice`.
//!
//! They write nothing that an author could not have written: `#[tool]` a struct for the arguments,
//! an async function that takes it apart, and a call of `Tool::new`; `#[resolver]` the trait
//! `Resolve`, and the derives the traits of their names. All paths go to `::antiphon`.

mod attributes;
mod choice;
mod docs;
mod expand;
mod field;
mod form;
mod function;
mod options;
mod resolver;

use proc_macro::TokenStream;

#[expect(missing_docs, reason = "the re-export has the documentation")]
#[proc_macro_attribute]
pub fn tool(options: TokenStream, function: TokenStream) -> TokenStream {
    expand::tool(options.into(), function.into())
        .unwrap_or_else(|error| error.into_compile_error())
        .into()
}

#[expect(missing_docs, reason = "the re-export has the documentation")]
#[proc_macro_derive(Form, attributes(form))]
pub fn form(item: TokenStream) -> TokenStream {
    form::expand(item.into())
        .unwrap_or_else(|error| error.into_compile_error())
        .into()
}

#[expect(missing_docs, reason = "the re-export has the documentation")]
#[proc_macro_derive(Choice, attributes(form))]
pub fn choice(item: TokenStream) -> TokenStream {
    choice::expand(item.into())
        .unwrap_or_else(|error| error.into_compile_error())
        .into()
}
#[expect(missing_docs, reason = "the re-export has the documentation")]
#[proc_macro_attribute]
pub fn resolver(options: TokenStream, function: TokenStream) -> TokenStream {
    resolver::expand(options.into(), function.into())
        .unwrap_or_else(|error| error.into_compile_error())
        .into()
}
