//! Handlers that ask in a straight line: what is asked in which round, and what becomes of answers.

use std::time::Duration;

use antiphon::{
    Answer, Args, Ask, Choice, Context, Form, FromCall, Kind, Messages, RawForm, RequestState,
    Responses, Sample, Server, Stop,
    schemars::{self, JsonSchema},
    testing::Script,
    types::{ElicitRequestParams, FormSchema, InputRequest, InputRequired, StringSchema},
};
use serde::Deserialize;
use serde_json::json;

#[derive(Form)]
struct Name {
    name: String,
}

#[derive(Form)]
struct Confirm {
    confirm: bool,
}

#[derive(Debug, Choice)]
enum Size {
    Small,
    Large,
}

#[derive(Form)]
struct Sized_ {
    size: Size,
}

async fn greet(ask: Ask) -> Result<String, Stop> {
    let Name { name } = ask.form("name", "Who are you?")?;
    Ok(format!("Hello, {name}!"))
}

async fn both(ask: Ask) -> Result<String, Stop> {
    let (name, size) = (
        ask.form::<Name>("name", "Name?"),
        ask.form::<Sized_>("size", "Size?"),
    );
    let (name, size) = (name?, size?);
    Ok(format!("{:?} {}", size.size, name.name))
}

/// Three questions in a row.
async fn row(ask: Ask) -> Result<String, Stop> {
    let Name { name: first } = ask.form("first", "First?")?;
    let Name { name: second } = ask.form("second", format!("After {first}?"))?;
    let Name { name: third } = ask.form("third", format!("After {first} and {second}?"))?;
    Ok(format!("{first} {second} {third}"))
}

async fn branch(ask: Ask) -> Result<String, Stop> {
    Ok(match ask.form("confirm", "Sure?")? {
        Answer::Accept(Confirm { confirm }) => format!("said {confirm}"),
        Answer::Decline => "declined".to_owned(),
        Answer::Cancel => "cancelled".to_owned(),
    })
}

fn server() -> Server {
    Server::new("asking", "1.0")
        .tool("greet", greet)
        .tool("both", both)
        .tool("row", row)
        .tool("branch", branch)
}

fn name(name: &str) -> serde_json::Value {
    json!({ "name": name })
}

#[tokio::test]
async fn a_question_ends_one_run_and_its_answer_is_there_in_the_next() {
    let people = Script::new().accept("name", name("Ada"));
    let played = people.call_tool(&server(), "greet", ()).await;
    assert_eq!(played.text(), "Hello, Ada!");
    assert_eq!(played.message("name"), "Who are you?");
    played.assert_rounds([["name"]]);
}

#[tokio::test]
async fn what_is_asked_before_the_first_question_mark_leaves_together() {
    let people = Script::new()
        .accept("size", json!({ "size": "large" }))
        .accept("name", name("Ada"));
    let played = people.call_tool(&server(), "both", ()).await;
    assert_eq!(played.text(), "Large Ada");
    played.assert_rounds([["name", "size"]]);
}

#[tokio::test]
async fn answers_are_known_in_all_later_rounds() {
    let people = Script::new()
        .accept("first", name("a"))
        .accept("second", name("b"))
        .accept("third", name("c"));
    let played = people.call_tool(&server(), "row", ()).await;
    assert_eq!(played.text(), "a b c");
    assert_eq!(played.message("third"), "After a and b?");
    played.assert_rounds([["first"], ["second"], ["third"]]);
}

#[tokio::test]
async fn who_does_not_answer_ends_the_call_unless_the_handler_wants_to_know() {
    let server = server();
    for (people, told, branched) in [
        (
            Script::new().decline("name"),
            "The user declined to answer `name`.",
            "declined",
        ),
        (
            Script::new().cancel("name"),
            "The user did not answer `name`.",
            "cancelled",
        ),
    ] {
        let played = people.call_tool(&server, "greet", ()).await;
        assert_eq!(played.failure(), told);
        let people = match branched {
            "declined" => Script::new().decline("confirm"),
            _ => Script::new().cancel("confirm"),
        };
        let played = people.call_tool(&server, "branch", ()).await;
        assert_eq!(played.text(), branched);
    }
    let people = Script::new().accept("confirm", json!({ "confirm": false }));
    let played = people.call_tool(&server, "branch", ()).await;
    assert_eq!(played.text(), "said false");
}

/// A decline is recorded like any answer: nothing asks again, and nothing makes a yes of it.
#[tokio::test]
async fn a_decline_is_remembered() {
    async fn soft(ask: Ask) -> Result<String, Stop> {
        let sure: Answer<Confirm> = ask.form("confirm", "Sure?")?;
        let Name { name } = ask.form("name", "Name?")?;
        Ok(format!("{} {name}", sure.accepted().is_some()))
    }
    let server = Server::new("soft", "1.0").tool("soft", soft);
    let people = Script::new().decline("confirm").accept("name", name("Ada"));
    let played = people.call_tool(&server, "soft", ()).await;
    assert_eq!(played.text(), "false Ada");
    played.assert_rounds([["confirm"], ["name"]]);
}

/// MRTR-S-30
#[tokio::test]
async fn what_is_missing_is_asked_again_and_what_is_there_is_kept() {
    let people = Script::new()
        .accept("name", name("Ada"))
        .skip("size")
        .accept("size", json!({ "size": "small" }));
    let played = people.call_tool(&server(), "both", ()).await;
    assert_eq!(played.text(), "Small Ada");
    played.assert_rounds([vec!["name", "size"], vec!["size"]]);
}

/// Prompts, templates and resources ask as tools do.
#[tokio::test]
async fn everything_asks_alike() {
    #[derive(Deserialize, JsonSchema)]
    struct Topic {
        topic: String,
    }
    #[derive(Deserialize, JsonSchema)]
    struct Id {
        id: u32,
    }
    async fn brief(Args(Topic { topic }): Args<Topic>, ask: Ask) -> Result<Messages, Stop> {
        let Name { name } = ask.form("name", format!("Who reads about {topic}?"))?;
        Ok(Messages::new().user(format!("Brief {name} on {topic}.")))
    }
    async fn vault(Args(Id { id }): Args<Id>, ask: Ask) -> Result<String, Stop> {
        let Name { name } = ask.form("name", "Who wants to know?")?;
        Ok(format!("{name} may read {id}"))
    }
    async fn fixed(ask: Ask) -> Result<String, Stop> {
        let Name { name } = ask.form("name", "Who wants to know?")?;
        Ok(format!("the secret of {name}"))
    }
    let server = Server::new("all", "1.0")
        .prompt("brief", brief)
        .resource("vault://{id}", vault)
        .resource("vault://fixed", fixed);
    let people = Script::new().accept("name", name("Ada"));
    let played = people
        .get_prompt(&server, "brief", json!({ "topic": "tea" }))
        .await;
    assert_eq!(played.text(), "Brief Ada on tea.");
    for (uri, text) in [
        ("vault://7", "Ada may read 7"),
        ("vault://fixed", "the secret of Ada"),
    ] {
        let played = people.read_resource(&server, uri).await;
        assert_eq!(played.text(), text);
        played.assert_rounds([["name"]]);
    }
    let played = Script::new()
        .decline("name")
        .read_resource(&server, "vault://7")
        .await;
    let error = played.error();
    assert_eq!(error.code, -32603);
    assert_eq!(error.message, "The user declined to answer `name`.");
}

#[tokio::test]
async fn completions_of_models_and_roots_are_asked_for_too() {
    async fn sum(ask: Ask) -> Result<String, Stop> {
        let summary = ask.sample("summary", Sample::user("Sum up.", 100));
        let roots = ask.roots("roots");
        let (summary, roots) = (summary?, roots?);
        let text = summary.first_text().unwrap_or_default();
        let roots: Vec<_> = roots.iter().map(|root| root.uri.as_str()).collect();
        Ok(format!("{text} in {}", roots.join(" ")))
    }
    let server = Server::new("sum", "1.0").tool("sum", sum);
    let people = Script::new()
        .sample("summary", "short")
        .roots("roots", ["file:///srv", "file:///home"]);
    let played = people.call_tool(&server, "sum", ()).await;
    assert_eq!(played.text(), "short in file:///srv file:///home");
    played.assert_rounds([["summary", "roots"]]);
    let people = Script::new()
        .answer("summary", json!({ "action": "accept" }))
        .sample("summary", "short")
        .roots("roots", ["file:///srv"]);
    let played = people.call_tool(&server, "sum", ()).await;
    assert_eq!(played.text(), "short in file:///srv");
    played.assert_rounds([vec!["summary", "roots"], vec!["summary"]]);
}

/// MRTR-S-20, MRTR-S-21: nothing is sent, and all that is missing is named.
#[tokio::test]
async fn a_client_that_cannot_be_asked_is_told_what_it_lacks() {
    async fn much(ask: Ask) -> Result<String, Stop> {
        let name = ask.form::<Name>("name", "Name?");
        let roots = ask.roots("roots");
        let link = ask.url(
            "link",
            "Open",
            |handle| format!("https://a.example/{handle}"),
            |_| Some(()),
        );
        let _all = (name?, roots?, link?);
        Ok("all".to_owned())
    }
    async fn able(ask: Ask) -> String {
        let kinds = Kind::ALL.map(|kind| ask.can(kind));
        format!("{kinds:?}")
    }
    let server = Server::new("much", "1.0")
        .tool("much", much)
        .tool("able", able);
    let people = Script::new().without(Kind::Form).without(Kind::Roots);
    let played = people.call_tool(&server, "much", ()).await;
    let error = played.error();
    assert_eq!(error.code, -32021);
    assert_eq!(
        error.data.as_ref().expect("data")["requiredCapabilities"],
        json!({ "elicitation": { "form": {} }, "roots": {} })
    );
    let played = people.call_tool(&server, "able", ()).await;
    assert_eq!(played.text(), "[false, true, true, true, false]");
}

#[derive(Deserialize, JsonSchema)]
struct Provision {
    region: Option<String>,
}

#[derive(Form)]
struct Region {
    #[form(options("eu", "us"))]
    region: String,
}

async fn provision(Args(input): Args<Provision>, ask: Ask) -> Result<String, Stop> {
    let Region { region } = ask.given(input.region).or_form("region", "Where?")?;
    Ok(format!("in {region}"))
}

#[tokio::test]
async fn what_was_given_is_not_asked_for() {
    let server = Server::new("cloud", "1.0").tool("provision", provision);
    let given = |region: &str| json!({ "region": region });
    let nobody = Script::new();
    let played = nobody.call_tool(&server, "provision", given("eu")).await;
    assert_eq!(played.text(), "in eu");
    assert_eq!(played.rounds().len(), 0);
    let played = nobody.call_tool(&server, "provision", given("mars")).await;
    let failure = played.failure();
    assert!(failure.contains("`region`"), "{failure}");
    assert!(!failure.contains("mars"), "{failure}");
    let people = Script::new().accept("region", given("us"));
    let played = people.call_tool(&server, "provision", ()).await;
    assert_eq!(played.text(), "in us");
    let mute = Script::new().without(Kind::Form);
    let played = mute.call_tool(&server, "provision", ()).await;
    let failure = played.failure();
    assert!(failure.contains("give it as an argument"), "{failure}");
    let played = mute.call_tool(&server, "provision", given("eu")).await;
    assert_eq!(played.text(), "in eu");
}

#[tokio::test]
async fn a_form_can_be_made_at_run_time() {
    async fn dynamic(ask: Ask) -> Result<String, Stop> {
        let form = RawForm::new(json!({
            "type": "object",
            "properties": { "copies": { "type": "integer", "minimum": 1 } },
            "required": ["copies"],
        }))?;
        Ok(match ask.raw_form("copies", "How many?", &form)? {
            Answer::Accept(content) => format!("{}", content["copies"]),
            other => format!("{other:?}"),
        })
    }
    let server = Server::new("dynamic", "1.0").tool("dynamic", dynamic);
    let people = Script::new()
        .answer(
            "copies",
            json!({ "action": "accept", "content": { "copies": 0 } }),
        )
        .accept("copies", json!({ "copies": 2 }));
    let played = people.call_tool(&server, "dynamic", ()).await;
    assert_eq!(played.text(), "2");
    played.assert_rounds([["copies"], ["copies"]]);
    let played = Script::new()
        .decline("copies")
        .call_tool(&server, "dynamic", ())
        .await;
    assert_eq!(played.text(), "Decline");
}

/// Questions by hand and asked ones leave together, and each way finds its own answers.
#[tokio::test]
async fn both_ways_of_asking_mix() {
    async fn mixed(responses: Responses, ask: Ask) -> Result<String, Stop> {
        let name = ask.form::<Name>("name", "Name?");
        let hand = responses.answers();
        let Some(hand) = hand.accepted::<serde_json::Value>("hand") else {
            let form = FormSchema::new().required("x", StringSchema::new());
            let question: InputRequest = ElicitRequestParams::form("By hand?", form).into();
            return Err(Stop::ask(
                InputRequired::ask("hand", question).with_state("mine"),
            ));
        };
        Ok(format!("{} {}", name?.name, hand["x"]))
    }
    let server = Server::new("mixed", "1.0").tool("mixed", mixed);
    let people = Script::new()
        .accept("hand", json!({ "x": "y" }))
        .accept("name", name("Ada"));
    let played = people.call_tool(&server, "mixed", ()).await;
    assert_eq!(played.text(), "Ada \"y\"");
    played.assert_rounds([["hand", "name"]]);
}

/// Extractors ask through the call, and their answers too are known in all later rounds.
#[tokio::test]
async fn extractors_ask() {
    struct Greeted(String);
    impl<S: Sync> FromCall<S> for Greeted {
        const ASKS: bool = true;
        async fn from_call(call: &Context<'_>, _: &S) -> Result<Self, Stop> {
            let Name { name } = call.ask()?.form("name", "Name?")?;
            Ok(Self(name))
        }
    }
    async fn later(Greeted(name): Greeted, ask: Ask) -> Result<String, Stop> {
        let Confirm { confirm } = ask.form("confirm", format!("Are you {name}?"))?;
        let Sized_ { size } = ask.form("size", "Size?")?;
        Ok(format!("{name} {confirm} {size:?}"))
    }
    let server = Server::new("extract", "1.0").tool("later", later);
    let people = Script::new()
        .accept("name", name("Ada"))
        .accept("confirm", json!({ "confirm": true }))
        .accept("size", json!({ "size": "small" }));
    let played = people.call_tool(&server, "later", ()).await;
    assert_eq!(played.text(), "Ada true Small");
    played.assert_rounds([["name"], ["confirm"], ["size"]]);
}

/// Who is to come back later brings along what was carried, and what was answered.
#[tokio::test]
async fn coming_back_later_loses_nothing() {
    async fn patient(
        RequestState(carried): RequestState<String>,
        responses: Responses,
        ask: Ask,
    ) -> Result<String, Stop> {
        let Name { name } = ask.form("name", "Name?")?;
        let Some(carried) = carried else {
            let form = FormSchema::new().required("x", StringSchema::new());
            let question: InputRequest = ElicitRequestParams::form("By hand?", form).into();
            let question = InputRequired::ask("hand", question);
            return Err(Stop::ask(question.carrying("mine")?));
        };
        if ask.round() < 5 {
            ask.later(Duration::from_millis(1))?;
        }
        let answers = responses.answers().keys().count();
        Ok(format!("{name} {carried} {answers} after {}", ask.round()))
    }
    let server = Server::new("patient", "1.0").tool("patient", patient);
    let people = Script::new()
        .accept("name", name("Ada"))
        .accept("hand", json!({ "x": "y" }));
    let played = people.call_tool(&server, "patient", ()).await;
    assert_eq!(played.text(), "Ada mine 0 after 5");
    played.assert_rounds([["name"], ["hand"]]);
    assert_eq!(played.laters(), 3);
}
