//! Removes the links of deleted identity providers, piece by piece: a provider may have as many links as there are
//! people.

use candor_domain::access::Tenant;
use candor_domain::page::{PageRequest, Sortable};
use candor_port_storage::StorageExt;
use candor_port_storage::erasing::ErasureChange;
use candor_sign_in::{IdentityLink, ProviderRemoval};
use candor_tables::flat::{SqlValue, Stored};
use candor_tables::read::ID;
use candor_tables::rows::identity_links::{self, DELETED_AT};

use crate::context::error::Error;
use crate::context::services::Services;

/// Maximum number of deleted providers of one run.
const PROVIDERS: u16 = 100;

/// Removes the links of deleted providers. Returns the number of providers whose last link is removed.
///
/// # Errors
/// [`Error::Unavailable`], [`Error::Bug`]; the next call removes the rest.
pub async fn remove_links(services: &Services, goes_on: impl Fn() -> bool) -> Result<u64, Error> {
    let mut completed_count = 0;
    for (tenant, removal) in services.store.due(DELETED_AT, services.clock.now(), PROVIDERS).await? {
        while goes_on() {
            if remove_piece(services, tenant, removal.value).await? {
                completed_count += 1;
                break;
            }
        }
    }
    Ok(completed_count)
}

/// Removes some links of a deleted provider. Returns `true` if no link was left, so that the removal is complete.
async fn remove_piece(services: &Services, tenant: Tenant, removal: ProviderRemoval) -> Result<bool, Error> {
    let page = &PageRequest::ALL;
    let mut links =
        services.store.page(tenant, identity_links::list(removal.id, IdentityLink::DEFAULT, page)).await?;
    links.items.extend(services.store.page(tenant, identity_links::list_removed(removal.id, page)).await?.items);
    let ids: Vec<_> = links.items.iter().map(|link| SqlValue::from(link.id)).collect();
    let is_complete = ids.is_empty();
    let (table, values) = if is_complete {
        (ProviderRemoval::TABLE.name, vec![SqlValue::from(removal.id)])
    } else {
        (IdentityLink::TABLE.name, ids)
    };
    services.store.apply_erasure(tenant, &[ErasureChange::Delete { table, by: ID, values }]).await?;
    Ok(is_complete)
}
