//! Attributes of a new organization.

use super::Tone;
use super::attribute::Draft;

const STARTER: &[(&str, &str, Tone)] = &[
    ("Clear communication", "Communication", Tone::Positive),
    ("Active listening", "Communication", Tone::Positive),
    ("Written clarity", "Communication", Tone::Neutral),
    ("Candid feedback", "Communication", Tone::Neutral),
    ("Teamwork", "Collaboration", Tone::Positive),
    ("Shares knowledge", "Collaboration", Tone::Positive),
    ("Resolves conflict", "Collaboration", Tone::Neutral),
    ("Inclusiveness", "Collaboration", Tone::Positive),
    ("Ownership", "Execution", Tone::Positive),
    ("Reliability", "Execution", Tone::Positive),
    ("Prioritization", "Execution", Tone::Neutral),
    ("Attention to detail", "Execution", Tone::Neutral),
    ("Meets deadlines", "Execution", Tone::Neutral),
    ("Mentoring", "Leadership", Tone::Positive),
    ("Delegation", "Leadership", Tone::Neutral),
    ("Decision making", "Leadership", Tone::Neutral),
    ("Technical depth", "Craft", Tone::Positive),
    ("Problem solving", "Craft", Tone::Positive),
    ("Learning", "Growth", Tone::Positive),
    ("Adaptability", "Growth", Tone::Neutral),
    ("Needs more support", "Growth", Tone::Constructive),
];

/// Returns the attributes that a new organization starts with (decisions G).
#[must_use]
pub fn starter_set() -> Vec<Draft> {
    let draft = |(name, category, tone): &(&str, &str, Tone)| Draft {
        name: (*name).to_owned(),
        category: (*category).to_owned(),
        tone: *tone,
    };
    STARTER.iter().map(draft).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::name_key;
    use std::collections::BTreeSet;

    #[test]
    fn starter_attributes_have_distinct_names() {
        let names: BTreeSet<_> = starter_set().iter().map(|draft| name_key(&draft.name)).collect();
        assert_eq!(names.len(), starter_set().len());
    }
}
