//! Erasures of people and their receipts (decision H4).

use std::collections::BTreeMap;

use candor_domain::access::Tenant;
use candor_domain::access::api_key::ApiKey;
use candor_domain::erasure::{Erasure, ErasureDraft, ErasurePlan, Filter, Requester};
use candor_domain::id::{EmployeeId, ErasureId};
use candor_domain::json::Object;
use candor_domain::objective::Family;
use candor_domain::params::Params;
use candor_domain::people::connector::{ScimLink, SyncIssue};
use candor_domain::people::{Employee, Invitation};
use candor_domain::time::Timestamp;
use candor_port_storage::{ReportingLineChange, Row, StorageExt, Versioned, Write};
use candor_tables::rows;

use crate::context::erasing;
use crate::context::error::Error;
use crate::context::expand;
use crate::context::person_data;
use crate::context::reply::Reply;
use crate::context::request::RequestContext;
use crate::context::services::{ChangePlan, Services, render};

/// `GET /erasures`: lists erasures.
///
/// # Errors
/// Invalid parameters, no admin-level key; see [`Error`].
pub async fn list(services: &Services, context: &RequestContext, params: Params) -> Result<Reply, Error> {
    let request = Filter::parse(params)?;
    context.authorize()?;
    let listing = rows::erasures::list(request.sort, &request.page);
    expand::plain_page(services, context, &request, listing).await
}

/// `GET /erasures/{id}`: returns an erasure with its receipt.
///
/// # Errors
/// Not found, no admin-level key; see [`Error`].
pub async fn get(services: &Services, context: &RequestContext, id: ErasureId) -> Result<Reply, Error> {
    let stored = services.find_stored::<Erasure>(context, id).await?;
    context.authorize()?;
    Ok(Reply::ok(render(&stored.value)?, None))
}

/// `POST /employees/{id}/erasure`: replaces the person by a pseudonym, revokes their keys, and begins to remove
/// the other data.
///
/// # Errors
/// Not found, invalid fields, no admin-level key, not deactivated, on hold, erased before; see [`Error`].
pub async fn create(
    services: &Services,
    context: &RequestContext,
    id: EmployeeId,
    body: Object,
) -> Result<Reply, Error> {
    let draft = ErasureDraft::parse(body);
    let plan = async |at: Timestamp| {
        let tenant = context.caller.tenant;
        let stored = services.find_stored::<Employee>(context, id).await?;
        let draft = context.validate_update(stored.version, || draft.clone())?;
        let decision = stored.value.erase(draft, at)?;
        let origin = ErasureOrigin {
            id: services.id(at),
            requested_by: Requester::key(context.caller.key),
            requested_at: at,
        };
        let rendered = render(&decision.state)?;
        let (mut change, person) = services.change_set(context, decision, &rendered, at);
        let (erasure, mut writes) = begin(services, tenant, (&stored, person), origin, at).await?;
        change.writes.append(&mut writes);
        Ok(ChangePlan::Commit(Box::new(change), Reply::accepted(render(&erasure)?)))
    };
    let reply = services.change(context, plan).await?;
    Ok(reply)
}

/// The id of an erasure, and its request.
pub(crate) struct ErasureOrigin {
    pub(crate) id: ErasureId,
    pub(crate) requested_by: Requester,
    pub(crate) requested_at: Timestamp,
}

/// Returns a new erasure, and the writes of its beginning: the pseudonym in place of the person, the erasure, and
/// the revoked keys. `person` is the stored person and the pseudonym.
pub(crate) async fn begin(
    services: &Services,
    tenant: Tenant,
    (stored, erased): (&Versioned<Employee>, Employee),
    origin: ErasureOrigin,
    at: Timestamp,
) -> Result<(Erasure, Vec<Write>), Error> {
    let person = stored.value.id;
    let keys = person_data::keys_of(services, tenant, person).await?;
    let plan = ErasurePlan {
        employee_id: person,
        requested_by: origin.requested_by,
        counts: counts(services, tenant, person, keys.len()).await?,
        tables_to_rewrite: services.store.tables_to_rewrite().iter().map(|name| (*name).to_owned()).collect(),
        sealed_email: erasing::seal_email(services, tenant, origin.id, &stored.value.email)?,
    };
    let erasure = Erasure::begin(origin.id, plan, origin.requested_at);
    let lines = stored.value.manager_id.map(|_| ReportingLineChange { seen: None });
    let mut writes = vec![
        Write::employee(&Row::expecting(erased, stored.version), lines),
        Write::put(&Row::new(erasure.clone())),
    ];
    let closed = |key: Versioned<ApiKey>| Row::expecting(key.value.closed_by_erasure(at), key.version);
    writes.extend(keys.into_iter().map(|key| Write::put(&closed(key))));
    Ok((erasure, writes))
}

/// Counts the rows of each kind that are found by an index. The scans find further rows.
async fn counts(
    services: &Services,
    tenant: Tenant,
    person: EmployeeId,
    keys: usize,
) -> Result<BTreeMap<String, u64>, Error> {
    let store = &services.store;
    let count = |kind: &str, count: u64| (kind.to_owned(), count);
    let objectives = |family: Family| {
        person_data::count(services, tenant, move |page| person_data::objectives(person, family, page))
    };
    let invitations = store.rows_by::<Invitation, _>(tenant, rows::invitations::BY_EMPLOYEE, &[person]).await?;
    let issues = store.rows_by::<SyncIssue, _>(tenant, rows::sync_issues::BY_EMPLOYEE, &[person]).await?;
    let accounts = u64::from(store.row::<ScimLink>(tenant, person).await?.is_some());
    Ok(BTreeMap::from([
        count(
            "observations",
            person_data::count(services, tenant, |page| person_data::observations(person, page)).await?,
        ),
        count("objectives", objectives(Family::Employees).await? + objectives(Family::Managers).await?),
        count(
            "summaries",
            person_data::count(services, tenant, |page| person_data::summaries(person, page)).await?,
        ),
        count(
            "assignments",
            person_data::count(services, tenant, |page| person_data::assignments(person, page)).await?,
        ),
        count(
            "messages",
            person_data::count(services, tenant, |page| rows::conversations::messages_of(person, page)).await?,
        ),
        count(
            "notifications",
            person_data::count(services, tenant, |page| person_data::notifications(person, page)).await?,
        ),
        count("invitations", invitations.len() as u64),
        count("sync_issues", issues.len() as u64),
        count("scim_accounts", accounts),
        count("api_keys", keys as u64),
    ]))
}
