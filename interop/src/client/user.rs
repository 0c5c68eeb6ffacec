//! [`User`]: who answers what servers ask, and what they were told.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use antiphon::{
    Client,
    client::{Form, Link, Reply, Roots, Sample},
    types::{LoggingLevel, LoggingMessageNotificationParams, Root},
};
use serde_json::{Value, json};

/// How the next question is answered.
#[derive(Clone, Copy, Default, PartialEq)]
pub(crate) enum Mood {
    #[default]
    Agrees,
    /// Fills in the form, with a no.
    SaysNo,
    Declines,
    Cancels,
}

#[derive(Clone, Default)]
pub(crate) struct User(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    mood: Mood,
    heard: Vec<(LoggingLevel, Value)>,
    asked: Vec<String>,
}

impl User {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins anew.
    pub(crate) fn is(&self, mood: Mood) {
        *self.state() = State {
            mood,
            ..State::default()
        };
    }

    /// What was asked since.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.state().asked.clone()
    }

    /// What was logged since.
    pub(crate) fn heard(&self) -> Vec<(LoggingLevel, Value)> {
        self.state().heard.clone()
    }

    pub(crate) fn hears(&self, message: &LoggingMessageNotificationParams) {
        self.state()
            .heard
            .push((message.level, message.data.clone()));
    }

    /// Has a client put every question to this user.
    pub(crate) fn at(&self, client: Client) -> Client {
        let [forms, links, samples, roots] = [(); 4].map(|()| self.clone());
        client
            .on_form(move |form| {
                let reply = forms.fills_in(&form);
                async move { reply }
            })
            .on_url(move |link| {
                let reply = links.visits(&link);
                async move { reply }
            })
            .on_sample(move |sample| {
                let reply = samples.completes(&sample);
                async move { reply }
            })
            .on_roots(move |asked| {
                let reply = roots.lists(&asked);
                async move { reply }
            })
    }

    fn note(&self, question: &str) -> Mood {
        let mut state = self.state();
        state.asked.push(question.to_owned());
        state.mood
    }

    fn fills_in(&self, form: &Form) -> Reply {
        let mood = self.note(&form.message);
        let content = match form.message.as_str() {
            "Run deploy?" => json!({ "ok": mood != Mood::SaysNo }),
            "Your order" => order(),
            "When?" => json!({ "date": "2026-07-28" }),
            "Who travels?" | "To whom?" | "For whom is report 7?" => json!({ "name": "Ada" }),
            "Question 1?" => json!({ "answer": "a" }),
            "You said a. Question 2?" => json!({ "answer": "b" }),
            "You said b. Question 3?" => json!({ "answer": "c" }),
            other => return form.refuse(format!("nobody knows an answer to {other:?}")),
        };
        match mood {
            Mood::Agrees | Mood::SaysNo => form.accept(content),
            Mood::Declines => form.decline(),
            Mood::Cancels => form.cancel(),
        }
    }

    fn visits(&self, link: &Link) -> Reply {
        let mood = self.note(&link.message);
        match (link.url.as_str(), mood) {
            ("https://example.com/sign-in", Mood::Agrees) => link.accept(),
            ("https://example.com/sign-in", _) => link.decline(),
            (other, _) => link.refuse(format!("{other} is not the URL")),
        }
    }

    fn completes(&self, sample: &Sample) -> Reply {
        let text = sample.messages.first().and_then(|message| {
            let mut parts = message.content.as_slice().iter();
            parts.find_map(|part| part.as_text())
        });
        self.note(text.unwrap_or_default());
        match (text, sample.messages.len(), sample.max_tokens) {
            (Some("Sum up: a long story"), 1, 100) => sample.text("short", "ensemble-1"),
            _ => sample.refuse(format!("the model is asked something else: {text:?}")),
        }
    }

    fn lists(&self, roots: &Roots) -> Reply {
        self.note("roots");
        roots.list(["file:///srv/one", "file:///srv/two"].map(Root::new))
    }
}

/// What is ordered.
pub(crate) fn order() -> Value {
    json!({
        "name": "Ada", "mail": "ada@example.com", "day": "2026-07-28", "site": "https://example.com/a?b=c",
        "copies": 3, "weight": 1.5, "gift": true, "size": "large", "region": "us", "extras": ["ribbon", "box"],
    })
}
