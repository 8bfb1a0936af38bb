//! Connectors: how an HR system comes to own part of a person's record, and gives it back (decisions G).

use candor_domain::audit::AuditDraft;
use candor_domain::event::EventType;
use candor_domain::fields::Reference;
use candor_domain::id::{ConnectorId, EmployeeKind};
use candor_domain::json::Object;
use candor_domain::params::Params;
use candor_domain::people::connector::{Draft, parse_release};
use candor_domain::people::{Connector, Employee};
use candor_domain::problem::Problems;
use candor_domain::refusal::Refusal;
use candor_domain::time::Timestamp;
use candor_port_storage::{ChangeSet, CommitError, Row, StorageExt, Versioned, Write};
use candor_tables::rows;

use crate::context::call::Call;
use crate::context::change::Planned;
use crate::context::error::Error;
use crate::context::expand;
use crate::context::fan_out::events_at_once;
use crate::context::reply::Reply;
use crate::context::shell::{ChangePlan, Shell, render};

/// People released in one commit; a release of more goes on with the next ones.
const CHUNK: u16 = 200;

/// `GET /connectors`
///
/// # Errors
/// Invalid parameters, not an admin; see [`Error`].
pub async fn list(shell: &Shell, call: &Call, mut params: Params) -> Result<Reply, Error> {
    let request = params.changed::<Connector>("connectors");
    let request = params.finish(request)?;
    let listing = rows::connectors::list(request.filter, request.sort, &request.page);
    expand::plain_page(shell, call, &request, listing).await
}

/// `GET /connectors/{id}`
///
/// # Errors
/// Not found, not an admin; see [`Error`].
pub async fn get(shell: &Shell, call: &Call, id: ConnectorId) -> Result<Reply, Error> {
    expand::plain(shell, call, &shell.stored::<Connector>(call, id).await?).await
}

/// `POST /connectors`
///
/// # Errors
/// Invalid fields, not an admin; see [`Error`].
pub async fn create(shell: &Shell, call: &Call, body: Object) -> Result<Reply, Error> {
    let decide = async |at: Timestamp| {
        let draft = call.admit_new(|| Draft::parse(body.clone()))?;
        Ok(Planned::of(Connector::create(shell.id(at), draft, at)))
    };
    shell.create(call, "/connectors", decide).await
}

/// `POST /connectors/{id}/release`: gives people's records back, with their values.
///
/// Everybody is released in commits of a few hundred; the last one carries the answer. Should the service stop in
/// between, a retry releases the rest.
///
/// # Errors
/// Not found, invalid fields, not an admin, people who are not there; see [`Error`].
pub async fn release(shell: &Shell, call: &Call, id: ConnectorId, body: Object) -> Result<Reply, Error> {
    if let Some(reply) = shell.kept(call).await? {
        return Ok(reply);
    }
    let tenant = call.caller.tenant;
    let connector = shell.stored::<Connector>(call, id).await?;
    let named = call.admit(connector.version, || parse_release(body))?;
    let connector = connector.value;
    let chunk = events_at_once(shell, tenant, EventType::EmployeeUpdated, CHUNK.into()).await?;
    let mut earlier = 0;
    loop {
        let mut people = people(shell, call, id, named.as_deref(), chunk).await?;
        if people.len() < chunk {
            break;
        }
        people.truncate(chunk);
        let (change, count) = giving_back(shell, call, &connector, &people, shell.clock.now())?;
        match shell.commit(tenant, change).await {
            Ok(()) => earlier += count,
            Err(CommitError::Storage(error)) => return Err(error.into()),
            // Somebody changed one of these people at this moment: they are read again.
            Err(_) => {}
        }
    }
    let plan = async |at: Timestamp| {
        let people = people(shell, call, id, named.as_deref(), chunk).await?;
        let (change, count) = giving_back(shell, call, &connector, &people, at)?;
        let body = render(&serde_json::json!({ "released": earlier + count }))?;
        Ok(ChangePlan::Commit(Box::new(change), Reply::done(body, None)))
    };
    shell.change(call, plan).await
}

/// Those who are still to be released: all that are named, or some of all that the connector manages.
async fn people(
    shell: &Shell,
    call: &Call,
    id: ConnectorId,
    named: Option<&[Reference<EmployeeKind>]>,
    chunk: usize,
) -> Result<Vec<Versioned<Employee>>, Error> {
    let Some(named) = named else {
        let most = u16::try_from(chunk).unwrap_or(CHUNK);
        return Ok(shell.store.entries(call.caller.tenant, rows::employees::managed_by(id, None, most)).await?);
    };
    let mut people = named_people(shell, call, named).await?;
    people.retain(|it| it.value.connector_id == Some(id));
    Ok(people)
}

/// The people that a release names; all of them must be there.
async fn named_people(
    shell: &Shell,
    call: &Call,
    named: &[Reference<EmployeeKind>],
) -> Result<Vec<Versioned<Employee>>, Error> {
    let ids: Vec<_> = named.iter().filter_map(|it| it.id).collect();
    let people = shell.store.rows::<Employee>(call.caller.tenant, &ids).await?;
    let mut problems = Problems::none();
    for it in named {
        if people.iter().all(|person| Some(person.value.id) != it.id) {
            problems.add("employee_ids", it.not_found());
        }
    }
    problems.or(people).map_err(|it| Refusal::Unprocessable(it).into())
}

/// The change set that gives these people's records back, and how many of them there are.
fn giving_back(
    shell: &Shell,
    call: &Call,
    connector: &Connector,
    people: &[Versioned<Employee>],
    at: Timestamp,
) -> Result<(ChangeSet, usize), Error> {
    let mut change = ChangeSet::new(call.audit(shell.id(at), AuditDraft::of(connector, "connector.release"), at));
    for person in people {
        let Some(decision) = connector.release(&person.value, at) else { continue };
        let (one, state) = {
            let body = render(&decision.state)?;
            shell.change_set(call, decision, &body, at)
        };
        change.events.extend(one.events);
        change.more_audit.push(one.audit);
        change.writes.push(Write::employee(&Row::seen(state, person.version), None));
    }
    let count = change.writes.len();
    Ok((change, count))
}
