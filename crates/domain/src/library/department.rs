//! Departments: a flat list of names that people belong to.

use serde::Serialize;

use super::{must_be_active, must_be_archived, must_be_free};
use crate::decision::{Decision, Resource};
use crate::fields::Fields;
use crate::id::{DepartmentId, DepartmentKind};
use crate::json::Object;
use crate::page::{Key, Listed, Order, SortBy};
use crate::params::{self, Archived, Bounds, ListRequest, Params};
use crate::problem::Problems;
use crate::refusal::Refusal;
use crate::rule::{self, Field, Line};
use crate::text::folded;
use crate::time::Timestamp;

/// The longest name.
pub const NAME_CHARS: usize = 120;

const READ_ONLY: &[&str] = &["id", "created_at", "updated_at", "archived_at"];

const NAME: Field<Line> =
    Field::new("name", rule::line(1..=NAME_CHARS), "Name. Unique in the organization, compared without case.");

/// A department.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Department {
    /// Its id.
    pub id: DepartmentId,
    /// Its name, unique in the organization without case.
    pub name: String,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// When it was archived; null while in use.
    pub archived_at: Option<Timestamp>,
}

impl Resource for Department {
    type Kind = DepartmentKind;
    const NAME: &'static str = "department";

    fn id(&self) -> DepartmentId {
        self.id
    }

    fn updated_at(&self) -> Timestamp {
        self.updated_at
    }
}

/// Which departments are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// With this name, without case.
    pub name: Option<String>,
    /// Archived or not.
    pub archived: Archived,
    /// Changed within these bounds.
    pub updated_at: Bounds<Timestamp>,
}

impl Filter {
    /// The parameters of `GET /departments`.
    pub fn read(params: &mut Params) -> ListRequest<Self, ()> {
        let filter = Self {
            name: params.one(&params::folded(
                "filter[name]",
                "Only the department with this name. The whole name is compared, without case.",
            )),
            archived: params.one(&params::ARCHIVED).unwrap_or_default(),
            updated_at: params.bounds(&params::UPDATED_AT),
        };
        params.list::<Department, _, _>("departments", filter, vec![])
    }

    /// Reads the parameters of `GET /departments`.
    ///
    /// # Errors
    /// Every parameter that is wrong.
    pub fn parse(mut params: Params) -> Result<ListRequest<Self, ()>, Problems> {
        let request = Self::read(&mut params);
        params.finish(request)
    }
}

impl Listed for Department {
    const ORDERS_NAME: &'static str = "DepartmentSort";
    const ORDERS: &'static [Order<Self>] = &[
        Order { by: SortBy::Name, key: |it| Key::Text(folded(&it.name)), words: &["name", "-name"] },
        Order { by: SortBy::CreatedAt, key: |it| Key::Time(it.created_at), words: &["created_at", "-created_at"] },
        Order { by: SortBy::UpdatedAt, key: |it| Key::Time(it.updated_at), words: &["updated_at", "-updated_at"] },
    ];
}

/// The fields of a creation: the name.
pub fn read_new(fields: &mut Fields) -> Option<String> {
    fields.required(&NAME)
}

/// The fields of an update: the new name, if there is one.
pub fn read_patch(fields: &mut Fields) -> Option<String> {
    fields.present(&NAME)
}

/// Reads the body of a creation: the name.
///
/// # Errors
/// Every field that is wrong.
pub fn parse_new(body: Object) -> Result<String, Problems> {
    Fields::of_new(body, READ_ONLY, read_new)
}

impl Department {
    /// Reads the body of an update: the new name, if there is one. Of an archived one nothing is read:
    /// [`Department::rename`] refuses it, whatever it says.
    ///
    /// # Errors
    /// Every field that is wrong, or that cannot be changed.
    pub fn parse_patch(&self, body: Object) -> Result<Option<String>, Problems> {
        if self.archived_at.is_some() {
            return Ok(None);
        }
        Fields::of_update(body, &[READ_ONLY], self, read_patch)
    }

    /// A new department; `holder` is whoever has the name already.
    ///
    /// # Errors
    /// [`Refusal::Conflict`] if the name is taken.
    pub fn create(
        id: DepartmentId,
        name: String,
        holder: Option<DepartmentId>,
        at: Timestamp,
    ) -> Result<Decision<Self>, Refusal> {
        must_be_free(&name, holder, None)?;
        Ok(Self::found(id, name, at))
    }

    /// A new department whose name nobody has.
    pub(crate) fn found(id: DepartmentId, name: String, at: Timestamp) -> Decision<Self> {
        let state = Self { id, name, created_at: at, updated_at: at, archived_at: None };
        Decision::created(state, "department.create", vec![])
    }

    /// Renames it; `None` if that changes nothing.
    ///
    /// # Errors
    /// [`Refusal::Conflict`] if it is archived, or the name is taken.
    pub fn rename(
        &self,
        name: Option<String>,
        holder: Option<DepartmentId>,
        at: Timestamp,
    ) -> Result<Option<Decision<Self>>, Refusal> {
        must_be_active(self.archived_at, "update")?;
        let Some(name) = name.filter(|it| *it != self.name) else { return Ok(None) };
        must_be_free(&name, holder, Some(self.id))?;
        let state = Self { name, updated_at: at.strictly_after(self.updated_at), ..self.clone() };
        Ok(Some(Decision::changed(self, state, "department.update", vec![])))
    }

    /// Takes it out of use. A department that people belong to stays, unless they have all left.
    ///
    /// # Errors
    /// [`Refusal::Conflict`] if it is archived already, or `has_members`.
    pub fn archive(&self, has_members: bool, at: Timestamp) -> Result<Decision<Self>, Refusal> {
        must_be_active(self.archived_at, "archive")?;
        if has_members {
            return Err(Refusal::transition("members", "has members", "archive"));
        }
        let at = at.strictly_after(self.updated_at);
        let state = Self { archived_at: Some(at), updated_at: at, ..self.clone() };
        Ok(Decision::changed(self, state, "department.archive", vec![]))
    }

    /// Takes it into use again.
    ///
    /// # Errors
    /// [`Refusal::Conflict`] if it is not archived.
    pub fn restore(&self, at: Timestamp) -> Result<Decision<Self>, Refusal> {
        must_be_archived(self.archived_at)?;
        let state = Self { archived_at: None, updated_at: at.strictly_after(self.updated_at), ..self.clone() };
        Ok(Decision::changed(self, state, "department.restore", vec![]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ulid::Ulid;

    #[test]
    fn every_state_meets_every_action() {
        let at = Timestamp::from_millis(1);
        let id = DepartmentId::from_ulid(Ulid(1));
        let active = Department::create(id, "Care".to_owned(), None, at).unwrap().state;
        let archived = active.archive(false, at).unwrap().state;
        assert!(active.archive(true, at).is_err(), "it has members");
        assert!(archived.archive(false, at).is_err());
        assert!(active.restore(at).is_err());
        assert!(archived.restore(at).unwrap().state.archived_at.is_none());
        assert!(archived.rename(None, None, at).is_err(), "also with nothing to change");
        assert_eq!(active.rename(Some("Care".to_owned()), Some(id), at), Ok(None));
        assert_eq!(active.rename(Some("CARE".to_owned()), Some(id), at).unwrap().unwrap().state.name, "CARE");
    }

    #[test]
    fn a_name_is_held_by_one_department() {
        let (one, two) = (DepartmentId::from_ulid(Ulid(1)), DepartmentId::from_ulid(Ulid(2)));
        let refused = Department::create(two, "care".to_owned(), Some(one), Timestamp::from_millis(1)).unwrap_err();
        assert_eq!(refused, Refusal::taken("name", "care", one));
    }
}
