//! API keys, which stand under the live tenant of their organization.

use async_trait::async_trait;

use candor_domain::access::Tenant;
use candor_domain::access::api_key::{ApiKey, KeyHash, KeyRecord};
use candor_domain::fields::Word;
use candor_domain::id::{EmployeeId, KeyId, OrganizationId};
use candor_domain::page::{Page, PageRequest, Sort};
use candor_domain::params::Bounds;
use candor_domain::people::{Role, Status};
use candor_domain::time::Timestamp;
use candor_port_storage::flat::{Fetch, Stored};
use candor_port_storage::listing::Listing;
use candor_port_storage::store::{Keys, Read};
use candor_port_storage::{StorageError, Versioned};

use super::people::tenant_of;
use crate::sql::{Db, Sql, failed};
use crate::{SqliteStore, table, writer};

/// A later use never gives way to an earlier one.
const TOUCH: &str = "UPDATE api_keys SET last_used_at = ?1 \
    WHERE tenant_id = ?2 AND id = ?3 AND (last_used_at IS NULL OR last_used_at < ?1)";

#[async_trait]
impl Keys for SqliteStore {
    async fn key_by_hash(&self, hash: KeyHash) -> Read<Option<KeyRecord>> {
        self.look_up(move |db| key_by_hash(db, hash)).await
    }

    async fn api_key(&self, organization: OrganizationId, id: KeyId) -> Read<Option<Versioned<ApiKey>>> {
        self.look_up(move |db| table::get(db, Tenant::live(organization), id.to_bytes())).await
    }

    async fn api_keys(
        &self,
        organization: OrganizationId,
        changed: Bounds<Timestamp>,
        sort: Sort,
        page: &PageRequest,
    ) -> Read<Page<ApiKey>> {
        let listing = Listing::changed::<ApiKey>(changed, sort, page);
        self.page(Tenant::live(organization), listing).await
    }

    async fn organization_of_key(&self, id: KeyId) -> Read<Option<OrganizationId>> {
        let sql = Sql::new("SELECT tenant_id FROM api_keys WHERE id = ?").bind(id);
        let tenant = self.look_up(move |db| db.first(sql, |row| tenant_of(row, ApiKey::TABLE.name))).await?;
        Ok(tenant.map(|it| it.organization))
    }

    async fn touch_keys(&self, used: &[(OrganizationId, KeyId, Timestamp)]) -> Read<()> {
        let used = used.to_vec();
        let touch = move |db: &mut Db| {
            for (organization, key, at) in used {
                let sql = Sql::new(TOUCH).bind(at).bind(Tenant::live(organization)).bind(key);
                db.execute(&sql).map_err(|it| failed(&it))?;
            }
            Ok(())
        };
        writer::ask(&self.tasks, touch).await
    }
}

fn key_by_hash(db: &mut Db, hash: KeyHash) -> Result<Option<KeyRecord>, StorageError> {
    let columns = &db.statements(ApiKey::TABLE).columns;
    let text = format!("SELECT tenant_id, {columns} FROM api_keys WHERE hash = ?1 OR previous_hash = ?1");
    let found = db.first(Sql::new(text).bind(hash.0.as_slice()), |row| {
        Ok((tenant_of(row, ApiKey::TABLE.name)?, table::value::<ApiKey>(row)?))
    })?;
    let Some((Tenant { organization, .. }, key)) = found else { return Ok(None) };
    let person = match key.employee_id {
        Some(id) => person(db, Tenant { organization, environment: key.environment }, id)?,
        None => None,
    };
    Ok(Some(KeyRecord { organization, key, person }))
}

fn person(db: &mut Db, tenant: Tenant, id: EmployeeId) -> Result<Option<(EmployeeId, Role, Status)>, StorageError> {
    let sql = Sql::new("SELECT role, status FROM employees WHERE tenant_id = ? AND id = ?").bind(tenant).bind(id);
    db.first(sql, |row| Ok((id, word(row, "role")?, word(row, "status")?)))
}

fn word<T: Word>(row: &mut dyn Fetch, column: &'static str) -> Result<T, StorageError> {
    let corrupt = |reason| StorageError::Corrupt { table: "employees", column, reason };
    let text = row.text().map_err(corrupt)?.unwrap_or_default();
    T::from_word(&text).map_err(|_| corrupt(format!("unexpected value {text:?}")))
}
