//! Removal of data about people.

use async_trait::async_trait;

use candor_domain::access::Tenant;
use candor_domain::idempotency::Fingerprint;
use candor_port_storage::erasing::{ErasedRow, Erasing, ErasureChange, RemovalId};
use candor_port_storage::error::Read;
use candor_port_storage::{StorageError, StoredReplay};
use candor_tables::flat::{CellReader, MemberTable, SqlValue};

use crate::SqliteStore;
use crate::connection::writer;
use crate::removal;
use crate::sql::{Db, Sql};
use crate::text::Draft;

const ROWS: &str = "SELECT kind, id FROM erased_rows WHERE tenant_id = ? AND erasure_id = ?";

const REPLAYS: &str = "SELECT key, fingerprint, status, sealed FROM replays WHERE tenant_id = ? AND key > ? \
    ORDER BY key LIMIT ?";

#[async_trait]
impl Erasing for SqliteStore {
    async fn apply_erasure(&self, tenant: Tenant, changes: &[ErasureChange]) -> Read<()> {
        let changes = changes.to_vec();
        let apply = move |db: &mut Db| changes.iter().try_for_each(|change| removal::apply(db, tenant, change));
        writer::ask_for(&self.tasks, tenant, true, apply).await
    }

    async fn erased_rows(&self, tenant: Tenant, removal: RemovalId) -> Read<Vec<ErasedRow>> {
        let sql = Sql::new(ROWS).bind(tenant).bind(removal.to_bytes());
        self.read(tenant, move |db| db.rows(sql, read_erased)).await
    }

    async fn members_among(&self, tenant: Tenant, members: MemberTable, ids: &[[u8; 16]]) -> Read<Vec<[u8; 16]>> {
        let MemberTable { name, member, .. } = members;
        let mut draft = Draft::default();
        draft.with(&format!("SELECT DISTINCT {member} FROM {name} WHERE tenant_id = "), tenant);
        let ids: Vec<_> = ids.iter().copied().map(SqlValue::Id).collect();
        draft.any_of(&format!(" AND {member}"), &ids);
        let sql = draft.finish();
        let id = move |row: &mut dyn CellReader| Ok(row.id().map_err(corrupt(name, member))?.unwrap_or_default());
        self.read(tenant, move |db| db.rows(sql, id)).await
    }

    async fn replays(&self, tenant: Tenant, after: &str, most: u16) -> Read<Vec<(String, StoredReplay)>> {
        let sql = Sql::new(REPLAYS).bind(tenant).bind(after).bind(i64::from(most));
        self.read(tenant, move |db| db.rows(sql, read_replay)).await
    }

    /// Returns no table: freed pages are overwritten with zeros.
    fn tables_to_rewrite(&self) -> &'static [&'static str] {
        &[]
    }

    /// Truncates the write-ahead log, which holds older versions of pages.
    async fn scrub_files(&self) -> Read<()> {
        self.truncate_log().await
    }
}

fn corrupt(table: &'static str, column: &'static str) -> impl Fn(String) -> StorageError {
    move |reason| StorageError::Corrupt { table, column, reason }
}

fn read_erased(row: &mut dyn CellReader) -> Read<ErasedRow> {
    let kind = row.text().map_err(corrupt("erased_rows", "kind"))?.unwrap_or_default();
    let id = row.id().map_err(corrupt("erased_rows", "id"))?.unwrap_or_default();
    Ok(ErasedRow { kind, id })
}

fn read_replay(row: &mut dyn CellReader) -> Read<(String, StoredReplay)> {
    let key = row.text().map_err(corrupt("replays", "key"))?.unwrap_or_default();
    let fingerprint = row.bytes().map_err(corrupt("replays", "fingerprint"))?.unwrap_or_default();
    let fingerprint = <[u8; 32]>::try_from(fingerprint)
        .map_err(|_| corrupt("replays", "fingerprint")("not 32 bytes".to_owned()))?;
    let status = row.int().map_err(corrupt("replays", "status"))?.unwrap_or_default();
    let status = u16::try_from(status).map_err(|error| corrupt("replays", "status")(error.to_string()))?;
    let sealed_reply = row.bytes().map_err(corrupt("replays", "sealed"))?.unwrap_or_default();
    Ok((key, StoredReplay { fingerprint: Fingerprint::from_bytes(fingerprint), status, sealed: sealed_reply }))
}
