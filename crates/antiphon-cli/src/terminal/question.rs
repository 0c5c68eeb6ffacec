//! A server's question, put to the person at the terminal.

use std::{io, path::Path};

use antiphon::{
    client::{Answer, Identity},
    types::{
        CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams,
        ElicitRequestUrlParams, InputRequest, ListRootsResult, Role, Root,
    },
};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};

use super::{Prompts, form, printable};

/// Has a person answer a question; `None` if they would rather give up the call. Who asks is where
/// the client connected to, whatever the server calls itself (ELIC-C-09).
pub(super) fn answer(
    prompts: &mut dyn Prompts,
    server: &Identity,
    key: &str,
    question: &InputRequest,
) -> io::Result<Option<Answer>> {
    let (server, key) = (server.to_string(), printable::excerpt(key, 80));
    prompts.tell(&format!(
        "{} asks [{key}]:",
        printable::excerpt(&server, 200)
    ));
    match question {
        InputRequest::Elicit(ElicitRequestParams::Form(form)) => {
            form::answer(prompts, form).map(Some)
        }
        InputRequest::Elicit(ElicitRequestParams::Url(link)) => open(prompts, link),
        InputRequest::Sample(asked) => sample(prompts, asked),
        InputRequest::Roots(_) => roots(prompts),
        other => {
            let method = printable::excerpt(other.method(), 80);
            prompts.tell(&format!("  ! {method} is not known here"));
            Ok(None)
        }
    }
}

/// A link is shown in full, and opened by the person, not by us.
fn open(prompts: &mut dyn Prompts, link: &ElicitRequestUrlParams) -> io::Result<Option<Answer>> {
    prompts.tell(&printable::block(&link.message));
    prompts.tell("It wants you to visit this address, which is not opened for you:");
    prompts.tell(&format!("\n    {}\n", printable::line(&link.url)));
    let options = [
        "Accept: I agree, and have been there",
        "Decline: say no",
        "Cancel: do not choose",
    ];
    // Enter alone agrees to nothing.
    let chosen = prompts.choose("Your answer", "", &options.map(str::to_owned), 2)?;
    Ok(Some(match chosen {
        Some(0) => Answer::accept(()),
        Some(1) => Answer::decline(),
        _ => Answer::cancel(),
    }))
}

/// The person is the model.
fn sample(
    prompts: &mut dyn Prompts,
    asked: &CreateMessageRequestParams,
) -> io::Result<Option<Answer>> {
    let most = asked.max_tokens;
    prompts.tell(&format!(
        "It wants a model to go on, in at most {most} tokens."
    ));
    if let Some(system) = &asked.system_prompt {
        prompts.tell("system:");
        prompts.tell(&printable::block(system));
    }
    for message in &asked.messages {
        prompts.tell(match message.role {
            Role::Assistant => "assistant:",
            _ => "user:",
        });
        for content in message.content.as_slice() {
            let text = content.as_text().unwrap_or("(no text)");
            prompts.tell(&printable::block(text));
        }
    }
    loop {
        let help = "you are the model: what does it say?";
        if let Some(text) = prompts.write("assistant", help, "")? {
            let said = CreateMessageResult::text(text, "a-person").stop_reason("endTurn");
            return Ok(Some(said.into()));
        }
        if gives_up(prompts)? {
            return Ok(None);
        }
    }
}

/// Paths become roots.
fn roots(prompts: &mut dyn Prompts) -> io::Result<Option<Answer>> {
    prompts.tell("It wants to know which directories it may work in.");
    let mut roots = Vec::new();
    loop {
        let label = match roots.len() {
            0 => "Path".to_owned(),
            count => format!("Path {}", count + 1),
        };
        match prompts.write(&label, "a directory; nothing when that was all", "")? {
            Some(path) if path.is_empty() => {
                return Ok(Some(ListRootsResult::new(roots).into()));
            }
            Some(path) => match root(Path::new(&path)) {
                Ok(root) => roots.push(root),
                Err(error) => prompts.tell(&format!("  ! {}: {error}", printable::line(&path))),
            },
            None if gives_up(prompts)? => return Ok(None),
            None => {}
        }
    }
}

/// There is no declining here: either there is an answer, or the call ends.
fn gives_up(prompts: &mut dyn Prompts) -> io::Result<bool> {
    let options = ["Give up the call", "Go on here"].map(str::to_owned);
    Ok(prompts.choose("Leave?", "", &options, 0)? == Some(0))
}

/// What stands in the path of a URI as it is.
const PATH: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'/')
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

fn root(path: &Path) -> io::Result<Root> {
    let path = path.canonicalize()?;
    if !path.is_dir() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    let encoded = percent_encode(path.as_os_str().as_encoded_bytes(), PATH);
    let root = Root::new(format!("file://{encoded}"));
    Ok(match path.file_name() {
        Some(name) => root.name(name.to_string_lossy()),
        None => root,
    })
}

#[cfg(test)]
mod tests {
    use antiphon::types::ElicitRequestParams;

    use super::{
        super::prompts::scripted::{Does, Scripted},
        *,
    };

    fn asked(question: &InputRequest, does: impl IntoIterator<Item = Does>) -> (bool, String) {
        let mut person = Scripted::new(does);
        let answer = answer(&mut person, &Identity::Memory, "key", question).expect("asked");
        assert!(person.is_done());
        (answer.is_some(), person.shown)
    }

    #[test]
    fn a_link_is_shown_in_full() {
        let url = format!("https://example.com/{}", "a".repeat(300));
        let question = InputRequest::Elicit(ElicitRequestParams::url("Go there", &url));
        let (answered, shown) = asked(&question, [Does::Escapes]);
        assert!(answered, "leaving is an answer, too");
        assert!(shown.contains(&url), "{shown}");
        assert!(shown.contains("from 2"), "Enter agrees to nothing: {shown}");
    }

    #[test]
    fn a_sampling_shows_what_the_model_is_told() {
        let params = CreateMessageRequestParams::user("Sum up: \u{1b}x", 50);
        let question = InputRequest::Sample(Box::new(params.system_prompt("Be brief")));
        let (answered, shown) = asked(&question, [Does::Writes("Short.")]);
        assert!(answered);
        for part in ["50 tokens", "  | Be brief", "  | Sum up: \\u{1b}x"] {
            assert!(shown.contains(part), "{part} is not in {shown}");
        }
        let does = [Does::Escapes, Does::Picks("Give up")];
        assert!(!asked(&question, does).0);
    }

    #[test]
    fn roots_are_directories_that_exist() {
        let does = ["/no such place", "Cargo.toml", "src", ""].map(Does::Writes);
        let (answered, shown) = asked(&InputRequest::roots(), does);
        assert!(answered);
        assert_eq!(shown.matches("  ! ").count(), 2, "{shown}");
        let root = root(Path::new("src")).expect("a directory");
        assert!(root.uri.starts_with("file:///"), "{}", root.uri);
        assert!(root.uri.ends_with("/src"), "{}", root.uri);
        assert_eq!(root.name.as_deref(), Some("src"));
    }
}
