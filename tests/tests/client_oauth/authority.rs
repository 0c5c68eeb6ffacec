//! An authorization server on a port of its own. It checks what it is told, and does as it is
//! switched to do.

use std::{
    collections::{HashMap, HashSet},
    net::SocketAddr,
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicUsize, Ordering},
    },
};

use antiphon::auth::{Principal, Refusal, Verifier};
use axum::{body::Body, extract::Request, response::Response};
use base64::{
    Engine,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use form_urlencoded::{Serializer, parse};
use http::{HeaderMap, Method};
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};
use tokio::sync::watch;

use super::proofs::{self, Proof};

pub(crate) type Params = HashMap<String, String>;

const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";

/// Where it publishes what there is to know, if it has no path.
pub(crate) const METADATA: &str = "/.well-known/oauth-authorization-server";

/// What it does.
#[derive(Clone)]
pub(crate) struct Rules {
    /// Where it is found, if not at its own address.
    pub(crate) origin: Option<String>,
    /// The path of its issuer.
    pub(crate) path: &'static str,
    /// Where it publishes what there is to know.
    pub(crate) places: Vec<&'static str>,
    /// What its metadata says besides; null takes something out.
    pub(crate) metadata: Value,
    /// What its answers say of who they are from. `$` is its name.
    pub(crate) iss: Option<&'static str>,
    /// What it says in place of a code.
    pub(crate) refuses: Option<(&'static str, &'static str)>,
    /// How long its tokens last.
    pub(crate) lasts: Option<u64>,
    /// It gives tokens that renew others, each of which is good once.
    pub(crate) renews: bool,
    /// What it says instead of registering anybody.
    pub(crate) registers_not: Option<Value>,
    /// What its token endpoint says in place of tokens.
    pub(crate) gives_not: Option<(u16, String)>,
    /// What it adds to a token, or puts in place of something; null takes something out.
    pub(crate) token: Value,
    /// What has to stand in a proof.
    pub(crate) nonce: Option<&'static str>,
    /// It takes no notice of proofs.
    pub(crate) ignores_proofs: bool,
    /// What the places of its metadata answer instead.
    pub(crate) status: Option<u16>,
    /// Whoever comes to this path is led elsewhere.
    pub(crate) leads: Option<(&'static str, String)>,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            origin: None,
            path: "",
            places: vec![METADATA],
            metadata: json!({}),
            iss: None,
            refuses: None,
            lasts: Some(3600),
            renews: true,
            registers_not: None,
            gives_not: None,
            token: json!({}),
            nonce: None,
            ignores_proofs: false,
            status: None,
            leads: None,
        }
    }
}

/// How a client proves who it is.
#[derive(Clone)]
pub(crate) enum How {
    Public,
    Basic(String),
    Post(String),
    /// By signatures that can be checked with this key.
    Key(&'static dyn ring::signature::VerificationAlgorithm, Vec<u8>),
}

#[derive(Clone)]
struct Known {
    how: How,
    redirect_uris: Vec<String>,
}

/// What somebody was given.
#[derive(Clone, Debug)]
pub(crate) struct Granted {
    pub(crate) client: String,
    pub(crate) subject: String,
    pub(crate) resource: String,
    pub(crate) scopes: Vec<String>,
    /// The key that it is good with.
    pub(crate) key: Option<String>,
    /// All that came of one sign-in.
    family: usize,
}

struct Code {
    granted: Granted,
    redirect_uri: String,
    challenge: String,
}

/// One request.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) params: Params,
    /// What was sent, if that is JSON.
    pub(crate) json: Value,
}

#[derive(Default)]
struct Books {
    seen: Vec<Seen>,
    clients: HashMap<String, Known>,
    codes: HashMap<String, Code>,
    access: HashMap<String, Granted>,
    refresh: HashMap<String, (Granted, bool)>,
    assertions: HashMap<String, String>,
    revoked: HashSet<usize>,
    proofs: HashSet<String>,
    /// Everything that nobody else should ever see.
    secrets: Vec<String>,
}

/// The authorization server.
#[derive(Clone)]
pub(crate) struct Authority {
    pub(crate) address: SocketAddr,
    rules: Arc<Mutex<Rules>>,
    books: Arc<Mutex<Books>>,
    count: Arc<AtomicUsize>,
    /// Requests for tokens wait as long as this says so, and how many do.
    stalled: Arc<(watch::Sender<bool>, AtomicUsize)>,
}

impl Authority {
    pub(crate) async fn start(rules: Rules) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
            .await
            .expect("a port");
        let me = Self {
            address: listener.local_addr().expect("an address"),
            rules: Arc::new(Mutex::new(rules)),
            books: Arc::default(),
            count: Arc::default(),
            stalled: Arc::new((watch::Sender::new(false), AtomicUsize::new(0))),
        };
        let serving = me.clone();
        let app = axum::Router::new().fallback(move |request: Request| {
            let serving = serving.clone();
            async move { serving.answer(request).await }
        });
        tokio::spawn(async move { axum::serve(listener, app).await });
        me
    }

    pub(crate) fn origin(&self) -> String {
        let elsewhere = self.rules().origin.clone();
        elsewhere.unwrap_or_else(|| format!("http://{}", self.address))
    }

    /// Its name.
    pub(crate) fn issuer(&self) -> String {
        let path = self.rules().path;
        format!("{}{path}", self.origin())
    }

    pub(crate) fn rules(&self) -> MutexGuard<'_, Rules> {
        self.rules.lock().expect("unpoisoned")
    }

    fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().expect("unpoisoned")
    }

    /// Knows a client from before.
    pub(crate) fn know(&self, id: &str, how: How, redirect_uri: &str) {
        if let How::Basic(secret) | How::Post(secret) = &how {
            self.books().secrets.push(secret.clone());
        }
        let redirect_uris = vec![redirect_uri.to_owned()];
        let known = Known { how, redirect_uris };
        self.books().clients.insert(id.to_owned(), known);
    }

    /// Knows none of the clients any more.
    pub(crate) fn forget_clients(&self) {
        self.books().clients.clear();
    }

    /// Takes somebody's word for who this is.
    pub(crate) fn trust(&self, assertion: &str, subject: &str) {
        let mut books = self.books();
        books.secrets.push(assertion.to_owned());
        books
            .assertions
            .insert(assertion.to_owned(), subject.to_owned());
    }

    /// The requests to this path.
    pub(crate) fn seen(&self, path: &str) -> Vec<Seen> {
        let books = self.books();
        let seen = books.seen.iter().filter(|seen| seen.path == path);
        seen.cloned().collect()
    }

    /// The paths of all requests.
    pub(crate) fn paths(&self) -> Vec<String> {
        self.books()
            .seen
            .iter()
            .map(|seen| seen.path.clone())
            .collect()
    }

    /// How often people came to sign in.
    pub(crate) fn visits(&self) -> usize {
        let path = format!("{}/authorize", self.rules().path);
        self.seen(&path).len()
    }

    /// The requests for tokens of this grant.
    pub(crate) fn asked(&self, grant: &str) -> Vec<Seen> {
        let path = format!("{}/token", self.rules().path);
        let mut seen = self.seen(&path);
        seen.retain(|seen| seen.params["grant_type"] == grant);
        seen
    }

    /// What a token is good for.
    pub(crate) fn granted(&self, token: &str) -> Option<Granted> {
        let books = self.books();
        let granted = books.access.get(token)?;
        let is_revoked = books.revoked.contains(&granted.family);
        (!is_revoked).then(|| granted.clone())
    }

    /// Every access token is void; those that renew them are not.
    pub(crate) fn expire(&self) {
        self.books().access.clear();
    }

    /// So are those that renew them.
    pub(crate) fn revoke(&self) {
        let mut books = self.books();
        books.access.clear();
        books.refresh.clear();
    }

    /// Has requests for tokens wait from now on; what they ask for is done.
    pub(crate) fn stall(&self) {
        self.stalled.0.send_replace(true);
    }

    /// Whether one waits.
    pub(crate) fn is_stalled(&self) -> bool {
        self.stalled.1.load(Ordering::SeqCst) > 0
    }

    pub(crate) fn go_on(&self) {
        self.stalled.0.send_replace(false);
    }

    /// Whether a token that renews others was used twice.
    pub(crate) fn was_deceived(&self) -> bool {
        !self.books().revoked.is_empty()
    }

    /// Everything that nobody else should ever see.
    pub(crate) fn secrets(&self) -> Vec<String> {
        self.books().secrets.clone()
    }

    /// Whether this proof has not been seen before.
    pub(crate) fn is_fresh(&self, proof: &Proof) -> bool {
        self.books().proofs.insert(proof.id.clone())
    }

    /// Who lets in those who have a token for a server.
    pub(crate) fn verifier(&self, resource: String) -> impl Verifier {
        Audience(self.clone(), resource)
    }

    fn make(&self, what: &str) -> String {
        let number = self.count.fetch_add(1, Ordering::SeqCst);
        let made = format!("{what}-canary-{}-{number}", self.address.port());
        self.books().secrets.push(made.clone());
        made
    }

    /// Answers a request, whoever it came to.
    pub(crate) async fn answer(&self, request: Request) -> Response {
        let (head, body) = request.into_parts();
        let body = axum::body::to_bytes(body, 1 << 20).await.expect("a body");
        let query = head.uri.query().unwrap_or_default();
        let is_form = head
            .headers
            .get("content-type")
            .is_some_and(|kind| kind == "application/x-www-form-urlencoded");
        let params = match is_form {
            true => read(&body),
            false => read(query.as_bytes()),
        };
        let path = head.uri.path().to_owned();
        let seen = Seen {
            path: path.clone(),
            headers: head.headers,
            params,
            json: serde_json::from_slice(&body).unwrap_or_default(),
        };
        self.books().seen.push(seen.clone());
        let rules = self.rules().clone();
        if let Some((from, to)) = &rules.leads
            && *from == path
        {
            return Response::builder()
                .status(307)
                .header("location", to)
                .body(Body::empty())
                .expect("a response");
        }
        if head.method == Method::GET && rules.places.contains(&&*path) {
            return json_of(rules.status.unwrap_or(200), &self.metadata(&rules));
        }
        let Some(end) = path.strip_prefix(rules.path) else {
            return json_of(404, &json!({}));
        };
        match (head.method, end) {
            (Method::GET, "/authorize") => self.authorize(&rules, &seen),
            (Method::POST, "/register") => self.register(&rules, &seen),
            (Method::POST, "/token") => match self.given(&rules, &seen).await {
                Ok(tokens) => json_of(200, &tokens),
                Err((status, error)) => {
                    let mut response = json_of(status, &error);
                    if let Some(nonce) = rules.nonce {
                        let nonce = nonce.parse().expect("a header");
                        response.headers_mut().insert("dpop-nonce", nonce);
                    }
                    response
                }
            },
            _ => json_of(404, &json!({})),
        }
    }

    fn metadata(&self, rules: &Rules) -> Value {
        let issuer = self.issuer();
        let mut metadata = json!({
            "issuer": issuer,
            "authorization_endpoint": format!("{issuer}/authorize"),
            "token_endpoint": format!("{issuer}/token"),
            "registration_endpoint": format!("{issuer}/register"),
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none", "client_secret_basic"],
        });
        change(&mut metadata, &rules.metadata);
        metadata
    }

    fn authorize(&self, rules: &Rules, seen: &Seen) -> Response {
        let params = &seen.params;
        let known = self.books().clients.get(&params["client_id"]).cloned();
        let is_document = rules.metadata["client_id_metadata_document_supported"] == true
            && params["client_id"].starts_with("https://");
        let redirect_uri = &params["redirect_uri"];
        let is_welcome = match known {
            Some(known) => known.redirect_uris.contains(redirect_uri),
            None => is_document,
        };
        if !is_welcome {
            return json_of(400, &json!("who is that?"));
        }
        assert_eq!(params["response_type"], "code");
        assert_eq!(params["code_challenge_method"], "S256");
        let mut answer = Serializer::new(String::new());
        match rules.refuses {
            Some((error, why)) => {
                answer.append_pair("error", error);
                answer.append_pair("error_description", why);
            }
            None => {
                let code = self.make("code");
                answer.append_pair("code", &code);
                let granted = self.to(params, &params["client_id"], "ada", None);
                self.books().codes.insert(
                    code,
                    Code {
                        granted,
                        redirect_uri: redirect_uri.clone(),
                        challenge: params["code_challenge"].clone(),
                    },
                );
            }
        }
        answer.append_pair("state", &params["state"]);
        if let Some(iss) = rules.iss {
            answer.append_pair("iss", &iss.replace('$', &self.issuer()));
        }
        Response::builder()
            .status(302)
            .header("location", format!("{redirect_uri}?{}", answer.finish()))
            .body(Body::empty())
            .expect("a response")
    }

    fn to(&self, params: &Params, client: &str, subject: &str, key: Option<String>) -> Granted {
        let scopes = params.get("scope").map(String::as_str).unwrap_or_default();
        Granted {
            client: client.to_owned(),
            subject: subject.to_owned(),
            resource: params.get("resource").cloned().unwrap_or_default(),
            scopes: scopes.split_whitespace().map(str::to_owned).collect(),
            key,
            family: self.count.fetch_add(1, Ordering::SeqCst),
        }
    }

    fn register(&self, rules: &Rules, seen: &Seen) -> Response {
        if let Some(refusal) = &rules.registers_not {
            return json_of(400, refusal);
        }
        let id = format!("client-{}", self.count.fetch_add(1, Ordering::SeqCst));
        let mut client = seen.json.clone();
        let mut how = How::Public;
        if client["token_endpoint_auth_method"] == "client_secret_basic" {
            let secret = self.make("client-secret");
            client["client_secret"] = secret.as_str().into();
            how = How::Basic(secret);
        }
        client["client_id"] = id.as_str().into();
        let uris = client["redirect_uris"].as_array().expect("redirects");
        let uris = uris
            .iter()
            .map(|uri| uri.as_str().expect("a URI").to_owned());
        let known = Known {
            how,
            redirect_uris: uris.collect(),
        };
        self.books().clients.insert(id, known);
        json_of(201, &client)
    }

    async fn given(&self, rules: &Rules, seen: &Seen) -> Result<Value, (u16, Value)> {
        let given = self.give(rules, seen);
        let (stalled, count) = &*self.stalled;
        count.fetch_add(1, Ordering::SeqCst);
        _ = stalled.subscribe().wait_for(|stalled| !stalled).await;
        count.fetch_sub(1, Ordering::SeqCst);
        given
    }

    /// Answers at the token endpoint.
    fn give(&self, rules: &Rules, seen: &Seen) -> Result<Value, (u16, Value)> {
        let params = &seen.params;
        if let Some((status, text)) = &rules.gives_not {
            let mut text = text.clone();
            for (name, value) in params {
                text = text.replace(&format!("${name}$"), value);
            }
            let value = serde_json::from_str(&text).unwrap_or(Value::String(text));
            return Err((*status, value));
        }
        if params["grant_type"] == EXCHANGE {
            return self.vouch(params);
        }
        let client = self.client(rules, seen)?;
        let key = match seen.headers.get("dpop").filter(|_| !rules.ignores_proofs) {
            None => None,
            Some(proof) => {
                let place = format!("{}/token", self.issuer());
                let proof = proofs::read(proof.to_str().expect("ASCII"), "POST", &place);
                if rules.nonce != proof.nonce.as_deref() {
                    return Err(error("use_dpop_nonce"));
                }
                assert!(self.is_fresh(&proof), "a proof is used once");
                assert_eq!(proof.token, None, "there is no token yet");
                Some(proof.key)
            }
        };
        let granted = match &*params["grant_type"] {
            "authorization_code" => self.redeem(params, &client, key)?,
            "refresh_token" => self.refresh(params, &client, key.as_deref())?,
            "client_credentials" => self.to(params, &client, &client, key),
            JWT_BEARER => {
                let subject = self.books().assertions.get(&params["assertion"]).cloned();
                let subject = subject.ok_or_else(|| error("invalid_grant"))?;
                self.to(params, &client, &subject, key)
            }
            _ => return Err(error("unsupported_grant_type")),
        };
        Ok(self.tokens(rules, granted))
    }

    fn tokens(&self, rules: &Rules, granted: Granted) -> Value {
        let access = self.make("access-token");
        let mut tokens = json!({
            "access_token": access,
            "token_type": if granted.key.is_some() { "DPoP" } else { "Bearer" },
            "scope": granted.scopes.join(" "),
        });
        if let Some(lasts) = rules.lasts {
            tokens["expires_in"] = lasts.into();
        }
        if rules.renews {
            let refresh = self.make("refresh-token");
            tokens["refresh_token"] = refresh.as_str().into();
            let kept = (granted.clone(), false);
            self.books().refresh.insert(refresh, kept);
        }
        self.books().access.insert(access, granted);
        change(&mut tokens, &rules.token);
        tokens
    }

    /// RFC 7636, 4.6; RFC 6749, 4.1.3.
    fn redeem(
        &self,
        params: &Params,
        client: &str,
        key: Option<String>,
    ) -> Result<Granted, (u16, Value)> {
        let code = self.books().codes.remove(&params["code"]);
        let code = code.ok_or_else(|| error("invalid_grant"))?;
        let verifier = &params["code_verifier"];
        self.books().secrets.push(verifier.clone());
        let challenge = URL_SAFE_NO_PAD.encode(digest(&SHA256, verifier.as_bytes()));
        let is_good = challenge == code.challenge
            && params["redirect_uri"] == code.redirect_uri
            && params["resource"] == code.granted.resource
            && client == code.granted.client;
        match is_good {
            true => Ok(Granted {
                key,
                ..code.granted
            }),
            false => Err(error("invalid_grant")),
        }
    }

    /// A token is good once; whoever comes with one again has stolen it, or been stolen from.
    fn refresh(
        &self,
        params: &Params,
        client: &str,
        key: Option<&str>,
    ) -> Result<Granted, (u16, Value)> {
        let mut books = self.books();
        let unknown = || error("invalid_grant");
        let (granted, is_used) = books
            .refresh
            .get_mut(&params["refresh_token"])
            .ok_or_else(unknown)?;
        let was_used = std::mem::replace(is_used, true);
        let granted = granted.clone();
        if was_used {
            books.revoked.insert(granted.family);
        }
        let is_good = !books.revoked.contains(&granted.family)
            && granted.client == client
            && granted.resource == params["resource"]
            && granted.key.as_deref() == key;
        match is_good {
            true => Ok(granted),
            false => Err(error("invalid_grant")),
        }
    }

    /// Vouches for somebody at an authorization server (RFC 8693).
    fn vouch(&self, params: &Params) -> Result<Value, (u16, Value)> {
        let subject = self
            .books()
            .assertions
            .get(&params["subject_token"])
            .cloned();
        let subject = subject.ok_or_else(|| error("invalid_grant"))?;
        assert_eq!(
            params["requested_token_type"],
            "urn:ietf:params:oauth:token-type:id-jag"
        );
        assert_eq!(
            params["subject_token_type"],
            "urn:ietf:params:oauth:token-type:id_token"
        );
        assert_eq!(params["audience"], self.issuer());
        let assertion = self.make("id-jag");
        self.trust(&assertion, &subject);
        let mut issued = json!({
            "access_token": assertion,
            "issued_token_type": "urn:ietf:params:oauth:token-type:id-jag",
            "token_type": "N_A",
        });
        change(&mut issued, &self.rules().token);
        Ok(issued)
    }

    /// Who asks (RFC 6749, 2.3; RFC 7523, 2.2).
    fn client(&self, rules: &Rules, seen: &Seen) -> Result<String, (u16, Value)> {
        let params = &seen.params;
        let basic = seen.headers.get("authorization").map(|header| {
            let header = header.to_str().expect("ASCII");
            let joined = STANDARD.decode(header.strip_prefix("Basic ").expect("basic"));
            let joined = String::from_utf8(joined.expect("base64")).expect("ASCII");
            let (id, secret) = joined.split_once(':').expect("a pair");
            (plain(id), plain(secret))
        });
        let id = match &basic {
            Some((id, _)) => id.clone(),
            None => params["client_id"].clone(),
        };
        let stranger = || (401, json!({ "error": "invalid_client" }));
        let known = self.books().clients.get(&id).cloned();
        let is_document = rules.metadata["client_id_metadata_document_supported"] == true;
        let how = match known {
            Some(known) => known.how,
            None if is_document && id.starts_with("https://") => How::Public,
            None => return Err(stranger()),
        };
        let posted = params.get("client_secret");
        let assertion = params.get("client_assertion");
        let is_proven = match how {
            How::Public => basic.is_none() && posted.is_none() && assertion.is_none(),
            How::Basic(secret) => basic.is_some_and(|(_, given)| given == secret),
            How::Post(secret) => basic.is_none() && posted == Some(&secret),
            How::Key(algorithm, key) => {
                let assertion = assertion.ok_or_else(stranger)?;
                self.books().secrets.push(assertion.clone());
                let (header, claims) = proofs::verified(assertion, algorithm, &key);
                header["kid"] == "k1"
                    && claims["iss"] == *id
                    && claims["sub"] == *id
                    && claims["aud"] == *self.issuer()
                    && claims["exp"].as_u64() > claims["iat"].as_u64()
                    && self.books().proofs.insert(claims["jti"].to_string())
                    && params["client_assertion_type"]
                        == "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
            }
        };
        is_proven.then_some(id).ok_or_else(stranger)
    }
}

/// Lets in those who have a token for a server.
struct Audience(Authority, String);

impl Verifier for Audience {
    fn verify<'a>(
        &'a self,
        token: &'a str,
    ) -> std::pin::Pin<Box<dyn Future<Output = Result<Principal, Refusal>> + Send + 'a>> {
        Box::pin(async move {
            let granted = self.0.granted(token);
            let granted = granted.ok_or_else(|| Refusal::Invalid("unknown".into()))?;
            match granted.resource == self.1 {
                true => Ok(Principal::subject(granted.subject).scopes(granted.scopes)),
                false => Err(Refusal::Invalid("it is for another server".into())),
            }
        })
    }
}

fn error(code: &str) -> (u16, Value) {
    (400, json!({ "error": code }))
}

fn read(form: &[u8]) -> Params {
    let mut params = Params::new();
    for (name, value) in parse(form) {
        let before = params.insert(name.into_owned(), value.into_owned());
        assert_eq!(before, None, "nothing is said twice");
    }
    params
}

/// RFC 6749, 2.3.1.
fn plain(encoded: &str) -> String {
    let text = format!("x={encoded}");
    let (_, value) = parse(text.as_bytes()).next().expect("a value");
    value.into_owned()
}

/// Changes what is there; null takes something out.
pub(crate) fn change(what: &mut Value, by: &Value) {
    let all = what.as_object_mut().expect("an object");
    for (name, value) in by.as_object().into_iter().flatten() {
        match value {
            Value::Null => drop(all.remove(name)),
            value => drop(all.insert(name.clone(), value.clone())),
        }
    }
}

pub(crate) fn json_of(status: u16, value: &Value) -> Response {
    Response::builder()
        .status(status)
        .header("content-type", "application/json")
        .body(Body::from(value.to_string()))
        .expect("a response")
}
