//! [`Finding`]: what a probe found out.

use serde::Serialize;

/// How a server stands to a probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) enum Verdict {
    /// As it should be.
    #[serde(rename = "pass")]
    Pass,
    /// Nothing that an attacker can use at once, but not as it should be.
    #[serde(rename = "weak")]
    Weak,
    /// A hole.
    #[serde(rename = "fail")]
    Fail,
    /// Nothing is known; the detail says why.
    #[serde(rename = "not tested")]
    NotTested,
}

impl Verdict {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Weak => "weak",
            Self::Fail => "fail",
            Self::NotTested => "not tested",
        }
    }

    /// How much it counts beside others.
    fn weight(self) -> u8 {
        match self {
            Self::NotTested => 0,
            Self::Pass => 1,
            Self::Weak => 2,
            Self::Fail => 3,
        }
    }
}

/// What a probe found out.
#[derive(Debug, Clone)]
pub(super) struct Finding {
    pub(super) verdict: Verdict,
    /// What was seen, on one line.
    pub(super) detail: String,
    /// What the server said, each on a line of its own; harmless and short.
    pub(super) evidence: Vec<String>,
}

impl Finding {
    pub(super) fn new(verdict: Verdict, detail: impl Into<String>) -> Self {
        Self {
            verdict,
            detail: detail.into(),
            evidence: Vec::new(),
        }
    }

    pub(super) fn pass(detail: impl Into<String>) -> Self {
        Self::new(Verdict::Pass, detail)
    }

    pub(super) fn weak(detail: impl Into<String>) -> Self {
        Self::new(Verdict::Weak, detail)
    }

    pub(super) fn fail(detail: impl Into<String>) -> Self {
        Self::new(Verdict::Fail, detail)
    }

    pub(super) fn not_tested(why: impl Into<String>) -> Self {
        Self::new(Verdict::NotTested, why)
    }

    /// One out of several: the worst of them counts, and what was not tested only if nothing was.
    pub(super) fn worst(parts: impl IntoIterator<Item = (String, Self)>) -> Self {
        let parts: Vec<_> = parts.into_iter().collect();
        let worst = parts.iter().map(|(_, part)| part.verdict.weight()).max();
        let mut finding = Self::not_tested("there is nothing to try");
        // Those of one mind are named together.
        let mut told: Vec<(Vec<String>, String)> = Vec::new();
        for (what, part) in parts {
            if Some(part.verdict.weight()) != worst {
                continue;
            }
            finding.verdict = part.verdict;
            finding = finding.seen(part.evidence);
            match told.iter_mut().find(|(_, detail)| *detail == part.detail) {
                Some((names, _)) => names.push(what),
                None => told.push((vec![what], part.detail)),
            }
        }
        let told = told
            .iter()
            .map(|(names, detail)| format!("{}: {detail}", names.join(", ")));
        let told: Vec<_> = told.collect();
        if !told.is_empty() {
            finding.detail = told.join("; ");
        }
        finding
    }

    /// With what the server said.
    pub(super) fn seen(mut self, evidence: impl IntoIterator<Item = String>) -> Self {
        self.evidence.extend(evidence);
        self.evidence.truncate(MOST);
        self
    }
}

/// Most lines of evidence.
const MOST: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_counts() {
        let named = |parts: Vec<Finding>| {
            let names = ["a", "b", "c"].map(str::to_owned);
            Finding::worst(names.into_iter().zip(parts))
        };
        let found = named(vec![
            Finding::pass("well"),
            Finding::fail("one").seen(["x".to_owned()]),
            Finding::fail("two").seen(["y".to_owned()]),
        ]);
        assert_eq!(found.verdict, Verdict::Fail);
        assert_eq!(found.detail, "b: one; c: two");
        assert_eq!(found.evidence, ["x", "y"]);
        let found = named(vec![Finding::not_tested("no"), Finding::pass("well")]);
        assert_eq!(
            (found.verdict, found.detail.as_str()),
            (Verdict::Pass, "b: well")
        );
        let found = named(vec![Finding::pass("well"), Finding::pass("well")]);
        assert_eq!(found.detail, "a, b: well");
        assert_eq!(named(vec![]).verdict, Verdict::NotTested);
    }
}
