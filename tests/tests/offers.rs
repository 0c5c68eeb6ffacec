//! What a server offers: lists, completions, templates, subscriptions, and changes while it runs.

use std::time::Duration;

use antiphon::{
    Args, Cached, Contents, Prefix, Prompt, Resource, Server, State, Tool,
    schemars::{self, JsonSchema},
    types::{self, CacheScope},
};
use antiphon_tests::{request, wire::Connection};
use serde::Deserialize;
use serde_json::{Value, json};

fn names(list: &Value, items: &str) -> Vec<String> {
    let items = list[items].as_array().expect("a list").iter();
    items
        .map(|item| item["name"].as_str().expect("a name").to_owned())
        .collect()
}

async fn listed(connection: &mut Connection, method: &str, items: &str) -> Vec<String> {
    names(connection.request(method, json!({})).await.result(), items)
}

/// TOOL-S-01, PROMPT-S-01, RES-S-01, COMP-S-01, LOG-S-01: what there is is declared, and no more.
#[tokio::test]
async fn capabilities_follow_from_what_is_offered() {
    let text = async || "";
    let bare = || Server::new("caps", "1.0");
    let changing = json!({ "listChanged": true });
    for (server, expected) in [
        (bare(), json!({})),
        (bare().tool("a", async || {}), json!({ "tools": changing })),
        (bare().prompt("a", text), json!({ "prompts": changing })),
        (
            bare().resource("a://b", text),
            json!({ "resources": { "listChanged": true } }),
        ),
        (
            bare().add(Resource::new("a://b", text).watched()),
            json!({ "resources": { "listChanged": true, "subscribe": true } }),
        ),
        (
            bare().add(Resource::new("a://{b}", text).choices("b", ["c"])),
            json!({ "resources": { "listChanged": true }, "completions": {} }),
        ),
        (
            bare().offer_tools().logging(),
            json!({ "tools": changing, "logging": {} }),
        ),
        (
            bare().offer_prompts().offer_resources(),
            json!({ "prompts": changing, "resources": { "listChanged": true, "subscribe": true } }),
        ),
    ] {
        let server: Server = server;
        let mut connection = Connection::memory(server);
        let discovered = connection.request("server/discover", json!({})).await;
        assert_eq!(discovered.result()["capabilities"], expected);
    }
    let mut connection = Connection::memory(bare().tool("a", async || {}));
    connection
        .request("prompts/list", json!({}))
        .await
        .refused(-32601, 404);
}

#[tokio::test]
async fn a_server_says_who_it_is() {
    let server: Server = Server::new("shop", "1.2")
        .title("The shop")
        .description("Sells books.")
        .website("https://example.com")
        .icon("https://example.com/shop.png")
        .instructions("Search before you order.")
        .cache(
            Cached::Discover,
            Duration::from_secs(60),
            CacheScope::Public,
        )
        .tool("a", async || {});
    let mut connection = Connection::memory(server.clone());
    let discovered = connection.request("server/discover", json!({})).await;
    let result = discovered.result();
    assert_eq!(result["instructions"], "Search before you order.");
    assert_eq!(
        (&result["ttlMs"], &result["cacheScope"]),
        (&json!(60_000), &json!("public"))
    );
    let info = &result["_meta"]["io.modelcontextprotocol/serverInfo"];
    assert_eq!(info["title"], "The shop");
    assert_eq!(info["icons"][0]["src"], "https://example.com/shop.png");
    let mut connection = Connection::memory(server.anonymous());
    let called = connection.call("a", json!({})).await;
    assert!(
        called.result().get("_meta").is_none(),
        "{}",
        called.response
    );
}

/// TOOL-S-05, PAGE-S-01, CACHE-S-01, CACHE-S-04
#[tokio::test]
async fn lists_are_ordered_cut_and_hinted() {
    let text = async || "";
    let mut server: Server = Server::new("lists", "1.0");
    for name in ["zeta", "alpha", "mid", "beta", "omega"] {
        server = server
            .tool(name, async || {})
            .prompt(name, text)
            .add(Resource::new(format!("r://{name}"), text))
            .add(Resource::new(format!("t://{name}/{{x}}"), text));
    }
    let hour = Duration::from_secs(3600);
    let server = server
        .page_size(2)
        .cache(Cached::Tools, hour, CacheScope::Public)
        .cache(Cached::Templates, hour, CacheScope::Private);
    let mut connection = Connection::memory(server);
    for (method, items, ttl, scope) in [
        ("tools/list", "tools", 3_600_000, "public"),
        ("prompts/list", "prompts", 0, "private"),
        ("resources/list", "resources", 0, "private"),
        (
            "resources/templates/list",
            "resourceTemplates",
            3_600_000,
            "private",
        ),
    ] {
        let mut all = Vec::new();
        let mut params = json!({});
        loop {
            let page = connection.request(method, params).await;
            let result = page.result();
            assert_eq!(
                (&result["ttlMs"], &result["cacheScope"]),
                (&json!(ttl), &json!(scope)),
                "{method}"
            );
            let names = names(result, items);
            assert!(names.len() <= 2);
            all.extend(names);
            match result.get("nextCursor") {
                Some(cursor) => params = json!({ "cursor": cursor }),
                None => break,
            }
        }
        assert_eq!(all, ["zeta", "alpha", "mid", "beta", "omega"], "{method}");
        let bad = connection.request(method, json!({ "cursor": "1" })).await;
        bad.refused(-32602, 200);
    }
}

/// CACHE-S-01: what a resource says, unless its contents say otherwise.
#[tokio::test]
async fn resources_are_hinted() {
    const MINUTE: Duration = Duration::from_secs(60);
    let server: Server = Server::new("hints", "1.0")
        .resource("r://plain", async || "text")
        .add(Resource::new("r://hinted", async || "text").cache(MINUTE, CacheScope::Public))
        .add(
            Resource::new("r://own", async || {
                Contents::text("text").cache(MINUTE, CacheScope::Private)
            })
            .cache(Duration::from_secs(1), CacheScope::Public)
            .mime_type("text/plain"),
        );
    let mut connection = Connection::memory(server);
    for (uri, ttl, scope) in [
        ("r://plain", 0, "private"),
        ("r://hinted", 60_000, "public"),
        ("r://own", 60_000, "private"),
    ] {
        let read = connection
            .request("resources/read", json!({ "uri": uri }))
            .await;
        let result = read.result();
        assert_eq!(
            (&result["ttlMs"], &result["cacheScope"]),
            (&json!(ttl), &json!(scope)),
            "{uri}"
        );
    }
    let read = connection
        .request("resources/read", json!({ "uri": "r://own" }))
        .await;
    assert_eq!(read.result()["contents"][0]["mimeType"], "text/plain");
}

/// TOOL-S-02: each change is there at once, in every clone.
#[tokio::test]
async fn what_is_offered_can_change_while_it_runs() {
    let text = async || "";
    let server: Server = Server::new("changing", "1.0")
        .tool("a", async || "a")
        .prompt("p", text)
        .resource("r://a", text)
        .resource("t://{x}", text);
    let mut connection = Connection::memory(server.clone());
    assert_eq!(listed(&mut connection, "tools/list", "tools").await, ["a"]);
    server
        .insert(Tool::new("b", async || "b"))
        .expect("a new name");
    assert_eq!(
        listed(&mut connection, "tools/list", "tools").await,
        ["a", "b"]
    );
    assert_eq!(connection.call("b", json!({})).await.text(), "b");
    assert!(server.disable_tool("a"));
    assert_eq!(listed(&mut connection, "tools/list", "tools").await, ["b"]);
    connection.call("a", json!({})).await.refused(-32602, 200);
    assert!(server.enable_tool("a"));
    assert_eq!(
        listed(&mut connection, "tools/list", "tools").await,
        ["a", "b"]
    );
    assert_eq!(connection.call("a", json!({})).await.text(), "a");
    assert!(server.remove_tool("a"));
    assert!(!server.remove_tool("a"));
    assert!(!server.disable_tool("a"));
    connection.call("a", json!({})).await.refused(-32602, 200);
    assert!(server.disable_prompt("p"));
    assert!(
        listed(&mut connection, "prompts/list", "prompts")
            .await
            .is_empty()
    );
    connection
        .request("prompts/get", json!({ "name": "p" }))
        .await
        .refused(-32602, 200);
    assert!(server.enable_prompt("p"));
    assert!(server.remove_prompt("p"));
    for uri in ["r://a", "t://1"] {
        let registered = if uri == "r://a" { uri } else { "t://{x}" };
        let params = json!({ "uri": uri });
        connection
            .request("resources/read", params.clone())
            .await
            .result();
        assert!(server.disable_resource(registered));
        connection
            .request("resources/read", params.clone())
            .await
            .refused(-32602, 200);
        assert!(server.enable_resource(registered));
        connection
            .request("resources/read", params.clone())
            .await
            .result();
        assert!(server.remove_resource(registered));
        assert!(!server.enable_resource(registered));
        connection
            .request("resources/read", params)
            .await
            .refused(-32602, 200);
    }
}

/// A tool with a state of its own joins a server that has another, also from within a handler.
#[tokio::test]
async fn a_handler_can_change_its_server() {
    #[derive(Deserialize, JsonSchema)]
    struct Add {
        name: String,
    }
    async fn add(Args(Add { name }): Args<Add>, server: Server) -> Result<(), antiphon::Stop> {
        async fn greet(State(greeting): State<String>) -> String {
            greeting
        }
        let tool = Tool::new(name.clone(), greet).with_state(format!("I am {name}."));
        server.insert(tool)?;
        Ok(())
    }
    let server: Server = Server::new("growing", "1.0")
        .tool("add", add)
        .with_state(7_u8);
    let mut connection = Connection::memory(server);
    connection
        .call("add", json!({ "name": "new" }))
        .await
        .result();
    assert_eq!(connection.call("new", json!({})).await.text(), "I am new.");
    let again = connection.call("add", json!({ "name": "new" })).await;
    assert_eq!(again.result()["isError"], true);
    assert_eq!(again.text(), "there is a tool `new` already");
}

/// Another takes the place of one, in the same place, without a moment of absence.
#[tokio::test]
async fn what_is_offered_can_be_replaced() {
    let server: Server = Server::new("changing", "1.0")
        .tool("a", async || "1")
        .tool("b", async || "");
    let mut connection = Connection::memory(server.clone());
    server
        .replace(Tool::new("a", async || "2"))
        .expect("replaced");
    server.replace(Tool::new("c", async || "")).expect("added");
    assert_eq!(connection.call("a", json!({})).await.text(), "2");
    assert_eq!(
        listed(&mut connection, "tools/list", "tools").await,
        ["a", "b", "c"]
    );
}

/// What clients were not told of cannot come later.
#[tokio::test]
async fn what_was_not_declared_cannot_be_inserted() {
    let text = async || "";
    let server: Server = Server::new("fixed", "1.0")
        .tool("a", async || {})
        .resource("r://a", text);
    server
        .insert(Prompt::new("before", text))
        .expect("not served yet");
    server.remove_prompt("before");
    let mut connection = Connection::memory(server.clone());
    connection
        .request("server/discover", json!({}))
        .await
        .result();
    server
        .insert(Tool::new("b", async || {}))
        .expect("declared");
    let error = server
        .insert(Prompt::new("p", text))
        .expect_err("not declared");
    assert!(error.to_string().contains("`offer_prompts()`"), "{error}");
    let error = server
        .insert(Resource::new("r://b", text).watched())
        .expect_err("not declared");
    assert!(error.to_string().contains("`offer_resources()`"), "{error}");
    let completed = Resource::new("r://{x}", text).choices("x", ["a"]);
    let error = server.insert(completed).expect_err("not declared");
    assert!(
        error.to_string().contains("`offer_completions()`"),
        "{error}"
    );
    let server = server.offer_prompts();
    server
        .insert(Prompt::new("p", text))
        .expect("another endpoint declares it");
    let mut connection = Connection::memory(server);
    assert_eq!(
        listed(&mut connection, "prompts/list", "prompts").await,
        ["p"]
    );
}

/// Code of the author that runs when a handler goes may come back to the server.
#[tokio::test]
async fn a_handler_that_goes_may_change_the_server() {
    struct Leaves(Server);
    impl Drop for Leaves {
        fn drop(&mut self) {
            self.0.remove_tool("other");
        }
    }
    let server: Server = Server::new("leaving", "1.0")
        .offer_tools()
        .tool("other", async || {});
    let leaves = std::sync::Arc::new(Leaves(server.clone()));
    server
        .insert(Tool::new("one", move || {
            let leaves = leaves.clone();
            async move { leaves.0.remove_tool("nothing").to_string() }
        }))
        .expect("added");
    assert!(server.remove_tool("one"));
    let mut connection = Connection::memory(server);
    assert!(
        listed(&mut connection, "tools/list", "tools")
            .await
            .is_empty()
    );
}

#[test]
#[should_panic(expected = "there is a tool `a` already")]
fn a_server_is_not_merged_with_itself() {
    let server: Server = Server::new("one", "1.0").tool("a", async || {});
    let _ = server.clone().merge(server);
}

/// RES-S-12: no URI is longer than one can be.
#[tokio::test]
async fn endless_uris_are_refused() {
    let server: Server = Server::new("long", "1.0").resource("r://{x}", async || "");
    let mut connection = Connection::memory(server);
    let read = |length: usize| json!({ "uri": format!("r://{}", "x".repeat(length)) });
    connection
        .request("resources/read", read(8000))
        .await
        .result();
    connection
        .request("resources/read", read(9000))
        .await
        .refused(-32602, 200);
}

/// TOOL-S-06, PROMPT-S-05, RES-S-07, RES-S-08: who listens is told; of resources only those that
/// are watched.
#[tokio::test]
async fn changes_are_announced() {
    let text = async || "";
    let server: Server = Server::new("announcing", "1.0")
        .tool("a", async || {})
        .prompt("p", text)
        .resource("r://still", text)
        .add(Resource::new("r://watched", text).watched())
        .add(Resource::new("t://{x}", text).watched());
    let mut connection = Connection::memory(server.clone());
    let filter = json!({ "notifications": {
        "toolsListChanged": true,
        "promptsListChanged": true,
        "resourcesListChanged": true,
        "resourceSubscriptions": ["r://still", "r://watched", "t://1", "u://nowhere"],
    }});
    connection
        .send(&request("l", "subscriptions/listen", filter))
        .await;
    let acknowledged = connection.receive().await.expect("acknowledged");
    let honoured = &acknowledged["params"]["notifications"];
    assert_eq!(
        honoured["resourceSubscriptions"],
        json!(["r://watched", "t://1"])
    );
    let mut heard = async |change: &dyn Fn()| {
        change();
        let message = connection.receive().await.expect("a notification");
        let method = message["method"].as_str().expect("a method").to_owned();
        (method, message["params"]["uri"].as_str().map(str::to_owned))
    };
    let tools = ("notifications/tools/list_changed".to_owned(), None);
    let prompts = ("notifications/prompts/list_changed".to_owned(), None);
    let resources = ("notifications/resources/list_changed".to_owned(), None);
    assert_eq!(
        heard(&|| server.insert(Tool::new("b", async || {})).expect("added")).await,
        tools
    );
    assert_eq!(heard(&|| _ = server.disable_tool("b")).await, tools);
    // No change, no notification: the next one is of something else.
    assert_eq!(
        heard(&|| {
            server.disable_tool("b");
            server.remove_tool("nothing");
            server.disable_prompt("p");
        })
        .await,
        prompts
    );
    assert_eq!(heard(&|| _ = server.remove_tool("b")).await, tools);
    assert_eq!(
        heard(&|| _ = server.remove_resource("r://still")).await,
        resources
    );
    assert_eq!(heard(&|| server.notify_tools_changed()).await, tools);
    assert_eq!(heard(&|| server.notify_prompts_changed()).await, prompts);
    assert_eq!(
        heard(&|| server.notify_resources_changed()).await,
        resources
    );
    let updated = |uri: &str| {
        (
            "notifications/resources/updated".to_owned(),
            Some(uri.to_owned()),
        )
    };
    assert_eq!(
        heard(&|| {
            server.notify_resource_updated("r://still");
            server.notify_resource_updated("r://watched");
        })
        .await,
        updated("r://watched")
    );
    assert_eq!(
        heard(&|| server.notify_resource_updated("t://1")).await,
        updated("t://1")
    );
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Tone {
    Formal,
    Friendly,
    Terse,
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only completed here")]
struct Letter {
    to: String,
    tone: Tone,
    language: Option<String>,
}

/// COMP-S-01 to COMP-S-03, COMP-C-02
#[tokio::test]
async fn arguments_are_completed() {
    #[derive(Deserialize, JsonSchema)]
    struct Known {
        language: Option<String>,
    }
    async fn people(
        Prefix(typed): Prefix,
        Args(known): Args<Known>,
        State(all): State<Vec<String>>,
    ) -> Vec<String> {
        let greeting = known.language.map(|language| format!("{language}:"));
        let fits = all.into_iter().filter(|name| name.starts_with(&typed));
        fits.map(|name| format!("{}{name}", greeting.as_deref().unwrap_or("")))
            .collect()
    }
    // The prompt's own arguments are not all there while one is typed.
    async fn strict(_: Args<Letter>) -> Vec<String> {
        vec!["all there".to_owned()]
    }
    async fn many() -> Vec<String> {
        (0..250).map(|n| n.to_string()).collect()
    }
    let letter = async |_: Args<Letter>| "";
    let server: Server = Server::new("letters", "1.0")
        .add(
            Prompt::new("letter", letter)
                .complete("to", people)
                .choices("language", ["English", "Español", "Esperanto"]),
        )
        .add(Prompt::new("strict", letter).complete("to", strict))
        .add(Resource::new("letters://{to}/{n}", async || "").complete("n", many))
        .with_state(vec![
            "Anna".to_owned(),
            "Anton".to_owned(),
            "Berta".to_owned(),
        ]);
    let mut connection = Connection::memory(server);
    let mut complete = async |reference: Value, name: &str, value: &str, known: Value| {
        let params = json!({
            "ref": reference,
            "argument": { "name": name, "value": value },
            "context": { "arguments": known },
        });
        connection.request("completion/complete", params).await
    };
    let letter = json!({ "type": "ref/prompt", "name": "letter" });
    for (argument, typed, known, expected) in [
        ("to", "An", json!({}), json!(["Anna", "Anton"])),
        ("to", "B", json!({ "language": "es" }), json!(["es:Berta"])),
        ("to", "x", json!({}), json!([])),
        // An enum completes itself.
        ("tone", "F", json!({}), json!(["formal", "friendly"])),
        (
            "language",
            "esp",
            json!({}),
            json!(["Español", "Esperanto"]),
        ),
        ("nothing", "", json!({}), json!([])),
    ] {
        let answer = complete(letter.clone(), argument, typed, known).await;
        assert_eq!(
            answer.result()["completion"]["values"],
            expected,
            "{argument} {typed}"
        );
    }
    let strict = json!({ "type": "ref/prompt", "name": "strict" });
    let answer = complete(strict.clone(), "to", "", json!({})).await;
    assert_eq!(answer.result()["completion"]["values"], json!([]));
    let answer = complete(strict, "to", "", json!({ "to": "x", "tone": "terse" })).await;
    assert_eq!(
        answer.result()["completion"]["values"],
        json!(["all there"])
    );
    let template = json!({ "type": "ref/resource", "uri": "letters://{to}/{n}" });
    let answer = complete(template, "n", "", json!({})).await;
    let completion = &answer.result()["completion"];
    assert_eq!(completion["values"].as_array().expect("values").len(), 100);
    assert_eq!(completion["hasMore"], true);
    for reference in [
        json!({ "type": "ref/prompt", "name": "none" }),
        json!({ "type": "ref/resource", "uri": "none://{x}" }),
    ] {
        complete(reference, "x", "", json!({}))
            .await
            .refused(-32602, 200);
    }
}

/// A fixed resource comes before a template that fits as well, and templates in their order.
#[tokio::test]
async fn the_first_that_fits_is_read() {
    #[derive(Deserialize, JsonSchema)]
    struct Path {
        path: Vec<String>,
    }
    #[derive(Deserialize, JsonSchema)]
    struct Id {
        id: String,
    }
    let server: Server = Server::new("order", "1.0")
        .resource("o://{id}", async |Args(Id { id }): Args<Id>| {
            format!("one {id}")
        })
        .resource("o:/{/path*}", async |Args(Path { path }): Args<Path>| {
            path.join("|")
        })
        .resource("o://fixed", async || "fixed");
    let mut connection = Connection::memory(server);
    for (uri, text) in [
        ("o://fixed", "fixed"),
        ("o://x", "one x"),
        ("o://a%20b%2Fc", "one a b/c"),
        ("o://a/b/c%20d", "a|b|c d"),
    ] {
        let read = connection
            .request("resources/read", json!({ "uri": uri }))
            .await;
        assert_eq!(read.result()["contents"][0]["text"], text, "{uri}");
        assert_eq!(read.result()["contents"][0]["uri"], uri);
    }
}

/// A template can list what it stands for, beside the fixed ones, in pages.
#[tokio::test]
async fn templates_can_list() {
    async fn books(State(titles): State<Vec<&'static str>>) -> Vec<types::Resource> {
        let books = titles.into_iter();
        books
            .map(|title| types::Resource::new(format!("b://{title}"), title))
            .collect()
    }
    let server: Server = Server::new("books", "1.0")
        .resource("b://terms", async || "")
        .add(
            Resource::new("b://{title}", async || "")
                .name("book")
                .list(books),
        )
        .page_size(2)
        .with_state(vec!["Dune", "Emma"]);
    let mut connection = Connection::memory(server);
    let first = connection.request("resources/list", json!({})).await;
    assert_eq!(names(first.result(), "resources"), ["terms", "Dune"]);
    let next = json!({ "cursor": first.result()["nextCursor"] });
    let second = connection.request("resources/list", next).await;
    assert_eq!(names(second.result(), "resources"), ["Emma"]);
    assert_eq!(
        listed(
            &mut connection,
            "resources/templates/list",
            "resourceTemplates"
        )
        .await,
        ["book"]
    );
}

#[tokio::test]
async fn servers_are_merged() {
    let git: Server = Server::new("git", "1.0")
        .instructions("dropped")
        .tool("log", async || "log")
        .prompt("commit", async || "Write a message.");
    let files: Server = Server::new("files", "1.0")
        .tool("read", async || "read")
        .resource("file:///{+path}", async || "");
    let both: Server = Server::new("both", "2.0")
        .tool("own", async || "")
        .merge(git)
        .merge(files);
    let mut connection = Connection::memory(both);
    assert_eq!(
        listed(&mut connection, "tools/list", "tools").await,
        ["own", "log", "read"]
    );
    assert_eq!(
        listed(&mut connection, "prompts/list", "prompts").await,
        ["commit"]
    );
    assert_eq!(connection.call("log", json!({})).await.text(), "log");
    let discovered = connection.request("server/discover", json!({})).await;
    assert!(discovered.result().get("instructions").is_none());
    let info = &discovered.result()["_meta"]["io.modelcontextprotocol/serverInfo"];
    assert_eq!(info["name"], "both");
}

#[test]
#[should_panic(expected = "there is a tool `a` already")]
fn servers_with_the_same_tool_are_not_merged() {
    let one = || Server::<()>::new("one", "1.0").tool("a", async || {});
    let _ = one().merge(one());
}
