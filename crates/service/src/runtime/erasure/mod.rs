//! Removes the data about erased people, in pieces that any worker continues after a crash (decision H4).
//!
//! The order of the stages matters. The resources are removed first, and their ids are recorded. The later scans
//! find copies of their texts by these ids. Once a resource is removed, no new copy of its texts can be made.

mod rows;
mod scans;

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use candor_domain::access::Tenant;
use candor_domain::erasure::{Erasure, Mentions};
use candor_domain::event::{Event, EventType};
use candor_domain::id::{EmployeeId, OrganizationId};
use candor_domain::people::Employee;
use candor_domain::time::Timestamp;
use candor_port_storage::erasing::{ErasedRow, ErasureChange};
use candor_port_storage::{StorageExt, Versioned};
use candor_tables::flat::{Column, SqlValue, Stored, Type};
use candor_tables::read::ID;
use candor_tables::rows::erasures::RUNNING;

use crate::context::erasing;
use crate::context::error::Error;
use crate::context::services::{Services, render};
use crate::runtime::removal::{Removal, finish_files};
use crate::runtime::search_index;

/// Maximum number of erasures that one run continues.
const MOST: u16 = 100;
/// Working time of a run for the erasures of one organization. After this time, the erasures of other organizations
/// come first.
const SHARE: Duration = Duration::from_secs(5);
/// Maximum number of rows of a piece: few, so that other writers do not wait long.
const PIECE: u16 = 100;
/// Name of this actor in the audit log.
const ERASER: &str = "erasure";

/// An erasure in progress.
struct Job<'a> {
    services: &'a Services,
    tenant: Tenant,
    erasure: &'a Erasure,
    person: EmployeeId,
    goes_on: &'a (dyn Fn() -> bool + Sync),
}

/// Continues the running erasures, the oldest first, while `goes_on` returns `true`. Returns the number of completed
/// erasures. An organization that has used its working time leaves its remaining erasures to the next run, behind the
/// erasures of other organizations.
///
/// Safe to run on several instances at once: each piece has the same effect when it is repeated. A failing erasure
/// does not stop the run.
///
/// # Errors
/// [`Error::Unavailable`], [`Error::Bug`]; the next call continues with the rest.
pub async fn run_due(services: &Services, goes_on: impl Fn() -> bool + Sync) -> Result<u64, Error> {
    let running = services.store.due(RUNNING, services.clock.now(), MOST).await?;
    let hides_others = running.len() == usize::from(MOST);
    let mut completed_count = 0;
    let mut work_by_organization: HashMap<OrganizationId, Duration> = HashMap::new();
    let mut late_erasures: BTreeMap<Tenant, Vec<SqlValue>> = BTreeMap::new();
    for (tenant, stored) in running {
        if !goes_on() {
            return Ok(completed_count);
        }
        let work_of_organization = work_by_organization.entry(tenant.organization).or_default();
        if *work_of_organization >= SHARE {
            late_erasures.entry(tenant).or_default().push(stored.value.id.into());
            continue;
        }
        let start = services.clock.steady();
        match run(services, tenant, &stored, &goes_on).await {
            Ok(is_completed) => completed_count += u64::from(is_completed),
            Err(error) => {
                let erasure = stored.value.id;
                tracing::warn!(%erasure, %error, "cannot continue an erasure; retrying soon");
            }
        }
        *work_of_organization += services.clock.steady().saturating_sub(start);
    }
    if hides_others {
        for (tenant, erasures) in late_erasures {
            put_behind_others(services, tenant, erasures).await?;
        }
    }
    Ok(completed_count)
}

/// Moves erasures to the end of the queue. Their receipts stay as they are.
async fn put_behind_others(services: &Services, tenant: Tenant, erasures: Vec<SqlValue>) -> Result<(), Error> {
    let set = vec![(Column::new("running_since", Type::Time), SqlValue::Time(services.clock.now()))];
    let postponement = ErasureChange::Overwrite { table: Erasure::TABLE.name, by: ID, values: erasures, set };
    Ok(services.store.apply_erasure(tenant, &[postponement]).await?)
}

/// Returns `true` if an erasure is due. An erasure that waits for a legal hold is due once a day.
///
/// # Errors
/// [`Error::Unavailable`], [`Error::Bug`].
pub async fn is_running(services: &Services) -> Result<bool, Error> {
    Ok(!services.store.due(RUNNING, services.clock.now(), 1).await?.is_empty())
}

async fn run(
    services: &Services,
    tenant: Tenant,
    stored: &Versioned<Erasure>,
    goes_on: &(dyn Fn() -> bool + Sync),
) -> Result<bool, Error> {
    let erasure = &stored.value;
    let job = Job { services, tenant, erasure, person: erasure.employee_id, goes_on };
    let Some(mut kept_ids) = job.remove_rows().await? else { return Ok(false) };
    if !job.keep_conversations(&mut kept_ids).await? {
        return Ok(false);
    }
    let names = erasing::open_names(services, tenant, erasure).map_err(|error| {
        Error::Bug(format!(
            "cannot open the names that the erasure searches for: {error}; append the key that encrypted them to \
             CANDOR_MASTER_KEY and run `candor rekey`, or `candor rekey --accept-loss` if the key is lost"
        ))
    })?;
    let ids = job.recorded_rows().await?.into_iter().map(|row| row.id);
    let mentions = Mentions::new(job.person, ids, names.first().map(String::as_str))
        .except(kept_ids.ids.iter().copied())
        .with_names(&names)
        .limit_names(erasure.names_end_at());
    if !job.scan(&mentions, &names, &kept_ids).await? {
        return Ok(false);
    }
    let is_clean = !job.clean_index().await?;
    let now = services.clock.now();
    if !is_clean || erasure.index_clean_at.is_none() {
        job.set_index_clean_at(now).await?;
        return Ok(false);
    }
    if !erasure.may_complete(now) || !goes_on() {
        return Ok(false);
    }
    // Removed data leaves the files even if a hold keeps other data. A failure leaves the erasure running, so that
    // the next run repeats it.
    finish_files(services, now).await?;
    if !kept_ids.ids.is_empty() {
        job.wait_for_holds(stored, u32::try_from(kept_ids.ids.len()).unwrap_or(u32::MAX), now).await?;
        return Ok(false);
    }
    job.complete(stored, now).await
}

impl Job<'_> {
    fn removal(&self) -> Removal<'_> {
        Removal { services: self.services, tenant: self.tenant, id: self.erasure.id.into(), goes_on: self.goes_on }
    }

    async fn apply(&self, changes: &[ErasureChange]) -> Result<(), Error> {
        self.removal().apply(changes).await
    }

    async fn recorded_rows(&self) -> Result<Vec<ErasedRow>, Error> {
        self.removal().recorded_rows().await
    }

    fn record(&self, kind: &'static str, ids: Vec<[u8; 16]>) -> ErasureChange {
        self.removal().record(kind, ids)
    }

    /// Replaces the segments of the index that have words of the person by segments without these words. Returns
    /// `true` if there were such segments.
    async fn clean_index(&self) -> Result<bool, Error> {
        let ids =
            self.recorded_rows().await?.into_iter().map(|row| row.id).chain([self.person.to_bytes()]).collect();
        search_index::forget(self.services, self.tenant, &ids).await
    }

    /// Records that legal holds keep `kept` resources; a later run checks whether the holds have ended. If this run
    /// removed resources that a hold had kept, fires `employee.erased` again.
    async fn wait_for_holds(&self, stored: &Versioned<Erasure>, kept: u32, at: Timestamp) -> Result<(), Error> {
        if self.erasure.has_removed_kept(kept) {
            let decision = self.erasure.continue_after_hold(kept, at);
            let events = self.erased_again(kept, at).await?;
            self.services.commit_of_system(self.tenant, ERASER, decision, events, stored.version, at).await?;
            return Ok(());
        }
        let waiting = self.erasure.wait_for_holds(kept, at);
        let time = |time: Option<Timestamp>| time.map_or(SqlValue::Null(Type::Time), SqlValue::Time);
        let set = vec![
            (Column::new("kept_by_hold", Type::Int), SqlValue::Int(kept.into())),
            (Column::new("resumes_at", Type::Time), time(waiting.resumes_at)),
            (Column::new("running_since", Type::Time), time(waiting.continues_at())),
        ];
        let values = vec![self.erasure.id.into()];
        self.apply(&[ErasureChange::Overwrite { table: Erasure::TABLE.name, by: ID, values, set }]).await
    }

    /// Returns `employee.erased` once more if this run removed rows that a hold had kept: receivers must remove their
    /// copies of these rows too.
    async fn erased_again(&self, kept: u32, at: Timestamp) -> Result<Vec<Event>, Error> {
        if !self.erasure.has_removed_kept(kept) {
            return Ok(vec![]);
        }
        let Some(person) = self.services.store.row::<Employee>(self.tenant, self.person).await? else {
            return Ok(vec![]);
        };
        Ok(self.services.events(&[EventType::EmployeeErased], &render(&person.value)?, at))
    }

    async fn set_index_clean_at(&self, at: Timestamp) -> Result<(), Error> {
        let set = vec![(Column::new("index_clean_at", Type::Time), SqlValue::Time(at))];
        let values = vec![self.erasure.id.into()];
        self.apply(&[ErasureChange::Overwrite { table: Erasure::TABLE.name, by: ID, values, set }]).await
    }

    /// Writes the receipt. Returns `false` if another worker was faster.
    async fn complete(&self, stored: &Versioned<Erasure>, now: Timestamp) -> Result<bool, Error> {
        let mut counts = self.erasure.counts.clone();
        let mut counts_by_kind: BTreeMap<String, u64> = BTreeMap::new();
        for row in self.recorded_rows().await? {
            *counts_by_kind.entry(row.kind).or_default() += 1;
        }
        counts.extend(counts_by_kind);
        let decision = self.erasure.complete(counts, now);
        let mut events = self.erased_again(0, now).await?;
        events.extend(self.services.events(&decision.events, &render(&decision.state)?, now));
        let is_committed =
            self.services.commit_of_system(self.tenant, ERASER, decision, events, stored.version, now).await?;
        if is_committed {
            self.removal().forget_recorded().await?;
        }
        Ok(is_committed)
    }
}
