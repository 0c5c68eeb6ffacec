//! Tools that ask, written by hand: each run looks at what it was given and returns the next
//! questions, or the result.

use antiphon::raw::{Answers, Call, CallTool, Error, Reply};
use antiphon::types::{
    BooleanSchema, CallToolResult, CreateMessageRequestParams, ElicitAction, ElicitRequestParams,
    FormSchema, InputRequest, InputRequired, StringSchema,
};
use serde_json::{Map, Value};

use crate::state::Seal;

/// The tools of this module with their descriptions.
pub(crate) const TOOLS: [(&str, &str); 8] = [
    ("test_input_required_result_elicitation", "Asks for a name"),
    (
        "test_input_required_result_sampling",
        "Asks the model for a capital",
    ),
    (
        "test_input_required_result_list_roots",
        "Asks for the roots",
    ),
    (
        "test_input_required_result_request_state",
        "Asks, with a state",
    ),
    (
        "test_input_required_result_multiple_inputs",
        "Asks three things at once",
    ),
    ("test_input_required_result_multi_round", "Asks twice"),
    (
        "test_input_required_result_tampered_state",
        "Asks, and checks its state",
    ),
    (
        "test_input_required_result_capabilities",
        "Asks what the client can answer",
    ),
];

type Outcome = Result<Reply<CallToolResult>, Error>;

/// Runs the tool if it is one of these.
pub(crate) fn tool(call: &Call<'_>, tool: &CallTool<'_>, seal: &Seal) -> Option<Outcome> {
    let run = match tool.name {
        "test_input_required_result_elicitation" => elicitation,
        "test_input_required_result_sampling" => sampling,
        "test_input_required_result_list_roots" => roots,
        "test_input_required_result_request_state"
        | "test_input_required_result_tampered_state" => with_state,
        "test_input_required_result_multiple_inputs" => multiple,
        "test_input_required_result_multi_round" => multi_round,
        "test_input_required_result_capabilities" => capabilities,
        "test_streaming_elicitation" => streaming,
        _ => return None,
    };
    let round = || {
        let answers = tool.round.answers()?;
        // A state that was sent is opened whatever the tool does with it.
        let state = tool
            .round
            .state
            .map(|state| seal.open(tool.name, state))
            .transpose()?;
        run(&Round {
            call,
            tool: tool.name,
            answers,
            state,
            seal,
        })
    };
    Some(round())
}

struct Round<'a> {
    call: &'a Call<'a>,
    tool: &'a str,
    answers: Answers<'a>,
    state: Option<Value>,
    seal: &'a Seal,
}

impl Round<'_> {
    /// What the user typed, if the form under `key` was accepted.
    fn accepted(&self, key: &str) -> Option<Map<String, Value>> {
        let answer = self.answers.elicit(key).given()?;
        (answer.action == ElicitAction::Accept)
            .then_some(answer.content)
            .flatten()
    }

    fn text(&self, key: &str, field: &str) -> Option<String> {
        self.accepted(key)?.get(field)?.as_str().map(str::to_owned)
    }

    fn sealed(&self, state: &Value) -> Result<String, Error> {
        self.seal.seal(self.tool, state)
    }
}

fn ask_text(message: &str, field: &str) -> InputRequest {
    let schema = FormSchema::new().required(field, StringSchema::new());
    ElicitRequestParams::form(message, schema).into()
}

fn ask_ok(message: &str) -> InputRequest {
    let schema = FormSchema::new().required("ok", BooleanSchema::new());
    ElicitRequestParams::form(message, schema).into()
}

fn done(text: impl Into<String>) -> Outcome {
    Ok(CallToolResult::text(text).into())
}

fn elicitation(round: &Round<'_>) -> Outcome {
    match round.text("user_name", "name") {
        Some(name) => done(format!("Hello, {name}!")),
        None => Ok(InputRequired::ask("user_name", ask_text("What is your name?", "name")).into()),
    }
}

fn sampling(round: &Round<'_>) -> Outcome {
    match round.answers.sample("capital_question").given() {
        Some(answer) => done(format!("The model said: {:?}", answer.content)),
        None => {
            let question = CreateMessageRequestParams::user("What is the capital of France?", 100);
            Ok(InputRequired::ask("capital_question", question).into())
        }
    }
}

fn roots(round: &Round<'_>) -> Outcome {
    match round.answers.roots("client_roots").given() {
        Some(answer) => done(format!("{} roots", answer.roots.len())),
        None => Ok(InputRequired::ask("client_roots", InputRequest::roots()).into()),
    }
}

fn with_state(round: &Round<'_>) -> Outcome {
    match (&round.state, round.accepted("confirm")) {
        (Some(state), Some(_)) if state["step"] == "confirm" => done("state-ok"),
        _ => {
            let state = round.sealed(&serde_json::json!({ "step": "confirm" }))?;
            Ok(InputRequired::ask("confirm", ask_ok("Please confirm"))
                .with_state(state)
                .into())
        }
    }
}

fn multiple(round: &Round<'_>) -> Outcome {
    let name = round.text("user_name", "name");
    let greeting = round.answers.sample("greeting").given();
    let roots = round.answers.roots("client_roots").given();
    if let (Some(name), Some(_), Some(roots), Some(_)) = (name, greeting, roots, &round.state) {
        return done(format!("{name} has {} roots", roots.roots.len()));
    }
    let greeting = CreateMessageRequestParams::user("Generate a greeting", 50);
    let state = round.sealed(&serde_json::json!({ "step": "all" }))?;
    Ok(
        InputRequired::ask("user_name", ask_text("What is your name?", "name"))
            .and("greeting", greeting)
            .and("client_roots", InputRequest::roots())
            .with_state(state)
            .into(),
    )
}

fn multi_round(round: &Round<'_>) -> Outcome {
    let state = round.state.clone().unwrap_or_default();
    let name = match &state["name"] {
        Value::String(name) => Some(name.clone()),
        _ if state["step"] == 1 => round.text("step1", "name"),
        _ => None,
    };
    let Some(name) = name else {
        let state = round.sealed(&serde_json::json!({ "step": 1 }))?;
        let question = ask_text("Step 1: What is your name?", "name");
        return Ok(InputRequired::ask("step1", question)
            .with_state(state)
            .into());
    };
    match round.text("step2", "color") {
        Some(color) if state["step"] == 2 => done(format!("{name} likes {color}.")),
        _ => {
            let state = round.sealed(&serde_json::json!({ "step": 2, "name": name }))?;
            let question = ask_text("Step 2: What is your favorite color?", "color");
            Ok(InputRequired::ask("step2", question)
                .with_state(state)
                .into())
        }
    }
}

/// Asks by the first way the client has, so that it is never asked in vain.
fn capabilities(round: &Round<'_>) -> Outcome {
    if !round.answers.is_empty() {
        return done("Thank you.");
    }
    let ways: [(&str, InputRequest); 3] = [
        (
            "model",
            CreateMessageRequestParams::user("Say hello", 20).into(),
        ),
        ("name", ask_text("What is your name?", "name")),
        ("roots", InputRequest::roots()),
    ];
    let declared = round.call.capabilities()?;
    for (key, question) in ways {
        let ask = InputRequired::ask(key, question);
        if declared.missing(&ask.required_capabilities()).is_none() {
            return Ok(ask.into());
        }
    }
    done("There is no way to ask this client.")
}

fn streaming(round: &Round<'_>) -> Outcome {
    match round.accepted("confirm") {
        Some(_) => done("Confirmed."),
        None => Ok(InputRequired::ask("confirm", ask_ok("Please confirm")).into()),
    }
}

/// The prompt that asks what it should be about.
pub(crate) fn context_question() -> InputRequired {
    let question = ask_text("What context should the prompt use?", "context");
    InputRequired::ask("user_context", question)
}
