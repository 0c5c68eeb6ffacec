//! The demo's server on its transports.

use std::net::{Ipv4Addr, SocketAddr};

use antiphon::{
    Server, http,
    sealing::{KeyRing, Sealing},
};
use axum::Router;
use serde_json::json;
use tokio::net::TcpListener;

use super::{
    flows::{self, SignIn},
    sign_in,
};
use crate::{calling::interrupted, failure::Failure};

/// The variable that may hold the keys of the server.
const KEYS: &str = "ANTIPHON_DEMO_KEYS";

/// The server, with the keys of the environment if there are any: whoever has the same ones goes on
/// with a call that another process began.
fn server(sign_in: SignIn) -> Result<Server, Failure> {
    let server = flows::server(sign_in);
    if std::env::var_os(KEYS).is_none() {
        return Ok(server);
    }
    let keys = KeyRing::from_env(KEYS).map_err(|error| Failure::usage(error.to_string()))?;
    Ok(server.sealing(Sealing::keys(keys).audience("antiphon-demo")))
}

/// Serves on standard input and output until the input ends. There is no page to sign in at, so
/// everybody is signed in at once.
pub(super) async fn stdio() -> Result<(), Failure> {
    antiphon::stdio::serve(server(SignIn::at_once())?)
        .await
        .map_err(|error| Failure::start("cannot serve on standard input and output", &error))
}

/// Serves on a port of this machine until Ctrl-C.
pub(super) async fn http(port: u16, auto_sign_in: bool, json: bool) -> Result<(), Failure> {
    let served = Served::bind(port, auto_sign_in).await?;
    match json {
        true => say!("{}", json!({ "url": served.url() })),
        false => say!("{}", served.url()),
    }
    tell!("Tools that ask are served there until Ctrl-C.");
    tokio::select! {
        served = served.run() => Ok(served?),
        // Calls that wait for answers are not lost: they hold nothing here.
        () = interrupted() => Ok(()),
    }
}

/// The server on a port of this machine, with its sign-in page.
pub(super) struct Served {
    listener: TcpListener,
    address: SocketAddr,
    app: Router,
}

impl Served {
    pub(super) async fn bind(port: u16, auto_sign_in: bool) -> Result<Self, Failure> {
        let what = format!("cannot serve on 127.0.0.1:{port}");
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await;
        let listener = listener.map_err(|error| Failure::start(&what, &error))?;
        let address = listener.local_addr();
        let address = address.map_err(|error| Failure::start(&what, &error))?;
        let sign_in = SignIn::page(format!("http://{address}/sign-in"), auto_sign_in);
        let app =
            sign_in::page(sign_in.clone()).route_service("/mcp", http::service(server(sign_in)?));
        Ok(Self {
            listener,
            address,
            app,
        })
    }

    /// Where clients find it.
    pub(super) fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    pub(super) async fn run(self) -> std::io::Result<()> {
        axum::serve(self.listener, self.app).await
    }
}
