//! An authorization server, as far as a resource server sees one.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::SystemTime,
};

use axum::{
    Router,
    body::Body,
    http::{HeaderMap, Response},
    routing::{get, post},
};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::{
    rand::SystemRandom,
    signature::{Ed25519KeyPair, KeyPair},
};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

pub(crate) struct Issuer {
    pub(crate) url: String,
    desk: Arc<Desk>,
    task: JoinHandle<()>,
}

#[derive(Default)]
struct Desk {
    keys: Mutex<Vec<(String, Ed25519KeyPair)>>,
    /// What is known of opaque tokens.
    opaque: Mutex<HashMap<String, Value>>,
    /// Who asked about them, and how.
    introspected: Mutex<Vec<(String, String)>>,
    read: AtomicUsize,
    down: AtomicBool,
    /// Whom the metadata says it is of, if not of itself.
    posing_as: Mutex<Option<String>>,
    /// Where the metadata says that the keys are, if not here.
    keys_at: Mutex<Option<String>>,
}

pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.expect("after 1970").as_secs()
}

fn answer(status: u16, json: &Value) -> Response<Body> {
    Response::builder()
        .status(status)
        .header("cache-control", "max-age=300")
        .body(Body::from(json.to_string()))
        .expect("a response")
}

impl Issuer {
    /// One whose metadata is where OAuth has it.
    pub(crate) async fn start() -> Self {
        Self::publishing("/.well-known/oauth-authorization-server").await
    }

    /// One whose metadata is at this path.
    pub(crate) async fn publishing(place: &str) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await;
        let listener = listener.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let desk = Arc::new(Desk::default());
        let (metadata, keys, tokens) = (desk.clone(), desk.clone(), desk.clone());
        let here = url.clone();
        let app = Router::new()
            .route(
                place,
                get(async move || {
                    let posing = metadata.posing_as.lock().expect("not poisoned").clone();
                    let issuer = posing.unwrap_or_else(|| here.clone());
                    let keys = metadata.keys_at.lock().expect("not poisoned").clone();
                    let keys = keys.unwrap_or_else(|| format!("{here}/keys"));
                    let json = json!({"issuer": issuer, "jwks_uri": keys});
                    answer(200, &json)
                }),
            )
            .route("/keys", get(async move || keys.keys()))
            .route(
                "/introspect",
                post(async move |headers: HeaderMap, body: String| tokens.about(&headers, body)),
            );
        let task = tokio::spawn(async move { axum::serve(listener, app).await.expect("served") });
        let issuer = Self { url, desk, task };
        issuer.rotate("first");
        issuer
    }

    /// Signs with a new key from now on; the old ones are withdrawn.
    pub(crate) fn rotate(&self, kid: &str) {
        let pkcs8 = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).expect("a key");
        let key = Ed25519KeyPair::from_pkcs8(pkcs8.as_ref()).expect("a key");
        *self.desk.keys.lock().expect("not poisoned") = vec![(kid.to_owned(), key)];
    }

    /// A token with these claims besides the usual ones.
    pub(crate) fn token(&self, audience: &str, change: &Value) -> String {
        let mut claims = json!({
            "iss": self.url, "aud": audience, "exp": now() + 300, "sub": "ada", "client_id": "desk",
        });
        for (name, value) in change.as_object().expect("an object") {
            claims[name] = value.clone();
        }
        let keys = self.desk.keys.lock().expect("not poisoned");
        let (kid, key) = keys.last().expect("a key");
        let header = json!({"alg": "EdDSA", "typ": "at+jwt", "kid": kid});
        let text = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let message = format!("{}.{}", text(&header), text(&claims));
        let signature = URL_SAFE_NO_PAD.encode(key.sign(message.as_bytes()));
        format!("{message}.{signature}")
    }

    /// What is said of an opaque token from now on.
    pub(crate) fn knows(&self, token: &str, claims: Value) {
        let mut opaque = self.desk.opaque.lock().expect("not poisoned");
        opaque.insert(token.to_owned(), claims);
    }

    pub(crate) fn set_down(&self, down: bool) {
        self.desk.down.store(down, Ordering::SeqCst);
    }

    pub(crate) fn pose_as(&self, issuer: &str) {
        *self.desk.posing_as.lock().expect("not poisoned") = Some(issuer.to_owned());
    }

    pub(crate) fn keep_keys_at(&self, url: &str) {
        *self.desk.keys_at.lock().expect("not poisoned") = Some(url.to_owned());
    }

    /// How often the keys were read.
    pub(crate) fn read(&self) -> usize {
        self.desk.read.load(Ordering::SeqCst)
    }

    /// The `Authorization` and the body of each question about a token.
    pub(crate) fn introspected(&self) -> Vec<(String, String)> {
        self.desk.introspected.lock().expect("not poisoned").clone()
    }
}

impl Desk {
    fn keys(&self) -> Response<Body> {
        self.read.fetch_add(1, Ordering::SeqCst);
        if self.down.load(Ordering::SeqCst) {
            return answer(500, &json!({}));
        }
        let keys = self.keys.lock().expect("not poisoned");
        let keys = keys.iter().map(|(kid, key)| {
            let x = URL_SAFE_NO_PAD.encode(key.public_key());
            json!({"kty": "OKP", "crv": "Ed25519", "use": "sig", "kid": kid, "x": x})
        });
        answer(200, &json!({"keys": keys.collect::<Vec<_>>()}))
    }

    fn about(&self, headers: &HeaderMap, body: String) -> Response<Body> {
        let authorization = headers.get("authorization");
        let authorization = authorization.map_or("", |value| value.to_str().expect("ASCII"));
        let token = body.strip_prefix("token=").unwrap_or_default();
        let token = token.split('&').next().unwrap_or_default().to_owned();
        let asked = (authorization.to_owned(), body);
        self.introspected.lock().expect("not poisoned").push(asked);
        if self.down.load(Ordering::SeqCst) {
            return answer(500, &json!({}));
        }
        let opaque = self.opaque.lock().expect("not poisoned");
        let claims = opaque.get(&token).cloned();
        answer(200, &claims.unwrap_or_else(|| json!({"active": false})))
    }
}

impl Drop for Issuer {
    fn drop(&mut self) {
        self.task.abort();
    }
}
