//! Queue of invitation mails, stored in the rows of the invitations.

use async_trait::async_trait;
use candor_domain::access::Tenant;
use candor_domain::id::Id;
use candor_domain::people::Invitation;
use candor_domain::people::invitation::MailCounter;
use candor_domain::time::{Date, Timestamp};
use candor_port_storage::Row;
use candor_port_storage::StorageError;
use candor_port_storage::error::Read;
use candor_port_storage::mail_queue::{MailKey, MailQueue, MailResult};
use candor_port_storage::queue::{Lease, QueueState, WorkerId};
use candor_tables::AnyRow;
use candor_tables::RowWriteError;
use candor_tables::flat::{CellReader, Column, SqlValue, Stored, Type};

use super::{state, state_of};
use crate::failure::Failure;
use crate::layout::SharedLayout;
use crate::nodes::transaction::Transaction;
use crate::sql::Sql;
use crate::sql::row::{int, owner};
use crate::store::PostgresStore;

#[async_trait]
impl MailQueue for PostgresStore {
    async fn claim_mails(&self, lease: Lease, now: Timestamp, most: u16, except: &[Tenant]) -> Read<Vec<MailKey>> {
        let mut claimed_mails = vec![];
        for claim in self.plan_mail_leases(lease, now, most, except).await? {
            claimed_mails.extend(self.in_turn(self.lease_transaction(claim), due_mail).await?);
        }
        claimed_mails.sort_by_key(|(due_at, (tenant, id))| (*due_at, tenant.to_bytes(), id.to_bytes()));
        Ok(claimed_mails.into_iter().map(|(_, key)| key).collect())
    }

    async fn record_mails(&self, worker: WorkerId, results: Vec<(MailKey, MailResult)>) -> Read<Vec<MailKey>> {
        let results: Vec<_> = (0..).zip(results).collect();
        let mut locked_mails = vec![];
        for scope in self.layout.scopes(results.iter().map(|(_, ((tenant, _), _))| *tenant).collect::<Vec<_>>()) {
            let sql = record(worker, scope, &results).map_err(StorageError::from)?;
            locked_mails.extend(self.in_turn(Transaction::with_index_plans(vec![sql]), int).await?);
        }
        let places = results.iter().filter(|(place, _)| !locked_mails.contains(place));
        Ok(places.map(|(_, (key, _))| *key).collect())
    }

    async fn count_mail(&self, counter: MailCounter, day: Date, most: u32) -> Read<bool> {
        let mut sql = Sql::default();
        let day_before = sql.bind(SqlValue::Date(Date::from_epoch_days(day.epoch_days().saturating_sub(1))));
        sql.push(&format!("DELETE FROM recipient_mails WHERE day < {day_before}"));
        self.send(Transaction::single_statement(sql), |_| Ok(())).await?;
        let mut sql = Sql::default();
        let (day, recipient) = (sql.bind(SqlValue::Date(day)), sql.bind(SqlValue::Bytes(counter.0.to_vec())));
        let most = sql.bind(SqlValue::Int(most.into()));
        sql.push(&format!(
            "INSERT INTO recipient_mails AS m (day, recipient, mails) VALUES ({day}, {recipient}, 1) \
             ON CONFLICT (day, recipient) DO UPDATE SET mails = m.mails + 1 WHERE m.mails < {most} RETURNING mails"
        ));
        Ok(!self.send(Transaction::single_statement(sql), int).await?.is_empty())
    }

    async fn counted_mails(&self, counter: MailCounter, day: Date) -> Read<u32> {
        let mut sql = Sql::default();
        let (day, recipient) = (sql.bind(SqlValue::Date(day)), sql.bind(SqlValue::Bytes(counter.0.to_vec())));
        sql.push(&format!("SELECT mails FROM recipient_mails WHERE day = {day} AND recipient = {recipient}"));
        let mail_count = self.send(Transaction::single_statement(sql), int).await?.into_iter().next();
        Ok(mail_count.map_or(0, |mails| u32::try_from(mails).unwrap_or(u32::MAX)))
    }

    async fn mail_queue_state(&self, now: Timestamp) -> Read<QueueState> {
        let mut sql = Sql::default();
        let now = sql.bind(SqlValue::Time(now));
        sql.push(&state_of(&due_mails("", &now), "mail_due_at"));
        let sql = sql.planned_anew();
        if let Some(rows) = self.read_replica_values(&sql, &state).await {
            return Ok(rows.into_iter().next().unwrap_or_default());
        }
        Ok(self
            .send(Transaction::with_index_plans(vec![sql]), state)
            .await?
            .into_iter()
            .next()
            .unwrap_or_default())
    }
}

/// Table and condition of the due, unleased mails. `which` is an additional condition.
fn due_mails(which: &str, now: &str) -> String {
    format!(
        "invitations WHERE {which}mail_due_at <= {now} AND (mail_leased_until IS NULL \
         OR mail_leased_until <= {now})"
    )
}

impl PostgresStore {
    /// Builds the leases of a claim: one statement, or one for each tenant with due mails.
    async fn plan_mail_leases(
        &self,
        lease: Lease,
        now: Timestamp,
        most: u16,
        except: &[Tenant],
    ) -> Read<Vec<Sql>> {
        if self.layout.spans_tenants() {
            return Ok(vec![claim(self.layout, lease, now, most, &DueMails::OfOthers(except))]);
        }
        let mut sql = Sql::default();
        let others = exclude_tenants(&mut sql, except);
        let (at, limit) = (sql.bind(SqlValue::Time(now)), sql.bind(SqlValue::Int(i64::from(most))));
        sql.push(&format!(
            "SELECT tenant_id, id FROM {} ORDER BY mail_due_at, id LIMIT {limit}",
            due_mails(&others, &at)
        ));
        let oldest = self.in_turn(Transaction::single_statement(sql), key).await?;
        let scopes = self.layout.scopes(oldest.iter().map(|(tenant, _)| *tenant).collect::<Vec<_>>());
        let leases = scopes.into_iter().flatten().map(|tenant| {
            let ids = oldest.iter().filter(|(owner, _)| *owner == tenant).map(|(_, id)| id.to_bytes());
            claim(self.layout, lease, now, most, &DueMails::These(tenant, ids.collect()))
        });
        Ok(leases.collect())
    }
}

/// The due mails that a statement leases.
enum DueMails<'a> {
    /// The due mails of all tenants except these.
    OfOthers(&'a [Tenant]),
    /// The mails of one tenant with these ids.
    These(Tenant, Vec<[u8; 16]>),
}

/// Returns the condition that a mail is of none of these tenants.
fn exclude_tenants(sql: &mut Sql, except: &[Tenant]) -> String {
    except.iter().map(|tenant| format!("tenant_id <> {} AND ", sql.id(tenant.to_bytes()))).collect()
}

/// Builds a lease of due mails that no other transaction has locked.
fn claim(layout: SharedLayout, lease: Lease, now: Timestamp, most: u16, mails: &DueMails<'_>) -> Sql {
    let mut sql = Sql::default();
    let (worker, until, now) =
        (sql.id(lease.worker.0), sql.bind(SqlValue::Time(lease.until)), sql.bind(SqlValue::Time(now)));
    let most = sql.bind(SqlValue::Int(i64::from(most)));
    let (tenant, which) = match mails {
        DueMails::OfOthers(except) => (String::new(), exclude_tenants(&mut sql, except)),
        DueMails::These(owner, ids) => {
            let tenant = sql.tenant(*owner);
            let which = format!("tenant_id = {tenant} AND id = ANY({}) AND ", sql.ids(ids.iter().copied()));
            (tenant, which)
        }
    };
    let address = layout.address(&["id"]);
    sql.push(&format!(
        "WITH found AS MATERIALIZED (SELECT {}, mail_due_at FROM {} ORDER BY mail_due_at LIMIT {most} \
         FOR UPDATE SKIP LOCKED) UPDATE invitations AS i SET mail_worker = {worker}, mail_leased_until = {until} \
         FROM found AS f WHERE {} RETURNING f.mail_due_at, i.tenant_id, i.id",
        address.columns(),
        due_mails(&which, &now),
        address.is_same("i", "f", &tenant),
    ));
    sql
}

/// Reads a leased mail with its due time.
fn due_mail(row: &mut dyn CellReader) -> Result<(Option<Timestamp>, MailKey), Failure> {
    Ok((row.time().map_err(Failure::Other)?, key(row)?))
}

fn key(row: &mut dyn CellReader) -> Result<MailKey, Failure> {
    Ok((owner(row)?, Id::from_bytes(crate::sql::row::id(row)?)))
}

/// Builds the statement that updates the mails still leased by the worker, and ends the leases. It returns the
/// indexes of the recorded results.
fn record(
    worker: WorkerId,
    of: Option<Tenant>,
    results: &[(i64, (MailKey, MailResult))],
) -> Result<Sql, RowWriteError> {
    let (mut changed, mut released) = (vec![], vec![]);
    for (place, ((tenant, id), result)) in
        results.iter().filter(|(_, ((result, _), _))| of.is_none_or(|of| of == *result))
    {
        match result {
            MailResult::Changed(it) => {
                let row = AnyRow::from_row(&Row::at_version(it.value.clone(), it.version));
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
        sql.many(Type::Int, changed.iter().map(|(place, ..)| SqlValue::Int(*place))),
        sql.ids(changed.iter().map(|(_, tenant, ..)| tenant.to_bytes())),
        sql.many(Type::Int, changed.iter().map(|(_, _, seen, _)| SqlValue::Int(seen.0))),
    ];
    let columns: Vec<&Column> = Invitation::TABLE.columns.iter().collect();
    for (at, column) in columns.iter().enumerate() {
        let cells =
            changed.iter().map(|(.., cells)| cells.get(at).cloned().unwrap_or(SqlValue::Null(column.kind)));
        arrays.push(sql.many(column.kind, cells));
    }
    let names = columns.iter().map(|column| column.name).collect::<Vec<_>>().join(", ");
    let sets =
        columns.iter().skip(1).map(|column| format!("{0} = u.{0}", column.name)).collect::<Vec<_>>().join(", ");
    let free = [
        sql.many(Type::Int, released.iter().map(|(place, ..)| SqlValue::Int(*place))),
        sql.ids(released.iter().map(|(_, tenant, _)| tenant.to_bytes())),
        sql.ids(released.iter().map(|(.., id)| id.to_bytes())),
    ];
    sql.push(&format!(
        "WITH changed AS (UPDATE invitations AS i SET {sets}, version = u.seen + 1, mail_worker = NULL, \
         mail_leased_until = NULL FROM UNNEST({}) AS u (place, tenant_id, seen, {names}) \
         WHERE i.tenant_id = u.tenant_id \
         AND i.id = u.id AND i.version = u.seen {its_own} RETURNING u.place), \
         released AS (UPDATE invitations AS i SET mail_worker = NULL, mail_leased_until = NULL \
         FROM UNNEST({}) AS u (place, tenant_id, id) WHERE i.tenant_id = u.tenant_id AND i.id = u.id \
         {its_own} RETURNING u.place) SELECT place FROM changed UNION ALL SELECT place FROM released",
        arrays.join(", "),
        free.join(", "),
    ));
    Ok(sql)
}
