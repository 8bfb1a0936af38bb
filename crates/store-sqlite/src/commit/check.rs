//! Check of a change set against the stored rows, on a connection that only reads.

use candor_domain::access::Tenant;
use candor_port_storage::change::RowKey;
use candor_port_storage::{CommitCondition, StorageError};

use crate::commit::{holds, is_open, lines};
use crate::sql::{Db, Sql};
use crate::table::has_version;

/// Returns the first of the conditions that does not hold. `None` if all conditions hold.
pub(crate) fn first_broken(
    db: &mut Db,
    tenant: Tenant,
    conditions: Vec<CommitCondition>,
) -> Result<Option<CommitCondition>, StorageError> {
    for condition in conditions {
        if !condition_holds(db, tenant, &condition)? {
            return Ok(Some(condition));
        }
    }
    Ok(None)
}

fn condition_holds(db: &mut Db, tenant: Tenant, condition: &CommitCondition) -> Result<bool, StorageError> {
    match condition {
        CommitCondition::Required(require) => holds(db, tenant, *require),
        CommitCondition::HasVersion(RowKey { table, id }, version) => {
            has_version(db, table.tenant(tenant), table.name, *id, *version)
        }
        CommitCondition::IsAbsent(RowKey { table, id }) => {
            let text = format!("SELECT 1 FROM {} WHERE tenant_id = ? AND id = ?", table.name);
            Ok(!db.exists(Sql::new(text).bind(table.tenant(tenant)).bind(*id))?)
        }
        CommitCondition::IsOpen(key) => is_open(db, tenant, *key),
        CommitCondition::IsFree(RowKey { table, id }, column, value) => {
            let (name, column) = (table.name, column.column);
            let text = format!("SELECT 1 FROM {name} WHERE tenant_id = ? AND {column} = ? AND id <> ?");
            Ok(!db.exists(Sql::new(text).bind(table.tenant(tenant)).bind(value.clone()).bind(*id))?)
        }
        CommitCondition::TreeHasVersion(version) => Ok(lines::version(db, tenant)? == *version),
    }
}
