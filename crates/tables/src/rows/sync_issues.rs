//! Issues of connectors, and their lists.

use candor_domain::fields::StringEnum;
use candor_domain::id::{ConnectorId, EmployeeId, SyncIssueKind};
use candor_domain::page::{PageRequest, Sort};
use candor_provisioning::connector::{IssueFilter, IssueKind, Resolved, SyncIssue};

use super::column;
use crate::flat::{Column, Index, SqlValue, Table, Type};
use crate::listing::{Listing, OCCURRED_AT, TypedListing};
use crate::read::{ID, LookupColumn};
use crate::stored::stored;

const CONNECTOR_ID: Column = column("connector_id", Type::Id);
const EMPLOYEE_ID: Column = column("employee_id", Type::Id);
const RESOLVED: Column = column("resolved", Type::Flag);

stored! {
    SyncIssue, id: SyncIssueKind, row: issue;
    columns {
        id: IdColumn,
        connector_id: IdColumn,
        kind: OneOfColumn,
        user_name: Option<TextColumn>,
        external_id: Option<TextColumn>,
        employee_id: Option<IdColumn>,
        message: TextColumn,
        count: Int,
        first_occurred_at: Time,
        occurred_at: Time,
        resolved_at: Option<Time>,
    }
    derived {
        open_key: Option<Bytes> = issue.open_key(),
        resolved: FlagColumn = issue.resolved_at.is_some(),
    }
    table Table {
        indexes: &[
            Index::unique(&["open_key"]),
            Index::of_columns(&["resolved", "connector_id", "occurred_at", "id"]),
            Index::of_columns(&["resolved", "connector_id", "kind", "occurred_at", "id"]),
            Index::of_columns(&["employee_id", "id"]),
            Index::of_columns(&["resolved", "employee_id", "id"]),
        ],
        ..Table::with_name("sync_issues")
    };
}

/// Lookup of the open issue with this [`SyncIssue::occurrence_key`].
pub const BY_OPEN_KEY: LookupColumn<SyncIssue> = LookupColumn::column("open_key", Type::Bytes);

/// List of the issues about a person in the order of their ids. A page starts after the id of its position; the
/// position's other values do not matter.
#[must_use]
pub fn list_about(person: EmployeeId, page: &PageRequest) -> TypedListing<SyncIssue> {
    let mut it = Listing::new_ordered::<SyncIssue>(ID, false, page.limit);
    it.is(EMPLOYEE_ID, Some(person));
    it.after = page.after.as_ref().map(|position| (SqlValue::Id(position.id), position.id));
    it.into_list()
}

/// List of the open issues about a person, ordered by id. An index that begins with `resolved` answers it.
#[must_use]
pub fn open_about(person: EmployeeId, limit: u16) -> TypedListing<SyncIssue> {
    let mut it = Listing::new_ordered::<SyncIssue>(ID, false, limit);
    it.runs = Some((RESOLVED, vec![SqlValue::Flag(false)]));
    it.is(EMPLOYEE_ID, Some(person));
    it.into_list()
}

/// List of the newest resolved issues about an adoption of a person.
#[must_use]
pub fn confirmed_adoptions(person: EmployeeId, limit: u16) -> TypedListing<SyncIssue> {
    let mut it = Listing::new_ordered::<SyncIssue>(ID, true, limit);
    it.runs = Some((RESOLVED, vec![SqlValue::Flag(true)]));
    it.is(EMPLOYEE_ID, Some(person));
    it.words(column("kind", Type::Text), [IssueKind::AdoptionUnconfirmed.word()]);
    it.into_list()
}

/// List of `GET /connectors/{id}/sync-issues`.
#[must_use]
pub fn list(
    connector: ConnectorId,
    filter: &IssueFilter,
    sort: Sort,
    page: &PageRequest,
) -> TypedListing<SyncIssue> {
    let mut issues = Listing::new::<SyncIssue>(sort, page);
    let values: &[bool] = match filter.resolved {
        Resolved::No => &[false],
        Resolved::Yes => &[true],
        Resolved::All => &[false, true],
    };
    issues.runs = Some((RESOLVED, values.iter().map(|value| SqlValue::Flag(*value)).collect()));
    issues.is(CONNECTOR_ID, Some(connector));
    issues.words(column("kind", Type::Text), filter.kind.map(StringEnum::word));
    issues.into_list()
}

/// List of the open issues of refused requests, at most one of each kind.
#[must_use]
pub fn open_refusals(connector: ConnectorId) -> TypedListing<SyncIssue> {
    let kinds = IssueKind::ALL.iter().filter(|kind| kind.is_refusal());
    let parts = kinds.map(|kind| {
        let mut issues = Listing::new_ordered::<SyncIssue>(OCCURRED_AT, false, 1);
        issues.runs = Some((RESOLVED, vec![SqlValue::Flag(false)]));
        issues.is(CONNECTOR_ID, Some(connector));
        issues.words(column("kind", Type::Text), [kind.word()]);
        issues
    });
    TypedListing::from_parts(parts.collect())
}
