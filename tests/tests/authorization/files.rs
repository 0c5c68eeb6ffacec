//! A server with things that not everybody may do.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use antiphon::{
    Args, Ask, Context, Form, FromCall, Json, Layer, Next, Outcome, Progress, Prompt, Resource,
    Server, State, Stop, Tool,
    auth::{Principal, Protected, StaticTokens},
    http::{HttpService, service},
    schemars::{self, JsonSchema},
};
use serde::Deserialize;
use serde_json::{Value, json};

/// How often something was done that needs a scope.
#[derive(Clone, Default)]
pub(crate) struct Done(Arc<AtomicUsize>);

impl Done {
    pub(crate) fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }

    fn one(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[derive(Deserialize, JsonSchema)]
struct Which {
    name: String,
}

#[derive(Form)]
struct Name {
    name: String,
}

async fn who(who: Option<Principal>) -> Json<Value> {
    let who = who.unwrap_or_default();
    let tenant: Option<String> = who.claim("tenant");
    Json(json!({
        "subject": who.subject, "client": who.client, "issuer": who.issuer,
        "scopes": who.scopes, "tenant": tenant,
    }))
}

async fn write(State(done): State<Done>) -> &'static str {
    done.one();
    "written"
}

/// Shows that scopes come before arguments.
async fn strict(Args(_): Args<Which>) -> &'static str {
    "strict"
}

/// Whoever calls may delete.
struct Deleter;

impl<S: Sync> FromCall<S> for Deleter {
    async fn from_call(call: &Context<'_>, _: &S) -> Result<Self, Stop> {
        call.require_scopes(["files:delete"])?;
        Ok(Self)
    }
}

async fn delete(_: Deleter, State(done): State<Done>) -> &'static str {
    done.one();
    "deleted"
}

/// Finds out late that a scope is needed, after something was told.
async fn slow(progress: Progress, call: antiphon::Call) -> Result<&'static str, Stop> {
    progress.report(1);
    tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    call.require_scopes(["files:delete"])?;
    Ok("slow")
}

/// Asks, and writes under the name that it is told.
async fn store(ask: Ask, State(done): State<Done>) -> Result<String, Stop> {
    let Name { name } = ask.form("name", "Under which name?")?;
    done.one();
    Ok(format!("stored as {name}"))
}

/// Asks, and finds out by the answer that a scope is needed.
async fn moved(ask: Ask, call: antiphon::Call, State(done): State<Done>) -> Result<String, Stop> {
    let Name { name } = ask.form("name", "Where to?")?;
    if name.starts_with('/') {
        call.require_scopes(["files:root"])?;
    }
    done.one();
    Ok(format!("moved to {name}"))
}

/// Keeps what is locked from those who may not unlock it.
struct Locked;

impl Layer for Locked {
    async fn call(&self, call: &Context<'_>, next: Next<'_>) -> Outcome {
        match call.require_scopes(["files:unlock"]) {
            Ok(()) => next.run(call).await,
            Err(stop) => call.stop(stop),
        }
    }
}

async fn names() -> Vec<antiphon::types::Resource> {
    vec![antiphon::types::Resource::new("files://notes/one", "one")]
}

pub(crate) fn server(done: &Done) -> Server {
    let merged = Server::<Done>::new("more", "1")
        .add(Tool::new("merged", async || "merged").require_scopes(["files:write"]));
    Server::new("files", "1")
        .tool("who", who)
        .add(Tool::new("write", write).require_scopes(["files:write"]))
        .add(Tool::new("strict", strict).require_scopes(["files:write", "files:strict"]))
        .tool("delete", delete)
        .add(Tool::new("slow", slow).require_scopes(["files:read"]))
        .add(Tool::new("store", store).require_scopes(["files:write"]))
        .add(Tool::new("move", moved).require_scopes(["files:write"]))
        .add(Tool::new("locked", async || "unlocked").layer(Locked))
        .add(
            Prompt::new("brief", async |Args(which): Args<Which>| which.name)
                .choices("name", ["one", "two"])
                .require_scopes(["files:write"]),
        )
        .add(
            Resource::new("files://plan", async || "the plan")
                .watched()
                .require_scopes(["files:write"]),
        )
        .add(
            Resource::new("files://notes/{name}", async |Args(which): Args<Which>| {
                which.name
            })
            .list(names)
            .choices("name", ["one", "two"])
            .require_scopes(["files:write"]),
        )
        .merge(merged)
        .with_state(done.clone())
}

/// Two tokens of one user, and some of others.
pub(crate) fn tokens() -> StaticTokens {
    let ada = || {
        Principal::subject("ada")
            .through("desk")
            .issued_by("https://a.example")
    };
    StaticTokens::new()
        .token("reader", ada().scopes(["files:read"]))
        .token("writer", ada().scopes(["files:read", "files:write"]))
        .token(
            "root",
            ada().scopes(["files:read", "files:write", "files:root"]),
        )
        .token("all", ada().scopes(["files:all"]))
}

/// The server at `url`, behind these tokens.
pub(crate) fn protected(url: &str, done: &Done) -> HttpService {
    let protected = Protected::new(url, ["https://a.example"])
        .scopes_supported(["files:read", "files:write", "offline_access"])
        .name("Files");
    service(server(done))
        .protected(protected, tokens())
        .require_scopes(["files:read", "offline_access"])
        .scope_implies(
            "files:all",
            [
                "files:read",
                "files:write",
                "files:delete",
                "files:unlock",
                "files:strict",
            ],
        )
}
