//! Responses with the number of entries of a list in each group.

use candor_domain::counts::{GroupedCounts, MAX_GROUPS};
use candor_domain::id::{Id, Kind};
use candor_port_storage::StorageExt;
use candor_tables::counts::{GroupCount, GroupKey};
use candor_tables::flat::{SqlValue, Stored};
use candor_tables::listing::TypedListing;
use serde::Serialize;

use crate::context::error::Error;
use crate::context::reply::Reply;
use crate::context::request::RequestContext;
use crate::context::services::render;

/// Counts the entries of the list by these keys; `show` makes an element of the answer from a group.
///
/// # Errors
/// Errors of the store.
pub(crate) async fn reply<T: Stored + Clone, C: Serialize>(
    context: &RequestContext,
    list: TypedListing<T>,
    keys: &[GroupKey],
    show: impl Fn(GroupCount) -> C,
) -> Result<Reply, Error> {
    let tenant = context.caller.tenant;
    // A row with several tags is in several groups, so the sum of the groups is not the number of rows.
    let are_disjoint = !keys.iter().any(|key| matches!(key, GroupKey::Tag(_)));
    let all = if are_disjoint {
        None
    } else {
        Some(context.services.store.counts(tenant, list.clone(), &[], 1).await?.total)
    };
    let mut groups = context.services.store.counts(tenant, list, keys, MAX_GROUPS + 1).await?;
    let has_more = groups.groups.len() > MAX_GROUPS;
    groups.groups.truncate(MAX_GROUPS);
    // Groups without a value come last. The two stores order nulls differently.
    let place = |value: &SqlValue| (matches!(value, SqlValue::Null(_)), value.clone());
    groups.groups.sort_by_cached_key(|group| group.values.iter().map(place).collect::<Vec<_>>());
    let data = groups.groups.into_iter().map(show).collect();
    let counts = GroupedCounts { data, total: all.unwrap_or(groups.total), has_more };
    Ok(Reply::ok(render(&counts)?, None))
}

/// Converts the value that the entries of a group share to a text; `None` for the group of entries without a value.
pub(crate) fn text(value: &SqlValue) -> Option<String> {
    if let SqlValue::Text(text) = value { Some(text.clone()) } else { None }
}

/// Converts the value that the entries of a group share to an id; `None` for the group of entries without a value.
pub(crate) fn id<K: Kind>(value: &SqlValue) -> Option<Id<K>> {
    if let SqlValue::Id(bytes) = value { Some(Id::from_bytes(*bytes)) } else { None }
}
