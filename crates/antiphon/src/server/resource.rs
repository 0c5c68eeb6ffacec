//! [`Resource`]: a handler that reads something, at one URI or at all that fit a template.

use std::{fmt, sync::Arc, time::Duration};

use antiphon_core::template::{Bindings, Template};
use antiphon_types::{
    self as types, Annotations, CacheScope, CompleteResult, Icon, ListResourcesResult, MetaObject,
    ReadResourceResult, ResourceContents,
};

use super::{
    Context, Description, Extract, Handler, IntoReply, Layer, Stop,
    completion::Completer,
    description::Parts,
    entry::{Around, Entry, RegistrationError, check_name, check_scopes},
    handler::{Bound, Run, Running, Typed},
    layer::Layers,
    resolve::Graph,
};
use crate::{
    raw::Reply,
    schema::{self, Described, InvalidSchema, SpeltChecker},
};

/// A resource: a handler that reads something, and what clients are told about it.
///
/// A URI with expressions in braces is a template (RFC 6570): it stands for every URI that fits,
/// and its variables are the fields of the handler's [`Args`](crate::Args).
///
/// ```
/// use antiphon::{Args, Json, Resource, Server, Stop, schemars::{self, JsonSchema}};
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Book { isbn: u64 }
///
/// async fn book(Args(Book { isbn }): Args<Book>) -> Result<Json<serde_json::Value>, Stop> {
///     match isbn {
///         9780441172719 => Ok(Json(serde_json::json!({ "title": "Dune" }))),
///         _ => Err(Stop::not_found()),
///     }
/// }
///
/// let server: Server = Server::new("shop", "1.0")
///     .resource("shop://terms", async || "All sales are final.")
///     .add(Resource::new("shop://books/{isbn}", book).name("book").mime_type("application/json"));
/// ```
///
/// A value may be anything that fits, `..` included: a handler that reads files checks the path it
/// gets (RES-S-16).
#[must_use = "add it to a server"]
pub struct Resource<S = ()> {
    uri: String,
    name: Option<String>,
    title: Option<String>,
    description: Option<String>,
    icons: Option<Vec<Icon>>,
    mime_type: Option<String>,
    size: Option<u64>,
    annotations: Option<Annotations>,
    meta: Option<MetaObject>,
    cache: Option<(Duration, CacheScope)>,
    watched: bool,
    handler: Arc<dyn Run<ReadResourceResult, S>>,
    lister: Option<Arc<dyn Run<ListResourcesResult, S>>>,
    around: Around,
    scopes: Vec<String>,
    input: Option<Result<Described, InvalidSchema>>,
    graph: Graph,
    completers: Vec<Completer<S>>,
    logs: bool,
}

impl<S: Send + Sync + 'static> Resource<S> {
    /// A resource at this URI, or at all that fit this template.
    pub fn new<F, M>(uri: impl Into<String>, handler: F) -> Self
    where
        F: Handler<M>,
        F::Future: Send,
        F::Output: IntoReply<ReadResourceResult>,
        M: Extract<S>,
    {
        let mut description = Description::default();
        M::describe(&mut description);
        let logs = description.wants_logging();
        let Parts { input, graph, .. } = description.into_parts();
        Self {
            uri: uri.into(),
            name: None,
            title: None,
            description: None,
            icons: None,
            mime_type: None,
            size: None,
            annotations: None,
            meta: None,
            cache: None,
            watched: false,
            handler: Arc::new(Typed::new(handler)),
            lister: None,
            around: Around::default(),
            scopes: Vec::new(),
            logs,
            input,
            graph,
            completers: Vec::new(),
        }
    }

    /// Completes a template's `variable` with what `handler` returns; see
    /// [`Prefix`](crate::Prefix).
    pub fn complete<F, M>(mut self, variable: impl Into<String>, handler: F) -> Self
    where
        F: Handler<M>,
        F::Future: Send,
        F::Output: IntoReply<CompleteResult>,
        M: Extract<S>,
    {
        let mut description = Description::default();
        M::describe(&mut description);
        self.logs |= description.wants_logging();
        self.completers
            .push(Completer::handler(variable.into(), handler));
        self
    }

    /// Lists resources that a template stands for: `handler` returns a `Vec` of
    /// [`types::Resource`], which joins `resources/list`.
    pub fn list<F, M>(mut self, handler: F) -> Self
    where
        F: Handler<M>,
        F::Future: Send,
        F::Output: IntoReply<ListResourcesResult>,
        M: Extract<S>,
    {
        let mut description = Description::default();
        M::describe(&mut description);
        self.logs |= description.wants_logging();
        self.lister = Some(Arc::new(Typed::new(handler)));
        self
    }

    /// The same resource with its state, for a server that has none or another.
    pub fn with_state<Other>(self, state: S) -> Resource<Other>
    where
        S: Clone,
    {
        Resource {
            uri: self.uri,
            name: self.name,
            title: self.title,
            description: self.description,
            icons: self.icons,
            mime_type: self.mime_type,
            size: self.size,
            annotations: self.annotations,
            meta: self.meta,
            cache: self.cache,
            watched: self.watched,
            lister: self.lister.map(|handler| bound(&handler, &state)),
            completers: self
                .completers
                .iter()
                .map(|one| one.with_state(&state))
                .collect(),
            handler: bound(&self.handler, &state),
            around: self.around,
            scopes: self.scopes,
            input: self.input,
            graph: self.graph,
            logs: self.logs,
        }
    }

    /// Checks everything there is to check.
    pub(crate) fn finish(self) -> Result<ResourceEntry<S>, RegistrationError> {
        let uri = self.uri;
        let wrong =
            |why: &dyn fmt::Display| RegistrationError::new(format!("the resource `{uri}`: {why}"));
        check_uri(&uri).map_err(|why| wrong(&why))?;
        let mut around = self.around;
        around.required = check_scopes(&format_args!("the resource `{uri}`"), self.scopes)?;
        let template = match uri.contains(['{', '}']) {
            true => Some(Template::parse(&uri).map_err(|error| wrong(&error))?),
            false => None,
        };
        let variables: Vec<&str> = template.iter().flat_map(Template::variables).collect();
        let mut completers = self.completers;
        let mut description = self.description;
        let mut checker = None;
        let input = self.input.transpose().map_err(|error| wrong(&error))?;
        let none = schema::no_input();
        let taken = input.as_ref().unwrap_or(&none);
        (self.graph.check(&uri, &taken.schema, Some(&variables))).map_err(|why| wrong(&why))?;
        if let Some(input) = input {
            checker = Some(SpeltChecker::new(&input).map_err(|error| wrong(&error))?);
            let arguments =
                schema::string_arguments(&input.schema).map_err(|error| wrong(&error))?;
            for argument in arguments {
                let name = argument.name;
                if !variables.contains(&name.as_str()) {
                    if argument.required {
                        let why =
                            format_args!("its handler needs `{name}`, which the URI does not have");
                        return Err(wrong(&why));
                    }
                    continue;
                }
                let taken = completers.iter().any(|one| one.argument == name);
                if let (false, Some(choices)) = (taken, argument.choices) {
                    completers.push(Completer::choices(name, choices));
                }
            }
            description = description.or(input.description);
        }
        for completer in &completers {
            let variable = &completer.argument;
            if !variables.contains(&variable.as_str()) {
                return Err(wrong(&format_args!(
                    "it has no variable `{variable}` to complete"
                )));
            }
        }
        if self.lister.is_some() && template.is_none() {
            return Err(wrong(&"only a template can list what it stands for"));
        }
        let name = self.name.unwrap_or_else(|| name_of(&uri));
        check_name("resource", &name)?;
        let definition = match template {
            None => {
                let mut definition = types::Resource::new(uri, name);
                definition.title = self.title;
                definition.description = description;
                definition.icons = self.icons;
                definition.mime_type = self.mime_type;
                definition.size = self.size;
                definition.annotations = self.annotations;
                definition.meta = self.meta;
                Definition::Fixed(definition)
            }
            Some(template) => {
                let mut definition = types::ResourceTemplate::new(uri, name);
                definition.title = self.title;
                definition.description = description;
                definition.icons = self.icons;
                definition.mime_type = self.mime_type;
                definition.annotations = self.annotations;
                definition.meta = self.meta;
                Definition::Template(template, definition)
            }
        };
        Ok(ResourceEntry {
            handler: self.handler,
            lister: self.lister,
            around,
            completers,
            about: Arc::new(About {
                definition,
                cache: self.cache,
                watched: self.watched,
                checker,
                logs: self.logs,
            }),
        })
    }
}

impl<S> Resource<S> {
    /// Whether anything of it is completed, as far as that is known before it is registered.
    pub(crate) fn completes(&self) -> bool {
        !self.completers.is_empty()
    }

    pub(crate) fn is_watched(&self) -> bool {
        self.watched
    }

    /// Its name; otherwise made from the URI.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Its name for people.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// What it is.
    pub fn description(mut self, text: impl Into<String>) -> Self {
        self.description = Some(text.into());
        self
    }

    /// A picture of it; several are alternatives.
    pub fn icon(mut self, icon: impl Into<Icon>) -> Self {
        self.icons.get_or_insert_default().push(icon.into());
        self
    }

    /// What it is of. Contents without a type of their own are of this one.
    pub fn mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }

    /// How many bytes it has. A template has no size.
    pub fn size(mut self, bytes: u64) -> Self {
        self.size = Some(bytes);
        self
    }

    /// For whom it is, how important, how new.
    pub fn annotations(mut self, annotations: Annotations) -> Self {
        self.annotations = Some(annotations);
        self
    }

    /// What the protocol has no place for.
    pub fn meta(mut self, meta: MetaObject) -> Self {
        self.meta = Some(meta);
        self
    }

    /// How long, and for whom, its contents may be kept. `Public` means anyone may get what one
    /// caller got (CACHE-S-07).
    pub fn cache(mut self, ttl: Duration, scope: CacheScope) -> Self {
        self.cache = Some((ttl, scope));
        self
    }

    /// Clients can subscribe to it: say when it changes with
    /// [`Server::notify_resource_updated`](crate::Server::notify_resource_updated).
    pub fn watched(mut self) -> Self {
        self.watched = true;
        self
    }

    /// Completes a template's `variable` from a fixed set.
    pub fn choices(
        mut self,
        variable: impl Into<String>,
        choices: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        let choices = choices.into_iter().map(Into::into).collect();
        self.completers
            .push(Completer::choices(variable.into(), choices));
        self
    }

    /// The scopes that this resource, completing its variables, and watching it needs, on top of those that [every request
    /// needs](crate::http::HttpService::require_scopes): over HTTP, a caller whose token lacks one is
    /// told with `403` which there are (AUTH-S-13), before anything of this runs. Without a verifier
    /// nobody has any. On stdio the user who started the program may do all.
    pub fn require_scopes(mut self, scopes: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.scopes.extend(scopes.into_iter().map(Into::into));
        self
    }

    /// Runs `layer` around this resource and its completions, inside the layers it has.
    pub fn layer(mut self, layer: impl Layer) -> Self {
        self.around.layers.push(Arc::new(layer));
        self
    }
}

impl<S> fmt::Debug for Resource<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Resource").field(&self.uri).finish()
    }
}

fn bound<R: 'static, S: Clone + Send + Sync + 'static, Other>(
    handler: &Arc<dyn Run<R, S>>,
    state: &S,
) -> Arc<dyn Run<R, Other>> {
    Arc::new(Bound {
        handler: handler.clone(),
        state: state.clone(),
    })
}

/// A scheme, a colon, and nothing that no URI may hold (RES-S-19).
fn check_uri(uri: &str) -> Result<(), &'static str> {
    let scheme = uri.split_once(':').map_or("", |(scheme, _)| scheme);
    let named = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    if !scheme.starts_with(|first: char| first.is_ascii_alphabetic()) || !scheme.bytes().all(named)
    {
        return Err("a URI begins with a scheme, such as `shop:`");
    }
    // What no URI holds, braces aside: a template is looked at more closely elsewhere.
    let illegal = |c: char| !c.is_ascii_graphic() || "\"<>\\^`|".contains(c);
    if uri.chars().any(illegal) {
        return Err("a URI has no spaces, quotes or letters beyond ASCII; escape them");
    }
    let hex = |digit: Option<&u8>| digit.is_some_and(u8::is_ascii_hexdigit);
    let escapes = uri.as_bytes();
    let mut percent = (0..escapes.len()).filter(|at| escapes[*at] == b'%');
    match percent.all(|at| hex(escapes.get(at + 1)) && hex(escapes.get(at + 2))) {
        true => Ok(()),
        false => Err("a `%` in a URI is followed by two hexadecimal digits"),
    }
}

/// The last part of a URI that says something by itself.
fn name_of(uri: &str) -> String {
    let mut parts = uri.split(['/', ':']).rev();
    let says = |part: &&str| !part.is_empty() && !part.contains(['{', '}']);
    parts.find(says).unwrap_or(uri).to_owned()
}

/// A resource or a template that is registered.
pub(crate) struct ResourceEntry<S> {
    handler: Arc<dyn Run<ReadResourceResult, S>>,
    lister: Option<Arc<dyn Run<ListResourcesResult, S>>>,
    pub(crate) around: Around,
    pub(crate) completers: Vec<Completer<S>>,
    about: Arc<About>,
}

struct About {
    definition: Definition,
    cache: Option<(Duration, CacheScope)>,
    watched: bool,
    checker: Option<SpeltChecker>,
    logs: bool,
}

enum Definition {
    Fixed(types::Resource),
    Template(Template, types::ResourceTemplate),
}

impl<S> ResourceEntry<S> {
    /// The URI or the template.
    pub(crate) fn uri(&self) -> &str {
        match &self.about.definition {
            Definition::Fixed(definition) => &definition.uri,
            Definition::Template(_, definition) => &definition.uri_template,
        }
    }

    pub(crate) fn is_template(&self) -> bool {
        matches!(self.about.definition, Definition::Template(..))
    }

    pub(crate) fn fixed(&self) -> Option<&types::Resource> {
        match &self.about.definition {
            Definition::Fixed(definition) => Some(definition),
            Definition::Template(..) => None,
        }
    }

    pub(crate) fn template(&self) -> Option<&types::ResourceTemplate> {
        match &self.about.definition {
            Definition::Fixed(_) => None,
            Definition::Template(_, definition) => Some(definition),
        }
    }

    /// The variables, if this is a template that `uri` fits.
    pub(crate) fn matches(&self, uri: &str) -> Option<Bindings> {
        match &self.about.definition {
            Definition::Fixed(_) => None,
            Definition::Template(template, _) => template.matches(uri),
        }
    }

    /// The URI of these variables, if this is a template.
    pub(crate) fn expand(&self, bindings: &Bindings) -> Option<String> {
        match &self.about.definition {
            Definition::Fixed(_) => None,
            Definition::Template(template, _) => Some(template.expand(bindings)),
        }
    }

    pub(crate) fn is_watched(&self) -> bool {
        self.about.watched
    }

    pub(crate) fn checker(&self) -> Option<&SpeltChecker> {
        self.about.checker.as_ref()
    }

    pub(crate) fn logs(&self) -> bool {
        self.about.logs
    }

    pub(crate) fn lists(&self) -> bool {
        self.lister.is_some()
    }

    pub(crate) fn mime_type(&self) -> Option<&str> {
        match &self.about.definition {
            Definition::Fixed(definition) => definition.mime_type.as_deref(),
            Definition::Template(_, definition) => definition.mime_type.as_deref(),
        }
    }

    /// The same, inside what is around another server.
    pub(crate) fn within(&self, outer: &Around) -> Self {
        Self {
            handler: self.handler.clone(),
            lister: self.lister.clone(),
            around: self.around.within(outer),
            completers: self.completers.clone(),
            about: self.about.clone(),
        }
    }
}

impl<S: Clone + Send + Sync + 'static> ResourceEntry<S> {
    pub(crate) fn with_state<Other>(&self, state: &S) -> ResourceEntry<Other> {
        ResourceEntry {
            handler: bound(&self.handler, state),
            lister: self.lister.as_ref().map(|handler| bound(handler, state)),
            around: self.around.clone(),
            completers: self
                .completers
                .iter()
                .map(|one| one.with_state(state))
                .collect(),
            about: self.about.clone(),
        }
    }
}

impl ResourceEntry<()> {
    fn finish(&self, mut result: ReadResourceResult) -> ReadResourceResult {
        if let Some(mime_type) = self.mime_type() {
            for contents in &mut result.contents {
                let own = match contents {
                    ResourceContents::Text(text) => &mut text.mime_type,
                    ResourceContents::Blob(blob) => &mut blob.mime_type,
                    _ => continue,
                };
                own.get_or_insert_with(|| mime_type.to_owned());
            }
        }
        if result.ttl_ms.is_some() {
            return result;
        }
        let (ttl, scope) = (self.about.cache).unwrap_or((Duration::ZERO, CacheScope::Private));
        result.cache(ttl, scope)
    }
}

impl Entry for ResourceEntry<()> {
    type Result = ReadResourceResult;

    fn layers(&self) -> &Layers {
        &self.around.layers
    }

    fn attempt<'a>(&'a self, call: &'a Context<'a>) -> Running<'a, ReadResourceResult> {
        Box::pin(async move {
            Ok(match self.handler.run(call, &()).await? {
                Reply::Complete(result) => Reply::Complete(self.finish(result)),
                reply => reply,
            })
        })
    }
}

/// What a template stands for at the moment.
pub(crate) struct Listing<'e>(pub(crate) &'e ResourceEntry<()>);

impl Entry for Listing<'_> {
    type Result = ListResourcesResult;

    fn layers(&self) -> &Layers {
        &self.0.around.layers
    }

    fn attempt<'a>(&'a self, call: &'a Context<'a>) -> Running<'a, ListResourcesResult> {
        Box::pin(async move {
            let Some(lister) = &self.0.lister else {
                return Err(Stop::not_found());
            };
            let mut reply = lister.run(call, &()).await?;
            if let Reply::Complete(list) = &mut reply {
                for resource in &mut list.resources {
                    if resource.mime_type.is_none() {
                        resource.mime_type = self.0.mime_type().map(str::to_owned);
                    }
                }
            }
            Ok(reply)
        })
    }
}

/// A wish to be told when a resource changes: granted, if all layers let it through.
pub(crate) struct Watching<'e>(pub(crate) &'e Around);

impl Entry for Watching<'_> {
    type Result = ReadResourceResult;

    fn layers(&self) -> &Layers {
        &self.0.layers
    }

    fn attempt<'a>(&'a self, _: &'a Context<'a>) -> Running<'a, ReadResourceResult> {
        Box::pin(async { Ok(Reply::Complete(ReadResourceResult::new(Vec::new()))) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_made_of_the_uri() {
        for (uri, name) in [
            ("shop://books/{isbn}", "books"),
            ("file:///{+path}", "file"),
            ("file:///etc/hosts", "hosts"),
            ("shop://terms/", "terms"),
            ("config:", "config"),
        ] {
            assert_eq!(name_of(uri), name);
        }
    }

    /// RES-S-19
    #[test]
    fn only_uris_are_registered() {
        for good in ["shop://a", "a+b.c-d:e", "file:///a%20b", "x:{+path}"] {
            assert_eq!(check_uri(good), Ok(()), "{good}");
        }
        for bad in [
            "",
            "terms",
            "/a/b",
            "1shop://a",
            "shop shop://a",
            "shop://a b",
            "shop://caf\u{e9}",
            "shop://<x>",
            "shop://a\\b",
            "shop://a%zz",
            "shop://a%2",
            ":a",
            "{scheme}://a",
        ] {
            assert!(check_uri(bad).is_err(), "{bad}");
        }
    }
}
