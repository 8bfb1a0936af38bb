//! The organization and its settings (decision C10).

use schemars::JsonSchema;
use serde::Serialize;
use strum::{IntoStaticStr, VariantArray};

use crate::access::{AdminContext, Caller, Permission, PermissionError};
use crate::decision::{Decision, Resource, identity};
use crate::event::EventType;
use crate::fields::{Fields, string_enum};
use crate::id::{OrganizationId, OrganizationKind};
use crate::people::{MAX_KEY_CHARS, MAX_VISIBLE_FIELDS};
use crate::retention::{Retention, RetentionPatch, RuleStarts};
use crate::rule::{self, Field, Line, List, Nested, OneOf, Text};
use crate::time::Timestamp;
use crate::update::parse_update;

/// Length of the longest name of an organization, in characters.
pub const NAME_CHARS: usize = 120;

const NAME: Field<Line> = Field::new("name", rule::line(1..=NAME_CHARS));
const OBJECTIVE_REVIEW: Field<OneOf<Review>> = Field::new("objective_review", rule::word());
const SUMMARY_REVIEW: Field<OneOf<Review>> = Field::new("summary_review", rule::word());
const VISIBLE_CUSTOM_FIELDS: Field<List<Text>> = Field::with_about(
    "visible_custom_fields",
    rule::list(MAX_VISIBLE_FIELDS, rule::text(1..=MAX_KEY_CHARS)),
    "Null removes the restriction.",
);
const RETENTION: Field<Nested<RetentionPatch>> = Field::with_about(
    "retention",
    rule::nested(RetentionPatch::read),
    "An omitted member keeps its period, null turns the rule off.",
);

/// The review settings of objectives and summaries (decision C10).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Review {
    /// A review is possible but not needed for approval.
    Optional,
    /// A review is mandatory before approval.
    Required,
    /// The review step is not available.
    Disabled,
}

string_enum!(Review, "ReviewMode");

/// An organization with its settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Organization {
    /// Id of the organization, with the prefix `org_`.
    pub id: OrganizationId,
    /// Name of the organization, for display.
    pub name: String,
    /// Review of objectives before approval.
    pub objective_review: Review,
    /// Review of summaries before approval.
    pub summary_review: Review,
    /// Keys of the custom fields that every key shows, in order. A key bound to a person shows the other fields
    /// only for that person and their reports; keys of the organization and of org admins show all. Null: every
    /// key shows all.
    pub visible_custom_fields: Option<Vec<String>>,
    /// Periods after which archived resources and people who left are removed. Null: they are never removed.
    pub retention: Retention,
    /// Time of creation, which never changes.
    pub created_at: Timestamp,
    /// Time of the last change. It increases with every change.
    pub updated_at: Timestamp,
    /// Time from which each retention rule applies.
    #[serde(skip)]
    pub retention_starts: RuleStarts,
    /// Time of the next retention run. `None` if no rule has a period.
    #[serde(skip)]
    pub retention_due_at: Option<Timestamp>,
}

impl Resource for Organization {
    identity!(OrganizationKind);
}

/// The body of an update, validated on its own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "members of the contract, decision C10")]
pub struct Patch {
    pub name: Option<String>,
    pub objective_review: Option<Review>,
    pub summary_review: Option<Review>,
    pub visible_custom_fields: Option<Option<Vec<String>>>,
    pub retention: Option<RetentionPatch>,
}

impl Patch {
    /// Declares and reads the fields of an update.
    pub fn read(fields: &mut Fields) -> Self {
        Self {
            name: fields.present(&NAME),
            objective_review: fields.present(&OBJECTIVE_REVIEW),
            summary_review: fields.present(&SUMMARY_REVIEW),
            visible_custom_fields: fields.nullable(&VISIBLE_CUSTOM_FIELDS),
            retention: fields.present(&RETENTION).and_then(|read| fields.nested(RETENTION.name, read)),
        }
    }

    /// Requires the rights for the members of the update, in addition to the rights for the operation. The
    /// retention removes data that a caller may not see, so it needs what an erasure needs (decision H5).
    ///
    /// # Errors
    /// [`PermissionError::MissingScope`], [`PermissionError::OrganizationKeyRequired`].
    pub fn authorize(&self, caller: &Caller) -> Result<(), PermissionError> {
        if self.retention.is_none() {
            return Ok(());
        }
        caller.require(Permission::EmployeesErase)?;
        caller.require_admin(AdminContext::Organization)
    }
}

parse_update!(Patch, [&["id", "created_at", "updated_at"]]);

impl Organization {
    /// Creates an organization in which reviews of objectives and summaries are optional, nothing is removed, and no
    /// custom field is visible to every key.
    #[must_use]
    pub fn new(id: OrganizationId, name: String, at: Timestamp) -> Self {
        Self {
            id,
            name,
            objective_review: Review::Optional,
            summary_review: Review::Optional,
            visible_custom_fields: Some(vec![]),
            retention: Retention::default(),
            created_at: at,
            updated_at: at,
            retention_starts: RuleStarts::default(),
            retention_due_at: None,
        }
    }

    /// Updates the settings, or returns `None` if nothing changes.
    #[must_use]
    pub fn update(&self, patch: &Patch, at: Timestamp) -> Option<Decision<Self>> {
        let retention = patch.retention.unwrap_or_default();
        let mut state = self.with_retention(&retention, at);
        if let Some(name) = &patch.name {
            state.name.clone_from(name);
        }
        state.objective_review = patch.objective_review.unwrap_or(self.objective_review);
        state.summary_review = patch.summary_review.unwrap_or(self.summary_review);
        if let Some(field_keys) = &patch.visible_custom_fields {
            state.visible_custom_fields.clone_from(field_keys);
            state.visible_custom_fields.iter_mut().for_each(|keys| keys.sort());
        }
        if state == *self {
            return None;
        }
        state.updated_at = at.strictly_after(self.updated_at);
        Some(Decision::for_change(self, state, "organization.update", vec![EventType::OrganizationUpdated]))
    }

    /// Returns `true` if every key shows the custom field with this key of all people.
    #[must_use]
    pub fn shows_custom_field(&self, key: &str) -> bool {
        self.visible_custom_fields.as_ref().is_none_or(|listed| listed.iter().any(|shown| shown == key))
    }

    /// Returns the organization with new periods. A rule whose period was set or made shorter applies 7 days
    /// later. The first run is due when the first rule applies.
    #[must_use]
    pub fn with_retention(&self, patch: &RetentionPatch, at: Timestamp) -> Self {
        let retention = self.retention.apply_patch(patch);
        let starts = self.retention_starts.update_for(&self.retention, &retention, at);
        let first = starts.first();
        let due = self.retention_due_at.or(first).filter(|_| !retention.is_off());
        Self { retention, retention_starts: starts, retention_due_at: due, ..self.clone() }
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
        Patch::parse(body).finish(&organization()).map_err(|problems| {
            problems.as_slice().iter().map(|problem| (problem.field.clone(), problem.code)).collect()
        })
    }

    #[test]
    fn wrong_field_of_an_update_is_reported_by_name() {
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
    fn update_lists_changed_members_and_an_equal_one_is_none() {
        let body = r#"{"name":"Acme Ltd","objective_review":"required","summary_review":"disabled"}"#;
        let change = patch(body).unwrap();
        let decision = organization().update(&change, AT).unwrap();
        let changed_members: Vec<_> = decision.audit.changes.keys().collect();
        assert_eq!(changed_members, ["name", "objective_review", "summary_review"]);
        assert_eq!(
            (decision.events.as_slice(), decision.audit.action),
            (&[EventType::OrganizationUpdated][..], "organization.update")
        );
        assert!(decision.state.updated_at > AT, "also within one millisecond");
        assert_eq!(decision.state.update(&change, AT), None);
    }
}
