//! Tools that ask, written by hand: each run looks at what it was given and returns the next
//! questions, or the result.

use std::sync::Arc;

use antiphon::{
    Call, Context, FromCall, Server, Stop, Tool,
    types::{
        BooleanSchema, CreateMessageRequestParams, ElicitAction, ElicitRequestParams, FormSchema,
        InputRequest, InputRequired, StringSchema,
    },
};
use serde_json::{Map, Value, json};

use crate::state::Seal;

/// What seals and opens the state of the tools here.
pub(crate) type Seals = Arc<Seal>;

type Outcome = Result<String, Stop>;

pub(crate) fn add(server: Server<Seals>) -> Server<Seals> {
    server
        .add(Tool::new("test_streaming_elicitation", streaming).description("Asks a question"))
        .add(asking(
            "elicitation",
            Tool::new("test_input_required_result_elicitation", elicitation),
        ))
        .add(asking(
            "sampling",
            Tool::new("test_input_required_result_sampling", sampling),
        ))
        .add(asking(
            "roots",
            Tool::new("test_input_required_result_list_roots", roots),
        ))
        .add(asking(
            "with a state",
            Tool::new("test_input_required_result_request_state", with_state),
        ))
        .add(asking(
            "three things",
            Tool::new("test_input_required_result_multiple_inputs", multiple),
        ))
        .add(asking(
            "twice",
            Tool::new("test_input_required_result_multi_round", multi_round),
        ))
        .add(asking(
            "a state that holds",
            Tool::new("test_input_required_result_tampered_state", with_state),
        ))
        .add(asking(
            "what can be answered",
            Tool::new("test_input_required_result_capabilities", capabilities),
        ))
}

fn asking(what: &str, tool: Tool<Seals>) -> Tool<Seals> {
    tool.description(format!("Asks: {what}"))
}

/// What a retry brought: answers, and a state that opened.
struct Round {
    call: Call,
    state: Option<Value>,
    seal: Seals,
}

/// A state that was sent is opened whatever the tool does with it.
impl FromCall<Seals> for Round {
    async fn from_call(call: &Context<'_>, seal: &Seals) -> Result<Self, Stop> {
        let state = call.unsealed_state();
        let state = state
            .map(|state| seal.open(call.target(), state))
            .transpose()?;
        Ok(Self {
            call: call.extract(seal).await?,
            state,
            seal: seal.clone(),
        })
    }
}

impl Round {
    /// What the user typed, if the form under `key` was accepted.
    fn accepted(&self, key: &str) -> Result<Option<Map<String, Value>>, Stop> {
        let answer = self.call.unsolicited_responses()?.elicit(key).given();
        let accepted = answer.filter(|answer| answer.action == ElicitAction::Accept);
        Ok(accepted.and_then(|answer| answer.content))
    }

    fn text(&self, key: &str, field: &str) -> Result<Option<String>, Stop> {
        let accepted = self.accepted(key)?;
        Ok(accepted.and_then(|content| Some(content.get(field)?.as_str()?.to_owned())))
    }

    fn sealed(&self, state: &Value) -> Result<String, Stop> {
        Ok(self.seal.seal(self.call.target(), state)?)
    }
}

pub(crate) fn ask_text(message: &str, field: &str) -> InputRequest {
    let schema = FormSchema::new().required(field, StringSchema::new());
    ElicitRequestParams::form(message, schema).into()
}

fn ask_ok(message: &str) -> InputRequest {
    let schema = FormSchema::new().required("ok", BooleanSchema::new());
    ElicitRequestParams::form(message, schema).into()
}

async fn elicitation(round: Round) -> Outcome {
    match round.text("user_name", "name")? {
        Some(name) => Ok(format!("Hello, {name}!")),
        None => {
            let question = ask_text("What is your name?", "name");
            Err(Stop::ask(InputRequired::ask("user_name", question)))
        }
    }
}

async fn sampling(round: Round) -> Outcome {
    let answers = round.call.unsolicited_responses()?;
    match answers.sample("capital_question").given() {
        Some(answer) => Ok(format!("The model said: {:?}", answer.content)),
        None => {
            let question = CreateMessageRequestParams::user("What is the capital of France?", 100);
            Err(Stop::ask(InputRequired::ask("capital_question", question)))
        }
    }
}

async fn roots(round: Round) -> Outcome {
    let answers = round.call.unsolicited_responses()?;
    match answers.roots("client_roots").given() {
        Some(answer) => Ok(format!("{} roots", answer.roots.len())),
        None => Err(Stop::ask(InputRequired::ask(
            "client_roots",
            InputRequest::roots(),
        ))),
    }
}

async fn with_state(round: Round) -> Outcome {
    match (&round.state, round.accepted("confirm")?) {
        (Some(state), Some(_)) if state["step"] == "confirm" => Ok("state-ok".to_owned()),
        _ => {
            let state = round.sealed(&json!({ "step": "confirm" }))?;
            let ask = InputRequired::ask("confirm", ask_ok("Please confirm"));
            Err(Stop::ask(ask.with_state(state)))
        }
    }
}

async fn multiple(round: Round) -> Outcome {
    let name = round.text("user_name", "name")?;
    let answers = round.call.unsolicited_responses()?;
    let greeting = answers.sample("greeting").given();
    let roots = answers.roots("client_roots").given();
    if let (Some(name), Some(_), Some(roots), Some(_)) = (name, greeting, roots, &round.state) {
        return Ok(format!("{name} has {} roots", roots.roots.len()));
    }
    let greeting = CreateMessageRequestParams::user("Generate a greeting", 50);
    let state = round.sealed(&json!({ "step": "all" }))?;
    let ask = InputRequired::ask("user_name", ask_text("What is your name?", "name"))
        .and("greeting", greeting)
        .and("client_roots", InputRequest::roots());
    Err(Stop::ask(ask.with_state(state)))
}

async fn multi_round(round: Round) -> Outcome {
    let state = round.state.clone().unwrap_or_default();
    let name = match &state["name"] {
        Value::String(name) => Some(name.clone()),
        _ if state["step"] == 1 => round.text("step1", "name")?,
        _ => None,
    };
    let Some(name) = name else {
        let state = round.sealed(&json!({ "step": 1 }))?;
        let question = ask_text("Step 1: What is your name?", "name");
        return Err(Stop::ask(
            InputRequired::ask("step1", question).with_state(state),
        ));
    };
    match round.text("step2", "color")? {
        Some(color) if state["step"] == 2 => Ok(format!("{name} likes {color}.")),
        _ => {
            let state = round.sealed(&json!({ "step": 2, "name": name }))?;
            let question = ask_text("Step 2: What is your favorite color?", "color");
            Err(Stop::ask(
                InputRequired::ask("step2", question).with_state(state),
            ))
        }
    }
}

/// Asks by the first way the client has, so that it is never asked in vain.
async fn capabilities(round: Round) -> Outcome {
    if !round.call.unsolicited_responses()?.is_empty() {
        return Ok("Thank you.".to_owned());
    }
    let model = CreateMessageRequestParams::user("Say hello", 20);
    let ways: [(&str, InputRequest); 3] = [
        ("model", model.into()),
        ("name", ask_text("What is your name?", "name")),
        ("roots", InputRequest::roots()),
    ];
    let declared = round.call.capabilities();
    for (key, question) in ways {
        let ask = InputRequired::ask(key, question);
        if declared.missing(&ask.required_capabilities()).is_none() {
            return Err(Stop::ask(ask));
        }
    }
    Ok("There is no way to ask this client.".to_owned())
}

async fn streaming(round: Round) -> Outcome {
    match round.accepted("confirm")? {
        Some(_) => Ok("Confirmed.".to_owned()),
        None => Err(Stop::ask(InputRequired::ask(
            "confirm",
            ask_ok("Please confirm"),
        ))),
    }
}
