//! Tenants of secrets. A key or a token is looked up before its tenant is known, but its row is on the tenant's
//! node. So every node has a table with the tenant of each hash.

use candor_tables::flat::{SqlValue, Table};

use super::tables::CREDENTIAL_TENANTS;
use crate::layout::Statement;
use crate::layout::rows::{Entry, written_columns};
use crate::sql::Sql;

/// Columns with the hash of a secret.
const SECRETS: [&str; 3] = ["hash", "previous_hash", "token_hash"];

/// Returns `true` for a column with the hash of a secret.
pub(super) fn is_secret(column: &str) -> bool {
    SECRETS.contains(&column)
}

/// Records the tenant of each secret that these rows contain, in the table that every node has.
pub(super) fn name_tenant(statement: &mut Statement, table: &Table, tenant: &str, rows: &[&Entry<'_>]) {
    for row in rows {
        let secrets = written_columns(table).zip(row.cells).filter(|(column, _)| is_secret(column.name));
        let hashes = secrets.map(|(_, cell)| cell.clone()).filter(|cell| matches!(cell, SqlValue::Bytes(_)));
        for hash in hashes.collect::<Vec<_>>() {
            let hash = statement.sql.bind(hash);
            let text = format!(
                "INSERT INTO {CREDENTIAL_TENANTS} (hash, tenant_id) VALUES ({hash}, {tenant}) \
                 ON CONFLICT (hash) DO NOTHING"
            );
            statement.part(&text);
        }
    }
}

/// Builds the query for the tenant of a secret. Every node can answer it.
pub(super) fn tenant_of(hash: SqlValue) -> Sql {
    let mut sql = Sql::default();
    let hash = sql.bind(hash);
    sql.push(&format!("SELECT tenant_id FROM {CREDENTIAL_TENANTS} WHERE hash = {hash}"));
    sql
}
