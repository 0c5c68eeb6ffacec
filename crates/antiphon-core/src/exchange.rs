//! The rounds of one call, seen from the client (wire.md 4.3).
//!
//! [`Rounds`] is plain data: what the last round asked, what has been answered, the state to
//! bring back. Each round starts anew; nothing of an earlier one survives (MRTR-C-07, MRTR-C-11).

use std::{collections::HashSet, time::Duration};

use antiphon_types::{InputRequest, InputRequired};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Where a call stands.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rounds {
    /// Rounds that asked something, this one included.
    round: u32,
    /// Rounds in a row that asked nothing but to come back.
    polls: u32,
    questions: Vec<Asked>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    state: Option<String>,
}

/// One question, and its answer once there is one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    /// Under which key it is to be answered.
    pub key: String,
    /// The question.
    pub question: InputRequest,
    /// The answer as it will be sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Value>,
}

/// What a result that asks for input comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// There are questions to answer.
    Answer,
    /// There are none: come back later.
    Later,
}

/// The shortest and the longest pause before coming back.
const PAUSES: (Duration, Duration) = (Duration::from_millis(50), Duration::from_millis(250));

impl Rounds {
    /// Takes the result of the last request. Whatever was asked before is over.
    ///
    /// # Errors
    /// The result itself, when it asks in more rounds than `max_rounds`. The answers of the last
    /// round allowed were still sent.
    pub fn take(
        &mut self,
        asked: InputRequired,
        max_rounds: u32,
    ) -> Result<Next, Box<InputRequired>> {
        let asks = asked.requests().len() > 0;
        if asks && self.round >= max_rounds {
            return Err(Box::new(asked));
        }
        let (questions, state) = asked.into_parts();
        self.state = state;
        self.questions = questions
            .into_iter()
            .map(|(key, question)| Asked {
                key,
                question,
                answer: None,
            })
            .collect();
        if asks {
            self.round += 1;
            self.polls = 0;
            Ok(Next::Answer)
        } else {
            self.polls = self.polls.saturating_add(1);
            Ok(Next::Later)
        }
    }

    /// How many rounds have asked something.
    pub fn round(&self) -> u32 {
        self.round
    }

    /// How many rounds in a row have asked nothing.
    pub fn polls(&self) -> u32 {
        self.polls
    }

    /// The questions of the last round, answered or not.
    pub fn questions(&self) -> &[Asked] {
        &self.questions
    }

    /// The first key that stands twice, which no server can have asked.
    pub fn duplicate_key(&self) -> Option<&str> {
        let mut seen = HashSet::new();
        let mut keys = self.questions.iter().map(|asked| asked.key.as_str());
        keys.find(|key| !seen.insert(*key))
    }

    /// Those without an answer.
    pub fn pending(&self) -> impl Iterator<Item = &Asked> {
        self.questions.iter().filter(|asked| asked.answer.is_none())
    }

    /// Those without an answer, as a server asks them; `None` if there are none.
    pub fn unanswered(&self) -> Option<InputRequired> {
        let mut pending = self.pending();
        let first = pending.next()?;
        let asked = InputRequired::ask(first.key.as_str(), first.question.clone());
        Some(pending.fold(asked, |asked, next| {
            asked.and(next.key.as_str(), next.question.clone())
        }))
    }

    /// The state to bring back.
    pub fn state(&self) -> Option<&str> {
        self.state.as_deref()
    }

    /// Whether the next request is a retry, whose result must not be cached (MRTR-C-14).
    pub fn is_retry(&self) -> bool {
        self.state.is_some() || !self.questions.is_empty()
    }

    /// Drops the questions that have no answer: the next request says nothing of them.
    pub fn leave_out_unanswered(&mut self) {
        self.questions.retain(|asked| asked.answer.is_some());
    }

    /// Sets or replaces an answer; `false` if the last round asked nothing under that key.
    pub fn answer(&mut self, key: &str, answer: Option<Value>) -> bool {
        let mut questions = self.questions.iter_mut();
        match questions.find(|asked| asked.key == key) {
            Some(asked) => {
                asked.answer = answer;
                true
            }
            None => false,
        }
    }

    /// Sets or replaces the answer to the question at this position; nothing happens if there is
    /// none.
    pub fn answer_at(&mut self, position: usize, answer: Value) {
        if let Some(asked) = self.questions.get_mut(position) {
            asked.answer = Some(answer);
        }
    }

    /// How long to wait before coming back: 50 ms, doubling to 250 ms, up to a fifth less by
    /// `jitter`, which goes from 0 to 255.
    pub fn pause(&self, jitter: u8) -> Duration {
        let (shortest, longest) = PAUSES;
        let doublings = self.polls.saturating_sub(1).min(8);
        let pause = (shortest * (1 << doublings)).min(longest);
        pause - pause * u32::from(jitter) / (5 * 255)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn asking(keys: &[&str], state: Option<&str>) -> InputRequired {
        let mut asked = match keys.split_first() {
            None => InputRequired::later(state.expect("a state")),
            Some((first, rest)) => rest.iter().fold(
                InputRequired::ask(*first, InputRequest::roots()),
                |asked, key| asked.and(*key, InputRequest::roots()),
            ),
        };
        if let Some(state) = state {
            asked = asked.with_state(state);
        }
        asked
    }

    /// MRTR-C-07, MRTR-C-11: the latest result decides alone.
    #[test]
    fn nothing_of_an_earlier_round_survives() {
        let mut rounds = Rounds::default();
        assert!(!rounds.is_retry());
        let next = rounds.take(asking(&["a", "b"], Some("one")), 10);
        assert_eq!(next, Ok(Next::Answer));
        assert!(rounds.answer("a", Some(json!({}))));
        assert!(!rounds.answer("c", Some(json!({}))));
        assert_eq!(rounds.pending().count(), 1);
        rounds.answer_at(1, json!({"b": 1}));
        rounds.answer_at(2, json!({}));
        assert_eq!(rounds.questions()[1].answer, Some(json!({"b": 1})));
        assert_eq!(rounds.pending().count(), 0);
        assert_eq!(rounds.state(), Some("one"));

        rounds.take(asking(&["a"], None), 10).expect("a round");
        assert_eq!(rounds.state(), None);
        assert_eq!(rounds.pending().count(), 1);
        assert!(rounds.is_retry());

        let next = rounds.take(asking(&[], Some("")), 10);
        assert_eq!(next, Ok(Next::Later));
        assert_eq!((rounds.state(), rounds.questions().len()), (Some(""), 0));
        assert!(rounds.is_retry());
    }

    /// MRTR-C-20: the last round allowed is still answered, the next one is not.
    #[test]
    fn rounds_that_ask_are_counted_and_others_are_not() {
        let mut rounds = Rounds::default();
        for round in 1..=3 {
            for poll in 1..=100 {
                assert_eq!(rounds.take(asking(&[], Some("s")), 3), Ok(Next::Later));
                assert_eq!(rounds.polls(), poll);
            }
            assert_eq!(rounds.take(asking(&["a"], None), 3), Ok(Next::Answer));
            assert_eq!((rounds.round(), rounds.polls()), (round, 0));
        }
        let last = asking(&["late"], Some("s"));
        let refused = rounds.take(last.clone(), 3);
        assert_eq!(refused, Err(Box::new(last)));
        // The refused result changed nothing.
        assert_eq!(rounds.questions()[0].key, "a");
    }

    #[test]
    fn what_has_no_answer_can_be_left_out() {
        let mut rounds = Rounds::default();
        let asked = asking(&["a", "b", "c"], Some("s"));
        rounds.take(asked, 10).expect("a round");
        rounds.answer("b", Some(json!({})));
        rounds.leave_out_unanswered();
        let keys: Vec<_> = rounds
            .questions()
            .iter()
            .map(|asked| asked.key.as_str())
            .collect();
        assert_eq!((keys, rounds.state()), (vec!["b"], Some("s")));
    }

    #[test]
    fn pauses_grow_to_a_limit() {
        let mut rounds = Rounds::default();
        let mut pauses = Vec::new();
        for _ in 0..5 {
            rounds.take(asking(&[], Some("s")), 1).expect("later");
            pauses.push(rounds.pause(0).as_millis());
            assert!(rounds.pause(255) < rounds.pause(0));
            assert!(rounds.pause(255) >= rounds.pause(0) * 4 / 5);
        }
        assert_eq!(pauses, [50, 100, 200, 250, 250]);
        rounds.polls = u32::MAX;
        assert_eq!(rounds.pause(0), PAUSES.1);
    }

    #[test]
    fn where_a_call_stands_can_be_stored() {
        let mut rounds = Rounds::default();
        rounds
            .take(asking(&["z", "a"], Some("s")), 10)
            .expect("asks");
        rounds.answer("a", Some(json!({"roots": []})));
        let text = serde_json::to_string(&rounds).expect("JSON");
        assert_eq!(serde_json::from_str::<Rounds>(&text).expect("read"), rounds);
    }
}
