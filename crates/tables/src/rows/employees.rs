//! Mapping of people, and their lists.

use candor_domain::fields::StringEnum;
use candor_domain::id::{ConnectorId, DepartmentId, EmployeeId, EmployeeKind};
use candor_domain::keyed::KeyedMap;
use candor_domain::page::{PageRequest, Sort, SortBy};
use candor_domain::params::Bounds;
use candor_domain::people::{Employee, Filter, Hold, Role, Status};
use candor_domain::search::Searchable;
use candor_domain::text::fold_case;
use candor_domain::time::Timestamp;

use super::{EXTERNAL_ID, column};
use crate::flat::{Column, Index, MemberTable, SqlValue, Table, Type};
use crate::listing::{Condition, Listing, STATUS, TypedListing, UPDATED_AT};
use crate::read::{ID, LookupColumn};
use crate::stored::stored;

/// Side table of the custom field values, as digests.
const TAGS: MemberTable = MemberTable { name: "employee_custom_values", owner: "employee_id", member: "digest" };
const DEPARTMENT_ID: Column = column("department_id", Type::Id);
const ROLE: Column = column("role", Type::Text);

stored! {
    Employee, id: EmployeeKind, row: person;
    columns {
        id: IdColumn,
        email: TextColumn,
        external_id: Option<TextColumn>,
        first_name: TextColumn,
        last_name: TextColumn,
        role: OneOfColumn,
        manager_id: Option<IdColumn>,
        department_id: Option<IdColumn>,
        status: OneOfColumn,
        custom_fields: Json,
        hris_source: TextColumn,
        connector_id: Option<IdColumn>,
        created_at: Time,
        updated_at: Time,
        deactivated_at: Option<Time>,
        job_title: Option<TextColumn>,
        hold_reason: Option<TextColumn> = person.hold.as_ref().map(|hold| hold.reason.clone()),
        held_at: Option<Time> = person.hold.as_ref().map(|hold| hold.held_at),
        erased_at: Option<Time>,
        returned_at: Option<Time>,
        twin: Option<FlagColumn> = person.is_twin.then_some(true),
        hold_changes: Option<Int> = Some(person.hold_changes),
        address_changed_at: Option<Time>,
    }
    derived {
        left_at: Option<Time> = person.left_at(),
        email_key: TextColumn = person.email_key(),
        first_name_key: TextColumn = fold_case(&person.first_name),
        last_name_key: TextColumn = fold_case(&person.last_name),
    }
    fields {
        is_hris_managed: connector_id.is_some(),
        is_twin: twin.unwrap_or_default(),
        hold_changes: hold_changes.unwrap_or_default(),
        hold: hold_reason.zip(held_at).map(|(reason, held_at)| Hold { reason, held_at }),
    }
    table Table {
        members: &[TAGS],
        indexes: &[
            Index::unique(&["email_key"]),
            Index::unique(&["external_id"]),
            Index::of_columns(&["status", "last_name_key", "id"]),
            Index::of_columns(&["status", "first_name_key", "id"]),
            Index::of_columns(&["status", "created_at", "id"]),
            Index::of_columns(&["status", "updated_at", "id"]),
            Index::of_columns(&["manager_id", "status", "last_name_key", "first_name_key", "id"]),
            Index::of_columns(&["department_id", "status", "last_name_key", "id"]),
            Index::of_columns(&["job_title", "status", "last_name_key", "id"]),
            Index::of_columns(&["connector_id", "id"]),
            Index::of_columns(&["hris_source", "id"]),
            Index::of_columns(&["role", "status", "id"]),
            Index::of_columns(&["left_at", "id"]),
            Index::of_columns(&["twin", "id"]),
        ],
        parameters: &[("digest", "custom_fields.…")],
        ..Table::with_name("employees")
    };
    also {
        fn is_searched(&self) -> bool {
            Searchable::is_found(self)
        }

        fn members(&self) -> Vec<Vec<[u8; 16]>> {
            vec![self.custom_fields.digests()]
        }
    }
}

/// Lookup by the key of an e-mail address.
pub const BY_EMAIL: LookupColumn<Employee> = LookupColumn::column("email_key", Type::Text);
/// Lookup by id in another system.
pub const BY_EXTERNAL_ID: LookupColumn<Employee> = LookupColumn::column("external_id", Type::Text);

/// Returns the status words of people who have not left.
pub fn present_statuses() -> impl Iterator<Item = &'static str> {
    Status::ALL.iter().filter(|status| **status != Status::Deactivated).map(|status| status.word())
}

/// List of `GET /employees` (§4.3).
#[must_use]
pub fn list(filter: &Filter, sort: Sort, page: &PageRequest) -> TypedListing<Employee> {
    let mut it = Listing::new::<Employee>(sort, page);
    it.runs(STATUS, filter.status.statuses().iter().map(|status| status.word()));
    it.is(column("email_key", Type::Text), filter.email.clone());
    it.is(EXTERNAL_ID, filter.external_id.clone());
    it.is(column("job_title", Type::Text), filter.job_title.clone());
    it.is(column("manager_id", Type::Id), filter.manager_id);
    it.is(DEPARTMENT_ID, filter.department_id);
    it.words(ROLE, filter.roles.iter().map(|role| role.word()));
    let digests: Vec<_> = filter.custom.iter().map(|value| value.digest).collect();
    it.restrict_to_digests(TAGS, &digests);
    it.restrict_to_bounds(UPDATED_AT, filter.updated_at, SqlValue::Time);
    if !filter.ids.is_empty() {
        // The rows are few and are looked up by id, so the runs by status become a condition.
        if let Some((column, values)) = it.runs.take() {
            it.one_of(column, values);
        }
        it.conditions.push(Condition::Among(filter.ids.iter().map(|id| id.to_bytes()).collect()));
    }
    it.into_list()
}

/// List of the members of a department who have not left.
#[must_use]
pub fn members_of(department: DepartmentId, most: u16) -> TypedListing<Employee> {
    let mut it =
        Listing::new::<Employee>(Sort::ascending_by(SortBy::LastName), &PageRequest { limit: most, after: None });
    it.runs(STATUS, present_statuses());
    it.is(DEPARTMENT_ID, Some(department));
    it.into_list()
}

/// List of the active org admins, ordered by id.
#[must_use]
pub fn org_admins(most: u16) -> TypedListing<Employee> {
    let mut it = Listing::new_ordered::<Employee>(ID, false, most);
    it.runs(STATUS, [Status::Active.word()]);
    it.is(ROLE, Some(Role::OrgAdmin.word().to_owned()));
    it.into_list()
}

/// List of the people who were deactivated at `last` or earlier and are not erased, ordered by the time of their
/// deactivation. Starts behind `after`, the time and id of a person.
#[must_use]
pub fn left_until(last: Timestamp, after: Option<(Timestamp, EmployeeId)>, limit: u16) -> TypedListing<Employee> {
    let left_at = column("left_at", Type::Time);
    let mut it = Listing::new_ordered::<Employee>(left_at, false, limit);
    it.restrict_to_bounds(left_at, Bounds { gte: None, lte: Some(last) }, SqlValue::Time);
    it.after = after.map(|(time, person)| (SqlValue::Time(time), person.to_bytes()));
    it.into_list()
}

/// List of the people managed by a connector, ordered by id. Starts behind the person `after`.
#[must_use]
pub fn managed_by(connector: ConnectorId, after: Option<EmployeeId>, limit: u16) -> TypedListing<Employee> {
    let mut it = Listing::new_ordered::<Employee>(ID, false, limit);
    it.is(column("connector_id", Type::Id), Some(connector));
    it.after = after.map(|position| (position.into(), position.to_bytes()));
    it.into_list()
}
