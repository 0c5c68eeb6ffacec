//! [`Trouble`]: what goes wrong on the way between a client and a fleet, and must not matter.

/// What a [`Rehearsal`](super::Rehearsal) puts a call through, each in a play of its own. In all of
/// them every request gets to an instance of its own, and the keys are rotated from one to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Trouble {
    /// Nothing more: each request gets to another instance.
    Elsewhere,
    /// A request that was answered with questions is handled once more by an instance that does not
    /// know of it, as after a crash. The first one too, unless something was done in it by `once`:
    /// a first call that is sent twice is two calls.
    RunAgain,
    /// The response is lost, and the request is sent again, byte for byte.
    ResponseLost,
    /// The arguments are spelt in another way: the order of members, space, escapes.
    Respelt,
    /// Of several answers, one is sent at a time.
    OneByOne,
    /// Each request is sent twice at the same time.
    AtOnce,
}

impl Trouble {
    pub(super) const ALL: [Self; 6] = [
        Self::Elsewhere,
        Self::RunAgain,
        Self::ResponseLost,
        Self::Respelt,
        Self::OneByOne,
        Self::AtOnce,
    ];

    /// What happened to a request, after "in leg 2".
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Elsewhere => "on another instance than the one before, with the same stores",
            Self::RunAgain => "run once more, on an instance that knew nothing of it",
            Self::ResponseLost => "sent again, because its response was lost",
            Self::Respelt => "with the arguments spelt in another way",
            Self::OneByOne => "with one answer at a time",
            Self::AtOnce => "sent twice at the same time",
        }
    }
}
