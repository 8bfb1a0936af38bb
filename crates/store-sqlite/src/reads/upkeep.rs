//! Master keys, removal of test data, sizes of tables, and a test write for health checks.

use async_trait::async_trait;

use candor_domain::access::Tenant;
use candor_domain::time::Timestamp;
use candor_port_storage::StorageError;
use candor_port_storage::error::Read;
use candor_port_storage::upkeep::{Emptied, MasterKey, Upkeep};
use candor_tables::copy::CopyTable;
use candor_tables::flat::CellReader;
use candor_tables::schema::SchemaTable;
use candor_tables::sizes::{TablePiece, piece_statement};

use crate::SqliteStore;
use crate::connection::writer;
use crate::sql::refusal::commit_error;
use crate::sql::{Db, Sql};

const MASTER_KEYS: &str = "SELECT key_id, fingerprint, sealed, recorded_at FROM master_keys ORDER BY key_id";

const ADD_MASTER_KEY: &str = "INSERT INTO master_keys (key_id, fingerprint, sealed, recorded_at) \
    SELECT ?1, ?2, ?3, ?4 WHERE (SELECT count(*) FROM master_keys) = ?5 ON CONFLICT DO NOTHING";

const TREE_CHANGED: &str = "UPDATE reporting_trees SET version = version + 1, changes = changes + 1, rebuilt_until = NULL WHERE tenant_id = ?";

const PROBE: &str = "INSERT INTO write_probes (id, probed_at) VALUES (1, ?) \
    ON CONFLICT (id) DO UPDATE SET probed_at = excluded.probed_at";

#[async_trait]
impl Upkeep for SqliteStore {
    async fn master_keys(&self) -> Read<Vec<MasterKey>> {
        self.read(None, master_keys).await
    }

    async fn add_master_key(&self, key: MasterKey, seen: usize) -> Read<()> {
        writer::ask(&self.tasks, None, move |db| add(db, &key, seen)).await
    }

    async fn replace_master_keys(&self, key: MasterKey) -> Read<()> {
        writer::ask(&self.tasks, None, move |db| {
            db.run(&Sql::new("DELETE FROM master_keys"))?;
            add(db, &key, 0)
        })
        .await
    }

    async fn empty(&self, tenant: Tenant, table: &'static SchemaTable, most: u32) -> Emptied {
        writer::ask_for(&self.tasks, tenant, true, move |db| empty(db, tenant, table, most)).await
    }

    async fn measure(&self, tenant: Tenant, table: &CopyTable, after: [u8; 16]) -> Read<TablePiece> {
        let size = |column: &str| format!("coalesce(length(CAST({column} AS BLOB)), 0)");
        let sql = Sql::new(piece_statement(table, "?1", "?2", size)).bind(tenant).bind(after);
        Ok(self.read(None, move |db| db.first(sql, piece)).await?.unwrap_or_default())
    }

    /// Returns `None`: an embedded database has no clock of its own.
    async fn time(&self) -> Read<Option<Timestamp>> {
        Ok(None)
    }

    async fn probe_write(&self, at: Timestamp) -> Read<()> {
        let probe = move |db: &mut Db| db.run(&Sql::new(PROBE).bind(at)).map(drop);
        writer::ask(&self.tasks, None, probe).await
    }
}

fn piece(row: &mut dyn CellReader) -> Read<TablePiece> {
    let to_failed = StorageError::Failed;
    let rows = row.int().map_err(to_failed)?.unwrap_or(0).unsigned_abs();
    let last = row.id().map_err(to_failed)?;
    let sampled_rows = row.int().map_err(to_failed)?.unwrap_or(0).unsigned_abs();
    let sampled_bytes = row.int().map_err(to_failed)?.unwrap_or(0).unsigned_abs();
    Ok(TablePiece { rows, last, sampled_rows, sampled_bytes })
}

/// Deletes up to `most` rows. Employees reference their managers, so those references are removed first.
fn empty(db: &mut Db, tenant: Tenant, table: &'static SchemaTable, most: u32) -> Emptied {
    let (name, key) = (table.name, table.key.join(", "));
    let some = |which: &str| {
        format!("tenant_id = ?1 AND ({key}) IN (SELECT {key} FROM {name} WHERE tenant_id = ?1{which} LIMIT ?2)")
    };
    if name == "employees" {
        let lines = some(" AND manager_id IS NOT NULL");
        let cut = change(db, tenant, format!("UPDATE employees SET manager_id = NULL WHERE {lines}"), most)?;
        if cut > 0 {
            return Ok(cut);
        }
    }
    let removed_count = change(db, tenant, format!("DELETE FROM {name} WHERE {}", some("")), most)?;
    if removed_count > 0 && name == "reporting_lines" {
        let sql = Sql::new(TREE_CHANGED).bind(tenant);
        db.execute(&sql).map_err(|error| commit_error(&error))?;
    }
    Ok(removed_count)
}

/// Changes at most `most` rows of a tenant and returns their number.
fn change(db: &mut Db, tenant: Tenant, text: String, most: u32) -> Emptied {
    let sql = Sql::new(text).bind(tenant).bind(i64::from(most));
    db.execute(&sql).map(|rows| rows as u64).map_err(|error| commit_error(&error))
}

fn add(db: &mut Db, key: &MasterKey, seen: usize) -> Read<()> {
    let sql = Sql::new(ADD_MASTER_KEY)
        .bind(key.key_id.as_str())
        .bind(key.fingerprint.as_str())
        .bind(key.sealed.as_slice())
        .bind(key.recorded_at)
        .bind(i64::try_from(seen).unwrap_or(i64::MAX));
    db.run(&sql).map(drop)
}

/// Returns the master keys that sealed data in the database.
pub(crate) fn master_keys(db: &mut Db) -> Read<Vec<MasterKey>> {
    db.rows(Sql::new(MASTER_KEYS), master_key)
}

fn master_key(row: &mut dyn CellReader) -> Read<MasterKey> {
    let corrupt = |column| move |reason| StorageError::Corrupt { table: "master_keys", column, reason };
    Ok(MasterKey {
        key_id: row.text().map_err(corrupt("key_id"))?.unwrap_or_default(),
        fingerprint: row.text().map_err(corrupt("fingerprint"))?.unwrap_or_default(),
        sealed: row.bytes().map_err(corrupt("sealed"))?.unwrap_or_default(),
        recorded_at: row.time().map_err(corrupt("recorded_at"))?.unwrap_or(Timestamp::from_millis(0)),
    })
}
