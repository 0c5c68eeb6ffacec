//! [`Guarded`]: a server that wants to know who is calling, the authorization server that it trusts,
//! and a person with a browser.

use std::{
    collections::HashMap,
    io::{Read, Write},
    net::TcpStream,
    pin::Pin,
    sync::{Arc, Mutex},
};

use antiphon::{
    Server, Tool,
    auth::{Principal, Protected, Refusal, Verifier},
    http,
};
use axum::{
    Router,
    extract::{RawQuery, State},
    http::{
        StatusCode,
        header::{CONTENT_TYPE, LOCATION},
    },
    response::{IntoResponse, Response},
    routing::{get, post},
};
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::runtime::RUNTIME;

/// A server whose tools are `whoami` and, for those who may write, `write`; and its authorization
/// server.
pub(crate) struct Guarded {
    pub(crate) url: String,
    pub(crate) issuer: String,
    books: Books,
}

/// What the authorization server knows. Everybody who comes is Ada.
#[derive(Clone, Default)]
struct Books(Arc<Mutex<Known>>);

#[derive(Default)]
struct Known {
    issuer: String,
    /// The clients that registered.
    clients: Vec<Value>,
    /// What was asked for at the page, by code.
    codes: HashMap<String, HashMap<String, String>>,
    /// The scopes of each token.
    tokens: HashMap<String, String>,
    /// Tokens are refused from here on.
    is_closed: bool,
}

impl Guarded {
    pub(crate) fn open() -> Self {
        let books = Books::default();
        let (sender, addresses) = std::sync::mpsc::channel();
        let served = books.clone();
        RUNTIME.spawn(async move {
            let [authority, server] = [
                TcpListener::bind("127.0.0.1:0").await.expect("a port"),
                TcpListener::bind("127.0.0.1:0").await.expect("a port"),
            ];
            let address = |listener: &TcpListener| {
                let address = listener.local_addr().expect("an address");
                format!("http://{address}")
            };
            let issuer = address(&authority);
            let url = format!("{}/mcp", address(&server));
            served.lock().issuer.clone_from(&issuer);
            let pages = pages(served.clone());
            let guarded = guarded(served, &url, &issuer);
            sender.send((url, issuer)).expect("somebody waits");
            let authority = axum::serve(authority, pages).into_future();
            let server = http::serve(server, guarded).into_future();
            _ = tokio::join!(authority, server);
        });
        let (url, issuer) = addresses.recv().expect("they listen");
        Self { url, issuer, books }
    }

    /// How many clients registered.
    pub(crate) fn registered(&self) -> usize {
        self.books.lock().clients.len()
    }

    /// Every token that was given.
    pub(crate) fn tokens(&self) -> Vec<String> {
        self.books.lock().tokens.keys().cloned().collect()
    }

    /// No token is good any more, old or new.
    pub(crate) fn close(&self) {
        self.books.lock().is_closed = true;
    }
}

impl Books {
    fn lock(&self) -> std::sync::MutexGuard<'_, Known> {
        self.0.lock().expect("nobody panics")
    }
}

fn guarded(books: Books, url: &str, issuer: &str) -> http::HttpService {
    let who = async |who: Principal| who.subject.unwrap_or_default();
    let server: Server = Server::new("guarded", "1.0")
        .tool("whoami", who)
        .add(Tool::new("write", async || "Written.").require_scopes(["write"]));
    let protected = Protected::new(url, [issuer]).scopes_supported(["read", "write"]);
    http::service(server)
        .protected(protected, books)
        .require_scopes(["read"])
}

impl Verifier for Books {
    fn verify<'a>(
        &'a self,
        token: &'a str,
    ) -> Pin<Box<dyn Future<Output = Result<Principal, Refusal>> + Send + 'a>> {
        Box::pin(async move {
            let known = self.lock();
            let scopes = known.tokens.get(token).filter(|_| !known.is_closed);
            let scopes = scopes.ok_or_else(|| Refusal::Invalid("not one of ours".into()))?;
            let scopes = scopes.split_whitespace().map(str::to_owned);
            Ok(Principal::subject("ada").scopes(scopes))
        })
    }
}

fn pages(books: Books) -> Router {
    let metadata = async |State(books): State<Books>| {
        let issuer = books.lock().issuer.clone();
        json_of(
            StatusCode::OK,
            &json!({
                "issuer": issuer,
                "authorization_endpoint": format!("{issuer}/authorize"),
                "token_endpoint": format!("{issuer}/token"),
                "registration_endpoint": format!("{issuer}/register"),
                "code_challenge_methods_supported": ["S256"],
                "authorization_response_iss_parameter_supported": true,
            }),
        )
    };
    Router::new()
        .route("/.well-known/oauth-authorization-server", get(metadata))
        .route("/register", post(register))
        .route("/authorize", get(authorize))
        .route("/token", post(token))
        .with_state(books)
}

async fn register(State(books): State<Books>, body: String) -> Response {
    let mut known = books.lock();
    let client = serde_json::from_str(&body).expect("JSON");
    known.clients.push(client);
    let id = format!("client-{}", known.clients.len());
    let registered = json!({ "client_id": id, "token_endpoint_auth_method": "none" });
    json_of(StatusCode::CREATED, &registered)
}

fn json_of(status: StatusCode, value: &Value) -> Response {
    let headers = [(CONTENT_TYPE, "application/json")];
    (status, headers, value.to_string()).into_response()
}

/// What stands in a query, or in a form.
fn read(text: &str) -> HashMap<String, String> {
    let decoded = |text: &str| {
        let text = text.replace('+', " ");
        let text = percent_decode_str(&text).decode_utf8();
        text.expect("UTF-8").into_owned()
    };
    let pairs = text.split('&').filter_map(|pair| pair.split_once('='));
    pairs
        .map(|(name, value)| (decoded(name), decoded(value)))
        .collect()
}

/// Whoever comes is let through.
async fn authorize(State(books): State<Books>, RawQuery(query): RawQuery) -> Response {
    let asked = read(&query.unwrap_or_default());
    let mut known = books.lock();
    let code = format!("code-{}", known.codes.len());
    let back = format!(
        "{}?code={code}&state={}&iss={}",
        asked["redirect_uri"], asked["state"], known.issuer
    );
    known.codes.insert(code, asked);
    (StatusCode::FOUND, [(LOCATION, back)]).into_response()
}

async fn token(State(books): State<Books>, body: String) -> Response {
    let form = read(&body);
    let mut known = books.lock();
    let asked = form.get("code").and_then(|code| known.codes.remove(code));
    let Some(asked) = asked.filter(|_| form.contains_key("code_verifier")) else {
        let refusal = json!({ "error": "invalid_grant" });
        return json_of(StatusCode::BAD_REQUEST, &refusal);
    };
    let token = format!("canary-{}", known.tokens.len());
    let scope = asked.get("scope").cloned().unwrap_or_default();
    known.tokens.insert(token.clone(), scope);
    let given = json!({ "access_token": token, "token_type": "Bearer", "expires_in": 600 });
    json_of(StatusCode::OK, &given)
}

/// The page in a text that somebody is shown.
pub(crate) fn page(text: &str) -> Option<String> {
    let lines = text.lines().map(str::trim);
    let mut pages =
        lines.filter(|line| line.starts_with("http://") && line.contains("/authorize?"));
    // One that is not there as a whole yet has no last part.
    pages.next_back().map(str::to_owned)
}

/// Opens a page, and goes where it leads; what is shown in the end.
pub(crate) fn visit(page: &str) -> String {
    fetch(&ends_at(page))
}

/// Where a page leads to in the end.
pub(crate) fn ends_at(page: &str) -> String {
    let response = fetch(page);
    let mut lines = response.lines();
    let location = lines.find_map(|line| line.strip_prefix("location: "));
    location.expect("the page leads back").to_owned()
}

fn fetch(url: &str) -> String {
    let rest = url.strip_prefix("http://").expect("a page of ours");
    let (host, path) = rest.split_once('/').expect("a path");
    let mut stream = TcpStream::connect(host).expect("somebody listens");
    write!(
        stream,
        "GET /{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n"
    )
    .expect("sent");
    let mut response = String::new();
    stream.read_to_string(&mut response).expect("an answer");
    response
}
