//! How a client finds out which revision to speak (wire.md 10.3 and 10.4).

use antiphon_types::{DiscoverResult, ErrorObject, Version, code};

use super::{Verdict, judge, supported};

/// What came of `server/discover` in a modern version.
#[derive(Debug)]
pub enum Probed<'a> {
    /// A result; `None` if it is none of discovery.
    Result(Option<&'a DiscoverResult>),
    /// A JSON-RPC error, and the HTTP status it came with, if there was one.
    Error(&'a ErrorObject, Option<u16>),
    /// An HTTP status and no message.
    Status(u16),
    /// Nothing, for as long as one waits on a channel.
    Silence,
    /// The server left the channel.
    Gone,
    /// Anything else: it was not reached, or wants to know first who is calling.
    Failed,
}

/// What a server's answer to a probe says about it; beside that, the versions that the answer
/// lists (ERA-C-02 to ERA-C-05, ERA-C-08 to ERA-C-15, AMB-18).
pub fn probed(answer: &Probed<'_>) -> (Verdict, Vec<String>) {
    let legacy = || (Verdict::Legacy(Version::LEGACY.to_vec()), Vec::new());
    let unknown = || (Verdict::Unknown, Vec::new());
    match *answer {
        Probed::Result(Some(result)) => judge(Ok(result)),
        Probed::Error(error, status) => match judge(Err(error)) {
            // ERA-C-13: a server that is broken may be of any era.
            (Verdict::Legacy(_), listed)
                if status.is_some_and(says_nothing) && listed.is_empty() =>
            {
                unknown()
            }
            verdict => verdict,
        },
        Probed::Status(status) if says_nothing(status) => unknown(),
        Probed::Result(None) | Probed::Status(_) | Probed::Silence | Probed::Gone => legacy(),
        Probed::Failed => unknown(),
    }
}

/// ERA-C-13: whether a status says nothing of the server's era.
fn says_nothing(status: u16) -> bool {
    // Too slow, or too often: the same request may fare better another time.
    !(400..500).contains(&status) || matches!(status, 401 | 403 | 407 | 408 | 429)
}

/// The version that a server chose in a handshake, if it can be spoken: one with a handshake
/// (LEG-S-04), and no other than `pinned`, if there is such (LEG-C-06).
pub fn agreed(chosen: &str, pinned: Option<Version>) -> Option<Version> {
    let chosen = chosen.parse().ok().filter(|chosen| match pinned {
        Some(pinned) => *chosen == pinned,
        None => true,
    });
    chosen.filter(|chosen: &Version| !chosen.is_modern())
}

/// What is left to try after a handshake was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remedy {
    /// It is modern after all: probe once more.
    Probe,
    /// It takes this version (LEG-S-05).
    Propose(Version),
    /// It may speak what came before Streamable HTTP (LSSE-C-03).
    FallBack,
    /// Nothing.
    None,
}

/// What is left to try after `initialize` was answered with an error, a status, or both.
pub fn remedy(error: Option<&ErrorObject>, status: Option<u16>, proposed: Version) -> Remedy {
    match error.map(|error| error.code) {
        Some(
            code::UNSUPPORTED_VERSION | code::HEADER_MISMATCH | code::MISSING_CLIENT_CAPABILITY,
        ) => return Remedy::Probe,
        Some(code::INVALID_PARAMS) => {
            let listed = error.map(supported).unwrap_or_default();
            let listed = |version: &&Version| listed.iter().any(|text| text == version.as_str());
            let other = Version::LEGACY.iter().find(listed);
            if let Some(other) = other.filter(|other| **other != proposed) {
                return Remedy::Propose(*other);
            }
        }
        _ => {}
    }
    match status {
        Some(400 | 404 | 405) => Remedy::FallBack,
        _ => Remedy::None,
    }
}

/// Whether a modern request was answered as a server of an older revision would, so that it is to
/// be probed again (wire.md 10.3, step 7). Where nothing the server said so far was modern
/// (`confirmed`), any error may be such an answer.
pub fn contradicts(error: Option<&ErrorObject>, status: Option<u16>, confirmed: bool) -> bool {
    let status = status.filter(|status| *status >= 300);
    match (error.map(|error| error.code), status) {
        (Some(code::UNSUPPORTED_VERSION..=code::HEADER_MISMATCH), _) => false,
        (_, Some(status)) if says_nothing(status) => false,
        // ERA-C-14
        (Some(code::METHOD_NOT_FOUND), Some(404)) => false,
        (Some(code::PARSE_ERROR | code::INTERNAL_ERROR..=code::INVALID_REQUEST), Some(_)) => {
            !confirmed
        }
        (_, Some(_)) => true,
        (Some(_), None) => !confirmed,
        (None, None) => false,
    }
}

/// Whether a request of an older revision was refused as a modern server would, so that it is to be
/// probed again (wire.md 10.3, step 1): it names a modern version, or misses a modern header.
pub fn outgrown(error: &ErrorObject, status: Option<u16>) -> bool {
    match error.code {
        code::UNSUPPORTED_VERSION | code::INVALID_PARAMS => {
            let listed = supported(error);
            let listed = |version: &Version| listed.iter().any(|text| text == version.as_str());
            Version::MODERN.iter().any(listed)
        }
        code::HEADER_MISMATCH => status == Some(400),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn error(code: i64, data: Value) -> ErrorObject {
        ErrorObject::new(code, "m").with_data(data)
    }

    fn verdict(answer: &Probed<'_>) -> &'static str {
        match probed(answer).0 {
            Verdict::Modern(_) => "modern",
            Verdict::Again(_) => "again",
            Verdict::Refused => "refused",
            Verdict::Legacy(_) => "legacy",
            Verdict::Incompatible => "incompatible",
            Verdict::Unknown => "unknown",
        }
    }

    /// wire.md 10.3 step 3 and 10.4 step 4, line by line.
    #[test]
    fn only_some_answers_to_a_probe_are_evidence() {
        let modern = DiscoverResult::new(vec!["2026-07-28"], Default::default());
        let old = DiscoverResult::new(vec!["2025-06-18"], Default::default());
        assert_eq!(verdict(&Probed::Result(Some(&modern))), "modern");
        assert_eq!(verdict(&Probed::Result(Some(&old))), "legacy");
        assert_eq!(verdict(&Probed::Result(None)), "legacy");
        assert_eq!(verdict(&Probed::Silence), "legacy");
        assert_eq!(verdict(&Probed::Gone), "legacy");
        assert_eq!(verdict(&Probed::Failed), "unknown");
        for (status, expected) in [
            (400, "legacy"),
            (404, "legacy"),
            (405, "legacy"),
            (406, "legacy"),
            (401, "unknown"),
            (403, "unknown"),
            (408, "unknown"),
            (429, "unknown"),
            (301, "unknown"),
            (500, "unknown"),
            (503, "unknown"),
        ] {
            assert_eq!(verdict(&Probed::Status(status)), expected, "{status}");
        }
        let modern = error(-32022, json!({"supported": ["2026-07-28"]}));
        let older = error(-32022, json!({"supported": ["2025-03-26"]}));
        for status in [None, Some(200), Some(400), Some(500)] {
            assert_eq!(verdict(&Probed::Error(&modern, status)), "again");
            assert_eq!(verdict(&Probed::Error(&older, status)), "legacy");
            let mismatch = error(-32020, json!({}));
            assert_eq!(verdict(&Probed::Error(&mismatch, status)), "refused");
        }
        // ERA-C-05, AMB-18: no code in particular; but nothing from a server that is broken.
        for code in [-32601, -32602, -32600, -32000, 17] {
            let error = error(code, json!({}));
            for status in [None, Some(400), Some(404)] {
                assert_eq!(verdict(&Probed::Error(&error, status)), "legacy", "{code}");
            }
            assert_eq!(
                verdict(&Probed::Error(&error, Some(502))),
                "unknown",
                "{code}"
            );
        }
    }

    /// LEG-C-06, LEG-S-04
    #[test]
    fn a_handshake_settles_on_what_both_speak() {
        for version in Version::LEGACY {
            assert_eq!(agreed(version.as_str(), None), Some(*version));
            assert_eq!(agreed(version.as_str(), Some(*version)), Some(*version));
        }
        for unknown in ["2026-07-28", "2031-01-01", "1.0", ""] {
            assert_eq!(agreed(unknown, None), None, "{unknown}");
        }
        assert_eq!(agreed("2025-06-18", Some(Version::V2025_11_25)), None);
    }

    /// wire.md 10.3 steps 4 and 5.
    #[test]
    fn a_refused_handshake_says_what_is_left_to_try() {
        let proposed = Version::V2025_11_25;
        let remedy = |code: Option<i64>, data: Value, status| {
            let error = code.map(|code| error(code, data));
            remedy(error.as_ref(), status, proposed)
        };
        let nothing = json!({});
        assert_eq!(
            remedy(Some(-32022), nothing.clone(), Some(400)),
            Remedy::Probe
        );
        for status in [400, 404, 405] {
            assert_eq!(
                remedy(None, nothing.clone(), Some(status)),
                Remedy::FallBack
            );
            let fallen = remedy(Some(-32000), nothing.clone(), Some(status));
            assert_eq!(fallen, Remedy::FallBack);
        }
        for status in [None, Some(200), Some(406), Some(500)] {
            assert_eq!(remedy(None, nothing.clone(), status), Remedy::None);
            assert_eq!(remedy(Some(-32601), nothing.clone(), status), Remedy::None);
        }
        let listed = json!({"supported": ["2024-11-05", "2025-03-26"]});
        assert_eq!(
            remedy(Some(-32602), listed, None),
            Remedy::Propose(Version::V2025_03_26)
        );
        // The same again would be refused again.
        let listed = json!({"supported": ["2025-11-25"]});
        assert_eq!(remedy(Some(-32602), listed, None), Remedy::None);
    }

    /// wire.md 10.3 step 1
    #[test]
    fn only_what_a_modern_server_says_shows_that_it_is_one() {
        let modern = json!({"supported": ["2026-07-28"]});
        let older = json!({"supported": ["2025-06-18"]});
        for code in [-32022, -32602] {
            for status in [None, Some(400)] {
                assert!(outgrown(&error(code, modern.clone()), status), "{code}");
                assert!(!outgrown(&error(code, older.clone()), status), "{code}");
                assert!(!outgrown(&error(code, json!({})), status), "{code}");
            }
        }
        assert!(outgrown(&error(-32020, json!({})), Some(400)));
        assert!(!outgrown(&error(-32020, json!({})), None));
        assert!(!outgrown(&error(-32000, modern), Some(400)));
    }

    /// wire.md 10.3 step 7
    #[test]
    fn an_answer_of_another_era_is_noticed() {
        let contradicts = |code: Option<i64>, status, confirmed| {
            let error = code.map(|code| error(code, json!({})));
            contradicts(error.as_ref(), status, confirmed)
        };
        for confirmed in [true, false] {
            assert!(contradicts(None, Some(400), confirmed));
            assert!(contradicts(None, Some(405), confirmed));
            assert!(contradicts(Some(-32000), Some(400), confirmed));
            assert!(!contradicts(Some(-32601), Some(404), confirmed));
            assert!(!contradicts(Some(-32020), Some(400), confirmed));
            assert!(!contradicts(Some(-32022), None, confirmed));
            assert!(!contradicts(None, Some(401), confirmed));
            assert!(!contradicts(None, Some(503), confirmed));
            assert!(!contradicts(None, None, confirmed));
            assert_eq!(contradicts(Some(-32602), Some(400), confirmed), !confirmed);
            assert_eq!(contradicts(Some(-32601), None, confirmed), !confirmed);
            assert_eq!(contradicts(Some(7), Some(200), confirmed), !confirmed);
        }
    }
}
