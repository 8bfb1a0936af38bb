//! Retention runs, which remove archived resources and begin the erasure of people who left, in pieces (decision H5).

use std::time::Duration;

use candor_domain::access::Tenant;
use candor_domain::conversation::{Message, message};
use candor_domain::erasure::{ErasureDraft, RemovedIds, Requester};
use candor_domain::fields::StringEnum;
use candor_domain::id::{ConversationId, RetentionRunId};
use candor_domain::organization::Organization;
use candor_domain::page::{PageRequest, Position, Sortable};
use candor_domain::people::Employee;
use candor_domain::retention::{RetentionRemoval, RetentionRule, RetentionRun, RunStatus, next_run};
use candor_domain::time::Timestamp;
use candor_port_storage::change::RowKey;
use candor_port_storage::erasing::ErasureChange;
use candor_port_storage::{ChangeSet, Row, StorageExt, Version, Versioned, Write};
use candor_tables::flat::{Column, SqlValue, Stored, Type};
use candor_tables::read::ID;
use candor_tables::rows;
use candor_tables::rows::organizations::{DUE, RETENTION_DUE};

use crate::context::erasing::{ErasureOrigin, begin};
use crate::context::error::Error;
use crate::context::holds::require_unheld;
use crate::context::retained::{ExpiredResource, Source, people_who_left, read_expired_page};
use crate::context::services::{ATTEMPTS, Services, render};
use crate::runtime::removal::{Removal, blank_entries, finish_files, remove_parts};
use crate::runtime::search_index;

/// Maximum number of organizations whose run one call continues.
const MOST: u16 = 100;
/// Working time of a call for one organization. After this time, the runs of other organizations come first.
const SHARE: Duration = Duration::from_secs(5);
/// Maximum number of resources of a piece: few, so that other writers do not wait long.
const PIECE: u16 = 50;
/// Maximum number of messages that one piece deletes.
const MESSAGES: u16 = 500;
/// Name of this actor in the audit log.
const RETENTION: &str = "retention";

/// A run in progress.
struct Job<'a> {
    services: &'a Services,
    tenant: Tenant,
    run: Versioned<RetentionRun>,
    /// Time of the store, by which rules apply.
    now: Timestamp,
    goes_on: &'a (dyn Fn() -> bool + Sync),
    /// Steady time at which the work on the organization began.
    since: Duration,
    has_removed: bool,
}

/// Begins and continues all due runs while `goes_on` returns `true`. Returns the number of completed runs. Does
/// nothing while the clocks are untrustworthy. After its working time an organization leaves the rest to the next call.
///
/// Safe to run on several instances at once: each piece changes the run, so only one of two equal pieces is
/// committed. A failing run does not stop the remaining ones.
///
/// # Errors
/// [`Error::Unavailable`], [`Error::Bug`]; the next call continues with the rest.
pub async fn run_due(services: &Services, goes_on: impl Fn() -> bool + Sync) -> Result<u64, Error> {
    let due = services.store.due(RETENTION_DUE, services.clock.now(), MOST).await?;
    if due.is_empty() {
        return Ok(0);
    }
    let judgment = services.clocks.judge(services).await?;
    let mut completed_count = 0;
    for (tenant, organization) in due {
        if !judgment.is_believed || !goes_on() {
            break;
        }
        match run(services, tenant, &organization.value, judgment.now, &goes_on).await {
            Ok(is_completed) => completed_count += u64::from(is_completed),
            Err(error) => {
                let organization = tenant.organization;
                tracing::warn!(%organization, %error, "cannot continue a retention run; retrying soon");
            }
        }
    }
    Ok(completed_count)
}

async fn run(
    services: &Services,
    tenant: Tenant,
    organization: &Organization,
    now: Timestamp,
    goes_on: &(dyn Fn() -> bool + Sync),
) -> Result<bool, Error> {
    let Some(due) = organization.retention_due_at.filter(|due| *due <= now) else { return Ok(false) };
    if organization.retention.is_off() {
        set_due(services, tenant, organization, None).await?;
        return Ok(false);
    }
    let id = RetentionRun::id_of(organization.id, due);
    let Some(run) = find_or_begin(services, tenant, organization, id, now).await? else { return Ok(false) };
    let start = services.clock.steady();
    let mut job = Job { services, tenant, run, now, goes_on, since: start, has_removed: false };
    if job.run.value.status == RunStatus::Running {
        let is_done = job.is_cleaning() || job.apply_rules(organization).await?;
        if !is_done || !job.clean().await? || !job.complete().await? {
            return Ok(false);
        }
    }
    let has_more = job.run.value.has_more();
    set_due(services, tenant, organization, Some(next_run(due, now, has_more))).await?;
    Ok(true)
}

/// Finds the run with this id, or begins it. `None` if another worker was faster.
async fn find_or_begin(
    services: &Services,
    tenant: Tenant,
    organization: &Organization,
    id: RetentionRunId,
    now: Timestamp,
) -> Result<Option<Versioned<RetentionRun>>, Error> {
    if let Some(stored_run) = services.store.row::<RetentionRun>(tenant, id).await? {
        return Ok(Some(stored_run));
    }
    let tables = services.store.tables_to_rewrite().iter().map(|name| (*name).to_owned()).collect();
    let new_run = RetentionRun::begin(id, &organization.retention, &organization.retention_starts, tables, now);
    let value = new_run.state.clone();
    let change = ChangeSet {
        writes: vec![Write::put(&Row::new(new_run.state))],
        ..ChangeSet::new(services.entry_of_system(RETENTION, new_run.audit, now))
    };
    let is_begun = services.commit_unless_stale(tenant, change).await?;
    Ok(is_begun.then_some(Versioned { value, version: Version::FIRST }))
}

/// Sets the time of the next run. The version of the organization stays: an update of the settings does not conflict.
async fn set_due(
    services: &Services,
    tenant: Tenant,
    organization: &Organization,
    due: Option<Timestamp>,
) -> Result<(), Error> {
    let set = vec![(DUE, due.map_or(SqlValue::Null(Type::Time), SqlValue::Time))];
    let values = vec![organization.id.into()];
    let change = ErasureChange::Overwrite { table: Organization::TABLE.name, by: ID, values, set };
    Ok(services.store.apply_erasure(tenant, &[change]).await?)
}

impl Job<'_> {
    fn removal(&self) -> Removal<'_> {
        Removal {
            services: self.services,
            tenant: self.tenant,
            id: self.run.value.id.into(),
            goes_on: self.goes_on,
        }
    }

    /// Returns `false` after a stop, or if the working time is used up and something was removed.
    fn may_continue(&self) -> bool {
        let work_time = self.services.clock.steady().saturating_sub(self.since);
        (self.goes_on)() && (work_time < SHARE || !self.has_removed)
    }

    /// Returns `true` if the rules were applied and the search index waits for running searches.
    const fn is_cleaning(&self) -> bool {
        self.run.value.index_clean_at.is_some()
    }

    /// Applies all rules. Returns `false` if the run has to pause: stopped, out of working time, or slower than others.
    async fn apply_rules(&mut self, organization: &Organization) -> Result<bool, Error> {
        for rule in RetentionRule::ALL {
            for source in Source::removed_by(*rule) {
                if !self.remove(organization, *rule, *source).await? {
                    return Ok(false);
                }
            }
        }
        self.erase_people(organization).await
    }

    /// Returns the cutoff of a rule: data from before the cutoff is removed. `None` if the rule does not apply now.
    async fn cutoff(&self, organization: &Organization, rule: RetentionRule) -> Result<Option<Timestamp>, Error> {
        let organization_row = self.services.store.row::<Organization>(self.tenant, organization.id).await?;
        let period = organization_row
            .and_then(|row| row.value.retention.effective_period(rule, &row.value.retention_starts, self.now));
        Ok(period.map(|period| period.subtract_from(self.now)))
    }

    /// Removes the archived resources of one kind, piece by piece. Returns `false` if the run has to pause: it was
    /// stopped, has used its working time, or other workers were faster.
    async fn remove(
        &mut self,
        organization: &Organization,
        rule: RetentionRule,
        source: Source,
    ) -> Result<bool, Error> {
        let (mut after, mut attempts): (Option<Position>, _) = (None, 0);
        while !self.run.value.is_full(rule) {
            if !self.may_continue() {
                return Ok(false);
            }
            let Some(last) = self.cutoff(organization, rule).await? else { break };
            let page = PageRequest { limit: PIECE, after: after.clone() };
            let expired_page = read_expired_page(self.services, self.tenant, source, last, &page).await?;
            if !expired_page.rows.is_empty() && !self.remove_piece(rule, source, &expired_page.rows).await? {
                attempts += 1;
                if attempts == ATTEMPTS || !self.reload().await? {
                    return Ok(false);
                }
                continue;
            }
            attempts = 0;
            if expired_page.next.is_none() {
                break;
            }
            after = expired_page.next;
        }
        Ok(true)
    }

    /// Reads the run again after another change was committed first. `false` if another worker completed it.
    async fn reload(&mut self) -> Result<bool, Error> {
        let run_row = self.services.store.row::<RetentionRun>(self.tenant, self.run.value.id).await?;
        let Some(running_row) = run_row.filter(|row| row.value.status == RunStatus::Running) else {
            return Ok(false);
        };
        self.run = running_row;
        Ok(true)
    }

    /// Removes some resources, with the values of their audit entries, in one commit. Returns `false` if the run pauses.
    async fn remove_piece(
        &mut self,
        rule: RetentionRule,
        source: Source,
        some: &[ExpiredResource],
    ) -> Result<bool, Error> {
        if source == Source::Conversations && !self.remove_messages(some).await? {
            return Ok(false);
        }
        let ids: Vec<[u8; 16]> = some.iter().map(|row| row.id).collect();
        if matches!(source, Source::Objectives(_)) && !self.removal().leave_parents(RETENTION, &ids).await? {
            return Ok(false);
        }
        let now = self.services.clock.now();
        let values: Vec<_> = ids.iter().copied().map(SqlValue::Id).collect();
        let texts: Vec<_> = some.iter().map(|row| row.text.clone()).collect();
        let table = source.table();
        let mut changes = vec![require_unheld(some), self.removal().record(source.name(), ids)];
        changes.push(blank_entries(texts.iter().cloned().map(SqlValue::Text).collect()));
        changes.extend(remove_parts(table, &values));
        let mut writes: Vec<_> =
            some.iter().map(|row| Write::Removed(RowKey { table, id: row.id }, row.version)).collect();
        writes.push(Write::Erase(changes));
        let removal = RetentionRemoval { id: self.run.value.id, resource: source.name().to_owned(), ids: texts };
        let decision = self.run.value.remove(rule, some.len() as u64);
        let events = self.services.events(&decision.events, &render(&removal)?, now);
        let audit = self.services.entry_of_system(RETENTION, decision.audit, now);
        let change = ChangeSet { writes, events, ..ChangeSet::new(audit) };
        self.commit(decision.state, change).await
    }

    /// Commits a change with the new state of the run. Returns `false` if another change was committed first.
    async fn commit(&mut self, state: RetentionRun, mut change: ChangeSet) -> Result<bool, Error> {
        change.writes.push(Write::put(&Row::at_version(state.clone(), self.run.version)));
        let is_committed = self.services.commit_unless_stale(self.tenant, change).await?;
        if is_committed {
            self.run = Versioned { value: state, version: self.run.version.next() };
            self.has_removed = true;
        }
        Ok(is_committed)
    }

    /// Deletes the messages of archived conversations. Returns `false` if the run was stopped or its working time is over.
    async fn remove_messages(&mut self, conversations: &[ExpiredResource]) -> Result<bool, Error> {
        for conversation in conversations {
            loop {
                if !self.may_continue() {
                    return Ok(false);
                }
                let page = PageRequest { limit: MESSAGES, after: None };
                let id = ConversationId::from_bytes(conversation.id);
                let list = rows::conversations::messages(id, &message::Filter::default(), Message::DEFAULT, &page);
                let messages = self.services.store.page(self.tenant, list).await?;
                let ids: Vec<_> = messages.items.iter().map(|row| row.id.to_bytes()).collect();
                if !ids.is_empty() {
                    let values = ids.iter().copied().map(SqlValue::Id).collect();
                    let delete = ErasureChange::Delete { table: Message::TABLE.name, by: ID, values };
                    let record = self.removal().record("messages", ids);
                    self.removal().apply(&[require_unheld([conversation]), record, delete]).await?;
                    self.has_removed = true;
                }
                if !messages.more {
                    break;
                }
            }
        }
        Ok(true)
    }

    /// Begins the erasure of people who left. Returns `false` if the run was stopped, completed by another worker, or
    /// has used its working time.
    async fn erase_people(&mut self, organization: &Organization) -> Result<bool, Error> {
        let rule = RetentionRule::DeactivatedPeople;
        let mut last_position = None;
        while !self.run.value.is_full(rule) {
            let Some(last) = self.cutoff(organization, rule).await? else { break };
            let (people, next) = people_who_left(self.services, self.tenant, last, last_position, PIECE).await?;
            for person in people {
                if !self.may_continue() {
                    return Ok(false);
                }
                if self.run.value.is_full(rule) {
                    break;
                }
                // A person who changed meanwhile waits for the next run.
                let is_erased = match self.erase(&person).await {
                    Err(Error::Bug(reason)) => {
                        let (organization, id) = (self.tenant.organization, person.value.id);
                        tracing::error!(%organization, person = %id, reason, "cannot erase a person; the next run retries");
                        true
                    }
                    erased => erased?,
                };
                if !is_erased && !self.reload().await? {
                    return Ok(false);
                }
            }
            if next.is_none() {
                break;
            }
            last_position = next;
        }
        Ok(true)
    }

    async fn erase(&mut self, stored: &Versioned<Employee>) -> Result<bool, Error> {
        let (services, at) = (self.services, self.services.clock.now());
        let draft = ErasureDraft { reason: Some("The retention period has ended.".to_owned()) };
        let Ok(decision) = stored.value.erase(draft, at) else { return Ok(true) };
        let run = self.run.value.erase();
        let origin = ErasureOrigin {
            id: services.id(at),
            requested_by: Requester::run(self.run.value.id),
            requested_at: at,
        };
        let events = services.events(&decision.events, &render(&decision.state)?, at);
        let (_, writes) = begin(services, self.tenant, (stored, decision.state), origin, at).await?;
        let audit = services.entry_of_system(RETENTION, decision.audit, at);
        let more_audit = vec![services.entry_of_system(RETENTION, run.audit, at)];
        let change = ChangeSet { writes, events, more_audit, ..ChangeSet::new(audit) };
        self.commit(run.state, change).await
    }

    /// Removes the notifications about removed resources, and the words of these resources from the search index.
    /// Returns `true` once no search reads the words any more.
    async fn clean(&mut self) -> Result<bool, Error> {
        let ids: Vec<_> = self.removal().recorded_rows().await?.into_iter().map(|row| row.id).collect();
        if ids.is_empty() {
            return Ok(true);
        }
        if !self.is_cleaning() {
            let removed_ids: RemovedIds = ids.iter().copied().collect();
            if !self.removal().remove_notifications(|row| removed_ids.has(&row.target.id)).await? {
                return Ok(false);
            }
        }
        let has_words = search_index::forget(self.services, self.tenant, &ids.into_iter().collect()).await?;
        let now = self.services.clock.now();
        if has_words || !self.is_cleaning() {
            self.set_index_clean_at(now).await?;
            return Ok(false);
        }
        Ok(self.run.value.may_complete(now) && (self.goes_on)())
    }

    async fn set_index_clean_at(&mut self, at: Timestamp) -> Result<(), Error> {
        let set = vec![(Column::new("index_clean_at", Type::Time), SqlValue::Time(at))];
        let values = vec![self.run.value.id.into()];
        let table = RetentionRun::TABLE.name;
        self.removal().apply(&[ErasureChange::Overwrite { table, by: ID, values, set }]).await
    }

    /// Cleans the files of the store and writes the receipt. Returns `false` if another worker was faster.
    async fn complete(&mut self) -> Result<bool, Error> {
        let now = self.services.clock.now();
        if !self.run.value.counts.is_empty() {
            // A failure leaves the run running, so that the next call repeats it.
            finish_files(self.services, now).await?;
        }
        let decision = self.run.value.complete(now);
        let events = self.services.events(&decision.events, &render(&decision.state)?, now);
        let audit = self.services.entry_of_system(RETENTION, decision.audit, now);
        let change = ChangeSet { events, ..ChangeSet::new(audit) };
        let is_completed = self.commit(decision.state, change).await?;
        if is_completed {
            self.removal().forget_recorded().await?;
        }
        Ok(is_completed)
    }
}
