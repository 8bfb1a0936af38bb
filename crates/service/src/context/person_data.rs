//! Rows about one person, in the pages in which access requests and erasures read them.

use candor_domain::access::Tenant;
use candor_domain::access::api_key::ApiKey;
use candor_domain::assignment::{self, Assignment};
use candor_domain::audit::{self, AuditEntry};
use candor_domain::decision::Resource;
use candor_domain::id::EmployeeId;
use candor_domain::notification::{self, Notification};
use candor_domain::objective::{self, Family, Objective};
use candor_domain::observation::{self, Observation};
use candor_domain::page::{Key, PageRequest, Position, Sort, SortBy, Sortable};
use candor_domain::params::Archived;
use candor_domain::people::Invitation;
use candor_domain::summary::{self, Summary};
use candor_domain::visibility::Viewer;
use candor_port_storage::{StorageExt, Versioned};
use candor_provisioning::connector::SyncIssue;
use candor_tables::flat::Stored;
use candor_tables::listing::TypedListing;
use candor_tables::rows;

use crate::context::error::Error;
use crate::context::services::Services;

/// Returns the list of the observations about a person.
pub(crate) fn observations(person: EmployeeId, page: &PageRequest) -> TypedListing<Observation> {
    let filter = observation::Filter {
        employee_id: Some(person),
        archived: Archived::All,
        ..observation::Filter::default()
    };
    rows::observations::list(&filter, Viewer::Everything, Observation::DEFAULT, page)
}

/// Returns the list of the objectives of a family that a person owns.
pub(crate) fn objectives(person: EmployeeId, family: Family, page: &PageRequest) -> TypedListing<Objective> {
    let filter = objective::Filter::owned_by(person, family);
    rows::objectives::list(&filter, Viewer::Everything, Objective::DEFAULT, page)
}

/// Returns the list of the summaries about a person.
pub(crate) fn summaries(person: EmployeeId, page: &PageRequest) -> TypedListing<Summary> {
    let filter = summary::Filter {
        employee_id: Some(person),
        statuses: candor_domain::fields::StringEnum::ALL.to_vec(),
        ..summary::Filter::default()
    };
    rows::summaries::list(&filter, Viewer::Everything, Summary::DEFAULT, page)
}

/// Returns the list of the requests for feedback about a person.
pub(crate) fn assignments(person: EmployeeId, page: &PageRequest) -> TypedListing<Assignment> {
    let filter = assignment::Filter { employee_id: Some(person), ..assignment::Filter::default() };
    rows::assignments::list(&filter, Viewer::Everything, Assignment::DEFAULT, page)
}

/// Returns the list of the notifications to a person.
pub(crate) fn notifications(person: EmployeeId, page: &PageRequest) -> TypedListing<Notification> {
    let filter = notification::Filter { recipient_id: Some(person), unread: None };
    rows::notifications::list(&filter, Notification::DEFAULT, page)
}

/// Returns the position of an invitation among those of its person.
fn position_of_invitation(invitation: &Invitation) -> Position {
    Position { key: Key::Time(invitation.created_at), id: invitation.id.to_bytes() }
}

/// Returns a page of the invitations of a person, the oldest ones first, and the position behind it; `None` at the end.
pub(crate) async fn invitations_page(
    services: &Services,
    tenant: Tenant,
    person: EmployeeId,
    request: &PageRequest,
) -> Result<(Vec<Invitation>, Option<Position>), Error> {
    let page = services.store.page(tenant, rows::invitations::list_for_person(person, request)).await?;
    let last = page.items.last().filter(|_| page.more).map(position_of_invitation);
    Ok((page.items, last))
}

/// Returns a page of the issues about a person, and the position behind it; `None` at the end.
pub(crate) async fn issues_page(
    services: &Services,
    tenant: Tenant,
    person: EmployeeId,
    request: &PageRequest,
) -> Result<(Vec<SyncIssue>, Option<Position>), Error> {
    let page = services.store.page(tenant, rows::sync_issues::list_about(person, request)).await?;
    let position =
        |issue: &SyncIssue| Position { key: Key::Time(issue.first_occurred_at), id: issue.id.to_bytes() };
    let last = page.items.last().filter(|_| page.more).map(position);
    Ok((page.items, last))
}

/// Returns the position of an entry in the default order of its list, or `None` if the entry has no value to sort by.
pub(crate) fn position<T: Sortable + Resource>(entry: &T) -> Option<Position> {
    Some(Position { key: entry.key(T::DEFAULT.by)?, id: entry.id().to_bytes() })
}

/// Returns a page of entries of the audit log, the oldest ones first, and the position behind it; `None` at the
/// end. All code reads the entries about a resource in such pages, because their number has no bound.
pub(crate) async fn audit_page(
    services: &Services,
    tenant: Tenant,
    filter: &audit::Filter,
    after: Option<Position>,
    limit: u16,
) -> Result<(Vec<AuditEntry>, Option<Position>), Error> {
    let order = Sort::ascending_by(SortBy::OccurredAt);
    let list = rows::audit::list(filter, order, &PageRequest { limit, after });
    let page = services.store.page(tenant, list).await?;
    let last = page.items.last().filter(|_| page.more);
    let next =
        last.and_then(|last| Some(Position { key: Sortable::key(last, order.by)?, id: last.id.to_bytes() }));
    Ok((page.items, next))
}

/// Counts the entries of a list.
pub(crate) async fn count<T: Stored + Resource + Sortable>(
    services: &Services,
    tenant: Tenant,
    list: impl Fn(&PageRequest) -> TypedListing<T>,
) -> Result<u64, Error> {
    let (mut page, mut counted) = (PageRequest::ALL, 0);
    loop {
        let rows = services.store.page(tenant, list(&page)).await?;
        counted += rows.items.len() as u64;
        page.after = rows.items.last().and_then(position);
        if !rows.more || page.after.is_none() {
            return Ok(counted);
        }
    }
}

/// Returns the API keys that act for a person of this data set.
pub(crate) async fn keys_of(
    services: &Services,
    tenant: Tenant,
    person: EmployeeId,
) -> Result<Vec<Versioned<ApiKey>>, Error> {
    let organization = Tenant::live(tenant.organization);
    let mut page = PageRequest::ALL;
    let mut keys = vec![];
    loop {
        let rows = services.store.entries(organization, rows::api_keys::list_for_person(person, &page)).await?;
        let is_last = rows.len() < usize::from(page.limit);
        page.after = rows.last().and_then(|row| position(&row.value));
        keys.extend(rows.into_iter().filter(|row| row.value.environment == tenant.environment));
        if is_last || page.after.is_none() {
            return Ok(keys);
        }
    }
}
