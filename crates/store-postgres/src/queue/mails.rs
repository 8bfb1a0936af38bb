//! The queue of mails with invitations, in the rows of the invitations.

use std::collections::BTreeSet;

use async_trait::async_trait;
use candor_domain::access::Tenant;
use candor_domain::id::Id;
use candor_domain::people::Invitation;
use candor_domain::people::invitation::Recipient;
use candor_domain::time::{Date, Timestamp};
use candor_port_storage::Row;
use candor_port_storage::StorageError;
use candor_port_storage::error::Read;
use candor_port_storage::mail_queue::{MailKey, MailQueue, MailResult};
use candor_port_storage::queue::{Lease, QueueState, WorkerId};
use candor_tables::AnyRow;
use candor_tables::Unwritable;
use candor_tables::flat::{Cell, Column, Fetch, Stored, Type};

use super::planner_settings::{leasing, steered};
use super::{state, state_of};
use crate::PostgresStore;
use crate::connection::transaction::Transaction;
use crate::failure::Failure;
use crate::layout::Layout;
use crate::select::{int, owner};
use crate::sql::Sql;

#[async_trait]
impl MailQueue for PostgresStore {
    async fn claim_mails(&self, lease: Lease, now: Timestamp, most: u16) -> Read<Vec<MailKey>> {
        if self.layout.is_by_tenant() {
            return self.claim_mails_by_tenant(lease, now, most).await;
        }
        self.in_turn(leasing(claim(lease, now, most)), key).await
    }

    async fn record_mails(&self, worker: WorkerId, results: Vec<(MailKey, MailResult)>) -> Read<Vec<MailKey>> {
        let results: Vec<_> = (0..).zip(results).collect();
        let mut held = vec![];
        for tenant in each_tenant(self.layout, &results) {
            let sql = record(worker, tenant, &results).map_err(StorageError::from)?;
            held.extend(self.in_turn(steered(vec![sql]), int).await?);
        }
        let places = results.iter().filter(|(place, _)| !held.contains(place));
        Ok(places.map(|(_, (key, _))| *key).collect())
    }

    async fn count_mail(&self, recipient: Recipient, day: Date, most: u32) -> Read<bool> {
        let mut sql = Sql::default();
        let before = sql.bind(Cell::Date(Date::from_epoch_days(day.epoch_days().saturating_sub(1))));
        sql.push(&format!("DELETE FROM recipient_mails WHERE day < {before}"));
        self.send(Transaction::alone(sql), |_| Ok(())).await?;
        let mut sql = Sql::default();
        let (day, recipient) = (sql.bind(Cell::Date(day)), sql.bind(Cell::Bytes(recipient.0.to_vec())));
        let most = sql.bind(Cell::Int(most.into()));
        sql.push(&format!(
            "INSERT INTO recipient_mails AS m (day, recipient, mails) VALUES ({day}, {recipient}, 1) \
             ON CONFLICT (day, recipient) DO UPDATE SET mails = m.mails + 1 WHERE m.mails < {most} RETURNING mails"
        ));
        Ok(!self.send(Transaction::alone(sql), int).await?.is_empty())
    }

    async fn counted_mails(&self, recipient: Recipient, day: Date) -> Read<u32> {
        let mut sql = Sql::default();
        let (day, recipient) = (sql.bind(Cell::Date(day)), sql.bind(Cell::Bytes(recipient.0.to_vec())));
        sql.push(&format!("SELECT mails FROM recipient_mails WHERE day = {day} AND recipient = {recipient}"));
        let counted = self.send(Transaction::alone(sql), int).await?.into_iter().next();
        Ok(counted.map_or(0, |mails| u32::try_from(mails).unwrap_or(u32::MAX)))
    }

    async fn mail_queue_state(&self, now: Timestamp) -> Read<QueueState> {
        let mut sql = Sql::default();
        let now = sql.bind(Cell::Time(now));
        sql.push(&state_of(&due(&now), "mail_due_at"));
        let sql = sql.planned_anew();
        if let Some(rows) = self.replica_answer(&sql, &state).await {
            return Ok(rows.into_iter().next().unwrap_or_default());
        }
        Ok(self.send(steered(vec![sql]), state).await?.into_iter().next().unwrap_or_default())
    }
}

/// What is due and nobody's, as the end of a statement.
fn due(now: &str) -> String {
    format!("invitations WHERE mail_due_at <= {now} AND (mail_leased_until IS NULL OR mail_leased_until <= {now})")
}

/// Whoever claims locks what nobody else is just claiming or changing.
fn claim(lease: Lease, now: Timestamp, most: u16) -> Sql {
    let mut sql = Sql::default();
    let (worker, until, now) = (sql.id(lease.worker.0), sql.bind(Cell::Time(lease.until)), sql.bind(Cell::Time(now)));
    let most = sql.bind(Cell::Int(i64::from(most)));
    sql.push(&format!(
        "WITH found AS MATERIALIZED (SELECT ctid AS place, mail_due_at FROM {} ORDER BY mail_due_at LIMIT {most} \
         FOR UPDATE SKIP LOCKED), leased AS (UPDATE invitations AS i SET mail_worker = {worker}, \
         mail_leased_until = {until} FROM found AS f WHERE i.ctid = f.place RETURNING i.tenant_id, i.id, f.mail_due_at) \
         SELECT tenant_id, id FROM leased ORDER BY mail_due_at",
        due(&now)
    ));
    sql
}

impl PostgresStore {
    /// Looks for what is due on every node, and leases of that what is still there on the node of each tenant.
    async fn claim_mails_by_tenant(&self, lease: Lease, now: Timestamp, most: u16) -> Read<Vec<MailKey>> {
        let mut sql = Sql::default();
        let (at, most) = (sql.bind(Cell::Time(now)), sql.bind(Cell::Int(i64::from(most))));
        sql.push(&format!("SELECT tenant_id, id FROM {} ORDER BY mail_due_at, id LIMIT {most}", due(&at)));
        let oldest = self.in_turn(Transaction::alone(sql), key).await?;
        let mut leased = vec![];
        for tenant in oldest.iter().map(|(it, _)| it.to_bytes()).collect::<BTreeSet<_>>() {
            let ids = oldest.iter().filter(|(it, _)| it.to_bytes() == tenant).map(|(_, id)| id.to_bytes());
            leased.extend(self.in_turn(Transaction::alone(claim_of(lease, now, tenant, ids)), key).await?);
        }
        Ok(oldest.into_iter().filter(|it| leased.contains(it)).collect())
    }
}

fn claim_of(lease: Lease, now: Timestamp, tenant: [u8; 16], ids: impl Iterator<Item = [u8; 16]>) -> Sql {
    let mut sql = Sql::default();
    let (worker, until, now) = (sql.id(lease.worker.0), sql.bind(Cell::Time(lease.until)), sql.bind(Cell::Time(now)));
    let (tenant, ids) = (sql.tenant(Tenant::from_bytes(tenant)), sql.ids(ids));
    sql.push(&format!(
        "WITH found AS MATERIALIZED (SELECT id FROM {} AND tenant_id = {tenant} AND id = ANY({ids}) ORDER BY id \
         FOR UPDATE SKIP LOCKED) UPDATE invitations AS i SET mail_worker = {worker}, mail_leased_until = {until} \
         FROM found AS f WHERE i.tenant_id = {tenant} AND i.id = f.id RETURNING i.tenant_id, i.id",
        due(&now)
    ));
    sql
}

fn key(row: &mut dyn Fetch) -> Result<MailKey, Failure> {
    Ok((owner(row)?, Id::from_bytes(crate::select::id(row)?)))
}

/// The tenants of results, each once, where these are spread over nodes; else all tenants at once.
fn each_tenant(layout: Layout, results: &[(i64, (MailKey, MailResult))]) -> Vec<Option<Tenant>> {
    if !layout.is_by_tenant() {
        return vec![None];
    }
    let tenants: BTreeSet<_> = results.iter().map(|(_, ((tenant, _), _))| tenant.to_bytes()).collect();
    tenants.into_iter().map(|it| Some(Tenant::from_bytes(it))).collect()
}

/// Changes the rows that the worker still has, and lets them and those that are released go. Its answer has the places
/// of the results that hold.
fn record(worker: WorkerId, of: Option<Tenant>, results: &[(i64, (MailKey, MailResult))]) -> Result<Sql, Unwritable> {
    let (mut changed, mut released) = (vec![], vec![]);
    for (place, ((tenant, id), result)) in results.iter().filter(|(_, ((it, _), _))| of.is_none_or(|of| of == *it)) {
        match result {
            MailResult::Changed(it) => {
                let row = AnyRow::of(&Row::seen(it.value.clone(), it.version));
                changed.push((*place, *tenant, it.version, row.cells()?.to_vec()));
            }
            MailResult::Released => released.push((*place, *tenant, *id)),
        }
    }
    let mut sql = Sql::default();
    let worker = sql.id(worker.0);
    let mut its_own = format!("AND i.mail_worker = {worker}");
    if let Some(tenant) = of {
        its_own.push_str(&format!(" AND i.tenant_id = {}", sql.tenant(tenant)));
    }
    let mut arrays = vec![
        sql.many(Type::Int, changed.iter().map(|(place, ..)| Cell::Int(*place))),
        sql.ids(changed.iter().map(|(_, tenant, ..)| tenant.to_bytes())),
        sql.many(Type::Int, changed.iter().map(|(_, _, seen, _)| Cell::Int(seen.0))),
    ];
    let columns: Vec<&Column> = Invitation::TABLE.columns.iter().collect();
    for (at, column) in columns.iter().enumerate() {
        let cells = changed.iter().map(|(.., cells)| cells.get(at).cloned().unwrap_or(Cell::Null(column.kind)));
        arrays.push(sql.many(column.kind, cells));
    }
    let names = columns.iter().map(|it| it.name).collect::<Vec<_>>().join(", ");
    let sets = columns.iter().skip(1).map(|it| format!("{0} = u.{0}", it.name)).collect::<Vec<_>>().join(", ");
    let free = [
        sql.many(Type::Int, released.iter().map(|(place, ..)| Cell::Int(*place))),
        sql.ids(released.iter().map(|(_, tenant, _)| tenant.to_bytes())),
        sql.ids(released.iter().map(|(.., id)| id.to_bytes())),
    ];
    sql.push(&format!(
        "WITH changed AS (UPDATE invitations AS i SET {sets}, version = u.seen + 1, mail_worker = NULL, \
         mail_leased_until = NULL FROM UNNEST({}) AS u (place, tenant_id, seen, {names}) WHERE i.tenant_id = u.tenant_id \
         AND i.id = u.id AND i.version = u.seen {its_own} RETURNING u.place), \
         released AS (UPDATE invitations AS i SET mail_worker = NULL, mail_leased_until = NULL \
         FROM UNNEST({}) AS u (place, tenant_id, id) WHERE i.tenant_id = u.tenant_id AND i.id = u.id \
         {its_own} RETURNING u.place) SELECT place FROM changed UNION ALL SELECT place FROM released",
        arrays.join(", "),
        free.join(", "),
    ));
    Ok(sql)
}
