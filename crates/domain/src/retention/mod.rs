//! Retention: rules of an organization that remove archived resources and people who left (decision H5).

mod period;
mod preview;
mod retained;
mod run;
mod schedule;

pub use period::{PATTERN, Period, PeriodError};
pub use preview::{PreviewRequest, PreviewedRules, RetentionPreview};
pub use retained::Retained;
pub use run::{Filter, RetentionRemoval, RetentionRun, RunStatus};
pub use schedule::{RuleStarts, next_run};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::{IntoStaticStr, VariantArray};

use crate::fields::{Fields, string_enum};
use crate::params::{Param, Params, ValueForm, param};
use crate::rule::{Checked, Field};

/// A rule of the retention: the kind of data that it removes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum RetentionRule {
    // Summaries precede the resources that they include.
    /// Summaries that were archived longer ago than the period.
    ArchivedSummaries,
    /// Observations that were archived longer ago than the period.
    ArchivedObservations,
    /// Objectives that were archived longer ago than the period.
    ArchivedObjectives,
    /// Conversations that were archived longer ago than the period, with their messages.
    ArchivedConversations,
    /// People who were deactivated longer ago than the period. They are erased.
    DeactivatedPeople,
}

string_enum!(RetentionRule, "RetentionRule");

/// The periods of the retention rules. A rule without a period removes nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Retention {
    /// Period after which archived observations are removed, such as `P3Y`.
    pub archived_observations: Option<Period>,
    /// Period after which archived objectives are removed.
    pub archived_objectives: Option<Period>,
    /// Period after which archived summaries are removed.
    pub archived_summaries: Option<Period>,
    /// Period after which archived conversations are removed, with their messages.
    pub archived_conversations: Option<Period>,
    /// Period after which deactivated people are erased.
    pub deactivated_people: Option<Period>,
}

impl Retention {
    /// Returns the period of a rule.
    #[must_use]
    pub const fn period(&self, rule: RetentionRule) -> Option<Period> {
        match rule {
            RetentionRule::ArchivedObservations => self.archived_observations,
            RetentionRule::ArchivedObjectives => self.archived_objectives,
            RetentionRule::ArchivedSummaries => self.archived_summaries,
            RetentionRule::ArchivedConversations => self.archived_conversations,
            RetentionRule::DeactivatedPeople => self.deactivated_people,
        }
    }

    /// Returns `true` if no rule has a period.
    #[must_use]
    pub fn is_off(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the periods after an update.
    #[must_use]
    pub fn apply_patch(&self, patch: &RetentionPatch) -> Self {
        Self {
            archived_observations: patch.archived_observations.unwrap_or(self.archived_observations),
            archived_objectives: patch.archived_objectives.unwrap_or(self.archived_objectives),
            archived_summaries: patch.archived_summaries.unwrap_or(self.archived_summaries),
            archived_conversations: patch.archived_conversations.unwrap_or(self.archived_conversations),
            deactivated_people: patch.deactivated_people.unwrap_or(self.deactivated_people),
        }
    }
}

/// New periods of rules. `Some(None)` switches a rule off, `None` keeps its period.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "members of the contract, decision H5")]
pub struct RetentionPatch {
    pub archived_observations: Option<Option<Period>>,
    pub archived_objectives: Option<Option<Period>>,
    pub archived_summaries: Option<Option<Period>>,
    pub archived_conversations: Option<Option<Period>>,
    pub deactivated_people: Option<Option<Period>>,
}

const OBSERVATIONS: Field<Checked<Period>> = Field::new("archived_observations", period::period());
const OBJECTIVES: Field<Checked<Period>> = Field::new("archived_objectives", period::period());
const SUMMARIES: Field<Checked<Period>> = Field::new("archived_summaries", period::period());
const CONVERSATIONS: Field<Checked<Period>> = Field::new("archived_conversations", period::period());
const PEOPLE: Field<Checked<Period>> = Field::new("deactivated_people", period::period());

/// Declares the parameter that replaces the period of a rule in a preview.
const fn preview_param(name: &'static str) -> Param<Period> {
    let about = "Period of this rule to preview instead of the stored one, such as `P3Y`.";
    param(name, about, ValueForm::Period, period::parse)
}

impl RetentionPatch {
    /// Declares and reads the members of `retention` in an update of the organization.
    pub fn read(fields: &mut Fields) -> Option<Self> {
        Some(Self {
            archived_observations: fields.nullable(&OBSERVATIONS),
            archived_objectives: fields.nullable(&OBJECTIVES),
            archived_summaries: fields.nullable(&SUMMARIES),
            archived_conversations: fields.nullable(&CONVERSATIONS),
            deactivated_people: fields.nullable(&PEOPLE),
        })
    }

    /// Declares and reads the parameters of `GET /retention/preview`.
    pub fn read_params(params: &mut Params) -> Self {
        let mut read_period = |name| params.one(&preview_param(name)).map(Some);
        Self {
            archived_observations: read_period("archived_observations"),
            archived_objectives: read_period("archived_objectives"),
            archived_summaries: read_period("archived_summaries"),
            archived_conversations: read_period("archived_conversations"),
            deactivated_people: read_period("deactivated_people"),
        }
    }
}

#[cfg(test)]
mod tests;
