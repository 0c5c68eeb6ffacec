//! A page, past the client: for what neither it nor a model may see. That the user agreed to open
//! the link is not enough; the page says when they are done.

use antiphon::{
    Ask, Completions, State, Stop,
    link::{Handle, NotCompleted},
    tool,
};

/// Sign in.
#[tool]
pub(super) async fn sign_in(State(sign_in): State<SignIn>, ask: Ask) -> Result<String, Stop> {
    let account = ask.url(
        "signin",
        "Sign in to continue",
        |handle| format!("{}/{handle}", sign_in.page),
        |handle| sign_in.account(handle),
    )?;
    Ok(format!("Signed in as {account}."))
}

/// Where people sign in, and who has.
#[derive(Clone)]
pub(crate) struct SignIn {
    page: String,
    at_once: bool,
    done: Completions<String>,
}

/// Nobody else has an account.
const ACCOUNT: &str = "Ada";

impl SignIn {
    /// At the page with this address; or everybody at once, who is sent there.
    pub(crate) fn page(page: String, at_once: bool) -> Self {
        Self {
            page,
            at_once,
            done: Completions::new(),
        }
    }

    /// Without a page of ours.
    pub(crate) fn at_once() -> Self {
        Self::page("https://example.com/sign-in".to_owned(), true)
    }

    /// Somebody has signed in at the page of this handle. A real page knows who that is, and says
    /// so: a link that was made for another is refused then.
    pub(crate) fn complete(&self, handle: &str) -> Result<(), String> {
        match self.done.complete(handle, None, ACCOUNT.to_owned()) {
            // Who comes twice is signed in as well.
            Ok(()) | Err(NotCompleted::Before) => Ok(()),
            Err(why) => Err(why.to_string()),
        }
    }

    fn account(&self, handle: &Handle) -> Option<String> {
        match self.at_once {
            true => Some(ACCOUNT.to_owned()),
            false => self.done.get(handle),
        }
    }
}
