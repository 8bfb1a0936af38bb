//! Rows that a SCIM write refers to.

use candor_domain::catalog::Department;
use candor_domain::id::EmployeeId;
use candor_domain::people::Employee;
use candor_domain::text::{address_key, name_key};
use candor_domain::time::Timestamp;
use candor_port_storage::store::Ancestors;
use candor_port_storage::{Require, StorageExt, Version, Versioned};
use candor_provisioning::connector::ScimLink;
use candor_provisioning::{
    Candidates, DepartmentTarget, IdentifierHolders, ManagerReference, ManagerTarget, ScimUser,
};
use candor_tables::rows;

use super::ScimContext;
use super::view::LoadedUser;
use crate::context::error::Error;
use crate::usecases::employees;

/// The references of a user, resolved.
pub(super) struct ResolvedReferences {
    pub(super) manager: ManagerTarget,
    pub(super) department: DepartmentTarget,
    /// Name of the department.
    pub(super) department_name: Option<String>,
    /// Position of the person after the request; `None` if the request names no known manager.
    pub(super) position: Option<TreePosition>,
}

/// Position of a person in the reporting tree.
pub(super) struct TreePosition {
    /// Version of the tree that the check for cycles saw.
    pub(super) tree: Version,
    /// People above the person, including the manager.
    pub(super) above: Vec<EmployeeId>,
}

/// Returns the people above a person, from the lowest.
fn chain(ancestors: &Ancestors, person: EmployeeId) -> Vec<EmployeeId> {
    let mut managers_above = Vec::new();
    let mut current = person;
    while let Some((_, manager)) = ancestors.lines.iter().find(|(report, _)| *report == current) {
        if managers_above.contains(manager) {
            break;
        }
        managers_above.push(*manager);
        current = *manager;
    }
    managers_above
}

impl ScimContext {
    /// Returns the people who have the identifiers of a user. An identifier that the stored person has is not
    /// looked up.
    pub(super) async fn holders(
        &self,
        user: &ScimUser,
        stored: Option<&LoadedUser>,
    ) -> Result<IdentifierHolders, Error> {
        let (store, tenant) = (&self.services().store, self.tenant());
        let person = stored.map(|stored| &stored.person.value);
        let link = stored.and_then(|stored| stored.live_link(self.connector));
        let email = async {
            match person.filter(|person| person.keeps_key_with(&user.email)) {
                Some(person) => Ok(Some(person.id)),
                None => store.id_by(tenant, rows::employees::BY_EMAIL, address_key(&user.email)).await,
            }
        };
        let user_name = ScimLink::user_name_key(self.connector, &user.user_name);
        let user_name_link = async {
            match link.filter(|link| ScimLink::user_name_key(self.connector, &link.user_name) == user_name) {
                Some(link) => Ok(Some(link.id)),
                None => store.id_by(tenant, rows::scim_users::BY_USER_NAME, user_name.clone()).await,
            }
        };
        let external_id = async {
            match (&user.external_id, person.filter(|person| person.external_id == user.external_id)) {
                (None, _) => Ok(None),
                (Some(_), Some(person)) => Ok(Some(person.id)),
                (Some(id), None) => store.id_by(tenant, rows::employees::BY_EXTERNAL_ID, id.clone()).await,
            }
        };
        let external_id_link = async {
            match (&user.external_id, link.filter(|link| link.external_id == user.external_id)) {
                (None, _) => Ok(None),
                (Some(_), Some(link)) => Ok(Some(link.id)),
                (Some(id), None) => {
                    let key = ScimLink::external_key(self.connector, id);
                    store.id_by(tenant, rows::scim_users::BY_EXTERNAL_ID, key).await
                }
            }
        };
        let (email, user_name_link, external_id, external_id_link) =
            tokio::try_join!(email, user_name_link, external_id, external_id_link)?;
        Ok(IdentifierHolders { email, external_id, user_name_link, external_id_link })
    }

    /// Returns the people that the identifiers of a creation refer to.
    pub(super) async fn candidates(
        &self,
        user: &ScimUser,
        holders: IdentifierHolders,
    ) -> Result<Candidates, Error> {
        let (store, tenant) = (&self.services().store, self.tenant());
        let owner = match holders.unlinked_holder() {
            Some(id) => store.row::<Employee>(tenant, id).await?.and_then(|person| person.value.connector_id),
            None => None,
        };
        let holder_of_address = match holders.user_name_link {
            Some(_) => None,
            None if user.user_name_key() == address_key(&user.email) => holders.email,
            None => store.id_by(tenant, rows::employees::BY_EMAIL, user.user_name_key()).await?,
        };
        Ok(holders.candidates(owner, holder_of_address))
    }

    /// Returns the person that a reference to a manager names: by id, else by the `externalId` of a link of the
    /// connector, else by e-mail address.
    pub(super) async fn find_manager(&self, text: &str) -> Result<Option<EmployeeId>, Error> {
        let (store, tenant) = (&self.services().store, self.tenant());
        let reference = ManagerReference::new(text.to_owned());
        if let Some(id) = reference.id() {
            return Ok(store.row::<Employee>(tenant, id).await?.map(|person| person.value.id));
        }
        let key = ScimLink::external_key(self.connector, text);
        let (linked, addressed) = tokio::try_join!(
            store.id_by(tenant, rows::scim_users::BY_EXTERNAL_ID, key),
            store.id_by(tenant, rows::employees::BY_EMAIL, reference.email_key()),
        )?;
        Ok(ManagerReference::choose(linked, addressed))
    }

    /// Resolves the references of a user. `stored` is the person with this id, unless they are new.
    pub(super) async fn resolve(
        &self,
        user: &ScimUser,
        id: EmployeeId,
        stored: Option<&Employee>,
        at: Timestamp,
    ) -> Result<ResolvedReferences, Error> {
        let manager = match &user.manager {
            Some(reference) => self.find_manager(reference.text()).await?,
            None => None,
        };
        let position = match manager {
            Some(manager) => {
                let ancestors = self.services().store.lines_above(self.tenant(), &[manager, id]).await?;
                let managers_above = chain(&ancestors, manager);
                Some((manager, TreePosition { tree: ancestors.tree, above: managers_above }))
            }
            None => None,
        };
        let managers_above = position.as_ref().map_or(&[][..], |(_, position)| &position.above);
        let stored_id = stored.map(|person| person.id);
        let height = match stored_id.filter(|_| manager.is_some()) {
            Some(person) => self.height(person).await?,
            None => 0,
        };
        let target = ManagerTarget::new(user.manager.as_ref(), manager, managers_above, stored_id, height);
        let position = position.map(|(manager, mut position)| {
            position.above.push(manager);
            position
        });
        let (department, department_name) = self.resolve_department(user.department.as_deref(), at).await?;
        Ok(ResolvedReferences { manager: target, department, department_name, position })
    }

    /// Returns the number of levels below a person.
    pub(super) async fn height(&self, id: EmployeeId) -> Result<u32, Error> {
        Ok(self.services().store.heights(self.tenant(), &[id]).await?.pop().map_or(0, |(_, height)| height))
    }

    /// Returns the stored position of a person in the reporting tree.
    pub(super) async fn position(&self, id: EmployeeId) -> Result<TreePosition, Error> {
        let ancestors = self.services().store.lines_above(self.tenant(), &[id]).await?;
        Ok(TreePosition { tree: ancestors.tree, above: chain(&ancestors, id) })
    }

    async fn resolve_department(
        &self,
        name: Option<&str>,
        at: Timestamp,
    ) -> Result<(DepartmentTarget, Option<String>), Error> {
        let Some(name) = name else { return Ok((DepartmentTarget::Absent, None)) };
        let keys = [name_key(name)];
        let department_row =
            self.services().store.rows_by(self.tenant(), rows::departments::BY_NAME, &keys).await?.pop();
        if let Some(Versioned { value: department, .. }) = department_row {
            let is_archived = department.archived_at.is_some();
            return Ok((DepartmentTarget::Known { id: department.id, is_archived }, Some(department.name)));
        }
        let creation =
            Department::create(self.services().id(at), name.to_owned(), None, at).map_err(Error::from)?;
        Ok((DepartmentTarget::New(Box::new(creation)), Some(name.to_owned())))
    }

    /// Returns the condition that an active org admin other than `person` is unchanged at commit time. `None` if there
    /// is no such admin, or if `person` is not an active org admin.
    pub(super) async fn other_admin(&self, person: &Employee) -> Result<Option<Require>, Error> {
        if !person.is_active_org_admin() {
            return Ok(None);
        }
        employees::other_admin(self.services(), self.tenant(), person.id).await
    }
}
