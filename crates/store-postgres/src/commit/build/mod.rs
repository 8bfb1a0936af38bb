//! Statements of change sets.

mod bound_events;
mod conversations;
mod reporting_lines;
pub(super) mod requires;
mod rows;
mod webhooks;

use candor_domain::access::Tenant;
use candor_port_storage::change::RowKey;
use candor_port_storage::{ChangeSet, ReportingLineChange, Require, Write};
use candor_subscriptions::Subscription;
use candor_tables::AnyRow;
use candor_tables::RowWriteError;
use candor_tables::flat::Stored;

use crate::layout::idempotency::IdempotencyKeyState;
use crate::layout::{ExpectedSubscribers, LateEvents, SharedLayout, Statement};
use crate::nodes::transaction::Transaction;
use crate::sql::Sql;
use crate::sql::removal::removal;
use rows::RowBatches;

/// Name of the check that fails if a row or the reporting tree has another version.
pub(super) const STALE: &str = "stale";
/// Name of the check that fails if moved people have too many reporting lines for one commit.
pub(super) const TOO_WIDE: &str = "wide";

/// Variant of a change set's statements, by what they assume.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StatementVariant {
    pub(super) subscribers: ExpectedSubscribers,
    pub(super) key: IdempotencyKeyState,
}

impl StatementVariant {
    /// Returns the variant of the first attempt, which assumes a new idempotency key.
    pub(super) const fn first(subscribers: ExpectedSubscribers) -> Self {
        Self { subscribers, key: IdempotencyKeyState::New }
    }
}

/// Builds the transaction of a change set that is committed alone. The flag is `true` if the returned rows are
/// leased deliveries.
pub(super) fn single(
    layout: SharedLayout,
    variant: StatementVariant,
    tenant: Tenant,
    change: &ChangeSet,
) -> Result<(Transaction, bool), RowWriteError> {
    let locks = locks(layout, variant.key, tenant, change);
    let mut all = Statement::new(layout, tenant);
    if let (None, Some(replay)) = (&locks, &change.replay) {
        layout.take_key(&mut all, replay, variant.key);
    }
    let events = write(&mut all, variant.subscribers, tenant, &[change])?;
    let leases = change.lease.is_some() && !all.queued.is_empty();
    let mut statements = conversations::hold(tenant, change);
    statements.extend(locks.unwrap_or_default());
    statements.extend(removals(tenant, change));
    statements.extend(all.finish(leases));
    statements.extend(after_writes(layout, tenant, change).into_iter().map(|sql| (sql, false)));
    statements.extend(layout.event_statements(tenant, &events)?);
    Ok((Transaction::from_marked(statements), leases))
}

/// Builds the statements for several change sets of a tenant. All of them only add rows, and have a lease of the
/// same worker or none. They are committed together or not at all; the returned rows are the queued deliveries.
///
/// The statements lock rows of several change sets in an order that other transactions do not follow. On one server
/// they have a short lock timeout, so that neither they nor the transactions that wait for them wait long.
pub(super) fn batch(
    layout: SharedLayout,
    subscribers: ExpectedSubscribers,
    tenant: Tenant,
    changes: &[&ChangeSet],
) -> Result<Vec<(Sql, bool)>, RowWriteError> {
    let mut all = Statement::new(layout, tenant);
    let mut replays: Vec<_> = changes.iter().filter_map(|change| change.replay.as_ref()).collect();
    // Sorted, so that two batches cannot deadlock on each other's keys.
    replays.sort_unstable_by_key(|replay| replay.key.as_str());
    layout.take_keys(&mut all, &replays);
    let events = write(&mut all, subscribers, tenant, changes)?;
    let mut statements = all.finish(true);
    statements.extend(layout.event_statements(tenant, &events)?);
    Ok(statements)
}

/// Builds the statements that lock rows before later statements read them: a statement sees the data that was
/// committed when the statement began. `None` if no row needs a lock first. Each flag is `false`: no row is part
/// of a result.
fn locks(
    layout: SharedLayout,
    key: IdempotencyKeyState,
    tenant: Tenant,
    change: &ChangeSet,
) -> Option<Vec<(Sql, bool)>> {
    let lines: Vec<ReportingLineChange> = reporting_changes(change).map(|(_, lines)| lines).collect();
    if lines.is_empty() && !change.requires.iter().any(requires::is_locked_before) {
        return None;
    }
    let mut first = Statement::new(layout, tenant);
    if let Some(replay) = &change.replay {
        layout.take_key(&mut first, replay, key);
    }
    if !lines.is_empty() {
        reporting_lines::lock_tree(&mut first, &lines);
    }
    for require in &change.requires {
        requires::lock(&mut first, require);
    }
    Some(first.finish(false))
}

/// Builds the statements that remove data. They precede the statement with the writes, and keep the order of the
/// change set: a row is deleted after its rows in side tables. Each flag is `true` if the rows of its statement
/// belong to the result.
fn removals(tenant: Tenant, change: &ChangeSet) -> impl Iterator<Item = (Sql, bool)> {
    let changes = change
        .writes
        .iter()
        .filter_map(|write| if let Write::Erase(changes) = write { Some(changes) } else { None });
    changes.flatten().map(move |change| (removal(tenant, change), false))
}

/// Adds the checks and parts of change sets, and returns the events that the layout writes last.
fn write(
    statement: &mut Statement,
    subscribers: ExpectedSubscribers,
    tenant: Tenant,
    changes: &[&ChangeSet],
) -> Result<LateEvents, RowWriteError> {
    match changes {
        [one] => requires::check_all(statement, &one.requires),
        several => requires::check_all(statement, &merged_requires(several)),
    }
    let lease = changes.iter().filter_map(|change| change.lease).max_by_key(|lease| lease.until);
    let mut new_rows: Vec<_> = changes.iter().flat_map(|change| change.appended_rows()).collect();
    let late = statement.layout.split_off_events(&mut new_rows);
    let mut rows = RowBatches::new(tenant);
    for write in changes.iter().flat_map(|change| &change.writes) {
        match write {
            Write::Put(row) | Write::PutReporting { row, .. } => rows.add(row)?,
            Write::NotificationsRead(person, at) => conversations::read_notifications(statement, *person, *at),
            // `removals` has built `Erase`; the other writes follow below, and in `after_writes`.
            Write::MessageAdded(..) | Write::StreakReset(_) | Write::BringForward(..) | Write::Erase(_) => {}
            Write::FailingReported(id) => webhooks::report_failing(statement, *id),
            // The queued deliveries stay; a worker that leases one of them discards it.
            Write::WebhookRemoved(id, seen) => {
                rows::remove(statement, RowKey { table: Subscription::TABLE, id: id.to_bytes() }, *seen);
            }
            Write::Enqueue(jobs) => webhooks::enqueue(statement, jobs, lease),
            Write::Removed(key, seen) => rows::remove(statement, *key, *seen),
        }
    }
    for row in &new_rows {
        rows.add(row)?;
    }
    conversations::add_messages(statement, changes);
    rows.write(statement);
    let events: Vec<_> = changes.iter().flat_map(|change| &change.events).collect();
    let mut unwanted_bits = 0;
    match subscribers {
        ExpectedSubscribers::Any => {
            let subscription_ids: Vec<_> =
                changes.iter().flat_map(|change| change.written_subscriptions()).collect();
            webhooks::fan_out(statement, &events, &subscription_ids, lease);
        }
        ExpectedSubscribers::None => unwanted_bits = events.iter().fold(0, |bits, event| bits | event.kind.bit()),
    }
    let changes_subscriptions = changes.iter().any(|change| webhooks::are_changed(change));
    Ok(LateEvents { rows: late, unwanted: unwanted_bits, changes_subscriptions })
}

/// Builds the statements that run after the statement with the writes, because they read or change written rows.
/// Parts of one statement see the data before it, and only one of them may change a row.
fn after_writes(layout: SharedLayout, tenant: Tenant, change: &ChangeSet) -> Vec<Sql> {
    let mut statements = vec![];
    let people = reporting_changes(change).map(|(row, _)| row);
    let (new, moved): (Vec<_>, Vec<_>) = people.partition(|row| row.version_read().is_none());
    if !new.is_empty() {
        statements.push(reporting_lines::new_lines(tenant, new.iter().map(|row| row.id())));
    }
    if !moved.is_empty() {
        let moved_ids: Vec<_> = moved.iter().map(|row| row.id()).collect();
        statements.push(reporting_lines::check_width(tenant, &moved_ids));
        statements.push(Sql::plain(reporting_lines::SHORT_TIMEOUT));
        statements.extend(layout.moved_lines(tenant, &moved_ids));
        statements.push(reporting_lines::usual_timeout());
    }
    let joining: Vec<_> = change.writes.iter().filter_map(joining_person).collect();
    if !joining.is_empty() {
        statements.push(reporting_lines::check_depths(tenant, joining.into_iter()));
    }
    for write in &change.writes {
        if let Write::StreakReset(id) = write {
            statements.push(webhooks::reset_streak(tenant, *id));
        }
    }
    for write in &change.writes {
        if let Write::BringForward(sooner, at) = write {
            statements.extend(webhooks::bring_forward(layout, tenant, sooner, *at));
        }
    }
    statements
}

/// Requirements of several change sets, without duplicates.
fn merged_requires(changes: &[&ChangeSet]) -> Vec<Require> {
    let mut all: Vec<Require> = vec![];
    for require in changes.iter().flat_map(|change| &change.requires) {
        if !all.contains(require) {
            all.push(*require);
        }
    }
    all
}

/// Returns the id of a person who gets a manager. `None` for other writes.
fn joining_person(write: &Write) -> Option<[u8; 16]> {
    if let Write::PutReporting { row, manager: Some(_), .. } = write { Some(row.id()) } else { None }
}

/// Rows of the people whose reporting line changes or begins.
fn reporting_changes(change: &ChangeSet) -> impl Iterator<Item = (&AnyRow, ReportingLineChange)> {
    let changes = change.writes.iter();
    changes.filter_map(
        |write| if let Write::PutReporting { row, lines, .. } = write { Some((row, *lines)) } else { None },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::Cluster;
    use crate::layout::OneServer;
    use candor_domain::event::EventType;
    use candor_port_storage::Row;
    use candor_store_testkit::Fixtures;

    #[test]
    fn batch_locks_idempotency_keys_in_sorted_order() {
        let make = Fixtures::new(1);
        let change = |key: &str| ChangeSet {
            events: vec![make.event(EventType::ObservationCreated)],
            replay: Some(make.replay(key)),
            ..make.change(vec![Write::put(&Row::new(make.observation(make.id())))])
        };
        let changes = ["key-b", "key-d", "key-a", "key-c"].map(change);
        for order in [[0, 1, 2, 3], [3, 1, 0, 2]] {
            for layout in [&OneServer as SharedLayout, &Cluster] {
                let changes = order.map(|at| &changes[at]);
                let sql = batch(layout, ExpectedSubscribers::Any, make.tenant(), &changes).unwrap();
                let binds = format!("{sql:?}");
                let places = ["key-a", "key-b", "key-c", "key-d"].map(|key| binds.find(key).unwrap());
                assert!(places.is_sorted(), "{places:?}");
            }
        }
    }
}
