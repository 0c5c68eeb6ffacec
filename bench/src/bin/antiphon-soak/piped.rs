//! [`Piped`]: a client of either era on pipes, which it shares with others.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::time::sleep;

use crate::{
    lane::Guest,
    message::{
        Done, FOR_EVER_MS, Failure, NOTE, answer, expect, expect_refused_state, expect_text,
        initialize, modern, notification, older, says, tool,
    },
    modern::{ending, retry},
    pipe::{Pipe, Talk},
    random::Random,
};

#[derive(Clone, Copy, Debug)]
pub(crate) enum Flow {
    Echo,
    List,
    /// The user agrees.
    Confirm,
    /// The question is never answered: cancelled, where the call waits for it.
    Abandon,
    /// The state is changed.
    Forge,
    /// A call that is cancelled.
    Cancel,
    /// A call that tells how far it is.
    Count,
    /// One that is cancelled while it does.
    CancelCounting,
    /// A subscription that is cancelled.
    Listen,
    Malformed,
}

/// How often each is run with a server of 2026-07-28, in which no call waits for its user.
const MODERN: &[(Flow, usize)] = &[
    (Flow::Echo, 50),
    (Flow::List, 4),
    (Flow::Confirm, 16),
    (Flow::Abandon, 6),
    (Flow::Forge, 2),
    (Flow::Cancel, 8),
    (Flow::Count, 4),
    (Flow::CancelCounting, 4),
    (Flow::Listen, 3),
    (Flow::Malformed, 3),
];

/// And with one of 2025-11-25, which has neither states nor such subscriptions.
const OLDER: &[(Flow, usize)] = &[
    (Flow::Echo, 50),
    (Flow::List, 4),
    (Flow::Confirm, 16),
    (Flow::Abandon, 6),
    (Flow::Cancel, 8),
    (Flow::Count, 4),
    (Flow::CancelCounting, 4),
    (Flow::Malformed, 3),
];

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Era {
    Modern,
    Older,
}

pub(crate) struct Piped {
    pipe: Arc<Pipe>,
    era: Era,
    id: u64,
    random: Random,
}

impl Guest for Piped {
    type Flow = Flow;

    fn flows(&self) -> &'static [(Flow, usize)] {
        match self.era {
            Era::Modern => MODERN,
            Era::Older => OLDER,
        }
    }

    async fn run(&mut self, flow: Flow) -> Done {
        self.id += 1;
        match flow {
            Flow::Echo => self.echo().await?,
            Flow::List => self.list().await?,
            Flow::Confirm => self.confirm().await?,
            Flow::Abandon => self.abandon().await?,
            Flow::Forge => self.forge().await?,
            Flow::Cancel => self.cancel().await?,
            Flow::Count => self.count().await?,
            Flow::CancelCounting => self.cancel_counting().await?,
            Flow::Listen => self.listen().await?,
            Flow::Malformed => self.malformed().await?,
        }
        self.pipe.check()
    }
}

/// Greets the server as a client of 2025-11-25.
pub(crate) async fn greet(pipe: &Pipe) -> Done {
    let greeted = pipe.ask(&initialize()).await?.next().await?;
    let version = &greeted["result"]["protocolVersion"];
    expect(version == "2025-11-25", "revision 2025-11-25", &greeted)?;
    let ready = notification("notifications/initialized", &json!({}));
    pipe.say(&ready.to_string()).await
}

impl Piped {
    pub(crate) fn new(pipe: Arc<Pipe>, era: Era, number: u64) -> Self {
        Self {
            pipe,
            era,
            id: number << 32,
            random: Random(number),
        }
    }

    async fn echo(&mut self) -> Done {
        let text = format!("{} {}", self.id, "x".repeat(self.random.below(4000)));
        let answer = self.call("echo", &json!({"text": text})).await?;
        expect_text(&answer, &text)
    }

    async fn list(&mut self) -> Done {
        let list = self.message("tools/list", json!({}));
        let answer = self.pipe.ask(&list).await?.next().await?;
        let tools = answer["result"]["tools"].as_array().map_or(0, Vec::len);
        expect(tools == 6, "6 tools", &answer)
    }

    async fn confirm(&mut self) -> Done {
        let action = format!("deploy {}", self.id);
        let (asked, mut talk) = self.confirming(&action).await?;
        let ended = match self.era {
            Era::Modern => {
                let params = retry(&action, 0, state(&asked)?, true);
                drop(talk);
                self.again(params).await?
            }
            Era::Older => {
                let said = answer(&asked, &says(true));
                self.pipe.say(&said.to_string()).await?;
                talk.next().await?
            }
        };
        expect_text(&ended, &ending(&action, true))
    }

    async fn abandon(&mut self) -> Done {
        let (_, talk) = self.confirming(&format!("deploy {}", self.id)).await?;
        match self.era {
            Era::Modern => Ok(()),
            Era::Older => self.cancelled(talk).await,
        }
    }

    async fn forge(&mut self) -> Done {
        let action = format!("deploy {}", self.id);
        let (asked, talk) = self.confirming(&action).await?;
        drop(talk);
        let state = state(&asked)?;
        let at = state.len() / 2;
        let forged = format!("{}{}", &state[..at], "A".repeat(state.len() - at));
        expect_refused_state(&self.again(retry(&action, 0, &forged, true)).await?)
    }

    async fn cancel(&mut self) -> Done {
        let params = tool("slow", &json!({"ms": FOR_EVER_MS}));
        let slow = self.message("tools/call", params);
        let talk = self.pipe.ask(&slow).await?;
        sleep(Duration::from_millis(self.random.below(10) as u64)).await;
        self.cancelled(talk).await
    }

    async fn count(&mut self) -> Done {
        let params = tool("count", &json!({"to": 5, "ms": 1}));
        let counting = self.message("tools/call", params);
        let mut talk = self.pipe.ask(&counting).await?;
        for step in 1..=5 {
            let event = talk.next().await?;
            let at = &event["params"]["progress"];
            expect(at == step, format_args!("progress {step}"), &event)?;
        }
        expect_text(&talk.next().await?, "counted 5")
    }

    async fn cancel_counting(&mut self) -> Done {
        let params = tool("count", &json!({"to": 1_000_000, "ms": 1}));
        let counting = self.message("tools/call", params);
        let mut talk = self.pipe.ask(&counting).await?;
        for _ in 0..3 {
            let event = talk.next().await?;
            let method = &event["method"];
            expect(method == "notifications/progress", "progress", &event)?;
        }
        self.cancelled(talk).await
    }

    async fn listen(&mut self) -> Done {
        let params = json!({"notifications": {"resourceSubscriptions": [NOTE]}});
        let listen = self.message("subscriptions/listen", params);
        let mut talk = self.pipe.ask(&listen).await?;
        let first = talk.next().await?;
        let method = &first["method"];
        let acknowledged = method == "notifications/subscriptions/acknowledged";
        expect(acknowledged, "an acknowledged subscription", &first)?;
        let listening = self.id;
        self.id += 1;
        let touched = self.call("touch", &json!({})).await?;
        expect_text(&touched, "touched")?;
        let update = talk.next().await?;
        let updated = update["method"] == "notifications/resources/updated";
        expect(updated, "an update", &update)?;
        self.cancel_request(listening, talk).await
    }

    async fn malformed(&mut self) -> Done {
        let before = self.pipe.unread();
        self.pipe.say(r#"{"jsonrpc":"2.0","id":1,"#).await?;
        while self.pipe.unread() == before {
            sleep(Duration::from_millis(1)).await;
        }
        Ok(())
    }

    /// Calls `confirm`, and is asked.
    async fn confirming(&self, action: &str) -> Result<(Value, Talk), Failure> {
        let params = tool("confirm", &json!({"action": action, "ms": 0}));
        let call = self.message("tools/call", params);
        let mut talk = self.pipe.ask(&call).await?;
        let asked = talk.next().await?;
        let question = match self.era {
            Era::Modern => &asked["result"]["inputRequests"]["confirm"]["params"],
            Era::Older => &asked["params"],
        };
        let right = question["message"] == format!("Run {action}?");
        expect(right, "a question", &asked)?;
        Ok((asked, talk))
    }

    async fn call(&self, name: &str, arguments: &Value) -> Result<Value, Failure> {
        let call = self.message("tools/call", tool(name, arguments));
        self.pipe.ask(&call).await?.next().await
    }

    async fn again(&mut self, params: Value) -> Result<Value, Failure> {
        self.id += 1;
        let call = self.message("tools/call", params);
        self.pipe.ask(&call).await?.next().await
    }

    /// Cancels the last request.
    async fn cancelled(&self, talk: Talk) -> Done {
        self.cancel_request(self.id, talk).await
    }

    /// Cancels a request, which is not answered then.
    async fn cancel_request(&self, id: u64, talk: Talk) -> Done {
        let cancelled = notification("notifications/cancelled", &json!({"requestId": id}));
        self.pipe.say(&cancelled.to_string()).await?;
        drop(talk);
        Ok(())
    }

    fn message(&self, method: &str, params: Value) -> Value {
        match self.era {
            Era::Modern => modern(self.id, method, params),
            Era::Older => older(self.id, method, params),
        }
    }
}

fn state(asked: &Value) -> Result<&str, Failure> {
    let state = asked["result"]["requestState"].as_str();
    state.ok_or_else(|| format!("no state in {asked}").into())
}
