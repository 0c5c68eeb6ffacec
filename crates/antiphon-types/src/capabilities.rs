//! What each side says it can do.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

type Object = Map<String, Value>;

/// What a client can do.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ClientCapabilities {
    /// Ask the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elicitation: Option<ElicitationCapability>,
    /// Call a model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampling: Option<SamplingCapability>,
    /// Name its roots.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub roots: Option<RootsCapability>,
    /// Extensions by id, each with its settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extensions: Option<Object>,
    /// Capabilities outside the specification.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub experimental: Option<Object>,
    /// Tasks, in revision 2025-11-25 only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tasks: Option<Value>,
    /// Members this revision does not define.
    #[serde(flatten)]
    pub extra: Object,
}

impl ClientCapabilities {
    /// None at all.
    pub fn new() -> Self {
        Self::default()
    }

    /// Declares an extension and its settings.
    #[must_use]
    pub fn extension(mut self, id: impl Into<String>, settings: Object) -> Self {
        let extensions = self.extensions.get_or_insert_default();
        extensions.insert(id.into(), settings.into());
        self
    }

    /// Whether nothing is declared.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The part of `required` that `self` does not declare, `None` if it
    /// declares all of it.
    ///
    /// An `elicitation` that names no mode means form, on either side. Nothing
    /// in `extra` is compared.
    pub fn missing(&self, required: &Self) -> Option<Self> {
        let missing = Self {
            elicitation: missing_elicitation(
                self.elicitation.as_ref(),
                required.elicitation.as_ref(),
            ),
            sampling: missing_sampling(self.sampling.as_ref(), required.sampling.as_ref()),
            roots: missing_roots(self.roots.as_ref(), required.roots.as_ref()),
            extensions: missing_keys(self.extensions.as_ref(), required.extensions.as_ref()),
            experimental: missing_keys(self.experimental.as_ref(), required.experimental.as_ref()),
            tasks: missing_value(self.tasks.as_ref(), required.tasks.as_ref()),
            extra: Object::new(),
        };
        (!missing.is_empty()).then_some(missing)
    }
}

setters!(ClientCapabilities {
    plain {
        elicitation: ElicitationCapability,
        sampling: SamplingCapability,
        roots: RootsCapability,
        extensions: Object,
        experimental: Object,
        tasks: Value,
    }
});

/// Ways of asking the user; none named means form.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ElicitationCapability {
    /// Forms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub form: Option<Object>,
    /// Links to open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<Object>,
}

impl ElicitationCapability {
    /// No mode named.
    pub fn new() -> Self {
        Self::default()
    }

    /// Names the form mode.
    #[must_use]
    pub fn form(mut self) -> Self {
        self.form.get_or_insert_default();
        self
    }

    /// Names the URL mode.
    #[must_use]
    pub fn url(mut self) -> Self {
        self.url.get_or_insert_default();
        self
    }

    /// Whether forms are included, be it only because no mode is named.
    pub fn has_form(&self) -> bool {
        self.form.is_some() || self.url.is_none()
    }

    /// Whether links are included.
    pub fn has_url(&self) -> bool {
        self.url.is_some()
    }
}

/// Ways of calling a model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SamplingCapability {
    /// The model may be given tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Object>,
    /// Context of servers may be included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<Object>,
}

impl SamplingCapability {
    /// Plain sampling.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds tools.
    #[must_use]
    pub fn tools(mut self) -> Self {
        self.tools.get_or_insert_default();
        self
    }

    /// Adds context.
    #[must_use]
    pub fn context(mut self) -> Self {
        self.context.get_or_insert_default();
        self
    }
}

/// Roots.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RootsCapability {
    /// Legacy revisions: changes will be announced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub list_changed: Option<bool>,
}

impl RootsCapability {
    /// Roots, without announcements.
    pub fn new() -> Self {
        Self::default()
    }
}

setters!(RootsCapability { plain { list_changed: bool } });

/// What a server can do.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ServerCapabilities {
    /// Tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<ListChangedCapability>,
    /// Prompts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompts: Option<ListChangedCapability>,
    /// Resources.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resources: Option<ResourcesCapability>,
    /// Completion of arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completions: Option<Object>,
    /// Log messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logging: Option<Object>,
    /// Extensions by id, each with its settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extensions: Option<Object>,
    /// Capabilities outside the specification.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub experimental: Option<Object>,
    /// Tasks, in revision 2025-11-25 only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tasks: Option<Value>,
    /// Members this revision does not define.
    #[serde(flatten)]
    pub extra: Object,
}

impl ServerCapabilities {
    /// None at all.
    pub fn new() -> Self {
        Self::default()
    }

    /// Declares tools.
    #[must_use]
    pub fn tools(mut self, list_changed: bool) -> Self {
        self.tools = Some(ListChangedCapability::new(list_changed));
        self
    }

    /// Declares prompts.
    #[must_use]
    pub fn prompts(mut self, list_changed: bool) -> Self {
        self.prompts = Some(ListChangedCapability::new(list_changed));
        self
    }

    /// Declares resources.
    #[must_use]
    pub fn resources(mut self, list_changed: bool, subscribe: bool) -> Self {
        self.resources = Some(ResourcesCapability::new(list_changed, subscribe));
        self
    }

    /// Declares completion.
    #[must_use]
    pub fn completions(mut self) -> Self {
        self.completions.get_or_insert_default();
        self
    }

    /// Declares log messages.
    #[must_use]
    pub fn logging(mut self) -> Self {
        self.logging.get_or_insert_default();
        self
    }

    /// Declares an extension and its settings.
    #[must_use]
    pub fn extension(mut self, id: impl Into<String>, settings: Object) -> Self {
        let extensions = self.extensions.get_or_insert_default();
        extensions.insert(id.into(), settings.into());
        self
    }
}

setters!(ServerCapabilities {
    plain { experimental: Object, tasks: Value }
});

/// A list, and whether its changes are announced.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ListChangedCapability {
    /// Changes are announced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub list_changed: Option<bool>,
}

impl ListChangedCapability {
    /// `false` leaves the member out.
    pub fn new(list_changed: bool) -> Self {
        Self {
            list_changed: list_changed.then_some(true),
        }
    }
}

/// Resources, and which of their changes are announced.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ResourcesCapability {
    /// Changes of the list are announced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub list_changed: Option<bool>,
    /// Changes of single resources are announced on demand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subscribe: Option<bool>,
}

impl ResourcesCapability {
    /// `false` leaves the member out.
    pub fn new(list_changed: bool, subscribe: bool) -> Self {
        Self {
            list_changed: list_changed.then_some(true),
            subscribe: subscribe.then_some(true),
        }
    }
}

fn missing_elicitation(
    declared: Option<&ElicitationCapability>,
    required: Option<&ElicitationCapability>,
) -> Option<ElicitationCapability> {
    let required = required?;
    let form = required.has_form() && !declared.is_some_and(ElicitationCapability::has_form);
    let url = required.has_url() && !declared.is_some_and(ElicitationCapability::has_url);
    (form || url).then(|| ElicitationCapability {
        form: form.then(|| required.form.clone().unwrap_or_default()),
        url: url.then(|| required.url.clone().unwrap_or_default()),
    })
}

fn missing_sampling(
    declared: Option<&SamplingCapability>,
    required: Option<&SamplingCapability>,
) -> Option<SamplingCapability> {
    let required = required?;
    let Some(declared) = declared else {
        return Some(required.clone());
    };
    let missing = SamplingCapability {
        tools: required.tools.clone().filter(|_| declared.tools.is_none()),
        context: required
            .context
            .clone()
            .filter(|_| declared.context.is_none()),
    };
    (missing != SamplingCapability::default()).then_some(missing)
}

fn missing_roots(
    declared: Option<&RootsCapability>,
    required: Option<&RootsCapability>,
) -> Option<RootsCapability> {
    let required = required?;
    let announced = |roots: &RootsCapability| roots.list_changed == Some(true);
    let covered = declared.is_some_and(|declared| announced(declared) || !announced(required));
    (!covered).then(|| required.clone())
}

/// Entries of `required` whose key is not declared; settings are not compared.
fn missing_keys(declared: Option<&Object>, required: Option<&Object>) -> Option<Object> {
    let missing: Object = required?
        .iter()
        .filter(|(key, _)| !declared.is_some_and(|declared| declared.contains_key(*key)))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    (!missing.is_empty()).then_some(missing)
}

/// As [`missing_keys`], at every depth.
fn missing_value(declared: Option<&Value>, required: Option<&Value>) -> Option<Value> {
    let required = required?;
    let (Some(Value::Object(declared)), Value::Object(members)) = (declared, required) else {
        return (declared != Some(required)).then(|| required.clone());
    };
    let missing: Object = members
        .iter()
        .filter_map(|(key, value)| {
            missing_value(declared.get(key), Some(value)).map(|value| (key.clone(), value))
        })
        .collect();
    (!missing.is_empty()).then_some(Value::Object(missing))
}

#[cfg(test)]
mod tests {
    use serde_json::{from_value, json, to_value};

    use super::*;

    #[test]
    fn missing_names_exactly_what_is_missing() {
        // declared, required, missing
        let table = [
            (json!({}), json!({}), json!(null)),
            (
                json!({}),
                json!({"elicitation": {}}),
                json!({"elicitation": {"form": {}}}),
            ),
            (
                json!({"elicitation": {}}),
                json!({"elicitation": {}}),
                json!(null),
            ),
            (
                json!({"elicitation": {}}),
                json!({"elicitation": {"form": {}}}),
                json!(null),
            ),
            (
                json!({"elicitation": {}}),
                json!({"elicitation": {"form": {}, "url": {}}}),
                json!({"elicitation": {"url": {}}}),
            ),
            (
                json!({"elicitation": {"url": {}}}),
                json!({"elicitation": {"form": {}, "url": {}}}),
                json!({"elicitation": {"form": {}}}),
            ),
            (
                json!({"elicitation": {"url": {}}}),
                json!({"elicitation": {}}),
                json!({"elicitation": {"form": {}}}),
            ),
            (
                json!({"elicitation": {"form": {}, "url": {}}}),
                json!({"elicitation": {"form": {}, "url": {}}}),
                json!(null),
            ),
            (
                json!({}),
                json!({"elicitation": {"url": {}}}),
                json!({"elicitation": {"url": {}}}),
            ),
            (json!({}), json!({"sampling": {}}), json!({"sampling": {}})),
            (
                json!({}),
                json!({"sampling": {"tools": {}}}),
                json!({"sampling": {"tools": {}}}),
            ),
            (
                json!({"sampling": {"context": {}}}),
                json!({"sampling": {"tools": {}, "context": {}}}),
                json!({"sampling": {"tools": {}}}),
            ),
            (
                json!({"sampling": {}}),
                json!({"sampling": {}}),
                json!(null),
            ),
            (json!({}), json!({"roots": {}}), json!({"roots": {}})),
            (
                json!({"roots": {"listChanged": true}}),
                json!({"roots": {}}),
                json!(null),
            ),
            (
                json!({"roots": {}}),
                json!({"roots": {"listChanged": true}}),
                json!({"roots": {"listChanged": true}}),
            ),
            (
                json!({"extensions": {"a": {"x": 1}}, "roots": {}}),
                json!({"extensions": {"a": {}, "b": {"y": 2}}, "roots": {}}),
                json!({"extensions": {"b": {"y": 2}}}),
            ),
            (
                json!({"experimental": {}}),
                json!({"experimental": {"e": {}}}),
                json!({"experimental": {"e": {}}}),
            ),
            (
                json!({"tasks": {"list": {}}}),
                json!({"tasks": {"list": {}, "requests": {"sampling": {"createMessage": {}}}}}),
                json!({"tasks": {"requests": {"sampling": {"createMessage": {}}}}}),
            ),
            (json!({}), json!({"charts": {}}), json!(null)),
            (
                json!({"charts": {}}),
                json!({"charts": {"deep": {}}, "roots": {}}),
                json!({"roots": {}}),
            ),
        ];
        for (declared, required, missing) in table {
            let (from, to): (ClientCapabilities, ClientCapabilities) = (
                from_value(declared.clone()).unwrap(),
                from_value(required.clone()).unwrap(),
            );
            assert_eq!(
                to_value(from.missing(&to)).unwrap(),
                missing,
                "{declared} {required}"
            );
        }
    }

    #[test]
    fn server_builder_writes_the_wire_form() {
        let capabilities = ServerCapabilities::new()
            .tools(true)
            .prompts(false)
            .resources(false, true)
            .completions()
            .logging()
            .extension("com.example/x", Object::new());
        assert_eq!(
            to_value(capabilities).unwrap(),
            json!({
                "tools": {"listChanged": true},
                "prompts": {},
                "resources": {"subscribe": true},
                "completions": {},
                "logging": {},
                "extensions": {"com.example/x": {}},
            })
        );
    }

    #[test]
    fn client_builder_writes_the_wire_form() {
        let capabilities = ClientCapabilities::new()
            .elicitation(ElicitationCapability::new().form().url())
            .sampling(SamplingCapability::new().tools().context())
            .roots(RootsCapability::new().list_changed(true));
        let value = json!({
            "elicitation": {"form": {}, "url": {}},
            "sampling": {"tools": {}, "context": {}},
            "roots": {"listChanged": true},
        });
        assert_eq!(to_value(&capabilities).unwrap(), value);
        assert_eq!(
            from_value::<ClientCapabilities>(value).unwrap(),
            capabilities
        );
    }
}
