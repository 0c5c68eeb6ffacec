//! [`Tool`]: a handler with what clients are told about it.

use std::{fmt, sync::Arc};

use antiphon_core::mirror::HeaderParams;
use antiphon_types::{self as types, CallToolResult, Icon, MetaObject, ToolAnnotations};
use schemars::JsonSchema;
use serde_json::{Map, Value};

use super::{
    Context, Description, Extract, Handler, IntoReply, Layer, Stop,
    description::Parts,
    entry::{Around, Entry, RegistrationError, check_scopes, check_tool_name},
    handler::{Bound, Run, Running, Typed},
    layer::Layers,
    resolve::Graph,
};
use crate::{
    raw::Reply,
    schema::{self, Checker, Described, InvalidSchema},
};

/// A tool: a handler, and what clients are told about it.
///
/// ```
/// use antiphon::{Args, Server, Tool, schemars::{self, JsonSchema}};
/// use serde::Deserialize;
///
/// /// Delete everything in a bucket.
/// #[derive(Deserialize, JsonSchema)]
/// struct Wipe { bucket: String }
///
/// async fn wipe(Args(Wipe { bucket }): Args<Wipe>) -> String {
///     format!("{bucket} is empty now.")
/// }
///
/// let server: Server = Server::new("buckets", "1.0")
///     .add(Tool::new("wipe", wipe).title("Wipe a bucket").destructive());
/// ```
///
/// Without a [`description`](Self::description) the doc comment of the argument type is the
/// description.
#[must_use = "add it to a server"]
pub struct Tool<S = ()> {
    draft: Draft,
    handler: Arc<dyn Run<CallToolResult, S>>,
}

/// All of a tool but its handler, before it is checked. What is done with it need not know the
/// server's state, so that it is not compiled anew in every user's crate.
struct Draft {
    definition: types::Tool,
    around: Around,
    scopes: Vec<String>,
    input: Option<Result<Described, InvalidSchema>>,
    output: Option<Output>,
    graph: Graph,
    logs: bool,
}

struct Output {
    schema: Result<Map<String, Value>, InvalidSchema>,
    /// Whether what the handler returns may violate it.
    check: bool,
}

impl<S: Send + Sync + 'static> Tool<S> {
    /// A tool of this name.
    pub fn new<F, M>(name: impl Into<String>, handler: F) -> Self
    where
        F: Handler<M>,
        F::Future: Send,
        F::Output: IntoReply<CallToolResult>,
        M: Extract<S>,
    {
        Self {
            draft: Draft::new(name.into(), &[M::describe, F::Output::describe]),
            handler: Arc::new(Typed::new(handler)),
        }
    }
}

impl Draft {
    fn new(name: String, describe: &[fn(&mut Description)]) -> Self {
        let mut description = Description::default();
        for describe in describe {
            describe(&mut description);
        }
        let logs = description.wants_logging();
        let Parts {
            input,
            output,
            graph,
        } = description.into_parts();
        Self {
            definition: types::Tool::new(name, Map::new()),
            around: Around::default(),
            scopes: Vec::new(),
            input,
            output: output.map(|described| Output {
                schema: Ok(described.schema),
                check: !described.enforced,
            }),
            graph,
            logs,
        }
    }
}

impl<S> Tool<S> {
    /// Its name for people.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.draft.definition.title = Some(title.into());
        self
    }

    /// What it does, for the model.
    pub fn description(mut self, text: impl Into<String>) -> Self {
        self.draft.definition.description = Some(text.into());
        self
    }

    /// A picture of it; several are alternatives.
    pub fn icon(mut self, icon: impl Into<Icon>) -> Self {
        let icons = self.draft.definition.icons.get_or_insert_default();
        icons.push(icon.into());
        self
    }

    /// It changes nothing.
    pub fn read_only(mut self) -> Self {
        self.hints().read_only_hint = Some(true);
        self
    }

    /// It may destroy something.
    pub fn destructive(mut self) -> Self {
        let hints = self.hints();
        hints.read_only_hint = Some(false);
        hints.destructive_hint = Some(true);
        self
    }

    /// It changes something, but destroys nothing.
    pub fn additive(mut self) -> Self {
        let hints = self.hints();
        hints.read_only_hint = Some(false);
        hints.destructive_hint = Some(false);
        self
    }

    /// Calling it again with the same arguments changes nothing more.
    pub fn idempotent(mut self) -> Self {
        self.hints().idempotent_hint = Some(true);
        self
    }

    /// Whether it deals with the world outside this server.
    pub fn open_world(mut self, open: bool) -> Self {
        self.hints().open_world_hint = Some(open);
        self
    }

    fn hints(&mut self) -> &mut ToolAnnotations {
        self.draft.definition.annotations.get_or_insert_default()
    }

    /// What the protocol has no place for.
    pub fn meta(mut self, meta: MetaObject) -> Self {
        self.draft.definition.meta = Some(meta);
        self
    }

    /// A JSON Schema for the arguments, instead of the one of the handler's types. Arguments are
    /// checked against it before the handler runs.
    pub fn input_schema(mut self, schema: impl Into<Value>) -> Self {
        self.draft.input = Some(schema::raw_input(schema.into()));
        self
    }

    /// The structured result is a `T`; every result is checked against its schema (TOOL-S-21).
    /// Not needed for handlers that return [`Json<T>`](crate::Json).
    pub fn output<T: JsonSchema>(mut self) -> Self {
        self.draft.output = schema::output::<T>().map(|described| Output {
            schema: Ok(described.schema),
            check: true,
        });
        self
    }

    /// The structured result is as this JSON Schema says; every result is checked against it.
    pub fn output_schema(mut self, schema: impl Into<Value>) -> Self {
        self.draft.output = Some(Output {
            schema: match schema.into() {
                Value::Object(schema) => Ok(schema),
                _ => Err(InvalidSchema::new("an output schema is an object")),
            },
            check: true,
        });
        self
    }

    /// The scopes that this tool needs, on top of those that [every request
    /// needs](crate::http::HttpService::require_scopes): over HTTP, a caller whose token lacks one is
    /// told with `403` which there are (AUTH-S-13), before anything of this runs. Without a verifier
    /// nobody has any. On stdio the user who started the program may do all.
    pub fn require_scopes(mut self, scopes: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.draft.scopes.extend(scopes.into_iter().map(Into::into));
        self
    }

    /// Runs `layer` around this tool, inside the layers it has.
    pub fn layer(mut self, layer: impl Layer) -> Self {
        self.draft.around.layers.push(Arc::new(layer));
        self
    }
}

impl<S: Send + Sync + 'static> Tool<S> {
    /// The same tool with its state, for a server that has none or another.
    pub fn with_state<Other>(self, state: S) -> Tool<Other> {
        Tool {
            draft: self.draft,
            handler: Arc::new(Bound {
                handler: self.handler,
                state,
            }),
        }
    }

    pub(crate) fn finish(self) -> Result<ToolEntry<S>, RegistrationError> {
        let (around, about) = self.draft.finish()?;
        Ok(ToolEntry {
            handler: self.handler,
            around,
            about,
        })
    }
}

impl Draft {
    /// Checks everything there is to check.
    fn finish(self) -> Result<(Around, Arc<About>), RegistrationError> {
        let mut definition = self.definition;
        check_tool_name(&definition.name)?;
        let name = definition.name.clone();
        let mut around = self.around;
        around.required = check_scopes(&format_args!("the tool `{name}`"), self.scopes)?;
        let wrong = |what: &str, why: &dyn fmt::Display| {
            RegistrationError::new(format!("the tool `{name}` has {what}: {why}"))
        };
        let bad_input = |why: &dyn fmt::Display| wrong("a bad input schema", why);
        let input = match self.input {
            None => schema::no_input(),
            Some(input) => input.map_err(|error| bad_input(&error))?,
        };
        let checker = match input.enforced {
            true => Checker::lazy(&input.schema),
            false => Checker::compile(&input.schema).map_err(|error| bad_input(&error))?,
        };
        (self.graph.check(&name, &input.schema, None))
            .map_err(|why| RegistrationError::new(format!("the tool `{name}`: {why}")))?;
        let headers = HeaderParams::of(&input.schema)
            .map_err(|error| wrong("a bad `x-mcp-header`", &error))?;
        let mut output = None;
        if let Some(described) = self.output {
            let bad = |error: &InvalidSchema| wrong("a bad output schema", error);
            let schema = described.schema.map_err(|error| bad(&error))?;
            if described.check {
                output = Some(Checker::compile(&schema).map_err(|error| bad(&error))?);
            }
            definition.output_schema = Some(schema);
        }
        definition.input_schema = input.schema;
        if definition.description.is_none() {
            definition.description = input.description;
        }
        let about = Arc::new(About {
            definition,
            checker,
            checks_input: !input.enforced,
            output,
            headers: (!headers.is_empty()).then(|| Arc::new(headers)),
            logs: self.logs,
        });
        Ok((around, about))
    }
}

impl<S> fmt::Debug for Tool<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Tool").field(&self.draft.definition).finish()
    }
}

/// A tool that is registered.
pub(crate) struct ToolEntry<S> {
    handler: Arc<dyn Run<CallToolResult, S>>,
    around: Around,
    about: Arc<About>,
}

struct About {
    definition: types::Tool,
    checker: Checker,
    checks_input: bool,
    output: Option<Checker>,
    headers: Option<Arc<HeaderParams>>,
    logs: bool,
}

impl<S> ToolEntry<S> {
    pub(crate) fn definition(&self) -> &types::Tool {
        &self.about.definition
    }

    pub(crate) fn around(&self) -> &Around {
        &self.around
    }

    pub(crate) fn checker(&self) -> &Checker {
        &self.about.checker
    }

    pub(crate) fn checks_input(&self) -> bool {
        self.about.checks_input
    }

    pub(crate) fn headers(&self) -> Option<&Arc<HeaderParams>> {
        self.about.headers.as_ref()
    }

    pub(crate) fn logs(&self) -> bool {
        self.about.logs
    }

    /// The same, inside what is around another server.
    pub(crate) fn within(&self, outer: &Around) -> Self {
        Self {
            handler: self.handler.clone(),
            around: self.around.within(outer),
            about: self.about.clone(),
        }
    }
}

impl<S: Clone + Send + Sync + 'static> ToolEntry<S> {
    pub(crate) fn with_state<Other>(&self, state: &S) -> ToolEntry<Other> {
        ToolEntry {
            handler: Arc::new(Bound {
                handler: self.handler.clone(),
                state: state.clone(),
            }),
            around: self.around.clone(),
            about: self.about.clone(),
        }
    }
}

impl Entry for ToolEntry<()> {
    type Result = CallToolResult;

    fn layers(&self) -> &Layers {
        &self.around.layers
    }

    fn attempt<'a>(&'a self, call: &'a Context<'a>) -> Running<'a, CallToolResult> {
        if self.about.output.is_none() {
            return self.handler.run(call, &());
        }
        Box::pin(async move {
            let reply = self.handler.run(call, &()).await?;
            self.check_output(&reply)?;
            Ok(reply)
        })
    }
}

impl ToolEntry<()> {
    /// Checks the result once more if a layer may have made another of it.
    pub(crate) fn check_again(
        &self,
        call: &Context<'_>,
        reply: &Reply<CallToolResult>,
    ) -> Result<(), Stop> {
        let layers = [&call.server().settings.around.layers, &self.around.layers];
        match layers.iter().all(|layers| layers.is_empty()) {
            true => Ok(()),
            false => self.check_output(reply),
        }
    }

    /// TOOL-S-21. A result that says it failed carries what it likes.
    fn check_output(&self, reply: &Reply<CallToolResult>) -> Result<(), Stop> {
        let Some(checker) = &self.about.output else {
            return Ok(());
        };
        let passed_on: CallToolResult;
        let result = match reply {
            Reply::Complete(result) => result,
            Reply::Rendered(rendered) => {
                passed_on = serde_json::from_str(rendered.json())?;
                &passed_on
            }
            Reply::InputRequired(_) => return Ok(()),
        };
        if result.is_error == Some(true) {
            return Ok(());
        }
        let tool = &self.about.definition.name;
        match &result.structured_content {
            None => tracing::error!(tool, "there is an output schema, but no structured result"),
            Some(value) => {
                let violations = checker.violations(value);
                if violations.is_empty() {
                    return Ok(());
                }
                tracing::error!(tool, %violations, "the result violates the output schema");
            }
        }
        Err(Stop::fail(format!(
            "The result of `{tool}` is not what its output schema promises."
        )))
    }
}
