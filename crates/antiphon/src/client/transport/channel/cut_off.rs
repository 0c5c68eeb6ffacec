//! Whose a message is of which only the beginning is known.

use std::fmt;

use serde::{
    Deserializer,
    de::{IgnoredAny, MapAccess, Visitor},
};

use super::head::{Text, integer};

/// Whose a message is of which only the beginning is known.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum CutOff {
    /// The response to this request.
    Response(i64),
    /// A response; it does not begin with whose it is.
    SomeResponse,
    /// A notification, a request, or no message at all.
    Other,
}

/// Reads as much of the head of a message as there is.
pub(super) fn cut_off(beginning: &[u8]) -> CutOff {
    let mut seen = Seen::default();
    let mut reader = serde_json::Deserializer::from_slice(beginning);
    // It breaks off somewhere; what came before counts.
    _ = reader.deserialize_map(&mut seen);
    match seen {
        Seen { method: true, .. } => CutOff::Other,
        Seen { id: Some(id), .. } => CutOff::Response(id),
        Seen { response: true, .. } => CutOff::SomeResponse,
        _ => CutOff::Other,
    }
}

/// The members that came before a message breaks off.
#[derive(Default)]
struct Seen {
    id: Option<i64>,
    method: bool,
    response: bool,
}

impl<'de> Visitor<'de> for &mut Seen {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        while let Some(Text(name)) = members.next_key()? {
            match &*name {
                "id" => self.id = integer(Some(members.next_value()?)),
                "method" => {
                    self.method = true;
                    return Ok(());
                }
                other => {
                    self.response |= ["result", "error"].contains(&other);
                    members.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_of_a_message_may_say_whose_it_is() {
        for (beginning, whose) in [
            (
                r#"{"jsonrpc":"2.0","id":7,"result":{"content":[{"te"#,
                CutOff::Response(7),
            ),
            (r#"{"error":{"code":1},"id":8,"x":"#, CutOff::Response(8)),
            (r#"{"result":{"content":["#, CutOff::SomeResponse),
            (r#"{"id":"7","result":{"#, CutOff::SomeResponse),
            (r#"{"id":7,"method":"sampling/create"#, CutOff::Other),
            (
                r#"{"method":"notifications/message","params":{"#,
                CutOff::Other,
            ),
            ("[7,", CutOff::Other),
            ("xxxxxx", CutOff::Other),
        ] {
            assert_eq!(cut_off(beginning.as_bytes()), whose, "{beginning}");
        }
    }
}
