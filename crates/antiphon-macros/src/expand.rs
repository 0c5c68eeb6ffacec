//! What `#[tool]` writes.

use std::collections::HashSet;

use proc_macro2::{Ident, Literal, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{
    Expr, Result,
    ext::IdentExt,
    parse::{ParseStream, Parser},
    spanned::Spanned,
};

use crate::{
    docs::documentation,
    function::{Argument, Function, TOOL},
    options::{self, Options},
};

/// Expands the attribute.
pub(crate) fn tool(options: TokenStream, function: TokenStream) -> Result<TokenStream> {
    let mut taken = HashSet::new();
    collect_names(function.clone(), &mut taken);
    let options: Options = syn::parse2(options)?;
    let function = (|input: ParseStream<'_>| Function::parse(TOOL, input)).parse2(function)?;

    let name = name(&options, &function)?;
    let description = options
        .description
        .map(Expr::into_token_stream)
        .or_else(|| documentation(&function.outer))
        .map(|text| quote!(.description(#text)));
    let calls = options.calls;
    let Function {
        outer,
        inner,
        visibility,
        name: handler,
        arguments,
        extractors,
        output,
        body,
        are_arguments: _,
    } = function;
    let state = free("S", &taken);
    let structure = free(&format!("{}Args", camel_case(&handler)), &taken);
    let needs = extractors.iter().map(|it| {
        let kind = &it.ty;
        quote_spanned!(kind.span()=> #kind: ::antiphon::FromCall<#state>)
    });
    let definition = (!arguments.is_empty()).then(|| definition(&structure, &arguments));
    let taken_apart = (!arguments.is_empty()).then(|| taken_apart(&structure, &arguments));

    Ok(quote! {
        #(#outer)*
        #visibility fn #handler<#state>() -> ::antiphon::Tool<#state>
        where
            #state: ::core::marker::Send + ::core::marker::Sync + 'static,
            #(#needs,)*
        {
            #definition
            #(#inner)*
            async fn #handler(#taken_apart #(#extractors,)*) #output #body
            ::antiphon::Tool::new(#name, #handler) #description #(#calls)*
        }
    })
}

/// The name of the tool: as it is said, or that of the function.
fn name(options: &Options, function: &Function) -> Result<TokenStream> {
    if let Some(name) = &options.name {
        return Ok(name.to_token_stream());
    }
    let name = function.name.unraw().to_string();
    options::check_name(&name, function.name.span())?;
    Ok(Literal::string(&name).into_token_stream())
}

/// The struct of the arguments.
pub(crate) fn definition(name: &Ident, arguments: &[Argument]) -> TokenStream {
    let fields = arguments.iter().map(|argument| {
        let Argument {
            attributes,
            name,
            kind,
            ..
        } = argument;
        quote!(#(#attributes)* #name: #kind)
    });
    quote! {
        #[derive(::antiphon::__private::serde::Deserialize, ::antiphon::schemars::JsonSchema)]
        #[serde(crate = "::antiphon::__private::serde")]
        #[schemars(crate = "::antiphon::schemars")]
        struct #name { #(#fields,)* }
    }
}

/// The first parameter of the handler.
fn taken_apart(structure: &Ident, arguments: &[Argument]) -> TokenStream {
    let names = arguments.iter().map(|argument| {
        let Argument {
            mutability, name, ..
        } = argument;
        quote!(#mutability #name)
    });
    quote!(::antiphon::Args(#structure { #(#names,)* }): ::antiphon::Args<#structure>,)
}

/// `add_two` as `AddTwo`.
pub(crate) fn camel_case(name: &Ident) -> String {
    let name = name.unraw().to_string();
    let words = name.split('_').map(|word| {
        let mut letters = word.chars();
        let first = letters.next().into_iter().flat_map(char::to_uppercase);
        first.chain(letters).collect::<String>()
    });
    words.collect()
}

/// A name like `wanted` that the function does not use for anything else: what it writes inside
/// the function must not hide a type of its author.
pub(crate) fn free(wanted: &str, taken: &HashSet<String>) -> Ident {
    let mut name = format_ident!("{wanted}", span = Span::call_site());
    while taken.contains(&name.to_string()) {
        name = format_ident!("{name}_");
    }
    name
}

pub(crate) fn collect_names(tokens: TokenStream, names: &mut HashSet<String>) {
    for token in tokens {
        match token {
            TokenTree::Ident(name) => _ = names.insert(name.to_string()),
            TokenTree::Group(group) => collect_names(group.stream(), names),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(options: &str, function: &str) -> String {
        let options = options.parse().expect("options are tokens");
        let function = function.parse().expect("a function is tokens");
        let code = tool(options, function).expect("they are valid").to_string();
        code.split_whitespace().collect()
    }

    #[test]
    fn without_arguments_there_is_no_struct() {
        let code = expanded("", "pub(crate) async fn now(clock: Clock) -> String { x }");
        assert_eq!(
            code,
            "pub(crate)fnnow<S>()->::antiphon::Tool<S>\
             whereS:::core::marker::Send+::core::marker::Sync+'static,\
             Clock:::antiphon::FromCall<S>,\
             {asyncfnnow(clock:Clock,)->String{x}::antiphon::Tool::new(\"now\",now)}"
        );
    }

    #[test]
    fn names_of_the_author_are_not_hidden() {
        let code = expanded(
            "",
            "async fn add(#[arg] a: AddArgs, s: State<S>) { S_::new() }",
        );
        assert!(code.contains("structAddArgs_{a:AddArgs,}"), "{code}");
        assert!(code.contains("fnadd<S__>()"), "{code}");
        assert!(
            code.contains("State<S>:::antiphon::FromCall<S__>"),
            "{code}"
        );
    }

    #[test]
    fn the_doc_comment_is_the_description_unless_there_is_one() {
        let function = "/// Add two.\n///\n///   Indented.\nasync fn add() {}";
        let options = "";
        let code = tool(options.parse().unwrap(), function.parse().unwrap());
        let code = code.expect("valid").to_string();
        assert!(
            code.contains(r#". description ("Add two.\n\n  Indented.")"#),
            "{code}"
        );
        let code = expanded(r#"description = "Other.""#, function);
        assert!(code.contains(r#".description("Other.")"#), "{code}");
        assert!(!expanded("", "async fn add() {}").contains("description"));
    }

    #[test]
    fn a_doc_comment_from_a_file_is_read_by_the_compiler() {
        let function = "/// Add.\n#[doc = include_str!(\"add.md\")]\nasync fn add() {}";
        let code = expanded("", function);
        assert!(
            code.contains(
                r#".description(::core::concat!("Add.\n",include_str!("add.md"),"").trim())"#
            ),
            "{code}"
        );
    }

    #[test]
    fn a_raw_name_loses_its_mark() {
        let code = expanded("", "async fn r#move(#[arg] r#type: String) {}");
        assert!(code.contains("fnr#move<S>()"), "{code}");
        assert!(code.contains("Tool::new(\"move\",r#move)"), "{code}");
        assert!(code.contains("structMoveArgs{r#type:String,}"), "{code}");
    }

    #[test]
    fn the_function_s_name_must_do_as_the_tool_s() {
        let refused = tool("".parse().unwrap(), "async fn größe() {}".parse().unwrap());
        assert!(refused.is_err());
        expanded(r#"name = "size""#, "async fn größe() {}");
    }
}
