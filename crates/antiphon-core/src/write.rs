//! Outgoing messages, written once, straight into the buffer that is sent.

use std::{fmt::Display, io::Write as _};

use antiphon_types::{
    ElicitRequestParams, ErrorObject, InputRequest, InputRequired, MetaObject, meta::SERVER_INFO,
};
use serde::Serialize;

const HEAD: &[u8] = br#"{"jsonrpc":"2.0","id":"#;

/// Writes a result response.
///
/// `id` is JSON text. `fields` must serialise as an object without `resultType` and `_meta`;
/// `identity` is the server's identity as JSON text, or `None` to leave it out.
///
/// # Errors
/// When `fields` does not serialise, or not as an object; `out` is then as it was.
pub fn result(
    out: &mut Vec<u8>,
    id: &str,
    result_type: &str,
    fields: &(impl Serialize + ?Sized),
    meta: Option<&MetaObject>,
    identity: Option<&str>,
) -> serde_json::Result<()> {
    let write = |out: &mut Vec<u8>| serde_json::to_writer(out, fields);
    result_with(out, id, result_type, write, meta, identity)
}

/// Writes a result response that asks for input; its own `_meta` is not looked at.
///
/// # Errors
/// When a question does not serialise; `out` is then as it was.
pub fn input_required(
    out: &mut Vec<u8>,
    id: &str,
    input: &InputRequired,
    meta: Option<&MetaObject>,
    identity: Option<&str>,
) -> serde_json::Result<()> {
    let write = |out: &mut Vec<u8>| {
        out.push(b'{');
        let requests = input.requests();
        if requests.len() > 0 {
            out.extend_from_slice(br#""inputRequests":{"#);
            for (at, (key, request)) in requests.enumerate() {
                if at > 0 {
                    out.push(b',');
                }
                string(out, key)?;
                out.push(b':');
                question(out, request)?;
            }
            out.push(b'}');
        }
        if let Some(state) = input.state() {
            if out.last() != Some(&b'{') {
                out.push(b',');
            }
            out.extend_from_slice(br#""requestState":"#);
            string(out, state)?;
        }
        out.push(b'}');
        Ok(())
    };
    result_with(out, id, "input_required", write, meta, identity)
}

/// Writes a question. Forms, which are what is asked most, are put together here: by way of serde
/// each of their names is looked through for escapes.
fn question(out: &mut Vec<u8>, request: &InputRequest) -> serde_json::Result<()> {
    let InputRequest::Elicit(ElicitRequestParams::Form(form)) = request else {
        return serde_json::to_writer(out, request);
    };
    if form.meta.is_some() {
        return serde_json::to_writer(out, request);
    }
    out.extend_from_slice(br#"{"method":"elicitation/create","params":{"mode":"form","message":"#);
    string(out, &form.message)?;
    out.extend_from_slice(br#","requestedSchema":"#);
    serde_json::to_writer(&mut *out, &form.requested_schema)?;
    out.extend_from_slice(b"}}");
    Ok(())
}

/// Writes a string. Those that need no escapes, as states do not, are found out in far fewer steps
/// than it takes to look at each character for one.
///
/// # Errors
/// None but those that serde's signature has.
pub fn string(out: &mut Vec<u8>, text: &str) -> serde_json::Result<()> {
    // All of it, without a way out: only so are many bytes compared at a time. A text of 1 MiB takes
    // 36 us, and 434 where the bytes are taken by sixteen.
    let escaped = |byte: u8| (byte < 0x20) | (byte == b'"') | (byte == b'\\');
    if text.bytes().fold(false, |any, byte| any | escaped(byte)) {
        return serde_json::to_writer(out, text);
    }
    out.reserve(text.len() + 2);
    out.push(b'"');
    out.extend_from_slice(text.as_bytes());
    out.push(b'"');
    Ok(())
}

/// Writes a result response whose members are JSON text already: an object, as for [`result`].
///
/// # Errors
/// When `json` is no object; `out` is then as it was.
pub fn rendered(
    out: &mut Vec<u8>,
    id: &str,
    result_type: &str,
    json: &[u8],
    meta: Option<&MetaObject>,
    identity: Option<&str>,
) -> serde_json::Result<()> {
    let write = |out: &mut Vec<u8>| {
        out.extend_from_slice(json);
        Ok(())
    };
    result_with(out, id, result_type, write, meta, identity)
}

/// Writes a result response whose members somebody else writes: an object, as for [`result`].
///
/// # Errors
/// Theirs, and when what they wrote is no object; `out` is then as it was.
pub fn result_with(
    out: &mut Vec<u8>,
    id: &str,
    result_type: &str,
    fields: impl FnOnce(&mut Vec<u8>) -> serde_json::Result<()>,
    meta: Option<&MetaObject>,
    identity: Option<&str>,
) -> serde_json::Result<()> {
    let start = out.len();
    out.extend_from_slice(HEAD);
    out.extend_from_slice(id.as_bytes());
    out.extend_from_slice(br#","result":{"resultType":""#);
    out.extend_from_slice(result_type.as_bytes());
    out.push(b'"');
    let written = members(out, fields).and_then(|()| write_meta(out, meta, identity));
    if written.is_err() {
        out.truncate(start);
        return written;
    }
    out.extend_from_slice(b"}}");
    Ok(())
}

/// Writes the members of an object after those already there, opening comma included.
fn members(
    out: &mut Vec<u8>,
    fields: impl FnOnce(&mut Vec<u8>) -> serde_json::Result<()>,
) -> serde_json::Result<()> {
    let mark = out.len();
    fields(out)?;
    if out.get(mark) != Some(&b'{') || out.last() != Some(&b'}') {
        return Err(serde::ser::Error::custom("a result is a JSON object"));
    }
    if out.len() == mark + 2 {
        out.truncate(mark);
    } else {
        out[mark] = b',';
        out.pop();
    }
    Ok(())
}

fn write_meta(
    out: &mut Vec<u8>,
    meta: Option<&MetaObject>,
    identity: Option<&str>,
) -> serde_json::Result<()> {
    let meta = meta.filter(|meta| !meta.is_empty());
    let identity = identity.filter(|_| meta.is_none_or(|meta| !meta.contains_key(SERVER_INFO)));
    if meta.is_none() && identity.is_none() {
        return Ok(());
    }
    out.extend_from_slice(br#","_meta":{"#);
    let mark = out.len();
    if let Some(identity) = identity {
        out.push(b'"');
        out.extend_from_slice(SERVER_INFO.as_bytes());
        out.extend_from_slice(b"\":");
        out.extend_from_slice(identity.as_bytes());
    }
    if let Some(meta) = meta {
        let comma = out.len();
        members(out, |out| serde_json::to_writer(out, meta))?;
        if comma == mark {
            out.remove(mark);
        }
    }
    out.push(b'}');
    Ok(())
}

/// Writes a result response of the revisions that open with a handshake: `result`, which serialises
/// as an object, and nothing else.
///
/// # Errors
/// When it does not serialise; `out` is then as it was.
pub fn bare_result(
    out: &mut Vec<u8>,
    id: &str,
    result: &(impl Serialize + ?Sized),
) -> serde_json::Result<()> {
    let start = out.len();
    out.extend_from_slice(HEAD);
    out.extend_from_slice(id.as_bytes());
    out.extend_from_slice(br#","result":"#);
    if let Err(error) = serde_json::to_writer(&mut *out, result) {
        out.truncate(start);
        return Err(error);
    }
    out.push(b'}');
    Ok(())
}

/// Writes an error response; without an `id` when none could be read (BASE-S-06).
pub fn error(out: &mut Vec<u8>, id: Option<&str>, error: &ErrorObject) {
    out.extend_from_slice(br#"{"jsonrpc":"2.0""#);
    if let Some(id) = id {
        out.extend_from_slice(br#","id":"#);
        out.extend_from_slice(id.as_bytes());
    }
    out.extend_from_slice(br#","error":"#);
    let mark = out.len();
    if serde_json::to_writer(&mut *out, error).is_err() {
        out.truncate(mark);
        out.extend_from_slice(br#"{"code":-32603,"message":"Internal error"}"#);
    }
    out.push(b'}');
}

/// Writes a request.
///
/// `params` must serialise as an object without `_meta`. `meta` is the text of the metadata that
/// every request carries, an object; `more` joins it.
///
/// # Errors
/// When `params` does not serialise, or not as an object; `out` is then as it was.
pub fn request(
    out: &mut Vec<u8>,
    id: impl Display,
    method: &str,
    params: &(impl Serialize + ?Sized),
    meta: &str,
    more: Option<&MetaObject>,
) -> serde_json::Result<()> {
    let start = out.len();
    out.extend_from_slice(HEAD);
    _ = write!(out, "{id}");
    out.extend_from_slice(br#","method":""#);
    out.extend_from_slice(method.as_bytes());
    out.extend_from_slice(br#"","params":{"_meta":"#);
    out.extend_from_slice(meta.as_bytes());
    let more = more.filter(|more| !more.is_empty());
    let written = more
        .map_or(Ok(()), |more| {
            // META-B-11: what is added goes inside.
            out.pop();
            members(out, |out| serde_json::to_writer(out, more))?;
            out.push(b'}');
            Ok(())
        })
        .and_then(|()| members(out, |out| serde_json::to_writer(out, params)));
    if written.is_err() {
        out.truncate(start);
        return written;
    }
    out.extend_from_slice(b"}}");
    Ok(())
}

/// Writes a request of an older revision, of either side: its metadata is there only if there is
/// any.
///
/// `params` must serialise as an object, and without `_meta` if `meta` has something.
///
/// # Errors
/// When `params` does not serialise, or not as an object; `out` is then as it was.
pub fn older_request(
    out: &mut Vec<u8>,
    id: impl Display,
    method: &str,
    params: &(impl Serialize + ?Sized),
    meta: Option<&MetaObject>,
) -> serde_json::Result<()> {
    let start = out.len();
    if let Some(meta) = meta.filter(|meta| !meta.is_empty()) {
        let written = serde_json::to_string(meta)
            .and_then(|meta| request(out, id, method, params, &meta, None));
        return written;
    }
    out.extend_from_slice(HEAD);
    _ = write!(out, "{id}");
    out.extend_from_slice(br#","method":""#);
    out.extend_from_slice(method.as_bytes());
    out.extend_from_slice(br#"","params":"#);
    let from = out.len();
    let written = serde_json::to_writer(&mut *out, params).and_then(|()| match out.get(from) {
        Some(b'{') => Ok(()),
        _ => Err(serde::ser::Error::custom("not an object")),
    });
    if written.is_err() {
        out.truncate(start);
        return written;
    }
    out.push(b'}');
    Ok(())
}

/// Writes a notification.
///
/// # Errors
/// When `params` does not serialise; `out` is then as it was.
pub fn notification(
    out: &mut Vec<u8>,
    method: &str,
    params: &(impl Serialize + ?Sized),
) -> serde_json::Result<()> {
    let start = out.len();
    out.extend_from_slice(br#"{"jsonrpc":"2.0","method":""#);
    out.extend_from_slice(method.as_bytes());
    out.extend_from_slice(br#"","params":"#);
    if let Err(error) = serde_json::to_writer(&mut *out, params) {
        out.truncate(start);
        return Err(error);
    }
    out.push(b'}');
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every character of one byte and some of more, at every place of texts of many lengths.
    #[test]
    fn a_text_is_written_as_json_has_it() {
        for unusual in (0..=0x7f)
            .map(char::from)
            .chain(['\u{80}', 'é', '東', '\u{1f600}'])
        {
            for before in [0, 1, 7, 15, 16, 17, 31, 63, 64, 100] {
                for after in [0, 1, 15, 16, 33] {
                    let text = format!("{}{unusual}{}", "a".repeat(before), "z".repeat(after));
                    let mut out = b"before: ".to_vec();
                    string(&mut out, &text).expect("written");
                    let plain = serde_json::to_string(&text).expect("written");
                    assert_eq!(out, format!("before: {plain}").into_bytes(), "{text:?}");
                }
            }
        }
    }

    #[test]
    fn messages_of_older_revisions_are_bare() {
        let mut out = Vec::new();
        bare_result(&mut out, "7", &serde_json::json!({"a": 1})).expect("written");
        assert_eq!(out, br#"{"jsonrpc":"2.0","id":7,"result":{"a":1}}"#);
        out.clear();
        let params = serde_json::json!({});
        older_request(&mut out, 3, "roots/list", &params, None).expect("written");
        let text = br#"{"jsonrpc":"2.0","id":3,"method":"roots/list","params":{}}"#;
        assert_eq!(out, text);
    }
    use antiphon_types::{ElicitRequestFormParams, FormSchema};
    use serde_json::{Map, Value, json};

    fn written(fields: &Value, meta: Option<&Value>, identity: Option<&str>) -> String {
        let mut out = Vec::new();
        let meta = meta.map(|meta| {
            meta.as_object()
                .expect("object")
                .clone()
                .into_iter()
                .collect()
        });
        result(&mut out, "7", "complete", fields, meta.as_ref(), identity).expect("written");
        String::from_utf8(out).expect("UTF-8")
    }

    /// As it would be if each part were written by itself.
    #[test]
    fn what_asks_for_input_is_written_as_it_reads() {
        let one = InputRequired::ask("roots", InputRequest::roots());
        let schema = json!({"type": "object", "properties": {"ok": {"type": "boolean"}}});
        let schema = FormSchema::from_value(schema.as_object().expect("object").clone());
        let schema = schema.expect("a form");
        let form = |message: &str| ElicitRequestFormParams::new(message, schema.clone());
        let meta = json!({"a": 1}).as_object().expect("object").clone();
        for input in [
            one.clone(),
            one.clone().and("again", InputRequest::roots()),
            one.clone().with_state("eyJ-_09"),
            one.clone().and("a \"form\"", form("Run \u{1f}\"x\"\\?")),
            InputRequired::ask("form", form("Zwölf?").meta(meta)),
            InputRequired::ask("link", ElicitRequestParams::url("Go", "https://a.example/")),
            one.with_state("\"quoted\" \\ \n ü \u{2028}"),
            InputRequired::later("x".repeat(1000)),
            InputRequired::later(""),
            InputRequired::later("\u{1f}"),
        ] {
            let (mut plain, mut written) = (Vec::new(), Vec::new());
            result(&mut plain, "7", "input_required", &input, None, Some("{}")).expect("written");
            input_required(&mut written, "7", &input, None, Some("{}")).expect("written");
            assert_eq!(
                String::from_utf8_lossy(&written),
                String::from_utf8_lossy(&plain)
            );
        }
    }

    #[test]
    fn results_are_one_object_whatever_is_empty() {
        let head = r#"{"jsonrpc":"2.0","id":7,"result":{"resultType":"complete""#;
        let id = r#"{"name":"s","version":"1"}"#;
        let info = format!(r#""{SERVER_INFO}":{id}"#);
        for (fields, meta, identity, rest) in [
            (json!({}), None, None, String::new()),
            (json!({"a":1}), None, None, r#","a":1"#.into()),
            (
                json!({"a":1}),
                None,
                Some(id),
                format!(r#","a":1,"_meta":{{{info}}}"#),
            ),
            (
                json!({}),
                Some(json!({})),
                Some(id),
                format!(r#","_meta":{{{info}}}"#),
            ),
            (
                json!({}),
                Some(json!({"k":2})),
                None,
                r#","_meta":{"k":2}"#.into(),
            ),
            (
                json!({}),
                Some(json!({"k":2})),
                Some(id),
                format!(r#","_meta":{{{info},"k":2}}"#),
            ),
            (
                json!({}),
                Some(json!({SERVER_INFO: {"name":"own"}})),
                Some(id),
                format!(r#","_meta":{{"{SERVER_INFO}":{{"name":"own"}}}}"#),
            ),
        ] {
            let text = written(&fields, meta.as_ref(), identity);
            assert_eq!(text, format!("{head}{rest}}}}}"));
            serde_json::from_str::<Map<String, Value>>(&text).expect("one JSON object");
        }
    }

    /// META-C-05: `params` and `_meta` are always there.
    #[test]
    fn requests_carry_their_metadata() {
        let meta = r#"{"v":"1"}"#;
        for (params, more, expected) in [
            (json!({}), None, r#"{"_meta":{"v":"1"}}"#),
            (json!({"a":1}), None, r#"{"_meta":{"v":"1"},"a":1}"#),
            (
                json!({"a":1}),
                Some(json!({"k":2})),
                r#"{"_meta":{"v":"1","k":2},"a":1}"#,
            ),
            (json!({}), Some(json!({})), r#"{"_meta":{"v":"1"}}"#),
        ] {
            let mut out = b"x".to_vec();
            let more = more.map(|more| more.as_object().expect("object").clone());
            request(&mut out, -7, "m", &params, meta, more.as_ref()).expect("written");
            let text = String::from_utf8(out).expect("UTF-8");
            assert_eq!(
                text,
                format!(r#"x{{"jsonrpc":"2.0","id":-7,"method":"m","params":{expected}}}"#)
            );
        }
        let mut out = b"x".to_vec();
        assert!(request(&mut out, 1, "m", &json!([1]), meta, None).is_err());
        assert_eq!(out, b"x");
    }

    /// META-C: none of the metadata of today, and none at all where there is none.
    #[test]
    fn older_requests_are_bare() {
        for (params, meta, expected) in [
            (json!({}), None, "{}"),
            (json!({"a":1}), Some(json!({})), r#"{"a":1}"#),
            (
                json!({"a":1}),
                Some(json!({"progressToken":2})),
                r#"{"_meta":{"progressToken":2},"a":1}"#,
            ),
        ] {
            let mut out = b"x".to_vec();
            let meta = meta.map(|meta| meta.as_object().expect("object").clone());
            older_request(&mut out, 7, "m", &params, meta.as_ref()).expect("written");
            let text = String::from_utf8(out).expect("UTF-8");
            let request = r#"x{"jsonrpc":"2.0","id":7,"method":"m","params":"#;
            assert_eq!(text, format!("{request}{expected}}}"));
        }
        let mut out = b"x".to_vec();
        assert!(older_request(&mut out, 1, "m", &json!([1]), None).is_err());
        assert_eq!(out, b"x");
    }

    #[test]
    fn what_is_no_object_writes_nothing() {
        for bad in [json!([1]), json!(null), json!("x")] {
            let mut out = b"before".to_vec();
            assert!(result(&mut out, "1", "complete", &bad, None, None).is_err());
            assert_eq!(out, b"before");
        }
    }

    /// BASE-S-06
    #[test]
    fn an_error_without_an_id_has_no_id_member() {
        let mut out = Vec::new();
        error(&mut out, None, &ErrorObject::parse_error("x"));
        let text = String::from_utf8(out).expect("UTF-8");
        assert_eq!(
            text,
            r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"x"}}"#
        );
    }
}
