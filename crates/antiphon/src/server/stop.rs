//! [`Stop`]: why a handler ended without a result.

use std::{
    error::Error as StdError,
    fmt,
    hash::{BuildHasher, RandomState},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use antiphon_core::negotiate::shown;
use antiphon_types::{ErrorObject, InputRequired};

use crate::schema::Violations;

type BoxError = Box<dyn StdError + Send + Sync>;

/// Why a handler, an extractor or a layer ended without a result.
///
/// * [`Stop::fail`]: the work could not be done, in words for the client. A tool answers with a
///   result marked `isError`, which a model reads and acts on; a prompt or a resource with the
///   error `-32603`.
/// * [`Stop::reject`]: the request itself is refused, with a JSON-RPC error of your choice.
/// * [`Stop::not_found`]: there is no such thing.
/// * [`Stop::needs_scopes`]: the caller's token does not allow it; another one may.
/// * [`Stop::ask`]: something has to be asked first. [`Ask`](crate::Ask) makes these.
///
/// What a user declined or cancelled is a failure too.
///
/// Every error becomes a failure by `?`: standard and boxed ones, those of `anyhow` and `eyre`,
/// and texts. [`OrFail::or_fail`] says so in a word where `?` would have to guess. Only the error's
/// own text goes to the client (or a fixed one, see
/// [`Server::hide_errors`](crate::Server::hide_errors)); what caused it goes to the log.
///
/// This is not a `std::error::Error`: asking is no error.
///
/// ```
/// use antiphon::{OrFail, Stop};
///
/// async fn parse(text: &str) -> Result<String, Stop> {
///     let number: u32 = text.parse()?; // a standard error
///     if number > 100 {
///         return Err(Stop::fail(format!("{number} is too much; 100 is the most")));
///     }
///     let half = halve(number)?; // an error that is only a text
///     let file = std::fs::read("halves").or_fail()?; // the same, in a word
///     Ok(format!("{half} {}", file.len()))
/// }
///
/// fn halve(number: u32) -> Result<u32, String> {
///     match number % 2 {
///         0 => Ok(number / 2),
///         _ => Err(format!("{number} is odd")),
///     }
/// }
/// ```
#[must_use = "a handler stops by returning this"]
pub struct Stop(Box<Why>);

pub(crate) enum Why {
    /// The author's words for the client.
    Fail(String),
    /// An error that was passed on.
    Error(BoxError),
    Reject(ErrorObject),
    NotFound,
    /// The caller may not do this, and needs these scopes as well.
    Scopes(Vec<String>),
    /// The arguments are not what the handler takes.
    Arguments(Violations),
    /// Questions that the author built.
    Ask(InputRequired),
    /// Questions that the call knows itself.
    Asked,
    /// The user said no to what was asked under this key.
    Declined(String),
    /// The user went away from what was asked under this key.
    Cancelled(String),
    /// The state was used before, and has its answer.
    Repeat,
}

impl Stop {
    /// The work could not be done; `text` tells the client why.
    pub fn fail(text: impl Into<String>) -> Self {
        Self(Box::new(Why::Fail(text.into())))
    }

    /// The request is refused with a JSON-RPC error. Codes from -32000 to -32099 are the
    /// protocol's: do not make up your own there (ERR-S-01).
    pub fn reject(code: i64, text: impl Into<String>) -> Self {
        Self(Box::new(Why::Reject(ErrorObject::new(code, text))))
    }

    /// There is no such thing: a resource is answered as the protocol wants it (RES-S-09), a
    /// prompt with `-32602`, a tool with an error result.
    pub fn not_found() -> Self {
        Self(Box::new(Why::NotFound))
    }

    /// The caller needs these scopes too, which shows only now: what a tool always needs is said where
    /// it is [registered](crate::Tool::require_scopes). Over HTTP the answer is `403`, with a challenge
    /// that names all scopes that this call needs, so that a client can get a token that has them and
    /// call again (AUTH-S-13, AUTH-S-14); elsewhere, and once a call has told of progress, it is an error.
    ///
    /// A call that was asked something can go on with such a token where it was: say this before
    /// anything is done, or take a confirmation, in the round.
    ///
    /// ```
    /// use antiphon::{Context, FromCall, Stop};
    ///
    /// /// Proof that whoever calls may write.
    /// struct Writer;
    ///
    /// impl<S: Sync> FromCall<S> for Writer {
    ///     async fn from_call(call: &Context<'_>, _: &S) -> Result<Self, Stop> {
    ///         call.require_scopes(["files:write"])?;
    ///         Ok(Self)
    ///     }
    /// }
    /// ```
    pub fn needs_scopes(scopes: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let scopes = scopes.into_iter().map(Into::into).collect();
        Self(Box::new(Why::Scopes(scopes)))
    }

    /// Something has to be asked first.
    pub fn ask(questions: InputRequired) -> Self {
        Self(Box::new(Why::Ask(questions)))
    }

    /// Whether the user said no to what was asked.
    pub fn is_declined(&self) -> bool {
        matches!(*self.0, Why::Declined(_))
    }

    /// Whether the user went away from what was asked.
    pub fn is_cancelled(&self) -> bool {
        matches!(*self.0, Why::Cancelled(_))
    }

    /// Something is wrong here, which is none of the caller's business.
    pub(crate) fn internal() -> Self {
        Self::reject(-32603, "Internal error")
    }

    pub(crate) fn asked() -> Self {
        Self(Box::new(Why::Asked))
    }

    pub(crate) fn arguments(violations: Violations) -> Self {
        Self(Box::new(Why::Arguments(violations)))
    }

    pub(crate) fn because(why: Why) -> Self {
        Self(Box::new(why))
    }

    pub(crate) fn why(self) -> Why {
        *self.0
    }

    pub(crate) fn is_about_arguments(&self) -> bool {
        matches!(*self.0, Why::Arguments(_))
    }

    pub(crate) fn asks(&self) -> bool {
        matches!(*self.0, Why::Ask(_) | Why::Asked)
    }

    pub(crate) fn is_repeat(&self) -> bool {
        matches!(*self.0, Why::Repeat)
    }
}

/// A stop that several are told.
pub(crate) struct Shared {
    stop: Stop,
    /// Whether somebody was told what the author asks by hand, which is asked once.
    asked: AtomicBool,
}

impl From<Stop> for Shared {
    fn from(stop: Stop) -> Self {
        let stop = match stop.why() {
            Why::Error(error) => Stop::because(Why::Error(Box::new(SharedError(error.into())))),
            why => Stop::because(why),
        };
        Self {
            stop,
            asked: AtomicBool::new(false),
        }
    }
}

impl Shared {
    pub(crate) fn tell(&self) -> Stop {
        Stop::because(match &*self.stop.0 {
            Why::Fail(text) => Why::Fail(text.clone()),
            Why::Error(error) => match error.downcast_ref::<SharedError>() {
                Some(error) => Why::Error(Box::new(error.clone())),
                None => Why::Fail(error.to_string()),
            },
            Why::Reject(error) => Why::Reject(error.clone()),
            Why::NotFound => Why::NotFound,
            Why::Scopes(scopes) => Why::Scopes(scopes.clone()),
            Why::Arguments(violations) => Why::Arguments(violations.clone()),
            Why::Ask(questions) if !self.asked.swap(true, Ordering::Relaxed) => {
                Why::Ask(questions.clone())
            }
            Why::Ask(_) | Why::Asked => Why::Asked,
            Why::Declined(key) => Why::Declined(key.clone()),
            Why::Cancelled(key) => Why::Cancelled(key.clone()),
            Why::Repeat => Why::Repeat,
        })
    }
}

/// An error that several are told, with its causes.
#[derive(Debug, Clone)]
struct SharedError(Arc<dyn StdError + Send + Sync>);

impl fmt::Display for SharedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl StdError for SharedError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source()
    }
}

/// Standard errors, boxed ones, those of `anyhow` and `eyre`, and texts.
impl<E: Into<BoxError>> From<E> for Stop {
    fn from(error: E) -> Self {
        // A JSON-RPC error is a standard error too, but says itself what to answer.
        Self(Box::new(match error.into().downcast::<ErrorObject>() {
            Ok(error) => Why::Reject(*error),
            Err(error) => Why::Error(error),
        }))
    }
}

impl fmt::Debug for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            Why::Fail(text) => f.debug_tuple("Fail").field(text).finish(),
            Why::Error(error) => f.debug_tuple("Error").field(error).finish(),
            Why::Reject(error) => f.debug_tuple("Reject").field(error).finish(),
            Why::NotFound => f.write_str("NotFound"),
            Why::Scopes(scopes) => f.debug_tuple("Scopes").field(scopes).finish(),
            Why::Arguments(violations) => f.debug_tuple("Arguments").field(violations).finish(),
            Why::Ask(_) | Why::Asked => f.write_str("Ask"),
            Why::Declined(key) => f.debug_tuple("Declined").field(key).finish(),
            Why::Cancelled(key) => f.debug_tuple("Cancelled").field(key).finish(),
            Why::Repeat => f.write_str("Repeat"),
        }
    }
}

/// The text a client would get.
impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            Why::Fail(text) => f.write_str(text),
            Why::Error(error) => error.fmt(f),
            Why::Reject(error) => f.write_str(&error.message),
            Why::NotFound => f.write_str("Not found"),
            Why::Scopes(scopes) => write!(f, "This needs more scopes: {}", scopes.join(" ")),
            Why::Arguments(violations) => violations.fmt(f),
            Why::Ask(_) | Why::Asked => f.write_str("An answer is needed"),
            Why::Declined(key) => write!(f, "The user declined to answer `{key}`."),
            Why::Cancelled(key) => write!(f, "The user did not answer `{key}`."),
            Why::Repeat => f.write_str("This was answered before"),
        }
    }
}

/// Makes a failure of any error, where the type of the error is not clear from what surrounds it.
pub trait OrFail<T> {
    /// The value, or a [`Stop`] with the error's text.
    ///
    /// # Errors
    /// The error this was.
    fn or_fail(self) -> Result<T, Stop>;
}

impl<T, E: Into<BoxError>> OrFail<T> for Result<T, E> {
    fn or_fail(self) -> Result<T, Stop> {
        self.map_err(Stop::from)
    }
}

/// Writes an error with all its causes to the log, and returns what the client is told.
pub(crate) fn told(error: &BoxError, hide: bool, method: &str, target: &str) -> String {
    let causes = Causes(&**error);
    let target = &*shown(target);
    if hide {
        let id = incident();
        tracing::warn!(method, target, %error, %causes, id, "a handler failed");
        return format!("Something went wrong (incident {id})");
    }
    tracing::warn!(method, target, %error, %causes, "a handler failed");
    error.to_string()
}

/// What led to an error, outermost first.
pub(super) struct Causes<'a>(pub(super) &'a (dyn StdError + 'static));

impl fmt::Display for Causes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut cause = self.0.source();
        let mut first = true;
        while let Some(error) = cause {
            let before = if first { "" } else { ": " };
            write!(f, "{before}{error}")?;
            first = false;
            cause = error.source();
        }
        Ok(())
    }
}

/// A name for one failure, the same in the log and in what the client is told.
fn incident() -> String {
    static KEYS: OnceLock<RandomState> = OnceLock::new();
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!(
        "{:016x}",
        KEYS.get_or_init(RandomState::new).hash_one(count)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Outer(std::num::ParseIntError);

    impl fmt::Display for Outer {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("the order cannot be read")
        }
    }

    impl StdError for Outer {
        fn source(&self) -> Option<&(dyn StdError + 'static)> {
            Some(&self.0)
        }
    }

    fn stopped(work: impl FnOnce() -> Result<(), Stop>) -> Stop {
        work().expect_err("it stops")
    }

    #[test]
    fn only_the_outermost_text_is_told() {
        let outer = || Outer("x".parse::<u8>().expect_err("no number"));
        let stop = stopped(|| Err(outer())?);
        assert_eq!(stop.to_string(), "the order cannot be read");
        let error: BoxError = Box::new(outer());
        assert_eq!(
            told(&error, false, "tools/call", "order"),
            "the order cannot be read"
        );
        assert_eq!(Causes(&*error).to_string(), "invalid digit found in string");
    }

    #[test]
    fn a_hidden_error_is_an_incident() {
        let error: BoxError = "the password is hunter2".into();
        let hidden = || told(&error, true, "tools/call", "order");
        let (one, two) = (hidden(), hidden());
        assert!(one.starts_with("Something went wrong (incident "), "{one}");
        assert_ne!(one, two);
    }

    #[test]
    fn whatever_is_an_error_somewhere_can_fail() {
        let texts = [
            stopped(|| Err("a text").or_fail()).to_string(),
            stopped(|| Err(String::from("a text")).or_fail()).to_string(),
            stopped(|| Err(BoxError::from("a text")).or_fail()).to_string(),
            stopped(|| Err(std::io::Error::other("a text")).or_fail()).to_string(),
            stopped(|| Err("a text")?).to_string(),
            stopped(|| Err(String::from("a text"))?).to_string(),
            stopped(|| Err(BoxError::from("a text"))?).to_string(),
            stopped(|| Err(Stop::fail("a text"))?).to_string(),
        ];
        assert_eq!(texts, ["a text"; 8]);
    }

    #[test]
    fn a_json_rpc_error_stays_one() {
        let stop = stopped(|| Err(ErrorObject::new(7, "no"))?);
        assert!(matches!(stop.why(), Why::Reject(error) if error.code == 7));
    }
}
