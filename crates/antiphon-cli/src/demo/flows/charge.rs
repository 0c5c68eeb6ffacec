//! An effect that happens once, although the handler runs in every round.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use antiphon::{Answer, Ask, Form, State, Stop, tool};

#[derive(Form)]
struct Confirm {
    /// Whether to pay.
    confirm: bool,
}

#[derive(Form)]
struct Receipt {
    /// Whether to send one.
    receipt: bool,
}

/// Charge an amount.
#[tool(destructive)]
pub(super) async fn charge(
    #[arg] amount: u32,
    State(till): State<Till>,
    ask: Ask,
) -> Result<String, Stop> {
    let Answer::Accept(Confirm { confirm: true }) =
        ask.form("confirm", format!("Charge {amount}?"))?
    else {
        return Ok("Nothing charged".to_owned());
    };
    // What a payment service is told too, so that even a lost reply charges nobody twice.
    let call = ask.idempotency_key("charge");
    ask.once("charge", async || {
        till.charge(&call);
        Ok(())
    })
    .await?;
    // One more round, in which the handler runs again from its top; the charge stands either way.
    let _receipt: Answer<Receipt> = ask.form("receipt", "Do you want a receipt?")?;
    let times = till.charged(&call);
    Ok(format!("Charged {amount}; effect ran {times} time(s)"))
}

/// How often each call was charged.
#[derive(Clone, Default)]
pub(super) struct Till(Arc<Mutex<HashMap<String, u32>>>);

/// A demo need not remember more.
const MOST: usize = 10_000;

impl Till {
    /// The effect.
    fn charge(&self, call: &str) {
        let mut charges = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if charges.len() >= MOST {
            charges.clear();
        }
        *charges.entry(call.to_owned()).or_default() += 1;
    }

    fn charged(&self, call: &str) -> u32 {
        let charges = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        charges.get(call).copied().unwrap_or_default()
    }

    /// How often anybody was charged.
    #[cfg(test)]
    pub(super) fn total(&self) -> u32 {
        let charges = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        charges.values().sum()
    }
}
