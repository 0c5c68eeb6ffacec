//! What handlers declare to need is found, or asked for, before they run.

use std::marker::PhantomData;
use std::sync::{
    Arc, Mutex,
    atomic::{AtomicU32, Ordering},
};

use antiphon::{
    Answer, Args, Ask, Call, Context, Form, FromCall, Kind, Prompt, Resolve, Resolved, Resource,
    Server, State, Stop, Tool, resolver,
    schemars::{self, JsonSchema},
    testing::Script,
    tool,
};
use serde::Deserialize;
use serde_json::{Value, json};

/// What ran, in order.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<&'static str>>>);

impl Log {
    fn note(&self, what: &'static str) {
        self.0.lock().expect("nobody panics").push(what);
    }

    fn take(&self) -> Vec<&'static str> {
        std::mem::take(&mut self.0.lock().expect("nobody panics"))
    }
}

#[derive(Deserialize, JsonSchema)]
struct Order {
    title: String,
    copies: u32,
}

#[derive(Clone)]
struct Stock(u32);

#[resolver]
async fn stock(#[arg] title: String, State(log): State<Log>) -> Stock {
    log.note("stock");
    Stock(if title == "Dune" { 9 } else { 0 })
}

#[derive(Clone)]
struct Delivery {
    days: u32,
}

#[resolver]
async fn delivery(
    Args(order): Args<Order>,
    Resolved(Stock(stock)): Resolved<Stock>,
    State(log): State<Log>,
) -> Result<Delivery, Stop> {
    log.note("delivery");
    let days = if stock >= order.copies { 2 } else { 21 };
    Ok(Delivery { days })
}

#[derive(Form, Clone)]
struct Backorder {
    accept: bool,
}

#[resolver]
async fn backorder(
    Resolved(Stock(stock)): Resolved<Stock>,
    Resolved(Delivery { days }): Resolved<Delivery>,
    call: Call,
    ask: Ask,
    State(log): State<Log>,
) -> Result<Backorder, Stop> {
    log.note("backorder");
    let Order { title, copies } = call.args()?;
    if stock >= copies {
        return Ok(Backorder { accept: true });
    }
    ask.form("backorder", format!("{title} takes {days} days. Order it?"))
}

/// Order a book.
#[tool]
async fn order(
    #[arg] title: String,
    #[arg] copies: u32,
    Resolved(backorder): Resolved<Backorder>,
    Resolved(Delivery { days }): Resolved<Delivery>,
) -> String {
    match backorder.accept {
        true => format!("{copies} of {title} in {days} days."),
        false => "Nothing was ordered.".to_owned(),
    }
}

fn shop() -> (Server, Log) {
    let log = Log::default();
    let server = Server::new("shop", "1.0")
        .add(order())
        .with_state(log.clone());
    (server, log)
}

#[tokio::test]
async fn three_levels_ask_only_what_they_must() {
    let (server, log) = shop();
    let dune = json!({ "title": "Dune", "copies": 2 });
    let played = Script::new().call_tool(&server, "order", dune).await;
    assert_eq!(played.text(), "2 of Dune in 2 days.");
    played.assert_rounds(Vec::<Vec<&str>>::new());
    assert_eq!(log.take(), ["stock", "delivery", "backorder"]);

    let rare = json!({ "title": "Neuromancer", "copies": 2 });
    let played = Script::new()
        .accept("backorder", json!({ "accept": true }))
        .call_tool(&server, "order", rare.clone())
        .await;
    assert_eq!(played.text(), "2 of Neuromancer in 21 days.");
    assert_eq!(
        played.message("backorder"),
        "Neuromancer takes 21 days. Order it?"
    );
    played.assert_rounds([["backorder"]]);
    // Once in each of two rounds, however many take it.
    assert_eq!(
        log.take(),
        [
            "stock",
            "delivery",
            "backorder",
            "stock",
            "delivery",
            "backorder"
        ]
    );

    let declined = Script::new().decline("backorder");
    let played = declined.call_tool(&server, "order", rare).await;
    assert_eq!(played.failure(), "The user declined to answer `backorder`.");
}

#[tokio::test]
async fn nothing_of_a_resolver_is_in_the_schema_or_can_be_supplied() {
    let (server, log) = shop();
    let client = antiphon::Client::new("tests", "1.0")
        .connect(antiphon::memory(server.clone()))
        .await
        .expect("in memory");
    let tools = client.tools().all().await.expect("a list");
    let properties = &tools[0].input_schema["properties"];
    let names: Vec<_> = properties.as_object().expect("an object").keys().collect();
    assert_eq!(names, ["title", "copies"]);
    // Whatever a client sends along, it is not what the resolvers give.
    let forged = json!({
        "title": "Neuromancer", "copies": 1,
        "stock": 9, "backorder": { "accept": true }, "Stock": [9],
    });
    let played = Script::new()
        .decline("backorder")
        .call_tool(&server, "order", forged)
        .await;
    assert!(played.failure().contains("declined"));
    log.take();
}

#[derive(Form, Clone)]
struct Size {
    size: u32,
}
#[derive(Clone)]
struct Width(u32);
#[derive(Clone)]
struct Height(u32);
#[derive(Clone)]
struct Area(u32);

#[resolver]
async fn width(ask: Ask) -> Result<Width, Stop> {
    let Size { size } = ask.form("size", "How wide?")?;
    Ok(Width(size))
}

#[resolver]
async fn height(ask: Ask) -> Result<Height, Stop> {
    let Size { size } = ask.form("size", "How high?")?;
    Ok(Height(size))
}

#[resolver]
async fn area(
    Resolved(Width(width)): Resolved<Width>,
    Resolved(Height(height)): Resolved<Height>,
) -> Area {
    Area(width * height)
}

#[tokio::test]
async fn questions_of_independent_resolvers_leave_together_under_names_of_their_own() {
    let paint = async |Resolved(Area(area)): Resolved<Area>, ask: Ask| {
        let Size { size } = ask.form("size", format!("Which brush for {area}?"))?;
        Ok::<_, Stop>(format!("{area} with {size}"))
    };
    let paint = move |area, ask| paint(area, ask);
    let server = Server::new("paint", "1.0").tool("paint", paint);
    let played = Script::new()
        .accept("width.size", json!({ "size": 3 }))
        .accept("height.size", json!({ "size": 4 }))
        .accept("size", json!({ "size": 5 }))
        .call_tool(&server, "paint", ())
        .await;
    assert_eq!(played.text(), "12 with 5");
    played.assert_rounds([vec!["width.size", "height.size"], vec!["size"]]);
}

#[tokio::test]
async fn independent_resolvers_run_side_by_side() {
    #[derive(Clone)]
    struct Left;
    #[derive(Clone)]
    struct Right;
    type Meeting = Arc<tokio::sync::Barrier>;

    // Each waits for the other to be running.
    #[resolver]
    async fn left(State(meeting): State<Meeting>) -> Left {
        meeting.wait().await;
        Left
    }
    #[resolver]
    async fn right(State(meeting): State<Meeting>) -> Right {
        meeting.wait().await;
        Right
    }
    async fn meet(_: Resolved<Left>, _: Resolved<Right>) -> &'static str {
        "met"
    }
    let server = Server::new("tests", "1.0")
        .tool("meet", meet)
        .with_state(Meeting::new(tokio::sync::Barrier::new(2)));
    let played = Script::new().call_tool(&server, "meet", ()).await;
    assert_eq!(played.text(), "met");
}

#[tokio::test]
async fn whoever_takes_an_answer_goes_on_without() {
    async fn wrap(Resolved(width): Resolved<Answer<Width>>) -> String {
        match width {
            Answer::Accept(Width(width)) => format!("{width} wide"),
            Answer::Decline => "as wide as it is".to_owned(),
            Answer::Cancel => "another time".to_owned(),
        }
    }
    // One goes on, the other does not: the call ends.
    async fn both(
        _: Resolved<Answer<Width>>,
        Resolved(Area(area)): Resolved<Area>,
    ) -> Result<String, Stop> {
        Ok(area.to_string())
    }
    let server = Server::new("paint", "1.0")
        .tool("wrap", wrap)
        .tool("both", both);
    let wrap = async |script: Script| {
        script
            .call_tool(&server, "wrap", ())
            .await
            .text()
            .to_owned()
    };
    let accept = Script::new().accept("width.size", json!({ "size": 3 }));
    assert_eq!(wrap(accept).await, "3 wide");
    assert_eq!(
        wrap(Script::new().decline("width.size")).await,
        "as wide as it is"
    );
    assert_eq!(
        wrap(Script::new().cancel("width.size")).await,
        "another time"
    );
    let played = Script::new()
        .decline("width.size")
        .accept("height.size", json!({ "size": 4 }))
        .call_tool(&server, "both", ())
        .await;
    assert_eq!(
        played.failure(),
        "The user declined to answer `width.size`."
    );
}

#[tokio::test]
async fn prompts_and_templates_take_them_alike() {
    #[derive(Clone)]
    struct Reason(String);
    #[derive(Form)]
    struct Why {
        why: String,
    }
    #[derive(Deserialize, JsonSchema)]
    struct Id {
        id: u32,
    }
    #[resolver]
    async fn reason(#[arg] id: u32, ask: Ask) -> Result<Reason, Stop> {
        let Why { why } = ask.form("reason", format!("Why {id}?"))?;
        Ok(Reason(why))
    }
    async fn read(Args(Id { id }): Args<Id>, Resolved(Reason(why)): Resolved<Reason>) -> String {
        format!("{id} because of {why}")
    }
    // Its variable is known to the resolver alone.
    async fn only(Resolved(Reason(why)): Resolved<Reason>) -> String {
        why
    }
    let server = Server::new("desk", "1.0")
        .prompt("brief", read)
        .resource("vault://{id}", read)
        .resource("safe://{id}", only);
    let people = || Script::new().accept("reason", json!({ "why": "an audit" }));
    let played = people()
        .get_prompt(&server, "brief", json!({ "id": "7" }))
        .await;
    assert_eq!(played.text(), "7 because of an audit");
    let played = people().read_resource(&server, "vault://7").await;
    assert_eq!(played.text(), "7 because of an audit");
    assert_eq!(played.message("reason"), "Why 7?");
    let played = people().read_resource(&server, "safe://8").await;
    assert_eq!(played.message("reason"), "Why 8?");
}

/// What a resolver gives is no argument of a prompt either: it is not listed, and a client that
/// sends it along is asked all the same.
#[tokio::test]
async fn nothing_of_a_resolver_is_an_argument_of_a_prompt() {
    #[derive(Deserialize, JsonSchema)]
    struct Topic {
        topic: String,
    }
    async fn brief(
        Args(Topic { topic }): Args<Topic>,
        Resolved(Width(width)): Resolved<Width>,
    ) -> String {
        format!("{topic}, {width} wide")
    }
    let server = Server::<()>::new("desk", "1.0").prompt("brief", brief);
    let client = antiphon::Client::new("tests", "1.0")
        .connect(antiphon::memory(server.clone()))
        .await
        .expect("in memory");
    let prompts = client.prompts().all().await.expect("a list");
    let arguments = prompts[0].arguments.as_deref().unwrap_or_default();
    let names: Vec<_> = arguments.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["topic"]);
    let forged = json!({ "topic": "tea", "width": "7", "size": "7", "width.size": "7" });
    let played = Script::new()
        .accept("width.size", json!({ "size": 3 }))
        .get_prompt(&server, "brief", forged)
        .await;
    assert_eq!(played.text(), "tea, 3 wide");
    played.assert_rounds([["width.size"]]);
}

/// What a server says of a tool that it cannot offer.
fn refused<S: Clone + Send + Sync + 'static>(tool: Tool<S>) -> String {
    let error = Server::<S>::new("tests", "1.0").offer_tools().insert(tool);
    error.expect_err("refused").to_string()
}

#[test]
fn an_argument_that_the_tool_does_not_have_is_found_when_it_is_registered() {
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema matters")]
    struct Other {
        title: String,
        number: Option<String>,
    }
    async fn other(_: Args<Other>, _: Resolved<Backorder>) {}
    assert_eq!(
        refused(Tool::<Log>::new("other", other)),
        "the tool `other`: the resolver `delivery` (`other` → `backorder` → `delivery`) takes the \
         argument `copies`, which there is not; there are `title`, `number`"
    );
}

#[test]
fn an_argument_of_another_type_is_found_when_the_tool_is_registered() {
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema matters")]
    struct Other {
        title: String,
        copies: String,
    }
    async fn other(_: Args<Other>, _: Resolved<Backorder>) {}
    assert_eq!(
        refused(Tool::<Log>::new("other", other)),
        "the tool `other`: the resolver `delivery` (`other` → `backorder` → `delivery`) takes the \
         argument `copies` as integer, and it is string"
    );
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema matters")]
    struct Optional {
        title: Option<String>,
        copies: u32,
    }
    async fn optional(_: Args<Optional>, _: Resolved<Stock>) {}
    let told = refused(Tool::<Log>::new("optional", optional));
    assert!(told.contains("`optional` → `stock`"), "{told}");
    assert!(
        told.contains("needs the argument `title`, which may be left out"),
        "{told}"
    );
}

#[test]
fn prompts_and_templates_are_checked_alike() {
    async fn none(_: Resolved<Stock>) -> &'static str {
        ""
    }
    let server = Server::<Log>::new("tests", "1.0")
        .offer_prompts()
        .offer_resources();
    let told = server.insert(Prompt::new("none", none));
    let told = told.expect_err("refused").to_string();
    assert_eq!(
        told,
        "the prompt `none`: the resolver `stock` (`none` → `stock`) takes the argument `title`, \
         which there is not; there is none"
    );
    let told = server.insert(Resource::new("books://{isbn}", none));
    let told = told.expect_err("refused").to_string();
    assert!(
        told.ends_with("which there is not; there is `isbn`"),
        "{told}"
    );
}

#[tokio::test]
async fn what_is_spelt_is_text_whatever_else_it_is() {
    #[derive(Clone)]
    struct Spelt(String);
    #[derive(Deserialize, JsonSchema)]
    struct Id {
        id: u32,
    }
    #[resolver]
    async fn spelt(#[arg] id: String) -> Spelt {
        Spelt(id)
    }
    async fn both(Args(Id { id }): Args<Id>, Resolved(Spelt(spelt)): Resolved<Spelt>) -> String {
        format!("{id} {spelt}")
    }
    let server = Server::<()>::new("desk", "1.0").prompt("both", both);
    let played = Script::new()
        .get_prompt(&server, "both", json!({ "id": "007" }))
        .await;
    assert_eq!(played.text(), "7 007");
    assert!(refused(Tool::<()>::new("both", both)).contains("as string, and it is integer"));
}

#[tokio::test]
async fn a_question_is_no_failure() {
    async fn wide(width: Result<Resolved<Width>, Stop>) -> String {
        match width {
            Ok(Resolved(Width(width))) => width.to_string(),
            Err(stop) => format!("failed: {stop}"),
        }
    }
    let server = Server::<()>::new("paint", "1.0").tool("wide", wide);
    let played = Script::new()
        .accept("width.size", json!({ "size": 3 }))
        .call_tool(&server, "wide", ())
        .await;
    assert_eq!(played.text(), "3");
    let declined = Script::new().decline("width.size");
    let played = declined.call_tool(&server, "wide", ()).await;
    assert_eq!(
        played.text(),
        "failed: The user declined to answer `width.size`."
    );
}

#[derive(Clone)]
struct Hen;
#[derive(Clone)]
struct Egg;

#[resolver(state = Log)]
async fn hen(_: Resolved<Egg>) -> Hen {
    Hen
}

#[resolver(state = Log)]
async fn egg(_: Resolved<Hen>) -> Egg {
    Egg
}

#[test]
fn a_circle_is_found_when_the_tool_is_registered() {
    async fn lay(_: Resolved<Hen>) {}
    assert_eq!(
        refused(Tool::<Log>::new("lay", lay)),
        "the tool `lay`: its resolvers wait for each other (`lay` → `hen` → `egg` → `hen`)"
    );
}

/// Resolvers by hand, which do not say what they take.
macro_rules! silent {
    ($name:ident, $called:literal, $next:ident) => {
        #[derive(Clone)]
        struct $name;

        impl Resolve<()> for $name {
            const NAME: &'static str = $called;

            async fn resolve(call: &Context<'_>, state: &()) -> Result<Self, Stop> {
                call.resolve::<$next, _>(state).await?;
                Ok(Self)
            }
        }
    };
}
silent!(Rock, "rock", Paper);
silent!(Paper, "paper", Scissors);
silent!(Scissors, "scissors", Rock);
silent!(Mirror, "mirror", Mirror);

/// Fails the test if it hangs.
async fn error_of(server: Server, name: &str) -> String {
    let client = antiphon::Client::new("tests", "1.0")
        .connect(antiphon::memory(server))
        .await
        .expect("in memory");
    let called = client.call_tool(name, json!({}));
    let called = tokio::time::timeout(std::time::Duration::from_secs(20), called);
    let error = called
        .await
        .expect("it does not hang")
        .expect_err("an error");
    error.to_string()
}

#[tokio::test]
async fn a_circle_that_nobody_told_of_does_not_hang() {
    async fn one(_: Resolved<Rock>) {}
    // Begun from several sides at once, no one is within itself.
    async fn all(_: Resolved<Paper>, _: Resolved<Rock>, _: Resolved<Scissors>) {}
    async fn itself(_: Resolved<Mirror>) {}
    let server = Server::<()>::new("tests", "1.0")
        .tool("one", one)
        .tool("all", all)
        .tool("itself", itself);
    let told = error_of(server.clone(), "one").await;
    assert!(
        told.contains("`rock` → `paper` → `scissors` → `rock` wait for each other"),
        "{told}"
    );
    let told = error_of(server.clone(), "all").await;
    assert!(told.contains("wait for each other"), "{told}");
    let told = error_of(server, "itself").await;
    assert!(told.contains("`mirror` → `mirror`"), "{told}");
}

#[tokio::test]
async fn two_of_one_name_are_refused_early_and_late() {
    #[derive(Clone)]
    struct Other;
    #[resolver(name = "stock", state = Log)]
    async fn other() -> Other {
        Other
    }
    async fn both(_: Resolved<Other>, _: Resolved<Stock>) {}
    let told = refused(Tool::<Log>::new("both", both));
    assert!(
        told.contains("two of its resolvers have the name `stock`"),
        "{told}"
    );

    #[derive(Clone)]
    struct One;
    #[derive(Clone)]
    struct Two;
    #[resolver(name = "same", state = ())]
    async fn one() -> One {
        One
    }
    #[resolver(name = "same", state = ())]
    async fn two() -> Two {
        Two
    }
    /// Its keys could be those of `same`.
    #[derive(Clone)]
    struct Three;
    impl Resolve<()> for Three {
        const NAME: &'static str = "same.too";

        async fn resolve(_: &Context<'_>, (): &()) -> Result<Self, Stop> {
            Ok(Self)
        }
    }
    /// Takes two behind everybody's back.
    struct Sly<T>(PhantomData<T>);
    impl<T: Resolve<()>> FromCall<()> for Sly<T> {
        const ASKS: bool = true;
        async fn from_call(call: &Context<'_>, state: &()) -> Result<Self, Stop> {
            call.resolve::<One, _>(state).await?;
            call.resolve::<T, _>(state).await?;
            Ok(Self(PhantomData))
        }
    }
    async fn same(_: Sly<Two>) {}
    async fn alike(_: Sly<Three>) {}
    let server = Server::<()>::new("tests", "1.0")
        .tool("same", same)
        .tool("alike", alike);
    let told = error_of(server.clone(), "same").await;
    assert!(
        told.contains("two resolvers have the name `same`"),
        "{told}"
    );
    let told = error_of(server, "alike").await;
    assert!(told.contains("`same` and `same.too`"), "{told}");
}

#[tokio::test]
async fn a_failure_is_told_once_to_each_who_takes_it() {
    #[derive(Clone)]
    struct Broken;
    #[derive(Clone)]
    struct First;
    #[resolver]
    async fn broken(State(count): State<Arc<AtomicU32>>) -> Result<Broken, std::io::Error> {
        count.fetch_add(1, Ordering::Relaxed);
        Err(std::io::Error::other("no paper left"))
    }
    #[resolver]
    async fn first(_: Resolved<Broken>) -> First {
        First
    }
    async fn print(
        first: Result<Resolved<First>, Stop>,
        broken: Result<Resolved<Broken>, Stop>,
    ) -> String {
        let told = [first.map(drop), broken.map(drop)].map(|it| it.expect_err("fails").to_string());
        told.join(", ")
    }
    let count = Arc::<AtomicU32>::default();
    let server = Server::new("printer", "1.0")
        .tool("print", print)
        .with_state(count.clone());
    let played = Script::new().call_tool(&server, "print", ()).await;
    assert_eq!(played.text(), "no paper left, no paper left");
    assert_eq!(count.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn work_in_a_resolver_is_done_once_under_its_name() {
    #[derive(Clone)]
    struct Quote(u32);
    #[resolver]
    async fn quote(State(count): State<Arc<AtomicU32>>, ask: Ask) -> Result<Quote, Stop> {
        let work = async || Ok(count.fetch_add(1, Ordering::Relaxed));
        Ok(Quote(ask.once("work", work).await?))
    }
    async fn buy(Resolved(Quote(quote)): Resolved<Quote>, ask: Ask) -> Result<String, Stop> {
        // The same key, and other work.
        let own: u32 = ask.once("work", async || Ok(7)).await?;
        let Size { size } = ask.form("size", format!("{quote}, {own}?"))?;
        Ok(format!("{quote} {own} {size}"))
    }
    let count = Arc::<AtomicU32>::default();
    let server = Server::new("shop", "1.0")
        .tool("buy", buy)
        .with_state(count.clone());
    let played = Script::new()
        .accept("size", json!({ "size": 1 }))
        .call_tool(&server, "buy", ())
        .await;
    assert_eq!(played.text(), "0 7 1");
    assert_eq!(count.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn a_client_that_cannot_be_asked_is_told_all_that_it_lacks() {
    #[derive(Clone)]
    struct Places;
    #[resolver]
    async fn places(ask: Ask) -> Result<Places, Stop> {
        ask.roots("places")?;
        Ok(Places)
    }
    async fn both(_: Resolved<Places>, _: Resolved<Width>) -> &'static str {
        "never"
    }
    let server = Server::<()>::new("tests", "1.0").tool("both", both);
    let played = Script::new()
        .without(Kind::Form)
        .without(Kind::Roots)
        .call_tool(&server, "both", ())
        .await;
    let error = played.error();
    assert_eq!(error.code, -32021);
    let lacks = error
        .data
        .as_ref()
        .map(Value::to_string)
        .unwrap_or_default();
    assert!(
        lacks.contains("roots") && lacks.contains("elicitation"),
        "{lacks}"
    );
}

#[test]
fn a_resolver_stays_a_function_to_be_called() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime");
    let Area(area) = runtime.block_on(area(Resolved(Width(3)), Resolved(Height(4))));
    assert_eq!(area, 12);
}
