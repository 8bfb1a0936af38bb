//! Reads across all tenants.

use async_trait::async_trait;

use candor_domain::access::Tenant;
use candor_domain::access::api_key::{ApiKey, Holder, KeyHash, KeyRecord};
use candor_domain::fields::StringEnum;
use candor_domain::id::{EmployeeId, KeyId, OrganizationId};
use candor_domain::organization::Organization;
use candor_domain::time::Timestamp;
use candor_port_storage::StorageError;
use candor_port_storage::change::ValidKeys;
use candor_port_storage::error::Read;
use candor_port_storage::store::Everyone;
use candor_tables::flat::{CellReader, Stored};

use crate::SqliteStore;
use crate::connection::writer;
use crate::sql::row::tenant_of;
use crate::sql::{Db, Sql};
use crate::table;
use crate::valid_keys::count_valid_keys;

/// Records the last use of a key. An older use never overwrites a newer one.
const TOUCH: &str = "UPDATE api_keys SET last_used_at = ?1 \
    WHERE tenant_id = ?2 AND id = ?3 AND (last_used_at IS NULL OR last_used_at < ?1)";

#[async_trait]
impl Everyone for SqliteStore {
    async fn organizations(&self, after: Option<OrganizationId>, limit: u16) -> Read<Vec<Organization>> {
        self.read(None, move |db| organizations(db, after, limit)).await
    }

    async fn key_by_hash(&self, hash: KeyHash) -> Read<Option<KeyRecord>> {
        self.look_up(None, move |db| key_by_hash(db, hash)).await
    }

    async fn count_valid_keys(&self, organization: OrganizationId, keys: ValidKeys, most: u32) -> Read<u32> {
        let tenant = Tenant::live(organization);
        self.read(Some(tenant), move |db| count_valid_keys(db, tenant, keys, most)).await
    }

    async fn touch_keys(&self, used: &[(OrganizationId, KeyId, Timestamp)]) -> Read<()> {
        let key_uses = used.to_vec();
        let touch = move |db: &mut Db| {
            for (organization, key, at) in key_uses {
                let sql = Sql::new(TOUCH).bind(at).bind(Tenant::live(organization)).bind(key);
                db.run(&sql)?;
            }
            Ok(())
        };
        writer::ask(&self.tasks, None, touch).await
    }
}

/// Returns the organizations with their settings for live data. The live data set has the id of its organization.
fn organizations(db: &mut Db, after: Option<OrganizationId>, limit: u16) -> Read<Vec<Organization>> {
    let columns = &db.statements(Organization::TABLE).columns;
    let text = format!(
        "SELECT {columns} FROM organizations WHERE tenant_id = id AND tenant_id > ? ORDER BY tenant_id LIMIT ?"
    );
    let last_organization = after.map_or([0; 16], |id| id.to_bytes());
    db.rows(Sql::new(text).bind(last_organization).bind(i64::from(limit)), table::value)
}

fn key_by_hash(db: &mut Db, hash: KeyHash) -> Read<Option<KeyRecord>> {
    let columns = &db.statements(ApiKey::TABLE).columns;
    let text = format!("SELECT tenant_id, {columns} FROM api_keys WHERE hash = ?1 OR previous_hash = ?1");
    let record = db.first(Sql::new(text).bind(hash.0.as_slice()), |row| {
        Ok((tenant_of(row, ApiKey::TABLE.name)?, table::value::<ApiKey>(row)?))
    })?;
    let Some((Tenant { organization, .. }, key)) = record else { return Ok(None) };
    let holder = match key.employee_id {
        Some(id) => holder(db, Tenant { organization, environment: key.environment }, id)?,
        None => None,
    };
    Ok(Some(KeyRecord { organization, key, holder }))
}

fn holder(db: &mut Db, tenant: Tenant, id: EmployeeId) -> Read<Option<Holder>> {
    let text = "SELECT role, status, returned_at FROM employees WHERE tenant_id = ? AND id = ?";
    db.first(Sql::new(text).bind(tenant).bind(id), |row| {
        let (role, status) = (word(row, "role")?, word(row, "status")?);
        let corrupt = |reason| StorageError::Corrupt { table: "employees", column: "returned_at", reason };
        Ok(Holder { id, role, status, returned_at: row.time().map_err(corrupt)? })
    })
}

fn word<T: StringEnum>(row: &mut dyn CellReader, column: &'static str) -> Read<T> {
    let corrupt = |reason| StorageError::Corrupt { table: "employees", column, reason };
    let text = row.text().map_err(corrupt)?.unwrap_or_default();
    T::from_word(&text).map_err(|_| corrupt(format!("unexpected value {text:?}")))
}
