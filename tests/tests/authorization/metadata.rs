//! What a protected server says of itself, to everyone.

use antiphon::{auth::Protected, client::Http, http::service};
use antiphon_tests::call;
use hyper::Method;
use serde_json::json;

use crate::{Running, ask, files};

const HERE: &str = "/.well-known/oauth-protected-resource/mcp";
const ROOT: &str = "/.well-known/oauth-protected-resource";

async fn running() -> Running {
    Running::start(|url| files::protected(&url, &files::Done::default())).await
}

/// AUTH-S-01, AUTH-S-02, AUTH-S-03, AUTH-S-17: without a token, at both places.
#[tokio::test]
async fn everyone_can_read_it() {
    let server = running().await;
    for path in [HERE, ROOT] {
        let answer = server.ask(Method::GET, path, &[]).await;
        assert_eq!(answer.status, 200, "{path}");
        assert_eq!(answer.header("content-type"), "application/json");
        assert_eq!(answer.header("cache-control"), "public, max-age=3600");
        assert_eq!(
            *answer.last(),
            json!({
                "resource": server.url(),
                "authorization_servers": ["https://a.example"],
                "bearer_methods_supported": ["header"],
                "scopes_supported": ["files:read", "files:write"],
                "resource_name": "Files",
            })
        );
        let head = server.ask(Method::HEAD, path, &[]).await;
        assert_eq!((head.status, &*head.text), (200, ""));
    }
}

/// A page of any origin may read it, and nothing else.
#[tokio::test]
async fn pages_can_read_it_too() {
    let server = running().await;
    let origin = ("origin", "https://page.example");
    let answer = server.ask(Method::GET, HERE, &[origin]).await;
    assert_eq!(
        (answer.status, answer.header("access-control-allow-origin")),
        (200, "*")
    );
    let wanted = ("access-control-request-headers", "mcp-protocol-version");
    let answer = server.ask(Method::OPTIONS, HERE, &[origin, wanted]).await;
    assert_eq!(answer.status, 204);
    assert_eq!(answer.header("access-control-allow-origin"), "*");
    assert_eq!(
        answer.header("access-control-allow-headers"),
        "mcp-protocol-version"
    );
    let answer = server.ask(Method::POST, "/mcp", &[origin]).await;
    assert_eq!(answer.status, 403);
}

#[tokio::test]
async fn it_is_nowhere_else() {
    let server = running().await;
    for (method, path, headers, status) in [
        (Method::POST, HERE, &[][..], 405),
        (Method::DELETE, HERE, &[], 405),
        (Method::GET, HERE, &[("host", "evil.example.com")], 403),
        (
            Method::GET,
            "/.well-known/oauth-protected-resource/other",
            &[],
            404,
        ),
        (
            Method::GET,
            "/.well-known/oauth-protected-resource/mcp?x",
            &[],
            404,
        ),
        (
            Method::GET,
            "/.well-known/oauth-protected-resourceful",
            &[],
            404,
        ),
        (Method::GET, "/mcp", &[], 401),
    ] {
        let answer = server.ask(method.clone(), path, headers).await;
        assert_eq!(answer.status, status, "{method} {path}");
    }
    // And there is none where nobody said so.
    let open = Running::start(|_| service(files::server(&files::Done::default()))).await;
    assert_eq!(open.ask(Method::GET, HERE, &[]).await.status, 404);
}

/// LAUTH-S-01, AUTH-C-01, AUTH-C-05: every challenge leads there, and our own client finds the way.
#[tokio::test]
async fn a_challenge_leads_there() {
    let server = running().await;
    let answer = server.post("", &call(1, "who", json!({}))).await;
    let metadata = server.metadata_url();
    let challenge = format!(r#"Bearer scope="files:read", resource_metadata="{metadata}""#);
    assert_eq!(
        (answer.status, answer.header("www-authenticate")),
        (401, &*challenge)
    );
    let http = Http::new(server.url());
    for challenges in [&[challenge][..], &[]] {
        let found = http.resource_metadata(challenges).await.expect("metadata");
        assert_eq!(found.resource, server.url());
        assert_eq!(found.authorization_servers, ["https://a.example"]);
        assert_eq!(found.scopes_supported, ["files:read", "files:write"]);
    }
}

/// Mounted in a router of somebody else's.
#[tokio::test]
async fn a_router_has_it_where_it_is_put() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await;
    let listener = listener.expect("a port");
    let address = listener.local_addr().expect("an address");
    let protected = Protected::new("https://mcp.example.com/mcp", ["https://a.example"]);
    let path = protected.metadata_path();
    assert_eq!(path, HERE);
    let done = files::Done::default();
    let service = service(files::server(&done)).protected(protected, files::tokens());
    let app: axum::Router = axum::Router::new()
        .route_service("/mcp", service.clone())
        .route_service(&path, service);
    let task = tokio::spawn(async move { axum::serve(listener, app).await });
    // By the name that clients know it by, which need not be allowed once more.
    for host in ["mcp.example.com", "localhost"] {
        let host = [("host", host)];
        let answer = ask(address, Method::GET, HERE, &host).await;
        assert_eq!(answer.status, 200);
        assert_eq!(answer.last()["resource"], "https://mcp.example.com/mcp");
        let answer = ask(address, Method::POST, "/mcp", &host).await;
        assert_eq!(answer.status, 401);
        assert_eq!(
            answer.header("www-authenticate"),
            r#"Bearer resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp""#
        );
    }
    let answer = ask(address, Method::GET, HERE, &[("host", "evil.example.com")]).await;
    assert_eq!(answer.status, 403);
    task.abort();
}
