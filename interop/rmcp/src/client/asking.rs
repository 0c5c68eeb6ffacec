//! Cases in which the user is asked.

use rmcp::model::{CallToolResponse, GetPromptRequestParams};
use serde_json::{Value, json};

use super::{
    Done, Grid, call, message, same,
    user::{Mood, order},
};

impl Grid {
    /// Calls a tool that asks somebody in this mood exactly these questions.
    async fn asks(
        &self,
        tool: &str,
        arguments: Value,
        mood: Mood,
        questions: &[&str],
        wanted: &str,
    ) -> Done {
        self.user.is(mood);
        same(self.text(tool, arguments).await?.as_str(), wanted)?;
        self.was_asked(questions)
    }

    fn was_asked(&self, questions: &[&str]) -> Done {
        let mut asked = self.user.state().asked.clone();
        // What is asked at the same time has no order.
        asked.sort_unstable();
        same(asked, questions.iter().map(ToString::to_string).collect())
    }

    pub(super) async fn form(&self) -> Done {
        self.user.is(Mood::Agrees);
        let result = self.server.call_tool(call("order", json!({}))).await?;
        same(result.structured_content, Some(order()))?;
        self.was_asked(&["Your order"])
    }

    async fn confirm(&self, mood: Mood, wanted: &str) -> Done {
        let deploy = json!({ "action": "deploy" });
        self.asks("confirm", deploy, mood, &["Run deploy?"], wanted)
            .await
    }

    pub(super) async fn accept(&self) -> Done {
        self.confirm(Mood::Agrees, "done: deploy").await?;
        self.confirm(Mood::SaysNo, "refused").await
    }

    pub(super) async fn decline(&self) -> Done {
        self.confirm(Mood::Declines, "declined").await
    }

    pub(super) async fn cancel(&self) -> Done {
        self.confirm(Mood::Cancels, "cancelled").await
    }

    pub(super) async fn url(&self) -> Done {
        let asked = ["Please sign in"];
        self.asks("sign_in", json!({}), Mood::Agrees, &asked, "signed in")
            .await?;
        self.asks("sign_in", json!({}), Mood::Declines, &asked, "declined")
            .await
    }

    pub(super) async fn sampling(&self) -> Done {
        let story = json!({ "text": "a long story" });
        let wanted = "ensemble-1 says: short";
        self.asks("sum_up", story, Mood::Agrees, &["sampling"], wanted)
            .await
    }

    pub(super) async fn roots(&self) -> Done {
        let wanted = "file:///srv/one\nfile:///srv/two";
        self.asks("where", json!({}), Mood::Agrees, &["roots"], wanted)
            .await
    }

    pub(super) async fn together(&self) -> Done {
        let asked = ["When?", "Who travels?"];
        self.asks("trip", json!({}), Mood::Agrees, &asked, "Ada on 2026-07-28")
            .await
    }

    pub(super) async fn rounds(&self) -> Done {
        let asked = [
            "Question 1?",
            "You said a. Question 2?",
            "You said b. Question 3?",
        ];
        self.asks("quiz", json!({}), Mood::Agrees, &asked, "a / b / c")
            .await
    }

    pub(super) async fn state_only(&self) -> Done {
        if self.modern {
            match self.server.call_tool_once(call("wait", json!({}))).await? {
                CallToolResponse::InputRequired(first)
                    if first.request_state.is_some()
                        && first.input_requests.iter().flatten().next().is_none() => {}
                other => return Err(format!("it did not have us come back: {other:?}").into()),
            }
        }
        self.asks("wait", json!({}), Mood::Agrees, &[], "ready")
            .await
    }

    pub(super) async fn prompt_asks(&self) -> Done {
        self.user.is(Mood::Agrees);
        let letter = GetPromptRequestParams::new("letter");
        let letter = self.server.get_prompt(letter).await?;
        same(message(&letter), Some("Dear Ada"))?;
        self.was_asked(&["To whom?"])
    }

    pub(super) async fn template_asks(&self) -> Done {
        self.user.is(Mood::Agrees);
        same(
            self.contents("report://7").await?.as_str(),
            "report 7 for Ada",
        )?;
        self.was_asked(&["For whom is report 7?"])
    }
}
