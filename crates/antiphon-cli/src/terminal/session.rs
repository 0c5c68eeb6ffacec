//! A person and a server: pick, fill in, answer, see what comes of it; again or quit.

use std::{
    io,
    time::{Duration, Instant},
};

use antiphon::{
    Client, Kind,
    client::{Connection, ErrorKind, Finished, Outcome, Paused, Request, Traffic},
    types::{
        CallToolResult, ContentBlock, GetPromptResult, Method, ReadResourceResult,
        ResourceContents, Role,
    },
};
use tokio::{runtime::Handle, time::sleep};

use super::{
    Person, Prompts, printable,
    target::{Target, Wanted, targets},
};
use crate::{
    asked::{Asked, Reaction},
    failure::Failure,
    legs::Legs,
};

/// How long the server of the demo takes an answer: the [`ttl`](antiphon::sealing::Sealing::ttl) of a
/// state, unless told.
const PATIENCE: Duration = Duration::from_secs(600);

/// A client whose questions are all answered by hand, and whose legs are shown.
pub(crate) fn client(client: Client) -> Client {
    let legs = Legs::default();
    let show = move |traffic: Traffic<'_>| {
        if let Some(line) = legs.describe(traffic) {
            say!("  {line}");
        }
    };
    client
        .by_hand([Kind::Form, Kind::Url, Kind::Sample, Kind::Roots])
        .on_traffic(show)
}

/// Serves a person until they quit. Blocks, and is to run where it may; what is asked of the
/// server runs on `runtime`.
pub(crate) fn run(
    runtime: &Handle,
    server: &Connection,
    prompts: &mut dyn Prompts,
) -> Result<(), Failure> {
    let targets = runtime.block_on(targets(server))?;
    let mut options: Vec<_> = targets.iter().map(Target::label).collect();
    options.push("Quit".to_owned());
    let mut last = 0;
    loop {
        prompts.tell("");
        let Some(at) = prompts.choose("What next?", "", &options, last)? else {
            return Ok(());
        };
        let Some(target) = targets.get(at) else {
            return Ok(());
        };
        last = at;
        let Some(wanted) = target.fill_in(prompts)? else {
            continue;
        };
        let told = match wanted {
            Wanted::Tool(request) => {
                call(runtime, server, prompts, request)?.map(|result| of_tool(&result))
            }
            Wanted::Prompt(request) => {
                call(runtime, server, prompts, request)?.map(|result| of_prompt(&result))
            }
            Wanted::Resource(request) => {
                let request = request.fresh();
                call(runtime, server, prompts, request)?.map(|result| of_resource(&result))
            }
        };
        prompts.tell(told.as_deref().unwrap_or("There is no result."));
    }
}

/// Makes one call, with a person's answers to whatever it asks. `None`: they gave it up, or it
/// went wrong, which they were told.
pub(crate) fn call<M>(
    runtime: &Handle,
    server: &Connection,
    prompts: &mut dyn Prompts,
    request: Request<M>,
) -> io::Result<Option<M::Result>>
where
    M: Method<Result: Finished>,
{
    let mut person = Person::new(prompts);
    let mut outcome = runtime.block_on(server.start(request));
    loop {
        let paused = match outcome {
            Ok(Outcome::Done(result)) => return Ok(Some(result)),
            Ok(Outcome::Later(paused)) => {
                runtime.block_on(sleep(paused.retry_after()));
                paused
            }
            Ok(Outcome::Paused(paused)) => match answer(&mut person, paused)? {
                Some(paused) => paused,
                None => return Ok(None),
            },
            Ok(_) => return Ok(None),
            Err(error) => {
                let told = printable::excerpt(&error.to_string(), 2000);
                match error.into_kind() {
                    // Nothing was sent: what does not fit is asked again.
                    ErrorKind::NotResumed { paused, .. } => match answer(&mut person, *paused)? {
                        Some(paused) => paused,
                        None => return Ok(None),
                    },
                    _ => {
                        person.tell(&format!("  ! {told}"));
                        return Ok(None);
                    }
                }
            }
        };
        outcome = runtime.block_on(server.resume(paused));
    }
}

/// Has a person answer what has no answer, or one that does not fit.
fn answer<P: Prompts>(person: &mut Person<P>, mut paused: Paused) -> io::Result<Option<Paused>> {
    let asked = open(&paused);
    if asked.is_empty() {
        return Ok(None);
    }
    for asked in asked {
        match person.ask(&asked)? {
            Reaction::Says(said) => {
                paused = paused.answer(&asked.key, said.to(&asked.question));
            }
            Reaction::Later => return Ok(None),
            Reaction::Refuses(why) => {
                person.tell(&format!("The call was given up: {why}."));
                return Ok(None);
            }
        }
    }
    Ok(Some(paused))
}

/// The questions that have no answer, or one that does not fit.
fn open(paused: &Paused) -> Vec<Asked> {
    let unanswered: Vec<_> = paused.unanswered().map(|(key, _)| key).collect();
    let problems = paused.problems();
    let asked = paused.questions().filter_map(|(key, question)| {
        let wrong = problems.iter().filter(|it| it.key.as_deref() == Some(key));
        let errors: Vec<_> = wrong.map(|it| it.what.clone()).collect();
        let is_open = unanswered.contains(&key) || !errors.is_empty();
        is_open.then(|| Asked {
            server: paused.server().clone(),
            call: paused.call().clone(),
            key: key.to_owned(),
            round: paused.round(),
            errors,
            deadline: Instant::now() + PATIENCE,
            question: question.clone(),
        })
    });
    asked.collect()
}

fn of_tool(result: &CallToolResult) -> String {
    let mut parts: Vec<_> = result.content.iter().map(content).collect();
    if let (true, Some(structured)) = (parts.is_empty(), &result.structured_content) {
        parts.push(printable::block(&format!("{structured:#}")));
    }
    let heading = match result.failed() {
        true => "The tool failed:",
        false => "Result:",
    };
    format!("{heading}\n{}", parts.join("\n"))
}

fn of_prompt(result: &GetPromptResult) -> String {
    let messages = result.messages.iter().map(|message| {
        let role = match message.role {
            Role::Assistant => "assistant",
            _ => "user",
        };
        format!("{role}:\n{}", content(&message.content))
    });
    messages.collect::<Vec<_>>().join("\n")
}

fn of_resource(result: &ReadResourceResult) -> String {
    let contents = result.contents.iter().map(resource);
    contents.collect::<Vec<_>>().join("\n")
}

fn content(content: &ContentBlock) -> String {
    match content {
        ContentBlock::Text(text) => printable::block(&text.text),
        ContentBlock::Image(image) => format!("  ({})", printable::line(&image.mime_type)),
        ContentBlock::Audio(audio) => format!("  ({})", printable::line(&audio.mime_type)),
        ContentBlock::ResourceLink(link) => format!("  ({})", printable::line(&link.uri)),
        ContentBlock::Resource(embedded) => resource(&embedded.resource),
        _ => "  (something unknown)".to_owned(),
    }
}

fn resource(contents: &ResourceContents) -> String {
    let uri = printable::line(contents.uri());
    match contents.as_text() {
        Some(text) => format!("{uri}:\n{}", printable::block(text)),
        None => format!("{uri}: (bytes)"),
    }
}

#[cfg(test)]
mod tests {
    use antiphon::{
        Responses, Server, Stop, memory,
        types::{ElicitRequestParams, FormSchema, InputRequired},
    };
    use serde_json::json;

    use super::{
        super::prompts::scripted::{Does, Scripted},
        *,
    };

    /// A tool that asks for two fields, of which one needs the other: which only the whole form
    /// says.
    async fn travel(responses: Responses) -> Result<String, Stop> {
        let answers = responses.answers();
        if answers.is_empty() {
            let schema = json!({
                "type": "object",
                "properties": { "train": { "type": "string" }, "seat": { "type": "string" } },
                "dependentRequired": { "train": ["seat"] },
            });
            let form: FormSchema = serde_json::from_value(schema)?;
            let form = ElicitRequestParams::form("How do you travel?", form);
            return Err(Stop::ask(InputRequired::ask("how", form)));
        }
        let how: Option<serde_json::Value> = answers.accepted("how");
        Ok(match how {
            Some(how) => format!("By {}, in {}", how["train"], how["seat"]),
            None => "Stays at home".to_owned(),
        })
    }

    /// What a person who does this is shown.
    async fn shown(does: impl IntoIterator<Item = Does>) -> String {
        let server: Server = Server::new("travel", "1.0").tool("travel", travel);
        let connection = client(Client::new("test", "1"));
        let connection = connection.connect(memory(server)).await.expect("connected");
        let runtime = Handle::current();
        let mut person = Scripted::new(does);
        let session = tokio::task::spawn_blocking(move || {
            run(&runtime, &connection, &mut person).expect("it goes well");
            assert!(person.is_done());
            person.shown
        });
        session.await.expect("no panic")
    }

    #[tokio::test]
    async fn an_answer_that_does_not_fit_is_asked_for_again() {
        let shown = shown([
            Does::Picks("travel"),
            Does::Writes("ICE 5"),
            Does::Writes(""),
            Does::Picks("Send it"),
            // What was given is there again.
            Does::Enters,
            Does::Writes("61"),
            Does::Picks("Send it"),
            Does::Escapes,
        ])
        .await;
        assert_eq!(shown.matches("How do you travel?").count(), 2, "{shown}");
        assert!(shown.contains("  ! "), "{shown}");
        assert!(shown.contains(r#"  | By "ICE 5", in "61""#), "{shown}");
    }

    #[tokio::test]
    async fn who_declines_can_go_on() {
        let shown = shown([
            Does::Picks("travel"),
            Does::Escapes,
            Does::Picks("Decline"),
            Does::Picks("Quit"),
        ])
        .await;
        assert!(shown.contains("Result:\n  | Stays at home"), "{shown}");
    }
}
