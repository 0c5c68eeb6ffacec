//! [`Upon`]: what work builds upon, in a form that is equal for equal answers.

use std::io::Write as _;

use super::Asking;
use crate::{canonical::canonical, ledger::Standing, seal::digest::Digest};

/// Everything that was answered and carried along when a run began: what its work may depend on.
/// To be digested; how answers are spelt, and in which rounds they came, makes no difference.
#[derive(Default)]
pub struct Upon(Vec<u8>);

impl Upon {
    /// An answer to a question that the author built, which counts in this run. To be added in
    /// the order of the keys.
    pub fn by_hand(&mut self, key: &str, answer: &str) {
        self.0.push(b'h');
        self.text(key);
        self.json(answer);
    }

    /// What the author carried along.
    pub fn carried(&mut self, state: &str) {
        self.0.push(b'c');
        self.text(state);
    }

    fn question(&mut self, key: &str, digest: &Digest, answer: &str) {
        self.0.push(b'q');
        self.text(key);
        self.0.extend_from_slice(digest);
        self.json(answer);
    }

    fn json(&mut self, json: &str) {
        // What has no canonical form was refused when it came.
        if canonical(json, &mut self.0).is_err() {
            self.text(json);
        }
    }

    fn text(&mut self, text: &str) {
        write!(self.0, "s{}:{text}", text.len()).expect("memory takes all");
    }
}

impl Asking {
    /// What the work of this run builds upon, together with what was added `before`.
    pub fn upon(&self, before: &Upon) -> Vec<u8> {
        let questions = self.ledger.questions.iter();
        let mut answered: Vec<_> = questions
            .filter_map(|question| match &question.standing {
                Standing::Answered { answer, .. } => Some((question, answer)),
                Standing::Pending(_) => None,
            })
            .collect();
        answered.sort_unstable_by(|(one, _), (other, _)| one.key.cmp(&other.key));
        let mut upon = Upon(before.0.clone());
        for (question, answer) in answered {
            upon.question(&question.key, &question.digest, answer);
        }
        upon.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        asking::Limits,
        ledger::{Ledger, Question},
    };

    fn answered(entries: &[(&str, u8, u16, &str)]) -> Vec<u8> {
        let questions = entries.iter().map(|(key, digest, round, answer)| Question {
            key: (*key).into(),
            digest: [*digest; 16],
            tries: 0,
            drifts: 0,
            standing: Standing::Answered {
                round: *round,
                answer: (*answer).into(),
            },
        });
        let ledger = Ledger {
            questions: questions.collect(),
            ..Ledger::default()
        };
        let asking = Asking::next(ledger, 3, std::iter::empty(), Limits::default());
        asking.upon(&Upon::default())
    }

    #[test]
    fn equal_answers_are_equal_however_they_came() {
        let one = answered(&[("a", 1, 1, r#"{"x":1,"y":2}"#), ("b", 2, 1, "true")]);
        let other = answered(&[("b", 2, 2, " true"), ("a", 1, 1, r#"{"y":2.0,"x":1}"#)]);
        assert_eq!(one, other);
    }

    #[test]
    fn each_of_key_question_and_answer_makes_a_difference() {
        let same = answered(&[("a", 1, 1, "1")]);
        for other in [
            answered(&[]),
            answered(&[("b", 1, 1, "1")]),
            answered(&[("a", 2, 1, "1")]),
            answered(&[("a", 1, 1, "2")]),
            answered(&[("a", 1, 1, "1"), ("b", 1, 1, "1")]),
        ] {
            assert_ne!(same, other);
        }
    }

    #[test]
    fn what_is_pending_is_built_upon_by_nobody() {
        let asking = Asking::first(Limits::default());
        let mut pending = Asking::first(Limits::default());
        assert_eq!(pending.find("a", &[1; 16]), Ok(None));
        pending.ask("a", antiphon_types::InputRequest::roots());
        let next = pending.next_ledger(|_| true);
        let next = Asking::next(next, 1, std::iter::empty(), Limits::default());
        let nothing = asking.upon(&Upon::default());
        assert_eq!(next.upon(&Upon::default()), nothing);
    }

    #[test]
    fn what_is_done_by_hand_counts_and_is_not_taken_for_a_question() {
        let asking = Asking::first(Limits::default());
        let upon = |add: &dyn Fn(&mut Upon)| {
            let mut upon = Upon::default();
            add(&mut upon);
            asking.upon(&upon)
        };
        let all = [
            upon(&|_| {}),
            upon(&|it| it.by_hand("a", "1")),
            upon(&|it| it.by_hand("a", "2")),
            upon(&|it| it.by_hand("b", "1")),
            upon(&|it| it.carried("a")),
            upon(&|it| it.carried("b")),
        ];
        for (at, one) in all.iter().enumerate() {
            assert!(!all[..at].contains(one), "{at}");
        }
        assert_eq!(all[1], upon(&|it| it.by_hand("a", " 1.0")));
    }
}
