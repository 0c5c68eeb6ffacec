//! One play of a script: the call, its rounds, and what fails the test.

use std::panic::Location;

use antiphon_core::question::Kind;
use antiphon_types::{ElicitRequestParams, FormSchema, InputRequest, Method};

use super::{
    Asked, Played, Script,
    played::{Ending, text},
    script::{Line, Says},
    trace::{Failure, Trace, what},
};
use crate::client::{
    Answer, Connect, Connection, Error, ErrorKind, Finished, Outcome, Paused, Request,
};

/// Most rounds that ask something.
pub(super) const ROUNDS: u32 = 40;

/// Most rounds in a row that ask nothing but to come back.
const LATER: u32 = 1000;

/// Plays a script on a connection of its own.
pub(super) async fn run<M>(
    script: &Script,
    to: impl Connect,
    request: Request<M>,
    at: &'static Location<'static>,
) -> Result<Played<M::Result>, Failure>
where
    M: Method<Result: Finished>,
{
    let call = request.target.as_ref().map(ToString::to_string);
    let mut play = Play {
        used: vec![false; script.lines.len()],
        script,
        trace: Trace::new(call.unwrap_or_else(|_| M::NAME.to_owned())),
        asked: Vec::new(),
    };
    match play.whole(to, request).await {
        Ok(ending) => Ok(Played {
            ending,
            asked: play.asked,
            trace: play.trace,
            at,
        }),
        Err(why) => Err(Failure {
            why,
            at,
            trace: play.trace,
        }),
    }
}

/// How far it came.
struct Play<'a> {
    script: &'a Script,
    /// Which lines of the script.
    used: Vec<bool>,
    trace: Trace,
    asked: Vec<Asked>,
}

/// Why it fails the test.
type Why = String;

impl Play<'_> {
    async fn whole<M>(
        &mut self,
        to: impl Connect,
        request: Request<M>,
    ) -> Result<Ending<M::Result>, Why>
    where
        M: Method<Result: Finished>,
    {
        let connection = self.script.client().connect(to).await;
        let connection = connection.map_err(|error| self.broken(&error))?;
        let ended = self.rounds(&connection, request).await;
        connection.close().await;
        let ending = ended?;
        self.all_used(&ending)?;
        Ok(ending)
    }

    async fn rounds<M>(
        &mut self,
        connection: &Connection,
        request: Request<M>,
    ) -> Result<Ending<M::Result>, Why>
    where
        M: Method<Result: Finished>,
    {
        let mut outcome = connection.start(request).await;
        loop {
            let paused = match outcome {
                Ok(Outcome::Done(result)) => {
                    let failed = result.as_tool().is_some_and(|tool| tool.failed());
                    self.trace
                        .end(if failed { "a tool error" } else { "a result" });
                    return Ok(Ok(result));
                }
                Ok(Outcome::Paused(paused)) => self.answer(paused).await?,
                Ok(Outcome::Later(paused)) => {
                    if self.trace.later() >= LATER {
                        return Err(format!(
                            "the server asked {LATER} times in a row to come back, and nothing \
                             else; it has to ask or to end at last"
                        ));
                    }
                    paused
                }
                Err(error) => match error.answered().cloned() {
                    Some(error) => {
                        self.trace.end(format!("the error {}", error.code));
                        return Ok(Err(error));
                    }
                    None => return Err(self.broken(&error)),
                },
            };
            outcome = connection.resume_as_is(paused).await;
        }
    }

    /// Answers one round.
    async fn answer(&mut self, mut paused: Paused) -> Result<Paused, Why> {
        let round = paused.round();
        self.trace.asked(paused.questions());
        let asked: Vec<_> = paused
            .questions()
            .map(|(key, question)| Asked {
                round,
                key: key.to_owned(),
                question: question.clone(),
            })
            .collect();
        let mut unchecked = Vec::new();
        for asked in asked {
            self.same_as_before(&asked)?;
            let line = self.line_for(&asked)?;
            self.trace.done(&asked.key, line.action);
            if !line.checked {
                unchecked.push(asked.key.clone());
            }
            paused = match &line.says {
                Says::This(answer) => paused.answer(&asked.key, answer.clone()),
                Says::Visits(open) => {
                    if let InputRequest::Elicit(ElicitRequestParams::Url(link)) = &asked.question {
                        open(link.url.clone()).await;
                    }
                    paused.answer(&asked.key, Answer::accept(()))
                }
                Says::Nothing => paused,
            };
            self.asked.push(asked);
        }
        let wrong = paused.problems().into_iter().find(|problem| {
            let key = problem.key.as_ref();
            key.is_none_or(|key| !unchecked.contains(key))
        });
        match wrong {
            None => Ok(paused),
            Some(wrong) => Err(format!(
                "the script's answer in round {round} does not fit: {wrong}; to send it \
                 nevertheless, use `.answer(key, entry)`"
            )),
        }
    }

    /// The next answer to this question.
    fn line_for(&mut self, asked: &Asked) -> Result<Line, Why> {
        let Asked { round, key, .. } = asked;
        let kind = Kind::of(&asked.question);
        let lines = self.script.lines.iter().zip(&mut self.used);
        let mut lines = lines.filter(|(line, _)| line.key == *key);
        match lines.find(|(_, used)| !**used) {
            Some((line, used)) if kind.is_some_and(|kind| line.kinds.contains(&kind)) => {
                *used = true;
                Ok(line.clone())
            }
            Some((line, _)) => Err(format!(
                "`{key}` is {} in round {round}, and the script answers {} there ({}); {}",
                what(kind),
                what(line.kinds.first().copied()),
                line.action,
                to_do(kind, key),
            )),
            None => {
                let left = match self.script.lines.iter().any(|line| line.key == *key) {
                    true => " left",
                    false => "",
                };
                Err(format!(
                    "the script has no answer{left} to `{key}`, which is {} in round {round}: {:?}; \
                     {}{}",
                    what(kind),
                    text(&asked.question),
                    to_do(kind, key),
                    self.so_far_unused(),
                ))
            }
        }
    }

    /// A question that comes again is the same, but for a note.
    fn same_as_before(&self, asked: &Asked) -> Result<(), Why> {
        let key = &asked.key;
        let first = self.asked.iter().find(|before| before.key == *key);
        let Some(first) = first.filter(|_| !self.script.reworded.contains(key)) else {
            return Ok(());
        };
        if is_again(&first.question, &asked.question) {
            return Ok(());
        }
        let other = match schema(&first.question) == schema(&asked.question) {
            true => "",
            false => ", with another schema",
        };
        Err(format!(
            "the question `{key}` is another one when it comes again:\n  round {}: {}\n  round {}: \
             {}{other}\nmake it of the arguments and of earlier answers, not of the time, of chance or of \
             what changes in between; if it is meant to change, add `.reworded({key:?})`",
            first.round,
            shown(&first.question),
            asked.round,
            shown(&asked.question),
        ))
    }

    fn all_used<T: Finished>(&self, ending: &Ending<T>) -> Result<(), Why> {
        let unused: Vec<_> = self
            .unused()
            .filter(|line| !line.optional)
            .map(|line| format!("`{}` ({})", line.key, line.action))
            .collect();
        match unused.is_empty() {
            true => Ok(()),
            false => Err(format!(
                "nobody asked for the script's answer to {}{}; take it out, or add `.optional()` \
                 after it",
                unused.join(", "),
                bad_end(ending),
            )),
        }
    }

    fn unused(&self) -> impl Iterator<Item = &Line> {
        let lines = self.script.lines.iter().zip(&self.used);
        lines.filter(|(_, used)| !**used).map(|(line, _)| line)
    }

    /// It may be that a key is misspelt.
    fn so_far_unused(&self) -> String {
        let keys: Vec<_> = self
            .unused()
            .map(|line| format!("`{}`", line.key))
            .collect();
        match keys.is_empty() {
            true => String::new(),
            false => format!("; not asked for so far: {}", keys.join(", ")),
        }
    }

    /// There is neither a result nor an error of the server.
    fn broken(&mut self, error: &Error) -> Why {
        self.trace.end("no answer");
        match error.kind() {
            ErrorKind::RoundsExceeded(last) => {
                let keys: Vec<_> = last.requests().map(|(key, _)| format!("`{key}`")).collect();
                format!(
                    "the server asks in more than {ROUNDS} rounds, last for {}; does it keep what \
                     was answered?",
                    keys.join(", ")
                )
            }
            _ => format!("the call broke off: {error}"),
        }
    }
}

/// Why a call may have ended before everything was asked.
fn bad_end<T: Finished>(ending: &Ending<T>) -> String {
    match ending {
        Err(error) => format!(" before the error {}, {:?}", error.code, error.message),
        Ok(result) => match result.as_tool().filter(|tool| tool.failed()) {
            Some(tool) => {
                let text = tool.first_text().unwrap_or_default();
                format!(" before the tool error {text:?}")
            }
            None => String::new(),
        },
    }
}

/// What to write for a question of this kind.
fn to_do(kind: Option<Kind>, key: &str) -> String {
    match kind {
        Some(Kind::Form) => format!(
            "write `.accept({key:?}, json!({{ .. }}))`, `.decline({key:?})` or `.cancel({key:?})`"
        ),
        Some(Kind::Url) => format!(
            "write `.visit({key:?}, |url| async move {{ .. }})`, `.accept_link({key:?})` or \
             `.decline({key:?})`"
        ),
        Some(Kind::Sample | Kind::SampleWithTools) => format!("write `.sample({key:?}, \"..\")`"),
        Some(Kind::Roots) => format!("write `.roots({key:?}, [\"file:///..\"])`"),
        _ => format!("write `.answer({key:?}, json!({{ .. }}))`"),
    }
}

/// Whether a question is one that was asked before, perhaps with a note on what was wrong with the
/// answer: before or after its text, with space in between.
pub(super) fn is_again(first: &InputRequest, again: &InputRequest) -> bool {
    let (before, now) = (text(first), text(again));
    let noted = |rest: Option<&str>, space: fn(&str) -> bool| rest.is_some_and(space);
    let same_text = before == now
        || noted(now.strip_prefix(&before), |rest| {
            rest.starts_with(char::is_whitespace)
        })
        || noted(now.strip_suffix(&before), |rest| {
            rest.ends_with(char::is_whitespace)
        });
    same_text
        && Kind::of(first) == Kind::of(again)
        && url(first) == url(again)
        && schema(first) == schema(again)
}

fn schema(question: &InputRequest) -> Option<&FormSchema> {
    match question {
        InputRequest::Elicit(ElicitRequestParams::Form(form)) => Some(&form.requested_schema),
        _ => None,
    }
}

fn url(question: &InputRequest) -> Option<&str> {
    match question {
        InputRequest::Elicit(ElicitRequestParams::Url(link)) => Some(&link.url),
        _ => None,
    }
}

pub(super) fn shown(question: &InputRequest) -> String {
    let kind = what(Kind::of(question));
    match url(question) {
        None => format!("{kind}, {:?}", text(question)),
        Some(url) => format!("{kind}, {:?} {url}", text(question)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use antiphon_types::FormSchema;

    fn form(message: &str) -> InputRequest {
        ElicitRequestParams::form(message, FormSchema::new()).into()
    }

    #[test]
    fn a_note_makes_no_other_question() {
        let first = form("How many?");
        for again in [
            "How many?",
            "How many?\n\nat most 9",
            "(at most 9) How many?",
        ] {
            assert!(is_again(&first, &form(again)), "{again}");
        }
        for other in ["How much?", "How many?!", "9How many?", "How", ""] {
            assert!(!is_again(&first, &form(other)), "{other}");
        }
        let link = |url: &str| ElicitRequestParams::url("How many?", url).into();
        assert!(!is_again(&first, &link("https://a")));
        assert!(!is_again(&link("https://a"), &link("https://b")));
        assert!(is_again(&link("https://a"), &link("https://a")));
    }
}
