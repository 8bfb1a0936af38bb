//! Number of the valid keys of a person or an organization.

use candor_domain::access::Tenant;
use candor_port_storage::change::ValidKeys;
use candor_port_storage::error::Read;
use candor_tables::flat::{SqlValue, Type};

use crate::sql::{Db, Sql};

/// Counts the valid keys that act for a person or for none and end with a session or with none. Sessions do not count. Keys
/// with and without an expiry time are counted separately, each up to `most` and in a range of an index.
pub(crate) fn count_valid_keys(db: &mut Db, tenant: Tenant, keys: ValidKeys, most: u32) -> Read<u32> {
    let some = "SELECT 1 FROM api_keys WHERE tenant_id = ?1 AND employee_id IS ?2 AND kind = 'key' \
                AND session_id IS ?5 AND revoked_at IS NULL";
    let text = format!(
        "SELECT (SELECT count(*) FROM ({some} AND expires_at IS NULL LIMIT ?3)) \
         + (SELECT count(*) FROM ({some} AND expires_at > ?4 LIMIT ?3))"
    );
    let id = |bytes: Option<[u8; 16]>| bytes.map_or(SqlValue::Null(Type::Id), SqlValue::Id);
    let holder = id(keys.holder.map(|person| person.to_bytes()));
    let session = id(keys.session.map(|session| session.to_bytes()));
    let sql = Sql::new(text).bind(tenant).bind(holder).bind(i64::from(most)).bind(keys.at).bind(session);
    let count = db.number(sql)?;
    Ok(u32::try_from(count).unwrap_or(u32::MAX))
}
