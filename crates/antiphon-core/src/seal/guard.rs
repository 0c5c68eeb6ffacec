//! [`Guard`]: the seam that makes a state good once.
//!
//! A state is *claimed* just before the work it stands for begins, by the first who presents it.
//! The claim is a lease: whoever holds it renews it while the work goes on, so that others can
//! tell work that goes on from work that was lost. In the end the claim becomes a record of what
//! was answered, or is given back.

use std::{error::Error, fmt, future::Future, pin::Pin, sync::Arc, time::Duration};

use crate::moment::Moment;

/// What a store does, when it is done.
pub type Storing<'a, T> = Pin<Box<dyn Future<Output = Result<T, Unavailable>> + Send + 'a>>;

/// Remembers which states were used.
///
/// Every method is atomic: of any number of [`claim`](Self::claim)s on one id, from any number of
/// processes that share the store, one gets [`Standing::Yours`]. A claim that was granted must be
/// as durable as the store promises before it is. A lease lasts while `now < lease_until`: from
/// [`Claim::lease_until`] on, that moment included, a claim that has not ended is
/// [`Standing::Lost`]. What a store knows of an id is kept while `now <= keep_until`, with
/// [`Claim::keep_until`] itself: when there is no room left, claims are refused
/// ([`Standing::Full`]), and nothing is thrown away early but recorded answers.
pub trait Guard: Send + Sync + 'static {
    /// Claims a state, or says how it stands with it.
    fn claim<'a>(&'a self, claim: &'a Claim) -> Storing<'a, Standing>;

    /// Goes on holding a claim until `until`. Nothing happens if it is not (any more) this
    /// holder's, or has ended.
    fn renew<'a>(&'a self, id: &'a StateId, holder: &'a Holder, until: Moment) -> Storing<'a, ()>;

    /// Ends a claim. Nothing happens if it is not (any more) this holder's, or has ended.
    fn end<'a>(
        &'a self,
        id: &'a StateId,
        holder: &'a Holder,
        ending: Ending<'a>,
    ) -> Storing<'a, ()>;

    /// Whether all replicas of a server that are given such a store see the same.
    fn is_shared(&self) -> bool;
}

/// A state's own random number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StateId(pub [u8; 16]);

/// Who holds a claim: a random number of its own for every claim.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Holder(pub [u8; 16]);

/// Stands for the answers that came with a state: equal for equal answers.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fingerprint(pub [u8; 16]);

/// A state that is presented.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// Which.
    pub id: StateId,
    /// With which answers.
    pub answers: Fingerprint,
    /// By whom.
    pub holder: Holder,
    /// What time it is.
    pub now: Moment,
    /// Until when it is claimed, unless the claim is renewed: while `now` is before this.
    pub lease_until: Moment,
    /// Until when this is to be remembered, this moment included.
    pub keep_until: Moment,
    /// Whether to take over a claim that was lost, if it was made with the same answers.
    pub take_over: bool,
}

/// How it stands with a state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// Nobody had claimed it, or not to the end. Now it is claimed by whoever asked.
    Yours,
    /// Somebody works on it, with these answers.
    Running(Fingerprint),
    /// Somebody worked on it, with these answers, and was not heard of again.
    Lost(Fingerprint),
    /// It was used, with these answers. The answer it got, if that is kept.
    Done(Fingerprint, Option<Vec<u8>>),
    /// There is no room to remember one more.
    Full,
}

/// How a claim ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending<'a> {
    /// The state was used, and this was answered.
    Answered(&'a [u8]),
    /// The state was used; what was answered is not kept.
    Used,
    /// Nothing was answered after all. Whoever brings the same answers may claim the state as if
    /// nobody had; with others it is [done](Standing::Done).
    Released,
}

/// A store that cannot do its work at present; why, for the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unavailable(pub String);

impl Unavailable {
    /// Because of this error.
    pub fn because(error: impl fmt::Display) -> Self {
        Self(error.to_string())
    }
}

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unavailable: {}", self.0)
    }
}

impl Error for Unavailable {}

/// How long a claim is held without being renewed.
pub const LEASE: Duration = Duration::from_secs(30);

impl<G: Guard + ?Sized> Guard for Arc<G> {
    fn claim<'a>(&'a self, claim: &'a Claim) -> Storing<'a, Standing> {
        G::claim(self, claim)
    }

    fn renew<'a>(&'a self, id: &'a StateId, holder: &'a Holder, until: Moment) -> Storing<'a, ()> {
        G::renew(self, id, holder, until)
    }

    fn end<'a>(
        &'a self,
        id: &'a StateId,
        holder: &'a Holder,
        ending: Ending<'a>,
    ) -> Storing<'a, ()> {
        G::end(self, id, holder, ending)
    }

    fn is_shared(&self) -> bool {
        G::is_shared(self)
    }
}

/// Hexadecimal: for keys of a store and for logs.
macro_rules! hexadecimal {
    ($($name:ident),*) => {$(
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self)
            }
        }
    )*};
}
pub(crate) use hexadecimal;

hexadecimal!(StateId, Holder, Fingerprint);
