//! [`Person`]: who answers at the terminal, and what they were asked before in the same call.

use std::{
    io,
    time::{Duration, Instant},
};

use antiphon::types::{CreateMessageResult, ElicitRequestParams, InputRequest};
use serde_json::{Map, Value};

use super::{
    Prompts,
    form::{self, Escape, LATER, escape, ways_out},
    link, printable, roots, sample,
};
use crate::asked::{Asked, Reaction, Said};

/// A person who answers the questions of one call, one at a time.
pub(crate) struct Person<P> {
    prompts: P,
    /// Whether the call can be saved, to be answered later.
    can_wait: bool,
    /// The URLs they agreed to. A question that is asked again has another text, and with older
    /// servers another key.
    agreed: Vec<String>,
    /// What they gave to the form that was asked last, by key.
    given: Option<(String, Map<String, Value>)>,
}

impl<P: Prompts> Person<P> {
    pub(crate) fn new(prompts: P) -> Self {
        Self {
            prompts,
            can_wait: false,
            agreed: Vec::new(),
            given: None,
        }
    }

    /// Lets them leave a question open, since the call can be saved.
    pub(crate) fn can_wait(mut self) -> Self {
        self.can_wait = true;
        self
    }

    /// Puts a question to them, and blocks until they have answered or left.
    ///
    /// # Errors
    /// [`Interrupted`](io::ErrorKind::Interrupted) if they pressed Ctrl-C; otherwise when the
    /// terminal is gone.
    pub(crate) fn ask(&mut self, asked: &Asked) -> io::Result<Reaction> {
        self.answer(asked, None)
    }

    /// The same, with a draft of what the model says, if the question is for a model.
    pub(crate) fn review(
        &mut self,
        asked: &Asked,
        draft: &CreateMessageResult,
    ) -> io::Result<Reaction> {
        self.answer(asked, Some(draft))
    }

    /// Says something.
    pub(crate) fn tell(&mut self, text: &str) {
        self.prompts.tell(text);
    }

    fn answer(
        &mut self,
        asked: &Asked,
        draft: Option<&CreateMessageResult>,
    ) -> io::Result<Reaction> {
        self.prompts.tell(&heading(asked, Instant::now()));
        for error in &asked.errors {
            let error = printable::excerpt(error, 300);
            self.prompts.tell(&format!("  ! {error}"));
        }
        let out = ways_out(self.can_wait);
        match &asked.question {
            InputRequest::Elicit(ElicitRequestParams::Form(form)) => {
                let given = self.given.take().filter(|(key, _)| *key == asked.key);
                // An answer that was taken is not the answer to the next question.
                let before = given.filter(|_| !asked.errors.is_empty());
                let before = before.as_ref().map(|(_, content)| content);
                let reaction = form::answer(&mut self.prompts, form, out, before)?;
                if let Reaction::Says(Said::Accept(content)) = &reaction {
                    self.given = Some((asked.key.clone(), content.clone()));
                }
                Ok(reaction)
            }
            InputRequest::Elicit(ElicitRequestParams::Url(link)) => {
                let again = self.agreed.contains(&link.url);
                let reaction = link::answer(&mut self.prompts, link, out, again)?;
                if !again && matches!(reaction, Reaction::Says(Said::Accept(_))) {
                    self.agreed.push(link.url.clone());
                }
                Ok(reaction)
            }
            InputRequest::Sample(asked) => {
                sample::answer(&mut self.prompts, asked, self.can_wait, draft)
            }
            InputRequest::Roots(_) => roots::answer(&mut self.prompts, self.can_wait),
            other => {
                let method = printable::excerpt(other.method(), 80);
                let why = format!("{method} is not known here");
                self.prompts.tell(&format!("  ! {why}"));
                Ok(Reaction::Refuses(why))
            }
        }
    }
}

/// Who asks (where we connected to, whatever the server calls itself: ELIC-C-09), for what, and
/// until when.
fn heading(asked: &Asked, now: Instant) -> String {
    let server = printable::excerpt(&asked.server.to_string(), 200);
    let key = printable::excerpt(&asked.key, 80);
    let call = printable::excerpt(&asked.call.to_string(), 200);
    let (round, left) = (asked.round, asked.deadline.saturating_duration_since(now));
    format!(
        "{server} asks [{key}]\n  for {call}, round {round}, {}",
        in_words(left)
    )
}

fn in_words(left: Duration) -> String {
    let seconds = left.as_secs();
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86400);
    match seconds {
        0 => "no time left".to_owned(),
        1..60 => format!("{seconds} s left"),
        60..3600 => format!("{minutes} min {} s left", seconds % 60),
        3600..86400 => format!("{hours} h {} min left", minutes % 60),
        _ => format!("{days} d {} h left", hours % 24),
    }
}

/// Why the call ends when somebody will not answer what can only be answered.
pub(super) const DECLINED: &str = "declined at the terminal";

/// What is neither declined nor cancelled by the protocol is refused, or left open where the call can
/// wait; `None` if they go on.
pub(super) fn leaves(prompts: &mut dyn Prompts, can_wait: bool) -> io::Result<Option<Reaction>> {
    let mut out = vec![("Decline: give up the call", false)];
    if can_wait {
        out.push((LATER, true));
    }
    Ok(match escape(prompts, false, &out)? {
        Escape::Out(false) => Some(Reaction::Refuses(DECLINED.to_owned())),
        Escape::Out(true) => Some(Reaction::Later),
        Escape::Again | Escape::Back => None,
    })
}

#[cfg(test)]
mod tests {
    use antiphon::{
        client::{Identity, Target},
        types::{BooleanSchema, FormSchema, StringSchema},
    };
    use serde_json::json;

    use super::{
        super::prompts::scripted::{Does, Scripted},
        *,
    };

    const HOSTILE: &str = "\u{1b}]8;;http://evil.example\u{7}x\u{202e}\u{9b}2J";

    fn asked(question: impl Into<InputRequest>) -> Asked {
        let call = json!({ "method": "tools/call", "name": "deploy" });
        Asked {
            server: Identity::Other("harbor".to_owned()),
            call: serde_json::from_value::<Target>(call).expect("a call"),
            key: "confirm".to_owned(),
            round: 2,
            errors: Vec::new(),
            deadline: Instant::now() + Duration::from_millis(598_900),
            question: question.into(),
        }
    }

    fn person(does: impl IntoIterator<Item = Does>) -> Person<Scripted> {
        Person::new(Scripted::new(does)).can_wait()
    }

    /// Has a person who was asked before do this now.
    fn goes_on(person: &mut Person<Scripted>, does: impl IntoIterator<Item = Does>) {
        assert!(person.prompts.is_done(), "{}", person.prompts.shown);
        person.prompts = Scripted::new(does);
    }

    #[test]
    fn it_is_told_who_asks_for_what_and_until_when() {
        let form = FormSchema::new().required("sure", BooleanSchema::new());
        let mut asked = asked(ElicitRequestParams::form("Sure?", form));
        asked.errors = vec![format!("{HOSTILE} is wrong")];
        let mut person = person([Does::Says(true)]);
        person.ask(&asked).expect("asked");
        let shown = &person.prompts.shown;
        let (heading, rest) = shown.split_once("  ! ").expect("what was wrong");
        let expected = "harbor asks [confirm]\n  for tools/call deploy, round 2, 9 min 58 s left\n";
        assert_eq!(heading, expected);
        assert!(rest.contains(" is wrong\n  | Sure?\n"), "{shown}");
    }

    #[test]
    fn time_is_told_in_words() {
        for (seconds, text) in [
            (0, "no time left"),
            (59, "59 s left"),
            (60, "1 min 0 s left"),
            (3599, "59 min 59 s left"),
            (7_500, "2 h 5 min left"),
            (180_000, "2 d 2 h left"),
        ] {
            assert_eq!(in_words(Duration::from_secs(seconds)), text);
        }
    }

    #[test]
    fn whatever_names_a_question_does_nothing_to_the_terminal() {
        let questions: [InputRequest; 4] = [
            ElicitRequestParams::form(HOSTILE, FormSchema::new()).into(),
            ElicitRequestParams::url(HOSTILE, "https://example.com/").into(),
            InputRequest::Sample(Box::new(antiphon::Sample::user(HOSTILE, 1))),
            InputRequest::roots(),
        ];
        for question in questions {
            let mut asked = asked(question);
            asked.key = HOSTILE.to_owned();
            asked.server = Identity::Other(HOSTILE.to_owned());
            let call = json!({ "method": HOSTILE, "name": HOSTILE });
            asked.call = serde_json::from_value(call).expect("a call");
            asked.errors = vec![HOSTILE.to_owned()];
            let mut person = person([Does::Escapes, Does::Enters]);
            person.ask(&asked).expect("asked");
            let shown = &person.prompts.shown;
            let deceives = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
            assert!(!shown.contains(deceives), "{shown:?}");
        }
    }

    #[test]
    fn a_link_is_asked_about_again_as_one_that_was_agreed_to() {
        let mut number = 0;
        let mut link = |url| {
            number += 1;
            let mut asked = asked(ElicitRequestParams::url(format!("Go there {number}"), url));
            asked.key = number.to_string();
            asked
        };
        let mut person = person([Does::Picks("Decline")]);
        person.ask(&link("https://a.example/")).expect("asked");
        goes_on(&mut person, [Does::Picks("Agree: I")]);
        person.ask(&link("https://a.example/")).expect("asked");
        goes_on(&mut person, [Does::Picks("Try again")]);
        person.ask(&link("https://a.example/")).expect("asked");
        // Another link is new.
        goes_on(&mut person, [Does::Picks("Agree: I")]);
        person.ask(&link("https://b.example/")).expect("asked");
    }

    #[test]
    fn a_rejected_form_comes_with_what_was_given() {
        let form = FormSchema::new().required("name", StringSchema::new());
        let mut asked = asked(ElicitRequestParams::form("Who?", form));
        let mut person = person([Does::Writes("Ada"), Does::Picks("Send it")]);
        person.ask(&asked).expect("asked");
        asked.errors = vec!["name is taken".to_owned()];
        goes_on(&mut person, [Does::Enters, Does::Picks("Send it")]);
        person.ask(&asked).expect("asked");
        let shown = &person.prompts.shown;
        assert!(shown.contains(r#"name () from "Ada""#), "{shown}");
        // The next question of that name begins anew.
        asked.errors.clear();
        goes_on(&mut person, [Does::Writes("Bob"), Does::Picks("Send it")]);
        person.ask(&asked).expect("asked");
        let shown = &person.prompts.shown;
        assert!(shown.contains(r#"name () from """#), "{shown}");
    }

    #[test]
    fn a_draft_is_reviewed() {
        let asked = asked(InputRequest::Sample(Box::new(antiphon::Sample::user(
            "Go", 1,
        ))));
        let draft = CreateMessageResult::text("Gone.", "local");
        let mut person = person([Does::Picks("Send the draft")]);
        let reaction = person.review(&asked, &draft).expect("asked");
        assert_eq!(reaction, Reaction::Says(Said::Sample(Box::new(draft))));
    }

    #[test]
    fn what_is_not_known_is_refused() {
        let odd = json!({ "method": "x/\u{1b}y", "params": {} });
        let question: InputRequest = serde_json::from_value(odd).expect("a question");
        let mut person = person([]);
        let reaction = person.ask(&asked(question)).expect("asked");
        let why = "x/\\u{1b}y is not known here".to_owned();
        assert_eq!(reaction, Reaction::Refuses(why));
    }
}
