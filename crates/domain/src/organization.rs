//! The organization and its settings (decision C10).

use serde::Serialize;
use strum::{IntoStaticStr, VariantArray};

use crate::decision::{Decision, Resource};
use crate::fields::{Fields, Word, as_word};
use crate::id::{OrganizationId, OrganizationKind};
use crate::json::Object;
use crate::problem::Problems;
use crate::rule::{self, Field, Line, OneOf};
use crate::time::Timestamp;

/// The longest name of an organization.
pub const NAME_CHARS: usize = 120;

const NAME: Field<Line> = Field::new("name", rule::line(1..=NAME_CHARS), "The organization's name.");
const OBJECTIVE_REVIEW: Field<OneOf<Review>> =
    Field::new("objective_review", rule::word(), "Review of objectives before approval.");
const SUMMARY_REVIEW: Field<OneOf<Review>> =
    Field::new("summary_review", rule::word(), "Review of summaries before approval.");

/// How far a review is part of the work (decision C10).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Review {
    /// Possible, not demanded.
    Optional,
    /// Nothing is approved without it.
    Required,
    /// Not used.
    Disabled,
}

impl Word for Review {
    const NAME: &'static str = "ReviewMode";
}

/// The owner of a data set, with its settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Organization {
    /// Its id.
    pub id: OrganizationId,
    /// Its name.
    pub name: String,
    /// The review of objectives.
    #[serde(serialize_with = "as_word")]
    pub objective_review: Review,
    /// The review of summaries.
    #[serde(serialize_with = "as_word")]
    pub summary_review: Review,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

impl Resource for Organization {
    type Kind = OrganizationKind;
    const NAME: &'static str = "organization";

    fn id(&self) -> OrganizationId {
        self.id
    }

    fn updated_at(&self) -> Timestamp {
        self.updated_at
    }
}

/// The body of an update, valid in itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Patch {
    /// Its name.
    pub name: Option<String>,
    /// The review of objectives.
    pub objective_review: Option<Review>,
    /// The review of summaries.
    pub summary_review: Option<Review>,
}

impl Patch {
    /// The fields of an update.
    pub fn read(fields: &mut Fields) -> Self {
        Self {
            name: fields.present(&NAME),
            objective_review: fields.present(&OBJECTIVE_REVIEW),
            summary_review: fields.present(&SUMMARY_REVIEW),
        }
    }

    /// Reads the body of an update of `stored`.
    ///
    /// # Errors
    /// Every field that is wrong, or that cannot be changed.
    pub fn parse(body: Object, stored: &Organization) -> Result<Self, Problems> {
        Fields::of_update(body, &[&["id", "created_at", "updated_at"]], stored, Self::read)
    }
}

impl Organization {
    /// A new organization; a review is possible and not demanded.
    #[must_use]
    pub const fn new(id: OrganizationId, name: String, at: Timestamp) -> Self {
        Self {
            id,
            name,
            objective_review: Review::Optional,
            summary_review: Review::Optional,
            created_at: at,
            updated_at: at,
        }
    }

    /// Updates the settings; `None` if that changes nothing.
    #[must_use]
    pub fn update(&self, patch: &Patch, at: Timestamp) -> Option<Decision<Self>> {
        let mut state = self.clone();
        if let Some(it) = &patch.name {
            state.name.clone_from(it);
        }
        state.objective_review = patch.objective_review.unwrap_or(self.objective_review);
        state.summary_review = patch.summary_review.unwrap_or(self.summary_review);
        if state == *self {
            return None;
        }
        state.updated_at = at.strictly_after(self.updated_at);
        Some(Decision::changed(self, state, "organization.update", vec![]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Value;
    use crate::problem::Code;
    use ulid::Ulid;

    const AT: Timestamp = Timestamp::from_millis(1_000);

    fn organization() -> Organization {
        Organization::new(OrganizationId::from_ulid(Ulid(1)), "Acme".to_owned(), AT)
    }

    fn patch(body: &str) -> Result<Patch, Vec<(String, Code)>> {
        let Ok(Value::Object(body)) = serde_json::from_str(body) else { panic!("{body}") };
        Patch::parse(body, &organization())
            .map_err(|it| it.as_slice().iter().map(|it| (it.field.clone(), it.code)).collect())
    }

    #[test]
    fn each_bad_field_of_a_change_is_named() {
        assert!(patch(&format!(r#"{{"name":"{}"}}"#, "é".repeat(NAME_CHARS))).is_ok());
        let table = [
            (format!(r#"{{"name":"{}"}}"#, "é".repeat(NAME_CHARS + 1)), "name", Code::TooLong),
            (r#"{"name":""}"#.to_owned(), "name", Code::TooShort),
            (r#"{"name":null}"#.to_owned(), "name", Code::Required),
            (r#"{"name":1}"#.to_owned(), "name", Code::InvalidFormat),
            (r#"{"objective_review":"never"}"#.to_owned(), "objective_review", Code::InvalidEnum),
            (r#"{"objective_review":null}"#.to_owned(), "objective_review", Code::Required),
            (r#"{"summary_review":true}"#.to_owned(), "summary_review", Code::InvalidFormat),
            (r#"{"id":"org_2"}"#.to_owned(), "id", Code::ReadOnly),
            (r#"{"plan":"free"}"#.to_owned(), "plan", Code::UnknownField),
        ];
        for (body, field, code) in table {
            assert_eq!(patch(&body).unwrap_err(), [(field.to_owned(), code)], "{body:.60}");
        }
    }

    #[test]
    fn a_change_says_what_it_changed_and_an_equal_one_is_none() {
        let body = r#"{"name":"Acme Ltd","objective_review":"required","summary_review":"disabled"}"#;
        let change = patch(body).unwrap();
        let decision = organization().update(&change, AT).unwrap();
        let changed: Vec<_> = decision.audit.changes.keys().collect();
        assert_eq!(changed, ["name", "objective_review", "summary_review"]);
        assert_eq!((decision.events.len(), decision.audit.action), (0, "organization.update"));
        assert!(decision.state.updated_at > AT, "also within one millisecond");
        assert_eq!(decision.state.update(&change, AT), None);
    }
}
