//! Statements that remove data.

use candor_domain::access::Tenant;
use candor_port_storage::erasing::ErasureChange;
use candor_tables::flat::{SqlValue, Type};

use super::Sql;

/// Returns the statement of one change that removes data.
pub(crate) fn removal(tenant: Tenant, change: &ErasureChange) -> Sql {
    let mut sql = Sql::default();
    let tenant = sql.tenant(tenant);
    match change {
        ErasureChange::RequireUnheld { people } => {
            // The lock keeps a hold from being set until the piece is committed. The cast of a text that is no
            // number fails the piece.
            let people = sql.ids(people.iter().map(|id| id.to_bytes()));
            sql.push(&format!(
                "SELECT (CASE WHEN bool_or(held_at IS NOT NULL) THEN 'legal hold of ' || count(*) ELSE '0' END)::int \
                 FROM (SELECT held_at FROM employees WHERE tenant_id = {tenant} AND id = ANY({people}) FOR SHARE) AS h"
            ));
        }
        ErasureChange::Delete { table, by, values } => {
            let values = sql.many(by.kind, values.iter().cloned());
            let column = by.name;
            sql.push(&format!("DELETE FROM {table} WHERE tenant_id = {tenant} AND {column} = ANY({values})"));
        }
        ErasureChange::Overwrite { table, by, values, set } => {
            let set: Vec<_> = set
                .iter()
                .map(|(column, value)| format!("{} = {}", column.name, sql.bind(value.clone())))
                .collect();
            let (set, values, column) = (set.join(", "), sql.many(by.kind, values.iter().cloned()), by.name);
            sql.push(&format!("UPDATE {table} SET {set} WHERE tenant_id = {tenant} AND {column} = ANY({values})"));
        }
        ErasureChange::Record { removal, kind, ids } => {
            let (removal, kind) = (sql.id(removal.to_bytes()), sql.bind(SqlValue::Text((*kind).to_owned())));
            let ids = sql.many(Type::Id, ids.iter().copied().map(SqlValue::Id));
            sql.push(&format!(
                "INSERT INTO erased_rows (tenant_id, erasure_id, kind, id) \
                 SELECT {tenant}::uuid, {removal}::uuid, {kind}::text, r.id FROM UNNEST({ids}) AS r(id) \
                 ON CONFLICT DO NOTHING"
            ));
        }
    }
    sql
}
