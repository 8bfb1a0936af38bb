//! Number of the valid keys of a person or an organization.

use candor_port_storage::change::ValidKeys;
use candor_tables::flat::SqlValue;

use super::Sql;

/// Returns the expression that counts the valid keys that act for a person or for none and end with a session or with
/// none. Sessions do not count. Keys with and without an expiry time are counted separately, each up to `most` and in a
/// range of an index.
pub(crate) fn valid_keys(sql: &mut Sql, tenant: &str, keys: ValidKeys, most: u32) -> String {
    let mut is_id = |bytes: Option<[u8; 16]>| match bytes {
        Some(bytes) => format!("= {}", sql.id(bytes)),
        None => "IS NULL".to_owned(),
    };
    let holder = is_id(keys.holder.map(|person| person.to_bytes()));
    let session = is_id(keys.session.map(|session| session.to_bytes()));
    let (at, most) = (sql.bind(SqlValue::Time(keys.at)), sql.bind(SqlValue::Int(i64::from(most))));
    let some = format!(
        "SELECT 1 FROM api_keys WHERE tenant_id = {tenant} AND employee_id {holder} AND revoked_at IS NULL \
         AND kind = 'key' AND session_id {session}"
    );
    format!(
        "((SELECT count(*) FROM ({some} AND expires_at IS NULL LIMIT {most}) AS lasting) \
         + (SELECT count(*) FROM ({some} AND expires_at > {at} LIMIT {most}) AS ending))"
    )
}
