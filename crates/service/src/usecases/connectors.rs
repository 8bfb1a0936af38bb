//! Connectors, by which an HR system owns part of a person's record and releases it again (decisions G).

mod log;
pub mod provider;

pub use log::{list_issues, list_requests, resolve_issue};

use std::collections::BTreeSet;

use candor_domain::audit::AuditDraft;
use candor_domain::event::{Event, EventType};
use candor_domain::fields::Reference;
use candor_domain::id::{ConnectorId, EmployeeId, EmployeeKind};
use candor_domain::json::Object;
use candor_domain::params::Params;
use candor_domain::people::Employee;
use candor_domain::problem::ValidationErrors;
use candor_domain::refusal::DomainError;
use candor_domain::time::Timestamp;
use candor_port_storage::{ChangeSet, Row, StorageExt, Versioned, Write};
use candor_provisioning::Connector;
use candor_provisioning::connector::{ConnectorDetails, Draft, Patch, ScimLink, parse_release};
use candor_tables::rows;
use schemars::JsonSchema;
use serde::Serialize;

use crate::change::resource::PendingChange;
use crate::change::{Attempt, ChangePlan};
use crate::context::error::Error;
use crate::context::expand;
use crate::context::fan_out::events_at_once;
use crate::context::list;
use crate::context::reply::Reply;
use crate::context::request::RequestContext;
use crate::context::services::render;

/// Result of a release.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Released {
    /// Number of people that the HR system no longer manages.
    released: usize,
}

/// Number of people released in one commit, each with custom fields of at most 139 KB; larger releases need
/// several commits.
const CHUNK: u16 = 50;

/// `GET /connectors`: lists connectors.
///
/// # Errors
/// Invalid parameters, not an admin; see [`Error`].
pub async fn list(context: &RequestContext, mut params: Params) -> Result<Reply, Error> {
    let request = params.list_by_update_time::<Connector>("connectors");
    let request = params.finish(request)?;
    let listing = rows::connectors::list(request.filter, request.sort, &request.page);
    context.authorize()?;
    let page = context.services.store.page(context.caller.tenant, listing).await?;
    list::page(context, &request, page, |connector, out| {
        list::write(out, &connector.clone().shown_to(&context.caller))
    })
    .await
}

/// `GET /connectors/{id}`: returns a connector.
///
/// # Errors
/// Not found, not an admin; see [`Error`].
pub async fn get(context: &RequestContext, id: ConnectorId) -> Result<Reply, Error> {
    let connector = context.find_stored::<Connector>(id).await?;
    context.authorize()?;
    let figures = context.services.store.connector_figures(context.caller.tenant, id).await?;
    let value = ConnectorDetails { connector: connector.value.shown_to(&context.caller), figures };
    expand::plain(context, &Versioned { value, version: connector.version }).await
}

/// `PATCH /connectors/{id}`: changes the settings of a connector.
///
/// # Errors
/// Not found, invalid fields, not an admin; see [`Error`].
pub async fn update(context: &RequestContext, id: ConnectorId, body: Object) -> Result<Reply, Error> {
    let update = Patch::parse(body);
    let decide = async |at: Timestamp| {
        let connector = context.find_stored::<Connector>(id).await?;
        let patch = context.validate_update(connector.version, || Patch::resolve(&update, &connector.value))?;
        let decision = connector.value.update(&patch, at);
        Ok((connector, decision.map(PendingChange::new)))
    };
    context.update(decide).await
}

/// `POST /connectors/{id}/resume`: resumes a paused connector.
///
/// # Errors
/// Not found, not an admin, not paused; see [`Error`].
pub async fn resume(context: &RequestContext, id: ConnectorId) -> Result<Reply, Error> {
    context.act_on(id, Connector::resume).await
}

/// `POST /connectors`: creates a connector.
///
/// # Errors
/// Invalid fields, not an admin; see [`Error`].
pub async fn create(context: &RequestContext, body: Object) -> Result<Reply, Error> {
    let draft = Draft::parse(body);
    let decide = async |at: Timestamp| {
        let draft = context.validate_create(|| draft.clone())?;
        Ok(PendingChange::new(Connector::create(context.services.id(at), draft, at)))
    };
    context.create(decide).await
}

/// `POST /connectors/{id}/release`: releases people's records, which keep their values.
///
/// People are released in small commits; the last one stores the reply. If the service stops in
/// between, a retry releases the rest.
///
/// # Errors
/// Not found, invalid fields, not an admin, unknown people; see [`Error`].
pub async fn release(context: &RequestContext, id: ConnectorId, body: Object) -> Result<Reply, Error> {
    if let Some(reply) = context.services.find_replay(context).await? {
        return Ok(reply);
    }
    let tenant = context.caller.tenant;
    let connector = context.find_stored::<Connector>(id).await?;
    let named_ids = context.validate_update(connector.version, || parse_release(body))?;
    let connector = connector.value;
    let people_to_release = match named_ids {
        Some(named_ids) => Some(named_people(context, &named_ids).await?),
        None => None,
    };
    let chunk = events_at_once(&context.services, tenant, EventType::EmployeeUpdated, CHUNK.into()).await?;
    let selection = |after| Selection { connector: id, named: people_to_release.as_deref(), after, chunk };
    let (mut earlier, mut after, mut previewed) = (0, None, vec![]);
    let release_chunk = async |after: Option<EmployeeId>, at: Timestamp| {
        context.confirm_caller().await?;
        let people = people(context, &selection(after)).await?;
        if people.len() < chunk {
            return Ok(Attempt::Done(None));
        }
        let last = people.last().map(|person| person.value.id);
        let (change, count) = release_change_set(context, &connector, &people, at).await?;
        if context.dry_run {
            let events = change.events.into_iter().map(|event| Event { data: String::new(), ..event });
            return Ok(Attempt::Done(Some((last, count, events.collect()))));
        }
        Ok(Attempt::Commit(tenant, Box::new(change), Some((last, count, vec![]))))
    };
    while let Some((last, count, mut events)) =
        context.services.retry::<_, Error, _, _>(|at| release_chunk(after, at)).await?
    {
        earlier += count;
        previewed.append(&mut events);
        // If the request names no people, the next read starts from the first id again: released people have left
        // the connector, and new people can have any id. A dry run releases no people, so it continues after the
        // last person.
        after = last.filter(|_| context.dry_run || people_to_release.is_some());
    }
    let plan = async |at: Timestamp| {
        let people = people(context, &selection(after)).await?;
        let (mut change, count) = release_change_set(context, &connector, &people, at).await?;
        change.events.splice(..0, previewed.iter().cloned());
        let body = render(&Released { released: earlier + count })?;
        Ok(ChangePlan::Commit(Box::new(change), Reply::ok(body, None)))
    };
    context.change(plan).await
}

/// Selection of the people to release in one commit.
struct Selection<'a> {
    connector: ConnectorId,
    /// People in the order of their ids; `None` for all people that the connector manages.
    named: Option<&'a [EmployeeId]>,
    /// Last person of the chunk before: only people with a later id are selected. `None` for the first chunk.
    after: Option<EmployeeId>,
    chunk: usize,
}

/// Returns the next people to release, in the order of their ids: at most a chunk, and only people of the connector.
async fn people(context: &RequestContext, selection: &Selection<'_>) -> Result<Vec<Versioned<Employee>>, Error> {
    let Selection { connector, named, after, chunk } = *selection;
    let (store, tenant) = (&context.services.store, context.caller.tenant);
    let Some(named_ids) = named else {
        let most = u16::try_from(chunk).unwrap_or(CHUNK);
        return Ok(store.entries(tenant, rows::employees::managed_by(connector, after, most)).await?);
    };
    let mut selected_people = vec![];
    let rest = named_ids.get(named_ids.partition_point(|id| Some(*id) <= after)..).unwrap_or_default();
    for part in rest.chunks(chunk.max(1)) {
        let mut people = store.rows::<Employee>(tenant, part).await?;
        people.retain(|person| person.value.connector_id == Some(connector));
        people.sort_unstable_by_key(|person| person.value.id);
        selected_people.append(&mut people);
        if selected_people.len() >= chunk {
            break;
        }
    }
    selected_people.truncate(chunk);
    Ok(selected_people)
}

/// Returns the ids of the people that a release names, in ascending order. All of these people must exist.
async fn named_people(
    context: &RequestContext,
    named: &[Reference<EmployeeKind>],
) -> Result<Vec<EmployeeId>, Error> {
    let ids: Vec<_> = named.iter().filter_map(|person| person.id).collect();
    let mut people_ids = BTreeSet::new();
    for part in ids.chunks(CHUNK.into()) {
        let people = context.services.store.rows::<Employee>(context.caller.tenant, part).await?;
        people_ids.extend(people.into_iter().map(|person| person.value.id));
    }
    let mut problems = ValidationErrors::none();
    for person in named {
        if person.id.is_none_or(|id| !people_ids.contains(&id)) {
            problems.add("employee_ids", person.not_found());
        }
    }
    let ids = people_ids.into_iter().collect();
    problems.or(ids).map_err(|error| DomainError::Unprocessable(error).into())
}

/// Creates the change set that releases these people and ends their links; returns it with the number of people
/// released.
async fn release_change_set(
    context: &RequestContext,
    connector: &Connector,
    people: &[Versioned<Employee>],
    at: Timestamp,
) -> Result<(ChangeSet, usize), Error> {
    let entry = context.audit(context.services.id(at), AuditDraft::new(connector, "connector.release"), at);
    let mut change = ChangeSet::new(entry);
    let mut count = 0;
    for person in people {
        let Some(decision) = connector.release(&person.value, at) else { continue };
        let body = render(&decision.state)?;
        let (mut one, state) = context.change_set(decision, &body, at)?;
        one.writes = vec![Write::employee(&Row::at_version(state, person.version), None)];
        change.append(one);
        count += 1;
    }
    let ids: Vec<_> = people.iter().map(|person| person.value.id).collect();
    for link in context.services.store.rows::<ScimLink>(context.caller.tenant, &ids).await? {
        if link.value.connector_id == connector.id {
            change.writes.push(Write::put(&Row::at_version(link.value.end(at), link.version)));
        }
    }
    Ok((change, count))
}
