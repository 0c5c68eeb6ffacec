//! Which revision a message speaks, and whether we serve it.
//!
//! The body decides and the header is cross-checked; when several defects coincide, the order of
//! AMB-02 says which one is reported. The rules for one method's parameters come later, so
//! everything here is refused with an HTTP status of its own.

mod probing;

use std::borrow::Cow;

use antiphon_types::{
    DiscoverResult, ErrorObject, Version, code,
    meta::{CLIENT_CAPABILITIES, PROTOCOL_VERSION},
};
use serde_json::{Value, json, value::RawValue};

use crate::{
    envelope::{Message, Meta, Slot},
    mirror::Header,
};

pub use probing::{Probed, Remedy, agreed, contradicts, outgrown, probed, remedy};

/// A refusal before any handler ran: the JSON-RPC error and the HTTP status it travels with.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    /// The error for the peer.
    pub error: ErrorObject,
    /// The status where there is one to send.
    pub status: u16,
}

impl Fault {
    /// `400`: the message itself is at fault.
    pub fn bad_request(error: ErrorObject) -> Self {
        Self { error, status: 400 }
    }

    /// `404`: the method is not one of ours (HTTP-S-22).
    pub fn not_found(method: &str) -> Self {
        Self {
            error: ErrorObject::method_not_found(&shown(method)),
            status: 404,
        }
    }
}

/// Which rules a message is read by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Era {
    /// Those of 2026-07-28 and later: it stands alone.
    Modern,
    /// Those of the revisions that open with `initialize`.
    Legacy,
}

/// Which rules a message is read by, where both are served (wire.md 10.1, steps 6 and 17). The
/// body decides; the header is looked for only where the body says nothing.
pub fn era<'h>(message: &Message<'_>, header: impl FnOnce() -> Header<'h>) -> Era {
    let opens = || message.method() == "initialize";
    let is_legacy = |text: &str| Version::LEGACY.iter().any(|it| it.as_str() == text);
    let is_modern = |text: &str| Version::MODERN.iter().any(|it| it.as_str() == text);
    let is_older = match &message.params.meta.version {
        // ERA-S-04: unless it names a revision that has it, and the header does not say otherwise.
        Slot::Text(version) => {
            opens()
                && is_legacy(version)
                && !matches!(header(), Header::Value(text) if is_modern(text))
        }
        Slot::Null | Slot::Other => false,
        Slot::Absent => match header() {
            Header::None | Header::Absent => true,
            // AMB-05: a handshake under a version that nobody knows is one all the same.
            Header::Value(text) => is_legacy(text) || (opens() && !is_modern(text)),
            Header::Malformed => false,
        },
    };
    match is_older {
        true => Era::Legacy,
        false => Era::Modern,
    }
}

/// Checks the protocol version and the required metadata of a request.
///
/// `header` is what `MCP-Protocol-Version` says, or [`Header::None`] on transports without
/// headers. `served` lists the modern versions on offer, newest first.
///
/// # Errors
/// The fault to answer with, by the precedence of AMB-02, steps 1 to 5.
pub fn admit(
    message: &Message<'_>,
    header: Header<'_>,
    served: &[Version],
) -> Result<Version, Fault> {
    let meta = &message.params.meta;
    let version = match &meta.version {
        Slot::Text(version) => version,
        Slot::Absent => return Err(without_version(message, header, served)),
        Slot::Null | Slot::Other => {
            return Err(invalid(format!("`{PROTOCOL_VERSION}` must be a string")));
        }
    };
    let older = || Version::LEGACY.iter().any(|it| it.as_str() == &**version);
    match header {
        Header::None => {}
        Header::Value(header) if header == version => {}
        // AMB-05: under a modern header it is a modern request for a removed method.
        Header::Value(header)
            if message.method() == "initialize"
                && served.iter().any(|served| served.as_str() == header)
                && older() =>
        {
            return Err(Fault::not_found("initialize"));
        }
        Header::Value(header) => {
            return Err(mismatch(format!(
                "MCP-Protocol-Version is `{}` but the body says `{}`",
                shown(header),
                shown(version)
            )));
        }
        Header::Absent => return Err(mismatch("MCP-Protocol-Version is missing".into())),
        Header::Malformed => return Err(mismatch("MCP-Protocol-Version is malformed".into())),
    }
    let Some(chosen) = served.iter().find(|served| served.as_str() == version) else {
        return Err(unsupported(version, served));
    };
    required(meta).map_err(invalid)?;
    Ok(*chosen)
}

/// What a server's answer to `server/discover` says about it (wire.md 10.3 and 10.4).
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// It speaks this modern version.
    Modern(Version),
    /// It speaks this modern version, if asked in it (VER-C-02).
    Again(Version),
    /// It is modern, and refuses the request for another reason.
    Refused,
    /// It speaks only what came before; these of ours, the newest first.
    Legacy(Vec<Version>),
    /// It speaks nothing that is known here.
    Incompatible,
    /// Nothing of it can be known from this.
    Unknown,
}

/// Judges a server by its answer to a probe in a modern version; beside the verdict, the versions
/// that the answer lists.
pub fn judge(answer: Result<&DiscoverResult, &ErrorObject>) -> (Verdict, Vec<String>) {
    match answer {
        Ok(result) => {
            let supported = result.supported_versions.clone();
            (select(&supported, Verdict::Modern), supported)
        }
        Err(error) if error.code == code::UNSUPPORTED_VERSION => {
            let supported = supported(error);
            (select(&supported, Verdict::Again), supported)
        }
        Err(error)
            if matches!(
                error.code,
                code::HEADER_MISMATCH | code::MISSING_CLIENT_CAPABILITY
            ) =>
        {
            (Verdict::Refused, Vec::new())
        }
        Err(_) => (Verdict::Legacy(Version::LEGACY.to_vec()), Vec::new()),
    }
}

/// The versions that the error for an unsupported one lists.
pub fn supported(error: &ErrorObject) -> Vec<String> {
    let listed = error.data.as_ref().and_then(|data| data.get("supported"));
    let listed = listed.and_then(Value::as_array).into_iter().flatten();
    listed
        .filter_map(|version| version.as_str().map(str::to_owned))
        .collect()
}

/// The newest modern version of those listed, else the legacy ones.
fn select(supported: &[String], modern: fn(Version) -> Verdict) -> Verdict {
    let listed = |version: &&Version| supported.iter().any(|text| text == version.as_str());
    if let Some(version) = Version::MODERN.iter().find(listed) {
        return modern(*version);
    }
    let legacy: Vec<_> = Version::LEGACY.iter().filter(listed).copied().collect();
    match legacy.is_empty() {
        true => Verdict::Incompatible,
        false => Verdict::Legacy(legacy),
    }
}

/// A peer's text as an error repeats it: short, whatever was sent (BASE-S-09).
pub fn shown(text: &str) -> Cow<'_, str> {
    const LONGEST: usize = 100;
    match text.char_indices().nth(LONGEST) {
        None => Cow::Borrowed(text),
        Some((at, _)) => Cow::Owned(format!("{}…", &text[..at])),
    }
}

/// META-S-01, META-S-03: capabilities are required, who the client is may be left out.
fn required(meta: &Meta<'_>) -> Result<(), String> {
    match meta.client_capabilities.map(RawValue::get) {
        Some(raw) if raw.starts_with('{') => Ok(()),
        Some(_) => Err(format!("`{CLIENT_CAPABILITIES}` must be an object")),
        None => Err(format!(
            "`{CLIENT_CAPABILITIES}` is missing from `params._meta`"
        )),
    }
}

/// The body names no version: a modern request that forgot it, or a client of an older era.
fn without_version(message: &Message<'_>, header: Header<'_>, served: &[Version]) -> Fault {
    let modern_header = match header {
        Header::Value(text) => served.iter().any(|served| served.as_str() == text),
        _ => false,
    };
    if message.method() == "initialize" {
        // ERA-S-04, AMB-05: under a modern header it is a modern request for a removed method.
        if modern_header {
            return Fault::not_found("initialize");
        }
        // ERA-S-05: name what is served, so that the other side can tell its user.
        let proposed = message
            .params
            .rare()
            .protocol_version
            .as_str()
            .unwrap_or_default();
        return unsupported(proposed, served);
    }
    match header {
        Header::Value(_) if modern_header => {}
        Header::Value(text) => return unsupported(text, served),
        Header::Malformed => return mismatch("MCP-Protocol-Version is malformed".into()),
        // HDR-S-03
        Header::Absent => return mismatch("MCP-Protocol-Version is missing".into()),
        Header::None => {}
    }
    let what = if message.params.meta.wrong {
        "`params._meta` must be an object"
    } else if message.params.meta.client_capabilities.is_none() {
        "`params._meta` must carry `io.modelcontextprotocol/protocolVersion` and \
         `io.modelcontextprotocol/clientCapabilities`"
    } else {
        "`io.modelcontextprotocol/protocolVersion` is missing from `params._meta`"
    };
    let mut fault = invalid(what.to_owned());
    fault.error.data = Some(json!({ "supported": names(served) }));
    fault
}

fn invalid(message: String) -> Fault {
    Fault::bad_request(ErrorObject::invalid_params(message))
}

fn mismatch(message: String) -> Fault {
    Fault::bad_request(ErrorObject::header_mismatch(message))
}

fn unsupported(requested: &str, served: &[Version]) -> Fault {
    Fault::bad_request(ErrorObject::unsupported_version(requested, served))
}

fn names(served: &[Version]) -> Value {
    served.iter().map(|version| version.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SERVED: &[Version] = &[Version::V2026_07_28];
    const NOW: &str = "2026-07-28";

    fn verdict(method: &str, header: Header<'_>, meta: &str) -> (i64, u16) {
        let text = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{"protocolVersion":"2025-11-25"{meta}}}}}"#
        );
        let message = Message::parse(&text).expect("JSON");
        match admit(&message, header, SERVED) {
            Ok(version) => {
                assert_eq!(version, Version::V2026_07_28);
                (0, 200)
            }
            Err(fault) => (fault.error.code, fault.status),
        }
    }

    fn meta(version: &str, capabilities: &str) -> String {
        format!(r#","_meta":{{"io.modelcontextprotocol/protocolVersion":{version}{capabilities}}}"#)
    }

    const CAPS: &str = r#","io.modelcontextprotocol/clientCapabilities":{}"#;

    /// AMB-02, every step, each with the later defects present as well.
    #[test]
    fn the_first_defect_in_order_is_reported() {
        let cases = [
            // (1) the body names a version, the header is absent
            (Header::Absent, meta(r#""v999""#, ""), (-32020, 400)),
            // (2) modern header, no version in the body
            (Header::Value(NOW), String::new(), (-32602, 400)),
            (Header::Value(NOW), r#","_meta":7"#.into(), (-32602, 400)),
            (Header::Value(NOW), meta("5", CAPS), (-32602, 400)),
            // (3) both there, different
            (Header::Value(NOW), meta(r#""v999""#, ""), (-32020, 400)),
            (
                Header::Value("v999"),
                meta(r#""2026-07-28""#, CAPS),
                (-32020, 400),
            ),
            (
                Header::Malformed,
                meta(r#""2026-07-28""#, CAPS),
                (-32020, 400),
            ),
            // (4) equal but not served; AMB-06: a legacy version in a modern envelope
            (Header::Value("v999"), meta(r#""v999""#, ""), (-32022, 400)),
            (
                Header::Value("2025-11-25"),
                meta(r#""2025-11-25""#, CAPS),
                (-32022, 400),
            ),
            // (5) capabilities missing or of the wrong type
            (
                Header::Value(NOW),
                meta(r#""2026-07-28""#, ""),
                (-32602, 400),
            ),
            (
                Header::Value(NOW),
                meta(
                    r#""2026-07-28""#,
                    r#","io.modelcontextprotocol/clientCapabilities":[]"#,
                ),
                (-32602, 400),
            ),
            // nothing wrong
            (Header::Value(NOW), meta(r#""2026-07-28""#, CAPS), (0, 200)),
            // without headers
            (Header::None, meta(r#""2026-07-28""#, CAPS), (0, 200)),
            (Header::None, String::new(), (-32602, 400)),
            (Header::None, meta(r#""v999""#, CAPS), (-32022, 400)),
            // neither header nor body
            (Header::Absent, String::new(), (-32020, 400)),
            (Header::Value("2025-06-18"), String::new(), (-32022, 400)),
        ];
        for (header, meta, expected) in cases {
            assert_eq!(
                verdict("tools/list", header, &meta),
                expected,
                "{header:?} {meta}"
            );
        }
    }

    /// VER-C-02, ERA-C: what each answer to a probe says, and that only some are evidence.
    #[test]
    fn servers_are_judged_by_their_answer() {
        let listing = |versions: &[&str]| {
            let result = DiscoverResult::new(versions.to_vec(), Default::default());
            judge(Ok(&result)).0
        };
        let modern = Version::V2026_07_28;
        let legacy = Version::V2025_11_25;
        assert_eq!(listing(&["2031-01-01", NOW]), Verdict::Modern(modern));
        assert_eq!(listing(&["2025-11-25", NOW]), Verdict::Modern(modern));
        assert_eq!(listing(&["2025-11-25"]), Verdict::Legacy(vec![legacy]));
        assert_eq!(listing(&["2031-01-01"]), Verdict::Incompatible);
        assert_eq!(listing(&[]), Verdict::Incompatible);

        let error = |code, data: Value| {
            let error = ErrorObject::new(code, "m").with_data(data);
            judge(Err(&error))
        };
        assert_eq!(
            error(-32022, json!({"supported": [NOW, 7]})),
            (Verdict::Again(modern), vec![NOW.to_owned()])
        );
        let older = json!({"supported": ["2024-11-05", "2025-11-25"]});
        assert_eq!(
            error(-32022, older).0,
            Verdict::Legacy(vec![legacy, Version::V2024_11_05])
        );
        assert_eq!(error(-32022, json!(null)).0, Verdict::Incompatible);
        for code in [-32020, -32021] {
            assert_eq!(error(code, json!({})).0, Verdict::Refused);
        }
        for code in [-32601, -32602, -32700, -32000, 7] {
            assert!(matches!(error(code, json!({})).0, Verdict::Legacy(_)));
        }
    }

    /// ERA-S-02 to ERA-S-04, AMB-05, LHTTP-S-27.
    #[test]
    fn the_body_decides_about_the_era() {
        let of = |method: &str, header, meta: &str| {
            let text = format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{"a":1{meta}}}}}"#
            );
            era(&Message::parse(&text).expect("JSON"), || header)
        };
        let modern = meta(r#""2026-07-28""#, CAPS);
        let older = meta(r#""2025-11-25""#, "");
        for header in [
            Header::None,
            Header::Absent,
            Header::Value("2025-06-18"),
            Header::Value(NOW),
        ] {
            assert_eq!(of("tools/list", header, &modern), Era::Modern);
            assert_eq!(of("initialize", header, &modern), Era::Modern);
            assert_eq!(of("tools/list", header, &older), Era::Modern);
            let opening = match header {
                Header::Value(NOW) => Era::Modern,
                _ => Era::Legacy,
            };
            assert_eq!(of("initialize", header, &older), opening, "{header:?}");
        }
        for (header, any, opening) in [
            (Header::None, Era::Legacy, Era::Legacy),
            (Header::Absent, Era::Legacy, Era::Legacy),
            (Header::Value("2024-11-05"), Era::Legacy, Era::Legacy),
            (Header::Value(NOW), Era::Modern, Era::Modern),
            (Header::Value("v999"), Era::Modern, Era::Legacy),
            (Header::Malformed, Era::Modern, Era::Modern),
        ] {
            assert_eq!(of("tools/list", header, ""), any, "{header:?}");
            assert_eq!(of("initialize", header, ""), opening, "{header:?}");
            assert_eq!(
                of("tools/list", header, r#","_meta":{"progressToken":1}"#),
                any
            );
        }
        assert_eq!(of("tools/list", Header::None, &meta("7", "")), Era::Modern);
    }

    /// ERA-S-04, ERA-S-05, AMB-05.
    #[test]
    fn initialize_learns_what_is_served() {
        assert_eq!(verdict("initialize", Header::Value(NOW), ""), (-32601, 404));
        let older = meta(r#""2025-11-25""#, CAPS);
        assert_eq!(
            verdict("initialize", Header::Value(NOW), &older),
            (-32601, 404)
        );
        assert_eq!(verdict("initialize", Header::Absent, ""), (-32022, 400));
        assert_eq!(
            verdict("initialize", Header::Value("2025-11-25"), ""),
            (-32022, 400)
        );
        assert_eq!(verdict("initialize", Header::None, ""), (-32022, 400));
        let text = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#;
        let message = Message::parse(text).expect("JSON");
        let fault = admit(&message, Header::Absent, SERVED).expect_err("refused");
        let data = fault.error.data.expect("data");
        assert_eq!(data["requested"], "2025-11-25");
        assert_eq!(data["supported"], json!(["2026-07-28"]));
    }
}
