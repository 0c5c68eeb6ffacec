//! [`Field`]: a field of the struct that `#[derive(Form)]` stands on.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use regex::Regex;
use syn::{Attribute, Error, Expr, Ident, LitStr, Result, Type, ext::IdentExt, spanned::Spanned};

use crate::{
    attributes::{Attributes, literal},
    docs,
};

const KNOWN: &[&str] = &[
    "title",
    "description",
    "rename",
    "default",
    "min_length",
    "max_length",
    "format",
    "pattern",
    "rule",
    "min",
    "max",
    "options",
    "min_items",
    "max_items",
    "not_a_secret",
];

/// A field of a form.
pub(crate) struct Field {
    pub(crate) name: Ident,
    /// What it is called on the wire.
    pub(crate) wire: String,
    pub(crate) kind: Type,
    /// Where its name on the wire comes from.
    pub(crate) span: Span,
    /// An expression that makes the field, with all that must hold while compiling.
    pub(crate) blank: TokenStream,
}

impl Field {
    pub(crate) fn of(field: syn::Field) -> Result<Self> {
        let name = field.ident.expect("only structs with names come here");
        let said = Attributes::of(&field.attrs, KNOWN)?;
        let (wire, span) = match said.text("rename")? {
            Some(wire) if wire.value().is_empty() => {
                return Err(Error::new(wire.span(), "a field needs a name"));
            }
            Some(wire) => (wire.value(), wire.span()),
            None => (name.unraw().to_string(), name.span()),
        };
        let mut writer = Writer {
            kind: &field.ty,
            checks: TokenStream::new(),
            calls: TokenStream::new(),
        };
        writer.words(&said, &field.attrs, name.span())?;
        writer.texts(&said)?;
        writer.numbers(&said)?;
        writer.lists(&said)?;
        writer.default(&said)?;
        if !said.flag("not_a_secret")? {
            writer.no_secret(&name.unraw().to_string(), name.span());
            if said.span("rename").is_some() {
                writer.no_secret(&wire, span);
            }
        }
        let Writer { checks, calls, .. } = writer;
        let kind = &field.ty;
        let blank = quote_spanned!(kind.span()=> <#kind as ::antiphon::form::Field>::blank());
        Ok(Self {
            blank: quote!({ #checks #blank #calls }),
            kind: field.ty,
            name,
            wire,
            span,
        })
    }
}

/// Writes what makes one field.
struct Writer<'a> {
    kind: &'a Type,
    /// Constants, and what must hold of them.
    checks: TokenStream,
    /// Methods of `Blank`.
    calls: TokenStream,
}

impl Writer<'_> {
    /// Title and description.
    fn words(&mut self, said: &Attributes, attributes: &[Attribute], name: Span) -> Result<()> {
        let mut description = docs::documentation(attributes);
        let bare = said.span("title").is_some() && said.flag("title").is_ok();
        if bare {
            let text = docs::text(attributes).ok_or_else(|| {
                Error::new(
                    said.span("title").unwrap_or(name),
                    "the first line of the doc comment is to be the title, but there is none; \
                     write one, or `title = \"..\"`",
                )
            })?;
            let (title, rest) = text.split_once('\n').unwrap_or((&text, ""));
            let (title, rest) = (title.trim(), rest.trim());
            self.calls.extend(quote!(.title(#title)));
            description = (!rest.is_empty()).then(|| rest.to_token_stream());
        } else if let Some(title) = said.value("title")? {
            self.calls.extend(quote!(.title(#title)));
        }
        if let Some(text) = said.value("description")? {
            description = Some(text.to_token_stream());
        }
        if let Some(text) = description {
            self.calls.extend(quote!(.description(#text)));
        }
        Ok(())
    }

    fn texts(&mut self, said: &Attributes) -> Result<()> {
        let of_texts = ["min_length", "max_length", "format", "pattern", "rule"];
        let Some(span) = of_texts.iter().find_map(|key| said.span(key)) else {
            return Ok(());
        };
        if let Some(options) = said.span("options") {
            let problem = "what is chosen from `options(..)` has no length, format or pattern";
            return Err(Error::new(options, problem));
        }
        self.only_for(&quote!(text), span);
        self.bounds(
            said,
            ["min_length", "max_length"],
            &quote!(::core::primitive::u64),
            |it| it,
        )?;
        if let Some(format) = said.text("format")? {
            let variant = match format.value().as_str() {
                "email" => quote!(Email),
                "uri" => quote!(Uri),
                "date" => quote!(Date),
                "date-time" => quote!(DateTime),
                _ => {
                    return Err(Error::new(
                        format.span(),
                        "a format is \"email\", \"uri\", \"date\" or \"date-time\"; for others \
                         there is `pattern`",
                    ));
                }
            };
            let variant = quote!(::antiphon::form::__private::StringFormat::#variant);
            self.calls.extend(quote!(.format(#variant)));
            self.default_must(
                said,
                &quote!(::antiphon::form::__private::fits(#variant, __DEFAULT)),
                "the default is not of the format",
            );
        }
        self.pattern(said)
    }

    fn pattern(&mut self, said: &Attributes) -> Result<()> {
        let rule = said.text("rule")?;
        let Some(pattern) = said.text("pattern")? else {
            return match rule {
                None => Ok(()),
                Some(rule) => Err(Error::new(
                    rule.span(),
                    "`rule` says in words what `pattern` asks for; there is no `pattern`",
                )),
            };
        };
        let regex = compiled(pattern)?;
        if let Some(default) = said.value("default")? {
            let text = literal(default).ok_or_else(|| {
                Error::new_spanned(default, "a default beside a `pattern` is a string literal")
            })?;
            if !regex.is_match(&text.value()) {
                let problem = "the default does not match the pattern";
                return Err(Error::new(text.span(), problem));
            }
        }
        let rule = match rule {
            Some(rule) => quote!(::core::option::Option::Some(#rule)),
            None => quote!(::core::option::Option::None),
        };
        self.calls.extend(quote!(.pattern(#pattern, #rule)));
        Ok(())
    }

    fn numbers(&mut self, said: &Attributes) -> Result<()> {
        let Some(span) = said.span("min").or(said.span("max")) else {
            return Ok(());
        };
        self.only_for(&quote!(number), span);
        let kind = self.kind;
        let field = quote_spanned!(kind.span()=> <#kind as ::antiphon::form::Field>);
        self.bounds(
            said,
            ["min", "max"],
            &quote!(#field::Literal),
            |bound| quote!(#field::literal(#bound)),
        )
    }

    fn lists(&mut self, said: &Attributes) -> Result<()> {
        let kind = self.kind;
        match said.list("options")? {
            Some(options) => {
                self.only_for(&quote!(options), said.span("options").expect("it is said"));
                self.checks.extend(
                    quote!(const __OPTIONS: &[&::core::primitive::str] = &[#(#options),*];),
                );
                // First: it makes another field of it.
                let calls = std::mem::take(&mut self.calls);
                self.calls = quote!(.options(__OPTIONS) #calls);
            }
            None => self.must(
                kind.span(),
                &quote_spanned!(kind.span()=> !<#kind as ::antiphon::form::Field>::NEEDS_OPTIONS),
                "a list of texts needs something to choose from: `#[form(options(\"one\", \
                 \"two\"))]`; or make it a `Vec` of an enum with `#[derive(Choice)]`",
            ),
        }
        if let Some(span) = said.span("min_items").or(said.span("max_items")) {
            self.only_for(&quote!(list), span);
            self.bounds(
                said,
                ["min_items", "max_items"],
                &quote!(::core::primitive::u64),
                |it| it,
            )?;
        }
        if let Some(least) = said.value("min_items")? {
            let choices = match said.span("options") {
                Some(_) => quote!(__OPTIONS.len()),
                None => quote!(<#kind as ::antiphon::form::Field>::CHOICES),
            };
            self.must(
                least.span(),
                &quote!(__MIN_ITEMS <= #choices as ::core::primitive::u64),
                "`min_items` is more than there are to choose from",
            );
        }
        Ok(())
    }

    /// Two bounds, the lower of which is not above the upper, and a default in between.
    fn bounds(
        &mut self,
        said: &Attributes,
        keys: [&str; 2],
        kind: &TokenStream,
        written: impl Fn(TokenStream) -> TokenStream,
    ) -> Result<()> {
        let default = match keys[0] {
            "min" => quote!(__DEFAULT),
            "min_length" => quote!(::antiphon::form::__private::count(__DEFAULT)),
            _ => quote!(__DEFAULT.len() as ::core::primitive::u64),
        };
        let mut constants = Vec::new();
        for key in keys {
            let Some(bound) = said.value(key)? else {
                continue;
            };
            let constant = format_ident!("__{}", key.to_uppercase(), span = bound.span());
            let method = match key {
                "min" => format_ident!("minimum"),
                "max" => format_ident!("maximum"),
                key => format_ident!("{key}"),
            };
            let written = written(constant.to_token_stream());
            self.checks
                .extend(quote_spanned!(bound.span()=> const #constant: #kind = #bound;));
            self.calls.extend(quote!(.#method(#written)));
            let holds = match key.starts_with("min") {
                true => quote!(#constant <= #default),
                false => quote!(#default <= #constant),
            };
            self.default_must(said, &holds, &format!("the default is beyond `{key}`"));
            constants.push((constant, bound.span()));
        }
        if let [(low, _), (high, span)] = &constants[..] {
            let problem = format!("`{}` is greater than `{}`", keys[0], keys[1]);
            self.must(*span, &quote!(#low <= #high), &problem);
        }
        Ok(())
    }

    fn default(&mut self, said: &Attributes) -> Result<()> {
        let Some(default) = said.value("default")? else {
            return Ok(());
        };
        let kind = self.kind;
        let value = match default {
            Expr::Array(list) => quote_spanned!(list.span()=> &#list),
            other => other.to_token_stream(),
        };
        self.checks.extend(quote! {
            const __DEFAULT: <#kind as ::antiphon::form::Field>::Literal = #value;
        });
        self.calls
            .extend(quote!(.default(<#kind as ::antiphon::form::Field>::literal(__DEFAULT))));
        let Some(options) = said.list("options")? else {
            return Ok(());
        };
        let known = |text: &LitStr| options.iter().any(|it| it.value() == text.value());
        let chosen: Vec<&Expr> = match default {
            Expr::Array(list) => list.elems.iter().collect(),
            other => vec![other],
        };
        for (at, value) in chosen.iter().enumerate() {
            let before = chosen[..at].iter().filter_map(|value| literal(value));
            match literal(value) {
                Some(text) if before.map(LitStr::value).any(|it| it == text.value()) => {
                    let problem = "the default has this twice";
                    return Err(Error::new(text.span(), problem));
                }
                Some(text) if known(text) => {}
                Some(text) => {
                    let problem = "the default is none of the options";
                    return Err(Error::new(text.span(), problem));
                }
                None => {
                    let problem = "a default out of `options(..)` is a string literal";
                    return Err(Error::new_spanned(value, problem));
                }
            }
        }
        Ok(())
    }

    fn no_secret(&mut self, name: &str, span: Span) {
        self.must(
            span,
            &quote!(!::antiphon::form::looks_like_secret(#name)),
            &format!(
                "`{name}` looks like a secret, and a form must not ask for one: send the user to \
                 a page of yours with `ask.url`; if it is none, say `#[form(not_a_secret)]`"
            ),
        );
    }

    /// Sees to it that the field is of the kind that an attribute goes with.
    fn only_for(&mut self, check: &TokenStream, span: Span) {
        let kind = self.kind;
        let check = quote_spanned!(span=> ::antiphon::form::__private::#check);
        self.checks.extend(quote!(const _: () = #check::<#kind>();));
    }

    fn default_must(&mut self, said: &Attributes, holds: &TokenStream, problem: &str) {
        if let Ok(Some(default)) = said.value("default") {
            self.must(default.span(), holds, problem);
        }
    }

    /// What must hold while compiling.
    fn must(&mut self, span: Span, holds: &TokenStream, problem: &str) {
        let problem = problem.replace('{', "{{").replace('}', "}}");
        self.checks.extend(quote_spanned! {span=>
            const _: () = ::core::assert!(#holds, #problem);
        });
    }
}

fn compiled(pattern: &LitStr) -> Result<Regex> {
    Regex::new(&pattern.value()).map_err(|error| {
        let problem = error.to_string();
        // The last line says what is wrong; those before draw it.
        let problem = problem.lines().last().unwrap_or_default();
        let problem = problem.trim_start_matches("error: ");
        Error::new(
            pattern.span(),
            format!("the pattern is no regular expression: {problem}"),
        )
    })
}
