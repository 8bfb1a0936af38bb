//! Rows that a SCIM write refers to.

use candor_domain::catalog::Department;
use candor_domain::id::EmployeeId;
use candor_domain::people::connector::ScimLink;
use candor_domain::people::{Employee, Role, Status};
use candor_domain::scim::{Candidates, DepartmentTarget, ManagerReference, ManagerTarget, ScimUser};
use candor_domain::text::folded;
use candor_domain::time::Timestamp;
use candor_port_storage::store::Ancestors;
use candor_port_storage::{Require, StorageExt, Version, Versioned};
use candor_tables::rows;

use super::{ScimContext, ScimFailure};
use crate::context::error::Error;
use crate::context::services::Services;

/// People who have the identifiers of a user.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct IdentifierHolders {
    pub(super) email: Option<EmployeeId>,
    pub(super) external_id: Option<EmployeeId>,
    pub(super) user_name_link: Option<EmployeeId>,
    pub(super) external_id_link: Option<EmployeeId>,
}

/// The references of a user, resolved.
pub(super) struct ResolvedReferences {
    pub(super) manager: ManagerTarget,
    pub(super) department: DepartmentTarget,
    /// Name of the department.
    pub(super) department_name: Option<String>,
    /// Version of the reporting tree that the check for cycles saw.
    pub(super) tree: Version,
    /// People above the person after the request, including the new manager.
    pub(super) above: Vec<EmployeeId>,
}

/// Returns the people above a person, from the lowest.
fn chain(ancestors: &Ancestors, person: EmployeeId) -> Vec<EmployeeId> {
    let mut above = Vec::new();
    let mut at = person;
    while let Some((_, manager)) = ancestors.lines.iter().find(|(report, _)| *report == at) {
        if above.contains(manager) {
            break;
        }
        above.push(*manager);
        at = *manager;
    }
    above
}

impl ScimContext {
    /// Returns the people who have the identifiers of a user.
    pub(super) async fn holders(
        &self,
        services: &Services,
        user: &ScimUser,
    ) -> Result<IdentifierHolders, ScimFailure> {
        let (store, tenant) = (&services.store, self.tenant());
        let external_id = async {
            let Some(id) = &user.external_id else { return Ok((None, None)) };
            let key = ScimLink::external_key(self.connector, id);
            tokio::try_join!(
                store.id_by(tenant, rows::scim_users::BY_EXTERNAL_ID, key),
                store.id_by(tenant, rows::employees::BY_EXTERNAL_ID, id.clone()),
            )
        };
        let user_name = ScimLink::user_name_key(self.connector, &user.user_name);
        let (email, user_name_link, (external_id_link, external_id)) = tokio::try_join!(
            store.id_by(tenant, rows::employees::BY_EMAIL, folded(&user.email)),
            store.id_by(tenant, rows::scim_users::BY_USER_NAME, user_name),
            external_id,
        )?;
        Ok(IdentifierHolders { email, external_id, user_name_link, external_id_link })
    }

    /// Returns the people that the identifiers of a creation refer to.
    pub(super) async fn candidates(
        &self,
        services: &Services,
        user: &ScimUser,
        holders: IdentifierHolders,
    ) -> Result<Candidates, ScimFailure> {
        let (store, tenant) = (&services.store, self.tenant());
        let mut external_id = holders.external_id.filter(|_| holders.external_id_link.is_none());
        if let Some(id) = external_id {
            let owner = store.row::<Employee>(tenant, id).await?.and_then(|person| person.value.connector_id);
            external_id = external_id.filter(|_| owner.is_none());
        }
        let user_name = match holders.user_name_link {
            Some(id) => Some(id),
            None => store.id_by(tenant, rows::employees::BY_EMAIL, user.user_name_key()).await?,
        };
        Ok(Candidates {
            linked_external_id: holders.external_id_link,
            external_id,
            user_name,
            email: holders.email,
        })
    }

    /// Returns the person that a reference to a manager names: by id, else by the `externalId` of a link of the
    /// connector, else by e-mail address.
    pub(super) async fn find_manager(
        &self,
        services: &Services,
        text: &str,
    ) -> Result<Option<EmployeeId>, ScimFailure> {
        let (store, tenant) = (&services.store, self.tenant());
        let reference = ManagerReference::new(text.to_owned());
        if let Some(id) = reference.id() {
            return Ok(store.row::<Employee>(tenant, id).await?.map(|person| person.value.id));
        }
        let key = ScimLink::external_key(self.connector, text);
        let (linked, addressed) = tokio::try_join!(
            store.id_by(tenant, rows::scim_users::BY_EXTERNAL_ID, key),
            store.id_by(tenant, rows::employees::BY_EMAIL, reference.email_key()),
        )?;
        Ok(linked.or(addressed))
    }

    /// Resolves the references of a user. `stored` is the person with this id, unless they are new.
    pub(super) async fn resolve(
        &self,
        services: &Services,
        user: &ScimUser,
        id: EmployeeId,
        stored: Option<&Employee>,
        at: Timestamp,
    ) -> Result<ResolvedReferences, ScimFailure> {
        let manager = match &user.manager {
            Some(reference) => self.find_manager(services, reference.text()).await?,
            None => None,
        };
        let people: Vec<_> = manager.into_iter().chain([id]).collect();
        let ancestors = services.store.lines_above(self.tenant(), &people).await?;
        let mut above = manager.map_or_else(|| chain(&ancestors, id), |manager| chain(&ancestors, manager));
        let target = match (manager, &user.manager) {
            (Some(manager), _) => {
                let is_below = stored.is_some() && (manager == id || above.contains(&id));
                above.push(manager);
                ManagerTarget::Known { id: manager, is_below }
            }
            (None, Some(_)) => ManagerTarget::Unknown,
            (None, None) => ManagerTarget::Absent,
        };
        let (department, department_name) =
            self.resolve_department(services, user.department.as_deref(), at).await?;
        Ok(ResolvedReferences { manager: target, department, department_name, tree: ancestors.tree, above })
    }

    /// Returns the references of a stored person, who keeps their manager and department.
    pub(super) async fn stored_references(
        &self,
        services: &Services,
        person: EmployeeId,
    ) -> Result<ResolvedReferences, ScimFailure> {
        let ancestors = services.store.lines_above(self.tenant(), &[person]).await?;
        let above = chain(&ancestors, person);
        let (manager, department) = (ManagerTarget::Absent, DepartmentTarget::Absent);
        Ok(ResolvedReferences { manager, department, department_name: None, tree: ancestors.tree, above })
    }

    async fn resolve_department(
        &self,
        services: &Services,
        name: Option<&str>,
        at: Timestamp,
    ) -> Result<(DepartmentTarget, Option<String>), ScimFailure> {
        let Some(name) = name else { return Ok((DepartmentTarget::Absent, None)) };
        let keys = [folded(name)];
        let stored = services.store.rows_by(self.tenant(), rows::departments::BY_NAME, &keys).await?.pop();
        if let Some(Versioned { value: department, .. }) = stored {
            let is_archived = department.archived_at.is_some();
            return Ok((DepartmentTarget::Known { id: department.id, is_archived }, Some(department.name)));
        }
        let created = Department::create(services.id(at), name.to_owned(), None, at).map_err(Error::from)?;
        Ok((DepartmentTarget::New(Box::new(created)), Some(name.to_owned())))
    }

    /// Returns the condition that another active org admin stays as they are. `None` if there is no other one.
    pub(super) async fn other_admin(
        &self,
        services: &Services,
        person: &Employee,
    ) -> Result<Option<Require>, ScimFailure> {
        let tenant = self.tenant();
        if person.role != Role::OrgAdmin || person.status != Status::Active {
            return Ok(None);
        }
        let admins = services.store.page(tenant, rows::employees::org_admins(2)).await?;
        let Some(other) = admins.items.into_iter().find(|admin| admin.id != person.id) else { return Ok(None) };
        let stored = services.store.rows::<Employee>(tenant, &[other.id]).await?.pop();
        Ok(stored.map(|admin| Require::EmployeeUnchanged(admin.value.id, admin.version)))
    }
}
