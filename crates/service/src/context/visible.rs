//! Loads and shows resources as far as the caller sees them, without hidden resources and ids of hidden
//! resources (decision B5).

use std::collections::BTreeSet;

use candor_domain::assignment::Assignment;
use candor_domain::decision::{Resource, mark_of};
use candor_domain::id::{Id, ObservationId};
use candor_domain::objective::Objective;
use candor_domain::observation::Observation;
use candor_domain::summary::Summary;
use candor_domain::visibility::{LinkedId, Readers, RestrictedResource, Viewer};
use candor_port_storage::{StorageExt, Versioned};
use candor_tables::flat::Stored;

use crate::context::change::show;
use crate::context::error::Error;
use crate::context::expand::{self, Inlined};
use crate::context::reply::Reply;
use crate::context::reports;
use crate::context::request::RequestContext;
use crate::context::services::{Services, or_not_found, render};

/// Returns the resource with this id; `None` if it does not exist or the caller does not see it.
pub(crate) async fn find<T: RestrictedResource + Stored>(
    services: &Services,
    context: &RequestContext,
    id: Id<T::Kind>,
) -> Result<Option<Versioned<T>>, Error> {
    let Some(stored) = services.store.row::<T>(context.caller.tenant, id).await? else { return Ok(None) };
    Ok(is_visible(services, context, &stored.value).await?.then_some(stored))
}

/// Returns the resource with this id.
///
/// # Errors
/// Not found, also if the caller does not see it; errors of the store.
pub(crate) async fn require<T: RestrictedResource + Stored>(
    services: &Services,
    context: &RequestContext,
    id: Id<T::Kind>,
) -> Result<Versioned<T>, Error> {
    or_not_found(find(services, context, id).await?)
}

/// Returns `true` if the caller sees the resource. Reads reporting lines only where the answer depends on them.
pub(crate) async fn is_visible(
    services: &Services,
    context: &RequestContext,
    resource: &impl RestrictedResource,
) -> Result<bool, Error> {
    let viewer = context.caller.viewer();
    if viewer == Viewer::Everything {
        return Ok(true);
    }
    let readers = resource.readers();
    if readers.include(viewer, false) {
        return Ok(true);
    }
    let below = reports::among(services, context, readers.managers_of).await?;
    Ok(readers.include(viewer, !below.is_empty()))
}

/// Returns the ids of this set that exist and that the caller sees.
async fn seen(
    services: &Services,
    context: &RequestContext,
    ids: &BTreeSet<LinkedId>,
) -> Result<BTreeSet<LinkedId>, Error> {
    let (mut observations, mut objectives, mut summaries, mut assignments) = (vec![], vec![], vec![], vec![]);
    for id in ids {
        match *id {
            LinkedId::Observation(id) => observations.push(id),
            LinkedId::Objective(id) => objectives.push(id),
            LinkedId::Summary(id) => summaries.push(id),
            LinkedId::Assignment(id) => assignments.push(id),
        }
    }
    let (store, tenant, viewer) = (&services.store, context.caller.tenant, context.caller.viewer());
    let (observations, objectives, summaries, assignments) = tokio::try_join!(
        store.readers::<Observation>(tenant, &observations),
        store.readers::<Objective>(tenant, &objectives),
        store.readers::<Summary>(tenant, &summaries),
        store.readers::<Assignment>(tenant, &assignments),
    )?;
    let mut found: Vec<(LinkedId, Readers)> = vec![];
    found.extend(observations.into_iter().map(|(id, readers)| (LinkedId::Observation(id), readers)));
    found.extend(objectives.into_iter().map(|(id, readers)| (LinkedId::Objective(id), readers)));
    found.extend(summaries.into_iter().map(|(id, readers)| (LinkedId::Summary(id), readers)));
    found.extend(assignments.into_iter().map(|(id, readers)| (LinkedId::Assignment(id), readers)));
    let undecided = found.iter().filter(|(_, readers)| !readers.include(viewer, false));
    let below =
        reports::among(services, context, undecided.filter_map(|(_, readers)| readers.managers_of)).await?;
    let is_seen = |readers: &Readers| {
        readers.include(viewer, readers.managers_of.is_some_and(|person| below.contains(&person)))
    };
    Ok(found.into_iter().filter(|(_, readers)| is_seen(readers)).map(|(id, _)| id).collect())
}

/// Returns the linked ids of these resources that the caller may see; `None` if it may see all of them.
async fn shown_links<T: Resource>(
    services: &Services,
    context: &RequestContext,
    resources: &[T],
) -> Result<Option<BTreeSet<LinkedId>>, Error> {
    let is_permitted = T::LINKS_PERMISSION.is_none_or(|permission| context.caller.scopes.has(permission));
    let viewer = context.caller.viewer();
    if is_permitted && viewer == Viewer::Everything {
        return Ok(None);
    }
    let linked: BTreeSet<_> = resources.iter().flat_map(Resource::linked_ids).collect();
    if linked.is_empty() {
        return Ok(None);
    }
    let shown = if is_permitted { seen(services, context, &linked).await? } else { BTreeSet::new() };
    Ok((shown.len() < linked.len()).then_some(shown))
}

/// Removes ids that the caller may not see from these resources.
pub(crate) async fn narrow<T: Resource>(
    services: &Services,
    context: &RequestContext,
    resources: &mut [T],
) -> Result<(), Error> {
    if let Some(shown) = shown_links(services, context, resources).await? {
        for resource in resources {
            resource.retain_linked(&|id| shown.contains(&id));
        }
    }
    Ok(())
}

/// A resource without the ids that the caller may not see.
pub(crate) struct WithVisibleIds<T> {
    pub(crate) value: T,
    /// The [`Resource::mark`] of the resource with only these ids. It differs for each set of remaining ids.
    pub(crate) mark: u64,
}

/// Returns the resource without the ids that the caller may not see; `None` if it may see all of them. Ids in
/// `fresh` are new resources of the same request, which the caller may see.
pub(crate) async fn narrowed<T: Resource>(
    services: &Services,
    context: &RequestContext,
    resource: &T,
    fresh: &[LinkedId],
) -> Result<Option<WithVisibleIds<T>>, Error> {
    let Some(shown) = shown_links(services, context, std::slice::from_ref(resource)).await? else {
        return Ok(None);
    };
    let mut value = resource.clone();
    value.retain_linked(&|id| shown.contains(&id) || fresh.contains(&id));
    let left: Vec<ObservationId> = value.linked_ids().iter().map(|id| Id::from_bytes(id.to_bytes())).collect();
    let mark = value.mark().wrapping_mul(31).wrapping_add(mark_of(&left)).wrapping_add(1);
    Ok(Some(WithVisibleIds { value, mark }))
}

/// Returns the resource with its version, without the ids that the caller may not see.
pub(crate) async fn as_shown<T: Resource>(
    services: &Services,
    context: &RequestContext,
    stored: &Versioned<T>,
) -> Result<Versioned<T>, Error> {
    let narrowed = narrowed(services, context, &stored.value, &[]).await?;
    let value = narrowed.map_or_else(|| stored.value.clone(), |narrowed| narrowed.value);
    Ok(Versioned { value, version: stored.version })
}

/// Returns a reply with one resource, without the ids that the caller may not see.
pub(crate) async fn reply<T: Resource>(
    services: &Services,
    context: &RequestContext,
    stored: &Versioned<T>,
) -> Result<Reply, Error> {
    match narrowed(services, context, &stored.value, &[]).await? {
        None => show(stored),
        Some(WithVisibleIds { value, mark }) => {
            Ok(Reply::ok(render(&value)?, Some(stored.version)).with_etag_extra(mark))
        }
    }
}

/// Returns `true` if the caller sees all of these ids, so that a filter may use them. A filter by a hidden id
/// matches nothing, like a filter by an id that does not exist.
pub(crate) async fn may_filter_by(
    services: &Services,
    context: &RequestContext,
    ids: impl IntoIterator<Item = LinkedId>,
) -> Result<bool, Error> {
    if context.caller.viewer() == Viewer::Everything {
        return Ok(true);
    }
    let ids = ids.into_iter().collect();
    Ok(seen(services, context, &ids).await? == ids)
}

/// Returns the resources with these ids that exist and that the caller sees; `None` unless `is_wanted`.
pub(crate) async fn find_many<T: Resource + RestrictedResource + Stored>(
    services: &Services,
    context: &RequestContext,
    is_wanted: bool,
    ids: impl IntoIterator<Item = Id<<T as Stored>::Kind>>,
) -> Result<Inlined<T>, Error> {
    let Some(mut found) = expand::find_referenced::<T>(services, context, is_wanted, ids).await? else {
        return Ok(None);
    };
    let viewer = context.caller.viewer();
    if viewer == Viewer::Everything {
        return Ok(Some(found));
    }
    let below =
        reports::among(services, context, found.values().filter_map(|found| found.readers().managers_of)).await?;
    found.retain(|_, resource| {
        let readers = resource.readers();
        readers.include(viewer, readers.managers_of.is_some_and(|person| below.contains(&person)))
    });
    Ok(Some(found))
}

/// Returns those of these resources that the caller sees, for inlining, without ids that it may not see.
pub(crate) async fn inline_many<T: Resource + RestrictedResource + Stored>(
    services: &Services,
    context: &RequestContext,
    is_wanted: bool,
    ids: impl IntoIterator<Item = Id<<T as Stored>::Kind>>,
) -> Result<Inlined<T>, Error> {
    let Some(mut found) = find_many::<T>(services, context, is_wanted, ids).await? else { return Ok(None) };
    let (keys, mut resources): (Vec<_>, Vec<_>) = found.drain().unzip();
    narrow(services, context, &mut resources).await?;
    Ok(Some(keys.into_iter().zip(resources).collect()))
}
