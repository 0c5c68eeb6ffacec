//! Where asking meets the call: an [`Ask`] is taken from it, and joined with what the handler returned.

use antiphon_core::negotiate::shown;
use antiphon_types::ErrorObject;

use super::Ask;
use crate::{
    raw::Reply,
    sealing::Leg,
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
        dialogue.end();
        if let Some(error) = dialogue.run().broken.take() {
            return Err(error.into());
        }
        let asks = match &ended {
            Ok(reply) => matches!(reply, Reply::InputRequired(_)),
            Err(stop) => stop.asks(),
        };
        if let Some(key) = dialogue.unfinished().filter(|_| asks) {
            let fault = Fault::Unfinished { key };
            tracing::error!(target = &*shown(self.target()), "{fault}");
            let error = ErrorObject::internal(format!("Internal error: {fault}"));
            self.server().settings.faults.tell(fault);
            return Err(error.into());
        }
        match ended {
            Ok(Reply::InputRequired(by_hand)) => {
                let all = dialogue.questions(Some(by_hand));
                Ok(Reply::InputRequired(all.ok_or_else(Stop::asked)?))
            }
            Ok(reply) => {
                let run = dialogue.run();
                for key in run.asking.pending().chain(run.waits_for()) {
                    let fault = Fault::Swallowed { key: key.into() };
                    tracing::warn!(target = &*shown(self.target()), "{fault}");
                    self.server().settings.faults.tell(fault);
                }
                Ok(reply)
            }
            Err(stop) => {
                let by_hand = match stop.why() {
                    Why::Ask(by_hand) => Some(by_hand),
                    Why::Asked => None,
                    why => return Err(Stop::because(why)),
                };
                let all = dialogue.questions(by_hand).ok_or_else(Stop::asked)?;
                Ok(Reply::InputRequired(all))
            }
        }
    }
}
