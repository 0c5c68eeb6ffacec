//! Questions a server may put to a client.

use antiphon_types::{
    ClientCapabilities, ElicitRequestParams, ElicitationCapability, InputRequest, RootsCapability,
    SamplingCapability,
};

/// What is asked for. Each kind is a capability of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// A form for the user to fill in.
    Form,
    /// A link for the user to open.
    Url,
    /// A completion of the client's model.
    Sample,
    /// A completion of the client's model, which may call tools on the way.
    SampleWithTools,
    /// The workspace roots.
    Roots,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 5] = [
        Self::Form,
        Self::Url,
        Self::Sample,
        Self::SampleWithTools,
        Self::Roots,
    ];

    /// The kind of a question; `None` for a method that is not known here.
    pub fn of(request: &InputRequest) -> Option<Self> {
        match request {
            InputRequest::Elicit(ElicitRequestParams::Form(_)) => Some(Self::Form),
            InputRequest::Elicit(ElicitRequestParams::Url(_)) => Some(Self::Url),
            InputRequest::Sample(sample) => Some(
                // MRTR-C-17
                match sample.tools.is_some() || sample.tool_choice.is_some() {
                    true => Self::SampleWithTools,
                    false => Self::Sample,
                },
            ),
            InputRequest::Roots(_) => Some(Self::Roots),
            _ => None,
        }
    }

    /// Declares that questions of this kind can be answered.
    pub fn declare(self, capabilities: &mut ClientCapabilities) {
        match self {
            Self::Form => drop(elicitation(capabilities).form.get_or_insert_default()),
            Self::Url => drop(elicitation(capabilities).url.get_or_insert_default()),
            Self::Sample => drop(sampling(capabilities)),
            Self::SampleWithTools => drop(sampling(capabilities).tools.get_or_insert_default()),
            Self::Roots => drop(capabilities.roots.get_or_insert_with(RootsCapability::new)),
        }
    }

    /// Whether these capabilities cover the kind.
    pub fn is_declared(self, capabilities: &ClientCapabilities) -> bool {
        let elicitation = capabilities.elicitation.as_ref();
        let sampling = capabilities.sampling.as_ref();
        match self {
            Self::Form => elicitation.is_some_and(ElicitationCapability::has_form),
            Self::Url => elicitation.is_some_and(ElicitationCapability::has_url),
            Self::Sample => sampling.is_some(),
            Self::SampleWithTools => sampling.is_some_and(|sampling| sampling.tools.is_some()),
            Self::Roots => capabilities.roots.is_some(),
        }
    }

    /// What a client that cannot answer says.
    pub fn not_supported(self) -> &'static str {
        match self {
            Self::Form | Self::Url => "Elicitation not supported",
            Self::Sample | Self::SampleWithTools => "Sampling not supported",
            Self::Roots => "Roots not supported",
        }
    }
}

fn elicitation(capabilities: &mut ClientCapabilities) -> &mut ElicitationCapability {
    capabilities.elicitation.get_or_insert_default()
}

fn sampling(capabilities: &mut ClientCapabilities) -> &mut SamplingCapability {
    capabilities.sampling.get_or_insert_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use antiphon_types::{CreateMessageRequestParams, FormSchema, ToolChoice};
    use serde_json::{json, to_value};

    #[test]
    fn each_kind_declares_itself_and_no_more() {
        for (kind, wire) in [
            (Kind::Form, json!({"elicitation": {"form": {}}})),
            (Kind::Url, json!({"elicitation": {"url": {}}})),
            (Kind::Sample, json!({"sampling": {}})),
            (Kind::SampleWithTools, json!({"sampling": {"tools": {}}})),
            (Kind::Roots, json!({"roots": {}})),
        ] {
            let mut capabilities = ClientCapabilities::new();
            kind.declare(&mut capabilities);
            assert_eq!(to_value(&capabilities).expect("JSON"), wire);
            let covered: Vec<_> = Kind::ALL
                .into_iter()
                .filter(|other| other.is_declared(&capabilities))
                .collect();
            let expected = match kind {
                Kind::SampleWithTools => vec![Kind::Sample, kind],
                _ => vec![kind],
            };
            assert_eq!(covered, expected);
        }
    }

    /// ELIC-B-01
    #[test]
    fn elicitation_without_a_mode_means_forms() {
        let capabilities = ClientCapabilities::new().elicitation(ElicitationCapability::new());
        assert!(Kind::Form.is_declared(&capabilities));
        assert!(!Kind::Url.is_declared(&capabilities));
    }

    /// SAMP-C-03: tools and the choice among them both need the capability.
    #[test]
    fn sampling_with_tools_is_a_kind_of_its_own() {
        let plain = CreateMessageRequestParams::user("x", 1);
        let choosing = plain.clone().tool_choice(ToolChoice::none());
        assert_eq!(Kind::of(&plain.clone().into()), Some(Kind::Sample));
        assert_eq!(
            Kind::of(&plain.tools(Vec::new()).into()),
            Some(Kind::SampleWithTools)
        );
        assert_eq!(Kind::of(&choosing.into()), Some(Kind::SampleWithTools));
        let form = ElicitRequestParams::form("m", FormSchema::new());
        assert_eq!(Kind::of(&form.into()), Some(Kind::Form));
        let other = InputRequest::Other {
            method: "x".into(),
            params: None,
        };
        assert_eq!(Kind::of(&other), None);
    }
}
