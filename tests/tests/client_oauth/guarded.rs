//! An MCP server that lets in those who have a token of an authorization server for it.

use std::{
    collections::{HashMap, VecDeque},
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard},
};

use antiphon::{
    Ask, Form, Server, Stop,
    auth::Principal,
    http::{HttpService, service},
};
use axum::{
    body::{Body, to_bytes},
    extract::Request,
    response::Response,
};
use http::HeaderMap;
use serde_json::{Value, json};
use tower_service::Service;

use super::{
    authority::{Authority, change, json_of},
    proofs,
};

/// Where its metadata is.
pub(crate) const HERE: &str = "/.well-known/oauth-protected-resource/mcp";
pub(crate) const ROOT: &str = "/.well-known/oauth-protected-resource";

/// What it does.
#[derive(Clone)]
pub(crate) struct Manners {
    /// Where its metadata is. `None` is nowhere.
    pub(crate) place: Option<&'static str>,
    /// Whether a challenge says where.
    pub(crate) tells: bool,
    /// What its metadata says besides; null takes something out.
    pub(crate) metadata: Value,
    /// The scopes without which nobody is let in.
    pub(crate) scopes: Vec<&'static str>,
    /// The scopes that tools need.
    pub(crate) needs: HashMap<&'static str, &'static str>,
    /// Challenges in place of the next answers, each with its status.
    pub(crate) refuses: VecDeque<(u16, String)>,
    /// Tokens have to be good with a key alone.
    pub(crate) bound: bool,
    /// What has to stand in a proof.
    pub(crate) nonce: Option<&'static str>,
    /// What the place of its metadata answers instead.
    pub(crate) status: Option<u16>,
    /// It is the authorization server as well.
    pub(crate) is_authority: bool,
    /// Where it leads whoever calls it.
    pub(crate) leads: Option<String>,
}

impl Default for Manners {
    fn default() -> Self {
        Self {
            place: Some(HERE),
            tells: true,
            metadata: json!({}),
            scopes: Vec::new(),
            needs: HashMap::new(),
            refuses: VecDeque::new(),
            bound: false,
            nonce: None,
            status: None,
            is_authority: false,
            leads: None,
        }
    }
}

/// One request to it.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) path: String,
    pub(crate) query: Option<String>,
    pub(crate) verb: String,
    pub(crate) headers: HeaderMap,
    pub(crate) message: Value,
    pub(crate) status: u16,
}

impl Asked {
    /// The token that it came with.
    pub(crate) fn token(&self) -> Option<&str> {
        let header = self.headers.get("authorization")?.to_str().expect("ASCII");
        Some(header.split_once(' ').expect("a scheme").1)
    }
}

/// The server.
#[derive(Clone)]
pub(crate) struct Guarded {
    pub(crate) address: SocketAddr,
    pub(crate) server: Server,
    authority: Arc<Mutex<Authority>>,
    manners: Arc<Mutex<Manners>>,
    asked: Arc<Mutex<Vec<Asked>>>,
}

#[derive(Form)]
struct Word {
    word: String,
}

/// Asks in two rounds, so that something is carried from one to the next.
async fn order(who: Principal, ask: Ask) -> Result<String, Stop> {
    let first: Word = ask.form("first", "A word?")?;
    let second: Word = ask.form("second", format!("After {}?", first.word))?;
    let who = who.subject.unwrap_or_default();
    Ok(format!("{who}: {} {}", first.word, second.word))
}

async fn whoami(who: Principal) -> String {
    let scopes: Vec<_> = who.scopes.into_iter().collect();
    format!("{}: {}", who.subject.unwrap_or_default(), scopes.join(" "))
}

impl Guarded {
    pub(crate) async fn start(authority: &Authority, manners: Manners) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
            .await
            .expect("a port");
        let address = listener.local_addr().expect("an address");
        let server = Server::new("guarded", "1.0")
            .tool("whoami", whoami)
            .tool("write", whoami)
            .tool("erase", whoami)
            .tool("order", order);
        let me = Self {
            address,
            server,
            authority: Arc::new(Mutex::new(authority.clone())),
            manners: Arc::new(Mutex::new(manners)),
            asked: Arc::default(),
        };
        let serving = me.clone();
        let inner = Arc::new(Mutex::new(None));
        let app = axum::Router::new().fallback(move |request: Request| {
            let (serving, inner) = (serving.clone(), inner.clone());
            async move { serving.answer(request, &inner).await }
        });
        tokio::spawn(async move { axum::serve(listener, app).await });
        me
    }

    pub(crate) fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn url(&self) -> String {
        format!("{}/mcp", self.origin())
    }

    pub(crate) fn manners(&self) -> MutexGuard<'_, Manners> {
        self.manners.lock().expect("unpoisoned")
    }

    /// Others issue its tokens from now on.
    pub(crate) fn moves_to(&self, authority: &Authority) {
        *self.authority.lock().expect("unpoisoned") = authority.clone();
    }

    /// Answers the next request with this challenge.
    pub(crate) fn refuse(&self, status: u16, challenge: impl Into<String>) {
        self.manners().refuses.push_back((status, challenge.into()));
    }

    /// Leads everybody elsewhere from now on.
    pub(crate) fn lead_to(&self, place: String) {
        self.manners().leads = Some(place);
    }

    /// What it was asked.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().expect("unpoisoned").clone()
    }

    /// What it was asked by this method.
    pub(crate) fn asked_for(&self, method: &str) -> Vec<Asked> {
        let mut asked = self.asked();
        asked.retain(|asked| asked.message["method"] == method);
        asked
    }

    fn authority(&self) -> Authority {
        self.authority.lock().expect("unpoisoned").clone()
    }

    /// The service with what is demanded now. Sessions live as long as it does.
    fn service(&self, manners: &Manners) -> HttpService {
        let service = service(self.server.clone()).verifier(Anybody(self.clone()));
        let service = service.require_scopes(manners.scopes.clone());
        match manners.place.filter(|_| manners.tells) {
            Some(place) => service.resource_metadata(format!("{}{place}", self.origin())),
            None => service,
        }
    }

    async fn answer(&self, request: Request, inner: &Mutex<Option<HttpService>>) -> Response {
        let (head, body) = request.into_parts();
        let body = to_bytes(body, 1 << 20).await.expect("a body");
        let asked = Asked {
            path: head.uri.path().to_owned(),
            query: head.uri.query().map(str::to_owned),
            verb: head.method.to_string(),
            headers: head.headers.clone(),
            message: serde_json::from_slice(&body).unwrap_or_default(),
            status: 0,
        };
        let request = Request::from_parts(head, Body::from(body));
        let response = self.respond(&asked, request, inner).await;
        let status = response.status().as_u16();
        let asked = Asked { status, ..asked };
        self.asked.lock().expect("unpoisoned").push(asked);
        response
    }

    async fn respond(
        &self,
        asked: &Asked,
        mut request: Request,
        inner: &Mutex<Option<HttpService>>,
    ) -> Response {
        let manners = self.manners().clone();
        if Some(&*asked.path) == manners.place {
            if let Some(status) = manners.status {
                return json_of(status, &json!({}));
            }
            let mut metadata = json!({
                "resource": self.url(),
                "authorization_servers": [self.authority().issuer()],
            });
            change(&mut metadata, &manners.metadata);
            return json_of(200, &metadata);
        }
        if asked.path != "/mcp" {
            let is_ours = asked.path.starts_with(ROOT);
            if manners.is_authority && !is_ours {
                return self.authority().answer(request).await;
            }
            return json_of(manners.status.unwrap_or(404), &json!({}));
        }
        if let Some(place) = &manners.leads {
            return Response::builder()
                .status(307)
                .header("location", place)
                .body(Body::empty())
                .expect("a response");
        }
        let refused = self.manners().refuses.pop_front();
        if let Some((status, challenge)) = refused {
            return challenged(status, &challenge);
        }
        if manners.bound
            && let Err(challenge) = self.bound(&manners, asked, &mut request)
        {
            let mut response = challenged(401, &challenge);
            if let Some(nonce) = manners.nonce {
                let nonce = nonce.parse().expect("a header");
                response.headers_mut().insert("dpop-nonce", nonce);
            }
            return response;
        }
        let tool = asked.message["params"]["name"].as_str().unwrap_or_default();
        if let Some(needed) = manners.needs.get(tool) {
            let granted = asked
                .token()
                .and_then(|token| self.authority().granted(token));
            let has = |scope: &str| {
                let granted = granted.as_ref();
                granted.is_none_or(|granted| granted.scopes.iter().any(|given| given == scope))
            };
            if !needed.split(' ').all(has) {
                let challenge = format!(
                    r#"Bearer error="insufficient_scope", scope="{needed}", resource_metadata="{}{HERE}""#,
                    self.origin()
                );
                return challenged(403, &challenge);
            }
        }
        let mut service = {
            let mut inner = inner.lock().expect("unpoisoned");
            let service = inner.get_or_insert_with(|| self.service(&manners));
            service.clone()
        };
        match service.call(request).await {
            Ok(response) => response.map(Body::new),
            Err(never) => match never {},
        }
    }

    /// Checks the proof of a token, which the rest takes as it is (RFC 9449, 7).
    fn bound(&self, manners: &Manners, asked: &Asked, request: &mut Request) -> Result<(), String> {
        let wanted = format!(
            r#"DPoP algs="ES256", resource_metadata="{}{HERE}""#,
            self.origin()
        );
        let (Some(token), Some(proof)) = (asked.token(), asked.headers.get("dpop")) else {
            return Err(wanted);
        };
        let proof = proofs::read(proof.to_str().expect("ASCII"), &asked.verb, &self.url());
        if manners.nonce != proof.nonce.as_deref() {
            return Err(r#"DPoP error="use_dpop_nonce""#.to_owned());
        }
        assert_eq!(
            proof.token,
            Some(proofs::hash(token)),
            "it is for this token"
        );
        assert!(self.authority().is_fresh(&proof), "a proof is used once");
        let granted = self.authority().granted(token);
        let key = granted.and_then(|granted| granted.key);
        if key != Some(proof.key) {
            return Err(wanted);
        }
        let header = asked.headers["authorization"].to_str().expect("ASCII");
        assert!(header.starts_with("DPoP "), "{header}");
        let bearer = format!("Bearer {token}").parse().expect("a header");
        request.headers_mut().insert("authorization", bearer);
        Ok(())
    }
}

/// Whoever issues the tokens now says who is let in.
struct Anybody(Guarded);

impl antiphon::auth::Verifier for Anybody {
    fn verify<'a>(
        &'a self,
        token: &'a str,
    ) -> std::pin::Pin<
        Box<dyn Future<Output = Result<Principal, antiphon::auth::Refusal>> + Send + 'a>,
    > {
        Box::pin(async move {
            let metadata = self.0.manners().metadata["resource"]
                .as_str()
                .map(str::to_owned);
            let resource = metadata.unwrap_or(self.0.url());
            let verifier = self.0.authority().verifier(resource);
            verifier.verify(token).await
        })
    }
}

fn challenged(status: u16, challenge: &str) -> Response {
    Response::builder()
        .status(status)
        .header("www-authenticate", challenge)
        .header("content-type", "text/plain")
        .body(Body::from("no"))
        .expect("a response")
}
