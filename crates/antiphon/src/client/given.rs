//! [`Given`]: the result of a request, before it is read.

use std::ops::Range;

use antiphon_core::reply::{NoMessage, Reply, guess_result};
use bytes::Bytes;

use super::Error;

/// The result of a request, as JSON text. Where it is may be a guess: whoever reads it finds out.
pub(super) struct Given {
    message: Bytes,
    result: Range<usize>,
    is_guess: bool,
}

impl Given {
    /// The result in a response to this request, without a look at it.
    pub(super) fn guess(message: &Bytes, id: i64) -> Option<Self> {
        let (_, result) = guess_result(message).filter(|(answered, _)| *answered == id)?;
        Some(Self {
            message: message.clone(),
            result,
            is_guess: true,
        })
    }

    /// This, which is JSON.
    pub(super) fn sure(text: Bytes) -> Self {
        Self {
            result: 0..text.len(),
            message: text,
            is_guess: false,
        }
    }

    /// Reads it; `None` is what the reader gives.
    ///
    /// # Errors
    /// When there is no result to be read.
    pub(super) fn read<T, E>(
        &self,
        read: impl Fn(&str) -> Option<Result<T, E>>,
    ) -> Result<Option<Result<T, E>>, Error> {
        match read(utf8(&self.message[self.result.clone()])?) {
            // Either the guess was wrong, or the result is.
            Some(Err(_)) if self.is_guess => Ok(read(utf8(self.found()?)?)),
            result => Ok(result),
        }
    }

    /// The text, which is JSON.
    ///
    /// # Errors
    /// When there is none.
    pub(super) fn into_text(self) -> Result<Bytes, Error> {
        match self.is_guess {
            true => Ok(self.message.slice_ref(self.found()?)),
            false => Ok(self.message),
        }
    }

    /// The result, where it is for sure.
    fn found(&self) -> Result<&[u8], Error> {
        match Reply::parse(&self.message) {
            Ok(Reply::Result { result, .. }) => Ok(result.get().as_bytes()),
            Ok(_) => Err(Error::decode("the server answered without a result")),
            Err(why) => Err(no_message(why)),
        }
    }
}

/// The error of a response that cannot be read.
pub(super) fn no_message(why: NoMessage) -> Error {
    Error::decode("the server sent what is no message").caused_by(why)
}

fn utf8(text: &[u8]) -> Result<&str, Error> {
    std::str::from_utf8(text)
        .map_err(|error| Error::decode("the result is not UTF-8").caused_by(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(message: &str) -> Option<Given> {
        Given::guess(&Bytes::copy_from_slice(message.as_bytes()), 1)
    }

    fn read(given: &Given) -> Result<serde_json::Value, String> {
        let read = given.read(|text| Some(serde_json::from_str(text)));
        let read = read.map_err(|error| error.to_string())?;
        read.expect("read").map_err(|error| error.to_string())
    }

    #[test]
    fn a_wrong_guess_does_no_harm() {
        assert!(given(r#"{"jsonrpc":"2.0","id":2,"result":{}}"#).is_none());
        for (rest, is_there) in [
            (r#"{"a":1}}"#, true),
            (r#"{"a":1},"more":{"b":2}}"#, true),
            (r#"{"a":1},"id":2}"#, false),
            (r#"{"a":1},"result":{"b":2}}"#, false),
            (r#"{"a":1},"error":{"code":1,"message":""}}"#, false),
            (r#"{"a":1}}}"#, false),
            (r#"{"a":1}"#, false),
        ] {
            let message = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{rest}"#);
            let given = given(&message).expect("a guess");
            let result = read(&given);
            assert_eq!(result.is_ok(), is_there, "{rest}: {result:?}");
            let text = given.into_text();
            match result {
                Ok(result) => {
                    assert_eq!(result, serde_json::json!({"a": 1}), "{rest}");
                    assert_eq!(text.expect("a result"), r#"{"a":1}"#);
                }
                Err(_) => assert!(text.is_err(), "{rest}"),
            }
        }
    }
}
