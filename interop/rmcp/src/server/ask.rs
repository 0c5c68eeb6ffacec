//! [`Ask`]: how a handler asks, by `input_required` results in 2026-07-28 and by requests of the server before.

use std::{collections::BTreeSet, fmt::Display, sync::Arc, time::Duration};

use rmcp::{
    ErrorData, RoleServer,
    handler::server::{common::FromContextPart, tool::ToolCallContext},
    model::*,
    schemars::JsonSchema,
    service::RequestContext,
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, from_value, json, to_value};

use super::{Ensemble, Shared};

/// For how long a call may be gone on with.
const LIFE: Duration = Duration::from_secs(600);

/// Why a handler ends without a result.
pub(super) enum Stop {
    Asks(Box<InputRequiredResult>),
    Fails(ErrorData),
}

/// Ends a handler: what it asks for is a result like another.
pub(super) async fn settle<R: From<InputRequiredResult>>(
    handler: impl Future<Output = Result<R, Stop>>,
) -> Result<R, ErrorData> {
    match handler.await {
        Ok(result) => Ok(result),
        Err(Stop::Asks(questions)) => Ok((*questions).into()),
        Err(Stop::Fails(error)) => Err(error),
    }
}

/// What a client keeps between two rounds of a call, sealed.
#[derive(Clone, Default, Deserialize, Serialize)]
struct Kept {
    /// How many rounds there were.
    rounds: u32,
    answers: InputResponses,
    /// Whose answers are to come.
    pending: BTreeSet<String>,
}

/// What a form came back with.
pub(super) enum Answer<T> {
    Accept(T),
    Decline,
    Cancel,
}

impl<T> Answer<T> {
    pub(super) fn accepted(self) -> Result<T, Stop> {
        match self {
            Self::Accept(content) => Ok(content),
            Self::Decline | Self::Cancel => Err(fails("the question was not answered")),
        }
    }
}

/// A call that may ask.
pub(super) struct Ask {
    shared: Arc<Shared>,
    context: RequestContext<RoleServer>,
    /// What the state is good for.
    bound: String,
    kept: Kept,
}

impl Ask {
    fn new(
        server: &Ensemble,
        context: RequestContext<RoleServer>,
        bound: Value,
        state: Option<String>,
        answers: Option<InputResponses>,
    ) -> Result<Self, ErrorData> {
        let shared = server.shared.clone();
        let bound = bound.to_string();
        let mut kept = match state {
            Some(state) => {
                let opened = shared.codec.open_json_with(&state, bound.as_bytes());
                let refused = |_| ErrorData::invalid_params("the request state is not valid", None);
                opened.map_err(refused)?
            }
            None => Kept::default(),
        };
        for (key, answer) in answers.unwrap_or_default() {
            if kept.pending.contains(&key) {
                kept.answers.insert(key, answer);
            }
        }
        Ok(Self {
            shared,
            context,
            bound,
            kept,
        })
    }

    pub(super) fn prompt(
        server: &Ensemble,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<Self, ErrorData> {
        let bound = json!(["prompts/get", request.name, request.arguments]);
        let (state, answers) = (request.request_state, request.input_responses);
        Self::new(server, context, bound, state, answers)
    }

    pub(super) fn resource(
        server: &Ensemble,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<Self, ErrorData> {
        let bound = json!(["resources/read", request.uri]);
        let (state, answers) = (request.request_state, request.input_responses);
        Self::new(server, context, bound, state, answers)
    }

    /// Puts questions to the client, unless they are answered already.
    pub(super) async fn ask<const N: usize>(
        &self,
        questions: [(&str, InputRequest); N],
    ) -> Result<[Value; N], Stop> {
        let keys = questions.each_ref().map(|(key, _)| *key);
        let mut answers = self.kept.answers.clone();
        if !is_modern(&self.context) {
            for (key, question) in questions {
                answers.insert(key.to_owned(), self.request(question).await?);
            }
        } else if !keys.iter().all(|key| answers.contains_key(*key)) {
            let questions = questions.map(|(key, question)| (key.to_owned(), question));
            let state = self.seal(keys.map(ToOwned::to_owned).into())?;
            let result = InputRequiredResult::new(Some(questions.into()), Some(state));
            return Err(Stop::Asks(result.into()));
        }
        Ok(keys.map(|key| answers.remove(key).unwrap_or_default()))
    }

    /// Has the client come back, this often; older clients cannot.
    pub(super) fn later(&self, rounds: u32) -> Result<(), Stop> {
        if is_modern(&self.context) && self.kept.rounds < rounds {
            let state = self.seal(BTreeSet::new())?;
            let result = InputRequiredResult::from_request_state(state);
            return Err(Stop::Asks(result.into()));
        }
        Ok(())
    }

    fn seal(&self, pending: BTreeSet<String>) -> Result<String, Stop> {
        let kept = Kept {
            rounds: self.kept.rounds + 1,
            answers: self.kept.answers.clone(),
            pending,
        };
        let bound = SealOptions::new()
            .associated_data(self.bound.as_bytes())
            .ttl(LIFE);
        self.shared
            .codec
            .seal_json_with(&kept, &bound)
            .map_err(fails)
    }

    /// The question as a request of the server.
    async fn request(&self, question: InputRequest) -> Result<Value, Stop> {
        let peer = &self.context.peer;
        let answer = match question {
            InputRequest::Elicitation(asked) => {
                to_value(peer.create_elicitation(asked.params).await.map_err(fails)?)
            }
            InputRequest::CreateMessage(asked) => {
                to_value(peer.create_message(asked.params).await.map_err(fails)?)
            }
            InputRequest::ListRoots(_) => to_value(peer.list_roots().await.map_err(fails)?),
            _ => return Err(fails("nobody can be asked this")),
        };
        answer.map_err(fails)
    }

    /// Puts one form to the client.
    pub(super) async fn form<T: DeserializeOwned + JsonSchema>(
        &self,
        key: &str,
        message: impl Into<String>,
    ) -> Result<Answer<T>, Stop> {
        let [answer] = self.ask([(key, form::<T>(message)?)]).await?;
        elicited(answer)
    }
}

/// A tool has it as its first parameter, since those of `Parameters` are then taken away.
impl FromContextPart<ToolCallContext<'_, Ensemble>> for Ask {
    fn from_context_part(call: &mut ToolCallContext<'_, Ensemble>) -> Result<Self, ErrorData> {
        let bound = json!(["tools/call", call.name, call.arguments]);
        let (state, answers) = (call.request_state.take(), call.input_responses.take());
        let context = call.request_context.clone();
        Self::new(call.service, context, bound, state, answers)
    }
}

/// A form with the fields of a type.
pub(super) fn form<T: JsonSchema>(message: impl Into<String>) -> Result<InputRequest, Stop> {
    let schema = ElicitationSchema::from_type::<T>().map_err(fails)?;
    Ok(form_of(schema, message))
}

pub(super) fn form_of(schema: ElicitationSchema, message: impl Into<String>) -> InputRequest {
    InputRequest::Elicitation(ElicitRequest::new(
        ElicitRequestParams::FormElicitationParams {
            meta: None,
            message: message.into(),
            requested_schema: schema,
        },
    ))
}

/// What the user did with a form or a link.
pub(super) fn elicited<T: DeserializeOwned>(answer: Value) -> Result<Answer<T>, Stop> {
    let answer: ElicitResult = parse(answer)?;
    Ok(match answer.action {
        ElicitationAction::Accept => Answer::Accept(parse(answer.content.unwrap_or_default())?),
        ElicitationAction::Decline => Answer::Decline,
        _ => Answer::Cancel,
    })
}

pub(super) fn parse<T: DeserializeOwned>(answer: Value) -> Result<T, Stop> {
    let wrong =
        |error| ErrorData::invalid_params(format!("the answer is not right: {error}"), None);
    from_value(answer).map_err(|error: serde_json::Error| Stop::Fails(wrong(error)))
}

pub(super) fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    let version = context.protocol_version();
    version.is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}

pub(super) fn fails(error: impl Display) -> Stop {
    Stop::Fails(ErrorData::internal_error(error.to_string(), None))
}
