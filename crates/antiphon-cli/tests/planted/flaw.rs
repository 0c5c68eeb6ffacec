//! [`Flaw`]: what a planted server does wrong. Each is named for the probe that finds it.

/// The one thing that is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flaw {
    /// The first bytes of a state, its form and key id, are neither checked nor authenticated.
    StateTampered,
    /// The code behind a state is compared as far as it goes, so the end may be missing.
    StateTruncated,
    /// What follows the code behind a state is let be.
    StateExtended,
    /// `+` and `/` are read as `-` and `_`.
    StateRespelled,
    /// A state is authenticated, but not encrypted.
    StateReadable,
    /// A replica runs a call again that it finished, if state and answers are the same.
    Replayed,
    /// A state is marked as used together with its answers, so other answers run again.
    ReplayedOtherAnswers,
    /// A state is marked as used only after the call has run.
    ReplayedConcurrently,
    /// Nobody looks at the clock.
    Expired,
    /// Of the arguments, only integers from 2^53 on are bound.
    OtherArguments,
    /// Numbers in arguments are compared as floating point.
    BigNumbers,
    /// The last of several members of one name counts.
    DuplicateNames,
    /// Arguments are compared as they were spelt.
    ReorderedKeys,
    /// A state of one tool is good for the others.
    OtherTool,
    /// Prompts and resources take the states of anything.
    OtherMethod,
    /// A state is good for whoever has a token.
    OtherPrincipal,
    /// Who sends a state needs no token.
    Anonymous,
    /// Each replica only knows the states that were used there.
    OtherReplica,
    /// Answers count in the first round, before anybody was asked.
    UnsolicitedAnswers,
    /// No answers at all are consent.
    MissingAnswers,
    /// A key counts if the right one is somewhere in it, whatever its case; and so do names of fields.
    RenamedAnswers,
    /// Answers are looked for below their key, in arrays and in strings.
    WrappedAnswers,
    /// What is filled in is not compared with the form.
    MistypedAnswers,
    /// Answers beyond the limits end in a 500.
    OversizedAnswers,
    /// Clients are asked whatever they declared.
    UndeclaredCapabilities,
    /// No question is asked twice in the same words.
    QuestionsDrift,
    /// The form has a field for a password.
    SecretFields,
    /// The link is plain `http`.
    LinkScheme,
    /// The link says who the user is.
    LinkIdentity,
    /// A refusal says what was wrong.
    ErrorTexts,
    /// Completions ask before they complete.
    InputRequiredElsewhere,
    /// Calls of 2025-11-25 take answers from their parameters.
    EraConfusion,
}

/// Every flaw and the id of its probe, in the order of the probes.
pub(crate) const FLAWS: [(Flaw, &str); 32] = [
    (Flaw::StateTampered, "state-tampered"),
    (Flaw::StateTruncated, "state-truncated"),
    (Flaw::StateExtended, "state-extended"),
    (Flaw::StateRespelled, "state-respelled"),
    (Flaw::StateReadable, "state-readable"),
    (Flaw::Replayed, "replayed"),
    (Flaw::ReplayedOtherAnswers, "replayed-other-answers"),
    (Flaw::ReplayedConcurrently, "replayed-concurrently"),
    (Flaw::Expired, "expired"),
    (Flaw::OtherArguments, "other-arguments"),
    (Flaw::BigNumbers, "big-numbers"),
    (Flaw::DuplicateNames, "duplicate-names"),
    (Flaw::ReorderedKeys, "reordered-keys"),
    (Flaw::OtherTool, "other-tool"),
    (Flaw::OtherMethod, "other-method"),
    (Flaw::OtherPrincipal, "other-principal"),
    (Flaw::Anonymous, "anonymous"),
    (Flaw::OtherReplica, "other-replica"),
    (Flaw::UnsolicitedAnswers, "unsolicited-answers"),
    (Flaw::MissingAnswers, "missing-answers"),
    (Flaw::RenamedAnswers, "renamed-answers"),
    (Flaw::WrappedAnswers, "wrapped-answers"),
    (Flaw::MistypedAnswers, "mistyped-answers"),
    (Flaw::OversizedAnswers, "oversized-answers"),
    (Flaw::UndeclaredCapabilities, "undeclared-capabilities"),
    (Flaw::QuestionsDrift, "questions-drift"),
    (Flaw::SecretFields, "secret-fields"),
    (Flaw::LinkScheme, "link-scheme"),
    (Flaw::LinkIdentity, "link-identity"),
    (Flaw::ErrorTexts, "error-texts"),
    (Flaw::InputRequiredElsewhere, "input-required-elsewhere"),
    (Flaw::EraConfusion, "era-confusion"),
];

impl Flaw {
    /// The id of its probe.
    pub(crate) fn id(self) -> &'static str {
        let found = FLAWS.iter().find(|(flaw, _)| *flaw == self);
        found.map_or("", |(_, id)| id)
    }

    /// Whether it is a weakness rather than a hole.
    pub(crate) fn is_weak(self) -> bool {
        matches!(
            self,
            Self::StateRespelled
                | Self::StateReadable
                | Self::ReorderedKeys
                | Self::QuestionsDrift
                | Self::ErrorTexts
        )
    }
}
