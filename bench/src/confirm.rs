//! The second leg of a `confirm`: the same call again, with the user's answer and the state.

use std::io::{self, Write};

use memchr::memmem;

use crate::request::{Checks, Kind, Request, head, wrong};

/// What follows the state, which stands last.
const END: &[u8] = br#""}}"#;
/// The contract wants at least so many bytes of state, and whatever protects them adds to that.
const LEAST_STATE: usize = 190;

/// The second leg, which cannot be built before the first one is answered.
pub(crate) struct Retry {
    /// The head of a POST up to the length of the body; a line has none.
    head: Option<String>,
    /// The body up to the state.
    body: Request,
    bytes: Vec<u8>,
}

impl Retry {
    /// As a POST to a server on this port.
    pub(crate) fn post(port: u16) -> Self {
        Self::new(Some(head(Kind::Confirmed, port)))
    }

    /// As a line.
    pub(crate) fn line() -> Self {
        Self::new(None)
    }

    fn new(head: Option<String>) -> Self {
        Self {
            head,
            body: Request::open_ended(),
            bytes: Vec::new(),
        }
    }

    /// The bytes to send in the flow with this serial.
    pub(crate) fn fill(&mut self, serial: u32, state: &[u8]) -> &[u8] {
        let body = self.body.stamp(serial);
        self.bytes.clear();
        if let Some(head) = &self.head {
            let length = body.len() + state.len() + END.len();
            write!(self.bytes, "{head}{length}\r\n\r\n").expect("memory can be written to");
        }
        for part in [body, state, END] {
            self.bytes.extend_from_slice(part);
        }
        if self.head.is_none() {
            self.bytes.push(b'\n');
        }
        &self.bytes
    }

    /// Whether `answer` ends the flow that was last filled in.
    pub(crate) fn check(&self, answer: &[u8], checks: Checks) -> io::Result<()> {
        self.body.check(answer, checks)
    }
}

/// The state in the answer to a first leg, which must ask for a form.
pub(crate) fn state(answer: &[u8]) -> io::Result<&[u8]> {
    for word in [r#""input_required""#, r#""elicitation/create""#] {
        if memmem::find(answer, word.as_bytes()).is_none() {
            return Err(wrong(&format!("no {word} in the first leg"), answer));
        }
    }
    let state = member(answer, br#""requestState""#)
        .ok_or_else(|| wrong("no request state in the first leg", answer))?;
    if state.len() < LEAST_STATE || state.contains(&b'\\') {
        return Err(wrong("a state that is short or has escapes", answer));
    }
    Ok(state)
}

/// The string after a key, up to its closing quote.
fn member<'a>(answer: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    let rest = &answer[memmem::find(answer, key)? + key.len()..];
    let rest = rest.trim_ascii_start().strip_prefix(b":")?;
    let rest = rest.trim_ascii_start().strip_prefix(b"\"")?;
    Some(&rest[..memchr::memchr(b'"', rest)?])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::FIRST_SERIAL;

    fn first_leg(state: &str) -> String {
        format!(
            r#"{{"result": {{"resultType": "input_required", "requestState" : "{state}", "inputRequests": {{"confirm": {{"method": "elicitation/create"}}}}}}}}"#
        )
    }

    #[test]
    fn a_retry_carries_the_answer_the_state_and_an_id_of_its_own() {
        let mut retry = Retry::line();
        let line: serde_json::Value =
            serde_json::from_slice(retry.fill(12_345_678, b"sealed")).expect("JSON");
        assert_eq!(line["id"], 212_345_678);
        let params = &line["params"];
        assert_eq!(params["name"], "confirm");
        assert_eq!(params["arguments"]["action"], "deploy 12345678");
        assert_eq!(params["requestState"], "sealed");
        let answer = serde_json::json!({"action": "accept", "content": {"ok": true}});
        assert_eq!(params["inputResponses"]["confirm"], answer);
    }

    #[test]
    fn a_retry_repeats_the_arguments_of_the_first_leg() {
        let mut first = Request::line(Kind::Confirm);
        let first: serde_json::Value =
            serde_json::from_slice(first.stamp(FIRST_SERIAL)).expect("JSON");
        let mut second = Retry::line();
        let second: serde_json::Value =
            serde_json::from_slice(second.fill(FIRST_SERIAL, b"")).expect("JSON");
        for part in ["name", "arguments", "_meta"] {
            assert_eq!(first["params"][part], second["params"][part]);
        }
    }

    #[test]
    fn a_posted_retry_announces_its_length_whatever_the_state() {
        let mut retry = Retry::post(1);
        for state in [300, 7, 20_000] {
            let bytes = retry.fill(FIRST_SERIAL, &b"s".repeat(state));
            let end = memmem::find(bytes, b"\r\n\r\n").expect("a head") + 4;
            let head = std::str::from_utf8(&bytes[..end]).expect("text");
            let length = format!("Content-Length: {}\r\n", bytes.len() - end);
            assert!(head.contains(&length), "{head}");
        }
    }

    #[test]
    fn only_a_question_with_a_state_of_the_right_length_is_retried() {
        let long = "s".repeat(LEAST_STATE);
        let asked = first_leg(&long);
        assert_eq!(state(asked.as_bytes()).expect("a state"), long.as_bytes());
        for wrong in [
            first_leg("short"),
            first_leg(&format!("{long}\\\\")),
            asked.replace("requestState", "state"),
            asked.replace("input_required", "complete"),
            asked.replace("elicitation", "sampling"),
        ] {
            assert!(state(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn only_the_text_of_this_very_flow_ends_it() {
        let mut retry = Retry::line();
        retry.fill(12_345_678, b"");
        let check = |text: &str, checks| {
            let answer = format!(r#"{{"content":[{{"type":"text","text":"{text}"}}]}}"#);
            retry.check(answer.as_bytes(), checks).is_ok()
        };
        assert!(check("done: deploy 12345678", Checks::Full));
        assert!(!check("done: deploy 12345679", Checks::Full));
        assert!(!check("done: deploy 123456780", Checks::Full));
        assert!(!check("refused", Checks::Full));
        assert!(check("done: deploy 00000000", Checks::Shape));
        assert!(!check("refused", Checks::Shape));
    }
}
