//! Where asking meets the call: an [`Ask`] is taken from it, and joined with what the handler returned.

use antiphon_core::negotiate::shown;
use antiphon_types::{ErrorObject, InputRequired};

use super::Ask;
use crate::{
    raw::Reply,
    sealing::{Dialogue, Leg},
    server::{Context, Stop, fault::Fault, stop::Why},
};

impl Context<'_> {
    /// Asks for what only the user has: how extractors and layers ask. An extractor says so by
    /// [`ASKS`](crate::FromCall::ASKS): otherwise its questions leave alone, and it cannot do
    /// anything [`once`](Ask::once), because the state may still be used by somebody else.
    ///
    /// # Errors
    /// If nothing can be asked here: in completions, lists and subscriptions (MRTR-S-03).
    pub fn ask(&self) -> Result<Ask, Stop> {
        let Some(leg) = self.leg() else {
            tracing::error!(
                method = self.method(),
                "nothing can be asked here (MRTR-S-03)"
            );
            let text = format!("Internal error: `{}` cannot ask", self.method());
            return Err(Stop::reject(-32603, text));
        };
        Ok(Ask {
            dialogue: leg.dialogue(self)?.clone(),
            faults: self.server().settings.faults.clone(),
            resolver: self.resolver().map(|it| it.name),
        })
    }

    /// What the handler returned, with what it asked on the way.
    pub(crate) fn settle<R>(&self, ended: Result<Reply<R>, Stop>) -> Result<Reply<R>, Stop> {
        let Some(dialogue) = self.leg().and_then(Leg::begun_dialogue) else {
            return ended;
        };
        let (reply, end) = match ended {
            Ok(Reply::InputRequired(by_hand)) => (None, End::Asks(by_hand)),
            Ok(reply) => (Some(reply), End::Replies),
            Err(stop) => (None, End::Stops(stop)),
        };
        let questions = self.settled(dialogue, end)?.map(Reply::InputRequired);
        questions.or(reply).ok_or_else(Stop::asked)
    }

    /// The same whatever was returned; the questions, if there are any to be asked.
    fn settled(&self, dialogue: &Dialogue, end: End) -> Result<Option<InputRequired>, Stop> {
        dialogue.end();
        if let Some(error) = dialogue.run().broken.take() {
            return Err(error.into());
        }
        let asks = match &end {
            End::Asks(_) => true,
            End::Replies => false,
            End::Stops(stop) => stop.asks(),
        };
        if let Some(key) = dialogue.unfinished().filter(|_| asks) {
            let fault = Fault::Unfinished { key };
            tracing::error!(target = &*shown(self.target()), "{fault}");
            let error = ErrorObject::internal(format!("Internal error: {fault}"));
            self.server().settings.faults.tell(fault);
            return Err(error.into());
        }
        let by_hand = match end {
            End::Asks(by_hand) => Some(by_hand),
            End::Replies => {
                let run = dialogue.run();
                for key in run.asking.pending().chain(run.waits_for()) {
                    let fault = Fault::Swallowed { key: key.into() };
                    tracing::warn!(target = &*shown(self.target()), "{fault}");
                    self.server().settings.faults.tell(fault);
                }
                return Ok(None);
            }
            End::Stops(stop) => match stop.why() {
                Why::Ask(by_hand) => Some(by_hand),
                Why::Asked => None,
                why => return Err(Stop::because(why)),
            },
        };
        let all = dialogue.questions(by_hand).ok_or_else(Stop::asked)?;
        Ok(Some(all))
    }
}

/// How a handler ended.
enum End {
    /// With questions put together by hand.
    Asks(InputRequired),
    /// With a reply.
    Replies,
    Stops(Stop),
}
