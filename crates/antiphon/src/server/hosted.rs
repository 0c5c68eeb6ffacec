//! A [`Server`] as the [`Service`] it is underneath.

use std::{collections::BTreeMap, future::Future, io, pin::Pin, sync::Arc};

use antiphon_core::{seal::claims::Method, template::Bindings};
use antiphon_types::{
    CallToolResult, CompleteResult, GetPromptResult, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, ReadResourceResult,
    Reference, ServerCapabilities, SubscriptionFilter,
};

use super::{
    Server,
    completion::{Completer, Completing},
    context::{Input, Scene},
    entry,
    outcome::Ends,
    resource::{Listing, ResourceEntry, Watching},
    table::{Hints, cut},
};
use crate::{
    raw::{
        About, Answering, Call, CallTool, Complete, Error, GetPrompt, HeaderParams, List,
        ReadResource, Rendered, Reply, Round, Service,
    },
    sealing::{Bound, Leg},
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
/// No URI is longer; matching one takes time.
const LONGEST_URI: usize = 8 * 1024;

/// The service a server is.
pub(crate) struct Hosted(pub(crate) Server);

impl Service for Hosted {
    fn about(&self) -> About {
        let settings = &self.0.settings;
        let capabilities = self.capabilities();
        _ = self.0.declared.set(capabilities.clone());
        let mut about = About::new(settings.info.clone())
            .capabilities(capabilities)
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
        about.legacy.clone_from(&settings.legacy);
        about
    }

    fn start(&self) -> Pin<Box<dyn Future<Output = io::Result<()>> + Send + '_>> {
        Box::pin(async {
            self.0.settings.sealing.check()?;
            self.0.hooks.run_start().await
        })
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
            entry.around().required.check(call, tool.name)?;
            let input = Input::Json {
                arguments: tool.arguments,
                checker: entry.checker(),
                check: entry.checks_input(),
            };
            let bound = Bound {
                method: Method::CallTool,
                target: tool.name,
                arguments: tool.arguments,
            };
            let mut leg = Leg::new(&self.0.settings.sealing, bound);
            leg.open(call, tool.round).await?;
            let mut scene = Scene::new(call, tool.name, input, tool.round, &self.0);
            scene.continuing(&leg).mannered(entry.around());
            let context = scene.context();
            let work = async {
                let reply = entry::answer(&*entry, &context).await?;
                match entry.check_again(&context, &reply) {
                    Ok(()) => Ok(reply),
                    Err(stop) => CallToolResult::stopped(&context, stop),
                }
            };
            leg.run(call, work).await
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
            entry.around.required.check(call, prompt.name)?;
            let bound = Bound {
                method: Method::GetPrompt,
                target: prompt.name,
                arguments: prompt.arguments,
            };
            let mut leg = Leg::new(&self.0.settings.sealing, bound);
            leg.open(call, prompt.round).await?;
            let input = Input::Strings {
                values: pairs(prompt.arguments()?),
                checker: entry.checker.as_deref(),
            };
            let mut scene = Scene::new(call, prompt.name, input, prompt.round, &self.0);
            scene.continuing(&leg).mannered(&entry.around);
            let context = scene.context();
            leg.run(call, entry::answer(&*entry, &context)).await
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
                // Whoever may not read them is not told which there are.
                let around = &template.around;
                if !template.lists() || !around.required.is_met(call) {
                    continue;
                }
                let round = Round::default();
                let mut scene = Scene::new(call, template.uri(), nothing(), round, &self.0);
                scene.mannered(&template.around);
                let context = scene.context();
                if let Reply::Complete(list) = entry::answer(&Listing(&template), &context).await? {
                    all.extend(list.resources);
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
            let uri = resource.uri;
            if uri.len() > LONGEST_URI {
                let error = format!("A URI has at most {LONGEST_URI} bytes");
                return Err(Error::invalid_params(error));
            }
            // RES-S-09
            let Some(found) = self.find(uri) else {
                return Err(Error::resource_not_found(uri));
            };
            let entry = found.entry;
            entry.around.required.check(call, &found.target)?;
            let input = match found.bindings {
                None => nothing(),
                Some(bindings) => Input::Variables {
                    bindings,
                    checker: entry.checker(),
                },
            };
            // The URI as it was spelt: a retry spells it the same way (MRTR-C-10).
            let bound = Bound {
                method: Method::ReadResource,
                target: uri,
                arguments: None,
            };
            let mut leg = Leg::new(&self.0.settings.sealing, bound);
            leg.open(call, resource.round).await?;
            let mut scene = Scene::new(call, &found.target, input, resource.round, &self.0);
            (scene.continuing(&leg).mannered(&entry.around)).reading(uri, entry.mime_type());
            let context = scene.context();
            leg.run(call, entry::answer(&*entry, &context)).await
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
                        around: &entry.around,
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
                        around: &entry.around,
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

    /// Subscriptions to resources that are not watched, or that a layer keeps from the caller, are
    /// not honoured.
    fn listen<'a>(
        &'a self,
        call: &'a Call<'a>,
        mut filter: SubscriptionFilter,
    ) -> Answering<'a, SubscriptionFilter> {
        Box::pin(async move {
            if let Some(uris) = &mut filter.resource_subscriptions {
                let mut honoured = Vec::with_capacity(uris.len());
                for uri in uris.drain(..) {
                    if self.may_watch(call, &uri).await {
                        honoured.push(uri);
                    }
                }
                *uris = honoured;
            }
            Ok(filter)
        })
    }
}

/// A resource, and how it was found.
struct Found {
    entry: Arc<ResourceEntry<()>>,
    /// The variables of a template.
    bindings: Option<Bindings>,
    /// The canonical spelling of the URI.
    target: String,
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
        if offered.completions || registry.completes() {
            capabilities = capabilities.completions();
        }
        if offered.logging || registry.logs() {
            capabilities = capabilities.logging();
        }
        capabilities
    }

    /// The resource at a URI. Whatever the spelling, it is the same resource in the same layers.
    fn find(&self, uri: &str) -> Option<Found> {
        let registry = &self.0.registry;
        let fixed = |target: &str| {
            registry.resources.get(target).map(|entry| Found {
                entry,
                bindings: None,
                target: target.to_owned(),
            })
        };
        fixed(uri).or_else(|| {
            let (entry, bindings) = registry.templates.find(|template| template.matches(uri))?;
            let target = entry.expand(&bindings)?;
            fixed(&target).or(Some(Found {
                entry,
                bindings: Some(bindings),
                target,
            }))
        })
    }

    async fn may_watch(&self, call: &Call<'_>, uri: &str) -> bool {
        let found = Some(uri).filter(|uri| uri.len() <= LONGEST_URI);
        let Some(found) = found.and_then(|uri| self.find(uri)) else {
            return false;
        };
        // Changes are announced under the canonical spelling alone.
        if !found.entry.is_watched() || found.target != uri {
            return false;
        }
        let around = &found.entry.around;
        if !around.required.is_met(call) {
            return false;
        }
        let mut scene = Scene::new(call, uri, nothing(), Round::default(), &self.0);
        scene.mannered(around);
        let context = scene.context();
        matches!(
            entry::answer(&Watching(around), &context).await,
            Ok(Reply::Complete(_))
        )
    }

    async fn complete_with(
        &self,
        call: &Call<'_>,
        target: &str,
        completing: &Completing<'_>,
        completion: &Complete,
    ) -> Result<CompleteResult, Error> {
        completing.around.required.check(call, target)?;
        let known = completion
            .context
            .clone()
            .and_then(|context| context.arguments);
        let input = Input::Typing {
            known: pairs(known.unwrap_or_default()),
            argument: &completion.argument.name,
            prefix: &completion.argument.value,
        };
        let mut scene = Scene::new(call, target, input, Round::default(), &self.0);
        scene.mannered(completing.around);
        let context = scene.context();
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

fn unknown(what: &str, name: &str) -> Error {
    Error::invalid_params(format!(
        "Unknown {what}: {}",
        antiphon_core::negotiate::shown(name)
    ))
}
