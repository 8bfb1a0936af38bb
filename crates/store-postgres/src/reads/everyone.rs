//! What is read of all tenants at once.

use async_trait::async_trait;
use candor_domain::access::api_key::{ApiKey, KeyHash, KeyRecord};
use candor_domain::access::{Environment, Tenant};
use candor_domain::fields::Word;
use candor_domain::id::{Id, KeyId, OrganizationId};
use candor_domain::organization::Organization;
use candor_domain::people::{Role, Status};
use candor_domain::time::Timestamp;
use candor_port_storage::flat::{Cell, Fetch, Stored, Type};
use candor_port_storage::store::{Everyone, Read, StorageError};

use crate::PostgresStore;
use crate::failure::Failure;
use crate::select::{columns, owner, versioned};
use crate::sql::Sql;

/// The tenant of the data set that a key opens: the test data set of an organization differs from the live one by the
/// highest bit, which is the first digit's.
const OPENED: &str =
    "translate(substr(k.tenant_id::text, 1, 1), '01234567', '89abcdef') || substr(k.tenant_id::text, 2)";

#[async_trait]
impl Everyone for PostgresStore {
    async fn organizations(&self, after: Option<OrganizationId>, limit: u16) -> Read<Vec<Organization>> {
        let mut sql = Sql::default();
        let after = sql.id(after.map_or([0; 16], |it| it.to_bytes()));
        let limit = sql.bind(Cell::Int(i64::from(limit)));
        // The live data set of an organization is the one whose id is the organization's.
        sql.push(&format!(
            "SELECT {} FROM organizations WHERE tenant_id = id AND tenant_id > {after} ORDER BY tenant_id LIMIT {limit}",
            columns(Organization::TABLE, "")
        ));
        let found = self.apart(&sql, versioned::<Organization>).await?;
        Ok(found.into_iter().map(|it| it.value).collect())
    }

    async fn key_by_hash(&self, hash: KeyHash) -> Read<Option<KeyRecord>> {
        let mut sql = Sql::default();
        let hash = sql.bind(Cell::Bytes(hash.0.to_vec()));
        let test = sql.bind(Cell::Text(Environment::Test.word().to_owned()));
        sql.push(&format!(
            "SELECT k.tenant_id, {}, e.id, e.role, e.status FROM api_keys AS k LEFT JOIN employees AS e \
             ON e.tenant_id = CASE WHEN k.environment = {test} THEN ({OPENED})::uuid ELSE k.tenant_id END \
             AND e.id = k.employee_id WHERE k.hash = {hash} OR k.previous_hash = {hash}",
            columns(ApiKey::TABLE, "k.")
        ));
        self.find(&sql, record).await
    }

    async fn touch_keys(&self, used: &[(OrganizationId, KeyId, Timestamp)]) -> Read<()> {
        let mut sql = Sql::default();
        let tenants = sql.ids(used.iter().map(|(it, _, _)| Tenant::live(*it).to_bytes()));
        let keys = sql.ids(used.iter().map(|(_, it, _)| it.to_bytes()));
        let times = sql.many(Type::Time, used.iter().map(|(_, _, it)| Cell::Time(*it)));
        sql.push(&format!(
            "UPDATE api_keys AS k SET last_used_at = u.at FROM UNNEST({tenants}, {keys}, {times}) AS u (tenant_id, id, at) \
             WHERE k.tenant_id = u.tenant_id AND k.id = u.id AND (k.last_used_at IS NULL OR k.last_used_at < u.at)"
        ));
        self.apart(&sql, |_| Ok(())).await.map(drop)
    }
}

fn record(row: &mut dyn Fetch) -> Result<KeyRecord, Failure> {
    let organization = owner(row)?.organization;
    let key = versioned::<ApiKey>(row)?.value;
    let person = row.id().map_err(Failure::Other)?.map(Id::from_bytes);
    let role = word::<Role>(row, "role")?;
    let status = word::<Status>(row, "status")?;
    let person = person.zip(role).zip(status).map(|((id, role), status)| (id, role, status));
    Ok(KeyRecord { organization, key, person })
}

fn word<T: Word>(row: &mut dyn Fetch, column: &'static str) -> Result<Option<T>, Failure> {
    let Some(text) = row.text().map_err(Failure::Other)? else { return Ok(None) };
    let reason = || format!("unexpected value {text:?}");
    let unexpected = |_| StorageError::Corrupt { table: "employees", column, reason: reason() };
    Ok(Some(T::from_word(&text).map_err(unexpected)?))
}
