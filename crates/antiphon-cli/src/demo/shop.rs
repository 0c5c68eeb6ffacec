//! The demo's server: a tool that asks before it acts, on the raw tier.

use std::{
    collections::HashSet,
    sync::{Mutex, PoisonError},
};

use antiphon::raw::{About, Answering, Call, CallTool, Error, Reply, Service};
use antiphon::types::{
    BooleanSchema, CallToolResult, ElicitAction, ElicitRequestParams, FormSchema, Implementation,
    InputRequired, ServerCapabilities,
};
use serde_json::Value;

/// Remembers the orders it has asked about, by handles nobody can guess. Each is good once.
#[derive(Default)]
pub(crate) struct Shop(Mutex<HashSet<(String, String)>>);

impl Service for Shop {
    fn about(&self) -> About {
        About::new(Implementation::new("book-shop", "1.0"))
            .capabilities(ServerCapabilities::default().tools(false))
    }

    fn call_tool<'a>(
        &'a self,
        _: &'a Call<'a>,
        tool: CallTool<'a>,
    ) -> Answering<'a, Reply<CallToolResult>> {
        Box::pin(async move {
            match tool.name {
                "order" => self.order(&tool),
                other => Err(Error::invalid_params(format!("Unknown tool: {other}"))),
            }
        })
    }
}

impl Shop {
    fn order(&self, tool: &CallTool<'_>) -> Result<Reply<CallToolResult>, Error> {
        let order: Value = match tool.arguments() {
            Ok(order) => order,
            Err(bad) => return Ok(CallToolResult::from(bad).into()),
        };
        let books = format!("{} copies of {}", order["copies"], order["title"]);
        let Some(state) = tool.round.state else {
            return self.ask(&books);
        };
        // The handle stands for this very order and is used up by looking at it.
        let asked = self.lock().remove(&(state.to_owned(), books.clone()));
        if !asked {
            return Err(Error::invalid_params("Invalid or expired requestState"));
        }
        let answer = tool.round.answers()?.elicit("confirm").given();
        let approved = answer.is_some_and(|answer| {
            answer.action == ElicitAction::Accept
                && answer
                    .content
                    .is_some_and(|content| content.get("approve") == Some(&true.into()))
        });
        Ok(CallToolResult::text(match approved {
            true => format!("Ordered {books}."),
            false => "Nothing was ordered.".to_owned(),
        })
        .into())
    }

    fn ask(&self, books: &str) -> Result<Reply<CallToolResult>, Error> {
        let mut random = [0; 16];
        getrandom::fill(&mut random).map_err(|error| Error::internal(error.to_string()))?;
        let handle: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
        self.lock().insert((handle.clone(), books.to_owned()));
        let form = FormSchema::new().required("approve", BooleanSchema::new());
        let question = ElicitRequestParams::form(format!("Order {books}?"), form);
        Ok(InputRequired::ask("confirm", question)
            .with_state(handle)
            .into())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashSet<(String, String)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
