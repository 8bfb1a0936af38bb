//! Mapping of links between accounts and people, their lists, and the removal of the links of deleted providers.

use candor_domain::id::{EmployeeId, IdentityLinkKind, IdentityProviderId, IdentityProviderKind};
use candor_domain::page::{PageRequest, Sort, Sortable};
use candor_sign_in::{IdentityLink, ProviderRemoval};

use super::column;
use crate::flat::{Column, Index, SqlValue, Table, Type};
use crate::listing::{Condition, Listing, TypedListing};
use crate::read::LookupColumn;
use crate::stored::stored;

/// Column of the person, by which an erasure removes links.
pub const PERSON: Column = column("employee_id", Type::Id);
const PROVIDER: Column = column("identity_provider_id", Type::Id);
const REMOVED: Column = column("removed", Type::Flag);

/// Returns the [`IdentityLink::person_key`] of a link; `None` if it was removed.
fn person_key(link: &IdentityLink) -> Option<String> {
    link.removed_at.is_none().then(|| IdentityLink::person_key(link.identity_provider_id, link.employee_id))
}

stored! {
    IdentityLink, id: IdentityLinkKind, row: link;
    columns {
        id: IdColumn,
        identity_provider_id: IdColumn,
        employee_id: IdColumn,
        subject: TextColumn,
        created_at: Time,
        confirmed_at: Option<Time>,
        updated_at: Time,
        tokens_after: Option<Time>,
        removed_at: Option<Time>,
        bearer_tokens_after: Option<Time>,
    }
    derived {
        person_key: Option<TextColumn> = person_key(link),
        removed: FlagColumn = link.removed_at.is_some(),
    }
    table Table {
        indexes: &[
            Index::unique(&["person_key"]),
            Index::of_columns(&["identity_provider_id", "removed", "created_at", "id"]),
            Index::of_columns(&["employee_id", "created_at", "id"]),
        ],
        ..Table::with_name("identity_links")
    };
}

stored! {
    ProviderRemoval, id: IdentityProviderKind, row: removal;
    columns {
        id: IdColumn,
        deleted_at: Time,
    }
    table Table { versioned: false, ..Table::with_name("identity_removals") };
}

/// Lookup of the link of a person by its [`IdentityLink::person_key`].
pub const BY_PERSON: LookupColumn<IdentityLink> = LookupColumn::column("person_key", Type::Text);
/// Lookup of the deleted providers whose links are to be removed.
pub const DELETED_AT: LookupColumn<ProviderRemoval> = LookupColumn::column("deleted_at", Type::Time);

/// List of `GET /identity-providers/{id}/links` (decision B9).
#[must_use]
pub fn list(provider: IdentityProviderId, sort: Sort, page: &PageRequest) -> TypedListing<IdentityLink> {
    of_provider(provider, false, sort, page)
}

/// List of the removed links of a provider.
#[must_use]
pub fn list_removed(provider: IdentityProviderId, page: &PageRequest) -> TypedListing<IdentityLink> {
    of_provider(provider, true, IdentityLink::DEFAULT, page)
}

fn of_provider(
    provider: IdentityProviderId,
    is_removed: bool,
    sort: Sort,
    page: &PageRequest,
) -> TypedListing<IdentityLink> {
    let mut links = Listing::new::<IdentityLink>(sort, page);
    links.is(PROVIDER, Some(provider));
    links.conditions.push(Condition::Is(REMOVED, SqlValue::Flag(is_removed)));
    links.into_list()
}

/// List of the links of a person, including removed ones.
#[must_use]
pub fn of_person(person: EmployeeId, page: &PageRequest) -> TypedListing<IdentityLink> {
    let mut links = Listing::new::<IdentityLink>(IdentityLink::DEFAULT, page);
    links.is(PERSON, Some(person));
    links.into_list()
}
