//! Departments: the flat list of groups that people belong to.

use schemars::JsonSchema;
use serde::Serialize;

use super::must_be_free;
use crate::decision::{Decision, Resource, identity};
use crate::event::EventType;
use crate::fields::Fields;
use crate::id::{DepartmentId, DepartmentKind};
use crate::json::Object;
use crate::page::{Key, SortBy, SortKey, Sortable};
use crate::params::{self, Archived, Bounds, ListRequest, Params};
use crate::problem::ValidationErrors;
use crate::refusal::{DomainError, must_be_active, must_be_archived};
use crate::rule::{self, Field, Line};
use crate::text::{fold_case, name_key};
use crate::time::Timestamp;
use crate::update::Update;

/// Maximum length of a name, in characters.
pub const NAME_CHARS: usize = 120;

const READ_ONLY: &[&str] = &["id", "created_at", "updated_at", "archived_at"];

const NAME: Field<Line> = Field::new("name", rule::line(1..=NAME_CHARS));

/// A named group that people belong to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Department {
    /// Id of the department, with the prefix `dep_`.
    pub id: DepartmentId,
    /// Name. Unique in the organization, compared without case.
    pub name: String,
    /// Time of creation, which never changes.
    pub created_at: Timestamp,
    /// Time of the last change. It increases with every change.
    pub updated_at: Timestamp,
    /// Archive time. Null if it is not archived.
    pub archived_at: Option<Timestamp>,
    /// `true` if another department had the name before names were compared by their keys.
    #[serde(skip)]
    pub is_twin: bool,
}

impl Resource for Department {
    identity!(DepartmentKind);
}

/// Conditions of a list of departments.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// The whole name, compared without case.
    pub name: Option<String>,
    /// Selects departments in use, archived ones, or both.
    pub archived: Archived,
    /// Bounds of the last change.
    pub updated_at: Bounds<Timestamp>,
}

impl Filter {
    /// Reads the parameters of `GET /departments` into a filter. Problems are recorded in `params`.
    pub fn read(params: &mut Params) -> ListRequest<Self, ()> {
        let filter = Self {
            name: params.one(&params::identifying_name(
                "filter[name]",
                "Only the department with this name. The whole name is compared, without case.",
            )),
            archived: params.one(&params::ARCHIVED).unwrap_or_default(),
            updated_at: params.bounds(&params::UPDATED_AT),
        };
        params.list::<Department, _, _>("departments", filter, vec![])
    }
}

impl Sortable for Department {
    const ORDERS_NAME: &'static str = "DepartmentSort";
    const ORDERS: &'static [SortKey<Self>] = &[
        SortKey::ascending_by(SortBy::Name, |department| Key::Text(department.name_key())),
        SortKey::ascending_by(SortBy::CreatedAt, |department| Key::Time(department.created_at)),
        SortKey::ascending_by(SortBy::UpdatedAt, |department| Key::Time(department.updated_at)),
    ];
}

/// Reads the fields of a creation. Returns the name.
pub fn read_new(fields: &mut Fields) -> Option<String> {
    fields.required(&NAME)
}

/// Reads the fields of an update. Returns the new name, or `None` if the body has none.
pub fn read_patch(fields: &mut Fields) -> Option<String> {
    fields.present(&NAME)
}

/// Reads the body of a creation. Returns the name.
///
/// # Errors
/// One problem for each wrong field.
pub fn parse_new(body: Object) -> Result<String, ValidationErrors> {
    Fields::parse_new(body, READ_ONLY, read_new)
}

/// Reads the body of an update: the new name, or `None` if the body has none.
#[must_use]
pub fn parse_patch(body: Object) -> Update<Option<String>> {
    Update::read(body, &[READ_ONLY], read_patch)
}

impl Update<Option<String>> {
    /// Checks the update against the stored department. If the department is archived, the new name is not
    /// checked, because [`Department::rename`] refuses every update then.
    ///
    /// # Errors
    /// One problem for each wrong or immutable field.
    pub fn resolve_with(&self, stored: &Department) -> Result<Option<String>, ValidationErrors> {
        if stored.archived_at.is_some() { Ok(None) } else { self.finish(stored) }
    }
}

impl Department {
    /// Returns the key under which the name is stored: the name key, which all spellings share, or the lower-case
    /// text of a twin.
    #[must_use]
    pub fn name_key(&self) -> String {
        if self.is_twin { fold_case(&self.name) } else { name_key(&self.name) }
    }

    /// Creates a department. `holder` is the department that already has the name.
    ///
    /// # Errors
    /// [`DomainError::Conflict`] if the name is taken.
    pub fn create(
        id: DepartmentId,
        name: String,
        holder: Option<DepartmentId>,
        at: Timestamp,
    ) -> Result<Decision<Self>, DomainError> {
        must_be_free(&name, holder, None)?;
        Ok(Self::create_with_free_name(id, name, at))
    }

    /// Creates a department without checking that its name is free.
    pub fn create_with_free_name(id: DepartmentId, name: String, at: Timestamp) -> Decision<Self> {
        let state = Self { id, name, created_at: at, updated_at: at, archived_at: None, is_twin: false };
        Decision::for_creation(state, "department.create", vec![EventType::DepartmentCreated])
    }

    /// Renames the department. Returns `None` if nothing changes.
    ///
    /// # Errors
    /// [`DomainError::Conflict`] if the department is archived, or the name is taken.
    pub fn rename(
        &self,
        name: Option<String>,
        holder: Option<DepartmentId>,
        at: Timestamp,
    ) -> Result<Option<Decision<Self>>, DomainError> {
        must_be_active(self.archived_at, "update")?;
        let Some(name) = name.filter(|name| *name != self.name) else { return Ok(None) };
        must_be_free(&name, holder, Some(self.id))?;
        let state = Self { name, is_twin: false, updated_at: at.strictly_after(self.updated_at), ..self.clone() };
        Ok(Some(Decision::for_change(self, state, "department.update", vec![EventType::DepartmentUpdated])))
    }

    /// Archives the department. A department with members cannot be archived.
    ///
    /// # Errors
    /// [`DomainError::Conflict`] if the department is already archived, or `has_members`.
    pub fn archive(&self, has_members: bool, at: Timestamp) -> Result<Decision<Self>, DomainError> {
        must_be_active(self.archived_at, "archive")?;
        if has_members {
            return Err(DomainError::transition("members", "has members", "archive"));
        }
        let archived_at = at.strictly_after(self.updated_at);
        let state = Self { archived_at: Some(archived_at), updated_at: archived_at, ..self.clone() };
        Ok(Decision::for_change(self, state, "department.archive", vec![EventType::DepartmentArchived]))
    }

    /// Restores an archived department.
    ///
    /// # Errors
    /// [`DomainError::Conflict`] if the department is not archived.
    pub fn restore(&self, at: Timestamp) -> Result<Decision<Self>, DomainError> {
        must_be_archived(self.archived_at)?;
        let state = Self { archived_at: None, updated_at: at.strictly_after(self.updated_at), ..self.clone() };
        Ok(Decision::for_change(self, state, "department.restore", vec![EventType::DepartmentRestored]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ulid::Ulid;

    #[test]
    fn each_state_accepts_only_its_actions() {
        let time = Timestamp::from_millis(1);
        let id = DepartmentId::from_ulid(Ulid(1));
        let active = Department::create(id, "Care".to_owned(), None, time).unwrap().state;
        let archived_department = active.archive(false, time).unwrap().state;
        assert!(active.archive(true, time).is_err(), "it has members");
        assert!(archived_department.archive(false, time).is_err());
        assert!(active.restore(time).is_err());
        assert!(archived_department.restore(time).unwrap().state.archived_at.is_none());
        assert!(archived_department.rename(None, None, time).is_err(), "also with nothing to change");
        assert_eq!(active.rename(Some("Care".to_owned()), Some(id), time), Ok(None));
        assert_eq!(active.rename(Some("CARE".to_owned()), Some(id), time).unwrap().unwrap().state.name, "CARE");
    }

    #[test]
    fn department_with_a_taken_name_is_refused() {
        let (one, two) = (DepartmentId::from_ulid(Ulid(1)), DepartmentId::from_ulid(Ulid(2)));
        let error = Department::create(two, "care".to_owned(), Some(one), Timestamp::from_millis(1)).unwrap_err();
        assert_eq!(error, DomainError::already_taken("name", "care", Some(one)));
    }
}
