//! [`Prompt`]: a handler that makes messages for a model.

use std::{fmt, sync::Arc};

use antiphon_types::{
    self as types, CompleteResult, GetPromptResult, Icon, MetaObject, PromptArgument,
};

use super::{
    Context, Description, Extract, Handler, IntoReply, Layer,
    completion::Completer,
    description::Parts,
    entry::{Around, Entry, RegistrationError, check_name, check_scopes},
    handler::{Bound, Run, Running, Typed},
    layer::Layers,
    resolve::Graph,
};
use crate::schema::{self, Described, InvalidSchema, SpeltChecker};

/// A prompt: a handler that returns messages, and what clients are told about it.
///
/// Its arguments are the fields of the handler's [`Args`](crate::Args); clients send strings, and
/// they are parsed. An argument that is an enum is completed from its variants.
///
/// ```
/// use antiphon::{Args, Messages, Prefix, Prompt, Server, schemars::{self, JsonSchema}};
/// use serde::Deserialize;
///
/// /// Explain a topic.
/// #[derive(Deserialize, JsonSchema)]
/// struct Explain {
///     /// What to explain.
///     topic: String,
///     /// In how many words.
///     words: Option<u32>,
/// }
///
/// async fn explain(Args(e): Args<Explain>) -> Messages {
///     Messages::new().user(format!("Explain {} in {} words.", e.topic, e.words.unwrap_or(100)))
/// }
///
/// async fn topics(Prefix(typed): Prefix) -> Vec<&'static str> {
///     let topics = ["lifetimes", "traits", "macros"];
///     topics.into_iter().filter(|topic| topic.starts_with(&typed)).collect()
/// }
///
/// let server: Server = Server::new("teacher", "1.0")
///     .add(Prompt::new("explain", explain).title("Explain").complete("topic", topics));
/// ```
#[must_use = "add it to a server"]
pub struct Prompt<S = ()> {
    definition: types::Prompt,
    handler: Arc<dyn Run<GetPromptResult, S>>,
    around: Around,
    scopes: Vec<String>,
    input: Option<Result<Described, InvalidSchema>>,
    graph: Graph,
    completers: Vec<Completer<S>>,
    logs: bool,
}

impl<S: Send + Sync + 'static> Prompt<S> {
    /// A prompt of this name.
    pub fn new<F, M>(name: impl Into<String>, handler: F) -> Self
    where
        F: Handler<M>,
        F::Future: Send,
        F::Output: IntoReply<GetPromptResult>,
        M: Extract<S>,
    {
        let mut description = Description::default();
        M::describe(&mut description);
        let logs = description.wants_logging();
        let Parts { input, graph, .. } = description.into_parts();
        Self {
            definition: types::Prompt::new(name),
            handler: Arc::new(Typed::new(handler)),
            around: Around::default(),
            scopes: Vec::new(),
            logs,
            input,
            graph,
            completers: Vec::new(),
        }
    }

    /// Completes `argument` with what `handler` returns; see [`Prefix`](crate::Prefix).
    pub fn complete<F, M>(mut self, argument: impl Into<String>, handler: F) -> Self
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
            .push(Completer::handler(argument.into(), handler));
        self
    }

    /// The same prompt with its state, for a server that has none or another.
    pub fn with_state<Other>(self, state: S) -> Prompt<Other>
    where
        S: Clone,
    {
        Prompt {
            definition: self.definition,
            completers: self
                .completers
                .iter()
                .map(|one| one.with_state(&state))
                .collect(),
            handler: Arc::new(Bound {
                handler: self.handler,
                state,
            }),
            around: self.around,
            scopes: self.scopes,
            input: self.input,
            graph: self.graph,
            logs: self.logs,
        }
    }

    /// Checks everything there is to check.
    pub(crate) fn finish(self) -> Result<PromptEntry<S>, RegistrationError> {
        let mut definition = self.definition;
        check_name("prompt", &definition.name)?;
        let name = definition.name.clone();
        let mut around = self.around;
        around.required = check_scopes(&format_args!("the prompt `{name}`"), self.scopes)?;
        let wrong =
            |why: &dyn fmt::Display| RegistrationError::new(format!("the prompt `{name}`: {why}"));
        let mut completers = self.completers;
        let mut checker = None;
        let input = self.input.transpose().map_err(|error| wrong(&error))?;
        let none = schema::no_input();
        let taken = input.as_ref().unwrap_or(&none);
        (self.graph.check(&name, &taken.schema, Some(&[]))).map_err(|why| wrong(&why))?;
        if let Some(input) = input {
            let spelt = SpeltChecker::new(&input).map_err(|error| wrong(&error))?;
            checker = Some(Arc::new(spelt));
            let arguments =
                schema::string_arguments(&input.schema).map_err(|error| wrong(&error))?;
            for argument in &arguments {
                let taken = completers.iter().any(|one| one.argument == argument.name);
                if let (false, Some(choices)) = (taken, &argument.choices) {
                    completers.push(Completer::choices(argument.name.clone(), choices.clone()));
                }
            }
            let arguments: Vec<_> = arguments.into_iter().map(PromptArgument::from).collect();
            definition.arguments = (!arguments.is_empty()).then_some(arguments);
            definition.description = definition.description.or(input.description);
        }
        let known = definition.arguments.as_deref().unwrap_or_default();
        for completer in &completers {
            if !known
                .iter()
                .any(|argument| argument.name == completer.argument)
            {
                let argument = &completer.argument;
                return Err(wrong(&format_args!(
                    "it has no argument `{argument}` to complete"
                )));
            }
        }
        Ok(PromptEntry {
            handler: self.handler,
            around,
            definition: Arc::new(definition),
            completers,
            checker,
            logs: self.logs,
        })
    }
}

impl<S> Prompt<S> {
    /// Whether anything of it is completed, as far as that is known before it is registered.
    pub(crate) fn completes(&self) -> bool {
        !self.completers.is_empty()
    }

    /// Its name for people.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.definition.title = Some(title.into());
        self
    }

    /// What it is for.
    pub fn description(mut self, text: impl Into<String>) -> Self {
        self.definition.description = Some(text.into());
        self
    }

    /// A picture of it; several are alternatives.
    pub fn icon(mut self, icon: impl Into<Icon>) -> Self {
        self.definition
            .icons
            .get_or_insert_default()
            .push(icon.into());
        self
    }

    /// What the protocol has no place for.
    pub fn meta(mut self, meta: MetaObject) -> Self {
        self.definition.meta = Some(meta);
        self
    }

    /// Completes `argument` from a fixed set.
    pub fn choices(
        mut self,
        argument: impl Into<String>,
        choices: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        let choices = choices.into_iter().map(Into::into).collect();
        self.completers
            .push(Completer::choices(argument.into(), choices));
        self
    }

    /// The scopes that this prompt, and completing its arguments, needs, on top of those that [every request
    /// needs](crate::http::HttpService::require_scopes): over HTTP, a caller whose token lacks one is
    /// told with `403` which there are (AUTH-S-13), before anything of this runs. Without a verifier
    /// nobody has any. On stdio the user who started the program may do all.
    pub fn require_scopes(mut self, scopes: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.scopes.extend(scopes.into_iter().map(Into::into));
        self
    }

    /// Runs `layer` around this prompt and its completions, inside the layers it has.
    pub fn layer(mut self, layer: impl Layer) -> Self {
        self.around.layers.push(Arc::new(layer));
        self
    }
}

impl<S> fmt::Debug for Prompt<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Prompt").field(&self.definition).finish()
    }
}

/// A prompt that is registered.
pub(crate) struct PromptEntry<S> {
    handler: Arc<dyn Run<GetPromptResult, S>>,
    pub(crate) around: Around,
    pub(crate) definition: Arc<types::Prompt>,
    pub(crate) completers: Vec<Completer<S>>,
    pub(crate) checker: Option<Arc<SpeltChecker>>,
    pub(crate) logs: bool,
}

impl<S> PromptEntry<S> {
    /// The same, inside what is around another server.
    pub(crate) fn within(&self, outer: &Around) -> Self {
        Self {
            handler: self.handler.clone(),
            around: self.around.within(outer),
            definition: self.definition.clone(),
            completers: self.completers.clone(),
            checker: self.checker.clone(),
            logs: self.logs,
        }
    }
}

impl<S: Clone + Send + Sync + 'static> PromptEntry<S> {
    pub(crate) fn with_state<Other>(&self, state: &S) -> PromptEntry<Other> {
        PromptEntry {
            handler: Arc::new(Bound {
                handler: self.handler.clone(),
                state: state.clone(),
            }),
            around: self.around.clone(),
            definition: self.definition.clone(),
            completers: self
                .completers
                .iter()
                .map(|one| one.with_state(state))
                .collect(),
            checker: self.checker.clone(),
            logs: self.logs,
        }
    }
}

impl Entry for PromptEntry<()> {
    type Result = GetPromptResult;

    fn layers(&self) -> &Layers {
        &self.around.layers
    }

    fn attempt<'a>(&'a self, call: &'a Context<'a>) -> Running<'a, GetPromptResult> {
        self.handler.run(call, &())
    }
}
