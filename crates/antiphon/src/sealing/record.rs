//! An answer as it is kept, to be given again.
//!
//! ```text
//!   1  'r' a result, 'f' a result that tells of a failure, 'a' questions, 'e' an error
//! results:                                  others:
//!   4  length of `_meta`, big-endian          JSON
//!   n  `_meta` as JSON, if there is one
//!   2  length of `resultType`
//!   n  `resultType`, if it is not `complete`
//!   n  the members of the result as JSON
//! ```

use antiphon_types::{InputRequired, MetaObject, decode};
use bytes::Bytes;
use serde_json::value::RawValue;

use crate::raw::{Error, Outgoing, Rendered, Reply};

/// Writes an answer down. A result is written as JSON by this, and need not be once more.
pub(super) fn write<T: Outgoing>(
    answer: Result<Reply<T>, Error>,
) -> (Result<Reply<T>, Error>, Option<Bytes>) {
    match answer {
        Ok(Reply::Complete(result)) => {
            let (rendered, record) = rendered(result);
            (Ok(Reply::Rendered(rendered)), record)
        }
        Ok(Reply::Rendered(rendered)) => {
            let record = of_rendered(&rendered);
            (Ok(Reply::Rendered(rendered)), record)
        }
        Ok(Reply::InputRequired(input)) => {
            let record = json(b'a', &input);
            (Ok(Reply::InputRequired(input)), record)
        }
        Err(error) => {
            let record = json(b'e', &error);
            (Err(error), record)
        }
    }
}

/// A result, rendered where it is written down.
fn rendered<T: Outgoing>(mut result: T) -> (Rendered<T>, Option<Bytes>) {
    let (meta, is_error) = (result.prepare(), result.is_error());
    let mut record = Vec::with_capacity(7 + result.size_hint());
    let head = head(&mut record, is_error, meta.as_ref(), "");
    let from = record.len();
    if result.write(&mut record).is_err() {
        record.clear();
    }
    let record = Bytes::from(record);
    let mut rendered = Rendered::written(record.slice(from.min(record.len())..), meta);
    rendered.is_error = is_error;
    // What does not serialise is not sent either.
    let record = head.filter(|()| !record.is_empty()).map(|()| record);
    (rendered, record)
}

fn of_rendered<T>(rendered: &Rendered<T>) -> Option<Bytes> {
    // What does not serialise is empty, and is not sent either.
    if rendered.json.is_empty() {
        return None;
    }
    let kind = rendered.result_type.as_deref().unwrap_or_default();
    let mut record = Vec::with_capacity(7 + kind.len() + rendered.json.len());
    head(&mut record, rendered.is_error, rendered.meta.as_ref(), kind)?;
    record.extend_from_slice(&rendered.json);
    Some(record.into())
}

/// What comes before the members of a result.
fn head(out: &mut Vec<u8>, is_error: bool, meta: Option<&MetaObject>, kind: &str) -> Option<()> {
    let meta = match meta {
        None => Vec::new(),
        Some(meta) => serde_json::to_vec(meta).ok()?,
    };
    out.push(if is_error { b'f' } else { b'r' });
    out.extend_from_slice(&u32::try_from(meta.len()).ok()?.to_be_bytes());
    out.extend_from_slice(&meta);
    out.extend_from_slice(&u16::try_from(kind.len()).ok()?.to_be_bytes());
    out.extend_from_slice(kind.as_bytes());
    Some(())
}

fn json(kind: u8, value: &impl serde::Serialize) -> Option<Bytes> {
    let mut record = vec![kind];
    serde_json::to_writer(&mut record, value).ok()?;
    Some(record.into())
}

/// Reads an answer; `None` if this is none.
pub(super) fn read<T>(record: &[u8]) -> Option<Result<Reply<T>, Error>> {
    let (kind, rest) = record.split_first()?;
    Some(match kind {
        b'r' | b'f' => {
            let (length, rest) = rest.split_first_chunk()?;
            let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
            let (meta, rest) = rest.split_at_checked(length)?;
            let (length, rest) = rest.split_first_chunk()?;
            let length = usize::from(u16::from_be_bytes(*length));
            let (kind_of_result, json) = rest.split_at_checked(length)?;
            let raw: &RawValue = serde_json::from_slice(json).ok()?;
            let mut rendered = Rendered::from_raw(raw).ok()?;
            if !meta.is_empty() {
                rendered.meta = serde_json::from_slice(meta).ok()?;
            }
            if !kind_of_result.is_empty() {
                rendered.result_type = Some(String::from_utf8(kind_of_result.to_vec()).ok()?);
            }
            rendered.is_error = *kind == b'f';
            Ok(Reply::Rendered(rendered))
        }
        b'a' => {
            let input: InputRequired = decode(std::str::from_utf8(rest).ok()?).ok()?;
            Ok(Reply::InputRequired(input))
        }
        b'e' => Err(serde_json::from_slice(rest).ok()?),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use antiphon_types::{CallToolResult, InputRequest};
    use serde_json::json;

    use super::*;

    #[test]
    fn answers_come_back_as_they_were() {
        let meta = json!({ "trace": 7 });
        let meta = meta.as_object().cloned().expect("an object");
        let mut result = CallToolResult::text("done");
        result.meta = Some(meta.clone());
        let (sent, record) = write(Ok(Reply::Complete(result)));
        let Ok(Reply::Rendered(sent)) = sent else {
            panic!("rendered")
        };
        let Some(Ok(Reply::Rendered::<CallToolResult>(back))) = read(&record.expect("written"))
        else {
            panic!("a result")
        };
        assert_eq!(back.json(), sent.json());
        assert_eq!(back.meta, Some(meta));
        assert!(!back.is_error);

        let (_, record) = write(Ok(Reply::Complete(CallToolResult::error("no"))));
        let failed = read::<CallToolResult>(&record.expect("written"));
        assert!(matches!(failed, Some(Ok(Reply::Rendered(it))) if it.is_error));

        let asked = InputRequired::ask("k", InputRequest::roots()).with_state("s");
        let (_, record) = write::<CallToolResult>(Ok(asked.clone().into()));
        let back = read::<CallToolResult>(&record.expect("written"));
        assert!(matches!(back, Some(Ok(Reply::InputRequired(it))) if it == asked));

        let error = Error::invalid_params("no").with_data(json!({ "a": 1 }));
        let (_, record) = write::<CallToolResult>(Err(error.clone()));
        let record = record.expect("written");
        assert!(matches!(read::<CallToolResult>(&record), Some(Err(it)) if it == error));
    }

    #[test]
    fn what_is_no_record_is_not_read() {
        let (_, record) = write(Ok(Reply::Complete(CallToolResult::text("done"))));
        let record = record.expect("written");
        for cut in 0..record.len() {
            assert!(read::<CallToolResult>(&record[..cut]).is_none(), "{cut}");
        }
        assert!(read::<CallToolResult>(b"x{}").is_none());
    }
}
