//! Preview of the next run of the retention.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::schedule::first_run_from;
use super::{Retention, RetentionPatch, RetentionRule, RuleStarts};
use crate::fields::StringEnum;
use crate::organization::Organization;
use crate::params::Params;
use crate::time::Timestamp;

/// Response of `GET /retention/preview`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RetentionPreview {
    /// Time of the next run. Null if no rule has a period.
    pub next_run_at: Option<Timestamp>,
    /// For each rule, the time of the first run that applies it: at least 7 days after its period was last made
    /// shorter.
    pub applies_at: BTreeMap<String, Timestamp>,
    /// Number of resources that the run of `applies_at` would remove, and of people that it would erase, by rule. A
    /// run removes at most 10,000 resources by a rule and erases at most 100 people; if more are due, the next run
    /// follows an hour later. A preview examines at most 50,000 resources by a rule.
    pub counts: BTreeMap<String, u64>,
}

/// Parameters of `GET /retention/preview`: periods to preview instead of the stored periods.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PreviewRequest {
    patch: RetentionPatch,
}

/// Rules to preview, with the times from which they apply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreviewedRules {
    /// Periods of the rules.
    pub retention: Retention,
    /// Time of the next run. `None` if no rule has a period.
    pub next_run_at: Option<Timestamp>,
    starts: RuleStarts,
}

impl PreviewRequest {
    /// Declares and reads the parameters.
    pub fn read(params: &mut Params) -> Self {
        Self { patch: RetentionPatch::read_params(params) }
    }

    /// Returns the rules to preview: the rules of the organization with the periods of the request, as if these
    /// periods were set now.
    #[must_use]
    pub fn rules(&self, organization: &Organization, now: Timestamp) -> PreviewedRules {
        let organization_after = organization.with_retention(&self.patch, now);
        PreviewedRules {
            retention: organization_after.retention,
            next_run_at: organization_after.retention_due_at.map(|due| due.max(now)),
            starts: organization_after.retention_starts,
        }
    }
}

impl PreviewedRules {
    /// Returns each rule with a period, the time of the first run that applies the rule, and the limit of this
    /// run: it removes only what was archived, or who was deactivated, before the limit.
    pub fn scheduled_rules(&self) -> impl Iterator<Item = (RetentionRule, Timestamp, Timestamp)> + '_ {
        RetentionRule::ALL.iter().filter_map(|rule| {
            let run = first_run_from(self.starts.start_of(*rule)?, self.next_run_at?);
            Some((*rule, run, self.retention.period(*rule)?.subtract_from(run)))
        })
    }
}
