//! The audit log (decisions G).

use candor_domain::audit::Filter;
use candor_domain::params::{ListRequest, Params};
use candor_port_storage::StorageExt;
use candor_tables::rows;

use crate::context::error::Error;
use crate::context::list;
use crate::context::reply::Reply;
use crate::context::request::RequestContext;
use crate::context::visible;

/// `GET /audit-log`: lists audit entries.
///
/// # Errors
/// Invalid parameters, not an admin; see [`Error`].
pub async fn list(context: &RequestContext, params: Params) -> Result<Reply, Error> {
    let request = params.parse(Filter::read)?;
    context.authorize()?;
    let list = rows::audit::list(&request.filter, request.sort, &request.page);
    let page = context.services.store.replica().page(context.caller.tenant, list).await?;
    list::page(context, &request, page, |entry, out| {
        if entry.shows_values_to(&context.caller) {
            list::write(out, entry)
        } else {
            list::write(out, &entry.without_values())
        }
    })
    .await
}

/// Returns a page of the history of a resource that the caller sees, without the ids that the caller does not see.
pub(crate) async fn history(context: &RequestContext, request: &ListRequest<Filter, ()>) -> Result<Reply, Error> {
    let list = rows::audit::list(&request.filter, request.sort, &request.page);
    let mut page = context.services.store.page(context.caller.tenant, list).await?;
    visible::narrow_changes(context, &mut page.items).await?;
    list::page(context, request, page, |entry, out| list::write(out, &entry.in_history())).await
}
