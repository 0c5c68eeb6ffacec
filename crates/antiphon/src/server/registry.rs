//! [`Registry`]: all that a server offers, and what can be put into it.

use std::fmt;

use antiphon_types::{
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    ServerCapabilities,
};

use super::{
    Prompt, Resource, Tool,
    entry::{Around, RegistrationError},
    prompt::PromptEntry,
    resource::ResourceEntry,
    table::Table,
    tool::ToolEntry,
};
use crate::raw::Changes;

/// All that a server offers.
pub(crate) struct Registry<S> {
    pub(crate) tools: Table<ToolEntry<S>, ListToolsResult>,
    pub(crate) prompts: Table<PromptEntry<S>, ListPromptsResult>,
    pub(crate) resources: Table<ResourceEntry<S>, ListResourcesResult>,
    pub(crate) templates: Table<ResourceEntry<S>, ListResourceTemplatesResult>,
}

impl<S> Default for Registry<S> {
    fn default() -> Self {
        Self {
            tools: Table::default(),
            prompts: Table::default(),
            resources: Table::default(),
            templates: Table::default(),
        }
    }
}

impl<S> fmt::Debug for Registry<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry")
            .field("tools", &self.tools)
            .field("prompts", &self.prompts)
            .field("resources", &self.resources)
            .field("templates", &self.templates)
            .finish()
    }
}

impl<S> Registry<S> {
    /// Adds all of another, inside what is around that one.
    pub(crate) fn append(&self, other: &Self, outer: &Around) -> Result<(), RegistrationError> {
        self.tools
            .append(&other.tools, |entry| entry.within(outer))
            .map_err(|name| taken("tool", &name))?;
        self.prompts
            .append(&other.prompts, |entry| entry.within(outer))
            .map_err(|name| taken("prompt", &name))?;
        self.resources
            .append(&other.resources, |entry| entry.within(outer))
            .map_err(|name| taken("resource", &name))?;
        self.templates
            .append(&other.templates, |entry| entry.within(outer))
            .map_err(|name| taken("resource", &name))
    }

    pub(crate) fn logs(&self) -> bool {
        self.tools.any(ToolEntry::logs)
            || self.prompts.any(|prompt| prompt.logs)
            || self.resources.any(ResourceEntry::logs)
            || self.templates.any(ResourceEntry::logs)
    }

    pub(crate) fn completes(&self) -> bool {
        self.prompts.any(|prompt| !prompt.completers.is_empty())
            || self
                .templates
                .any(|template| !template.completers.is_empty())
    }

    pub(crate) fn is_watched(&self) -> bool {
        self.resources.any(ResourceEntry::is_watched)
            || self.templates.any(ResourceEntry::is_watched)
    }
}

impl<S: Clone + Send + Sync + 'static> Registry<S> {
    pub(crate) fn with_state<Other>(&self, state: &S) -> Registry<Other> {
        Registry {
            tools: self.tools.map(|entry| entry.with_state(state)),
            prompts: self.prompts.map(|entry| entry.with_state(state)),
            resources: self.resources.map(|entry| entry.with_state(state)),
            templates: self.templates.map(|entry| entry.with_state(state)),
        }
    }
}

/// What a server can offer: a [`Tool`], a [`Prompt`] or a [`Resource`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be added to this server",
    label = "not a `Tool<{S}>`, `Prompt<{S}>` or `Resource<{S}>`",
    note = "a function with `#[tool]` returns its tool when called: `.add(name())`",
    note = "one whose handlers take another state gets it first: `.with_state(..)`",
    note = "a plain handler is added with `.tool(\"name\", handler)`, or within a `Tool::new(\"name\", handler)`"
)]
pub trait Offer<S>: sealed::Sealed<S> {}

pub(crate) mod sealed {
    use super::{Changes, RegistrationError, Registry, ServerCapabilities};

    #[expect(unnameable_types, reason = "the trait is sealed")]
    pub trait Sealed<S>: Sized {
        /// Registers it and says so to whoever listens.
        #[expect(private_interfaces, reason = "the trait is sealed")]
        fn register(
            self,
            registry: &Registry<S>,
            changes: &Changes,
            replace: bool,
        ) -> Result<(), RegistrationError>;

        /// How to declare it, if these capabilities do not.
        fn undeclared(&self, declared: &ServerCapabilities) -> Option<&'static str>;
    }
}

#[diagnostic::do_not_recommend]
impl<S: Send + Sync + 'static> Offer<S> for Tool<S> {}
#[diagnostic::do_not_recommend]
impl<S: Send + Sync + 'static> Offer<S> for Prompt<S> {}
#[diagnostic::do_not_recommend]
impl<S: Send + Sync + 'static> Offer<S> for Resource<S> {}

#[expect(private_interfaces, reason = "the trait is sealed")]
impl<S: Send + Sync + 'static> sealed::Sealed<S> for Tool<S> {
    fn register(
        self,
        registry: &Registry<S>,
        changes: &Changes,
        replace: bool,
    ) -> Result<(), RegistrationError> {
        let entry = self.finish()?;
        let name = entry.definition().name.clone();
        if !registry.tools.put(&name, entry, replace) {
            return Err(taken("tool", &name));
        }
        changes.tools();
        Ok(())
    }

    fn undeclared(&self, declared: &ServerCapabilities) -> Option<&'static str> {
        declared.tools.is_none().then_some("offer_tools()")
    }
}

#[expect(private_interfaces, reason = "the trait is sealed")]
impl<S: Send + Sync + 'static> sealed::Sealed<S> for Prompt<S> {
    fn register(
        self,
        registry: &Registry<S>,
        changes: &Changes,
        replace: bool,
    ) -> Result<(), RegistrationError> {
        let entry = self.finish()?;
        let name = entry.definition.name.clone();
        if !registry.prompts.put(&name, entry, replace) {
            return Err(taken("prompt", &name));
        }
        changes.prompts();
        Ok(())
    }

    fn undeclared(&self, declared: &ServerCapabilities) -> Option<&'static str> {
        match declared.prompts {
            None => Some("offer_prompts()"),
            Some(_) if self.completes() && declared.completions.is_none() => {
                Some("offer_completions()")
            }
            Some(_) => None,
        }
    }
}

#[expect(private_interfaces, reason = "the trait is sealed")]
impl<S: Send + Sync + 'static> sealed::Sealed<S> for Resource<S> {
    fn register(
        self,
        registry: &Registry<S>,
        changes: &Changes,
        replace: bool,
    ) -> Result<(), RegistrationError> {
        let entry = self.finish()?;
        let uri = entry.uri().to_owned();
        let added = match entry.is_template() {
            true => registry.templates.put(&uri, entry, replace),
            false => registry.resources.put(&uri, entry, replace),
        };
        if !added {
            return Err(taken("resource", &uri));
        }
        changes.resources();
        Ok(())
    }

    fn undeclared(&self, declared: &ServerCapabilities) -> Option<&'static str> {
        let Some(resources) = &declared.resources else {
            return Some("offer_resources()");
        };
        if self.is_watched() && resources.subscribe != Some(true) {
            return Some("offer_resources()");
        }
        (self.completes() && declared.completions.is_none()).then_some("offer_completions()")
    }
}

/// TOOL-S-14
fn taken(what: &str, name: &str) -> RegistrationError {
    RegistrationError::new(format!("there is a {what} `{name}` already"))
}
