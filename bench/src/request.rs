//! The requests that are sent, and what their answers must hold.

use std::{io, ops::Range};

use clap::ValueEnum;
use memchr::memmem;

use crate::orders;

/// Eight digits that are replaced in every request, so that no answer fits two requests.
const SERIAL: &str = "00000000";
/// The first serial; all have the same number of digits.
pub(crate) const FIRST_SERIAL: u32 = 10_000_000;
/// Serials that belong to one connection of a burst.
pub(crate) const LANE_SERIALS: u32 = 1_000_000;
/// The last serial.
const LAST_SERIAL: u32 = 99_999_999;
/// The echoed text up to the serial.
const LEAD: &str = "Low water at the north quay, sounding ";
/// The echoed text after the serial.
const REST: &str = ", wind slack.";
/// The bytes of a short text.
const SHORT: usize = LEAD.len() + SERIAL.len() + REST.len();
/// What is confirmed, up to the serial.
const ACTION: &str = "deploy ";
/// The question about it, up to the serial.
const QUESTION: &str = "Run deploy ";
/// The text that ends it, up to the serial.
const DONE: &str = "done: deploy ";
/// The user's answer to what `confirm` asks.
const ACCEPT: &str = r#""inputResponses":{"confirm":{"action":"accept","content":{"ok":true}}},"#;
/// What a large text holds beyond that.
const LARGE: usize = 1 << 20;
/// The fillers of a server with many tools.
pub(crate) const FILLERS: usize = TOOLS - OWN_TOOLS;
/// All tools of that server.
const TOOLS: usize = 503;
/// What every server has: `echo`, `slow`, `nested` and `confirm`.
pub(crate) const OWN_TOOLS: usize = 4;
/// How long a slow call takes, in milliseconds.
pub(crate) const SLOW_MS: u64 = 5000;

/// What every request says of its client.
pub(crate) const META: &str = concat!(
    r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
    r#""io.modelcontextprotocol/clientInfo":{"name":"antiphon-bench","version":"0.1.0"},"#,
    r#""io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}}"#,
);

/// A kind of request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// A call of `echo` with a short text.
    Echo,
    /// A call of `echo` with a text of 1 MiB.
    Large,
    /// A call of `echo` with a text of so many bytes, or a short one if that is longer.
    #[value(skip)]
    Sized(u32),
    /// A call of `nested`.
    Nested,
    /// `tools/list`.
    List,
    /// A call of `confirm`, in two legs: this is the first.
    Confirm,
    /// Its second leg.
    #[value(skip)]
    Confirmed,
    /// A call of `slow`.
    #[value(skip)]
    Slow,
    /// `server/discover`.
    #[value(skip)]
    Discover,
}

impl Kind {
    /// The second leg of a call that has two.
    pub(crate) fn second_leg(self) -> Option<Self> {
        (self == Self::Confirm).then_some(Self::Confirmed)
    }
}

/// How closely an answer is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Checks {
    /// It must hold what this very request asked for.
    Full,
    /// It must look like the answer to such a request.
    Shape,
}

impl Checks {
    pub(crate) fn unless(fixed: bool) -> Self {
        if fixed { Self::Shape } else { Self::Full }
    }
}

/// The next serial after this one.
pub(crate) fn next(serial: u32) -> u32 {
    if serial == LAST_SERIAL {
        FIRST_SERIAL
    } else {
        serial + 1
    }
}

/// One request, built once and stamped with a new serial each time it is sent.
pub(crate) struct Request {
    kind: Kind,
    bytes: Vec<u8>,
    serials: Vec<usize>,
    serial: u32,
    text: Range<usize>,
}

impl Request {
    /// As a POST to a server on this port.
    pub(crate) fn post(kind: Kind, port: u16) -> Self {
        let (head, body) = (head(kind, port), body(kind));
        Self::new(kind, format!("{head}{}\r\n\r\n{body}}}}}", body.len() + 2))
    }

    /// As a line.
    pub(crate) fn line(kind: Kind) -> Self {
        Self::new(kind, body(kind) + "}}\n")
    }

    /// As the body of a second leg, up to the state.
    pub(crate) fn open_ended() -> Self {
        let kind = Kind::Confirmed;
        Self::new(kind, body(kind) + r#","requestState":""#)
    }

    /// As a POST of a `confirm` in a session of an older revision, of which this is the head up to
    /// the length of the body.
    pub(crate) fn in_session(head: &str) -> Self {
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":{SERIAL},"method":"tools/call","params":{{"name":"confirm","arguments":{{"action":"{ACTION}{SERIAL}"}}}}}}"#
        );
        Self::new(Kind::Confirm, format!("{head}{}\r\n\r\n{body}", body.len()))
    }

    fn new(kind: Kind, text: String) -> Self {
        let bytes = text.into_bytes();
        // A head has none, whatever a server chose to call a session.
        let body = memmem::find(&bytes, b"\r\n\r\n").unwrap_or(0);
        let serials = memmem::find_iter(&bytes[body..], SERIAL);
        let serials = serials.map(|at| body + at).collect();
        let start = memmem::find(&bytes, LEAD.as_bytes()).unwrap_or(0);
        let end = memchr::memchr(b'"', &bytes[start..]).map_or(start, |length| start + length);
        Self {
            kind,
            bytes,
            serials,
            serial: 0,
            text: start..end,
        }
    }

    /// The bytes to send for this serial.
    pub(crate) fn stamp(&mut self, serial: u32) -> &[u8] {
        self.serial = serial;
        let mut digits = [0; SERIAL.len()];
        let mut rest = serial;
        for digit in digits.iter_mut().rev() {
            *digit = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        for &at in &self.serials {
            self.bytes[at..at + digits.len()].copy_from_slice(&digits);
        }
        &self.bytes
    }

    /// Whether `answer` is the answer to the request as it was last stamped.
    pub(crate) fn check(&self, answer: &[u8], checks: Checks) -> io::Result<()> {
        let holds = |text: &str| memmem::find(answer, text.as_bytes()).is_some();
        let right = match (self.kind, checks) {
            (Kind::Echo | Kind::Large | Kind::Sized(_), Checks::Full) => {
                let text = &self.bytes[self.text.clone()];
                memmem::find(answer, LEAD.as_bytes())
                    .is_some_and(|at| answer[at..].starts_with(text))
            }
            (Kind::Nested, Checks::Full) => holds(&orders::summary(self.serial)),
            (Kind::Nested, Checks::Shape) => holds(" pieces"),
            (Kind::Echo | Kind::Large | Kind::Sized(_), Checks::Shape) => {
                answer.len() >= self.text.len() && holds(LEAD)
            }
            (Kind::Confirm | Kind::Confirmed, Checks::Full) => {
                serial(self.kind, answer) == Some(self.serial)
            }
            (Kind::Confirm | Kind::Confirmed, Checks::Shape) => serial(self.kind, answer).is_some(),
            (Kind::List, _) => memmem::find_iter(answer, r#""inputSchema""#).count() >= TOOLS,
            (Kind::Slow, _) => holds(&format!("slept {SLOW_MS}")),
            (Kind::Discover, Checks::Full) => holds("supportedVersions"),
            (Kind::Discover, Checks::Shape) => !answer.is_empty(),
        };
        if right {
            Ok(())
        } else {
            Err(wrong("not the answer to the request", answer))
        }
    }
}

/// The serial that the text of an answer repeats.
pub(crate) fn serial(kind: Kind, answer: &[u8]) -> Option<u32> {
    let (lead, rest) = match kind {
        Kind::Echo => (LEAD, REST),
        Kind::Confirm => (QUESTION, "?"),
        Kind::Confirmed => (DONE, "\""),
        Kind::Large | Kind::Sized(_) | Kind::Nested | Kind::List | Kind::Slow | Kind::Discover => {
            return None;
        }
    };
    let start = memmem::find(answer, lead.as_bytes())? + lead.len();
    let (digits, after) = answer[start..].split_at_checked(SERIAL.len())?;
    if !after.starts_with(rest.as_bytes()) {
        return None;
    }
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// An error that shows the beginning of an answer.
pub(crate) fn wrong(problem: &str, answer: &[u8]) -> io::Error {
    let start = String::from_utf8_lossy(&answer[..answer.len().min(300)]);
    io::Error::other(format!("{problem}: {}", start.trim_end()))
}

/// The method, and the tool where there is one.
fn address(kind: Kind) -> (&'static str, Option<&'static str>) {
    match kind {
        Kind::Echo | Kind::Large | Kind::Sized(_) => ("tools/call", Some("echo")),
        Kind::Nested => ("tools/call", Some("nested")),
        Kind::Confirm | Kind::Confirmed => ("tools/call", Some("confirm")),
        Kind::Slow => ("tools/call", Some("slow")),
        Kind::List => ("tools/list", None),
        Kind::Discover => ("server/discover", None),
    }
}

/// The head of a POST up to the length of its body.
pub(crate) fn head(kind: Kind, port: u16) -> String {
    let (method, name) = address(kind);
    let name = name.map_or_else(String::new, |name| format!("Mcp-Name: {name}\r\n"));
    format!(
        "POST /mcp HTTP/1.1\r\n\
         Host: 127.0.0.1:{port}\r\n\
         Content-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\n\
         MCP-Protocol-Version: 2026-07-28\r\n\
         Mcp-Method: {method}\r\n\
         {name}Content-Length: "
    )
}

/// The message but for its last two braces, which close the parameters and the message.
fn body(kind: Kind) -> String {
    let arguments = match kind {
        Kind::Echo => echoed(0),
        Kind::Large => echoed(LARGE),
        Kind::Sized(bytes) => echoed((bytes as usize).saturating_sub(SHORT)),
        Kind::Nested => orders::arguments(SERIAL),
        Kind::Confirm | Kind::Confirmed => format!(r#"{{"action":"{ACTION}{SERIAL}"}}"#),
        Kind::Slow => format!(r#"{{"ms":{SLOW_MS}}}"#),
        Kind::List | Kind::Discover => String::new(),
    };
    let (method, name) = address(kind);
    let call = name.map_or_else(String::new, |name| {
        format!(r#""name":"{name}","arguments":{arguments},"#)
    });
    // Both legs belong to one serial, and need an id each.
    let (id, answer) = match kind {
        Kind::Confirmed => (format!("2{SERIAL}"), ACCEPT),
        _ => (SERIAL.to_owned(), ""),
    };
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{call}{answer}{META}"#)
}

/// The arguments of an `echo` with so many bytes beyond a short text.
fn echoed(more: usize) -> String {
    format!(r#"{{"text":"{LEAD}{SERIAL}{REST}{}"}}"#, "~".repeat(more))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_the_size_that_was_asked_for() {
        for (asked, expected) in [(64, 64), (1 << 20, 1 << 20), (1, SHORT)] {
            let mut request = Request::line(Kind::Sized(asked));
            let line: serde_json::Value =
                serde_json::from_slice(request.stamp(FIRST_SERIAL)).expect("JSON");
            let text = line["params"]["arguments"]["text"].as_str().expect("text");
            assert_eq!(text.len(), expected);
        }
    }

    #[test]
    fn nested_arguments_carry_the_serial_and_so_does_their_answer() {
        let mut request = Request::line(Kind::Nested);
        let line: serde_json::Value =
            serde_json::from_slice(request.stamp(12_345_678)).expect("JSON");
        let first = &line["params"]["arguments"]["orders"][0]["lines"][0];
        assert_eq!(first["quantity"], 12_345_678);
        let answer = orders::summary(12_345_678).into_bytes();
        assert!(request.check(&answer, Checks::Full).is_ok());
        request.stamp(12_345_679);
        assert!(request.check(&answer, Checks::Full).is_err());
        assert!(request.check(&answer, Checks::Shape).is_ok());
    }

    #[test]
    fn a_stamped_line_is_json_and_carries_its_serial_twice() {
        let mut request = Request::line(Kind::Echo);
        let line: serde_json::Value =
            serde_json::from_slice(request.stamp(12_345_678)).expect("JSON");
        assert_eq!(line["id"], 12_345_678);
        let text = line["params"]["arguments"]["text"].as_str().expect("text");
        assert_eq!(serial(Kind::Echo, text.as_bytes()), Some(12_345_678));
    }

    #[test]
    fn a_post_announces_the_length_of_its_body() {
        for kind in [
            Kind::Echo,
            Kind::Large,
            Kind::Nested,
            Kind::List,
            Kind::Confirm,
            Kind::Slow,
        ] {
            let mut request = Request::post(kind, 1);
            let bytes = request.stamp(FIRST_SERIAL);
            let end = memmem::find(bytes, b"\r\n\r\n").expect("a head") + 4;
            let head = std::str::from_utf8(&bytes[..end]).expect("text");
            let length = format!("Content-Length: {}\r\n", bytes.len() - end);
            assert!(head.contains(&length), "{head}");
        }
    }

    #[test]
    fn an_answer_to_another_request_is_noticed() {
        let mut request = Request::line(Kind::Echo);
        let other = request.stamp(FIRST_SERIAL).to_vec();
        request.stamp(FIRST_SERIAL + 1);
        assert!(request.check(&other, Checks::Full).is_err());
        assert!(request.check(&other, Checks::Shape).is_ok());
        let same = request.bytes.clone();
        assert!(request.check(&same, Checks::Full).is_ok());
    }

    #[test]
    fn a_large_answer_that_was_cut_is_noticed() {
        let mut request = Request::line(Kind::Large);
        request.stamp(FIRST_SERIAL);
        let cut = &request.bytes[..request.bytes.len() / 2];
        assert!(request.check(cut, Checks::Full).is_err());
        assert!(request.check(cut, Checks::Shape).is_err());
    }
}
