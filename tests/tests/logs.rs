//! What is in the log of a call that asks, of either side and in either era: who called what, and
//! nothing of what was sent, asked, answered, carried or told.

use antiphon::{
    Args, Ask, Client, Form, Http, Server, Stop,
    client::{Connect, Era, Streams},
    schemars::{self, JsonSchema},
    types::Version,
};
use antiphon_tests::{http, log::Log};
use serde::Deserialize;
use serde_json::json;

/// In everything that somebody says.
const SECRET: &str = "hunter2";

#[derive(Deserialize, JsonSchema)]
struct Login {
    user: String,
}

#[derive(Form)]
struct Word {
    word: String,
}

/// Asks in two rounds, so that an answer is carried, and once more for what does not fit.
async fn login(Args(Login { user }): Args<Login>, ask: Ask) -> Result<String, Stop> {
    let Word { word } = ask.form("word", format!("A word, {user}?"))?;
    let kept = ask.once("kept", async || Ok::<_, Stop>(word)).await?;
    let Word { word } = ask.form("again", format!("After {kept}?"))?;
    Ok(format!("{kept} {word}"))
}

fn client(era: Era) -> Client {
    let client = Client::new("tests", "1.0").era(era);
    client.on_form(|form| async move {
        match form.key() == "word" && form.attempt() == 1 {
            true => form.accept(json!({ "word": [SECRET] })),
            false => form.accept(json!({ "word": SECRET })),
        }
    })
}

/// Logs in, and is refused.
async fn visit(era: Era, to: impl Connect + Send) {
    let connection = client(era).connect(to).await.expect("connected");
    let user = json!({ "user": SECRET });
    let result = connection.call_tool("login", user).await.expect("a result");
    let told = format!("{SECRET} {SECRET}");
    assert_eq!(result.first_text(), Some(&*told));
    let nobody = json!({ "user": [SECRET] });
    let refused = connection.call_tool("login", nobody).await;
    assert!(refused.expect("a result").failed());
    connection.close().await;
}

#[tokio::test]
async fn nothing_that_is_said_is_logged_on_either_side() {
    let (log, _guard) = Log::of_everything();
    let server: Server = Server::new("gate", "1.0").tool("login", login);
    let served = http::Server::start(antiphon::http::service(server.clone())).await;
    for era in [
        Era::Pinned(Version::LATEST),
        Era::Pinned(Version::V2025_11_25),
        Era::Pinned(Version::V2025_06_18),
    ] {
        let before = log.text().len();
        visit(era, antiphon::memory(server.clone())).await;
        let (ours, theirs) = tokio::io::duplex(1000);
        let (input, output) = tokio::io::split(theirs);
        tokio::spawn(antiphon::stdio::serve_on(server.clone(), input, output));
        let (read, write) = tokio::io::split(ours);
        visit(era, Streams::new(read, write, "a pipe")).await;
        visit(era, Http::new(format!("http://{}/mcp", served.address))).await;
        let log = log.text().split_off(before);
        assert!(log.contains("tools/call"), "the log is read: {log}");
        assert!(!log.contains(SECRET), "{log}");
    }
}
