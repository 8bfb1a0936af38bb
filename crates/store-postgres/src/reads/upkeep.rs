//! Upkeep of the store: master keys, sizes of tables, removal of test data, the server's clock, and a write probe.

use async_trait::async_trait;

use candor_domain::access::Tenant;
use candor_domain::time::Timestamp;
use candor_port_storage::error::Read;
use candor_port_storage::upkeep::{Emptied, MasterKey, Upkeep};
use candor_tables::copy::CopyTable;
use candor_tables::flat::{CellReader, SqlValue};
use candor_tables::schema::SchemaTable;
use candor_tables::sizes::{TablePiece, piece_statement};

use crate::connection::session::run;
use crate::failure::Failure;
use crate::nodes::transaction::Transaction;
use crate::options::PostgresOptions;
use crate::schema::session::{SchemaError, connect, one, schema_error};
use crate::sql::Sql;
use crate::sql::row::{flag, int};
use crate::store::PostgresStore;

const MASTER_KEYS: &str =
    "SELECT key_id, fingerprint, sealed, recorded_at FROM master_keys ORDER BY key_id COLLATE \"C\"";

/// Locks the table of master keys, so that each change sees the previous one. Readers do not wait.
const LOCK: &str = "LOCK TABLE master_keys IN EXCLUSIVE MODE";

/// Reads the master keys that sealed data in a database, whatever the version of its schema. Returns none if the table
/// does not exist yet.
///
/// # Errors
/// [`SchemaError`].
pub async fn master_keys(options: &PostgresOptions) -> Result<Vec<MasterKey>, SchemaError> {
    let connection = connect(options).await?;
    if !one(&connection, "SELECT to_regclass('master_keys') IS NOT NULL", flag).await? {
        return Ok(vec![]);
    }
    run(&connection, &Sql::plain(MASTER_KEYS), master_key).await.map_err(schema_error)
}

#[async_trait]
impl Upkeep for PostgresStore {
    async fn master_keys(&self) -> Read<Vec<MasterKey>> {
        self.read(&Sql::plain(MASTER_KEYS), master_key).await
    }

    async fn add_master_key(&self, key: MasterKey, seen: usize) -> Read<()> {
        let statements = vec![Sql::plain(LOCK), addition(&key, seen)];
        self.send(Transaction::new(statements, 1), |_| Ok(())).await.map(drop)
    }

    async fn replace_master_keys(&self, key: MasterKey) -> Read<()> {
        let statements = vec![Sql::plain(LOCK), Sql::plain("DELETE FROM master_keys"), addition(&key, 0)];
        self.send(Transaction::new(statements, 2), |_| Ok(())).await.map(drop)
    }

    async fn empty(&self, tenant: Tenant, table: &'static SchemaTable, most: u32) -> Emptied {
        self.empty_piece(tenant, table.name, most).await
    }

    async fn measure(&self, tenant: Tenant, table: &CopyTable, after: [u8; 16]) -> Read<TablePiece> {
        let mut sql = Sql::default();
        let (tenant, after) = (sql.tenant(tenant), sql.id(after));
        // Stored size, so that a long text need not be decompressed.
        sql.push(&piece_statement(table, &tenant, &after, |column| {
            format!("coalesce(pg_column_size({column}), 0)")
        }));
        Ok(self.find(&sql, piece).await?.unwrap_or_default())
    }

    async fn time(&self) -> Read<Option<Timestamp>> {
        let time = |row: &mut dyn CellReader| row.time().map_err(Failure::Other);
        Ok(self.find(&Sql::plain("SELECT clock_timestamp()"), time).await?.flatten())
    }

    /// Uses a pooled connection, like a change set, so that an exhausted pool fails the probe as well.
    async fn probe_write(&self, at: Timestamp) -> Read<()> {
        let mut sql = Sql::default();
        let current_time = sql.bind(SqlValue::Time(at));
        sql.push(&format!(
            "INSERT INTO write_probes (id, probed_at) VALUES (1, {current_time}) \
             ON CONFLICT (id) DO UPDATE SET probed_at = excluded.probed_at"
        ));
        self.send(Transaction::single_statement(sql), |_| Ok(())).await.map(drop)
    }
}

fn piece(row: &mut dyn CellReader) -> Result<TablePiece, Failure> {
    Ok(TablePiece {
        rows: int(row)?.unsigned_abs(),
        last: row.id().map_err(Failure::Other)?,
        sampled_rows: int(row)?.unsigned_abs(),
        sampled_bytes: int(row)?.unsigned_abs(),
    })
}

fn addition(key: &MasterKey, seen: usize) -> Sql {
    let mut sql = Sql::default();
    let values = [
        sql.bind(SqlValue::Text(key.key_id.clone())),
        sql.bind(SqlValue::Text(key.fingerprint.clone())),
        sql.bind(SqlValue::Bytes(key.sealed.clone())),
        sql.bind(SqlValue::Time(key.recorded_at)),
    ];
    let seen_count = sql.bind(SqlValue::Int(i64::try_from(seen).unwrap_or(i64::MAX)));
    sql.push(&format!(
        "INSERT INTO master_keys (key_id, fingerprint, sealed, recorded_at) SELECT {} \
         WHERE (SELECT count(*) FROM master_keys) = {seen_count} ON CONFLICT DO NOTHING",
        values.join(", ")
    ));
    sql
}

fn master_key(row: &mut dyn CellReader) -> Result<MasterKey, Failure> {
    Ok(MasterKey {
        key_id: row.text().map_err(Failure::Other)?.unwrap_or_default(),
        fingerprint: row.text().map_err(Failure::Other)?.unwrap_or_default(),
        sealed: row.bytes().map_err(Failure::Other)?.unwrap_or_default(),
        recorded_at: row.time().map_err(Failure::Other)?.unwrap_or(Timestamp::from_millis(0)),
    })
}
