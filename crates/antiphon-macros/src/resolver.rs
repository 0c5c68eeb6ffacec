//! What `#[resolver]` writes: `Resolve` for what the function returns.

use std::collections::HashSet;

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{
    Error, FnArg, GenericArgument, Ident, ItemFn, LitStr, PathArguments, Result, ReturnType, Token,
    Type,
    ext::IdentExt,
    parse::{Parse, ParseStream, Parser},
    spanned::Spanned,
};

use crate::{
    expand::{camel_case, collect_names, definition, free},
    function::{Function, RESOLVER},
};

/// What stands in the parentheses.
#[derive(Default)]
struct Options {
    name: Option<LitStr>,
    /// The only state it is for.
    state: Option<Type>,
}

/// Expands the attribute.
pub(crate) fn expand(options: TokenStream, function: TokenStream) -> Result<TokenStream> {
    let mut taken = HashSet::new();
    collect_names(function.clone(), &mut taken);
    let options: Options = syn::parse2(options)?;
    let parsed = |input: ParseStream<'_>| Function::parse(RESOLVER, input);
    let Function {
        name: resolver,
        arguments,
        extractors,
        are_arguments,
        output,
        ..
    } = parsed.parse2(function.clone())?;
    let (value, fallible) = value(&output, &resolver)?;

    let name = match options.name {
        Some(name) => name.to_token_stream(),
        None => resolver.unraw().to_string().to_token_stream(),
    };
    let structure = free(&format!("{}Args", camel_case(&resolver)), &taken);
    let definition = (!arguments.is_empty()).then(|| definition(&structure, &arguments));
    let first = (!arguments.is_empty()).then(|| quote!(::antiphon::Args<#structure>,));
    let kinds: Vec<_> = extractors.iter().map(|it| &it.ty).collect();
    let all = quote!((#first #(#kinds,)*));

    // Names of our own: the function and its arguments may be called anything.
    let local = |what: &str, at: usize| format_ident!("__{what}{at}");
    let names: Vec<_> = (0..extractors.len()).map(|at| local("x", at)).collect();
    let values: Vec<_> = (0..arguments.len()).map(|at| local("a", at)).collect();
    let fields = arguments.iter().map(|it| &it.name);
    let apart = (!arguments.is_empty())
        .then(|| quote!(::antiphon::Args(#structure { #(#fields: #values,)* }),));
    let (mut given, mut extracted) = (values.iter(), names.iter());
    let passed = are_arguments.iter().map(|is_argument| match is_argument {
        true => given.next(),
        false => extracted.next(),
    });
    let run = quote!(#resolver(#(#passed),*).await);
    let run = match fallible {
        true => quote!(::core::result::Result::map_err(#run, ::core::convert::Into::into)),
        false => quote!(::core::result::Result::Ok(#run)),
    };

    let generic = free("S", &taken);
    let (parameter, state, bounds) = match options.state {
        Some(state) => (None, state.to_token_stream(), None),
        None => {
            let needs = kinds
                .iter()
                .map(|kind| quote_spanned!(kind.span()=> #kind: ::antiphon::FromCall<#generic>));
            (
                Some(quote!(<#generic>)),
                generic.to_token_stream(),
                Some(quote! {
                    where
                        #generic: ::core::marker::Send + ::core::marker::Sync + 'static,
                        #(#needs,)*
                }),
            )
        }
    };
    let function = as_written(function)?;
    Ok(quote! {
        #function

        const _: () = {
            #definition

            #[allow(private_bounds, reason = "what it takes may be more private than what it gives")]
            impl #parameter ::antiphon::Resolve<#state> for #value #bounds {
                const NAME: &'static str = #name;

                async fn resolve(
                    __call: &::antiphon::Context<'_>,
                    __state: &#state,
                ) -> ::core::result::Result<Self, ::antiphon::Stop> {
                    let (#apart #(#names,)*) =
                        <#all as ::antiphon::Extract<#state>>::extract(__call, __state).await?;
                    #run
                }

                fn describe(__description: &mut ::antiphon::Description) {
                    <#all as ::antiphon::Extract<#state>>::describe(__description);
                }
            }
        };
    })
}

impl Parse for Options {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut options = Self::default();
        while !input.is_empty() {
            let key = input.call(Ident::parse_any)?;
            let twice = || Error::new(key.span(), format!("`{key}` is said twice"));
            match key.to_string().as_str() {
                "name" => {
                    input.parse::<Token![=]>()?;
                    let name: LitStr = input.parse()?;
                    let text = name.value();
                    if text.is_empty() || text.contains('.') || text.chars().any(char::is_control) {
                        let why = "a name is not empty, and has no point in it";
                        return Err(Error::new(name.span(), why));
                    }
                    if options.name.replace(name).is_some() {
                        return Err(twice());
                    }
                }
                "state" => {
                    input.parse::<Token![=]>()?;
                    if options.state.replace(input.parse()?).is_some() {
                        return Err(twice());
                    }
                }
                _ => {
                    return Err(Error::new(
                        key.span(),
                        format!("`#[resolver]` does not know `{key}`; it knows `name`, `state`"),
                    ));
                }
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(options)
    }
}

/// The type that is resolved, and whether it comes in a `Result`.
fn value(output: &ReturnType, function: &Ident) -> Result<(Type, bool)> {
    let ReturnType::Type(_, output) = output else {
        return Err(Error::new(
            function.span(),
            "a resolver returns what it resolves: `-> Stock`, or `-> Result<Stock, Stop>`",
        ));
    };
    let (value, fallible) = match inner(output, "Result") {
        Some(value) => (value, true),
        None => (&**output, false),
    };
    if inner(value, "Answer").is_some() {
        return Err(Error::new_spanned(
            value,
            "a resolver returns the value alone, and stops if the user declines; whoever goes on \
             without takes a `Resolved<Answer<..>>`",
        ));
    }
    if is_foreign(value) {
        return Err(Error::new_spanned(
            value,
            "a resolver is known by what it returns, so that is a type of its own, such as \
             `struct Stock(u32)`",
        ));
    }
    Ok((value.clone(), fallible))
}

/// `T` of `Name<T, ..>`.
fn inner<'t>(kind: &'t Type, name: &str) -> Option<&'t Type> {
    let Type::Path(path) = kind else { return None };
    let last = path.path.segments.last().filter(|it| it.ident == name)?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return None;
    };
    arguments.args.iter().find_map(|argument| match argument {
        GenericArgument::Type(kind) => Some(kind),
        _ => None,
    })
}

/// Whether a type is clearly nobody's own.
fn is_foreign(kind: &Type) -> bool {
    let foreign = [
        "bool", "char", "f32", "f64", "i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16",
        "u32", "u64", "u128", "usize", "String", "Vec", "Option", "Arc", "Box", "HashMap",
    ];
    match kind {
        Type::Path(path) if path.qself.is_none() => {
            let last = path.path.segments.last();
            path.path.segments.len() == 1
                && last.is_some_and(|last| foreign.iter().any(|name| last.ident == name))
        }
        Type::Path(_) | Type::Macro(_) | Type::Group(_) | Type::Paren(_) => false,
        _ => true,
    }
}

/// The function, but for what `#[arg]` says of its parameters.
fn as_written(function: TokenStream) -> Result<TokenStream> {
    let mut function: ItemFn = syn::parse2(function)?;
    for parameter in &mut function.sig.inputs {
        if let FnArg::Typed(parameter) = parameter
            && parameter.attrs.iter().any(|it| it.path().is_ident("arg"))
        {
            let gone = ["arg", "serde", "schemars", "doc"];
            (parameter.attrs).retain(|it| !gone.iter().any(|name| it.path().is_ident(name)));
        }
    }
    Ok(function.into_token_stream())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(options: &str, function: &str) -> String {
        let options = options.parse().expect("options are tokens");
        let function = function.parse().expect("a function is tokens");
        let code = expand(options, function).expect("they are valid");
        code.to_string().split_whitespace().collect()
    }

    fn refused(options: &str, function: &str) -> String {
        let options = options.parse().expect("options are tokens");
        let function = function.parse().expect("a function is tokens");
        let error = expand(options, function).expect_err("it is refused");
        error.to_string()
    }

    #[test]
    fn the_function_stays_and_its_parameters_keep_their_order() {
        let code = expanded(
            "",
            "pub async fn stock(ask: Ask, #[arg] title: String, State(s): State<Shop>) -> Stock { x }",
        );
        assert!(
            code.starts_with(
                "pubasyncfnstock(ask:Ask,title:String,State(s):State<Shop>)->Stock{x}"
            ),
            "{code}"
        );
        assert!(code.contains("Ok(stock(__x0,__a0,__x1).await)"), "{code}");
        assert!(code.contains("::antiphon::Resolve<S>forStock"), "{code}");
        assert!(code.contains("NAME:&'staticstr=\"stock\""), "{code}");
    }

    #[test]
    fn a_failure_is_passed_on() {
        let code = expanded("", "async fn stock() -> anyhow::Result<Stock> { x }");
        assert!(code.contains("Resolve<S>forStock"), "{code}");
        assert!(
            code.contains("map_err(stock().await,::core::convert::Into::into)"),
            "{code}"
        );
    }

    #[test]
    fn a_resolver_of_one_state_has_no_bounds() {
        let code = expanded(
            "state = App, name = \"depot\"",
            "async fn f(a: A) -> T { x }",
        );
        assert!(code.contains("impl::antiphon::Resolve<App>forT{"), "{code}");
        assert!(code.contains("=\"depot\""), "{code}");
        assert!(!code.contains("where"), "{code}");
    }

    #[test]
    fn what_cannot_be_a_resolver_is_refused() {
        for (options, function, why) in [
            ("", "struct S;", "`#[resolver]` stands on an `async fn`"),
            ("", "fn f() -> T {}", "a resolver is an `async fn`"),
            ("", "async fn f() {}", "returns what it resolves"),
            ("", "async fn f() -> String {}", "a type of its own"),
            (
                "",
                "async fn f() -> Result<(u8, u8), Stop> {}",
                "a type of its own",
            ),
            (
                "",
                "async fn f() -> Result<Answer<T>, Stop> {}",
                "the value alone",
            ),
            ("", "async fn f<T>() -> T {}", "it resolves one type"),
            ("", "async fn f(&self) -> T {}", "without `self`"),
            ("", "async fn f(call: &Call) -> T {}", "a resolver owns"),
            (
                "title = \"x\"",
                "async fn f() -> T {}",
                "knows `name`, `state`",
            ),
            ("name = \"\"", "async fn f() -> T {}", "not empty"),
            ("name = \"a.b\"", "async fn f() -> T {}", "no point"),
            ("state = A, state = A", "async fn f() -> T {}", "said twice"),
        ] {
            let told = refused(options, function);
            assert!(told.contains(why), "`{function}`: {told}");
        }
    }
}
