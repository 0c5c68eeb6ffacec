//! [`Options`]: what stands in the parentheses of `#[tool(..)]`.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::{
    Error, Expr, ExprLit, Ident, Lit, LitStr, Result, Token,
    ext::IdentExt,
    parse::{Parse, ParseStream},
};

const KNOWN: &str = "`name`, `title`, `description`, `icon`, `read_only`, `destructive`, \
                     `additive`, `idempotent`, `open_world`";

/// What is said about a tool.
#[derive(Default)]
pub(crate) struct Options {
    pub(crate) name: Option<Expr>,
    pub(crate) description: Option<Expr>,
    /// The methods of `Tool` that say the rest, as they are called.
    pub(crate) calls: Vec<TokenStream>,
}

impl Parse for Options {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut options = Self::default();
        let mut seen: Vec<String> = Vec::new();
        while !input.is_empty() {
            let key = input.call(Ident::parse_any)?;
            let word = key.to_string();
            if word != "icon" && seen.contains(&word) {
                return Err(Error::new(key.span(), format!("`{word}` is said twice")));
            }
            options.read(&key, &word, input)?;
            refuse_contradiction(&key, &word, &seen)?;
            seen.push(word);
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(options)
    }
}

impl Options {
    fn read(&mut self, key: &Ident, word: &str, input: ParseStream<'_>) -> Result<()> {
        match word {
            "name" => {
                let name = text(key, input)?;
                if let Some(name) = literal(&name) {
                    check_name(&name.value(), name.span())?;
                }
                self.name = Some(name);
            }
            "description" => self.description = Some(text(key, input)?),
            "title" | "icon" => {
                let value = text(key, input)?;
                self.calls.push(quote!(.#key(#value)));
            }
            "open_world" => {
                let value = value(key, input, "`open_world = true` or `open_world = false`")?;
                self.calls.push(quote!(.#key(#value)));
            }
            "read_only" | "destructive" | "additive" | "idempotent" => {
                if input.peek(Token![=]) {
                    return Err(input.error(format!("`{word}` takes no value; leave it out")));
                }
                self.calls.push(quote!(.#key()));
            }
            _ => {
                return Err(Error::new(
                    key.span(),
                    format!("`#[tool]` does not know `{word}`; it knows {KNOWN}"),
                ));
            }
        }
        Ok(())
    }
}

/// A tool's name is 1 to 128 letters, digits, `_`, `-` and `.` (TOOL-S-11 to TOOL-S-13).
pub(crate) fn check_name(name: &str, span: Span) -> Result<()> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    if (1..=128).contains(&name.len()) && name.bytes().all(plain) {
        return Ok(());
    }
    Err(Error::new(
        span,
        "the name of a tool is 1 to 128 letters, digits, `_`, `-` and `.`",
    ))
}

/// What a tool does to the world is one of these.
fn refuse_contradiction(key: &Ident, word: &str, seen: &[String]) -> Result<()> {
    let effects = ["read_only", "destructive", "additive"];
    match seen.iter().find(|other| effects.contains(&other.as_str())) {
        Some(other) if effects.contains(&word) => Err(Error::new(
            key.span(),
            format!("a tool cannot be both `{other}` and `{word}`"),
        )),
        _ => Ok(()),
    }
}

/// A value that may be any expression, but no literal other than a string.
fn text(key: &Ident, input: ParseStream<'_>) -> Result<Expr> {
    let value = value(key, input, &format!("`{key} = \"..\"`"))?;
    match &value {
        Expr::Lit(ExprLit { lit, .. }) if literal(&value).is_none() => Err(Error::new(
            lit.span(),
            format!("`{key}` is a string: `{key} = \"..\"`"),
        )),
        _ => Ok(value),
    }
}

fn value(key: &Ident, input: ParseStream<'_>, form: &str) -> Result<Expr> {
    if !input.peek(Token![=]) {
        return Err(Error::new(
            key.span(),
            format!("`{key}` needs a value: {form}"),
        ));
    }
    input.parse::<Token![=]>()?;
    input.parse()
}

fn literal(value: &Expr) -> Option<&LitStr> {
    match value {
        Expr::Lit(ExprLit {
            lit: Lit::Str(text),
            ..
        }) => Some(text),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use syn::parse_str;

    fn refused(options: &str) -> String {
        match parse_str::<Options>(options) {
            Ok(_) => panic!("`{options}` is accepted"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn options_become_calls_in_their_order() {
        let options: Options =
            parse_str(r#"title = "Add", icon = "a.png", icon = "b.png", open_world = false"#)
                .expect("they are valid");
        let calls: Vec<_> = options.calls.iter().map(ToString::to_string).collect();
        assert_eq!(
            calls,
            [
                r#". title ("Add")"#,
                r#". icon ("a.png")"#,
                r#". icon ("b.png")"#,
                ". open_world (false)"
            ]
        );
    }

    #[test]
    fn names_are_checked_where_they_are_literal() {
        for name in ["", "two words", "größe", "a/b", &"x".repeat(129)] {
            let error = refused(&format!("name = {name:?}"));
            assert!(error.contains("1 to 128 letters"), "{name}: {error}");
        }
        for name in [r#""shop.orders-2_add""#, "NAME", "names::ADD"] {
            parse_str::<Options>(&format!("name = {name}")).expect(name);
        }
    }

    #[test]
    fn a_tool_has_one_effect() {
        assert_eq!(
            refused("read_only, destructive"),
            "a tool cannot be both `read_only` and `destructive`"
        );
        assert_eq!(
            refused("destructive, idempotent, additive"),
            "a tool cannot be both `destructive` and `additive`"
        );
    }

    #[test]
    fn what_is_wrong_is_named() {
        assert_eq!(refused("title"), r#"`title` needs a value: `title = ".."`"#);
        assert_eq!(
            refused("title = 5"),
            r#"`title` is a string: `title = ".."`"#
        );
        assert_eq!(
            refused("read_only = true"),
            "`read_only` takes no value; leave it out"
        );
        assert_eq!(
            refused("idempotent, idempotent"),
            "`idempotent` is said twice"
        );
        assert!(refused("readonly").contains("`read_only`"));
    }
}
