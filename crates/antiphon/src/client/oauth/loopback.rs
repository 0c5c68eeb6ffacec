//! [`Loopback`]: people sign in with a browser on the machine that this program runs on.

use std::{
    collections::VecDeque,
    convert::Infallible,
    fmt, io,
    net::Ipv4Addr,
    sync::{Arc, OnceLock},
    time::Duration,
};

use bytes::Bytes;
use http::{
    HeaderValue, Method, Request, Response, StatusCode,
    header::{CACHE_CONTROL, CONNECTION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY},
};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    net::{TcpListener, TcpStream},
    task::{AbortHandle, JoinSet},
};

use super::{Redirect, SignIn, Visit};
use crate::{
    client::{Pending, error::Boxed},
    web::Payload,
};

const PATH: &str = "/callback";

/// How long a browser may take to say what it wants.
const PATIENCE: Duration = Duration::from_secs(10);

/// As many browsers as are listened to at once.
const VISITORS: usize = 16;

/// How long to wait before another one is let in after that failed.
const BREATH: Duration = Duration::from_millis(100);

type Show = Arc<dyn Fn(&SignIn) + Send + Sync>;

/// Opens a browser, and listens on this machine for it to come back (RFC 8252).
///
/// ```no_run
/// use antiphon::client::{Http, oauth::{Loopback, OAuth}};
///
/// let way = Http::new("https://example.com/mcp").oauth(OAuth::new("Desk", Loopback::new()));
/// ```
#[derive(Clone)]
pub struct Loopback {
    show: Option<Show>,
    opens: bool,
    port: Option<u16>,
}

impl Default for Loopback {
    fn default() -> Self {
        Self::new()
    }
}

impl Loopback {
    /// Opens the browser of the system.
    pub fn new() -> Self {
        Self {
            show: None,
            opens: true,
            port: None,
        }
    }

    /// Tells of the page before a browser is opened, so that it can be shown to the person.
    pub fn show(mut self, show: impl Fn(&SignIn) + Send + Sync + 'static) -> Self {
        self.show = Some(Arc::new(show));
        self
    }

    /// Opens no browser: whoever is [shown](Self::show) the page opens it.
    pub fn no_browser(mut self) -> Self {
        self.opens = false;
        self
    }

    /// Listens on this port and no other, so that people come back to
    /// `http://127.0.0.1:PORT/callback`: for authorization servers that know this client, and compare
    /// the port as well. Unless set, on any that is free.
    pub fn port(mut self, port: u16) -> Self {
        self.port = Some(port);
        self
    }
}

impl Redirect for Loopback {
    fn begin<'a>(&'a self, known: Option<&'a str>) -> Pending<'a, Result<Box<dyn Visit>, Boxed>> {
        Box::pin(async move {
            let listener = match self.port {
                Some(port) => TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await,
                None => listen(known.and_then(port)).await,
            };
            let listener = listener.map_err(|error| {
                format!("no browser can come back to this program, since it cannot listen: {error}")
            })?;
            let port = listener.local_addr()?.port();
            let visit = LoopbackVisit {
                redirect_uri: format!("http://127.0.0.1:{port}{PATH}"),
                listener,
                loopback: self.clone(),
            };
            Ok(Box::new(visit) as Box<dyn Visit>)
        })
    }
}

/// Listens where it did before, if that is free.
async fn listen(port: Option<u16>) -> io::Result<TcpListener> {
    if let Some(port) = port
        && let Ok(listener) = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await
    {
        return Ok(listener);
    }
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await
}

/// The port of an address that was used before.
fn port(known: &str) -> Option<u16> {
    let rest = known.strip_prefix("http://127.0.0.1:")?;
    rest.strip_suffix(PATH)?.parse().ok()
}

struct LoopbackVisit {
    redirect_uri: String,
    listener: TcpListener,
    loopback: Loopback,
}

impl Visit for LoopbackVisit {
    fn redirect_uri(&self) -> &str {
        &self.redirect_uri
    }

    fn send(self: Box<Self>, sign_in: SignIn) -> Pending<'static, Result<String, Boxed>> {
        Box::pin(async move {
            let Loopback { show, opens, .. } = &self.loopback;
            if let Some(show) = show {
                show(&sign_in);
            }
            if *opens {
                let url = sign_in.url.clone();
                // It waits for programs of the system's.
                let opened = tokio::task::spawn_blocking(move || open::that_detached(url)).await;
                match opened {
                    Ok(Ok(())) => {}
                    // Who was shown the page can open it as well.
                    _ if show.is_some() => {}
                    Ok(Err(error)) => {
                        return Err(format!("no browser can be opened: {error}").into());
                    }
                    Err(error) => return Err(error.into()),
                }
            }
            Ok(answered(&self.listener, sign_in).await)
        })
    }
}

/// Waits for a browser to come with the answer. Whoever comes with anything else is told so.
async fn answered(listener: &TcpListener, sign_in: SignIn) -> String {
    let awaited = Arc::new(Awaited {
        sign_in,
        answer: OnceLock::new(),
    });
    let mut visitors = JoinSet::new();
    let mut order = VecDeque::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    order.push_back(visitors.spawn(serve(stream, awaited.clone())));
                    // Who says nothing must not keep others from being heard.
                    if order.len() > VISITORS && let Some(first) = order.pop_front() {
                        first.abort();
                    }
                }
                // One that left at once is no reason to give up. There may be no room for more.
                Err(_) => tokio::time::sleep(BREATH).await,
            },
            // Whoever brought the answer has been thanked by then.
            Some(_) = visitors.join_next() => {
                order.retain(|visitor: &AbortHandle| !visitor.is_finished());
                if let Some(answer) = awaited.answer.get() {
                    return answer.clone();
                }
            }
        }
    }
}

/// What is waited for.
struct Awaited {
    sign_in: SignIn,
    answer: OnceLock<String>,
}

async fn serve(stream: TcpStream, awaited: Arc<Awaited>) {
    let service = service_fn(|request: Request<Incoming>| {
        let response = respond(&request, &awaited);
        async move { Ok::<_, Infallible>(response) }
    });
    let serving = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(PATIENCE)
        .keep_alive(false)
        .serve_connection(TokioIo::new(stream), service);
    _ = tokio::time::timeout(PATIENCE, serving).await;
}

fn respond(request: &Request<Incoming>, awaited: &Awaited) -> Response<Payload> {
    let url = request.uri().to_string();
    if request.method() != Method::GET || request.uri().path() != PATH {
        return page(StatusCode::NOT_FOUND, "There is nothing here.");
    }
    // What another page made up is not for us (AUTH-C-56).
    if !awaited.sign_in.is_answered_by(&url) {
        let text = "This is not what was waited for. Go back to the program and begin again.";
        return page(StatusCode::BAD_REQUEST, text);
    }
    // A browser may come twice.
    _ = awaited.answer.set(url);
    page(
        StatusCode::OK,
        "Done. You can close this page and go back to the program.",
    )
}

fn page(status: StatusCode, text: &str) -> Response<Payload> {
    let page = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Antiphon</title>\
         <p>{text}</p></html>\n"
    );
    let mut response = Response::new(Payload(Bytes::from(page)));
    *response.status_mut() = status;
    for (name, value) in [
        (CONTENT_TYPE, "text/html; charset=utf-8"),
        (CONTENT_SECURITY_POLICY, "default-src 'none'"),
        (REFERRER_POLICY, "no-referrer"),
        (CACHE_CONTROL, "no-store"),
        (CONNECTION, "close"),
    ] {
        response
            .headers_mut()
            .insert(name, HeaderValue::from_static(value));
    }
    response
}

impl fmt::Debug for Loopback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loopback")
            .field("opens", &self.opens)
            .finish_non_exhaustive()
    }
}
