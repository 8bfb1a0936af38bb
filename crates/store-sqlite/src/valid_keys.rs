//! Number of the valid keys of a person or an organization.

use candor_domain::access::Tenant;
use candor_port_storage::StorageError;
use candor_port_storage::change::ValidKeys;
use candor_tables::flat::{SqlValue, Type};

use crate::sql::{Db, Sql};

/// Counts the valid keys of a person, or the valid keys of the organization, without sessions. Keys with and
/// without an expiry time are counted separately, each up to `most` and in a range of an index.
pub(crate) fn count_valid_keys(
    db: &mut Db,
    tenant: Tenant,
    keys: ValidKeys,
    most: u32,
) -> Result<u32, StorageError> {
    let some = "SELECT 1 FROM api_keys WHERE tenant_id = ?1 AND employee_id IS ?2 AND revoked_at IS NULL \
                AND kind = 'key'";
    let text = format!(
        "SELECT (SELECT count(*) FROM ({some} AND expires_at IS NULL LIMIT ?3)) \
         + (SELECT count(*) FROM ({some} AND expires_at > ?4 LIMIT ?3))"
    );
    let holder = keys.holder.map_or(SqlValue::Null(Type::Id), |id| SqlValue::Id(id.to_bytes()));
    let count = db.number(Sql::new(text).bind(tenant).bind(holder).bind(i64::from(most)).bind(keys.at))?;
    Ok(u32::try_from(count).unwrap_or(u32::MAX))
}
