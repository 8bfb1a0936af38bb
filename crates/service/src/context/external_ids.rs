//! Lookup of the resources that already have the external ids of a request.

use candor_domain::external_id::{ExternalIdHolders, ExternallyIdentified};
use candor_domain::visibility::RestrictedResource;
use candor_port_storage::StorageExt;
use candor_tables::flat::Stored;
use candor_tables::read::LookupColumn;

use crate::context::error::Error;
use crate::context::request::RequestContext;
use crate::context::visible;

/// Returns the resources with the external ids of these bodies. Reads nothing if no body has one.
pub(crate) async fn find_holders<T, B>(
    context: &RequestContext,
    by: LookupColumn<T>,
    bodies: &[B],
) -> Result<ExternalIdHolders<T::Kind>, Error>
where
    T: ExternallyIdentified + RestrictedResource + Stored,
    B: ExternallyIdentified,
{
    let mut holders = ExternalIdHolders::default();
    let external_ids: Vec<_> =
        bodies.iter().filter_map(ExternallyIdentified::external_id).map(str::to_owned).collect();
    if external_ids.is_empty() {
        return Ok(holders);
    }
    for holder in context.services.store.rows_by(context.caller.tenant, by, &external_ids).await? {
        if let Some(external_id) = holder.value.external_id() {
            let is_visible = visible::is_visible(context, &holder.value).await?;
            holders.add(external_id, holder.value.key(), is_visible);
        }
    }
    Ok(holders)
}
