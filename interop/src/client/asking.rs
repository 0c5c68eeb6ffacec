//! Cases in which the user is asked.

use antiphon::client::{CallTool, Outcome};
use antiphon_interop::same;
use serde_json::{Value, json};

use crate::{
    Done, Grid,
    plain::message,
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
        same(&self.text(tool, arguments).await?.as_str(), &wanted)?;
        self.was_asked(questions)
    }

    fn was_asked(&self, questions: &[&str]) -> Done {
        let mut asked = self.user.asked();
        // What is asked at the same time has no order.
        asked.sort_unstable();
        same(&asked[..], questions)
    }

    pub(crate) async fn form(&self) -> Done {
        self.user.is(Mood::Agrees);
        let result = self.server.call_tool("order", ()).await?;
        same(&result.structured_content, &Some(order()))?;
        self.was_asked(&["Your order"])
    }

    async fn confirm(&self, mood: Mood, wanted: &str) -> Done {
        let deploy = json!({ "action": "deploy" });
        self.asks("confirm", deploy, mood, &["Run deploy?"], wanted)
            .await
    }

    pub(crate) async fn accept(&self) -> Done {
        self.confirm(Mood::Agrees, "done: deploy").await?;
        self.confirm(Mood::SaysNo, "refused").await
    }

    pub(crate) async fn decline(&self) -> Done {
        self.confirm(Mood::Declines, "declined").await
    }

    pub(crate) async fn cancel(&self) -> Done {
        self.confirm(Mood::Cancels, "cancelled").await
    }

    pub(crate) async fn url(&self) -> Done {
        let asked = ["Please sign in"];
        self.asks("sign_in", json!({}), Mood::Agrees, &asked, "signed in")
            .await?;
        self.asks("sign_in", json!({}), Mood::Declines, &asked, "declined")
            .await
    }

    pub(crate) async fn sampling(&self) -> Done {
        let story = json!({ "text": "a long story" });
        let asked = ["Sum up: a long story"];
        self.asks(
            "sum_up",
            story,
            Mood::Agrees,
            &asked,
            "ensemble-1 says: short",
        )
        .await
    }

    pub(crate) async fn roots(&self) -> Done {
        let wanted = "file:///srv/one\nfile:///srv/two";
        self.asks("where", json!({}), Mood::Agrees, &["roots"], wanted)
            .await
    }

    pub(crate) async fn together(&self) -> Done {
        let asked = ["When?", "Who travels?"];
        self.asks("trip", json!({}), Mood::Agrees, &asked, "Ada on 2026-07-28")
            .await
    }

    pub(crate) async fn rounds(&self) -> Done {
        let asked = [
            "Question 1?",
            "You said a. Question 2?",
            "You said b. Question 3?",
        ];
        self.asks("quiz", json!({}), Mood::Agrees, &asked, "a / b / c")
            .await
    }

    pub(crate) async fn state_only(&self) -> Done {
        if self.is_modern() {
            let first = self.server.start(CallTool::new("wait", ())).await?;
            if !matches!(first, Outcome::Later(_)) {
                return Err(format!("it did not have us come back: {first:?}").into());
            }
        }
        self.asks("wait", json!({}), Mood::Agrees, &[], "ready")
            .await
    }

    pub(crate) async fn prompt_asks(&self) -> Done {
        self.user.is(Mood::Agrees);
        let prompt = self.server.get_prompt("letter", ()).await?;
        same(&message(&prompt), &Some("Dear Ada"))?;
        self.was_asked(&["To whom?"])
    }

    pub(crate) async fn template_asks(&self) -> Done {
        self.user.is(Mood::Agrees);
        let read = self.server.read_resource("report://7").await?;
        same(&read.first_text(), &Some("report 7 for Ada"))?;
        self.was_asked(&["For whom is report 7?"])
    }
}
