//! Scenarios in which the server wants to know who is calling.

use std::error::Error;

use antiphon::{
    Client,
    client::{
        ErrorKind, Http,
        oauth::{Algorithm, Callback, IdentityProvider, OAuth, Registration, Secret, SigningKey},
    },
};
use http::header::LOCATION;
use http_body_util::Empty;
use hyper::body::Bytes;
use hyper_util::{client::legacy::Client as Web, rt::TokioExecutor};
use serde::Deserialize;
use serde_json::json;

use crate::scenarios::{Server, said};

type Boxed = Box<dyn Error + Send + Sync>;

/// The document about this client that the suite knows of.
const METADATA: &str = "https://conformance-test.local/client-metadata.json";

/// What the suite hands over.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Context {
    client_id: String,
    client_secret: String,
    issuer: String,
    private_key_pem: String,
    signing_algorithm: String,
    idp_client_id: String,
    idp_id_token: String,
    idp_token_endpoint: String,
    valid_jwt: String,
}

/// Signs in as the scenario wants it, and uses the server.
pub(crate) async fn authorized(server: &Server, scenario: &str) -> Result<(), Box<dyn Error>> {
    let context: Context = match &server.context {
        Some(context) => serde_json::from_str(context)?,
        None => Context::default(),
    };
    let oauth = oauth(server, scenario, context).await?;
    let client = Client::new("antiphon-conformance", env!("CARGO_PKG_VERSION"));
    let connection = client.connect(Http::new(&server.url).oauth(oauth)).await?;
    let tools = connection.tools().all().await?;
    for tool in tools {
        let result = connection.call_tool(&tool.name, json!({})).await?;
        println!("{}: {}", tool.name, said(&result));
    }
    connection.close().await;
    Ok(())
}

async fn oauth(server: &Server, scenario: &str, context: Context) -> Result<OAuth, Box<dyn Error>> {
    let Context {
        client_id,
        client_secret,
        ..
    } = context;
    let registration = || Registration::with_secret(&client_id, client_secret.as_str());
    let person = || OAuth::new("Antiphon conformance", browser()).client_metadata(METADATA);
    Ok(match scenario {
        "auth/pre-registration" => person().registered(context.issuer, registration()),
        "auth/client-credentials-basic" => {
            OAuth::client_credentials(issuer(server).await?, registration())
        }
        "auth/client-credentials-jwt" => {
            let algorithm = Algorithm::named(&context.signing_algorithm);
            let algorithm = algorithm.ok_or("there is no such algorithm")?;
            let key = SigningKey::from_pem(&context.private_key_pem, algorithm)?;
            let client = Registration::with_key(client_id, key);
            OAuth::client_credentials(issuer(server).await?, client)
        }
        "auth/enterprise-managed-authorization" => {
            let id_token = Secret::new(context.idp_id_token);
            let provider = IdentityProvider::new(
                context.idp_token_endpoint,
                context.idp_client_id,
                move || {
                    let id_token = id_token.clone();
                    async move { Ok(id_token) }
                },
            );
            OAuth::enterprise(issuer(server).await?, registration(), provider)
        }
        "auth/wif-jwt-bearer" => {
            let assertion = Secret::new(context.valid_jwt);
            let client = Registration::public(client_id);
            OAuth::workload(issuer(server).await?, client, move || {
                let assertion = assertion.clone();
                async move { Ok(assertion) }
            })
        }
        _ => person(),
    })
}

/// Programs are known to one authorization server; the suite does not say which, but its server does.
async fn issuer(server: &Server) -> Result<String, Box<dyn Error>> {
    let way = Http::new(&server.url);
    let client = Client::new("antiphon-conformance", env!("CARGO_PKG_VERSION"));
    let challenges = match client.connect(way.clone()).await {
        Ok(_) => Vec::new(),
        Err(error) => match error.into_kind() {
            ErrorKind::Unauthorized { challenges, .. } => challenges,
            other => return Err(format!("{other:?}").into()),
        },
    };
    let metadata = way.resource_metadata(&challenges).await?;
    let issuer = metadata.authorization_servers.into_iter().next();
    Ok(issuer.ok_or("the server names no authorization server")?)
}

/// A browser whose user says yes to everything: the suite's pages lead back at once.
fn browser() -> Callback {
    Callback::new("http://localhost:3000/callback", |sign_in| async move {
        let page = sign_in.url().parse()?;
        let web = Web::builder(TokioExecutor::new()).build_http::<Empty<Bytes>>();
        let response = web.get(page).await?;
        let location = response.headers().get(LOCATION);
        let location = location.ok_or_else(|| Boxed::from("the page leads nowhere"))?;
        Ok(location.to_str()?.to_owned())
    })
}
