//! Removal of data about people.

use std::sync::LazyLock;

use async_trait::async_trait;

use candor_domain::access::Tenant;
use candor_domain::erasure::texts::erased_tables;
use candor_port_storage::StoredReplay;
use candor_port_storage::erasing::{ErasedRow, Erasing, ErasureChange, RemovalId};
use candor_port_storage::error::Read;
use candor_tables::flat::{CellReader, MemberTable, SqlValue};

use super::history::read_replay;
use crate::failure::Failure;
use crate::nodes::transaction::Transaction;
use crate::sql::Sql;
use crate::sql::removal::removal;
use crate::sql::row::id;
use crate::store::PostgresStore;

/// Tables that the operator rewrites after erasures. A plain `VACUUM` frees the space of removed rows without overwriting
/// it.
pub(crate) static REWRITTEN: LazyLock<Vec<&'static str>> = LazyLock::new(|| erased_tables().into_iter().collect());

#[async_trait]
impl Erasing for PostgresStore {
    async fn apply_erasure(&self, tenant: Tenant, changes: &[ErasureChange]) -> Read<()> {
        let statements: Vec<_> = changes.iter().map(|change| removal(tenant, change)).collect();
        if statements.is_empty() {
            return Ok(());
        }
        self.send(Transaction::new(statements, 0), |_| Ok(())).await.map(drop)
    }

    async fn erased_rows(&self, tenant: Tenant, removal: RemovalId) -> Read<Vec<ErasedRow>> {
        let mut sql = Sql::default();
        let (tenant, removal) = (sql.tenant(tenant), sql.id(removal.to_bytes()));
        sql.push(&format!(
            "SELECT kind, id FROM erased_rows WHERE tenant_id = {tenant} AND erasure_id = {removal}"
        ));
        let read_erased = |row: &mut dyn CellReader| {
            let kind = row.text().map_err(Failure::Other)?.unwrap_or_default();
            Ok(ErasedRow { kind, id: id(row)? })
        };
        self.run_exclusive(&sql, read_erased).await
    }

    async fn members_among(&self, tenant: Tenant, members: MemberTable, ids: &[[u8; 16]]) -> Read<Vec<[u8; 16]>> {
        let MemberTable { name, member, .. } = members;
        let mut sql = Sql::default();
        let (tenant, ids) = (sql.tenant(tenant), sql.ids(ids.iter().copied()));
        sql.push(&format!(
            "SELECT DISTINCT {member} FROM {name} WHERE tenant_id = {tenant} AND {member} = ANY({ids})"
        ));
        self.run_exclusive(&sql, id).await
    }

    async fn replays(&self, tenant: Tenant, after: &str, most: u16) -> Read<Vec<(String, StoredReplay)>> {
        let mut sql = Sql::default();
        let (tenant, after) = (sql.tenant(tenant), sql.bind(SqlValue::Text(after.to_owned())));
        let most = sql.bind(SqlValue::Int(i64::from(most)));
        sql.push(&format!(
            "SELECT key, fingerprint, status, sealed FROM replays WHERE tenant_id = {tenant} AND key > {after} \
             ORDER BY key LIMIT {most}"
        ));
        let read_row = |row: &mut dyn CellReader| {
            let key = row.text().map_err(Failure::Other)?.unwrap_or_default();
            Ok((key, read_replay(row)?))
        };
        self.run_exclusive(&sql, read_row).await
    }

    fn tables_to_rewrite(&self) -> &'static [&'static str] {
        &REWRITTEN
    }

    /// Does nothing: rewriting a table locks it, so an operator chooses the time.
    async fn scrub_files(&self) -> Read<()> {
        Ok(())
    }
}
