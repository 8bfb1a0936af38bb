//! The SCIM form of stored people.

use std::collections::HashMap;

use candor_domain::catalog::Department;
use candor_domain::id::{ConnectorId, EmployeeId};
use candor_domain::json::Object;
use candor_domain::people::Employee;
use candor_port_storage::{StorageError, StorageExt, Version, Versioned};
use candor_provisioning::connector::ScimLink;
use candor_provisioning::{Meta, StoredUser};
use candor_scim::CustomMapping;

use super::ScimContext;
use crate::context::error::Error;
use crate::context::request::Precondition;

/// A stored person with the data of the connector about them.
pub(super) struct LoadedUser {
    pub(super) person: Versioned<Employee>,
    /// The link of the person. It may be an ended link of another connector, which an adoption replaces.
    pub(super) link: Option<Versioned<ScimLink>>,
    pub(super) department: Option<String>,
}

/// Versions that the entity tag of a user consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct UserVersion {
    pub(super) person: Version,
    /// Version of the link; 0 for a person without one.
    pub(super) link: u64,
}

impl LoadedUser {
    pub(super) fn version(&self) -> UserVersion {
        let link = self.link.as_ref().map_or(0, |link| link.version.0.cast_unsigned());
        UserVersion { person: self.person.shown_version(), link }
    }

    /// Returns the link, if it belongs to an account of the connector.
    pub(super) fn live_link(&self, connector: ConnectorId) -> Option<&ScimLink> {
        self.link.as_ref().map(|link| &link.value).filter(|link| link.is_live_of(connector))
    }
}

/// Returns the stored data of a person from which SCIM resources are built.
pub(super) fn stored_user<'a>(
    context: &'a ScimContext,
    mappings: &'a [CustomMapping],
    employee: &'a Employee,
    link: Option<&'a ScimLink>,
    department: Option<&'a str>,
) -> StoredUser<'a> {
    let extra = link.map(|link| link.extra.document()).unwrap_or_default();
    StoredUser {
        employee,
        user_name: link.map(|link| link.user_name.as_str()),
        external_id: link.and_then(|link| link.external_id.as_deref()),
        manager_ref: link.and_then(|link| link.manager_ref.as_deref()),
        extra,
        department,
        mappings,
        base: &context.base,
    }
}

/// Returns the resource of a person with these versions.
pub(super) fn resource(
    context: &ScimContext,
    user: &StoredUser<'_>,
    link: Option<&ScimLink>,
    version: UserVersion,
) -> Object {
    let employee = user.employee;
    let last_change = link.map_or(employee.updated_at, |link| link.updated_at.max(employee.updated_at));
    let tag = format!("W/{}", (context.tag)(version.person, version.link));
    user.resource(&Meta { created: employee.created_at, last_modified: last_change, version: &tag })
}

impl ScimContext {
    /// Checks `If-Match` against the versions of the stored person and of their link, which a client changes too.
    pub(super) fn check_precondition(&self, user: &LoadedUser) -> Result<(), Error> {
        let UserVersion { person, link } = user.version();
        match &self.request.precondition {
            Some(Precondition::OneOf(tags)) if !tags.contains(&(person, link)) => Err(Error::PreconditionFailed),
            Some(Precondition::OneOf(_) | Precondition::Any) | None => Ok(()),
        }
    }

    /// Returns the resource of a loaded person.
    pub(super) fn resource(&self, mappings: &[CustomMapping], user: &LoadedUser) -> Object {
        let link = user.live_link(self.connector);
        let user_document = stored_user(self, mappings, &user.person.value, link, user.department.as_deref());
        resource(self, &user_document, link, user.version())
    }

    /// Loads the links and departments of people.
    pub(super) async fn load_users(&self, people: Vec<Versioned<Employee>>) -> Result<Vec<LoadedUser>, Error> {
        let ids: Vec<_> = people.iter().map(|person| person.value.id).collect();
        let (links, departments) = tokio::try_join!(
            self.services().store.rows::<ScimLink>(self.tenant(), &ids),
            self.departments_of(&people)
        )?;
        Ok(join_users(people, links, departments))
    }

    /// Loads the people and departments of links.
    pub(super) async fn load_linked(&self, links: Vec<Versioned<ScimLink>>) -> Result<Vec<LoadedUser>, Error> {
        let ids: Vec<_> = links.iter().map(|link| link.value.id).collect();
        let people = self.services().store.rows::<Employee>(self.tenant(), &ids).await?;
        let departments = self.departments_of(&people).await?;
        Ok(join_users(people, links, departments))
    }

    /// Loads the person with this id, with their link and department.
    pub(super) async fn load_person(&self, id: EmployeeId) -> Result<Option<LoadedUser>, Error> {
        let (store, tenant) = (&self.services().store, self.tenant());
        let (person, link) =
            tokio::try_join!(store.row::<Employee>(tenant, id), store.row::<ScimLink>(tenant, id))?;
        let people: Vec<_> = person.into_iter().collect();
        let departments = self.departments_of(&people).await?;
        Ok(join_users(people, link.into_iter().collect(), departments).pop())
    }

    async fn departments_of(
        &self,
        people: &[Versioned<Employee>],
    ) -> Result<Vec<Versioned<Department>>, StorageError> {
        let ids: Vec<_> = people.iter().filter_map(|person| person.value.department_id).collect();
        self.services().store.rows(self.tenant(), &ids).await
    }
}

/// Joins people with their links and the names of their departments.
fn join_users(
    people: Vec<Versioned<Employee>>,
    links: Vec<Versioned<ScimLink>>,
    departments: Vec<Versioned<Department>>,
) -> Vec<LoadedUser> {
    let mut links: HashMap<_, _> = links.into_iter().map(|link| (link.value.id, link)).collect();
    let names: HashMap<_, _> =
        departments.into_iter().map(|department| (department.value.id, department.value.name)).collect();
    let loaded_users = people.into_iter().map(|person| {
        let department = person.value.department_id.and_then(|id| names.get(&id).cloned());
        LoadedUser { link: links.remove(&person.value.id), department, person }
    });
    loaded_users.collect()
}
