//! [`Context`]: one call, as extractors, replies and layers see it.

use std::{
    fmt,
    ops::Deref,
    pin::Pin,
    sync::{
        Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use antiphon_core::{
    seal::digest::FlowId,
    template::{Binding, Bindings},
};
use antiphon_types::{
    CallToolResult, CompleteResult, ErrorObject, GetPromptResult, ListResourcesResult,
    ReadResourceResult,
};
use http::Extensions;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::{
    FromCall, Outcome, Server, Stop,
    entry::{Around, Manners},
    outcome::Ends,
    resolve::{Memo, Resolver},
    stop::Why,
};
use crate::{
    auth::scopes::{self, Required, Standing},
    raw::{self, Answers, Reply, Round},
    schema::{self, Checker, Read, Reading, SpeltChecker, Strings, Violations, without_place},
    sealing::{Claimed, Leg},
};

/// One call: all that [`raw::Call`] tells, what is called with which arguments, and the server it
/// runs on.
pub struct Context<'a> {
    scene: &'a Scene<'a>,
    /// Which resolver sees it, if one does.
    resolver: Option<Resolver>,
}

/// The state of a call, as it is being claimed.
type Claiming<'a> = Pin<Box<dyn Future<Output = Result<(), Stop>> + Send + 'a>>;

/// What is the same for all who see one call.
pub(crate) struct Scene<'a> {
    call: &'a raw::Call<'a>,
    target: &'a str,
    input: Input<'a>,
    round: Round<'a>,
    /// What the request brings from earlier rounds, where there may be any.
    leg: Option<&'a Leg<'a>>,
    server: &'a Server,
    manners: Manners,
    /// The scopes that what is called needs.
    required: Option<&'a Required>,
    /// The URI as the client spelt it, where `target` is the canonical spelling.
    requested: &'a str,
    /// The MIME type a resource was registered with.
    mime_type: Option<&'a str>,
    /// Whether the arguments are known to be right.
    checked: AtomicBool,
    /// Whether the handler is told that they are not.
    told: AtomicBool,
    attached: OnceLock<Mutex<Extensions>>,
    /// What resolvers gave.
    memo: OnceLock<Memo>,
}

/// Where the arguments come from.
pub(crate) enum Input<'a> {
    /// A tool's.
    Json {
        arguments: Option<&'a RawValue>,
        checker: &'a Checker,
        /// Whether decoding does not do all that the schema asks for.
        check: bool,
    },
    /// A prompt's.
    Strings {
        values: Vec<(String, String)>,
        checker: Option<&'a SpeltChecker>,
    },
    /// A resource template's.
    Variables {
        bindings: Bindings,
        checker: Option<&'a SpeltChecker>,
    },
    /// A completion's: what is known, and what was typed.
    Typing {
        known: Vec<(String, String)>,
        argument: &'a str,
        prefix: &'a str,
    },
}

/// What is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CallKind {
    /// A tool.
    Tool,
    /// A prompt.
    Prompt,
    /// A resource.
    Resource,
    /// The completion of an argument.
    Completion,
    /// The list of what a resource template stands for.
    Listing,
    /// The wish to be told when a resource changes.
    Subscription,
}

impl<'a> Scene<'a> {
    pub(crate) fn new(
        call: &'a raw::Call<'a>,
        target: &'a str,
        input: Input<'a>,
        round: Round<'a>,
        server: &'a Server,
    ) -> Self {
        Self {
            call,
            target,
            input,
            round,
            leg: None,
            server,
            manners: server.settings.around.manners,
            required: None,
            requested: target,
            mime_type: None,
            checked: AtomicBool::new(false),
            told: AtomicBool::new(false),
            attached: OnceLock::new(),
            memo: OnceLock::new(),
        }
    }

    /// With what comes from earlier rounds.
    pub(crate) fn continuing(&mut self, leg: &'a Leg<'a>) -> &mut Self {
        self.leg = Some(leg);
        self
    }

    /// With the manners of what is called, which may come from another server, and what it needs.
    pub(crate) fn mannered(&mut self, around: &'a Around) -> &mut Self {
        self.manners = self.manners.and(around.manners);
        self.required = Some(&around.required);
        self
    }

    /// With what is known of a resource.
    pub(crate) fn reading(&mut self, requested: &'a str, mime_type: Option<&'a str>) -> &mut Self {
        self.requested = requested;
        self.mime_type = mime_type;
        self
    }

    /// As its handler sees it.
    pub(crate) fn context(&'a self) -> Context<'a> {
        Context {
            scene: self,
            resolver: None,
        }
    }
}

impl<'a> Context<'a> {
    /// As a resolver sees it.
    pub(crate) fn within(&self, resolver: Resolver) -> Self {
        Context {
            scene: self.scene,
            resolver: Some(resolver),
        }
    }

    /// Which resolver sees it, if one does.
    pub(crate) fn resolver(&self) -> Option<Resolver> {
        self.resolver
    }

    /// What resolvers gave.
    pub(crate) fn memo(&self) -> &'a Memo {
        self.scene.memo.get_or_init(Memo::default)
    }

    /// What is called.
    pub fn kind(&self) -> CallKind {
        match (&self.scene.input, self.scene.call.method()) {
            (Input::Json { .. }, _) => CallKind::Tool,
            (Input::Typing { .. }, _) => CallKind::Completion,
            (_, "resources/list") => CallKind::Listing,
            (_, "subscriptions/listen") => CallKind::Subscription,
            (Input::Strings { .. }, "prompts/get") => CallKind::Prompt,
            _ => CallKind::Resource,
        }
    }

    /// The tool's or the prompt's name, or the resource's URI in its canonical spelling.
    pub fn target(&self) -> &'a str {
        self.scene.target
    }

    /// The arguments as `T`. Unlike [`Args`](crate::Args) this does not make `T` part of the
    /// schema.
    ///
    /// # Errors
    /// What does not fit, and where.
    pub fn args<T: DeserializeOwned>(&self) -> Result<T, Stop> {
        let mut reading = Reading::default();
        self.read_into(&mut reading)?;
        match reading.done() {
            Some(arguments) => Ok(arguments),
            None => Err(Stop::internal()),
        }
    }

    fn read_into(&self, reading: &mut dyn Read) -> Result<(), Stop> {
        self.read(reading).map_err(Stop::arguments)
    }

    /// Reads the arguments, as a type that is not known here.
    fn read(&self, into: &mut dyn Read) -> Result<(), Violations> {
        self.check()?;
        match &self.scene.input {
            Input::Json {
                arguments, checker, ..
            } => {
                let text = arguments.map_or("{}", RawValue::get);
                schema::read_json(into, text)
                    .or_else(|error| second_look(into, text, checker, &error))
            }
            _ => {
                let strings = self.strings();
                schema::read_strings(into, &strings).map_err(|bad| {
                    let told = self.spelt().map(|checker| checker.violations(&strings));
                    told.filter(|told| !told.is_empty())
                        .unwrap_or_else(|| bad.into())
                })
            }
        }
    }

    /// Compares the arguments with what the schema asks for beyond what decoding does, unless that
    /// was done.
    fn check(&self) -> Result<(), Violations> {
        if self.scene.checked.load(Ordering::Relaxed) {
            return Ok(());
        }
        let violations = match &self.scene.input {
            Input::Json {
                arguments,
                checker,
                check: true,
            } => {
                let text = arguments.map_or("{}", RawValue::get);
                match schema::read_once(text) {
                    Ok((value, doubled)) if doubled.is_empty() => checker.violations(&value),
                    Ok((_, doubled)) => doubled,
                    Err(error) => Violations::one("", without_place(&error)),
                }
            }
            Input::Json { .. } | Input::Typing { .. } => Violations::default(),
            Input::Strings { .. } | Input::Variables { .. } => match self.spelt() {
                Some(checker) if checker.is_needed() => checker.violations(&self.strings()),
                _ => Violations::default(),
            },
        };
        if !violations.is_empty() {
            return Err(violations);
        }
        self.scene.checked.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Notes that the handler gets an extractor's failure as a value, and so knows of arguments
    /// that are not right.
    pub(crate) fn hand_over(&self, stop: &Stop) {
        if stop.is_about_arguments() {
            self.scene.told.store(true, Ordering::Relaxed);
        }
    }

    /// Comes last before the handler runs, or asks: arguments that no extractor looked at are
    /// checked, and the state is claimed.
    pub(crate) async fn claimed(&self) -> Result<(), Stop> {
        match self.ready()? {
            Some(claiming) => claiming.await,
            None => Ok(()),
        }
    }

    /// A state is claimed by the future, which only calls with one have: so it is boxed.
    fn ready(&self) -> Result<Option<Claiming<'_>>, Stop> {
        if !self.scene.told.load(Ordering::Relaxed) {
            self.check().map_err(Stop::arguments)?;
        }
        let leg = self.scene.leg.filter(|leg| leg.brings_state());
        Ok(leg.map(|leg| -> Claiming<'_> {
            Box::pin(async {
                match leg.claim(self.scene.call).await? {
                    Claimed::Run => Ok(()),
                    Claimed::Repeat => Err(Stop::because(Why::Repeat)),
                }
            })
        }))
    }

    /// The answer that the state got when it was used before.
    pub(crate) fn recorded<R>(&self) -> Result<Reply<R>, ErrorObject> {
        let recorded = self.scene.leg.and_then(Leg::recorded);
        recorded.unwrap_or_else(|| Err(ErrorObject::internal("Internal error")))
    }

    fn spelt(&self) -> Option<&'a SpeltChecker> {
        match self.scene.input {
            Input::Strings { checker, .. } | Input::Variables { checker, .. } => checker,
            _ => None,
        }
    }

    /// A prompt's arguments, or a resource's variables, without those that are blank for want of
    /// a value.
    fn strings(&self) -> Vec<(&str, Strings<'_>)> {
        let mut strings: Vec<_> = match &self.scene.input {
            Input::Json { .. } => Vec::new(),
            Input::Strings { values, .. } | Input::Typing { known: values, .. } => values
                .iter()
                .map(|(name, value)| (name.as_str(), Strings::One(value)))
                .collect(),
            Input::Variables { bindings, .. } => bindings
                .iter()
                .map(|(name, binding)| match binding {
                    Binding::One(value) => (name, Strings::One(value)),
                    Binding::Many(values) => (name, Strings::Many(values)),
                })
                .collect(),
        };
        if let Some(checker) = self.spelt() {
            strings.retain(|(name, it)| *it != Strings::One("") || !checker.may_be_blank(name));
        }
        strings
    }

    /// Takes another extractor from this call: how one extractor builds on others.
    ///
    /// # Errors
    /// Those of the extractor.
    pub async fn extract<T: FromCall<S>, S>(&self, state: &S) -> Result<T, Stop> {
        T::from_call(self, state).await
    }

    /// A tool's arguments as they came: an object, or none.
    pub fn arguments(&self) -> Option<&'a RawValue> {
        match self.scene.input {
            Input::Json { arguments, .. } => arguments,
            _ => None,
        }
    }

    /// In a completion: which argument is to be completed.
    pub fn argument(&self) -> Option<&'a str> {
        match self.scene.input {
            Input::Typing { argument, .. } => Some(argument),
            _ => None,
        }
    }

    /// In a completion: what was typed so far.
    pub fn prefix(&self) -> Option<&'a str> {
        match self.scene.input {
            Input::Typing { prefix, .. } => Some(prefix),
            _ => None,
        }
    }

    /// The server this runs on.
    pub fn server(&self) -> &'a Server {
        self.scene.server
    }

    /// The answers to the questions that were asked in the round before.
    pub fn responses(&self) -> Answers<'a> {
        self.scene
            .leg
            .map(|leg| leg.answers().clone())
            .unwrap_or_default()
    }

    /// All answers this request brought, whether or not they were ever asked for: a client can
    /// send any. Never take one of these for consent.
    ///
    /// # Errors
    /// `-32602` for a map that names a key twice.
    pub fn unsolicited_responses(&self) -> Result<Answers<'a>, Stop> {
        Ok(self.scene.round.answers()?)
    }

    /// The state that was sent with the questions of the round before, as `S`: see
    /// [`InputRequired::carrying`](crate::types::InputRequired::carrying). Nothing in the first
    /// round, and when there was none.
    ///
    /// # Errors
    /// `-32602` if it is not an `S`: another version of this server wrote it.
    pub fn request_state<S: DeserializeOwned>(&self) -> Result<Option<S>, Stop> {
        match (self.scene.leg, self.request_state_text()) {
            (Some(leg), Some(text)) => {
                let state = serde_json::from_str(text);
                Ok(Some(state.map_err(|error| leg.not_of_this_type(&error))?))
            }
            _ => Ok(None),
        }
    }

    /// The state that was sent with the questions of the round before, as it was written: see
    /// [`InputRequired::with_state`](crate::types::InputRequired::with_state).
    pub fn request_state_text(&self) -> Option<&'a str> {
        self.scene.leg.and_then(Leg::state)
    }

    /// What the request brings from earlier rounds, where there may be any.
    pub(crate) fn leg(&self) -> Option<&'a Leg<'a>> {
        self.scene.leg
    }

    /// What the call is called in logs, if it was asked something before.
    pub(crate) fn flow(&self) -> Option<FlowId> {
        self.scene.leg.and_then(Leg::flow)
    }

    /// Attaches a value to this call, for [`Extension<T>`](crate::Extension) further in.
    pub fn insert<T: Clone + Send + Sync + 'static>(&self, value: T) {
        let attached = self.scene.attached.get_or_init(Mutex::default);
        let mut attached = attached.lock().unwrap_or_else(PoisonError::into_inner);
        attached.insert(value);
    }

    /// The value of this type that was attached to the call, or else to the HTTP request.
    pub fn extension<T: Clone + Send + Sync + 'static>(&self) -> Option<T> {
        let attached = self.scene.attached.get().and_then(|attached| {
            let attached = attached.lock().unwrap_or_else(PoisonError::into_inner);
            attached.get::<T>().cloned()
        });
        attached.or_else(|| self.scene.call.extensions()?.get::<T>().cloned())
    }

    /// What the client is answered if this call stops here: how a [`Layer`](crate::Layer) refuses,
    /// or asks.
    pub fn stop(&self, stop: Stop) -> Outcome {
        let stop = match (stop.why(), self.scene.leg.and_then(Leg::begun_dialogue)) {
            (Why::Asked, Some(dialogue)) => {
                dialogue.questions(None).map_or_else(Stop::asked, Stop::ask)
            }
            (why, _) => Stop::because(why),
        };
        match self.kind() {
            CallKind::Tool => CallToolResult::wrap(CallToolResult::stopped(self, stop)),
            CallKind::Prompt => GetPromptResult::wrap(GetPromptResult::stopped(self, stop)),
            CallKind::Resource | CallKind::Subscription => {
                ReadResourceResult::wrap(ReadResourceResult::stopped(self, stop))
            }
            CallKind::Listing => {
                ListResourcesResult::wrap(ListResourcesResult::stopped(self, stop))
            }
            CallKind::Completion => CompleteResult::wrap(CompleteResult::stopped(self, stop)),
        }
    }

    /// Goes on only if whoever calls has these scopes, whatever else is needed: see
    /// [`Stop::needs_scopes`]. On stdio the user who started the program has all.
    ///
    /// # Errors
    /// That they are needed.
    pub fn require_scopes(
        &self,
        scopes: impl IntoIterator<Item = impl Into<String>>,
    ) -> Result<(), Stop> {
        let scopes: Vec<String> = scopes.into_iter().map(Into::into).collect();
        match scopes::standing(self.scene.call, &scopes) {
            Standing::Sufficient => Ok(()),
            Standing::Insufficient | Standing::Unknown => Err(Stop::needs_scopes(scopes)),
        }
    }

    /// The error for a caller who lacks these scopes, with all that this call needs.
    pub(crate) fn lacking(&self, scopes: &[String]) -> ErrorObject {
        let call = self.scene.call;
        match self.scene.required {
            None => call.needs_scopes(scopes.iter().cloned()),
            Some(required) => call.needs_scopes(required.and_now(scopes)),
        }
    }

    /// What is attached to the call and to the HTTP request.
    pub(crate) fn all_extensions(&self) -> Extensions {
        let mut extensions = self.scene.call.extensions().cloned().unwrap_or_default();
        if let Some(attached) = self.scene.attached.get() {
            let attached = attached.lock().unwrap_or_else(PoisonError::into_inner);
            extensions.extend(attached.clone());
        }
        extensions
    }

    pub(crate) fn manners(&self) -> Manners {
        self.scene.manners
    }

    pub(crate) fn requested(&self) -> &'a str {
        self.scene.requested
    }

    pub(crate) fn mime_type(&self) -> Option<&'a str> {
        self.scene.mime_type
    }

    pub(crate) fn round(&self) -> Round<'a> {
        self.scene.round
    }
}

impl<'a> Deref for Context<'a> {
    type Target = raw::Call<'a>;

    fn deref(&self) -> &Self::Target {
        self.scene.call
    }
}

/// Who calls what; nothing of what the arguments and answers say.
impl fmt::Debug for Context<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("id", &self.scene.call.id())
            .field("method", &self.scene.call.method())
            .field("target", &self.scene.target)
            .finish_non_exhaustive()
    }
}

/// Arguments that could not be read: what the schema says about them, or else what the type says.
#[cold]
fn second_look(
    into: &mut dyn Read,
    text: &str,
    checker: &Checker,
    error: &serde_json::Error,
) -> Result<(), Violations> {
    let mut vague = None;
    if let Ok(mut value) = serde_json::from_str(text) {
        let violations = checker.violations(&value);
        if violations.is_vague() {
            vague = Some(violations);
        } else if !violations.is_empty() {
            return Err(violations);
        } else if schema::write_whole(&mut value)
            // To JSON Schema `2.0` is a whole number; to serde it is none.
            && schema::read_json(into, &value.to_string()).is_ok()
        {
            return Ok(());
        }
    }
    Err(schema::explain(into, text)
        .or(vague)
        .unwrap_or_else(|| Violations::one("", without_place(error))))
}

#[cfg(test)]
mod tests {
    use antiphon_types::decode;
    use serde::Deserialize;
    use serde_json::{Value, json};

    use super::*;

    /// Nothing in a value tells the two forms apart.
    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "only whether it can be read matters")]
    struct Nested {
        of: Option<Box<Self>>,
        n: Option<i64>,
    }

    fn refused(text: &str) -> String {
        let form = |limit: u32| {
            json!({
                "type": "object",
                "properties": {"of": {"$ref": "#"}, "n": {"type": "integer"}},
                "maxProperties": limit,
            })
        };
        let Value::Object(schema) = json!({"anyOf": [form(2), form(3), form(4)]}) else {
            panic!("an object")
        };
        let checker = Checker::compile(&schema).expect("a schema");
        let error = decode::<Nested>(text).expect_err("a string is no number");
        let mut into = Reading::<Nested>::default();
        let told = second_look(&mut into, text, &checker, &error).expect_err("nor here");
        told.to_string()
    }

    #[test]
    fn where_the_schema_explains_too_little_the_type_does() {
        let nested = |depth| "{\"of\":".repeat(depth) + "{\"n\":\"x\"}" + &"}".repeat(depth);
        let told = refused(&nested(1));
        assert_eq!(told, "- the whole: has none of the allowed forms");
        let told = refused(&nested(30));
        let path = "of.".repeat(30) + "n";
        assert!(
            told.starts_with(&format!("- `{path}`: invalid type")),
            "{told}"
        );
    }
}
