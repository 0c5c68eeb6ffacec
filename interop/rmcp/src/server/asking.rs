//! What asks the user.

use rmcp::{
    ErrorData,
    handler::server::wrapper::Parameters,
    model::*,
    schemars::{self, JsonSchema},
    tool, tool_router,
};
use serde::Deserialize;
use serde_json::{Value, from_value, json};

use super::{
    Ensemble,
    ask::{Answer, Ask, Stop, elicited, fails, form, form_of, parse, settle},
    resources::contents,
};
use crate::SIGN_IN;

#[derive(Deserialize, JsonSchema)]
struct Action {
    action: String,
}

#[derive(Deserialize, JsonSchema)]
struct Story {
    text: String,
}

#[derive(Deserialize, JsonSchema)]
struct Confirm {
    ok: bool,
}

#[derive(Deserialize, JsonSchema)]
struct Name {
    name: String,
}

#[derive(Deserialize, JsonSchema)]
struct Date {
    #[schemars(extend("format" = "date"))]
    date: String,
}

#[derive(Deserialize, JsonSchema)]
struct Reply {
    answer: String,
}

/// What is to be filled in; of a type, rmcp takes no choices.
fn order() -> Result<ElicitationSchema, Stop> {
    let schema = json!({
        "type": "object",
        "properties": {
            "name": { "type": "string", "minLength": 1, "maxLength": 40 },
            "mail": { "type": "string", "format": "email" },
            "day": { "type": "string", "format": "date" },
            "site": { "type": "string", "format": "uri" },
            "copies": { "type": "integer", "minimum": 1, "maximum": 9, "default": 2 },
            "weight": { "type": "number" },
            "gift": { "type": "boolean", "default": false },
            "size": { "type": "string", "enum": ["small", "large"] },
            "region": { "type": "string", "oneOf": [
                { "const": "eu", "title": "Europe" },
                { "const": "us", "title": "America" },
            ] },
            "extras": {
                "type": "array", "minItems": 1, "maxItems": 2,
                "items": { "type": "string", "enum": ["ribbon", "card", "box"] },
            },
            "note": { "type": "string" },
        },
        "required": ["name", "mail", "day", "copies", "weight", "gift", "size", "region", "extras"],
    });
    from_value(schema).map_err(fails)
}

type Outcome = Result<CallToolResponse, ErrorData>;

#[tool_router(router = asking_tools, vis = "pub(super)")]
impl Ensemble {
    #[tool(description = "Asks for a yes")]
    async fn confirm(
        &self,
        ask: Ask,
        Parameters(Action { action }): Parameters<Action>,
    ) -> Outcome {
        settle(async {
            Ok(match ask.form("confirm", format!("Run {action}?")).await? {
                Answer::Accept(Confirm { ok: true }) => text(format!("done: {action}")),
                Answer::Accept(Confirm { ok: false }) => text("refused"),
                Answer::Decline => text("declined"),
                Answer::Cancel => text("cancelled"),
            })
        })
        .await
    }

    #[tool(name = "order", description = "Asks for a whole form")]
    async fn take_order(&self, ask: Ask) -> Outcome {
        settle(async {
            let [answer] = ask
                .ask([("order", form_of(order()?, "Your order"))])
                .await?;
            let content: Value = elicited(answer)?.accepted()?;
            Ok(CallToolResult::structured(content).into())
        })
        .await
    }

    #[tool(description = "Sends the user to a page")]
    async fn sign_in(&self, ask: Ask) -> Outcome {
        settle(async {
            let link = ElicitRequestParams::UrlElicitationParams {
                meta: None,
                message: "Please sign in".to_owned(),
                url: SIGN_IN.to_owned(),
                // 2026-07-28 has none, but rmcp wants one there as well.
                elicitation_id: "sign_in".to_owned(),
            };
            let link = InputRequest::Elicitation(ElicitRequest::new(link));
            let [answer] = ask.ask([("sign_in", link)]).await?;
            Ok(text(match elicited(answer)? {
                Answer::<Option<Value>>::Accept(_) => "signed in",
                Answer::Decline => "declined",
                Answer::Cancel => "cancelled",
            }))
        })
        .await
    }

    #[tool(description = "Asks the model")]
    async fn sum_up(
        &self,
        ask: Ask,
        Parameters(Story { text: story }): Parameters<Story>,
    ) -> Outcome {
        settle(async {
            let message = SamplingMessage::user_text(format!("Sum up: {story}"));
            let sample = CreateMessageRequestParams::new(vec![message], 100);
            let sample = InputRequest::CreateMessage(CreateMessageRequest::new(sample));
            let [answer] = ask.ask([("sum_up", sample)]).await?;
            let said: CreateMessageResult = parse(answer)?;
            let first = said.message.content.first().and_then(|part| part.as_text());
            let first = first.ok_or_else(|| fails("the model says nothing"))?;
            Ok(text(format!("{} says: {}", said.model, first.text)))
        })
        .await
    }

    #[tool(name = "where", description = "Asks for the roots")]
    async fn whereabouts(&self, ask: Ask) -> Outcome {
        settle(async {
            let roots = InputRequest::ListRoots(ListRootsRequest::default());
            let [answer] = ask.ask([("where", roots)]).await?;
            let answer: ListRootsResult = parse(answer)?;
            let uris: Vec<_> = answer.roots.iter().map(|root| root.uri.as_str()).collect();
            Ok(text(uris.join("\n")))
        })
        .await
    }

    #[tool(description = "Asks two things at once")]
    async fn trip(&self, ask: Ask) -> Outcome {
        settle(async {
            let questions = [
                ("who", form::<Name>("Who travels?")?),
                ("when", form::<Date>("When?")?),
            ];
            let [who, when] = ask.ask(questions).await?;
            let Name { name } = elicited(who)?.accepted()?;
            let Date { date } = elicited(when)?.accepted()?;
            Ok(text(format!("{name} on {date}")))
        })
        .await
    }

    #[tool(description = "Asks in three rounds")]
    async fn quiz(&self, ask: Ask) -> Outcome {
        settle(async {
            let Reply { answer: a } = ask.form("q1", "Question 1?").await?.accepted()?;
            let second = format!("You said {a}. Question 2?");
            let Reply { answer: b } = ask.form("q2", second).await?.accepted()?;
            let third = format!("You said {b}. Question 3?");
            let Reply { answer: c } = ask.form("q3", third).await?.accepted()?;
            Ok(text(format!("{a} / {b} / {c}")))
        })
        .await
    }

    #[tool(description = "Has the client come back")]
    async fn wait(&self, ask: Ask) -> Outcome {
        settle(async {
            ask.later(2)?;
            Ok(text("ready"))
        })
        .await
    }
}

impl Ensemble {
    pub(super) async fn letter(&self, ask: Ask) -> Result<GetPromptResponse, ErrorData> {
        settle(async {
            let Name { name } = ask.form("to", "To whom?").await?.accepted()?;
            let message = PromptMessage::new_text(Role::User, format!("Dear {name}"));
            Ok(GetPromptResult::new(vec![message]).into())
        })
        .await
    }

    pub(super) async fn report(
        &self,
        ask: Ask,
        uri: &str,
    ) -> Result<ReadResourceResponse, ErrorData> {
        settle(async {
            let id = uri.strip_prefix("report://").unwrap_or(uri);
            let question = format!("For whom is report {id}?");
            let Name { name } = ask.form("reader", question).await?.accepted()?;
            Ok(contents(format!("report {id} for {name}"), uri))
        })
        .await
    }
}

fn text(text: impl Into<String>) -> CallToolResponse {
    CallToolResult::success(vec![ContentBlock::text(text)]).into()
}
