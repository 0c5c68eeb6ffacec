//! The client inside programs: in tasks, fields and wrappers, and dropped in odd places.

use std::{
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex},
    time::Duration,
};

use antiphon::{
    Client, Server,
    client::{
        Completed, Connect, Connection, Error, ErrorKind, Incoming, Listing, Pending, Subscription,
    },
    memory,
    types::{SubscriptionFilter, Tool},
};
use antiphon_tests::{
    direct::{Acts, Direct, silence},
    script::{answers, asking, form, respond, script, text},
};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::{sync::mpsc, time::timeout};

const PATIENCE: Duration = Duration::from_secs(10);

fn greeter() -> Server {
    Server::new("greeter", "1.0").tool("greet", async || "hello")
}

/// What programs do with futures and types must compile.
#[test]
fn everything_can_go_to_another_thread() {
    fn send<T: Send>(_: &T) {}
    fn both<T: Send + Sync + 'static>() {}
    both::<Client>();
    both::<Connection>();
    both::<Error>();
    fn movable<T: Send + 'static>() {}
    movable::<Listing<Tool>>();
    movable::<Subscription>();
    #[expect(dead_code, reason = "it must compile, no more")]
    fn futures(client: &Client, connection: &Connection, paused: antiphon::client::Paused) {
        send(&client.connect(memory(greeter())));
        send(&connection.call_tool("t", json!({})));
        send(&connection.read_resource("x"));
        send(&connection.tools().all());
        send(&connection.listen(SubscriptionFilter::default()));
        send(&connection.resume::<Completed>(paused));
        send(&connection.clone().close());
    }
}

/// A host's own wrapper: generic over the way and the arguments, with a call in a field.
struct Host {
    connection: Connection,
    running: Option<Pending<'static, Result<String, Error>>>,
}

impl Host {
    async fn open<C: Connect>(client: &Client, to: C) -> Result<Self, Error> {
        Ok(Self {
            connection: client.connect(to).await?,
            running: None,
        })
    }

    fn start<A: Serialize + Send + 'static>(&mut self, name: String, arguments: A) {
        let connection = self.connection.clone();
        self.running = Some(Box::pin(async move {
            let result = connection.call_tool(&name, arguments).await?;
            Ok(result.first_text().unwrap_or_default().to_owned())
        }));
    }

    async fn finish(&mut self) -> Option<Result<String, Error>> {
        Some(self.running.take()?.await)
    }
}

#[tokio::test]
async fn a_host_may_wrap_it() {
    let mut host = Host::open(&Client::new("tests", "1.0"), memory(greeter()))
        .await
        .expect("connected");
    host.start("greet".into(), json!({}));
    let said = host.finish().await.expect("a call").expect("a result");
    assert_eq!(said, "hello");
}

/// The way a window asks: the callback sends the question to another task and waits for it. The
/// callback may also call the server itself.
#[tokio::test]
async fn callbacks_may_ask_elsewhere_and_call_back() {
    let (questions, mut asked) = mpsc::channel(1);
    let connection = Arc::new(Mutex::new(None::<Connection>));
    let own = connection.clone();
    let client = Client::new("tests", "1.0").on_form(move |form| {
        let (questions, own) = (questions.clone(), own.clone());
        async move {
            let connection = own.lock().expect("unpoisoned").clone().ok_or("none")?;
            let other = connection.call_tool("other", ()).await?;
            assert_eq!(other.first_text(), Some("other"));
            let (reply, answer) = tokio::sync::oneshot::channel();
            questions.send((form.message.clone(), reply)).await?;
            let ok: bool = answer.await?;
            Ok::<_, Box<dyn std::error::Error + Send + Sync>>(form.accept(json!({ "ok": ok })))
        }
    });
    let (peer, _) = script(|request| {
        let params = &request["params"];
        vec![respond(
            request,
            &match (params["name"].as_str(), params.get("inputResponses")) {
                (Some("other"), _) => text("other"),
                (_, None) => asking([("k", form("Sure?"))], None),
                (_, Some(answers)) => text(&answers.to_string()),
            },
        )]
    });
    let connected = client.connect(peer).await.expect("connected");
    *connection.lock().expect("unpoisoned") = Some(connected.clone());
    tokio::spawn(async move {
        let (message, reply) = asked.recv().await.expect("a question");
        assert_eq!(message, "Sure?");
        _ = reply.send(false);
    });
    let called = timeout(PATIENCE, connected.call_tool("t", ())).await;
    let result = called.expect("no hang").expect("a result");
    assert!(result.first_text().expect("a text").contains("false"));
}

/// A connection that outlives its runtime can still be dropped, and says so when it is used.
#[test]
fn a_connection_may_outlive_its_runtime() {
    let runtime = || {
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
    };
    let first = runtime().expect("a runtime");
    let (connection, listing, running) = first.block_on(async {
        let connection = Client::new("tests", "1.0").connect(memory(greeter())).await;
        let connection = connection.expect("connected");
        let clone = connection.clone();
        let mut running = Box::pin(async move { clone.call_tool("greet", ()).await });
        _ = timeout(Duration::ZERO, &mut running).await;
        (connection.clone(), connection.tools(), running)
    });
    drop(first);
    let second = runtime().expect("a runtime");
    let error = second.block_on(timeout_call(&connection));
    assert!(matches!(error.kind(), ErrorKind::Transport), "{error:?}");
    drop(running);
    drop(listing);
    drop(connection);
}

async fn timeout_call(connection: &Connection) -> Error {
    let called = timeout(PATIENCE, connection.call_tool("greet", ())).await;
    called.expect("no hang").expect_err("no server")
}

/// What was made from a connection works on without it.
#[tokio::test]
async fn a_list_and_a_call_outlive_their_connection() {
    let connection = Client::new("tests", "1.0").connect(memory(greeter())).await;
    let connection = connection.expect("connected");
    let (tools, clone) = (connection.tools(), connection.clone());
    let call = tokio::spawn(async move { clone.call_tool("greet", ()).await });
    drop(connection);
    assert_eq!(tools.all().await.expect("tools").len(), 1);
    call.await.expect("no panic").expect("a result");
}

/// A call that is dropped by its own callback is over, and nobody else is harmed.
#[tokio::test]
async fn a_callback_may_drop_its_own_call() {
    type Call = Pin<Box<dyn Future<Output = ()> + Send>>;
    let (peer, seen) = answers([asking([("k", form("?"))], None), text("other")]);
    let (over, mut is_over) = mpsc::channel::<()>(1);
    let client = Client::new("tests", "1.0").on_form(move |form| {
        let over = over.clone();
        async move {
            over.send(()).await?;
            std::future::pending::<()>().await;
            Ok::<_, mpsc::error::SendError<()>>(form.decline())
        }
    });
    let connection = client.connect(peer).await.expect("connected");
    let clone = connection.clone();
    let mut call: Call = Box::pin(async move { _ = clone.call_tool("t", ()).await });
    tokio::select! {
        () = &mut call => panic!("the callback never answers"),
        asked = is_over.recv() => asked.expect("asked"),
    }
    drop(call);
    let other = connection.call_tool("t", ()).await.expect("a result");
    assert_eq!(other.first_text(), Some("other"));
    assert_eq!(seen.messages().len(), 2);
}

/// Closing means closed, on any transport: for those that wait, and for those that come later.
#[tokio::test]
async fn a_closed_connection_is_closed_for_every_clone() {
    struct Silent;
    impl Acts for Silent {
        fn answer(&self, request: &Value) -> Incoming {
            let params = json!({ "notifications": {} });
            let method = "notifications/subscriptions/acknowledged";
            let acknowledged = json!({ "jsonrpc": "2.0", "method": method, "params": params });
            let listens = request["method"] == "subscriptions/listen";
            silence(listens.then_some(&acknowledged))
        }
    }
    let client = Client::new("tests", "1.0");
    let connection = client.connect(Direct(Arc::new(Silent))).await;
    let connection = connection.expect("connected");
    let clone = connection.clone();
    let waiting = tokio::spawn(async move { clone.call_tool("t", ()).await });
    let listening = connection.listen(SubscriptionFilter::default()).await;
    let mut listening = listening.expect("subscribed");
    let listening = tokio::spawn(async move { listening.next().await });
    tokio::time::sleep(Duration::from_millis(50)).await;
    connection.clone().close().await;
    let waited = timeout(PATIENCE, waiting).await.expect("no hang");
    let error = waited.expect("no panic").expect_err("closed");
    assert!(matches!(error.kind(), ErrorKind::Transport), "{error:?}");
    let listened = timeout(PATIENCE, listening).await.expect("no hang");
    let error = listened.expect("no panic").expect("an error");
    assert!(matches!(
        error.expect_err("closed").kind(),
        ErrorKind::Transport
    ));
    let error = timeout_call(&connection).await;
    assert!(matches!(error.kind(), ErrorKind::Transport), "{error:?}");
}
