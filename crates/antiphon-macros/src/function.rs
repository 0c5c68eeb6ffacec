//! [`Function`]: the function that `#[tool]` stands on, with its parameters told apart.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{
    Attribute, Error, FnArg, Ident, Meta, Pat, PatIdent, PatType, Result, ReturnType, Signature,
    Token, Type, Visibility,
    parse::{Parse, ParseStream},
    parse_quote,
    spanned::Spanned,
};

/// As many arguments as a handler may have.
const MOST: usize = 12;

/// A function to be made a tool.
pub(crate) struct Function {
    /// What stands on the function and is about the function that makes the tool: its
    /// documentation, its lints.
    pub(crate) outer: Vec<Attribute>,
    /// What else stands on it, about the handler.
    pub(crate) inner: Vec<Attribute>,
    pub(crate) visibility: Visibility,
    pub(crate) name: Ident,
    /// What the client sends.
    pub(crate) arguments: Vec<Argument>,
    /// The other parameters, as written.
    pub(crate) extractors: Vec<PatType>,
    pub(crate) output: ReturnType,
    /// Not looked into.
    pub(crate) body: TokenStream,
}

/// A parameter with `#[arg]`.
pub(crate) struct Argument {
    /// What else stands on it, for the field.
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) mutability: Option<Token![mut]>,
    pub(crate) name: Ident,
    pub(crate) kind: Type,
}

impl Parse for Function {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        let starts = input.peek(Token![fn])
            || input.peek(Token![async])
            || input.peek(Token![const])
            || input.peek(Token![unsafe])
            || input.peek(Token![extern]);
        if !starts {
            return Err(input.error("`#[tool]` stands on an `async fn`"));
        }
        let signature: Signature = input.parse()?;
        let body = input.parse()?;
        check(&signature)?;

        let (outer, inner) = attributes.into_iter().partition(is_outer);
        let mut arguments = Vec::new();
        let mut extractors = Vec::new();
        for parameter in signature.inputs {
            match parameter {
                FnArg::Receiver(receiver) => {
                    return Err(Error::new(
                        receiver.self_token.span(),
                        "a tool is a function without `self`; take what it shares as `State<..>`",
                    ));
                }
                FnArg::Typed(parameter) => match parameter.attrs.iter().position(is_arg) {
                    Some(at) => arguments.push(argument(parameter, at)?),
                    None => extractors.push(extractor(parameter)?),
                },
            }
        }
        if extractors.len() + usize::from(!arguments.is_empty()) > MOST {
            let most = if arguments.is_empty() { MOST } else { MOST - 1 };
            return Err(Error::new(
                extractors[most].span(),
                format!("a tool has at most {most} parameters besides those with `#[arg]`"),
            ));
        }
        Ok(Self {
            outer,
            inner,
            visibility,
            name: signature.ident,
            arguments,
            extractors,
            output: signature.output,
            body,
        })
    }
}

/// Sees to it that it is an `async fn` and nothing more.
fn check(signature: &Signature) -> Result<()> {
    let Signature {
        constness,
        asyncness,
        safety,
        abi,
        generics,
        variadic,
        ..
    } = signature;
    let refuse = |what: &dyn ToTokens, why: &str| Err(Error::new_spanned(what, why));
    if !generics.params.is_empty() {
        return refuse(
            &generics.params,
            "a tool is not generic: its arguments have one schema",
        );
    }
    if let Some(bounds) = &generics.where_clause {
        return refuse(bounds, "a tool is not generic, so it has no bounds");
    }
    if let Some(abi) = abi {
        return refuse(abi, "a tool is a plain `async fn`");
    }
    if constness.is_some() || variadic.is_some() || !safety.to_token_stream().is_empty() {
        return refuse(&signature.ident, "a tool is a plain `async fn`");
    }
    if asyncness.is_none() {
        return refuse(
            &signature.fn_token,
            "a tool is an `async fn`: write `async` before `fn`",
        );
    }
    Ok(())
}

/// Whether an attribute is about the function that makes the tool. All others are about what the
/// function does, like `#[instrument]`.
fn is_outer(attribute: &Attribute) -> bool {
    let about = [
        "doc",
        "allow",
        "expect",
        "warn",
        "deny",
        "forbid",
        "deprecated",
    ];
    about.iter().any(|name| attribute.path().is_ident(name))
}

fn is_arg(attribute: &Attribute) -> bool {
    attribute.path().is_ident("arg")
}

fn argument(parameter: PatType, at: usize) -> Result<Argument> {
    let mut attributes = parameter.attrs;
    let mark = attributes.remove(at);
    if let Some(again) = attributes.iter().find(|attribute| is_arg(attribute)) {
        return Err(Error::new_spanned(again, "`#[arg]` is said twice"));
    }
    refuse_cfg(&attributes)?;
    let kind = *parameter.ty;
    if let Type::Reference(reference) = &kind {
        return Err(Error::new_spanned(
            reference,
            "an argument is owned: `String` rather than `&str`, `Vec<T>` rather than `&[T]`",
        ));
    }
    if has_default(&mark)? {
        attributes.push(parse_quote!(#[serde(default)]));
    }
    match *parameter.pat {
        Pat::Ident(PatIdent {
            by_ref: None,
            subpat: None,
            mutability,
            ident,
            ..
        }) => Ok(Argument {
            attributes,
            mutability,
            name: ident,
            kind,
        }),
        pattern => Err(Error::new_spanned(
            pattern,
            "an `#[arg]` is a plain name, by which clients know it; take it apart in the body",
        )),
    }
}

/// Whether it says `#[arg(default)]`.
fn has_default(mark: &Attribute) -> Result<bool> {
    if let Meta::Path(_) = mark.meta {
        return Ok(false);
    }
    let mut default = false;
    mark.parse_nested_meta(|meta| {
        if !meta.path.is_ident("default") {
            return Err(meta.error("`#[arg]` knows only `default`; for the field there are `#[serde(..)]` and `#[schemars(..)]`"));
        }
        if meta.input.peek(Token![=]) {
            return Err(meta.error(
                "`default` takes no value; `#[serde(default = \"path\")]` names a function",
            ));
        }
        default = true;
        Ok(())
    })?;
    Ok(default)
}

fn extractor(parameter: PatType) -> Result<PatType> {
    refuse_cfg(&parameter.attrs)?;
    for name in ["serde", "schemars", "doc"] {
        let found = (parameter.attrs.iter()).find(|attribute| attribute.path().is_ident(name));
        if let Some(attribute) = found {
            return Err(Error::new_spanned(
                attribute,
                "this describes what a client sends, so the parameter needs `#[arg]`",
            ));
        }
    }
    match &*parameter.ty {
        Type::Reference(reference) if reference.lifetime.is_none() => Err(Error::new_spanned(
            reference,
            "a tool owns what it takes: no references here",
        )),
        _ => Ok(parameter),
    }
}

/// A parameter cannot come and go: the bounds of the function that makes the tool name its type.
fn refuse_cfg(attributes: &[Attribute]) -> Result<()> {
    match attributes.iter().find(|it| it.path().is_ident("cfg")) {
        Some(cfg) => Err(Error::new_spanned(
            cfg,
            "`#[cfg]` goes on the function, not on its parameters",
        )),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use syn::parse_str;

    fn parsed(function: &str) -> Function {
        parse_str(function).unwrap_or_else(|error| panic!("`{function}`: {error}"))
    }

    fn refused(function: &str) -> String {
        match parse_str::<Function>(function) {
            Ok(_) => panic!("`{function}` is accepted"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn parameters_are_told_apart_by_their_mark() {
        let function = parsed(
            "async fn f(State(s): State<S>, #[arg] a: i64, call: Call, #[arg] mut b: u8) {}",
        );
        let names: Vec<_> = function
            .arguments
            .iter()
            .map(|it| it.name.to_string())
            .collect();
        assert_eq!(names, ["a", "b"]);
        assert_eq!(function.extractors.len(), 2);
        assert!(function.arguments[1].mutability.is_some());
    }

    #[test]
    fn attributes_go_where_they_belong() {
        let function = parsed("/// Add.\n #[allow(unused)] #[instrument] async fn f() {}");
        let names = |attributes: &[Attribute]| -> Vec<String> {
            let paths = attributes.iter().map(|it| it.path().to_token_stream());
            paths.map(|it| it.to_string()).collect()
        };
        assert_eq!(names(&function.outer), ["doc", "allow"]);
        assert_eq!(names(&function.inner), ["instrument"]);

        let function = parsed("async fn f(#[serde(rename = \"x\")] #[arg(default)] a: i64) {}");
        let field: Vec<_> = (function.arguments[0].attributes.iter())
            .map(|it| it.to_token_stream().to_string())
            .collect();
        assert_eq!(field, ["# [serde (rename = \"x\")]", "# [serde (default)]"]);
    }

    #[test]
    fn what_cannot_be_a_tool_is_refused() {
        for (function, why) in [
            ("struct S;", "stands on an `async fn`"),
            ("fn f() {}", "write `async`"),
            ("async fn f(&self) {}", "without `self`"),
            ("async fn f<T>(#[arg] a: T) {}", "not generic"),
            ("async fn f() where u8: Copy {}", "no bounds"),
            ("async unsafe fn f() {}", "a plain `async fn`"),
            ("async extern \"C\" fn f() {}", "a plain `async fn`"),
            ("async fn f(#[arg] (a, b): (u8, u8)) {}", "a plain name"),
            ("async fn f(#[arg] _: u8) {}", "a plain name"),
            ("async fn f(#[arg] ref a: u8) {}", "a plain name"),
            ("async fn f(#[arg] #[arg] a: u8) {}", "said twice"),
            ("async fn f(#[arg(deflt)] a: u8) {}", "knows only `default`"),
            ("async fn f(#[arg(default = 5)] a: u8) {}", "takes no value"),
            ("async fn f(#[arg] a: &str) {}", "an argument is owned"),
            ("async fn f(call: &Call) {}", "no references"),
            (
                "async fn f(#[cfg(x)] #[arg] a: u8) {}",
                "goes on the function",
            ),
            ("async fn f(/** The first. */ a: u8) {}", "needs `#[arg]`"),
        ] {
            let error = refused(function);
            assert!(error.contains(why), "`{function}`: {error}");
        }
    }

    #[test]
    fn arguments_count_as_one_of_twelve() {
        let many = |count: usize| "_: Call, ".repeat(count);
        parsed(&format!("async fn f({}) {{}}", many(12)));
        parsed(&format!(
            "async fn f({} #[arg] a: u8, #[arg] b: u8) {{}}",
            many(11)
        ));
        assert!(refused(&format!("async fn f({}) {{}}", many(13))).contains("at most 12"));
        let error = refused(&format!("async fn f({} #[arg] a: u8) {{}}", many(12)));
        assert!(error.contains("at most 11"), "{error}");
    }
}
