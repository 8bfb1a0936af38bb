//! Execution of a change set inside the writer's transaction.

pub(crate) mod check;
pub(crate) mod lines;
pub(crate) mod rebuild;

use candor_domain::access::Tenant;
use candor_domain::id::EmployeeId;
use candor_domain::idempotency::Replay;
use candor_domain::notification::MAX_READ_AT_ONCE;
use candor_port_storage::change::{RowKey, RowLimit};
use candor_port_storage::{
    ChangeSet, CommitError, Committed, ReportingLineChange, Require, StorageError, Version, Write,
};
use candor_tables::AnyRow;
use candor_tables::flat::SqlValue;
use candor_tables::rows::employees;

use crate::queue;
use crate::removal;
use crate::sql::refusal::commit_error;
use crate::sql::{Db, Sql};
use crate::table::{has_version, write};
use crate::valid_keys::count_valid_keys;

/// Saves a replay. An expired replay of the same key is overwritten.
const INSERT_REPLAY: &str = "INSERT INTO replays (tenant_id, key, fingerprint, status, sealed, \
    created_at, expires_at) \
    VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (tenant_id, key) DO UPDATE SET fingerprint = excluded.fingerprint, \
    status = excluded.status, sealed = excluded.sealed, created_at = excluded.created_at, \
    expires_at = excluded.expires_at WHERE replays.expires_at <= excluded.created_at";

const READ_ALL: &str = "UPDATE notifications SET read_at = ?1, unread = 0, version = version + 1 \
    WHERE tenant_id = ?2 AND id IN (SELECT id FROM notifications \
    WHERE tenant_id = ?2 AND recipient_id = ?3 AND unread = 1 ORDER BY created_at, id LIMIT ?4)";

const MESSAGE_ADDED: &str = "UPDATE conversations SET last_message_at = max(coalesce(last_message_at, ?1), ?1) \
    WHERE tenant_id = ?2 AND id = ?3 AND archived = 0";

/// Writes all parts of a change set. On an error the caller rolls back.
pub(crate) fn carry_out(db: &mut Db, tenant: Tenant, change: &ChangeSet) -> Result<Committed, CommitError> {
    if let Some(replay) = &change.replay {
        keep_replay(db, tenant, replay)?;
    }
    for require in &change.requires {
        if !holds(db, tenant, *require)? {
            return Err(CommitError::Broken(*require));
        }
    }
    for it in &change.writes {
        if let Write::Erase(changes) = it {
            changes.iter().try_for_each(|change| removal::apply(db, tenant, change))?;
        }
    }
    let mut upkeep = Upkeep { tree: None, new: vec![], lines_left: db.lines_at_once };
    let mut commit_result = Committed::default();
    for it in &change.writes {
        match it {
            Write::Put(row) => write(db, tenant, row)?,
            Write::PutReporting { row, manager, lines } => {
                put_reporting(db, tenant, row, *manager, *lines, &mut upkeep)?;
            }
            Write::NotificationsRead(person, at) => {
                let sql = Sql::new(READ_ALL)
                    .bind(*at)
                    .bind(tenant)
                    .bind(*person)
                    .bind(SqlValue::Int(MAX_READ_AT_ONCE.into()));
                db.execute(&sql).map_err(|error| commit_error(&error))?;
            }
            Write::MessageAdded(id, at) => {
                let sql = Sql::new(MESSAGE_ADDED).bind(*at).bind(tenant).bind(*id);
                if db.execute(&sql).map_err(|error| commit_error(&error))? == 0 {
                    return Err(CommitError::Stale);
                }
            }
            Write::StreakReset(id) => queue::reset_streak(db, tenant, *id)?,
            Write::FailingReported(id) => queue::report_failing(db, tenant, *id)?,
            Write::WebhookRemoved(id, seen) => queue::remove(db, tenant, *id, *seen)?,
            Write::Enqueue(jobs) => queue::enqueue(db, tenant, jobs, change.lease, &mut commit_result)?,
            Write::Removed(key, seen) => remove(db, tenant, *key, *seen)?,
            // These changes preceded the other writes.
            Write::Erase(_) => {}
            Write::BringForward(sooner, at) => queue::bring_forward(db, tenant, sooner, *at)?,
        }
    }
    upkeep.start(db, tenant)?;
    for row in &change.appended_rows() {
        write(db, tenant, row)?;
    }
    queue::fan_out(db, tenant, change, &mut commit_result)?;
    Ok(commit_result)
}

/// Deletes a row, or fails with [`CommitError::Stale`] if it is missing or does not have the version `seen`.
fn remove(db: &mut Db, tenant: Tenant, RowKey { table, id }: RowKey, seen: Version) -> Result<(), CommitError> {
    let text = format!("DELETE FROM {} WHERE tenant_id = ? AND id = ? AND version = ?", table.name);
    match db.execute(&Sql::new(text).bind(tenant).bind(id).bind(seen.0)).map_err(|error| commit_error(&error))? {
        0 => Err(CommitError::Stale),
        _ => Ok(()),
    }
}

/// Saves a replay.
///
/// # Errors
/// [`CommitError::Replayed`] if the key has a replay that has not expired.
pub(crate) fn keep_replay(db: &mut Db, tenant: Tenant, replay: &Replay) -> Result<(), CommitError> {
    let sql = Sql::new(INSERT_REPLAY)
        .bind(tenant)
        .bind(replay.key.as_str())
        .bind(replay.fingerprint.to_bytes().as_slice())
        .bind(i64::from(replay.status))
        .bind(replay.sealed.as_slice())
        .bind(replay.created_at)
        .bind(replay.expires_at());
    match db.execute(&sql).map_err(|error| commit_error(&error))? {
        0 => Err(CommitError::Replayed),
        _ => Ok(()),
    }
}

/// Returns `true` if a requirement holds. The result cannot change before the commit, because there is one writer.
pub(crate) fn holds(db: &mut Db, tenant: Tenant, require: Require) -> Result<bool, StorageError> {
    match require {
        Require::Open(key) => is_open(db, tenant, key),
        Require::DepartmentVacant(id) => Ok(!has_members(db, tenant, id.to_bytes())?),
        Require::Unchanged(RowKey { table, id }, version) => has_version(db, tenant, table.name, id, version),
        Require::RowsBelow(RowLimit { table, most }) => {
            let text = format!(
                "SELECT 1 FROM organizations WHERE tenant_id = ?1 \
                 AND (SELECT count(*) FROM {} WHERE tenant_id = ?1) < ?2",
                table.name
            );
            db.exists(Sql::new(text).bind(tenant).bind(i64::from(most)))
        }
        Require::KeysBelow(keys, most) => {
            let text = "SELECT 1 FROM organizations WHERE tenant_id = ?";
            Ok(db.exists(Sql::new(text).bind(tenant))? && count_valid_keys(db, tenant, keys, most)? < most)
        }
    }
}

/// Returns `true` if the row exists and is not archived.
pub(crate) fn is_open(db: &mut Db, tenant: Tenant, RowKey { table, id }: RowKey) -> Result<bool, StorageError> {
    let text = format!("SELECT 1 FROM {} WHERE tenant_id = ? AND id = ? AND archived = 0", table.name);
    db.exists(Sql::new(text).bind(tenant).bind(id))
}

/// Returns `true` if the department has a member who has not left.
fn has_members(db: &mut Db, tenant: Tenant, department: [u8; 16]) -> Result<bool, StorageError> {
    let present: Vec<_> = employees::present_statuses().collect();
    let marks = vec!["?"; present.len()].join(", ");
    let text = format!(
        "SELECT 1 FROM employees WHERE tenant_id = ? AND department_id = ? AND status IN ({marks}) LIMIT 1"
    );
    let sql = Sql::new(text).bind(tenant).bind(department);
    db.exists(sql.bind_all(present))
}

/// Maintenance of the reporting tree while a change set is written.
struct Upkeep {
    /// Version of the tree before this change set; `None` until a move reads it.
    tree: Option<Version>,
    /// New people whose lines are still to be written, with their managers.
    new: Vec<(EmployeeId, EmployeeId)>,
    /// Number of lines that the moves of this change set may still write.
    lines_left: usize,
}

impl Upkeep {
    /// Writes the lines of the collected new people. Runs before each move, which relies on these lines, and after
    /// the last write of a person.
    fn start(&mut self, db: &mut Db, tenant: Tenant) -> Result<(), CommitError> {
        let new = std::mem::take(&mut self.new);
        if new.is_empty() { Ok(()) } else { lines::start_all(db, tenant, &new) }
    }
}

fn put_reporting(
    db: &mut Db,
    tenant: Tenant,
    row: &AnyRow,
    manager: Option<EmployeeId>,
    lines: ReportingLineChange,
    upkeep: &mut Upkeep,
) -> Result<(), CommitError> {
    if let Some(tree_version) = lines.seen {
        // All moves of a change set name the same version, which is incremented once.
        let version_before = match upkeep.tree {
            Some(it) => it,
            None => *upkeep.tree.insert(lines::count_up(db, tenant)?),
        };
        if tree_version != version_before {
            return Err(CommitError::Stale);
        }
    }
    write(db, tenant, row)?;
    let id = EmployeeId::from_bytes(row.id());
    if row.version_read().is_none() {
        upkeep.new.extend(manager.map(|manager| (id, manager)));
        return Ok(());
    }
    upkeep.start(db, tenant)?;
    lines::change(db, tenant, id, manager, &mut upkeep.lines_left)
}
