//! What asks the user.

use std::time::Duration;

use antiphon::{
    Answer, Args, Ask, Choice, Form, Json, Prompt, Resource, Sample, Server, Stop, Tool,
    schemars::{self, JsonSchema},
};
use serde::{Deserialize, Serialize};

type Outcome = Result<String, Stop>;

pub(crate) fn add<S: Clone + Send + Sync + 'static>(server: Server<S>) -> Server<S> {
    server
        .add(Tool::new("confirm", confirm).description("Asks for a yes"))
        .add(Tool::new("order", order).description("Asks for a whole form"))
        .add(Tool::new("sign_in", sign_in).description("Sends the user to a page"))
        .add(Tool::new("sum_up", sum_up).description("Asks the model"))
        .add(Tool::new("where", whereabouts).description("Asks for the roots"))
        .add(Tool::new("trip", trip).description("Asks two things at once"))
        .add(Tool::new("quiz", quiz).description("Asks in three rounds"))
        .add(Tool::new("wait", wait).description("Has the client come back"))
        .add(Prompt::new("letter", letter).description("Asks to whom it goes"))
        .add(Resource::new("report://{id}", report).name("report"))
}

#[derive(Deserialize, JsonSchema)]
struct Action {
    action: String,
}

#[derive(Form)]
struct Confirm {
    ok: bool,
}

async fn confirm(Args(Action { action }): Args<Action>, ask: Ask) -> Outcome {
    Ok(match ask.form("confirm", format!("Run {action}?"))? {
        Answer::Accept(Confirm { ok: true }) => format!("done: {action}"),
        Answer::Accept(Confirm { ok: false }) => "refused".to_owned(),
        Answer::Decline => "declined".to_owned(),
        Answer::Cancel => "cancelled".to_owned(),
    })
}

#[derive(Form, Serialize, JsonSchema)]
struct Order {
    #[form(min_length = 1, max_length = 40)]
    name: String,
    #[form(format = "email")]
    mail: String,
    #[form(format = "date")]
    day: String,
    #[form(format = "uri")]
    #[serde(skip_serializing_if = "Option::is_none")]
    site: Option<String>,
    #[form(min = 1, max = 9, default = 2)]
    copies: u8,
    weight: f64,
    #[form(default = false)]
    gift: bool,
    #[form(options("small", "large"))]
    size: String,
    region: Region,
    #[form(options("ribbon", "card", "box"), min_items = 1, max_items = 2)]
    extras: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

#[derive(Choice, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Region {
    #[form(title = "Europe", rename = "eu")]
    Eu,
    #[form(title = "America", rename = "us")]
    Us,
}

async fn order(ask: Ask) -> Result<Json<Order>, Stop> {
    Ok(Json(ask.form("order", "Your order")?))
}

async fn sign_in(ask: Ask) -> Outcome {
    // What came of it is not known here: whoever agrees is taken to have signed in.
    let link = |_: &_| "https://example.com/sign-in".to_owned();
    let done = ask.url("sign_in", "Please sign in", link, |_| Some(()));
    Ok(match Answer::of(done)? {
        Answer::Accept(()) => "signed in",
        Answer::Decline => "declined",
        Answer::Cancel => "cancelled",
    }
    .to_owned())
}

#[derive(Deserialize, JsonSchema)]
struct SumUp {
    text: String,
}

async fn sum_up(Args(SumUp { text }): Args<SumUp>, ask: Ask) -> Outcome {
    let said = ask.sample("sum_up", Sample::user(format!("Sum up: {text}"), 100))?;
    let text = said.first_text().unwrap_or("nothing");
    Ok(format!("{} says: {text}", said.model))
}

async fn whereabouts(ask: Ask) -> Outcome {
    let roots = ask.roots("where")?;
    let uris: Vec<_> = roots.iter().map(|root| root.uri.as_str()).collect();
    Ok(uris.join("\n"))
}

#[derive(Form)]
struct Name {
    name: String,
}

#[derive(Form)]
struct Date {
    #[form(format = "date")]
    date: String,
}

async fn trip(ask: Ask) -> Outcome {
    let who = ask.form::<Name>("who", "Who travels?");
    let when = ask.form::<Date>("when", "When?");
    let (Name { name }, Date { date }) = (who?, when?);
    Ok(format!("{name} on {date}"))
}

#[derive(Form)]
struct Reply {
    answer: String,
}

async fn quiz(ask: Ask) -> Outcome {
    let Reply { answer: first } = ask.form("q1", "Question 1?")?;
    let Reply { answer: second } = ask.form("q2", format!("You said {first}. Question 2?"))?;
    let Reply { answer: third } = ask.form("q3", format!("You said {second}. Question 3?"))?;
    Ok(format!("{first} / {second} / {third}"))
}

async fn wait(ask: Ask) -> Outcome {
    if ask.round() < 2 {
        ask.later(Duration::from_millis(10))?;
    }
    Ok("ready".to_owned())
}

async fn letter(ask: Ask) -> Outcome {
    let Name { name } = ask.form("to", "To whom?")?;
    Ok(format!("Dear {name}"))
}

#[derive(Deserialize, JsonSchema)]
struct Report {
    id: String,
}

async fn report(Args(Report { id }): Args<Report>, ask: Ask) -> Outcome {
    let Name { name } = ask.form("reader", format!("For whom is report {id}?"))?;
    Ok(format!("report {id} for {name}"))
}
