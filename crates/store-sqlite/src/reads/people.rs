//! People and the lines between them.

use async_trait::async_trait;

use candor_domain::access::Tenant;
use candor_domain::fields::Word;
use candor_domain::id::{ConnectorId, EmployeeId};
use candor_domain::page::{Page, PageRequest, Sort};
use candor_domain::params::Bounds;
use candor_domain::people::{Connector, Employee, Filter, Invitation, Status};
use candor_domain::time::Timestamp;
use candor_port_storage::flat::{Fetch, Stored};
use candor_port_storage::listing::Listing;
use candor_port_storage::store::{LinesAbove, People, Read, Reporting};
use candor_port_storage::{StorageError, Version, Versioned};

use crate::sql::{Db, Sql};
use crate::text::Draft;
use crate::{SqliteStore, lines, list, table};

#[async_trait]
impl People for SqliteStore {
    async fn employee(&self, tenant: Tenant, id: EmployeeId) -> Read<Option<Versioned<Employee>>> {
        self.look_up(move |db| table::get(db, tenant, id.to_bytes())).await
    }

    async fn employees(&self, tenant: Tenant, filter: &Filter, sort: Sort, page: &PageRequest) -> Read<Page<Employee>> {
        let listing = Listing::employees(filter, sort, page);
        self.page(tenant, listing).await
    }

    async fn employees_by_id(&self, tenant: Tenant, ids: &[EmployeeId]) -> Read<Vec<Versioned<Employee>>> {
        let ids: Vec<_> = ids.iter().map(|it| it.to_bytes()).collect();
        self.look_up_all(ids.len(), move |db| table::by_ids(db, tenant, &ids)).await
    }

    async fn employees_by_email(&self, tenant: Tenant, emails: &[String]) -> Read<Vec<Versioned<Employee>>> {
        let emails = emails.to_vec();
        self.look_up_all(emails.len(), move |db| {
            table::by_values(db, tenant, " AND email_key", emails.iter().map(String::as_str))
        })
        .await
    }

    async fn employees_by_external_id(
        &self,
        tenant: Tenant,
        external_ids: &[String],
    ) -> Read<Vec<Versioned<Employee>>> {
        let ids = external_ids.to_vec();
        self.look_up_all(ids.len(), move |db| {
            table::by_values(db, tenant, " AND external_id", ids.iter().map(String::as_str))
        })
        .await
    }

    async fn lines_above(&self, tenant: Tenant, people: &[EmployeeId]) -> Read<LinesAbove> {
        let people: Vec<_> = people.iter().map(|it| it.to_bytes()).collect();
        self.read(move |db| lines::above(db, tenant, people)).await
    }

    async fn employee_by_email(&self, tenant: Tenant, email: &str) -> Read<Option<EmployeeId>> {
        let email = email.to_owned();
        let id = self.look_up(move |db| table::id_by(db, tenant, "employees", "email_key", &email)).await?;
        Ok(id.map(EmployeeId::from_bytes))
    }

    async fn employee_by_external_id(&self, tenant: Tenant, external_id: &str) -> Read<Option<EmployeeId>> {
        let external_id = external_id.to_owned();
        let id = self.look_up(move |db| table::id_by(db, tenant, "employees", "external_id", &external_id)).await?;
        Ok(id.map(EmployeeId::from_bytes))
    }

    async fn direct_reports(&self, tenant: Tenant, managers: &[EmployeeId], most: u16) -> Read<Vec<Employee>> {
        let managers = managers.to_vec();
        let read = move |db: &mut Db| {
            let mut all = vec![];
            for manager in managers {
                all.extend(reports_of(db, tenant, manager, most)?);
            }
            Ok(all)
        };
        self.read(read).await
    }

    async fn reporting(&self, tenant: Tenant, employee: EmployeeId, manager: EmployeeId) -> Read<Reporting> {
        self.look_up(move |db| reporting(db, tenant, employee, manager)).await
    }

    async fn invitation(&self, tenant: Tenant, employee: EmployeeId) -> Read<Option<Versioned<Invitation>>> {
        let newest = "employee_id = ? ORDER BY created_at DESC, id DESC LIMIT 1";
        self.look_up(move |db| table::find(db, tenant, newest, employee)).await
    }

    async fn invitations_of(&self, tenant: Tenant, people: &[EmployeeId]) -> Read<Vec<Versioned<Invitation>>> {
        let people: Vec<_> = people.iter().map(|it| it.to_bytes()).collect();
        self.look_up_all(people.len(), move |db| table::by_values(db, tenant, " AND employee_id", people)).await
    }

    async fn invitation_by_token(&self, token_hash: [u8; 32]) -> Read<Option<(Tenant, Versioned<Invitation>)>> {
        self.look_up(move |db| {
            let columns = &db.statements(Invitation::TABLE).columns;
            let text = format!("SELECT tenant_id, {columns} FROM invitations WHERE token_hash = ?");
            db.first(Sql::new(text).bind(token_hash.as_slice()), |row| {
                Ok((tenant_of(row, Invitation::TABLE.name)?, table::versioned(row)?))
            })
        })
        .await
    }

    async fn connector(&self, tenant: Tenant, id: ConnectorId) -> Read<Option<Versioned<Connector>>> {
        self.look_up(move |db| table::get(db, tenant, id.to_bytes())).await
    }

    async fn connectors(
        &self,
        tenant: Tenant,
        changed: Bounds<Timestamp>,
        sort: Sort,
        page: &PageRequest,
    ) -> Read<Page<Connector>> {
        let listing = Listing::changed::<Connector>(changed, sort, page);
        self.page(tenant, listing).await
    }

    async fn managed_by(
        &self,
        tenant: Tenant,
        connector: ConnectorId,
        after: Option<EmployeeId>,
        limit: u16,
    ) -> Read<Vec<Versioned<Employee>>> {
        let listing = Listing::managed_by(connector, after, limit);
        let mut people = self.read(move |db| list::rows(db, tenant, &listing, table::versioned)).await?;
        people.truncate(limit.into());
        Ok(people)
    }
}

/// Reads the tenant in front of a row that was found without one.
pub(super) fn tenant_of(row: &mut dyn Fetch, table: &'static str) -> Result<Tenant, StorageError> {
    let corrupt = |reason| StorageError::Corrupt { table, column: "tenant_id", reason };
    let bytes = row.id().map_err(corrupt)?.ok_or_else(|| corrupt("null".to_owned()))?;
    Ok(Tenant::from_bytes(bytes))
}

fn reports_of(db: &mut Db, tenant: Tenant, manager: EmployeeId, most: u16) -> Result<Vec<Employee>, StorageError> {
    let here = Status::ALL.iter().filter(|it| **it != Status::Deactivated).map(|it| it.word());
    let mut draft = Draft::default();
    draft.add("SELECT ").add(&db.statements(Employee::TABLE).columns).add(" FROM employees");
    draft.with(" WHERE tenant_id = ", tenant).with(" AND manager_id = ", manager).any_of(" AND status", here);
    draft.with(" ORDER BY last_name_key, first_name_key, id LIMIT ", i64::from(most));
    db.rows(draft.finish(), table::value)
}

fn reporting(
    db: &mut Db,
    tenant: Tenant,
    employee: EmployeeId,
    manager: EmployeeId,
) -> Result<Reporting, StorageError> {
    // One statement, so that both answers are of the same moment.
    let text = "SELECT coalesce((SELECT version FROM reporting_trees WHERE tenant_id = ?1), 0), \
        EXISTS (SELECT 1 FROM reporting_lines WHERE tenant_id = ?1 AND ancestor_id = ?2 AND descendant_id = ?3)";
    let sql = Sql::new(text).bind(tenant).bind(employee).bind(manager);
    let answers = db.first(sql, |row| {
        let corrupt = |reason| StorageError::Corrupt { table: "reporting_trees", column: "version", reason };
        Ok((row.int().map_err(corrupt)?.unwrap_or(0), row.flag().map_err(corrupt)?.unwrap_or(false)))
    })?;
    let (version, below) = answers.unwrap_or((0, false));
    Ok(Reporting { tree: Version(version), is_below: below || employee == manager })
}
