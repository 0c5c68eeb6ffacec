//! The contract's tools on tower-mcp. Clients of 2025-11-25 have sessions, and are asked on the stream
//! of their call.

use std::{fmt::Display, io, process::ExitCode, time::Duration};

use contract::{Flags, Nested, Transport};
use hyper_util::service::TowerToHyperService;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tower_mcp::{
    CallToolResult, Error, HttpTransport, McpRouter, RequestContext, RequestStateCodec,
    StdioTransport, Tool, ToolBuilder,
    protocol::{
        ElicitAction, ElicitFormParams, ElicitFormSchema, ElicitRequestParams, ElicitResult,
        InputRequest, InputRequests, InputRequiredResult, InputResponse, RequestOutcome,
    },
};

#[derive(Deserialize, JsonSchema)]
struct Echo {
    text: String,
}

#[derive(Deserialize, JsonSchema)]
struct Slow {
    ms: u64,
}

#[derive(Deserialize, JsonSchema)]
struct Confirm {
    action: String,
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "they are read and dropped")]
struct Filler {
    /// first
    a: String,
    /// second
    b: Option<i64>,
    /// third
    c: Option<bool>,
}

/// What `confirm` keeps with the client between its two legs.
#[derive(Deserialize, Serialize)]
struct State {
    step: String,
    action: String,
    pad: String,
}

/// How long it may be used.
const LIFE: Duration = Duration::from_secs(600);

type Outcome = Result<RequestOutcome<CallToolResult>, Error>;

fn router(fillers: usize) -> McpRouter {
    let echo = ToolBuilder::new("echo")
        .description("Repeats its text.")
        .handler(|Echo { text }| async move { Ok(CallToolResult::text(text)) })
        .build();
    let slow = ToolBuilder::new("slow")
        .description("Answers after a while.")
        .handler(|Slow { ms }| async move {
            tokio::time::sleep(Duration::from_millis(ms)).await;
            Ok(CallToolResult::text(format!("slept {ms}")))
        })
        .build();
    let nested = ToolBuilder::new("nested")
        .description("Counts what is ordered.")
        .handler(|orders: Nested| async move { Ok(CallToolResult::text(orders.summary())) })
        .build();
    let router = McpRouter::new()
        .server_info("bench", "1.0.0")
        .tool(echo)
        .tool(slow)
        .tool(nested)
        .tool(confirm());
    (0..fillers).fold(router, |router, index| {
        let (name, description) = contract::filler(index);
        let tool = ToolBuilder::new(name)
            .description(description)
            .handler(|_: Filler| async { Ok(CallToolResult::text("filler")) })
            .build();
        router.tool(tool)
    })
}

fn confirm() -> Tool {
    let mut key = [0_u8; 32];
    rand::fill(&mut key);
    let codec = RequestStateCodec::new(key, LIFE).expect("the key is long enough");
    ToolBuilder::new("confirm")
        .description("Asks before it acts.")
        .mrtr_handler::<Confirm, _, _>(move |context: RequestContext, Confirm { action }| {
            let codec = codec.clone();
            async move {
                // Only sessions of older revisions can ask in the middle of a call.
                if context.can_elicit() {
                    let answer = context.elicit_form(form(&action)).await?;
                    return Ok(outcome(agreed(&answer), &action));
                }
                let bound = format!("tools/call\0confirm\0{action}");
                let Some(sealed) = context.request_state() else {
                    return ask(&codec, action, &bound);
                };
                let state: State = codec
                    .decode_for(sealed, &bound)
                    .map_err(|_| Error::invalid_params("the request state is not valid"))?;
                let answer = context.input_responses().and_then(|all| all.get("confirm"));
                let Some(InputResponse::Elicit(answer)) = answer else {
                    return ask(&codec, action, &bound);
                };
                let agreed = agreed(answer) && state.step == "confirm";
                Ok(outcome(agreed, &state.action))
            }
        })
        .build()
}

fn ask(codec: &RequestStateCodec, action: String, bound: &str) -> Outcome {
    let question = InputRequest::Elicit(ElicitRequestParams::Form(form(&action)));
    let state = State {
        step: "confirm".to_owned(),
        action,
        pad: "x".repeat(140),
    };
    let sealed = codec.encode_for(bound, &state).map_err(internal)?;
    let mut questions = InputRequests::new();
    questions.insert("confirm".to_owned(), question);
    let asked = InputRequiredResult::with_requests(questions).with_request_state(sealed);
    Ok(RequestOutcome::input_required(asked))
}

fn form(action: &str) -> ElicitFormParams {
    ElicitFormParams {
        mode: None,
        message: format!("Run {action}?"),
        requested_schema: ElicitFormSchema::new().boolean_field("ok", None, true),
        meta: None,
    }
}

fn agreed(answer: &ElicitResult) -> bool {
    let content = serde_json::to_value(&answer.content);
    answer.action == ElicitAction::Accept && content.is_ok_and(|content| content["ok"] == true)
}

fn outcome(agreed: bool, action: &str) -> RequestOutcome<CallToolResult> {
    RequestOutcome::Complete(CallToolResult::text(match agreed {
        true => format!("done: {action}"),
        false => "refused".to_owned(),
    }))
}

fn internal(error: impl Display) -> Error {
    Error::internal(error.to_string())
}

async fn http(port: u16, router: McpRouter) -> io::Result<()> {
    // What is called sampling here is all that a server may ask of a session's client.
    let service = HttpTransport::new(router).with_sampling();
    contract::serve(
        port,
        TowerToHyperService::new(service.into_router_at("/mcp")),
    )
    .await
}

fn main() -> ExitCode {
    let flags = Flags::from_env("tower-server");
    let router = router(flags.tools);
    let ended = flags.block_on(async {
        match flags.transport {
            Transport::Http(port) => http(port, router).await,
            Transport::Stdio => {
                let ended = StdioTransport::new(router).run().await;
                ended.map_err(io::Error::other)
            }
        }
    });
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("tower-server: {error}");
            ExitCode::FAILURE
        }
    }
}
