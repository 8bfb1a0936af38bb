//! Reads one resource or a page of a list, with the resources that `expand` inlines (decision A12).

use std::collections::HashMap;
use std::future::Future;

use candor_domain::access::Access;
use candor_domain::decision::Resource;
use candor_domain::fields::StringEnum;
use candor_domain::id::Id;
use candor_domain::page::Sortable;
use candor_domain::params::{ListRequest, Params};
use candor_port_storage::{StorageExt, Versioned};
use candor_tables::flat::Stored;
use candor_tables::listing::TypedListing;

use crate::context::error::Error;
use crate::context::list::{self, JsonObjectWriter};
use crate::context::reply::Reply;
use crate::context::request::RequestContext;
use crate::context::visible;

/// Resources that one path of `expand` inlines; `None` if the request does not ask for the path.
pub(crate) type Inlined<T> = Option<HashMap<Id<<T as Stored>::Kind>, T>>;

/// A resource whose references can be inlined.
pub(crate) trait Expandable: Sortable + Resource + Stored {
    /// Paths that `expand` accepts for this resource.
    type Path: StringEnum;
    /// Referenced resources that were read for a page.
    type Included;

    /// Returns the access that a path needs in addition to the access to the resource: that to the family of the
    /// inlined resource. Returns `None` if the path needs no additional access.
    fn access(path: Self::Path) -> Option<Access>;

    /// Returns the number of resources whose references are read together: all of them, or fewer if their
    /// references may be large.
    fn at_a_time(_: &[Self::Path]) -> usize {
        usize::MAX
    }

    /// Reads the resources that these resources refer to: one read per path, for any number of resources.
    async fn find(context: &RequestContext, paths: &[Self::Path], items: &[Self])
    -> Result<Self::Included, Error>;

    /// Returns the number of these resources, counted from the first, whose references were read: at least one.
    fn count_covered(_: &Self::Included, items: &[Self]) -> usize {
        items.len()
    }

    /// Writes the inlined resources as members of this resource's JSON object.
    fn inline(&self, found: &Self::Included, shown: &mut JsonObjectWriter<'_>) -> Result<(), Error>;
}

/// Returns the resources with these ids, or `None` if the request does not ask for them.
pub(crate) async fn find_referenced<T: Resource + Stored>(
    context: &RequestContext,
    asked: bool,
    ids: impl IntoIterator<Item = Id<<T as Stored>::Kind>>,
) -> Result<Inlined<T>, Error> {
    if !asked {
        return Ok(None);
    }
    let ids: Vec<_> = ids.into_iter().collect();
    let rows = context.services.store.rows::<T>(context.caller.tenant, &ids).await?;
    Ok(Some(rows.into_iter().map(|row| (row.value.key(), row.value)).collect()))
}

/// Returns the resources with these ids for inlining, narrowed to what the caller may see; `None` if the request does
/// not ask for them.
pub(crate) async fn inline_referenced<T: Resource + Stored>(
    context: &RequestContext,
    asked: bool,
    ids: impl IntoIterator<Item = Id<<T as Stored>::Kind>>,
) -> Result<Inlined<T>, Error> {
    visible::as_inlined(context, find_referenced::<T>(context, asked, ids).await?).await
}

/// Returns a page of a list whose resources have no references to inline.
///
/// # Errors
/// Missing admin context; errors of the store.
pub(crate) async fn plain_page<T: Sortable + Resource + Stored, F>(
    context: &RequestContext,
    request: &ListRequest<F, ()>,
    listing: TypedListing<T>,
) -> Result<Reply, Error> {
    context.authorize()?;
    let mut page = context.services.store.page(context.caller.tenant, listing).await?;
    visible::narrow(context, &mut page.items).await?;
    list::page(context, request, page, |entry, out| list::write(out, entry)).await
}

/// Returns a page of a list, with the resources that `expand` inlines.
///
/// # Errors
/// A path that the caller may not inline, missing admin context; errors of the store.
pub(crate) async fn page<T: Expandable, F>(
    context: &RequestContext,
    request: &ListRequest<F, T::Path>,
    listing: TypedListing<T>,
) -> Result<Reply, Error> {
    context.authorize()?;
    check_access::<T>(context, &request.expand)?;
    let mut page = context.services.store.page(context.caller.tenant, listing).await?;
    visible::narrow(context, &mut page.items).await?;
    if request.expand.is_empty() {
        return list::page(context, request, page, |entry, out| list::write(out, entry)).await;
    }
    list::page_inlined(context, request, page).await
}

/// Returns one resource that has no references to inline.
///
/// # Errors
/// Missing admin context; errors of the store.
pub(crate) async fn plain<T: Resource>(context: &RequestContext, stored: &Versioned<T>) -> Result<Reply, Error> {
    context.authorize()?;
    visible::reply(context, stored).await
}

/// Returns one resource, with the resources that `expand` inlines.
///
/// # Errors
/// Errors of loading the resource; invalid parameters; missing admin context; a path that the caller may not inline.
pub(crate) async fn one<T: Expandable>(
    context: &RequestContext,
    mut params: Params,
    stored: impl Future<Output = Result<Versioned<T>, Error>>,
) -> Result<Reply, Error> {
    let paths: Vec<T::Path> = params.expand();
    let row = stored.await?;
    params.finish(())?;
    context.authorize()?;
    if paths.is_empty() {
        return visible::reply(context, &row).await;
    }
    check_access::<T>(context, &paths)?;
    let visible_row = visible::as_shown(context, &row).await?;
    let inlined_resources = T::find(context, &paths, std::slice::from_ref(&visible_row.value)).await?;
    let mut body = vec![];
    show(&inlined_resources, &visible_row.value, &mut body)?;
    Ok(Reply::ok(body.into(), None))
}

/// Appends the JSON form of a resource with its inlined resources.
pub(crate) fn show<T: Expandable>(found: &T::Included, resource: &T, out: &mut Vec<u8>) -> Result<(), Error> {
    let mut writer = JsonObjectWriter::begin(out, resource)?;
    resource.inline(found, &mut writer)?;
    writer.end();
    Ok(())
}

/// Checks the access to the families of resources that the paths inline.
fn check_access<T: Expandable>(context: &RequestContext, paths: &[T::Path]) -> Result<(), Error> {
    for access in paths.iter().filter_map(|path| T::access(*path)) {
        access.check(&context.caller)?;
    }
    Ok(())
}
