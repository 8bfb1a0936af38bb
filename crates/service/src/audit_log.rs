//! The audit log (decisions G).

use candor_domain::audit::{AuditEntry, Filter};
use candor_domain::page::{Listed, Position, cursor};
use candor_domain::params::{ListRequest, Params};
use serde::Serialize;

use crate::reply::Reply;
use crate::shell::render;
use crate::{Call, Error, Shell};

#[derive(Serialize)]
struct Envelope<'a> {
    data: &'a [AuditEntry],
    next_cursor: Option<String>,
    has_more: bool,
}

/// `GET /audit-log`
///
/// # Errors
/// Invalid parameters, not an admin; see [`Error`].
pub async fn list(shell: &Shell, call: &Call, params: Params) -> Result<Reply, Error> {
    let request = Filter::parse(params)?;
    call.caller.require_admin()?;
    answer(shell, call, &request).await
}

/// A page of the log, for whoever may see it.
pub(crate) async fn answer(shell: &Shell, call: &Call, request: &ListRequest<Filter, ()>) -> Result<Reply, Error> {
    let page = shell.store.audit_log(call.caller.tenant, &request.filter, request.sort, &request.page).await?;
    let last = page.items.last().filter(|_| page.more);
    let position = |it: &AuditEntry| Position { key: it.key(request.sort.by), id: it.id.to_bytes() };
    let next_cursor = last.map(|it| cursor(request.digest, &position(it)));
    Ok(Reply::done(render(&Envelope { data: &page.items, next_cursor, has_more: page.more })?, None))
}
