//! Handlers that do something twice, or whose steps are not the same each time.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, OnceLock},
    time::{Duration, SystemTime},
};

use antiphon::{Ask, Server, State, Stop, testing::Script};
use serde_json::json;

use super::{Confirm, Counter, Name, says, told};

/// What handlers have at hand.
#[derive(Clone, Default)]
struct Shop {
    /// Of all instances.
    charges: Counter,
    seen: Arc<Mutex<BTreeSet<String>>>,
    /// Of one instance.
    runs: Counter,
    token: Arc<OnceLock<String>>,
}

fn people() -> Script {
    Script::new()
        .accept("name", json!({ "name": "Ada" }))
        .accept("confirm", json!({ "confirm": true }))
        .optional()
}

async fn found(tool: impl Fn(Server<Shop>) -> Server<Shop> + Send + Sync + 'static) -> String {
    let shop = Shop::default();
    let charges = shop.charges.clone();
    told(async move {
        people()
            .rehearse(move |sealing| {
                let instance = Shop {
                    charges: shop.charges.clone(),
                    seen: shop.seen.clone(),
                    ..Shop::default()
                };
                let server = tool(Server::new("bad", "1.0"));
                server.sealing(sealing).with_state(instance)
            })
            .effects(move || charges.get())
            .call_tool("bad", ())
            .await
    })
    .await
}

const EFFECT: &str = "something was done outside `once` before a question, and so it is done each \
                      time the handler runs: the effects changed by +1 once more";

#[tokio::test]
async fn an_effect_before_the_first_question() {
    async fn bad(State(shop): State<Shop>, ask: Ask) -> Result<String, Stop> {
        shop.charges.up();
        let Name { name } = ask.form("name", "Name?")?;
        Ok(name)
    }
    let rule = "\"Effects after the last question, or in `once`\"";
    let leg = "found by a rehearsal (RunAgain) in leg 1";
    says(&found(|it| it.tool("bad", bad)).await, &[EFFECT, leg, rule]);
}

#[tokio::test]
async fn an_effect_between_two_questions() {
    async fn bad(State(shop): State<Shop>, ask: Ask) -> Result<String, Stop> {
        let Name { name } = ask.form("name", "Name?")?;
        shop.charges.up();
        let Confirm { .. } = ask.form("confirm", "Sure?")?;
        Ok(name)
    }
    let leg = "found by a rehearsal (RunAgain) in leg 2, run once more, on an instance that knew \
               nothing of it";
    says(&found(|it| it.tool("bad", bad)).await, &[EFFECT, leg]);
}

/// In the last run anything may be done, but not more of it than in a smooth play.
#[tokio::test]
async fn more_effects_than_in_a_smooth_play() {
    async fn bad(State(shop): State<Shop>, ask: Ask) -> Result<String, Stop> {
        let Name { name } = ask.form("name", "Name?")?;
        if shop.runs.get() == 0 {
            shop.charges.up();
        }
        shop.runs.up();
        Ok(name)
    }
    let shop = Shop::default();
    let charges = shop.charges.clone();
    let told = told(async move {
        people()
            .rehearse(move |sealing| {
                // The first instance has run before.
                let runs = Counter::default();
                if shop.runs.up() == 1 {
                    runs.up();
                }
                let charges = shop.charges.clone();
                let instance = Shop {
                    runs,
                    charges,
                    ..Shop::default()
                };
                let server = Server::new("bad", "1.0").tool("bad", bad);
                server.sealing(sealing).with_state(instance)
            })
            .effects(move || charges.get())
            .call_tool("bad", ())
            .await
    });
    says(
        &told.await,
        &[
            "the effects of the whole call changed by +1, where those of the smooth play changed by \
             nothing",
            "found by a rehearsal (Elsewhere)",
        ],
    );
}

const OTHER_KEY: &str = "the key of a step of `once` is another one each time: it is `charge-";

#[tokio::test]
async fn a_key_of_once_from_a_counter() {
    async fn bad(State(shop): State<Shop>, ask: Ask) -> Result<String, Stop> {
        let Name { name } = ask.form("name", "Name?")?;
        let key = format!("charge-{}", shop.seen.lock().expect("nobody panics").len());
        let seen = &shop.seen;
        seen.lock().expect("nobody panics").insert(key.clone());
        let number: u32 = ask.once(&key, async || Ok(shop.charges.up())).await?;
        let Confirm { .. } = ask.form("confirm", format!("Number {number}?"))?;
        Ok(name)
    }
    // Also alone the question drifts, since each run does the work.
    says(
        &found(|it| it.tool("bad", bad)).await,
        &["`confirm`", "another one"],
    );

    async fn quiet(State(shop): State<Shop>, ask: Ask) -> Result<String, Stop> {
        let Name { name } = ask.form("name", "Name?")?;
        let key = format!("charge-{}", shop.charges.get());
        let _: u32 = ask.once(&key, async || Ok(shop.charges.up())).await?;
        Ok(name)
    }
    let rule = "\"The same steps under the same keys\"";
    let leg = "found by a rehearsal (Elsewhere) in leg 2";
    says(
        &found(|it| it.tool("bad", quiet)).await,
        &[OTHER_KEY, leg, rule],
    );
}

#[tokio::test]
async fn a_key_of_once_from_the_time() {
    async fn bad(State(shop): State<Shop>, ask: Ask) -> Result<String, Stop> {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?;
        let key = format!("charge-{}", now.as_nanos());
        let _: u32 = ask.once(&key, async || Ok(shop.charges.up())).await?;
        let Name { name } = ask.form("name", "Name?")?;
        Ok(name)
    }
    let leg = "found by a rehearsal (Elsewhere) in leg 1";
    says(
        &found(|it| it.tool("bad", bad)).await,
        &[OTHER_KEY, " now and was `charge-", leg],
    );
}

/// Its key is another one only if somebody else ran meanwhile.
#[tokio::test]
async fn a_key_of_once_that_another_run_changes() {
    async fn bad(State(shop): State<Shop>, ask: Ask) -> Result<String, Stop> {
        let Name { name } = ask.form("name", "Name?")?;
        let flow = ask.idempotency_key("flow");
        let run = {
            let mut seen = shop.seen.lock().expect("nobody panics");
            let run = seen.iter().filter(|it| it.starts_with(&flow)).count();
            seen.insert(format!("{flow}-{run}"));
            run
        };
        let key = format!("charge-{}", if run == 1 { "again" } else { "first" });
        let _: u32 = ask.once(&key, async || Ok(shop.charges.up())).await?;
        let Confirm { .. } = ask.form("confirm", "Sure?")?;
        Ok(name)
    }
    let told = found(|it| it.tool("bad", bad)).await;
    // The smooth play has done both, one in each of its runs.
    says(
        &told,
        &[
            "the key of a step of `once` is another one each time: it is `charge-again` now and was \
             `charge-first`, so its work is done again",
            "found by a rehearsal (RunAgain) in leg 2",
        ],
    );
}

#[tokio::test]
async fn what_came_of_once_is_kept_in_the_instance() {
    async fn bad(State(shop): State<Shop>, ask: Ask) -> Result<String, Stop> {
        let () = ask
            .once("token", async || {
                _ = shop.token.set("secret".to_owned());
                Ok(())
            })
            .await?;
        let Name { name } = ask.form("name", "Name?")?;
        let token = shop.token.get();
        let token = token.ok_or_else(|| Stop::fail("there is no token"))?;
        Ok(format!("{name} with {token}"))
    }
    says(
        &found(|it| it.tool("bad", bad)).await,
        &[
            "the call failed with the tool error \"there is no token\"",
            "found by a rehearsal (Elsewhere) in leg 2",
            "a result of `once`",
        ],
    );
}

#[tokio::test]
async fn a_step_that_an_instance_takes_the_first_time_only() {
    async fn bad(State(shop): State<Shop>, ask: Ask) -> Result<String, Stop> {
        if shop.runs.up() == 1 {
            let () = ask.once("audit", async || Ok(())).await?;
        }
        let Name { name } = ask.form("name", "Name?")?;
        Ok(name)
    }
    says(
        &found(|it| it.tool("bad", bad)).await,
        &[
            "the handler took the step `audit` of `once`, which it had not taken here before",
            "found by a rehearsal (Elsewhere) in leg 2",
            "`once` knows by itself what was done",
        ],
    );
}

#[tokio::test]
async fn a_step_that_is_skipped_when_it_runs_again() {
    async fn bad(State(shop): State<Shop>, ask: Ask) -> Result<String, Stop> {
        let Name { name } = ask.form("name", "Name?")?;
        let flow = ask.idempotency_key("charge");
        let is_new = shop.seen.lock().expect("nobody panics").insert(flow);
        if is_new {
            let _: u32 = ask.once("charge", async || Ok(shop.charges.up())).await?;
        }
        let Confirm { .. } = ask.form("confirm", "Sure?")?;
        Ok(name)
    }
    says(
        &found(|it| it.tool("bad", bad)).await,
        &[
            "the handler skipped the step `charge` of `once`, which it had taken here before",
            "found by a rehearsal (RunAgain) in leg 2",
        ],
    );
}

#[tokio::test]
async fn a_question_after_work_that_was_left() {
    async fn bad(ask: Ask) -> Result<String, Stop> {
        let Name { name } = ask.form("name", "Name?")?;
        let work = ask.once("work", async || {
            tokio::time::sleep(Duration::from_secs(60)).await;
            Ok(1)
        });
        let waited = tokio::time::timeout(Duration::from_millis(1), work).await;
        assert!(waited.is_err(), "it takes longer");
        let Confirm { .. } = ask.form("confirm", "Go on without?")?;
        Ok(name)
    }
    says(
        &found(|it| it.tool("bad", bad)).await,
        &["the work of `once` under `work` was begun and left"],
    );
}
