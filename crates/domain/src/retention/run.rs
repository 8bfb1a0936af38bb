//! Runs of the retention and their receipts.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use strum::{IntoStaticStr, VariantArray};

use super::{Retention, RetentionRule, RuleStarts};
use crate::decision::{Decision, Resource};
use crate::erasure::{INDEX_SECONDS, OUT_OF_REACH};
use crate::event::EventType;
use crate::fields::{StringEnum, string_enum};
use crate::id::{OrganizationId, RetentionRunId, RetentionRunKind};
use crate::page::{Key, SortBy, SortKey, Sortable};
use crate::params::{ListRequest, Params};
use crate::time::Timestamp;
use crate::ulid::Ulid;

/// Number of random bits of a ULID.
const RANDOM_BITS: u32 = 80;

/// Status of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum RunStatus {
    /// The service is removing the data.
    Running,
    /// The data was removed.
    Completed,
}

string_enum!(RunStatus, "RetentionRunStatus");

/// A retention run with its receipt, without personal data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RetentionRun {
    /// Id of the run, with the prefix `ret_`.
    pub id: RetentionRunId,
    /// Status of the run.
    pub status: RunStatus,
    /// Beginning of the run.
    pub started_at: Timestamp,
    /// Time at which the last data was removed. Null while the run is running.
    pub completed_at: Option<Timestamp>,
    /// Periods of the rules that applied at the beginning of the run. Null for all other rules.
    pub applied: Retention,
    /// Number of removed resources by rule; for `deactivated_people` the number of erasures that the run began.
    pub counts: BTreeMap<String, u64>,
    /// Copies outside the service; the controller must remove the data there.
    pub out_of_reach: Vec<String>,
    /// Tables whose files may hold removed rows until they are rewritten. Empty for SQLite.
    pub tables_to_rewrite: Vec<String>,
    /// Time from which the search index has no words of the removed resources. `None` until then.
    #[serde(skip)]
    pub index_clean_at: Option<Timestamp>,
}

/// The data of the event `retention.removed`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RetentionRemoval {
    /// Id of the run, with the prefix `ret_`.
    pub id: RetentionRunId,
    /// Plural name of the resource, as in exports, such as `employee_objectives`.
    pub resource: String,
    /// Ids of the removed resources, at most 100. The messages of a conversation are removed with it.
    pub ids: Vec<String>,
}

impl Resource for RetentionRun {
    type Kind = RetentionRunKind;

    fn id(&self) -> RetentionRunId {
        self.id
    }

    fn updated_at(&self) -> Timestamp {
        self.completed_at.unwrap_or(self.started_at)
    }
}

impl Sortable for RetentionRun {
    const ORDERS_NAME: &'static str = "RetentionRunSort";
    const ORDERS: &'static [SortKey<Self>] =
        &[SortKey::descending_by(SortBy::StartedAt, |run| Key::Time(run.started_at))];
}

/// Conditions of the list of runs: there are none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Filter;

impl Filter {
    /// Declares and reads the parameters of `GET /retention/runs`.
    pub fn read(params: &mut Params) -> ListRequest<Self, ()> {
        params.list::<RetentionRun, _, _>("retention_runs", Self, vec![])
    }
}

impl RetentionRun {
    /// Returns the id of the run of an organization that is due at `due`. All workers derive the same id, so that
    /// one run continues after a crash.
    #[must_use]
    pub fn id_of(organization: OrganizationId, due: Timestamp) -> RetentionRunId {
        let random = organization.ulid().0 & ((1 << RANDOM_BITS) - 1);
        let millis = u128::from(due.millis().unsigned_abs());
        RetentionRunId::from_ulid(Ulid(millis << RANDOM_BITS | random))
    }

    /// Begins a run that applies the rules which have started.
    pub fn begin(
        id: RetentionRunId,
        retention: &Retention,
        starts: &RuleStarts,
        tables_to_rewrite: Vec<String>,
        at: Timestamp,
    ) -> Decision<Self> {
        let application = |rule| retention.effective_period(rule, starts, at);
        let state = Self {
            id,
            status: RunStatus::Running,
            started_at: at,
            completed_at: None,
            applied: Retention {
                archived_observations: application(RetentionRule::ArchivedObservations),
                archived_objectives: application(RetentionRule::ArchivedObjectives),
                archived_summaries: application(RetentionRule::ArchivedSummaries),
                archived_conversations: application(RetentionRule::ArchivedConversations),
                deactivated_people: application(RetentionRule::DeactivatedPeople),
            },
            counts: BTreeMap::new(),
            out_of_reach: OUT_OF_REACH.map(str::to_owned).to_vec(),
            tables_to_rewrite,
            index_clean_at: None,
        };
        Decision::for_creation(state, "retention.begin", vec![])
    }

    /// Counts resources that a rule removed. The event `retention.removed` names them.
    pub fn remove(&self, rule: RetentionRule, count: u64) -> Decision<Self> {
        let events = vec![EventType::RetentionRemoved];
        Decision::for_change(self, self.add_count(rule, count), "retention.remove", events)
    }

    /// Counts the erasure of a person that the run began. The event `employee.erased` names the person.
    pub fn erase(&self) -> Decision<Self> {
        Decision::for_change(self, self.add_count(RetentionRule::DeactivatedPeople, 1), "retention.erase", vec![])
    }

    fn add_count(&self, rule: RetentionRule, count: u64) -> Self {
        let mut state = Self { index_clean_at: None, ..self.clone() };
        *state.counts.entry(rule.word().to_owned()).or_default() += count;
        state
    }

    /// Returns the number of resources that a rule has removed.
    #[must_use]
    pub fn removed_count(&self, rule: RetentionRule) -> u64 {
        self.counts.get(rule.word()).copied().unwrap_or_default()
    }

    /// Returns `true` if the run has removed the maximum by a rule.
    #[must_use]
    pub fn is_full(&self, rule: RetentionRule) -> bool {
        self.removed_count(rule) >= rule.max_per_run()
    }

    /// Returns `true` if the run ended at the maximum of a rule, so that more may be due.
    #[must_use]
    pub fn has_more(&self) -> bool {
        RetentionRule::ALL.iter().any(|rule| self.is_full(*rule))
    }

    /// Returns `true` if no search reads replaced parts of the index any more.
    #[must_use]
    pub fn may_complete(&self, now: Timestamp) -> bool {
        self.index_clean_at.is_some_and(|at| now >= at.plus_seconds(INDEX_SECONDS))
    }

    /// Completes the run. The event `retention.completed` follows only a run that removed something.
    pub fn complete(&self, at: Timestamp) -> Decision<Self> {
        let state = Self { status: RunStatus::Completed, completed_at: Some(at), ..self.clone() };
        let events = if self.counts.is_empty() { vec![] } else { vec![EventType::RetentionCompleted] };
        Decision::for_change(self, state, "retention.complete", events)
    }
}
