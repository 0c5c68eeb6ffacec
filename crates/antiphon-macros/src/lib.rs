//! The `#[tool]` attribute. It is documented, and used, as `antiphon::tool`.
//!
//! The attribute writes nothing that an author could not have written: a struct for the arguments,
//! an async function that takes it apart, and a call of `Tool::new`. All paths go to `::antiphon`.

mod expand;
mod function;
mod options;

use proc_macro::TokenStream;

#[expect(missing_docs, reason = "the re-export has the documentation")]
#[proc_macro_attribute]
pub fn tool(options: TokenStream, function: TokenStream) -> TokenStream {
    expand::tool(options.into(), function.into())
        .unwrap_or_else(|error| error.into_compile_error())
        .into()
}
