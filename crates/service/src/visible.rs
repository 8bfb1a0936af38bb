//! Loading of resources that not every caller sees (decision B5).

use candor_domain::decision::Resource;
use candor_domain::id::Id;
use candor_domain::visibility::{Restricted, Viewer};
use candor_port_storage::flat::Stored;
use candor_port_storage::{StorageExt, Versioned};

use crate::expand::{self, Inlined};
use crate::shell::or_not_found;
use crate::{Call, Error, Shell, reports};

/// Returns the resource with this id; `None` if there is none or the caller does not see it.
pub(crate) async fn find<T: Restricted + Stored>(
    shell: &Shell,
    call: &Call,
    id: Id<T::Kind>,
) -> Result<Option<Versioned<T>>, Error> {
    let Some(stored) = shell.store.row::<T>(call.caller.tenant, id).await? else { return Ok(None) };
    Ok(is_visible(shell, call, &stored.value).await?.then_some(stored))
}

/// Returns the resource with this id.
///
/// # Errors
/// Not found, also if the caller does not see it; those of the store.
pub(crate) async fn require<T: Restricted + Stored>(
    shell: &Shell,
    call: &Call,
    id: Id<T::Kind>,
) -> Result<Versioned<T>, Error> {
    or_not_found(find(shell, call, id).await?)
}

/// Returns `true` if the caller sees the resource. Reporting lines are read only where they decide.
pub(crate) async fn is_visible(shell: &Shell, call: &Call, resource: &impl Restricted) -> Result<bool, Error> {
    let viewer = call.caller.viewer();
    if viewer == Viewer::Everything {
        return Ok(true);
    }
    let readers = resource.readers();
    if readers.include(viewer, false) {
        return Ok(true);
    }
    let below = reports::among(shell, call, readers.managers_of).await?;
    Ok(readers.include(viewer, !below.is_empty()))
}

/// Returns those of the resources with these ids that exist and that the caller sees; `None` unless `is_wanted`.
pub(crate) async fn find_many<T: Resource + Restricted + Stored>(
    shell: &Shell,
    call: &Call,
    is_wanted: bool,
    ids: impl IntoIterator<Item = Id<<T as Stored>::Kind>>,
) -> Result<Inlined<T>, Error> {
    let Some(mut found) = expand::found::<T>(shell, call, is_wanted, ids).await? else { return Ok(None) };
    let viewer = call.caller.viewer();
    if viewer == Viewer::Everything {
        return Ok(Some(found));
    }
    let below = reports::among(shell, call, found.values().filter_map(|it| it.readers().managers_of)).await?;
    found.retain(|_, resource| {
        let readers = resource.readers();
        readers.include(viewer, readers.managers_of.is_some_and(|person| below.contains(&person)))
    });
    Ok(Some(found))
}
