//! Departments and attributes (decisions G).

pub mod attributes;
pub mod departments;

use candor_domain::id::Id;
use candor_domain::text::name_key;
use candor_port_storage::StorageExt;
use candor_tables::flat::Stored;
use candor_tables::read::LookupColumn;

use crate::context::error::Error;
use crate::context::request::RequestContext;

/// Returns the id of the resource with this name, compared by the key of the name.
async fn holder<T: Stored>(
    context: &RequestContext,
    by_name: LookupColumn<T>,
    name: Option<&str>,
) -> Result<Option<Id<T::Kind>>, Error> {
    let Some(name) = name else { return Ok(None) };
    Ok(context.services.store.id_by(context.caller.tenant, by_name, name_key(name)).await?)
}
