//! The page that `sign_in` sends people to: visiting it completes the sign-in.
//!
//! What is behind a link is the server author's own web page, in any framework. Of MCP it knows
//! one thing: the handle in its path, which it completes.

use axum::{
    Router,
    extract::{Path, Request, State},
    http::{
        HeaderMap, Method, StatusCode,
        header::{
            CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HOST, REFERRER_POLICY,
            X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
        },
    },
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::get,
};

use super::flows::SignIn;

/// The page, below `/sign-in`.
pub(super) fn page(sign_in: SignIn) -> Router {
    Router::new()
        .route("/sign-in/{handle}", get(visit).post(visit))
        .with_state(sign_in)
        .layer(middleware::from_fn(only_from_here))
}

/// Whoever visits is signed in, this being a demo: a real page asks for a name and a password first.
async fn visit(
    method: Method,
    headers: HeaderMap,
    Path(handle): Path<String>,
    State(sign_in): State<SignIn>,
) -> Response {
    // Looking ahead is not visiting.
    let purpose = text(&headers, "sec-purpose").or_else(|| text(&headers, "purpose"));
    let looks_ahead = purpose.is_some_and(|purpose| purpose.contains("prefetch"));
    if method == Method::HEAD || looks_ahead {
        return html(StatusCode::OK, "Sign in", "<p>Open this page.</p>");
    }
    match sign_in.complete(&handle) {
        Ok(()) => html(
            StatusCode::OK,
            "Signed in",
            "<p>You are signed in as Ada. Go back to where you came from, and accept.</p>",
        ),
        Err(why) => html(
            StatusCode::NOT_FOUND,
            "Not signed in",
            &format!("<p>{}.</p>", escaped(&why)),
        ),
    }
}

/// Neither another web site nor another name of this machine gets at the page.
async fn only_from_here(request: Request, next: Next) -> Response {
    let headers = request.headers();
    let site = text(headers, "sec-fetch-site").unwrap_or("none");
    let is_foreign = request.method() == Method::POST && !["none", "same-origin"].contains(&site);
    if is_foreign || !is_loopback(text(headers, HOST.as_str()).unwrap_or_default()) {
        return html(
            StatusCode::FORBIDDEN,
            "Not from there",
            "<p>Open the link itself.</p>",
        );
    }
    next.run(request).await
}

fn text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}

fn is_loopback(host: &str) -> bool {
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    name == "127.0.0.1" || name.eq_ignore_ascii_case("localhost")
}

fn html(status: StatusCode, title: &str, body: &str) -> Response {
    let page = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>{title}</title>\
         <h1>{title}</h1>{body}</html>"
    );
    let headers = [
        (CONTENT_TYPE, "text/html; charset=utf-8"),
        (
            CONTENT_SECURITY_POLICY,
            "default-src 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
        ),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
        // The handle is in the address: it goes nowhere from here.
        (REFERRER_POLICY, "no-referrer"),
        (CACHE_CONTROL, "no-store"),
    ];
    (status, headers, page).into_response()
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_breaks_out_of_the_page() {
        assert_eq!(
            escaped("\"><b a='&'>"),
            "&quot;&gt;&lt;b a=&#39;&amp;&#39;&gt;"
        );
    }

    #[test]
    fn only_this_machine_is_this_machine() {
        for host in ["127.0.0.1", "127.0.0.1:80", "LocalHost:1"] {
            assert!(is_loopback(host), "{host}");
        }
        for host in [
            "",
            "evil.example",
            "localhost.evil.example:1",
            "127.0.0.1.evil",
        ] {
            assert!(!is_loopback(host), "{host}");
        }
    }
}
