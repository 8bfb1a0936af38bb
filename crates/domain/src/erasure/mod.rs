//! Erasure of the data about a person, which leaves the id and a pseudonym (decision H4).

mod mailbox;
mod mention;
mod pseudonym;
pub mod texts;

pub use mention::{Mentions, RemovedIds, erased_event_data};
pub use pseudonym::{ERASED_BODY, FORMER_FIRST_NAME, FORMER_LAST_NAME, former_name};

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use strum::{IntoStaticStr, VariantArray};

use crate::decision::{Decision, Resource};
use crate::event::EventType;
use crate::fields::{Fields, string_enum};
use crate::id::{EmployeeId, ErasureId, ErasureKind, KeyId, RetentionRunId};
use crate::page::{Key, SortBy, SortKey, Sortable};
use crate::params::{ListRequest, Params};
use crate::rule::{self, Field, Text};
use crate::time::Timestamp;
use crate::update::parse_new;

/// Length of the longest reason, in characters.
const REASON_CHARS: usize = 2000;
const REASON: Field<Text> = Field::with_about(
    "reason",
    rule::text(0..=REASON_CHARS),
    "Reason for the erasure, kept in the audit log only. Do not name people in it.",
);

/// Seconds for which a running search may still read a part of the index after its replacement.
pub const INDEX_SECONDS: i64 = 10;

/// Seconds after which an erasure looks again for rows that a legal hold kept.
const HOLD_SECONDS: i64 = 24 * 3600;

/// Copies of the data that an erasure does not reach.
pub const OUT_OF_REACH: [&str; 4] = ["backups", "webhook_receivers", "exports", "replicas_of_clients"];

/// Status of an erasure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum ErasureStatus {
    /// The service is removing the data.
    Running,
    /// The data of the person was removed.
    Completed,
}

string_enum!(ErasureStatus, "ErasureStatus");

/// The API key that requested an erasure, or the retention run that began it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline, title = "ErasureRequester")]
pub struct Requester {
    /// Kind of the requester: `api_key` or `retention_run`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Id of the requester.
    pub id: String,
}

impl Requester {
    /// Creates the requester for the API key of a request.
    #[must_use]
    pub fn key(id: KeyId) -> Self {
        Self { kind: "api_key".to_owned(), id: id.to_string() }
    }

    /// Creates the requester for a retention run.
    #[must_use]
    pub fn run(id: RetentionRunId) -> Self {
        Self { kind: "retention_run".to_owned(), id: id.to_string() }
    }

    /// Returns the requester with this id; `None` if it is not the id of a key or of a run.
    #[must_use]
    pub fn with_id(id: &str) -> Option<Self> {
        id.parse().map(Self::key).or_else(|_| id.parse().map(Self::run)).ok()
    }
}

/// An erasure with its receipt, without personal data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Erasure {
    /// Id of the erasure, with the prefix `era_`.
    pub id: ErasureId,
    /// Id of the erased person, which stays.
    pub employee_id: EmployeeId,
    /// Status of the erasure.
    pub status: ErasureStatus,
    /// Time of the request.
    pub requested_at: Timestamp,
    /// Time at which the last data was removed. Null while the erasure is running.
    pub completed_at: Option<Timestamp>,
    /// The API key that requested the erasure, or the retention run that began it.
    pub requested_by: Requester,
    /// Number of removed or overwritten rows by kind. While the erasure is running, the number of rows found at
    /// its beginning.
    pub counts: BTreeMap<String, u64>,
    /// Number of resources and conversations that stay because a legal hold protects another person in them. The messages
    /// of such a conversation stay with it. The erasure removes them within a day after the hold, and is running until then.
    pub kept_by_hold: u32,
    /// Copies outside the service; the controller must erase them.
    pub out_of_reach: Vec<String>,
    /// Tables whose files may hold removed rows until they are rewritten. Empty for SQLite.
    pub tables_to_rewrite: Vec<String>,
    /// The encrypted e-mail address of the person and their names in other systems, to find them in replays. Null once
    /// completed, or after the loss of its key.
    #[serde(skip)]
    pub sealed_email: Option<Vec<u8>>,
    /// Time since which no current part of the search index has words of the person. `None` before.
    #[serde(skip)]
    pub index_clean_at: Option<Timestamp>,
    /// Time at which the erasure looks again for rows that a legal hold kept. `None` if it kept none.
    #[serde(skip)]
    pub resumes_at: Option<Timestamp>,
}

impl Resource for Erasure {
    type Kind = ErasureKind;

    fn id(&self) -> ErasureId {
        self.id
    }

    fn updated_at(&self) -> Timestamp {
        self.completed_at.unwrap_or(self.requested_at)
    }

    /// Returns the number of kept rows, which changes without a new version.
    fn mark(&self) -> u64 {
        self.kept_by_hold.into()
    }
}

impl Sortable for Erasure {
    const ORDERS_NAME: &'static str = "ErasureSort";
    const ORDERS: &'static [SortKey<Self>] =
        &[SortKey::descending_by(SortBy::RequestedAt, |erasure| Key::Time(erasure.requested_at))];
}

/// The body of a request for an erasure.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "fields of the contract, decision H4")]
pub struct ErasureDraft {
    pub reason: Option<String>,
}

impl ErasureDraft {
    /// Declares and reads the fields of the body.
    pub fn read(fields: &mut Fields) -> Option<Self> {
        Some(Self { reason: fields.optional(&REASON) })
    }
}

parse_new!(ErasureDraft, &[]);

/// Conditions of the list of erasures: there are none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Filter;

impl Filter {
    /// Declares and reads the parameters of `GET /erasures`.
    pub fn read(params: &mut Params) -> ListRequest<Self, ()> {
        params.list::<Erasure, _, _>("erasures", Self, vec![])
    }
}

/// The facts that a new erasure records.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "fields of an erasure")]
pub struct ErasurePlan {
    pub employee_id: EmployeeId,
    pub requested_by: Requester,
    pub counts: BTreeMap<String, u64>,
    pub tables_to_rewrite: Vec<String>,
    pub sealed_email: Vec<u8>,
}

impl Erasure {
    /// Creates a running erasure from its plan.
    #[must_use]
    pub fn begin(id: ErasureId, plan: ErasurePlan, at: Timestamp) -> Self {
        Self {
            id,
            employee_id: plan.employee_id,
            status: ErasureStatus::Running,
            requested_at: at,
            completed_at: None,
            requested_by: plan.requested_by,
            counts: plan.counts,
            kept_by_hold: 0,
            out_of_reach: OUT_OF_REACH.map(str::to_owned).to_vec(),
            tables_to_rewrite: plan.tables_to_rewrite,
            sealed_email: Some(plan.sealed_email),
            index_clean_at: None,
            resumes_at: None,
        }
    }

    /// Returns the time from which the erasure is continued. `None` once it is completed.
    #[must_use]
    pub fn continues_at(&self) -> Option<Timestamp> {
        self.completed_at.is_none().then(|| self.resumes_at.unwrap_or(self.requested_at))
    }

    /// Postpones the rest of the erasure by a day, because legal holds keep `kept` rows.
    #[must_use]
    pub fn wait_for_holds(&self, kept: u32, at: Timestamp) -> Self {
        Self { kept_by_hold: kept, resumes_at: Some(at.plus_seconds(HOLD_SECONDS)), ..self.clone() }
    }

    /// Returns `true` if fewer rows are kept than before: a hold has ended, and the rows that only this hold kept
    /// were removed. Clients with a copy of the data learn of the removal by one more event `employee.erased`.
    #[must_use]
    pub const fn has_removed_kept(&self, kept: u32) -> bool {
        kept < self.kept_by_hold
    }

    /// Records that some legal holds have ended, and postpones the removal of the `kept` rows that other holds
    /// still keep.
    pub fn continue_after_hold(&self, kept: u32, at: Timestamp) -> Decision<Self> {
        Decision::for_change(self, self.wait_for_holds(kept, at), "erasure.continue", vec![])
    }

    /// Replaces the encrypted names by the same names under another key; `None` if no key opens them any more. Without
    /// them, the erasure goes on and searches for the removed resources alone.
    pub fn with_resealed_names(&self, sealed: Option<Vec<u8>>) -> Decision<Self> {
        let state = Self { sealed_email: sealed, ..self.clone() };
        Decision::for_change(self, state, "erasure.rekey", vec![])
    }

    /// Returns the time up to which equal addresses and names in rows certainly belong to the person; `None` if they
    /// do in all rows. An erasure that waits for a hold has already removed all rows with these addresses and names in
    /// complete scans. Since then, another person may have got the address, the user name or the external id.
    #[must_use]
    pub fn names_end_at(&self) -> Option<Timestamp> {
        self.resumes_at.map(|_| self.requested_at)
    }

    /// Records that the current search index holds no words of the person.
    #[must_use]
    pub fn with_clean_index(&self, at: Timestamp) -> Self {
        Self { index_clean_at: Some(at), ..self.clone() }
    }

    /// Returns `true` if no search reads replaced parts of the index any more.
    #[must_use]
    pub fn may_complete(&self, now: Timestamp) -> bool {
        self.index_clean_at.is_some_and(|at| now >= at.plus_seconds(INDEX_SECONDS))
    }

    /// Completes the erasure with the number of rows of each kind.
    pub fn complete(&self, counts: BTreeMap<String, u64>, at: Timestamp) -> Decision<Self> {
        let state = Self {
            status: ErasureStatus::Completed,
            completed_at: Some(at),
            counts,
            kept_by_hold: 0,
            sealed_email: None,
            ..self.clone()
        };
        Decision::for_creation(state, "erasure.complete", vec![EventType::ErasureCompleted])
    }
}

#[cfg(test)]
mod tests;
