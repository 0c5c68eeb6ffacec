//! [`Function`]: the function that `#[tool]` or `#[resolver]` stands on, with its parameters told
//! apart.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{
    Attribute, Error, FnArg, Ident, Meta, Pat, PatIdent, PatType, Result, ReturnType, Signature,
    Token, Type, Visibility, parse::ParseStream, parse_quote, spanned::Spanned,
};

/// As many arguments as a handler may have.
const MOST: usize = 12;

/// What is made of a function.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Made {
    /// The attribute.
    pub(crate) attribute: &'static str,
    /// What it makes.
    pub(crate) what: &'static str,
    /// Why it cannot be generic.
    pub(crate) one: &'static str,
}

pub(crate) const TOOL: Made = Made {
    attribute: "tool",
    what: "a tool",
    one: "its arguments have one schema",
};

pub(crate) const RESOLVER: Made = Made {
    attribute: "resolver",
    what: "a resolver",
    one: "it resolves one type",
};

/// A function to be made a tool or a resolver.
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
    /// Which of the parameters are arguments, in the order they were written.
    pub(crate) are_arguments: Vec<bool>,
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

impl Function {
    pub(crate) fn parse(made: Made, input: ParseStream<'_>) -> Result<Self> {
        let Made {
            attribute, what, ..
        } = made;
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        let starts = input.peek(Token![fn])
            || input.peek(Token![async])
            || input.peek(Token![const])
            || input.peek(Token![unsafe])
            || input.peek(Token![extern]);
        if !starts {
            return Err(input.error(format!("`#[{attribute}]` stands on an `async fn`")));
        }
        let signature: Signature = input.parse()?;
        let body = input.parse()?;
        check(made, &signature)?;

        let (outer, inner) = attributes.into_iter().partition(is_outer);
        let mut arguments = Vec::new();
        let mut extractors = Vec::new();
        let mut are_arguments = Vec::new();
        for parameter in signature.inputs {
            match parameter {
                FnArg::Receiver(receiver) => {
                    return Err(Error::new(
                        receiver.self_token.span(),
                        format!(
                            "{what} is a function without `self`; take what it shares as `State<..>`"
                        ),
                    ));
                }
                FnArg::Typed(parameter) => {
                    let at = parameter.attrs.iter().position(is_arg);
                    are_arguments.push(at.is_some());
                    match at {
                        Some(at) => arguments.push(argument(parameter, at)?),
                        None => extractors.push(extractor(what, parameter)?),
                    }
                }
            }
        }
        if extractors.len() + usize::from(!arguments.is_empty()) > MOST {
            let most = if arguments.is_empty() { MOST } else { MOST - 1 };
            return Err(Error::new(
                extractors[most].span(),
                format!("{what} has at most {most} parameters besides those with `#[arg]`"),
            ));
        }
        Ok(Self {
            outer,
            inner,
            visibility,
            name: signature.ident,
            arguments,
            extractors,
            are_arguments,
            output: signature.output,
            body,
        })
    }
}

/// Sees to it that it is an `async fn` and nothing more.
fn check(made: Made, signature: &Signature) -> Result<()> {
    let Made { what, one, .. } = made;
    let Signature {
        constness,
        asyncness,
        safety,
        abi,
        generics,
        variadic,
        ..
    } = signature;
    let refuse = |at: &dyn ToTokens, why: String| Err(Error::new_spanned(at, why));
    if !generics.params.is_empty() {
        return refuse(&generics.params, format!("{what} is not generic: {one}"));
    }
    if let Some(bounds) = &generics.where_clause {
        return refuse(
            bounds,
            format!("{what} is not generic, so it has no bounds"),
        );
    }
    if let Some(abi) = abi {
        return refuse(abi, format!("{what} is a plain `async fn`"));
    }
    if constness.is_some() || variadic.is_some() || !safety.to_token_stream().is_empty() {
        return refuse(&signature.ident, format!("{what} is a plain `async fn`"));
    }
    if asyncness.is_none() {
        return refuse(
            &signature.fn_token,
            format!("{what} is an `async fn`: write `async` before `fn`"),
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

fn extractor(what: &str, parameter: PatType) -> Result<PatType> {
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
            format!("{what} owns what it takes: no references here"),
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
    use syn::parse::Parser;

    fn parse(function: &str) -> Result<Function> {
        (|input: ParseStream<'_>| Function::parse(TOOL, input)).parse_str(function)
    }

    fn parsed(function: &str) -> Function {
        parse(function).unwrap_or_else(|error| panic!("`{function}`: {error}"))
    }

    fn refused(function: &str) -> String {
        match parse(function) {
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
