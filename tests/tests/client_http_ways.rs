//! The ways of the client's HTTP transport to a server: TLS, proxies, and both.

use std::{error::Error as _, io, process::Stdio, sync::Arc, time::Duration};

use antiphon::client::{
    Connect, Error, ErrorKind, Events, Http, Incoming, Outgoing, Transport,
    rustls::{
        self, ClientConfig, RootCertStore, ServerConfig,
        crypto::ring,
        pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer},
        server::WebPkiClientVerifier,
    },
};
use antiphon_tests::socket::{Peer, Request, Socket, json};
use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair};
use tokio_rustls::TlsAcceptor;

const PONG: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;

async fn ask(http: Http) -> Result<String, Error> {
    let transport = http.connect(Events::new(|_| {})).await?;
    let request = Outgoing::new(1, "server/discover", "{}");
    match transport.send(request).await? {
        Incoming::Whole(message) => Ok(String::from_utf8(message.to_vec()).expect("UTF-8")),
        other => panic!("{other:?}"),
    }
}

/// The server's side of TLS for these names, and a client's that trusts it.
fn certified(names: &[&str]) -> (TlsAcceptor, Arc<ClientConfig>) {
    let (server, client, _) = certified_as_pem(names);
    (server, client)
}

/// The same, with the certificate as text.
fn certified_as_pem(names: &[&str]) -> (TlsAcceptor, Arc<ClientConfig>, String) {
    let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
    let mut made = CertificateParams::new(names.clone()).expect("names");
    made.distinguished_name = DistinguishedName::new();
    made.distinguished_name
        .push(DnType::CommonName, names.join(" "));
    let key = KeyPair::generate().expect("a key");
    let signed = made.self_signed(&key).expect("a certificate");
    let (certificate, pem) = (signed.der().clone(), signed.pem());
    let key = PrivatePkcs8KeyDer::from(key.serialize_der());
    let provider = Arc::new(ring::default_provider());
    let mut server = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![certificate.clone()], PrivateKeyDer::Pkcs8(key))
        .expect("a key that fits");
    let mut roots = RootCertStore::empty();
    roots.add(certificate).expect("a root");
    let mut client = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    // Not spoken here, so it must not be offered.
    client.alpn_protocols = vec![b"h2".to_vec()];
    server.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    (TlsAcceptor::from(Arc::new(server)), Arc::new(client), pem)
}

/// Answers one request over TLS, if it gets as far.
async fn secure<S>(acceptor: &TlsAcceptor, stream: S) -> Option<Request>
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
{
    let mut peer = Peer(acceptor.accept(stream).await.ok()?);
    assert_eq!(peer.0.get_ref().1.alpn_protocol(), Some(&b"http/1.1"[..]));
    let request = peer.read().await;
    peer.write(&json(PONG)).await;
    Some(request)
}

fn https(socket: &Socket, host: &str) -> String {
    let port = socket.origin();
    let port = port.rsplit(':').next().expect("a port");
    format!("https://{host}:{port}/mcp")
}

#[tokio::test]
async fn a_certificate_that_is_trusted_is_good() {
    for host in ["127.0.0.1", "localhost"] {
        let socket = Socket::bind().await;
        let (acceptor, trusting) = certified(&[host]);
        let http = Http::new(https(&socket, host))
            .bearer("t")
            .tls_config(trusting);
        let server = async { secure(&acceptor, socket.accept_raw().await).await };
        let (answer, request) = tokio::join!(ask(http), server);
        assert_eq!(answer.expect("an answer"), PONG);
        let request = request.expect("a request");
        assert_eq!(request.line(), "POST /mcp HTTP/1.1");
        assert_eq!(request.header("authorization"), Some("Bearer t"));
    }
}

#[tokio::test]
async fn a_certificate_that_is_not_is_told() {
    let (acceptor, _) = certified(&["127.0.0.1"]);
    let (elsewhere, by_name) = certified(&["elsewhere.test"]);
    let (_, stranger) = certified(&["stranger.test"]);
    for (acceptor, config, words) in [
        (&acceptor, stranger, &["certificate", "UnknownIssuer"][..]),
        (&elsewhere, by_name, &["certificate", "elsewhere.test"]),
    ] {
        let socket = Socket::bind().await;
        let url = https(&socket, "127.0.0.1");
        let http = Http::new(url).bearer("t").tls_config(config);
        let server = async { secure(acceptor, socket.accept_raw().await).await };
        let (answer, request) = tokio::join!(ask(http), server);
        assert!(request.is_none(), "nothing is sent");
        let error = answer.expect_err("no trust");
        assert!(matches!(error.kind(), ErrorKind::Transport), "{error:?}");
        let text = error.to_string();
        for word in words {
            assert!(text.contains(word), "{text}");
        }
        assert_eq!(
            text.matches("invalid peer certificate").count(),
            1,
            "{text}"
        );
        // And for programs.
        let cause = error
            .source()
            .and_then(|cause| cause.downcast_ref::<io::Error>());
        let cause = cause.and_then(|cause| cause.get_ref()?.downcast_ref::<rustls::Error>());
        assert!(
            matches!(cause, Some(rustls::Error::InvalidCertificate(_))),
            "{cause:?}"
        );
    }
}

/// A certificate of the client's own is for the server, and not for wherever that says its
/// metadata is.
#[tokio::test]
async fn a_client_certificate_is_for_one_origin() {
    let params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).expect("names");
    let key = KeyPair::generate().expect("a key");
    let certificate = params.self_signed(&key).expect("a certificate");
    let certificate = certificate.der().clone();
    let key = || PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let mut roots = RootCertStore::empty();
    roots.add(certificate.clone()).expect("a root");
    let provider = Arc::new(ring::default_provider());
    let verifier =
        WebPkiClientVerifier::builder_with_provider(Arc::new(roots.clone()), Arc::clone(&provider));
    let verifier = verifier.allow_unauthenticated().build();
    let server = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_client_cert_verifier(verifier.expect("a verifier"))
        .with_single_cert(vec![certificate.clone()], key())
        .expect("a key that fits");
    let acceptor = TlsAcceptor::from(Arc::new(server));
    let client = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(roots)
        .with_client_auth_cert(vec![certificate], key())
        .expect("a key that fits");

    let (ours, other) = (Socket::bind().await, Socket::bind().await);
    let url = https(&ours, "127.0.0.1");
    let http = Http::new(&*url).tls_config(Arc::new(client));
    for (socket, shows) in [(&ours, true), (&other, false), (&ours, true)] {
        let place = https(socket, "127.0.0.1");
        let challenges = [format!("Bearer resource_metadata=\"{place}\"")];
        let metadata = json(&format!(r#"{{"resource":"{url}"}}"#));
        let server = async {
            let stream = acceptor.accept(socket.accept_raw().await).await;
            let mut peer = Peer(stream.expect("a handshake"));
            peer.read().await;
            peer.write(&metadata).await;
            peer.0.get_ref().1.peer_certificates().is_some()
        };
        let (found, shown) = tokio::join!(http.resource_metadata(&challenges), server);
        found.expect("metadata");
        assert_eq!(shown, shows, "{place}");
    }
}

/// The system does not know the certificate, if it knows any.
#[tokio::test]
async fn the_system_decides_by_default() {
    let (acceptor, _) = certified(&["127.0.0.1"]);
    let socket = Socket::bind().await;
    let http = Http::new(https(&socket, "127.0.0.1"));
    let answer = tokio::select! {
        answer = ask(http) => answer,
        _ = async {
            secure(&acceptor, socket.accept_raw().await).await;
            std::future::pending::<()>().await;
        } => unreachable!("it does not end"),
    };
    let text = answer.expect_err("no trust").to_string();
    assert!(text.contains("certificate"), "{text}");
}

#[tokio::test]
async fn a_server_that_does_not_shake_hands_is_given_up() {
    let socket = Socket::bind().await;
    let (_, config) = certified(&["127.0.0.1"]);
    let http = Http::new(https(&socket, "127.0.0.1"))
        .tls_config(config)
        .connect_timeout(Duration::from_millis(100));
    let (answer, mut peer) = tokio::join!(ask(http), socket.accept());
    let error = answer.expect_err("no connection");
    assert!(matches!(error.kind(), ErrorKind::Transport), "{error:?}");
    assert!(error.to_string().contains("within 100ms"), "{error}");
    peer.is_left().await;
}

#[tokio::test]
async fn a_proxy_is_told_the_whole_address() {
    let proxy = Socket::bind().await;
    let url = proxy.origin().replace("http://", "http://me:pass%20word@");
    let http = Http::new("http://server.test:8080/mcp?a").proxy(url);
    let answer = json(PONG);
    let (message, (request, _)) = tokio::join!(ask(http), proxy.answer(&answer));
    assert_eq!(message.expect("an answer"), PONG);
    assert_eq!(
        request.line(),
        "POST http://server.test:8080/mcp?a HTTP/1.1"
    );
    assert_eq!(request.header("host"), Some("server.test:8080"));
    assert_eq!(
        request.header("proxy-authorization"),
        Some("Basic bWU6cGFzcyB3b3Jk")
    );
}

#[tokio::test]
async fn a_proxy_sees_nothing_of_a_secure_connection() {
    let proxy = Socket::bind().await;
    let (acceptor, config) = certified(&["server.test"]);
    let url = proxy.origin().replace("http://", "http://me:pass@");
    let http = Http::new("https://server.test/mcp")
        .bearer("t")
        .tls_config(config)
        .proxy(url);
    let server = async {
        let (request, peer) = proxy.answer("HTTP/1.1 200 Connected\r\n\r\n").await;
        (request, secure(&acceptor, peer.0).await)
    };
    let (message, (tunnel, request)) = tokio::join!(ask(http), server);
    assert_eq!(message.expect("an answer"), PONG);
    assert_eq!(tunnel.line(), "CONNECT server.test:443 HTTP/1.1");
    assert_eq!(
        tunnel.header("proxy-authorization"),
        Some("Basic bWU6cGFzcw==")
    );
    assert_eq!(tunnel.header("authorization"), None);
    let request = request.expect("a request");
    assert_eq!(request.line(), "POST /mcp HTTP/1.1");
    assert_eq!(request.header("host"), Some("server.test"));
    assert_eq!(request.header("proxy-authorization"), None);
    assert_eq!(request.header("authorization"), Some("Bearer t"));
}

/// The proxy itself may want TLS, for either kind of server.
#[tokio::test]
async fn a_proxy_may_be_secure() {
    let proxy = Socket::bind().await;
    let (acceptor, config) = certified(&["127.0.0.1", "server.test"]);
    let url = https(&proxy, "127.0.0.1");
    let http = Http::new("http://server.test/mcp")
        .tls_config(Arc::clone(&config))
        .proxy(&url);
    let server = async { secure(&acceptor, proxy.accept_raw().await).await };
    let (message, request) = tokio::join!(ask(http), server);
    assert_eq!(message.expect("an answer"), PONG);
    let request = request.expect("a request");
    assert_eq!(request.line(), "POST http://server.test/mcp HTTP/1.1");

    let http = Http::new("https://server.test/mcp")
        .tls_config(config)
        .proxy(&url);
    let server = async {
        let stream = acceptor.accept(proxy.accept_raw().await).await;
        let mut peer = Peer(stream.expect("a handshake"));
        assert_eq!(peer.read().await.line(), "CONNECT server.test:443 HTTP/1.1");
        peer.write("HTTP/1.1 200 Connected\r\n\r\n").await;
        secure(&acceptor, peer.0).await
    };
    let (message, request) = tokio::join!(ask(http), server);
    assert_eq!(message.expect("an answer"), PONG);
    assert_eq!(request.expect("a request").line(), "POST /mcp HTTP/1.1");
}

#[tokio::test]
async fn a_proxy_that_refuses_is_named() {
    for (answer, words) in [
        (
            "HTTP/1.1 407 Who\r\ncontent-length: 0\r\n\r\n",
            "proxy authorization required",
        ),
        (
            "HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n",
            "unsuccessful",
        ),
    ] {
        let proxy = Socket::bind().await;
        let (_, config) = certified(&["server.test"]);
        let http = Http::new("https://server.test/mcp")
            .tls_config(config)
            .proxy(proxy.origin().replace("http://", "http://me:hidden@"));
        let (outcome, _) = tokio::join!(ask(http), proxy.answer(answer));
        let error = outcome.expect_err("no tunnel");
        assert!(matches!(error.kind(), ErrorKind::Transport), "{error:?}");
        let text = error.to_string();
        assert!(
            text.contains(&format!("through the proxy {}", proxy.origin())),
            "{text}"
        );
        assert!(text.contains(words), "{text}");
        assert!(!text.contains("hidden"));
    }
}

/// A process that asks the server at `url`, in this environment and no other.
fn caller(url: &str, environment: &[(&str, &str)]) -> tokio::process::Child {
    tokio::process::Command::new(env!("CARGO_BIN_EXE_antiphon-tests-caller"))
        .arg(url)
        .env_clear()
        .envs(environment.iter().copied())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("it starts")
}

const DISCOVERED: &str =
    r#"{"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"],"capabilities":{}}}"#;

#[tokio::test]
async fn the_environment_names_the_proxy() {
    let url = "http://server.invalid/mcp";
    for name in ["HTTP_PROXY", "http_proxy", "ALL_PROXY"] {
        let proxy = Socket::bind().await;
        let child = caller(url, &[(name, &proxy.origin())]);
        let (request, _peer) = proxy.answer(&json(DISCOVERED)).await;
        assert_eq!(
            request.line(),
            "POST http://server.invalid/mcp HTTP/1.1",
            "{name}"
        );
        let output = child.wait_with_output().await.expect("it ends");
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            "2026-07-28\n",
            "{name}"
        );
    }
    let proxy = Socket::bind().await;
    let origin = proxy.origin();
    let spared = [
        ("HTTP_PROXY", &*origin),
        ("NO_PROXY", "other.invalid,server.invalid"),
    ];
    let output = caller(url, &spared)
        .wait_with_output()
        .await
        .expect("it ends");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(
        text.contains("no connection to http://server.invalid"),
        "{text}"
    );
    assert!(!text.contains("proxy"), "{text}");
    assert!(proxy.is_quiet().await);
}

/// What the system trusts can be told by the environment, too.
#[tokio::test]
async fn a_private_authority_can_be_trusted_by_the_environment() {
    let (acceptor, _, pem) = certified_as_pem(&["localhost"]);
    let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("private-authority.pem");
    std::fs::write(&file, pem).expect("written");
    let file = file.to_str().expect("UTF-8");
    let socket = Socket::bind().await;
    let url = https(&socket, "localhost");
    let child = caller(&url, &[("SSL_CERT_FILE", file)]);
    let stream = acceptor
        .accept(socket.accept_raw().await)
        .await
        .expect("a handshake");
    let mut peer = Peer(stream);
    peer.read().await;
    peer.write(&json(DISCOVERED)).await;
    let output = child.wait_with_output().await.expect("it ends");
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "2026-07-28\n",
        "{text}"
    );
}
