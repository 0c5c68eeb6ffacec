//! The probes, a group a file.

pub(super) mod answers;
mod binding;
mod protocol;
pub(super) mod questions;
mod reuse;
mod state;

use super::probe::Probe;

pub(super) use reuse::Reuse;

/// All of them, in their order.
pub(super) fn all() -> Vec<&'static Probe> {
    let groups: [&'static [Probe]; 6] = [
        &state::PROBES,
        &reuse::PROBES,
        &binding::PROBES,
        &answers::PROBES,
        &questions::PROBES,
        &protocol::PROBES,
    ];
    groups.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// They are in scripts and reports: none is renamed, and new ones come at the end of a group.
    #[test]
    fn the_names_stay() {
        let all = all();
        let named = |group: &str| {
            let probes = all.iter().filter(|probe| probe.group == group);
            probes.map(|probe| probe.id).collect::<Vec<_>>().join(" ")
        };
        for (group, ids) in [
            (
                "state",
                "state-tampered state-truncated state-extended state-respelled state-readable",
            ),
            (
                "reuse",
                "replayed replayed-other-answers replayed-concurrently expired",
            ),
            (
                "binding",
                "other-arguments big-numbers duplicate-names reordered-keys other-tool \
                 other-method other-principal anonymous other-replica",
            ),
            (
                "answers",
                "unsolicited-answers missing-answers renamed-answers wrapped-answers \
                 mistyped-answers oversized-answers",
            ),
            (
                "questions",
                "undeclared-capabilities questions-drift secret-fields link-scheme link-identity",
            ),
            (
                "protocol",
                "error-texts input-required-elsewhere era-confusion",
            ),
        ] {
            assert_eq!(named(group), ids);
        }
        assert_eq!(all.len(), 32);
    }

    /// Every probe is in the guide, in its order, with the rules it is about.
    #[test]
    fn the_guide_explains_each() {
        const GUIDE: &str = include_str!("../../../../../docs/audit.md");
        let headings = GUIDE.lines().filter_map(|line| line.strip_prefix("### `"));
        let headings: Vec<_> = headings.map(|rest| rest.trim_end_matches('`')).collect();
        let ids: Vec<_> = all().iter().map(|probe| probe.id).collect();
        assert_eq!(headings, ids);
        for probe in all() {
            let heading = format!("### `{}`\n", probe.id);
            let (_, section) = GUIDE.split_once(&heading).expect("a heading");
            let section = section.split("\n#").next().unwrap_or_default();
            for id in probe.ledger {
                assert!(
                    section.contains(id),
                    "{}: {id} is not in the guide",
                    probe.id
                );
            }
            let cited = section.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
            for word in cited.filter(|word| is_rule(word)) {
                assert!(probe.ledger.contains(&word), "{}: {word}", probe.id);
            }
        }
    }

    /// Such as `MRTR-S-12`.
    fn is_rule(word: &str) -> bool {
        let parts: Vec<_> = word.split('-').collect();
        matches!(&parts[..], [area, side, number]
            if area.len() > 2 && area.chars().all(|c| c.is_ascii_uppercase())
                && side.len() == 1 && number.parse::<u8>().is_ok())
    }

    #[test]
    fn texts_are_whole_sentences_and_rules_have_their_form() {
        for probe in all() {
            assert!(
                probe.meaning.ends_with('.') && probe.advice.ends_with('.'),
                "{}",
                probe.id
            );
            assert!(!probe.ledger.is_empty(), "{}", probe.id);
            assert!(probe.ledger.iter().all(|id| is_rule(id)), "{}", probe.id);
        }
    }
}
