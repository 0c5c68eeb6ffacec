//! Layers: what runs around handlers. Metrics around everything, and around single tools a
//! sign-in, a rate limit and a deadline.
//!
//! `cargo run -p example-middleware -- 3000`, on HTTP. `account` wants the header `x-key: ada-key`.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use antiphon::{
    Context, Extension, Json, Layer, Next, Outcome, RateLimit, Server, State, Stop, Timeout, Tool,
    http,
};

/// Counts how calls end. The layer and the tool that shows the counts are clones of each other.
#[derive(Clone, Default)]
struct Metrics(Arc<Mutex<BTreeMap<String, u32>>>);

impl Layer for Metrics {
    async fn call(&self, call: &Context<'_>, next: Next<'_>) -> Outcome {
        let outcome = next.run(call).await;
        let ended = format!("{} {:?}", call.target(), outcome.verdict());
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *counts.entry(ended).or_default() += 1;
        outcome
    }
}

async fn metrics(State(metrics): State<Metrics>) -> Json<BTreeMap<String, u32>> {
    let counts = metrics.0.lock().unwrap_or_else(PoisonError::into_inner);
    Json(counts.clone())
}

/// Who has signed in: attached by the layer, taken by the handler.
#[derive(Clone)]
struct User(&'static str);

/// Lets only callers with a key through, and says whose it is.
struct SignIn;

impl Layer for SignIn {
    async fn call(&self, call: &Context<'_>, next: Next<'_>) -> Outcome {
        let key = call.headers().and_then(|headers| headers.get("x-key"));
        match key.map(|key| key.as_bytes()) {
            Some(b"ada-key") => call.insert(User("Ada")),
            _ => return call.stop(Stop::fail("Sign in first: send your key as `x-key`.")),
        }
        next.run(call).await
    }
}

async fn account(Extension(User(name)): Extension<User>) -> String {
    format!("{name} has 12 coins.")
}

async fn roll() -> &'static str {
    "4"
}

async fn ponder() -> &'static str {
    tokio::time::sleep(Duration::from_secs(60)).await;
    "42"
}

fn server() -> Server {
    let metered = Metrics::default();
    let often = RateLimit::new(2, Duration::from_secs(3600));
    let long = Timeout::new(Duration::from_millis(100));
    Server::new("casino", "1.0")
        .layer(metered.clone())
        .tool("metrics", metrics)
        .add(Tool::new("account", account).layer(SignIn))
        .add(Tool::new("roll", roll).layer(often))
        .add(Tool::new("ponder", ponder).layer(long))
        .with_state(metered)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let port = std::env::args().nth(1).ok_or("usage: middleware PORT")?;
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port.parse()?)).await?;
    http::serve(listener, http::service(server())).await?;
    Ok(())
}

#[cfg(test)]
mod tests;
