//! Tools that ask, written by hand: each run looks at what it was given and returns the next
//! questions, or the result.

use antiphon::{
    Call, Server, Stop, Tool,
    raw::Answers,
    types::{
        BooleanSchema, CreateMessageRequestParams, ElicitRequestParams, FormSchema, InputRequest,
        InputRequired, StringSchema,
    },
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

type Outcome = Result<String, Stop>;

pub(crate) fn add(server: Server) -> Server {
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

fn asking(what: &str, tool: Tool) -> Tool {
    tool.description(format!("Asks: {what}"))
}

/// What the user typed into a field of the form under `key`, if it was accepted.
pub(crate) fn text(answers: &Answers<'_>, key: &str, field: &str) -> Option<String> {
    let content: Map<String, Value> = answers.accepted(key)?;
    Some(content.get(field)?.as_str()?.to_owned())
}

pub(crate) fn ask_text(message: &str, field: &str) -> InputRequest {
    let schema = FormSchema::new().required(field, StringSchema::new());
    ElicitRequestParams::form(message, schema).into()
}

fn ask_ok(message: &str) -> InputRequest {
    let schema = FormSchema::new().required("ok", BooleanSchema::new());
    ElicitRequestParams::form(message, schema).into()
}

/// The suite sends an answer with the very first call and wants it taken, so this one takes any.
async fn elicitation(call: Call) -> Outcome {
    match text(&call.unsolicited_responses()?, "user_name", "name") {
        Some(name) => Ok(format!("Hello, {name}!")),
        None => {
            let question = ask_text("What is your name?", "name");
            Err(Stop::ask(InputRequired::ask("user_name", question)))
        }
    }
}

async fn sampling(call: Call) -> Outcome {
    match call.responses().sample("capital_question").given() {
        Some(answer) => Ok(format!("The model said: {:?}", answer.content)),
        None => {
            let question = CreateMessageRequestParams::user("What is the capital of France?", 100);
            Err(Stop::ask(InputRequired::ask("capital_question", question)))
        }
    }
}

async fn roots(call: Call) -> Outcome {
    match call.responses().roots("client_roots").given() {
        Some(answer) => Ok(format!("{} roots", answer.roots.len())),
        None => Err(Stop::ask(InputRequired::ask(
            "client_roots",
            InputRequest::roots(),
        ))),
    }
}

/// What is carried from one round to the next.
#[derive(Serialize, Deserialize, PartialEq)]
enum Step {
    Confirm,
    All,
    One,
    Two { name: String },
}

async fn with_state(call: Call) -> Outcome {
    let answer = call.responses().accepted::<Value>("confirm");
    match (call.request_state()?, answer) {
        (Some(Step::Confirm), Some(_)) => Ok("state-ok".to_owned()),
        _ => {
            let ask = InputRequired::ask("confirm", ask_ok("Please confirm"));
            Err(Stop::ask(ask.carrying(&Step::Confirm)?))
        }
    }
}

async fn multiple(call: Call) -> Outcome {
    let answers = call.responses();
    let name = text(&answers, "user_name", "name");
    let greeting = answers.sample("greeting").given();
    let roots = answers.roots("client_roots").given();
    let state = call.request_state()?;
    if let (Some(name), Some(_), Some(roots), Some(Step::All)) = (name, greeting, roots, state) {
        return Ok(format!("{name} has {} roots", roots.roots.len()));
    }
    let greeting = CreateMessageRequestParams::user("Generate a greeting", 50);
    let ask = InputRequired::ask("user_name", ask_text("What is your name?", "name"))
        .and("greeting", greeting)
        .and("client_roots", InputRequest::roots());
    Err(Stop::ask(ask.carrying(&Step::All)?))
}

async fn multi_round(call: Call) -> Outcome {
    let answers = call.responses();
    let name = match call.request_state()? {
        Some(Step::One) => text(&answers, "step1", "name"),
        Some(Step::Two { name }) => {
            if let Some(color) = text(&answers, "step2", "color") {
                return Ok(format!("{name} likes {color}."));
            }
            Some(name)
        }
        _ => None,
    };
    let ask = match &name {
        None => InputRequired::ask("step1", ask_text("Step 1: What is your name?", "name")),
        Some(_) => {
            let question = ask_text("Step 2: What is your favorite color?", "color");
            InputRequired::ask("step2", question)
        }
    };
    let step = name.map_or(Step::One, |name| Step::Two { name });
    Err(Stop::ask(ask.carrying(&step)?))
}

/// Asks by the first way the client has, so that it is never asked in vain.
async fn capabilities(call: Call) -> Outcome {
    if !call.responses().is_empty() {
        return Ok("Thank you.".to_owned());
    }
    let model = CreateMessageRequestParams::user("Say hello", 20);
    let ways: [(&str, InputRequest); 3] = [
        ("model", model.into()),
        ("name", ask_text("What is your name?", "name")),
        ("roots", InputRequest::roots()),
    ];
    let declared = call.capabilities();
    for (key, question) in ways {
        let ask = InputRequired::ask(key, question);
        if declared.missing(&ask.required_capabilities()).is_none() {
            return Err(Stop::ask(ask));
        }
    }
    Ok("There is no way to ask this client.".to_owned())
}

async fn streaming(call: Call) -> Outcome {
    match call.responses().accepted::<Value>("confirm") {
        Some(_) => Ok("Confirmed.".to_owned()),
        None => Err(Stop::ask(InputRequired::ask(
            "confirm",
            ask_ok("Please confirm"),
        ))),
    }
}
