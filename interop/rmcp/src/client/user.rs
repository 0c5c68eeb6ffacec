//! [`User`]: who answers what a server asks, and what they were told.

use std::sync::{Arc, Mutex, MutexGuard};

use rmcp::{
    ClientHandler, ErrorData, RoleClient,
    model::*,
    service::{NotificationContext, RequestContext},
};
use serde_json::{Value, json};

use crate::SIGN_IN;

/// How the next question is answered.
#[derive(Clone, Copy, Default, PartialEq)]
pub(super) enum Mood {
    #[default]
    Agrees,
    /// Fills in the form, with a no.
    SaysNo,
    Declines,
    Cancels,
}

#[derive(Clone, Default)]
pub(super) struct User(Arc<Mutex<State>>);

#[derive(Default)]
pub(super) struct State {
    mood: Mood,
    pub(super) asked: Vec<String>,
    /// What was logged: level, logger and data.
    pub(super) logged: Vec<(LoggingLevel, Option<String>, Value)>,
    pub(super) reports: Vec<ProgressNotificationParam>,
    /// The URIs of what changed.
    pub(super) changed: Vec<String>,
}

impl User {
    /// What happened since the mood was set.
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().expect("nobody panics")
    }

    /// Begins anew.
    pub(super) fn is(&self, mood: Mood) {
        *self.state() = State {
            mood,
            ..State::default()
        };
    }

    fn note(&self, question: &str) -> Mood {
        let mut state = self.state();
        state.asked.push(question.to_owned());
        state.mood
    }

    fn fills_in(&self, message: &str) -> Result<ElicitResult, ErrorData> {
        let mood = self.note(message);
        let content = match message {
            "Run deploy?" => json!({ "ok": mood != Mood::SaysNo }),
            "Your order" => order(),
            "When?" => json!({ "date": "2026-07-28" }),
            "Who travels?" | "To whom?" | "For whom is report 7?" => json!({ "name": "Ada" }),
            "Question 1?" => json!({ "answer": "a" }),
            "You said a. Question 2?" => json!({ "answer": "b" }),
            "You said b. Question 3?" => json!({ "answer": "c" }),
            other => return Err(refused(format!("nobody knows an answer to {other:?}"))),
        };
        Ok(match mood {
            Mood::Agrees | Mood::SaysNo => {
                ElicitResult::new(ElicitationAction::Accept).with_content(content)
            }
            Mood::Declines => ElicitResult::new(ElicitationAction::Decline),
            Mood::Cancels => ElicitResult::new(ElicitationAction::Cancel),
        })
    }

    fn visits(&self, message: &str, url: &str) -> Result<ElicitResult, ErrorData> {
        let mood = self.note(message);
        if url != SIGN_IN {
            return Err(refused(format!("{url} is not the URL")));
        }
        Ok(ElicitResult::new(match mood {
            Mood::Agrees => ElicitationAction::Accept,
            _ => ElicitationAction::Decline,
        }))
    }
}

impl ClientHandler for User {
    fn get_info(&self) -> ClientConfig {
        let mut roots = RootsCapabilities::default();
        roots.list_changed = Some(false);
        let elicitation = ElicitationCapability::new()
            .with_form(FormElicitationCapability::new())
            .with_url(UrlElicitationCapability::new());
        let capabilities = ClientCapabilities::builder()
            .enable_elicitation_with(elicitation)
            .enable_roots_with(roots)
            .enable_sampling()
            .build();
        // What is offered by `initialize`; by itself, rmcp offers 2026-07-28 there, which has no `initialize`.
        ClientConfig::new(capabilities, Implementation::new("rmcp-interop", "1.0"))
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        match request {
            ElicitRequestParams::FormElicitationParams {
                message,
                requested_schema,
                ..
            } => {
                check(&message, &requested_schema)?;
                self.fills_in(&message)
            }
            ElicitRequestParams::UrlElicitationParams { message, url, .. } => {
                self.visits(&message, &url)
            }
            _ => Err(refused("nobody knows this question")),
        }
    }

    async fn create_message(
        &self,
        request: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        let wanted = [SamplingMessage::user_text("Sum up: a long story")];
        self.note("sampling");
        if request.messages != wanted || request.max_tokens != 100 {
            return Err(refused(format!("something else is asked: {request:?}")));
        }
        let answer = SamplingMessage::assistant_text("short");
        Ok(CreateMessageResult::new(answer, "ensemble-1".to_owned()).with_stop_reason("endTurn"))
    }

    async fn list_roots(
        &self,
        _: RequestContext<RoleClient>,
    ) -> Result<ListRootsResult, ErrorData> {
        self.note("roots");
        let roots = ["file:///srv/one", "file:///srv/two"].map(Root::new);
        Ok(ListRootsResult::new(roots.into()))
    }

    async fn on_logging_message(
        &self,
        message: LoggingMessageNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let LoggingMessageNotificationParam {
            level,
            logger,
            data,
            ..
        } = message;
        self.state().logged.push((level, logger, data));
    }

    async fn on_progress(
        &self,
        report: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.state().reports.push(report);
    }

    async fn on_resource_updated(
        &self,
        update: ResourceUpdatedNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.state().changed.push(update.uri);
    }
}

/// What is ordered.
pub(super) fn order() -> Value {
    json!({
        "name": "Ada", "mail": "ada@example.com", "day": "2026-07-28", "site": "https://example.com/a?b=c",
        "copies": 3, "weight": 1.5, "gift": true, "size": "large", "region": "us", "extras": ["ribbon", "box"],
    })
}

/// Whether the form of an order has the right fields, in their order.
fn check(message: &str, schema: &ElicitationSchema) -> Result<(), ErrorData> {
    let wanted = [
        "name", "mail", "day", "site", "copies", "weight", "gift", "size", "region", "extras",
        "note",
    ];
    let fields = schema.property_order.iter().flatten();
    if message == "Your order" && !fields.eq(wanted) {
        return Err(refused(format!("the form is another: {schema:?}")));
    }
    Ok(())
}

fn refused(why: impl Into<String>) -> ErrorData {
    ErrorData::invalid_params(why.into(), None)
}
