//! Issues and newest requests of a connector, for its administrator.

use candor_domain::audit::AuditDraft;
use candor_domain::decision::Decision;
use candor_domain::id::{ConnectorId, SyncIssueId};
use candor_domain::params::Params;
use candor_domain::refusal::DomainError;
use candor_domain::time::Timestamp;
use candor_provisioning::Connector;
use candor_provisioning::connector::{IssueFilter, ScimRequest, SyncIssue};
use candor_tables::rows;

use crate::change::resource::PendingChange;
use crate::context::error::Error;
use crate::context::expand;
use crate::context::reply::Reply;
use crate::context::request::RequestContext;

/// `GET /connectors/{id}/sync-issues`: lists the issues of a connector, the newest first.
///
/// # Errors
/// Not found, invalid parameters, not an admin; see [`Error`].
pub async fn list_issues(context: &RequestContext, id: ConnectorId, params: Params) -> Result<Reply, Error> {
    let connector = context.find_stored::<Connector>(id).await?.value;
    let request = params.parse(|params| IssueFilter::read(connector.id, params))?;
    let listing = rows::sync_issues::list(connector.id, &request.filter, request.sort, &request.page);
    expand::plain_page(context, &request, listing).await
}

/// `POST /connectors/{id}/sync-issues/{issue_id}/resolve`: resolves an issue. A later request with the same
/// problem opens a new one.
///
/// # Errors
/// Not found, not an admin, resolved already; see [`Error`].
pub async fn resolve_issue(context: &RequestContext, id: ConnectorId, issue: SyncIssueId) -> Result<Reply, Error> {
    let decide = async |at: Timestamp| {
        let issue_row = context.find_stored::<SyncIssue>(issue).await?;
        if issue_row.value.connector_id != id {
            return Err(DomainError::NotFound.into());
        }
        context.validate_action(issue_row.version)?;
        let Some(state) = issue_row.value.resolve(at) else {
            return Err(DomainError::transition("resolved_at", issue_row.value.resolved_at, "resolve").into());
        };
        let audit = AuditDraft::new(&state, "connector.resolve_issue").with_changes(&issue_row.value, &state);
        let decision = Decision { state, events: vec![], audit, notices: vec![] };
        Ok((issue_row, PendingChange::new(decision)))
    };
    context.act(decide).await
}

/// `GET /connectors/{id}/requests`: lists the newest SCIM requests of a connector.
///
/// # Errors
/// Not found, invalid parameters, not an admin; see [`Error`].
pub async fn list_requests(context: &RequestContext, id: ConnectorId, params: Params) -> Result<Reply, Error> {
    let connector = context.find_stored::<Connector>(id).await?.value;
    let request = params.parse(|params| ScimRequest::read_list(connector.id, params))?;
    let listing = rows::scim_requests::list(connector.id, request.sort, &request.page);
    expand::plain_page(context, &request, listing).await
}
