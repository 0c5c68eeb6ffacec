//! A [`Server`] as the [`Service`] it is underneath.

use std::{collections::BTreeMap, future::Future, io, pin::Pin, sync::Arc};

use antiphon_types::{
    CallToolResult, CompleteResult, GetPromptResult, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, ReadResourceResult,
    Reference, ServerCapabilities, SubscriptionFilter,
};

use super::{
    Context, Server,
    completion::{Completer, Completing},
    context::Input,
    entry,
    outcome::Ends,
    table::{Hints, cut},
};
use crate::raw::{
    About, Answering, Call, CallTool, Complete, Error, GetPrompt, HeaderParams, List, ReadResource,
    Rendered, Reply, Round, Service,
};

/// A list with its cache hint.
macro_rules! hinted {
    ($list:expr, $hints:expr) => {{
        let hints: Hints = $hints;
        match hints.cache {
            Some((ttl, scope)) => $list.cache(ttl, scope),
            None => $list,
        }
    }};
}
/// The service a server is.
pub(crate) struct Hosted(pub(crate) Server);

impl Service for Hosted {
    fn about(&self) -> About {
        let settings = &self.0.settings;
        let mut about = About::new(settings.info.clone())
            .capabilities(self.capabilities())
            .changes(self.0.changes.clone());
        if let Some(text) = &settings.instructions {
            about = about.instructions(text);
        }
        if let Some((ttl, scope)) = settings.discover {
            about = about.cache(ttl, scope);
        }
        if settings.anonymous {
            about = about.anonymous();
        }
        about.observer.clone_from(&settings.observer);
        about
    }

    fn start(&self) -> Pin<Box<dyn Future<Output = io::Result<()>> + Send + '_>> {
        Box::pin(self.0.hooks.run_start())
    }

    fn stop(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(self.0.hooks.run_stop())
    }

    fn list_tools<'a>(
        &'a self,
        _: &'a Call<'a>,
        list: List<'a>,
    ) -> Answering<'a, Rendered<ListToolsResult>> {
        Box::pin(async move {
            self.0.registry.tools.page(list.cursor, |tools, hints| {
                let tools = tools.into_iter().map(|tool| tool.definition().clone());
                hinted!(ListToolsResult::new(tools.collect()), hints)
            })
        })
    }

    fn call_tool<'a>(
        &'a self,
        call: &'a Call<'a>,
        tool: CallTool<'a>,
    ) -> Answering<'a, Reply<CallToolResult>> {
        Box::pin(async move {
            let Some(entry) = self.0.registry.tools.get(tool.name) else {
                // TOOL-S-23
                return Err(unknown("tool", tool.name));
            };
            let input = Input::Json {
                arguments: tool.arguments,
                checker: entry.checker(),
                check: entry.checks_input(),
            };
            let context = Context::new(call, tool.name, input, tool.round, &self.0)
                .checking_output(entry.checks_output());
            entry::answer(&*entry, &context).await
        })
    }

    fn header_params(&self, _: &Call<'_>, tool: &str) -> Option<Arc<HeaderParams>> {
        self.0.registry.tools.get(tool)?.headers().cloned()
    }

    fn list_prompts<'a>(
        &'a self,
        _: &'a Call<'a>,
        list: List<'a>,
    ) -> Answering<'a, Rendered<ListPromptsResult>> {
        Box::pin(async move {
            self.0.registry.prompts.page(list.cursor, |prompts, hints| {
                let prompts = prompts
                    .into_iter()
                    .map(|prompt| (*prompt.definition).clone());
                hinted!(ListPromptsResult::new(prompts.collect()), hints)
            })
        })
    }

    fn get_prompt<'a>(
        &'a self,
        call: &'a Call<'a>,
        prompt: GetPrompt<'a>,
    ) -> Answering<'a, Reply<GetPromptResult>> {
        Box::pin(async move {
            let Some(entry) = self.0.registry.prompts.get(prompt.name) else {
                // PROMPT-S-11
                return Err(unknown("prompt", prompt.name));
            };
            let input = Input::Strings {
                values: pairs(prompt.arguments()?),
                checker: entry.checker.as_deref(),
            };
            let context = Context::new(call, prompt.name, input, prompt.round, &self.0);
            entry::answer(&*entry, &context).await
        })
    }

    fn list_resources<'a>(
        &'a self,
        call: &'a Call<'a>,
        list: List<'a>,
    ) -> Answering<'a, Rendered<ListResourcesResult>> {
        Box::pin(async move {
            let registry = &self.0.registry;
            if !registry.templates.any(|template| template.lists()) {
                return registry.resources.page(list.cursor, |resources, hints| {
                    let resources = resources
                        .into_iter()
                        .filter_map(|resource| resource.fixed());
                    hinted!(
                        ListResourcesResult::new(resources.cloned().collect()),
                        hints
                    )
                });
            }
            let fixed = registry.resources.entries();
            let mut all: Vec<_> = fixed
                .iter()
                .filter_map(|one| one.fixed().cloned())
                .collect();
            for template in registry.templates.entries() {
                let input = nothing();
                let context = Context::new(call, template.uri(), input, Round::default(), &self.0);
                match template.list(&context).await {
                    Ok(listed) => all.extend(listed),
                    Err(stop) => return Err(refusal(&context, stop)),
                }
            }
            let hints = registry.resources.hints();
            cut(hinted!(ListResourcesResult::new(all), hints), hints).page(list.cursor)
        })
    }

    fn list_resource_templates<'a>(
        &'a self,
        _: &'a Call<'a>,
        list: List<'a>,
    ) -> Answering<'a, Rendered<ListResourceTemplatesResult>> {
        Box::pin(async move {
            self.0
                .registry
                .templates
                .page(list.cursor, |templates, hints| {
                    let templates = templates
                        .into_iter()
                        .filter_map(|template| template.template());
                    hinted!(
                        ListResourceTemplatesResult::new(templates.cloned().collect()),
                        hints
                    )
                })
        })
    }

    fn read_resource<'a>(
        &'a self,
        call: &'a Call<'a>,
        resource: ReadResource<'a>,
    ) -> Answering<'a, Reply<ReadResourceResult>> {
        Box::pin(async move {
            let registry = &self.0.registry;
            let uri = resource.uri;
            let (entry, bindings) = match registry.resources.get(uri) {
                Some(entry) => (entry, None),
                None => match registry.templates.find(|template| template.matches(uri)) {
                    Some((entry, bindings)) => (entry, Some(bindings)),
                    // RES-S-09
                    None => return Err(Error::resource_not_found(uri)),
                },
            };
            let input = match bindings {
                None => nothing(),
                Some(bindings) => Input::Variables {
                    bindings,
                    checker: entry.checker(),
                },
            };
            let context = Context::new(call, uri, input, resource.round, &self.0);
            entry::answer(&*entry, &context).await
        })
    }

    fn complete<'a>(
        &'a self,
        call: &'a Call<'a>,
        completion: Complete,
    ) -> Answering<'a, CompleteResult> {
        Box::pin(async move {
            let registry = &self.0.registry;
            match &completion.reference {
                Reference::Prompt { name, .. } => {
                    let Some(entry) = registry.prompts.get(name) else {
                        // COMP-S-03
                        return Err(unknown("prompt", name));
                    };
                    let completing = Completing {
                        completer: completer(&entry.completers, &completion),
                        layers: &entry.layers,
                    };
                    self.complete_with(call, name, &completing, &completion)
                        .await
                }
                Reference::Resource { uri, .. } => {
                    let Some(entry) = registry.templates.get(uri) else {
                        return Err(unknown("resource template", uri));
                    };
                    let completing = Completing {
                        completer: completer(&entry.completers, &completion),
                        layers: &entry.layers,
                    };
                    self.complete_with(call, uri, &completing, &completion)
                        .await
                }
                _ => Err(Error::invalid_params(
                    "`ref` names nothing that can be completed",
                )),
            }
        })
    }

    /// Subscriptions to resources that are not watched are not honoured.
    fn listen<'a>(
        &'a self,
        _: &'a Call<'a>,
        mut filter: SubscriptionFilter,
    ) -> Answering<'a, SubscriptionFilter> {
        Box::pin(async move {
            if let Some(uris) = &mut filter.resource_subscriptions {
                uris.retain(|uri| self.is_watched(uri));
            }
            Ok(filter)
        })
    }
}

impl Hosted {
    fn capabilities(&self) -> ServerCapabilities {
        let registry = &self.0.registry;
        let offered = self.0.settings.offered;
        let mut capabilities = ServerCapabilities::default();
        if offered.tools || registry.tools.any(|_| true) {
            capabilities = capabilities.tools(true);
        }
        if offered.prompts || registry.prompts.any(|_| true) {
            capabilities = capabilities.prompts(true);
        }
        let resources = registry.resources.any(|_| true) || registry.templates.any(|_| true);
        if offered.resources || resources {
            let watched = offered.watching || registry.is_watched();
            capabilities = capabilities.resources(true, watched);
        }
        if registry.completes() {
            capabilities = capabilities.completions();
        }
        if offered.logging || registry.logs() {
            capabilities = capabilities.logging();
        }
        capabilities
    }

    fn is_watched(&self, uri: &str) -> bool {
        let registry = &self.0.registry;
        match registry.resources.get(uri) {
            Some(resource) => resource.is_watched(),
            None => {
                let watched = registry.templates.find(|template| template.matches(uri));
                watched.is_some_and(|(template, _)| template.is_watched())
            }
        }
    }

    async fn complete_with(
        &self,
        call: &Call<'_>,
        target: &str,
        completing: &Completing<'_>,
        completion: &Complete,
    ) -> Result<CompleteResult, Error> {
        let known = completion
            .context
            .clone()
            .and_then(|context| context.arguments);
        let input = Input::Typing {
            known: pairs(known.unwrap_or_default()),
            prefix: &completion.argument.value,
        };
        let context = Context::new(call, target, input, Round::default(), &self.0);
        match entry::answer(completing, &context).await? {
            Reply::Complete(result) => Ok(result),
            _ => Err(Error::internal("Internal error")),
        }
    }
}

/// Who completes the argument in question, if anybody does.
fn completer<'e>(
    completers: &'e [Completer<()>],
    completion: &Complete,
) -> Option<&'e Completer<()>> {
    let argument = &completion.argument.name;
    completers.iter().find(|one| one.argument == *argument)
}

/// No arguments.
fn nothing<'a>() -> Input<'a> {
    Input::Strings {
        values: Vec::new(),
        checker: None,
    }
}

fn pairs(arguments: BTreeMap<String, String>) -> Vec<(String, String)> {
    arguments.into_iter().collect()
}

fn refusal(call: &Context<'_>, stop: super::Stop) -> Error {
    match ReadResourceResult::stopped(call, stop) {
        Err(error) => error,
        Ok(_) => Error::internal("Internal error"),
    }
}

fn unknown(what: &str, name: &str) -> Error {
    Error::invalid_params(format!(
        "Unknown {what}: {}",
        antiphon_core::negotiate::shown(name)
    ))
}
