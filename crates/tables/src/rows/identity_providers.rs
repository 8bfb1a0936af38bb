//! Mapping of identity providers, and their lists.

use candor_domain::id::IdentityProviderKind;
use candor_domain::page::{PageRequest, Sort};
use candor_domain::params::Bounds;
use candor_domain::time::Timestamp;
use candor_sign_in::{EmailDomain, IdentityProvider};

use super::api_keys::ScopesColumn;
use crate::flat::{Index, Table, Type};
use crate::listing::{Listing, TypedListing};
use crate::read::LookupColumn;
use crate::stored::stored;

/// Returns the names of domains.
fn names(domains: &[EmailDomain]) -> Vec<String> {
    domains.iter().map(|entry| entry.domain.clone()).collect()
}

stored! {
    IdentityProvider, id: IdentityProviderKind, row: provider;
    columns {
        id: IdColumn,
        name: TextColumn,
        issuer: TextColumn,
        client_id: TextColumn,
        client_secret: Option<Bytes>,
        audiences: Json,
        authorized_parties: Json,
        link_by: OneOfColumn,
        subject_claim: TextColumn,
        domains: Json,
        proven_audiences: Json,
        scopes: ScopesColumn,
        scopes_from_token: FlagColumn,
        admin_sessions: FlagColumn,
        session_lifetime: Int,
        required_acr: Option<TextColumn>,
        status: OneOfColumn,
        disabled_at: Option<Time>,
        last_sign_in_at: Option<Time>,
        created_at: Time,
        updated_at: Time,
    }
    fields {
        email_domains: names(Vec::as_slice(&domains)),
    }
    table Table {
        indexes: &[Index::of_columns(&["created_at", "id"]), Index::of_columns(&["updated_at", "id"])],
        ..Table::with_name("identity_providers")
    };
}

/// Lookup by id across all tenants.
pub const BY_ID: LookupColumn<IdentityProvider> = LookupColumn::column("id", Type::Id);

/// List of `GET /identity-providers` (decision B9).
#[must_use]
pub fn list(changed: Bounds<Timestamp>, sort: Sort, page: &PageRequest) -> TypedListing<IdentityProvider> {
    Listing::list_by_update_time::<IdentityProvider>(changed, sort, page).into_list()
}

/// List of all providers of an organization, which are few.
#[must_use]
pub fn all() -> TypedListing<IdentityProvider> {
    use candor_domain::page::Sortable;
    list(Bounds::default(), IdentityProvider::DEFAULT, &PageRequest::ALL)
}
