//! Rows from before there was an index of words.

use async_trait::async_trait;

use candor_domain::access::Tenant;
use candor_port_storage::backlog::{Backlog, Indexing};
use candor_port_storage::flat::Fetch;
use candor_port_storage::store::Read;
use candor_port_storage::{AnyRow, CommitError, StorageError};

use crate::SqliteStore;
use crate::commit::refusal::refused;
use crate::connection::writer;
use crate::search;
use crate::sql::{Db, Sql, Value};
use crate::table::{has_version, tenant_of};

const BACKLOG: &str = "SELECT tenant_id, table_name, after_id FROM search_backlog \
    WHERE ?1 IS NULL OR tenant_id = ?1 ORDER BY tenant_id, table_name LIMIT ?2";
const GONE_ON: &str = "UPDATE search_backlog SET after_id = ? WHERE tenant_id = ? AND table_name = ? AND after_id = ?";
const DONE: &str = "DELETE FROM search_backlog WHERE tenant_id = ? AND table_name = ? AND after_id = ?";

#[async_trait]
impl Indexing for SqliteStore {
    async fn index_backlog(&self, tenant: Option<Tenant>, most: u16) -> Read<Vec<Backlog>> {
        let tenant = tenant.map_or(Value::Null, Value::from);
        self.look_up(move |db| db.rows(Sql::new(BACKLOG).bind(tenant).bind(i64::from(most)), backlog)).await
    }

    async fn index(&self, backlog: &Backlog, rows: Vec<AnyRow>, up_to: Option<[u8; 16]>) -> Read<()> {
        let backlog = backlog.clone();
        let done = writer::ask_for(&self.tasks, true, move |db| index(db, &backlog, &rows, up_to)).await;
        done.map_err(|it| match it {
            CommitError::Storage(error) => error,
            CommitError::Stale
            | CommitError::Taken(_)
            | CommitError::Broken(_)
            | CommitError::Missing
            | CommitError::Replayed => StorageError::Failed(it.to_string()),
        })
    }
}

fn index(db: &mut Db, backlog: &Backlog, rows: &[AnyRow], up_to: Option<[u8; 16]>) -> Result<(), CommitError> {
    let tenant = backlog.tenant;
    for row in rows {
        if let Some(seen) = row.seen()
            && has_version(db, tenant, row.table().name, row.id(), seen)?
        {
            search::write(db, tenant, row);
        }
    }
    let sql = match up_to {
        Some(id) => Sql::new(GONE_ON).bind(id),
        None => Sql::new(DONE),
    };
    let sql = sql.bind(tenant).bind(backlog.table.as_str()).bind(backlog.after);
    db.execute(&sql).map(drop).map_err(|it| refused(&it))
}

fn backlog(row: &mut dyn Fetch) -> Result<Backlog, StorageError> {
    const TABLE: &str = "search_backlog";
    let corrupt = |column| move |reason| StorageError::Corrupt { table: TABLE, column, reason };
    Ok(Backlog {
        tenant: tenant_of(row, TABLE)?,
        table: row.text().map_err(corrupt("table_name"))?.unwrap_or_default(),
        after: row.id().map_err(corrupt("after_id"))?.unwrap_or_default(),
    })
}
