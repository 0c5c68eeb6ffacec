//! Everything that `#[tool]` takes.

#![deny(warnings)]
#![allow(
    unreachable_pub,
    reason = "what it does with visibilities is seen here, not outside"
)]

use antiphon::{Json, Server, State, Stop, Tool, auth::Principal, tool};

/// The state.
#[derive(Clone)]
pub struct Calculator;

/// Also the name of the state's type in what is expanded, were it not taken.
#[derive(Clone)]
pub struct S;

/// Not what the arguments of `scale` are called then.
#[derive(serde::Deserialize, antiphon::schemars::JsonSchema)]
pub struct ScaleArgs {
    factor: f64,
}

const TITLE: &str = "Scale";

/// Add.
#[tool(
    name = "math.add-1",
    title = "Add",
    description = "Adds.",
    icon = "https://example.com/a.png",
    icon = "https://example.com/b.png",
    read_only,
    idempotent,
    open_world = false
)]
pub async fn add(
    /// The first.
    #[arg]
    a: i64,
    #[arg] b: Option<i64>,
    State(_): State<Calculator>,
    #[arg(default)] mut rest: Vec<i64>,
    principal: Option<Principal>,
    #[arg]
    #[serde(rename = "type")]
    #[schemars(length(max = 10))]
    r#type: String,
) -> Result<String, Stop> {
    rest.push(a + b.unwrap_or_default());
    Ok(format!("{rest:?} {type} {}", principal.is_some()))
}

/// Scale.
#[tool(title = TITLE, additive)]
pub(crate) async fn scale(#[arg] by: ScaleArgs, State(_): State<S>) -> Json<f64> {
    Json(by.factor)
}

/// Nothing.
#[allow(clippy::unused_async)]
#[tool(destructive)]
async fn r#move() {}

#[doc = concat!("One", " ", "line.")]
#[tool()]
async fn one(mut _call: antiphon::Call) -> &'static str {
    "one"
}

mod inner {
    #[super::tool]
    pub(super) async fn nested(#[arg] x: u8) -> String {
        x.to_string()
    }
}

#[cfg(not(unix))]
#[tool]
#[cfg(not(windows))]
async fn absent(#[arg] x: NoSuchType) -> String {}

#[test]
fn all_of_them_register() {
    let scaled: Tool = scale().with_state(S);
    let _: Server = Server::new("calculator", "1.0")
        .add(add())
        .add(r#move().title("Move"))
        .add(one())
        .add(inner::nested())
        .with_state(Calculator)
        .add(scaled);
    let _: Tool<u8> = one();
}
