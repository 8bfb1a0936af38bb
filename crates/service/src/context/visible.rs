//! Loads and shows resources as far as the caller sees them: without hidden resources, their ids, and hidden custom
//! fields (decision B5).

use std::collections::BTreeSet;

use candor_domain::assignment::Assignment;
use candor_domain::audit::AuditEntry;
use candor_domain::conversation::Conversation;
use candor_domain::decision::Resource;
use candor_domain::id::{ConversationId, EmployeeId, Id, NotificationId};
use candor_domain::notification::Notification;
use candor_domain::objective::Objective;
use candor_domain::observation::Observation;
use candor_domain::organization::Organization;
use candor_domain::summary::Summary;
use candor_domain::visibility::{LinkedId, Readers, RestrictedResource, Viewer};
use candor_port_storage::{StorageExt, Versioned};
use candor_tables::flat::Stored;

use crate::context::error::Error;
use crate::context::expand::{self, Inlined};
use crate::context::reply::Reply;
use crate::context::reports;
use crate::context::request::RequestContext;
use crate::context::services::{or_not_found, render};

/// Returns the resource with this id; `None` if it does not exist or the caller does not see it.
pub(crate) async fn find<T: RestrictedResource + Stored>(
    context: &RequestContext,
    id: Id<T::Kind>,
) -> Result<Option<Versioned<T>>, Error> {
    let Some(row) = context.services.store.row::<T>(context.caller.tenant, id).await? else { return Ok(None) };
    Ok(is_visible(context, &row.value).await?.then_some(row))
}

/// Returns the resource with this id.
///
/// # Errors
/// Not found, also if the caller does not see it; errors of the store.
pub(crate) async fn require<T: RestrictedResource + Stored>(
    context: &RequestContext,
    id: Id<T::Kind>,
) -> Result<Versioned<T>, Error> {
    or_not_found(find(context, id).await?)
}

/// Returns `true` if the caller sees the resource. Reads reporting lines only where the answer depends on them.
pub(crate) async fn is_visible(
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
    let reports = reports::find_reports_among(context, readers.managers_of).await?;
    Ok(readers.include(viewer, !reports.is_empty()))
}

/// Returns the ids of this set that exist and that the caller sees.
async fn find_visible(context: &RequestContext, ids: &BTreeSet<LinkedId>) -> Result<BTreeSet<LinkedId>, Error> {
    let (mut observations, mut objectives, mut summaries, mut assignments) = (vec![], vec![], vec![], vec![]);
    for id in ids {
        match *id {
            LinkedId::Observation(id) => observations.push(id),
            LinkedId::Objective(id) => objectives.push(id),
            LinkedId::Summary(id) => summaries.push(id),
            LinkedId::Assignment(id) => assignments.push(id),
        }
    }
    let (store, tenant, viewer) = (&context.services.store, context.caller.tenant, context.caller.viewer());
    let (observations, objectives, summaries, assignments) = tokio::try_join!(
        store.readers::<Observation>(tenant, &observations),
        store.readers::<Objective>(tenant, &objectives),
        store.readers::<Summary>(tenant, &summaries),
        store.readers::<Assignment>(tenant, &assignments),
    )?;
    let mut readers_by_id: Vec<(LinkedId, Readers)> = vec![];
    readers_by_id.extend(observations.into_iter().map(|(id, readers)| (LinkedId::Observation(id), readers)));
    readers_by_id.extend(objectives.into_iter().map(|(id, readers)| (LinkedId::Objective(id), readers)));
    readers_by_id.extend(summaries.into_iter().map(|(id, readers)| (LinkedId::Summary(id), readers)));
    readers_by_id.extend(assignments.into_iter().map(|(id, readers)| (LinkedId::Assignment(id), readers)));
    let undecided_readers = readers_by_id.iter().filter(|(_, readers)| !readers.include(viewer, false));
    let reports =
        reports::find_reports_among(context, undecided_readers.filter_map(|(_, readers)| readers.managers_of))
            .await?;
    let is_seen = |readers: &Readers| {
        readers.include(viewer, readers.managers_of.is_some_and(|person| reports.contains(&person)))
    };
    Ok(readers_by_id.into_iter().filter(|(_, readers)| is_seen(readers)).map(|(id, _)| id).collect())
}

/// Returns the ids of those notifications whose targets do not exist, or are hidden from the caller. Each caller sees
/// targets that have no readers, such as keys. Of a conversation, the caller sees what is no older than the caller's join.
pub(crate) async fn find_hidden_targets(
    context: &RequestContext,
    notifications: &[Notification],
) -> Result<BTreeSet<NotificationId>, Error> {
    if context.caller.viewer() == Viewer::Everything {
        return Ok(BTreeSet::new());
    }
    let target_ids: BTreeSet<_> =
        notifications.iter().map(|notification| notification.target.id.as_str()).collect();
    let linked_ids = target_ids.iter().filter_map(|id| LinkedId::parse(id)).collect();
    let conversation_ids: Vec<ConversationId> = target_ids.iter().filter_map(|id| id.parse().ok()).collect();
    let (visible_ids, conversations) = tokio::try_join!(
        find_visible(context, &linked_ids),
        find_many::<Conversation>(context, true, conversation_ids)
    )?;
    let conversations = conversations.unwrap_or_default();
    let is_hidden = |notification: &&Notification| {
        let id = notification.target.id.as_str();
        match (LinkedId::parse(id), id.parse::<ConversationId>()) {
            (Some(linked_id), _) => !visible_ids.contains(&linked_id),
            (None, Ok(id)) => !conversations
                .get(&id)
                .is_some_and(|conversation| conversation.shows(&context.caller, notification.created_at)),
            (None, Err(_)) => false,
        }
    };
    Ok(notifications.iter().filter(is_hidden).map(|notification| notification.id).collect())
}

/// The parts of a response's resources that the caller may see.
#[derive(Default)]
struct Sight {
    /// Linked ids; `None` if the caller may see all of them.
    links: Option<BTreeSet<LinkedId>>,
    /// Custom fields; `None` if the caller may see all of them.
    fields: Option<FieldSight>,
}

/// The custom fields that the caller may see.
struct FieldSight {
    organization: Organization,
    /// People whose custom fields the caller sees completely.
    in_reach: BTreeSet<EmployeeId>,
}

impl Sight {
    async fn find<T: Resource>(context: &RequestContext, resources: &[T]) -> Result<Self, Error> {
        let (links, fields) = tokio::try_join!(shown_links(context, resources), shown_fields(context, resources))?;
        Ok(Self { links, fields })
    }

    /// Removes from the resource what the caller may not see. `fresh` has the ids of resources that the same request
    /// creates; the caller may see these ids. Returns `true` if something was removed.
    fn narrow<T: Resource>(&self, resource: &mut T, fresh: &[LinkedId]) -> bool {
        let mut is_less = false;
        if let Some(links) = &self.links {
            let is_shown = |id| links.contains(&id) || fresh.contains(&id);
            is_less |= resource.linked_ids().into_iter().chain(resource.named_ids()).any(|id| !is_shown(id));
            resource.retain_linked(&is_shown);
        }
        let person = resource.fields_of();
        if let Some(sight) =
            self.fields.as_ref().filter(|sight| person.is_some_and(|person| !sight.in_reach.contains(&person)))
        {
            let is_shown = |key: &str| sight.organization.shows_custom_field(key);
            is_less |= resource.field_names().into_iter().any(|key| !is_shown(key));
            resource.retain_fields(&is_shown);
        }
        is_less
    }
}

/// Returns the linked ids of these resources that the caller may see; `None` if the caller may see all of them.
async fn shown_links<T: Resource>(
    context: &RequestContext,
    resources: &[T],
) -> Result<Option<BTreeSet<LinkedId>>, Error> {
    let is_permitted = T::LINKS_PERMISSION.is_none_or(|permission| context.caller.scopes.has(permission));
    let viewer = context.caller.viewer();
    if is_permitted && viewer == Viewer::Everything {
        return Ok(None);
    }
    let linked_ids: BTreeSet<_> = resources.iter().flat_map(Resource::linked_ids).collect();
    let mut ids_to_check: BTreeSet<_> = resources.iter().flat_map(Resource::named_ids).collect();
    if linked_ids.is_empty() && ids_to_check.is_empty() {
        return Ok(None);
    }
    let all = ids_to_check.len() + linked_ids.len();
    if is_permitted {
        ids_to_check.extend(linked_ids);
    }
    let visible_ids =
        if viewer == Viewer::Everything { ids_to_check } else { find_visible(context, &ids_to_check).await? };
    Ok((visible_ids.len() < all).then_some(visible_ids))
}

/// Returns the custom fields in these resources that the caller may see; `None` if the caller may see all of them.
async fn shown_fields<T: Resource>(
    context: &RequestContext,
    resources: &[T],
) -> Result<Option<FieldSight>, Error> {
    let Viewer::Person(viewer) = context.caller.viewer() else { return Ok(None) };
    let people: BTreeSet<_> =
        resources.iter().filter_map(Resource::fields_of).filter(|id| *id != viewer).collect();
    if people.is_empty() {
        return Ok(None);
    }
    let organization: Versioned<Organization> = context.find_stored(context.caller.tenant.organization).await?;
    if organization.value.visible_custom_fields.is_none() {
        return Ok(None);
    }
    let mut in_reach = reports::find_reports_among(context, people).await?;
    in_reach.insert(viewer);
    Ok(Some(FieldSight { organization: organization.value, in_reach }))
}

/// Removes from these resources what the caller may not see: ids and custom fields.
pub(crate) async fn narrow<T: Resource>(context: &RequestContext, resources: &mut [T]) -> Result<(), Error> {
    let sight = Sight::find(context, resources).await?;
    for resource in resources {
        sight.narrow(resource, &[]);
    }
    Ok(())
}

/// Removes from the changes of these entries the ids that the caller may not see.
pub(crate) async fn narrow_changes(context: &RequestContext, entries: &mut [AuditEntry]) -> Result<(), Error> {
    if context.caller.viewer() == Viewer::Everything {
        return Ok(());
    }
    let ids: BTreeSet<_> = entries.iter().flat_map(AuditEntry::linked_ids).collect();
    let visible_ids = if ids.is_empty() { ids } else { find_visible(context, &ids).await? };
    entries.iter_mut().for_each(|entry| entry.retain_linked(&|id| visible_ids.contains(&id)));
    Ok(())
}

/// A resource without the parts that are hidden from the caller.
pub(crate) struct NarrowedResource<T> {
    pub(crate) value: T,
    /// The [`Resource::shown_mark`] of the resource. It differs for each set of remaining ids and fields.
    pub(crate) mark: u64,
}

/// Returns the resource without what the caller may not see; `None` if the caller may see all of it. `fresh` has the
/// ids of resources that the same request creates; the caller may see these ids.
pub(crate) async fn narrow_resource<T: Resource>(
    context: &RequestContext,
    resource: &T,
    fresh: &[LinkedId],
) -> Result<Option<NarrowedResource<T>>, Error> {
    let sight = Sight::find(context, std::slice::from_ref(resource)).await?;
    let mut value = resource.clone();
    if !sight.narrow(&mut value, fresh) {
        return Ok(None);
    }
    Ok(Some(NarrowedResource { mark: value.shown_mark(), value }))
}

/// Returns the resource with its version, without what the caller may not see.
pub(crate) async fn as_shown<T: Resource>(
    context: &RequestContext,
    stored: &Versioned<T>,
) -> Result<Versioned<T>, Error> {
    let narrowed_state = narrow_resource(context, &stored.value, &[]).await?;
    let value = narrowed_state.map_or_else(|| stored.value.clone(), |state| state.value);
    Ok(Versioned { value, version: stored.version })
}

/// Returns a reply with one resource, without what the caller may not see.
pub(crate) async fn reply<T: Resource>(context: &RequestContext, stored: &Versioned<T>) -> Result<Reply, Error> {
    match narrow_resource(context, &stored.value, &[]).await? {
        None => show(stored),
        Some(NarrowedResource { value, mark }) => {
            Ok(Reply::ok(render(&value)?, Some(stored.shown_version())).with_etag_extra(mark))
        }
    }
}

/// Returns `true` if the caller sees all of these ids, so that a filter may use them. A filter by a hidden id
/// matches nothing, like a filter by an id that does not exist.
pub(crate) async fn may_filter_by(
    context: &RequestContext,
    ids: impl IntoIterator<Item = LinkedId>,
) -> Result<bool, Error> {
    if context.caller.viewer() == Viewer::Everything {
        return Ok(true);
    }
    let ids = ids.into_iter().collect();
    Ok(find_visible(context, &ids).await? == ids)
}

/// Returns the resources with these ids that exist and that the caller sees; `None` unless `is_wanted`.
pub(crate) async fn find_many<T: Resource + RestrictedResource + Stored>(
    context: &RequestContext,
    is_wanted: bool,
    ids: impl IntoIterator<Item = Id<<T as Stored>::Kind>>,
) -> Result<Inlined<T>, Error> {
    let Some(mut resources) = expand::find_referenced::<T>(context, is_wanted, ids).await? else {
        return Ok(None);
    };
    let viewer = context.caller.viewer();
    if viewer == Viewer::Everything {
        return Ok(Some(resources));
    }
    let reports = reports::find_reports_among(
        context,
        resources.values().filter_map(|resource| resource.readers().managers_of),
    )
    .await?;
    resources.retain(|_, resource| {
        let readers = resource.readers();
        readers.include(viewer, readers.managers_of.is_some_and(|person| reports.contains(&person)))
    });
    Ok(Some(resources))
}

/// Returns the resources with these ids that the caller sees, for inlining, without ids and custom fields that are
/// hidden from the caller. Returns `None` unless `is_wanted`.
pub(crate) async fn inline_many<T: Resource + RestrictedResource + Stored>(
    context: &RequestContext,
    is_wanted: bool,
    ids: impl IntoIterator<Item = Id<<T as Stored>::Kind>>,
) -> Result<Inlined<T>, Error> {
    as_inlined(context, find_many::<T>(context, is_wanted, ids).await?).await
}

/// Returns these resources without what is hidden from the caller.
pub(crate) async fn as_inlined<T: Resource + Stored>(
    context: &RequestContext,
    found: Inlined<T>,
) -> Result<Inlined<T>, Error> {
    let Some(by_id) = found else { return Ok(None) };
    let (ids, mut resources): (Vec<_>, Vec<_>) = by_id.into_iter().unzip();
    narrow(context, &mut resources).await?;
    Ok(Some(ids.into_iter().zip(resources).collect()))
}

/// Returns a reply with the resource as stored.
///
/// # Errors
/// [`Error::Bug`] if it cannot be rendered.
fn show<T: Resource>(stored: &Versioned<T>) -> Result<Reply, Error> {
    Ok(Reply::ok(render(&stored.value)?, Some(stored.shown_version())).with_etag_extra(stored.value.shown_mark()))
}
