//! Reads across tenants.

use async_trait::async_trait;
use candor_domain::access::api_key::{ApiKey, Holder, KeyHash, KeyRecord};
use candor_domain::access::{Environment, Tenant};
use candor_domain::fields::StringEnum;
use candor_domain::id::{Id, KeyId, OrganizationId};
use candor_domain::organization::Organization;
use candor_domain::people::{Role, Status};
use candor_domain::time::Timestamp;
use candor_port_storage::StorageError;
use candor_port_storage::change::ValidKeys;
use candor_port_storage::error::Read;
use candor_port_storage::store::Everyone;
use candor_tables::flat::{CellReader, SqlValue, Stored, Type};

use crate::failure::Failure;
use crate::sql::Sql;
use crate::sql::row::{columns, owner, read_versioned};
use crate::sql::valid_keys::valid_keys;
use crate::store::PostgresStore;

/// Expression for the tenant of the test data of a key's organization. Its id differs from that of the live data
/// in the highest bit.
const TEST_TENANT: &str =
    "translate(substr(k.tenant_id::text, 1, 1), '01234567', '89abcdef') || substr(k.tenant_id::text, 2)";

#[async_trait]
impl Everyone for PostgresStore {
    async fn organizations(&self, after: Option<OrganizationId>, limit: u16) -> Read<Vec<Organization>> {
        let mut sql = Sql::default();
        let last_organization = sql.id(after.map_or([0; 16], |id| id.to_bytes()));
        let limit = sql.bind(SqlValue::Int(i64::from(limit)));
        // In a live data set the tenant id equals the organization's id.
        sql.push(&format!(
            "SELECT {} FROM organizations WHERE tenant_id = id AND tenant_id > {last_organization} ORDER BY tenant_id \
             LIMIT {limit}",
            columns(Organization::TABLE, "")
        ));
        let organizations = self.run_exclusive(&sql, read_versioned::<Organization>).await?;
        Ok(organizations.into_iter().map(|row| row.value).collect())
    }

    async fn key_by_hash(&self, hash: KeyHash) -> Read<Option<KeyRecord>> {
        if let Some(lookup) = self.layout.tenant_of_secret("hash", SqlValue::Bytes(hash.0.to_vec())) {
            return self.key_of_its_tenant(hash, &lookup).await;
        }
        let mut sql = Sql::default();
        let hash = sql.bind(SqlValue::Bytes(hash.0.to_vec()));
        let test = sql.bind(SqlValue::Text(Environment::Test.word().to_owned()));
        sql.push(&format!(
            "SELECT k.tenant_id, {}, e.id, e.role, e.status, e.returned_at FROM api_keys AS k LEFT JOIN employees AS e \
             ON e.tenant_id = CASE WHEN k.environment = {test} THEN ({TEST_TENANT})::uuid ELSE k.tenant_id END \
             AND e.id = k.employee_id WHERE k.hash = {hash} OR k.previous_hash = {hash}",
            columns(ApiKey::TABLE, "k.")
        ));
        self.find(&sql, record).await
    }

    async fn count_valid_keys(&self, organization: OrganizationId, keys: ValidKeys, most: u32) -> Read<u32> {
        let mut sql = Sql::default();
        let tenant = sql.tenant(Tenant::live(organization));
        let count = valid_keys(&mut sql, &tenant, keys, most);
        sql.push(&format!("SELECT {count}"));
        let count = self.find(&sql, |row| row.int().map_err(Failure::Other)).await?.flatten();
        Ok(count.and_then(|count| u32::try_from(count).ok()).unwrap_or_default())
    }

    async fn touch_keys(&self, used: &[(OrganizationId, KeyId, Timestamp)]) -> Read<()> {
        let mut sql = Sql::default();
        let tenants = sql.ids(used.iter().map(|(organization, _, _)| Tenant::live(*organization).to_bytes()));
        let keys = sql.ids(used.iter().map(|(_, id, _)| id.to_bytes()));
        let times = sql.many(Type::Time, used.iter().map(|(_, _, time)| SqlValue::Time(*time)));
        sql.push(&format!(
            "UPDATE api_keys AS k SET last_used_at = u.at \
             FROM UNNEST({tenants}, {keys}, {times}) AS u (tenant_id, id, at) \
             WHERE k.tenant_id = u.tenant_id AND k.id = u.id AND (k.last_used_at IS NULL OR k.last_used_at < u.at)"
        ));
        self.run_exclusive(&sql, |_| Ok(())).await.map(drop)
    }
}

impl PostgresStore {
    /// Reads a key and its person, each from the node of its data set. `None` if the key does not exist.
    async fn key_of_its_tenant(&self, hash: KeyHash, lookup: &Sql) -> Read<Option<KeyRecord>> {
        let Some(tenant) = self.find(lookup, owner).await? else { return Ok(None) };
        let mut sql = Sql::default();
        let (tenant, hash) = (sql.tenant(tenant), sql.bind(SqlValue::Bytes(hash.0.to_vec())));
        sql.push(&format!(
            "SELECT k.tenant_id, {}, NULL::uuid, NULL::text, NULL::text, NULL::timestamptz FROM api_keys AS k \
             WHERE k.tenant_id = {tenant} AND (k.hash = {hash} OR k.previous_hash = {hash})",
            columns(ApiKey::TABLE, "k.")
        ));
        let Some(key_record) = self.find(&sql, record).await? else { return Ok(None) };
        let Some(person) = key_record.key.employee_id else { return Ok(Some(key_record)) };
        let key_tenant = Tenant { organization: key_record.organization, environment: key_record.key.environment };
        let mut sql = Sql::default();
        let (tenant, id) = (sql.tenant(key_tenant), sql.id(person.to_bytes()));
        sql.push(&format!(
            "SELECT id, role, status, returned_at FROM employees WHERE tenant_id = {tenant} AND id = {id}"
        ));
        let holder = self.find(&sql, holder).await?.flatten();
        Ok(Some(KeyRecord { holder, ..key_record }))
    }
}

fn holder(row: &mut dyn CellReader) -> Result<Option<Holder>, Failure> {
    let person = row.id().map_err(Failure::Other)?.map(Id::from_bytes);
    let role = word::<Role>(row, "role")?;
    let status = word::<Status>(row, "status")?;
    let returned_at = row.time().map_err(Failure::Other)?;
    Ok(person.zip(role).zip(status).map(|((id, role), status)| Holder { id, role, status, returned_at }))
}

fn record(row: &mut dyn CellReader) -> Result<KeyRecord, Failure> {
    let organization = owner(row)?.organization;
    let key = read_versioned::<ApiKey>(row)?.value;
    Ok(KeyRecord { organization, key, holder: holder(row)? })
}

fn word<T: StringEnum>(row: &mut dyn CellReader, column: &'static str) -> Result<Option<T>, Failure> {
    let Some(text) = row.text().map_err(Failure::Other)? else { return Ok(None) };
    let reason = || format!("unexpected value {text:?}");
    let to_corrupt = |_| StorageError::Corrupt { table: "employees", column, reason: reason() };
    Ok(Some(T::from_word(&text).map_err(to_corrupt)?))
}
