//! Sampling: what a model is to be told, shown for review; the answer comes by hand, or is a draft
//! that is reviewed, too.

use std::io;

use antiphon::types::{
    CreateMessageRequestParams, CreateMessageResult, ModelPreferences, Role, SamplingContent,
};

use super::{Prompts, form::LATER, person::leaves, printable};
use crate::asked::{Reaction, Said};

/// What the answer of a person says of its model.
const PERSON: &str = "a-person";

/// What a person may do about it.
#[derive(Clone, Copy)]
enum Does {
    Sends,
    Edits,
    Writes,
    Declines,
    Waits,
}

/// Has a person say what the model says.
pub(super) fn answer(
    prompts: &mut dyn Prompts,
    asked: &CreateMessageRequestParams,
    can_wait: bool,
    draft: Option<&CreateMessageResult>,
) -> io::Result<Reaction> {
    show(prompts, asked);
    let text = draft.and_then(only_text);
    let mut options = Vec::new();
    if let Some(draft) = draft {
        let model = printable::excerpt(&draft.model, 80);
        prompts.tell(&format!("The draft of {model}:"));
        for content in draft.content.as_slice() {
            prompts.tell(&shown(content));
        }
        options.push(("Send the draft", Does::Sends));
    }
    if text.is_some() {
        options.push(("Edit the draft", Does::Edits));
    }
    options.push(("Write the answer: you are the model", Does::Writes));
    options.push(("Decline: there is no answer", Does::Declines));
    if can_wait {
        options.push((LATER, Does::Waits));
    }
    let labels: Vec<_> = options.iter().map(|(label, _)| label.to_string()).collect();
    loop {
        let chosen = prompts.choose("Your answer", "", &labels, 0)?;
        let does = chosen.and_then(|at| options.get(at));
        let said = match (does, draft) {
            (Some((_, Does::Declines)), _) => return Ok(declined()),
            (Some((_, Does::Waits)), _) => return Ok(Reaction::Later),
            (Some((_, Does::Sends)), Some(draft)) => Some(draft.clone()),
            (Some((_, Does::Edits)), Some(draft)) => {
                let edited = edit(prompts, text.unwrap_or_default())?;
                edited.map(|text| with_text(draft, text))
            }
            (Some(_), _) => {
                let help = "you are the model: what does it say?";
                let text = prompts.write("assistant", help, "")?;
                text.map(|text| CreateMessageResult::text(text, PERSON).stop_reason("endTurn"))
            }
            (None, _) => None,
        };
        if let Some(said) = said {
            return Ok(Reaction::Says(Said::Sample(Box::new(said))));
        }
        if let Some(refused) = leaves(prompts, can_wait)? {
            return Ok(refused);
        }
    }
}

fn declined() -> Reaction {
    Reaction::Refuses(super::person::DECLINED.to_owned())
}

/// Everything that is asked of the model.
fn show(prompts: &mut dyn Prompts, asked: &CreateMessageRequestParams) {
    let most = asked.max_tokens;
    prompts.tell(&format!(
        "It wants a model to go on, in at most {most} tokens."
    ));
    for wish in wishes(asked) {
        prompts.tell(&format!("  {wish}"));
    }
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
            prompts.tell(&shown(content));
        }
    }
}

/// What is wanted besides the messages, a line each.
fn wishes(asked: &CreateMessageRequestParams) -> Vec<String> {
    let mut wishes = Vec::new();
    if let Some(preferences) = &asked.model_preferences {
        let wanted = preferred(preferences);
        if !wanted.is_empty() {
            wishes.push(format!("which model: {wanted}"));
        }
    }
    if let Some(temperature) = &asked.temperature {
        wishes.push(format!("temperature: {temperature}"));
    }
    if let Some(stops) = asked
        .stop_sequences
        .as_deref()
        .filter(|all| !all.is_empty())
    {
        let stops: Vec<_> = stops.iter().map(|stop| format!("{stop:?}")).collect();
        wishes.push(format!("until: {}", printable::line(&stops.join(", "))));
    }
    for tool in asked.tools.iter().flatten() {
        let name = printable::excerpt(&tool.name, 80);
        let description = tool.description.as_deref().unwrap_or_default();
        let line = format!("may call {name}: {}", printable::excerpt(description, 200));
        wishes.push(line.trim_end_matches([':', ' ']).to_owned());
    }
    wishes
}

fn preferred(preferences: &ModelPreferences) -> String {
    let hints = preferences.hints.iter().flatten();
    let hints = hints.filter_map(|hint| hint.name.as_deref());
    let mut wanted: Vec<_> = hints.map(|name| printable::excerpt(name, 80)).collect();
    for (what, priority) in [
        ("cost", &preferences.cost_priority),
        ("speed", &preferences.speed_priority),
        ("intelligence", &preferences.intelligence_priority),
    ] {
        wanted.extend(
            priority
                .as_ref()
                .map(|priority| format!("{what} {priority}")),
        );
    }
    wanted.join(", ")
}

fn shown(content: &SamplingContent) -> String {
    match content {
        SamplingContent::Text(text) => printable::block(&text.text),
        SamplingContent::Image(image) => format!("  ({})", printable::line(&image.mime_type)),
        SamplingContent::Audio(audio) => format!("  ({})", printable::line(&audio.mime_type)),
        other => {
            let json = serde_json::to_string(other).unwrap_or_default();
            format!("  ({})", printable::excerpt(&json, 2000))
        }
    }
}

/// The text of a draft that is nothing else.
fn only_text(draft: &CreateMessageResult) -> Option<&str> {
    match draft.content.as_slice() {
        [content] => content.as_text(),
        _ => None,
    }
}

fn with_text(draft: &CreateMessageResult, text: String) -> CreateMessageResult {
    let mut edited = draft.clone();
    edited.content = text.into();
    edited
}

/// Has a person edit a text, line by line; `None` if they left.
fn edit(prompts: &mut dyn Prompts, text: &str) -> io::Result<Option<String>> {
    let lines: Vec<_> = text.split('\n').collect();
    let mut edited = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let label = match lines.len() {
            1 => "assistant".to_owned(),
            count => format!("assistant, line {} of {count}", at + 1),
        };
        let start = printable::line(line);
        match prompts.write(&label, "", &start)? {
            // As it was, and not as it is shown.
            Some(text) if text == start => edited.push((*line).to_owned()),
            Some(text) => edited.push(text),
            None => return Ok(None),
        }
    }
    Ok(Some(edited.join("\n")))
}

#[cfg(test)]
mod tests {
    use antiphon::types::{ImageContent, SamplingMessage, Tool, ToolUseContent};

    use super::{
        super::prompts::scripted::{Does, Scripted},
        *,
    };

    /// What a person who does this says, and what they were shown.
    fn said(
        asked: &CreateMessageRequestParams,
        draft: Option<&CreateMessageResult>,
        does: impl IntoIterator<Item = Does>,
    ) -> (Reaction, String) {
        let mut person = Scripted::new(does);
        let reaction = answer(&mut person, asked, true, draft).expect("asked");
        assert!(person.is_done(), "{}", person.shown);
        (reaction, person.shown)
    }

    fn texts(reaction: Reaction) -> (String, String) {
        match reaction {
            Reaction::Says(Said::Sample(said)) => {
                let text = said.first_text().expect("a text").to_owned();
                (text, said.model)
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_person_sees_what_the_model_is_told_and_answers_for_it() {
        let preferences = ModelPreferences::new().hint("opus").hint("\u{1b}sonnet");
        let mut asked = CreateMessageRequestParams::user("Sum up: \u{1b}x\n? \u{202e}", 50)
            .system_prompt("Be brief\u{9b}2J");
        asked.model_preferences = Some(preferences.speed_priority(0.5));
        asked.stop_sequences = Some(vec!["\u{1b}END".to_owned()]);
        let mut tool = Tool::new("look\u{7}", serde_json::Map::new());
        tool.description = Some("Look\nit up".to_owned());
        asked.tools = Some(vec![tool]);
        let use_it = ToolUseContent::new("1", "look\u{1b}", serde_json::Map::new());
        asked
            .messages
            .push(SamplingMessage::assistant(SamplingContent::from(use_it)));
        let does = [Does::Picks("Write"), Does::Writes("Short.")];
        let (reaction, shown) = said(&asked, None, does);
        assert_eq!(texts(reaction), ("Short.".to_owned(), PERSON.to_owned()));
        for part in [
            "50 tokens",
            "system:\n  | Be brief\\u{9b}2J\n",
            "user:\n  | Sum up: \\u{1b}x\n  | ? \\u{202e}\n",
            "which model: opus, \\u{1b}sonnet, speed 0.5\n",
            "until: ",
            "may call look\\u{7}: Look\\nit up\n",
            "assistant:\n  ({",
        ] {
            assert!(shown.contains(part), "{part} is not in {shown}");
        }
        let deceives = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!shown.contains(deceives), "{shown:?}");
    }

    #[test]
    fn declining_is_no_answer_and_near() {
        let asked = CreateMessageRequestParams::user("Sum up", 50);
        for does in [
            vec![Does::Picks("Decline")],
            vec![Does::Escapes, Does::Enters],
            vec![Does::Picks("Write"), Does::Escapes, Does::Enters],
        ] {
            let (reaction, _) = said(&asked, None, does);
            let declined = Reaction::Refuses("declined at the terminal".to_owned());
            assert_eq!(reaction, declined);
        }
        for does in [
            vec![Does::Picks("Later")],
            vec![Does::Escapes, Does::Picks("Later")],
        ] {
            assert_eq!(said(&asked, None, does).0, Reaction::Later);
        }
        let does = [
            Does::Escapes,
            Does::Picks("Go on"),
            Does::Enters,
            Does::Writes("Short."),
        ];
        assert_eq!(texts(said(&asked, None, does).0).0, "Short.");
    }

    #[test]
    fn a_draft_is_sent_edited_or_replaced() {
        let asked = CreateMessageRequestParams::user("Sum up", 50);
        let draft = CreateMessageResult::text("One\u{1b}.\nTwo.", "local\u{1b}");
        let (reaction, shown) = said(&asked, Some(&draft), [Does::Picks("Send the draft")]);
        assert_eq!(
            reaction,
            Reaction::Says(Said::Sample(Box::new(draft.clone())))
        );
        let part = "The draft of local\\u{1b}:\n  | One\\u{1b}.\n  | Two.\n";
        assert!(shown.contains(part), "{shown}");

        let does = [Does::Picks("Edit"), Does::Enters, Does::Writes("Three.")];
        let (text, model) = texts(said(&asked, Some(&draft), does).0);
        assert_eq!(
            text, "One\u{1b}.\nThree.",
            "what is not changed stays as it is"
        );
        assert_eq!(model, "local\u{1b}");

        let does = [Does::Picks("Write"), Does::Writes("Mine.")];
        let (text, model) = texts(said(&asked, Some(&draft), does).0);
        assert_eq!((text.as_str(), model.as_str()), ("Mine.", PERSON));
    }

    #[test]
    fn only_texts_can_be_edited() {
        let asked = CreateMessageRequestParams::user("Sum up", 50);
        let image = ImageContent::new("AAAA", "image/\u{1b}png");
        let draft = CreateMessageResult::new(Role::Assistant, SamplingContent::from(image), "m");
        let (_, shown) = said(&asked, Some(&draft), [Does::Picks("Decline")]);
        assert!(shown.contains("(image/\\u{1b}png)"), "{shown}");
        assert!(!shown.contains("Edit"), "{shown}");
    }
}
