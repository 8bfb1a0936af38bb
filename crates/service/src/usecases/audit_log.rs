//! The audit log (decisions G).

use candor_domain::audit::Filter;
use candor_domain::params::{ListRequest, Params};
use candor_port_storage::StorageExt;
use candor_tables::rows;

use crate::context::call::Call;
use crate::context::error::Error;
use crate::context::list;
use crate::context::reply::Reply;
use crate::context::shell::Shell;

/// `GET /audit-log`
///
/// # Errors
/// Invalid parameters, not an admin; see [`Error`].
pub async fn list(shell: &Shell, call: &Call, params: Params) -> Result<Reply, Error> {
    let request = Filter::parse(params)?;
    call.authorize()?;
    let list = rows::audit::list(&request.filter, request.sort, &request.page);
    let page = shell.store.replica().page(call.caller.tenant, list).await?;
    list::page_by(shell, call, &request, &page, |it| it.id.to_bytes(), |it| it).await
}

/// A page of the history of a resource that the caller sees.
pub(crate) async fn history(shell: &Shell, call: &Call, request: &ListRequest<Filter, ()>) -> Result<Reply, Error> {
    let page =
        shell.store.page(call.caller.tenant, rows::audit::list(&request.filter, request.sort, &request.page)).await?;
    list::page_by(shell, call, request, &page, |it| it.id.to_bytes(), |it| it.in_history()).await
}
