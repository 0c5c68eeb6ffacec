//! What handlers ask, asked of older clients (wire.md 11).

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use antiphon::{
    Answer, Ask, Call, Form, Messages, Sample, Server, Stop,
    legacy::Shim,
    link::Handle,
    sealing::{AskLimits, Sealing},
    types::{ElicitRequestParams, InputRequired},
};
use antiphon_tests::{
    behaviours,
    log::Log,
    older::{Older, REVISIONS, accept, everything, never},
    wire::Wire,
};
use serde_json::{Value, json};

#[derive(Form)]
struct Confirm {
    approve: bool,
}

#[derive(Form)]
struct Name {
    name: String,
}

fn desk() -> Server {
    Server::new("desk", "1.0")
        .tool("confirm", async |ask: Ask| -> Result<&'static str, Stop> {
            Ok(match ask.form("confirm", "Go?")? {
                Answer::Accept(Confirm { approve: true }) => "gone",
                Answer::Accept(_) => "stayed",
                Answer::Decline => "declined",
                Answer::Cancel => "cancelled",
            })
        })
        .tool("two", async |ask: Ask| -> Result<String, Stop> {
            let (one, other) = (
                ask.form::<Name>("one", "One?"),
                ask.form::<Name>("other", "Other?"),
            );
            let (one, other) = (one?, other?);
            let Name { name } =
                ask.form("more", format!("After {} and {}?", one.name, other.name))?;
            Ok(format!("{} {} {name}", one.name, other.name))
        })
        .tool("sample", async |ask: Ask| -> Result<String, Stop> {
            let message = ask.sample("words", Sample::user("Say", 10))?;
            Ok(serde_json::to_string(&message.content)?)
        })
        .tool("roots", async |ask: Ask| -> Result<String, Stop> {
            let roots = ask.roots("roots")?;
            Ok(roots
                .iter()
                .map(|root| root.uri.as_str())
                .collect::<Vec<_>>()
                .join(" "))
        })
        .prompt("brief", async |ask: Ask| -> Result<Messages, Stop> {
            let Name { name } = ask.form("who", "For whom?")?;
            Ok(Messages::new().user(format!("For {name}")))
        })
}

fn text(response: &Value) -> &str {
    response["result"]["content"][0]["text"]
        .as_str()
        .unwrap_or_else(|| panic!("{response}"))
}

behaviours! {
    /// SHIM-S-01, SHIM-S-04: the four things a user can do, in the revisions that have forms.
    async fn a_form_is_pushed_and_the_handler_goes_on(way: Wire) {
        for version in ["2025-11-25", "2025-06-18"] {
            let mut older = Older::open(way, desk(), version).await;
            for (answer, outcome) in [
                (accept(json!({"approve": true})), "gone"),
                (accept(json!({"approve": false})), "stayed"),
                (Ok(json!({"action": "decline"})), "declined"),
                (Ok(json!({"action": "cancel"})), "cancelled"),
                // SHIM-S-06: an elicitation that fails was not answered.
                (
                    Err(json!({"code": -1, "message": "User rejected"})),
                    "cancelled",
                ),
            ] {
                let (said, response) = older.call("confirm", json!({}), |_| answer.clone()).await;
                assert_eq!(text(&response), outcome);
                let [asked] = &said[..] else {
                    panic!("{said:?}")
                };
                assert_eq!(asked["method"], "elicitation/create");
                assert_eq!(asked["params"]["message"], "Go?");
                assert_eq!(
                    asked["params"]["requestedSchema"]["properties"]["approve"]["type"],
                    "boolean"
                );
                let has_mode = asked["params"].get("mode").is_some();
                assert_eq!(has_mode, version == "2025-11-25", "{asked}");
            }
        }
    }

    /// Several questions of a round are out at once, later rounds come later; ids do not repeat.
    async fn the_questions_of_a_round_leave_together(way: Wire) {
        let mut older = Older::open(way, desk(), "2025-11-25").await;
        let id = older.begin("tools/call", json!({"name": "two"})).await;
        let (one, other) = (older.hear().await, older.hear().await);
        let reply = |asked: &Value, name: &str| {
            json!({"jsonrpc": "2.0", "id": asked["id"],
                "result": {"action": "accept", "content": {"name": name}}})
        };
        // In another order than they came.
        older.say(&reply(&other, "b")).await;
        older.say(&reply(&one, "a")).await;
        let more = older.hear().await;
        assert_eq!(more["params"]["message"], "After a and b?");
        assert!(more["id"] != one["id"] && more["id"] != other["id"]);
        older.say(&reply(&more, "c")).await;
        let response = older.hear().await;
        assert_eq!((&response["id"], text(&response)), (&json!(id), "a b c"));
    }

    async fn or_one_after_the_other(way: Wire) {
        let server = desk().shim(Shim::new().one_at_a_time());
        let mut older = Older::open(way, server, "2025-11-25").await;
        older.begin("tools/call", json!({"name": "two"})).await;
        let one = older.hear().await;
        assert_eq!(one["params"]["message"], "One?");
        assert_eq!(older.hear_at_once().await, None);
        let result = json!({"action": "accept", "content": {"name": "a"}});
        older
            .say(&json!({"jsonrpc": "2.0", "id": one["id"], "result": result}))
            .await;
        assert_eq!(older.hear().await["params"]["message"], "Other?");
    }

    async fn completions_and_roots_are_asked_for_in_every_revision(way: Wire) {
        for version in REVISIONS {
            let mut older = Older::open(way, desk(), version).await;
            let said =
                json!({"role": "assistant", "model": "m", "content": {"type": "text", "text": "Hi"}});
            let (asked, response) = older.call("sample", json!({}), |_| Ok(said.clone())).await;
            assert_eq!(asked[0]["method"], "sampling/createMessage");
            assert_eq!(asked[0]["params"]["maxTokens"], 10);
            assert!(text(&response).contains("Hi"), "{response}");
            let roots = json!({"roots": [{"uri": "file:///a"}, {"uri": "file:///b"}]});
            let (asked, response) = older.call("roots", json!({}), |_| Ok(roots.clone())).await;
            assert_eq!(asked[0]["method"], "roots/list");
            assert_eq!(text(&response), "file:///a file:///b");
        }
    }

    /// SHIM-S-06: what is no elicitation ends the call when it fails, and says so.
    async fn a_completion_that_fails_ends_the_call(way: Wire) {
        let mut older = Older::open(way, desk(), "2025-11-25").await;
        let refused = json!({"code": -1, "message": "User rejected sampling request"});
        let (_, response) = older
            .call("sample", json!({}), |_| Err(refused.clone()))
            .await;
        assert_eq!(response["result"]["isError"], true);
        assert!(
            text(&response).contains("User rejected sampling request"),
            "{response}"
        );
    }

    /// SHIM-S-02, SHIM-S-03: what was not declared, or is not in the revision, is not asked.
    async fn what_a_client_cannot_be_asked_is_a_tool_error(way: Wire) {
        let none = json!({});
        for (version, can, tool, names) in [
            ("2025-11-25", &none, "confirm", "elicitation.form"),
            ("2025-11-25", &none, "sample", "sampling"),
            ("2025-11-25", &none, "roots", "roots"),
            (
                "2025-11-25",
                &json!({"elicitation": {"url": {}}}),
                "confirm",
                "elicitation.form",
            ),
            ("2025-03-26", &everything(), "confirm", "elicitation.form"),
            ("2024-11-05", &everything(), "confirm", "elicitation.form"),
        ] {
            let mut older = Older::open_as(way, desk(), version, can).await;
            let (_, response) = older.call(tool, json!({}), never).await;
            assert_eq!(response["result"]["isError"], true, "{response}");
            assert!(text(&response).contains(names), "{response}");
        }
        // A prompt has no result to say it in.
        let mut older = Older::open_as(way, desk(), "2025-11-25", &none).await;
        let response = older.ask("prompts/get", json!({"name": "brief"})).await;
        assert_eq!(response["error"]["code"], -32603, "{response}");
        let message = response["error"]["message"].as_str().expect("a text");
        assert!(message.contains("elicitation.form"), "{message}");
    }

    /// All that is missing is named, not just what is missing first.
    async fn all_that_a_client_lacks_is_named(way: Wire) {
        let server: Server = Server::new("desk", "1.0").tool("much", async |ask: Ask| {
            let name = ask.form::<Name>("name", "Name?");
            let words = ask.sample("words", Sample::user("Say", 10));
            let roots = ask.roots("roots");
            let (Name { name }, _, _) = (name?, words?, roots?);
            Ok::<_, Stop>(name)
        });
        let some = json!({"sampling": {}});
        for (can, lacks) in [(json!({}), 3), (some, 2)] {
            let mut older = Older::open_as(way, server.clone(), "2025-11-25", &can).await;
            let (_, response) = older.call("much", json!({}), never).await;
            assert_eq!(response["result"]["isError"], true, "{response}");
            let told = text(&response);
            let named = ["elicitation.form", "roots", "sampling"];
            let named = named.into_iter().filter(|name| told.contains(name));
            assert_eq!(named.count(), lacks, "{told}");
        }
    }

    async fn prompts_ask_as_well(way: Wire) {
        let mut older = Older::open(way, desk(), "2025-06-18").await;
        let id = older.begin("prompts/get", json!({"name": "brief"})).await;
        let (_, response) = older.finish(id, |_| accept(json!({"name": "Ada"}))).await;
        assert_eq!(
            response["result"]["messages"][0]["content"]["text"],
            "For Ada"
        );
    }

    /// elsewhere.md: a client of an older revision cannot bring answers along, nor a state.
    async fn answers_cannot_be_brought_along(way: Wire) {
        let mut older = Older::open(way, desk(), "2025-11-25").await;
        let params = json!({
            "name": "confirm",
            "inputResponses": {"confirm": {"action": "accept", "content": {"approve": true}}},
            "requestState": "x",
        });
        let id = older.begin("tools/call", params).await;
        let (said, response) = older.finish(id, |_| Ok(json!({"action": "decline"}))).await;
        assert_eq!((said.len(), text(&response)), (1, "declined"));
    }

    /// Not even with a state that this very server has sealed for this very call.
    async fn nor_with_a_state_of_the_newer_revision(way: Wire) {
        let mut older = Older::open(way, desk(), "2025-11-25").await;
        older
            .say(&antiphon_tests::call(900, "confirm", json!({})))
            .await;
        let asked = older.hear().await;
        let state = asked["result"]["requestState"].as_str().expect("a state");
        let params = json!({
            "name": "confirm",
            "arguments": {},
            "inputResponses": {"confirm": {"action": "accept", "content": {"approve": true}}},
            "requestState": state,
        });
        let id = older.begin("tools/call", params).await;
        let (said, response) = older.finish(id, |_| Ok(json!({"action": "decline"}))).await;
        assert_eq!((said.len(), text(&response)), (1, "declined"));
    }

    /// A link has an id of its own, and the client hears when it has done its work (LFEAT-S-06,
    /// LFEAT-S-07).
    async fn a_link_is_known_by_an_id_and_completed(way: Wire) {
        let looked = Arc::new(AtomicUsize::new(0));
        let counted = looked.clone();
        let server: Server = Server::new("bank", "1.0").tool("pay", move |ask: Ask| {
            let counted = counted.clone();
            async move {
                let link = |handle: &Handle| format!("https://bank.example/{handle}");
                // Done at the third look.
                let paid = ask.url("pay", "Pay", link, |_| {
                    (counted.fetch_add(1, Ordering::SeqCst) >= 2).then_some(7)
                })?;
                Ok::<_, Stop>(format!("paid {paid}"))
            }
        });
        let mut older = Older::open(way, server, "2025-11-25").await;
        let (said, response) = older
            .call("pay", json!({}), |_| Ok(json!({"action": "accept"})))
            .await;
        assert_eq!(text(&response), "paid 7");
        let [asked, completed] = &said[..] else {
            panic!("{said:?}")
        };
        assert_eq!(asked["params"]["mode"], "url");
        let id = asked["params"]["elicitationId"].as_str().expect("an id");
        assert!(id.len() >= 32, "{id}");
        assert_eq!(completed["method"], "notifications/elicitation/complete");
        assert_eq!(completed["params"]["elicitationId"], id);
    }

    /// Who asks by hand, as the newer revision has it, need not think of the id.
    async fn a_link_that_is_asked_by_hand_has_an_id_too(way: Wire) {
        let server: Server = Server::new("bank", "1.0").tool("pay", async |call: Call| {
            if let Some(answer) = call.responses().elicit("pay").given() {
                return Ok(format!("{:?}", answer.action));
            }
            let link = ElicitRequestParams::url("Pay", "https://bank.example/");
            Err(Stop::ask(InputRequired::ask("pay", link)))
        });
        let mut older = Older::open(way, server, "2025-11-25").await;
        let (said, response) = older
            .call("pay", json!({}), |_| Ok(json!({"action": "accept"})))
            .await;
        assert_eq!(text(&response), "Accept");
        assert_eq!(said[0]["params"]["mode"], "url");
        let id = said[0]["params"]["elicitationId"].as_str();
        assert!(id.is_some_and(|id| id.len() >= 32), "{said:?}");
    }

    async fn a_link_that_is_not_opened_is_not_completed(way: Wire) {
        let server: Server = Server::new("bank", "1.0").tool("pay", async move |ask: Ask| {
            let link = |handle: &Handle| format!("https://bank.example/{handle}");
            let paid = Answer::of(ask.url("pay", "Pay", link, |_| None::<u8>))?;
            Ok::<_, Stop>(format!("{paid:?}"))
        });
        let mut older = Older::open(way, server, "2025-11-25").await;
        let (said, response) = older
            .call("pay", json!({}), |_| Ok(json!({"action": "decline"})))
            .await;
        assert_eq!((said.len(), text(&response)), (1, "Decline"));
    }

    /// SHIM-S-08: a handler that only wants to be run again is.
    async fn who_asks_nothing_is_run_again(way: Wire) {
        let runs = Arc::new(AtomicUsize::new(0));
        let counted = runs.clone();
        let server: Server = Server::new("desk", "1.0").tool("later", move |ask: Ask| {
            let counted = counted.clone();
            async move {
                if counted.fetch_add(1, Ordering::SeqCst) < 3 {
                    ask.later(Duration::from_millis(1))?;
                }
                Ok::<_, Stop>("done")
            }
        });
        let mut older = Older::open(way, server, "2025-06-18").await;
        let (said, response) = older.call("later", json!({}), never).await;
        assert_eq!((said.len(), text(&response)), (0, "done"));
        assert_eq!(runs.load(Ordering::SeqCst), 4);
    }

    async fn but_not_for_ever(way: Wire) {
        let server: Server = Server::new("desk", "1.0")
            .tool("later", async |ask: Ask| {
                ask.later(Duration::from_millis(1)).map(|()| "done")
            })
            .shim(Shim::new().poll_timeout(Duration::from_millis(200)));
        let mut older = Older::open(way, server, "2025-06-18").await;
        let (_, response) = older.call("later", json!({}), never).await;
        assert_eq!(response["result"]["isError"], true);
    }

    /// SHIM-S-07: 32 rounds, unless told.
    async fn a_call_asks_in_so_many_rounds(way: Wire) {
        let endless = || {
            Server::<()>::new("desk", "1.0").tool("endless", async |call: Call| {
                let round: u64 = call.request_state()?.unwrap_or(0);
                let asked =
                    InputRequired::ask(format!("q{round}"), antiphon::types::InputRequest::roots());
                Err::<String, Stop>(Stop::ask(asked.carrying(&(round + 1))?))
            })
        };
        let roots = |_: &Value| Ok(json!({"roots": []}));
        for (server, rounds) in [
            (endless().shim(Shim::new().rounds(3)), 3),
            (
                endless().sealing(Sealing::process_key().ask_limits(AskLimits::new().rounds(100))),
                32,
            ),
        ] {
            let mut older = Older::open(way, server, "2025-11-25").await;
            let (said, response) = older.call("endless", json!({}), roots).await;
            assert_eq!(
                (said.len(), &response["result"]["isError"]),
                (rounds, &json!(true))
            );
        }
    }

    /// What is answered in the last round allowed is not thrown away.
    async fn the_last_round_allowed_counts(way: Wire) {
        let server = Server::<()>::new("desk", "1.0")
            .tool("three", async |ask: Ask| {
                let mut names = String::new();
                for key in ["a", "b", "c"] {
                    let Name { name } = ask.form(key, format!("After {names}?"))?;
                    names += &name;
                }
                Ok::<_, Stop>(names)
            })
            .shim(Shim::new().rounds(3));
        let mut older = Older::open(way, server, "2025-11-25").await;
        let (said, response) = older
            .call("three", json!({}), |_| accept(json!({"name": "x"})))
            .await;
        assert_eq!((said.len(), text(&response)), (3, "xxx"));
    }

    /// The loud way to serve older clients without asking them.
    async fn without_the_shim_a_call_that_asks_is_an_error(way: Wire) {
        let mut older = Older::open(way, desk().legacy_shim(false), "2025-11-25").await;
        let (_, response) = older.call("confirm", json!({}), never).await;
        assert_eq!(response["error"]["code"], -32603);
        let message = response["error"]["message"].as_str().expect("a text");
        assert!(message.contains("2026-07-28"), "{message}");
    }

    /// What waits in the middle of a handler, for clients that can be asked like that.
    async fn code_for_older_clients_can_wait(way: Wire) {
        let server = || {
            Server::<()>::new("desk", "1.0")
                .tool("elicit", async |call: Call| -> Result<String, Stop> {
                    Ok(match call.elicit::<Name>("Who?").await? {
                        Answer::Accept(Name { name }) => name,
                        other => format!("{:?}", other.accepted().map(|name| name.name)),
                    })
                })
                .tool("sample", async |call: Call| -> Result<String, Stop> {
                    Ok(call.sample(Sample::user("Say", 10)).await?.model)
                })
                .tool("roots", async |call: Call| -> Result<String, Stop> {
                    Ok(call.roots().await?.len().to_string())
                })
        };
        let mut older = Older::open(way, server(), "2025-06-18").await;
        let (said, response) = older
            .call("elicit", json!({}), |_| accept(json!({"name": "Ada"})))
            .await;
        assert_eq!((said.len(), text(&response)), (1, "Ada"));
        let (_, response) = older
            .call("elicit", json!({}), |_| accept(json!({"name": 7})))
            .await;
        assert_eq!(response["result"]["isError"], true);
        let said =
            json!({"role": "assistant", "model": "m", "content": {"type": "text", "text": "Hi"}});
        let (_, response) = older.call("sample", json!({}), |_| Ok(said.clone())).await;
        assert_eq!(text(&response), "m");
        let (_, response) = older
            .call("roots", json!({}), |_| Ok(json!({"roots": []})))
            .await;
        assert_eq!(text(&response), "0");
        // Undeclared, and modern: a clear error.
        let mut older = Older::open_as(way, server(), "2025-11-25", &json!({})).await;
        for tool in ["elicit", "sample", "roots"] {
            let (_, response) = older.call(tool, json!({}), never).await;
            assert_eq!(response["result"]["isError"], true);
            assert!(text(&response).contains("did not declare"), "{response}");
        }
        older
            .say(&antiphon_tests::call(900, "elicit", json!({})))
            .await;
        let response = older.hear().await;
        assert_eq!(response["result"]["isError"], true);
        assert!(text(&response).contains("ask with `Ask`"), "{response}");
    }
}

/// A server's owner finds out why calls fail that asked nobody.
#[tokio::test]
async fn that_older_clients_are_not_asked_is_in_the_log() {
    let (log, _guard) = Log::of_everything();
    let said = |log: &Log| {
        let text = log.text();
        let mut lines = text.lines();
        lines
            .find(|line| line.contains("legacy_shim(false)"))
            .map(str::to_owned)
    };
    let mut asked = Older::open(Wire::Memory, desk(), "2025-11-25").await;
    let approve = |_: &Value| accept(json!({"approve": true}));
    asked.call("confirm", json!({}), approve).await;
    assert_eq!(said(&log), None);
    let unasked = desk().legacy_shim(false);
    let mut unasked = Older::open(Wire::Memory, unasked, "2025-11-25").await;
    unasked.call("confirm", json!({}), never).await;
    let line = said(&log).expect("a line of the log");
    for part in ["ERROR", r#"method="tools/call""#, r#"target="confirm""#] {
        assert!(line.contains(part), "{part}: {line}");
    }
}
