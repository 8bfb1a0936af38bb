//! Changes that remove data.

use candor_domain::access::Tenant;
use candor_port_storage::StorageError;
use candor_port_storage::erasing::ErasureChange;
use candor_tables::flat::SqlValue;

use crate::sql::{Db, Sql, Value};
use crate::text::Draft;

const RECORD: &str = "INSERT INTO erased_rows (tenant_id, erasure_id, kind, id) VALUES (?, ?, ?, ?) \
    ON CONFLICT DO NOTHING";

const HELD: &str = "a person is under a legal hold";

/// Makes one change that removes data.
///
/// # Errors
/// [`StorageError::Failed`] if [`ErasureChange::RequireUnheld`] finds a legal hold; errors of the database.
pub(crate) fn apply(db: &mut Db, tenant: Tenant, change: &ErasureChange) -> Result<(), StorageError> {
    let mut draft = Draft::default();
    match change {
        ErasureChange::RequireUnheld { people } => {
            draft.with("SELECT 1 FROM employees WHERE tenant_id = ", tenant);
            let ids: Vec<_> = people.iter().map(|id| SqlValue::Id(id.to_bytes())).collect();
            draft.any_of(" AND id", &ids).with(" AND held_at IS NOT NULL LIMIT ", 1_i64);
            let is_held = db.exists(draft.finish())?;
            return if is_held { Err(StorageError::Failed(HELD.to_owned())) } else { Ok(()) };
        }
        ErasureChange::Delete { table, by, values } => {
            draft.with(&format!("DELETE FROM {table} WHERE tenant_id = "), tenant);
            draft.any_of(&format!(" AND {}", by.name), values);
        }
        ErasureChange::Overwrite { table, by, values, set } => {
            for (at, (column, value)) in set.iter().enumerate() {
                let start = if at == 0 { format!("UPDATE {table} SET ") } else { ", ".to_owned() };
                draft.with(&format!("{start}{} = ", column.name), Value::from(value));
            }
            draft.with(" WHERE tenant_id = ", tenant).any_of(&format!(" AND {}", by.name), values);
        }
        ErasureChange::Record { removal, kind, ids } => {
            for id in ids {
                let record = Sql::new(RECORD).bind(tenant).bind(removal.to_bytes()).bind(*kind).bind(*id);
                db.run(&record)?;
            }
            return Ok(());
        }
    }
    db.run(&draft.finish()).map(drop)
}
