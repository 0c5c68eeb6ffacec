//! What completions return.

use antiphon_types::CompleteResult;

use super::{Context, IntoReply, Reply, Stop};

#[diagnostic::do_not_recommend]
impl IntoReply<Self> for CompleteResult {
    fn into_reply(self, _: &Context<'_>) -> Result<Reply<Self>, Stop> {
        Ok(Reply::Complete(self))
    }
}

/// The values that fit, best first. At most 100 are sent (COMP-S-02).
#[diagnostic::do_not_recommend]
impl<T: Into<String>> IntoReply<CompleteResult> for Vec<T> {
    fn into_reply(self, _: &Context<'_>) -> Result<Reply<CompleteResult>, Stop> {
        let values = self.into_iter().map(Into::into).collect();
        Ok(Reply::Complete(CompleteResult::new(values)))
    }
}
