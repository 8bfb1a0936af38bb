//! Steps of SCIM requests that concern the connector: its settings, the brake, and issues.

use candor_domain::access::{Environment, Tenant};
use candor_domain::audit::AuditDraft;
use candor_domain::event::{Event, EventType};
use candor_domain::fields::StringEnum;
use candor_domain::id::ConnectorId;
use candor_domain::notification::Notification;
use candor_domain::time::Timestamp;
use candor_port_storage::{ChangeSet, Row, StorageExt, Versioned, Write};
use candor_provisioning::Connector;
use candor_provisioning::connector::{BrakeCount, BrakeDecision, IssueDraft, SyncIssue};
use candor_tables::rows;

use crate::change::Attempt;
use crate::context::error::Error;
use crate::context::notices::build_notifications;
use crate::context::request::RequestContext;
use crate::context::services::{Services, or_not_found, render};

/// Counter of the deactivations that brakes refused.
const BRAKE_REFUSALS: &str = "candor_scim_brake_refusals_total";

/// Registers the counter that an alert watches, so that its first increment is visible.
pub fn register_metrics() {
    metrics::counter!(BRAKE_REFUSALS).increment(0);
}

/// Returns the connector of the caller's key. It is stored in the live data set, also for test keys.
///
/// # Errors
/// Not found for a key without a connector; see [`Error`].
pub async fn connector(context: &RequestContext) -> Result<Versioned<Connector>, Error> {
    let id: Option<ConnectorId> = context.caller.connector;
    let live = Tenant::live(context.caller.tenant.organization);
    match id {
        Some(id) => or_not_found(context.services.store.row::<Connector>(live, id).await?),
        None => or_not_found(None),
    }
}

/// Returns the write that must precede a reference to the connector in the test data set: a copy of the connector's
/// row. `None` in the live data set, and if the copy exists.
///
/// # Errors
/// See [`Error`].
pub async fn copy_for_test_data(context: &RequestContext, connector: &Connector) -> Result<Option<Write>, Error> {
    let tenant = context.caller.tenant;
    if tenant.environment == Environment::Live {
        return Ok(None);
    }
    let copy = context.services.store.row::<Connector>(tenant, connector.id).await?;
    Ok(copy.is_none().then(|| Write::put(&Row::new(connector.clone()))))
}

/// Returns the write that counts one more deactivation, or `None` if the brake refuses it. In the live data set a
/// refusal pauses the connector. `earlier` is the time of an earlier deactivation of the person by the connector.
/// The commit is overtaken if a concurrent request deactivated a person.
///
/// # Errors
/// See [`Error`].
pub async fn count_deactivation(
    context: &RequestContext,
    connector: &Connector,
    earlier: Option<Timestamp>,
    at: Timestamp,
) -> Result<Option<Write>, Error> {
    let tenant = context.caller.tenant;
    let count_row = context.services.store.row::<BrakeCount>(tenant, connector.id).await?;
    let version = count_row.as_ref().map(|row| row.version);
    let count = count_row.map_or_else(|| BrakeCount::new(connector.id), |row| row.value);
    let mut decision = connector.brake_deactivation(&count, earlier, None, at);
    if decision == BrakeDecision::CountPeople {
        let period_start = connector.brake_since(at);
        let people = context.services.store.linked_people(tenant, connector.id, period_start).await?;
        decision = connector.brake_deactivation(&count, earlier, Some(people), at);
    }
    let deactivated_count = match decision {
        BrakeDecision::Allowed(count) => {
            let row = match version {
                Some(version) => Row::at_version(count, version),
                None => Row::new(count),
            };
            return Ok(Some(Write::put(&row)));
        }
        BrakeDecision::Refused(deactivated_count) => deactivated_count,
        BrakeDecision::CountPeople => return Err(Error::Bug("the brake asks for a count that it has".to_owned())),
    };
    metrics::counter!(BRAKE_REFUSALS).increment(1);
    if tenant.environment == Environment::Live {
        pause(context, connector.id, deactivated_count).await?;
    }
    Ok(None)
}

/// Pauses a connector, with the connector as actor.
async fn pause(context: &RequestContext, id: ConnectorId, deactivated: u64) -> Result<(), Error> {
    let tenant = context.caller.tenant;
    let plan = async |at: Timestamp| {
        let connector = or_not_found(context.services.store.row::<Connector>(tenant, id).await?)?;
        // Another request may have paused the connector.
        let Some(decision) = connector.value.pause(deactivated, at) else { return Ok(Attempt::Done(())) };
        let audit = context.audit_of_connector(&connector.value, context.services.id(at), decision.audit, at);
        let mut change = ChangeSet::new(audit);
        change.events = context.services.events(&decision.events, &render(&decision.state)?, at);
        change.notices = build_notifications(&context.services, tenant, &decision.notices, at).await?;
        change.writes = vec![Write::put(&Row::at_version(decision.state, connector.version))];
        Ok(Attempt::Commit(tenant, Box::new(change), ()))
    };
    context.services.retry(plan).await
}

/// Consequences of an issue. They are saved with the change that caused the issue.
#[derive(Debug, Default)]
pub struct IssueChange {
    /// Writes of the issue.
    pub writes: Vec<Write>,
    /// Events of the connector.
    pub events: Vec<Event>,
    /// Notifications to the org admins.
    pub notices: Vec<Notification>,
}

/// Returns the consequences of an issue: one more occurrence of the open issue, or a new issue. The commit is
/// overtaken if a concurrent request reported the same issue; the decision is then repeated.
///
/// # Errors
/// See [`Error`].
pub async fn issue_change(
    context: &RequestContext,
    connector: &Connector,
    draft: IssueDraft,
) -> Result<IssueChange, Error> {
    let (tenant, at) = (context.caller.tenant, context.services.clock.now());
    if let Some(open) = open_issue(&context.services, tenant, connector, &draft).await? {
        let repeated_issue = open.value.record_occurrence(draft.message, at);
        let writes = vec![Write::put(&Row::at_version(repeated_issue, open.version))];
        return Ok(IssueChange { writes, ..IssueChange::default() });
    }
    let issue = SyncIssue::open(context.services.id(at), connector.id, draft, at);
    new_issue(&context.services, tenant, connector, &issue).await
}

async fn open_issue(
    services: &Services,
    tenant: Tenant,
    connector: &Connector,
    draft: &IssueDraft,
) -> Result<Option<Versioned<SyncIssue>>, Error> {
    let key = SyncIssue::occurrence_key(connector.id, draft);
    let open_issues = services.store.rows_by(tenant, rows::sync_issues::BY_OPEN_KEY, &[key]).await?;
    Ok(open_issues.into_iter().next())
}

async fn new_issue(
    services: &Services,
    tenant: Tenant,
    connector: &Connector,
    issue: &SyncIssue,
) -> Result<IssueChange, Error> {
    metrics::counter!("candor_scim_issues_total", "kind" => issue.kind.word()).increment(1);
    let writes = vec![Write::put(&Row::new(issue.clone()))];
    if !issue.kind.is_refusal() {
        return Ok(IssueChange { writes, ..IssueChange::default() });
    }
    let open_refusal = services.store.first(tenant, rows::sync_issues::open_refusals(connector.id)).await?;
    let notice = connector.issue_notice(issue, open_refusal.is_some());
    let notices = build_notifications(services, tenant, notice.as_slice(), issue.occurred_at).await?;
    let events = services.events(&[EventType::ConnectorSyncFailed], &render(connector)?, issue.occurred_at);
    Ok(IssueChange { writes, events, notices })
}

/// Records the issue of a refused request, which changes nothing else.
///
/// # Errors
/// See [`Error`].
pub async fn report_refusal(
    context: &RequestContext,
    connector: &Connector,
    draft: IssueDraft,
) -> Result<(), Error> {
    let tenant = context.caller.tenant;
    let plan = async |at: Timestamp| {
        if let Some(open) = open_issue(&context.services, tenant, connector, &draft).await? {
            // A provider repeats the request in each of its cycles, so only the first one has an audit entry.
            let is_repeated =
                context.services.store.repeat_issue(tenant, open.value.id, &draft.message, at).await?;
            return Ok(if is_repeated { Attempt::Done(()) } else { Attempt::Overtaken });
        }
        let issue = SyncIssue::open(context.services.id(at), connector.id, draft.clone(), at);
        let IssueChange { writes, events, notices } =
            new_issue(&context.services, tenant, connector, &issue).await?;
        let audit = AuditDraft::new(&issue, "connector.open_issue").with_comment(Some(issue.message.clone()));
        let mut change = ChangeSet::new(context.audit_of_connector(connector, context.services.id(at), audit, at));
        (change.writes, change.events, change.notices) = (writes, events, notices);
        Ok(Attempt::Commit(tenant, Box::new(change), ()))
    };
    context.services.retry(plan).await
}
