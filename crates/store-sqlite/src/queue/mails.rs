//! Queue of invitation emails, stored in the rows of the invitations.

use async_trait::async_trait;

use candor_domain::access::Tenant;
use candor_domain::people::Invitation;
use candor_domain::people::invitation::MailCounter;
use candor_domain::time::{Date, Timestamp};
use candor_port_storage::error::Read;
use candor_port_storage::mail_queue::{MailKey, MailQueue, MailResult};
use candor_port_storage::queue::{Lease, QueueState, WorkerId};
use candor_port_storage::{CommitError, Row, StorageError};
use candor_tables::AnyRow;
use candor_tables::flat::{CellReader, Reader, SqlValue, Stored};

use super::FEW;
use crate::SqliteStore;
use crate::connection::writer;
use crate::sql::row::tenant_of;
use crate::sql::{Db, Sql, Value};
use crate::table;

const DUE: &str = "invitations WHERE mail_due_at <= ?1 AND (mail_leased_until IS NULL OR mail_leased_until <= ?1)";

const LEASE: &str = "UPDATE invitations SET mail_worker = ?, mail_leased_until = ? WHERE tenant_id = ? AND id = ?";

const LET_GO: &str = "UPDATE invitations SET mail_worker = NULL, mail_leased_until = NULL \
    WHERE tenant_id = ?1 AND id = ?2 AND mail_worker = ?3 AND (?4 IS NULL OR version = ?4)";

const COUNT: &str = "INSERT INTO recipient_mails (day, recipient, mails) VALUES (?, ?, 1) \
    ON CONFLICT (day, recipient) DO UPDATE SET mails = mails + 1 WHERE mails < ?";

const COUNTED: &str = "SELECT coalesce(sum(mails), 0) FROM recipient_mails WHERE day = ? AND recipient = ?";

#[async_trait]
impl MailQueue for SqliteStore {
    async fn claim_mails(&self, lease: Lease, now: Timestamp, most: u16, except: &[Tenant]) -> Read<Vec<MailKey>> {
        let except = except.to_vec();
        writer::ask(&self.tasks, None, move |db| claim(db, lease, now, most, &except)).await
    }

    async fn record_mails(&self, worker: WorkerId, results: Vec<(MailKey, MailResult)>) -> Read<Vec<MailKey>> {
        let is_long = results.len() > FEW;
        writer::ask_for(&self.tasks, None, is_long, move |db| record(db, worker, results)).await
    }

    async fn count_mail(&self, counter: MailCounter, day: Date, most: u32) -> Read<bool> {
        writer::ask(&self.tasks, None, move |db| count(db, counter, day, most)).await
    }

    async fn counted_mails(&self, counter: MailCounter, day: Date) -> Read<u32> {
        let sql = Sql::new(COUNTED).bind(SqlValue::Date(day)).bind(counter.0.as_slice());
        let mails = self.read(None, move |db| db.number(sql)).await?;
        Ok(u32::try_from(mails).unwrap_or(u32::MAX))
    }

    async fn mail_queue_state(&self, now: Timestamp) -> Read<QueueState> {
        self.read(None, move |db| state(db, now)).await
    }
}

/// Leases the emails that have been due for the longest time.
pub(crate) fn claim(
    db: &mut Db,
    lease: Lease,
    now: Timestamp,
    most: u16,
    except: &[Tenant],
) -> Result<Vec<MailKey>, StorageError> {
    let others = (3..except.len() + 3).map(|place| format!(" AND tenant_id <> ?{place}")).collect::<String>();
    let due = Sql::new(format!("SELECT tenant_id, id FROM {DUE}{others} ORDER BY mail_due_at LIMIT ?2"));
    let key = |row: &mut dyn CellReader| {
        Ok((tenant_of(row, Invitation::TABLE.name)?, Reader::new(row, Invitation::TABLE).id()?))
    };
    let due = except.iter().fold(due.bind(now).bind(i64::from(most)), |due, tenant| due.bind(*tenant));
    let keys: Vec<MailKey> = db.rows(due, key)?;
    for (tenant, id) in &keys {
        let sql = Sql::new(LEASE).bind(lease.worker.0).bind(lease.until).bind(*tenant).bind(*id);
        db.run(&sql)?;
    }
    Ok(keys)
}

fn record(
    db: &mut Db,
    worker: WorkerId,
    results: Vec<(MailKey, MailResult)>,
) -> Result<Vec<MailKey>, StorageError> {
    let mut lost_mails = vec![];
    for (key, result) in results {
        if !record_one(db, worker, key, result)? {
            lost_mails.push(key);
        }
    }
    Ok(lost_mails)
}

/// Records one result. Returns `false` if the worker no longer holds the lease, or the invitation has another
/// version.
fn record_one(
    db: &mut Db,
    worker: WorkerId,
    (tenant, id): MailKey,
    result: MailResult,
) -> Result<bool, StorageError> {
    let row = match result {
        MailResult::Changed(it) => Some(Row::at_version(it.value, it.version)),
        MailResult::Released => None,
    };
    let version = row.as_ref().and_then(|row| row.seen).map(|row| row.0);
    let sql = Sql::new(LET_GO).bind(tenant).bind(id).bind(worker.0).bind(version.map_or(Value::Null, Value::from));
    let is_held = db.run(&sql)? > 0;
    if let (true, Some(row)) = (is_held, row) {
        table::write(db, tenant, &AnyRow::from_row(&row)).map_err(|cause| match cause {
            CommitError::Storage(error) => error,
            other @ (CommitError::Stale
            | CommitError::Taken(_)
            | CommitError::Broken(_)
            | CommitError::Missing
            | CommitError::TooWide
            | CommitError::Replayed) => StorageError::Failed(other.to_string()),
        })?;
    }
    Ok(is_held)
}

/// Counts an email of the day. Returns `false` if the limit is reached.
fn count(db: &mut Db, counter: MailCounter, day: Date, most: u32) -> Result<bool, StorageError> {
    let day_before = Date::from_epoch_days(day.epoch_days().saturating_sub(1));
    let forget = Sql::new("DELETE FROM recipient_mails WHERE day < ?").bind(SqlValue::Date(day_before));
    db.run(&forget)?;
    let count = Sql::new(COUNT).bind(SqlValue::Date(day)).bind(counter.0.as_slice()).bind(i64::from(most));
    Ok(db.run(&count)? > 0)
}

fn state(db: &mut Db, now: Timestamp) -> Result<QueueState, StorageError> {
    let text = format!(
        "SELECT (SELECT count(*) FROM (SELECT 1 FROM {DUE} LIMIT ?2)), (SELECT min(mail_due_at) FROM {DUE})"
    );
    let most = i64::try_from(QueueState::COUNTED).unwrap_or(i64::MAX);
    db.first(Sql::new(text).bind(now).bind(most), |row| super::queue_state(row, Invitation::TABLE.name))
        .map(Option::unwrap_or_default)
}
