//! Observations (§4.1).

use std::collections::BTreeSet;

use candor_domain::access::Permission;
use candor_domain::decision::Decision;
use candor_domain::fields::Reference;
use candor_domain::id::{AttributeKind, EmployeeId, EmployeeKind, ObservationId};
use candor_domain::json::Object;
use candor_domain::observation::{Draft, Expand, Filter, Observation, Patch, References};
use candor_domain::params::Params;
use candor_domain::refusal::Refusal;
use candor_domain::time::Timestamp;
use candor_port_storage::{Require, Row, StorageExt, Wanted, Write, rows};
use serde_json::value::RawValue;

use crate::json_cache::Shown;
use crate::list::{self, JsonObjectWriter, may_expand};
use crate::reply::Reply;
use crate::shell::{ChangePlan, or_not_found, render};
use crate::{Call, Error, Shell};

/// What the observations of a page refer to, as far as it is to be inlined.
struct Inlined {
    employees: Option<Shown<EmployeeKind>>,
    attributes: Option<Shown<AttributeKind>>,
}

impl Inlined {
    /// One read, however many observations there are.
    async fn load(shell: &Shell, call: &Call, expand: &[Expand], items: &[Observation]) -> Result<Self, Error> {
        let tenant = call.caller.tenant;
        let (employees, attributes) = (expand.contains(&Expand::Employee), expand.contains(&Expand::Attributes));
        let (mut people, mut tags) = (BTreeSet::new(), BTreeSet::new());
        if employees {
            people.extend(items.iter().map(|it| it.employee_id));
        }
        if attributes {
            tags.extend(items.iter().flat_map(|it| it.attribute_ids.iter().copied()));
        }
        let (people, tags) = (shell.people.seek(tenant, people), shell.attributes.seek(tenant, tags));
        let found = shell.store.referred(tenant, &people.wanted, &tags.wanted).await?;
        let people = shell.people.show(tenant, people, found.people, |it| it.id)?;
        let tags = shell.attributes.show(tenant, tags, found.attributes, |it| it.id)?;
        Ok(Self { employees: employees.then_some(people), attributes: attributes.then_some(tags) })
    }

    fn show(&self, observation: &Observation, out: &mut Vec<u8>) -> Result<(), Error> {
        let attributes = self.attributes.as_ref().map(|all| {
            let attributes = observation.attribute_ids.iter().filter_map(|id| all.get(id));
            attributes.map(AsRef::as_ref).collect::<Vec<&RawValue>>()
        });
        let mut shown = JsonObjectWriter::of(out, observation)?;
        shown.member(
            "employee",
            self.employees.as_ref().map(|it| it.get(&observation.employee_id).map(AsRef::<RawValue>::as_ref)),
        )?;
        shown.member("attributes", attributes)?;
        shown.end();
        Ok(())
    }
}

/// `GET /observations`
///
/// # Errors
/// Invalid parameters; see [`Error`].
pub async fn list(shell: &Shell, call: &Call, params: Params) -> Result<Reply, Error> {
    let request = Filter::parse(params)?;
    may_expand(call, &request.expand, &Expand::Employee, Permission::EmployeesRead)?;
    let page = shell
        .store
        .page(call.caller.tenant, rows::observations::list(&request.filter, request.sort, &request.page))
        .await?;
    if request.expand.is_empty() {
        return list::page(&request, &page, |it| it);
    }
    let load = |part| Inlined::load(shell, call, &request.expand, part);
    list::page_inlined(&request, &page, page.items.len(), load, Inlined::show).await
}

/// `GET /observations/{id}`, archived ones included.
///
/// # Errors
/// Not found; invalid parameters; see [`Error`].
pub async fn get(shell: &Shell, call: &Call, id: ObservationId, mut params: Params) -> Result<Reply, Error> {
    let expand: Vec<Expand> = params.expand();
    let stored = or_not_found(shell.store.row::<Observation>(call.caller.tenant, id).await?)?;
    params.finish(())?;
    if expand.is_empty() {
        return Ok(Reply::done(render(&stored.value)?, Some(stored.version)));
    }
    may_expand(call, &expand, &Expand::Employee, Permission::EmployeesRead)?;
    let inlined = Inlined::load(shell, call, &expand, std::slice::from_ref(&stored.value)).await?;
    let mut body = vec![];
    inlined.show(&stored.value, &mut body)?;
    Ok(Reply::done(body.into(), None))
}

/// `POST /observations`
///
/// # Errors
/// Invalid fields, references that do not hold; see [`Error`].
pub async fn create(shell: &Shell, call: &Call, body: Object) -> Result<Reply, Error> {
    let plan = async |at: Timestamp| {
        let draft = Draft::parse(body.clone(), at.date())?;
        let people: Vec<_> =
            [Some(&draft.employee), draft.author.as_ref()].into_iter().flatten().filter_map(|it| it.id).collect();
        let known = references(shell, call, &people, &draft.attributes).await?;
        let decision = Observation::create(shell.id(at), draft, &known, at)?;
        let requires = decision.state.attribute_ids.iter().map(|it| Require::AttributeOpen(*it)).collect();
        let location = format!("/observations/{}", decision.state.id);
        let (mut change, body, version) = shell.plan(call, decision, None, at, |it| vec![Write::put(&Row::new(it))])?;
        change.requires = requires;
        Ok(ChangePlan::Commit(change, Reply::created(location, body, Some(version))))
    };
    shell.change(call, plan).await
}

/// `PATCH /observations/{id}`
///
/// # Errors
/// Not found, invalid fields, archived, references that do not hold; see [`Error`].
pub async fn update(shell: &Shell, call: &Call, id: ObservationId, body: Object) -> Result<Reply, Error> {
    let plan = async |at: Timestamp| {
        let stored = or_not_found(shell.store.row::<Observation>(call.caller.tenant, id).await?)?;
        call.check(stored.version)?;
        let patch = Patch::parse(body.clone(), &stored.value)?;
        let wanted = patch.attributes.clone().unwrap_or_default();
        let known = references(shell, call, &[], &wanted).await?;
        let Some(decision) = stored.value.update(&patch, &known, at)? else {
            return Ok(ChangePlan::Unchanged(Reply::done(render(&stored.value)?, Some(stored.version))));
        };
        let before = &stored.value.attribute_ids;
        let new = decision.state.attribute_ids.iter().filter(|it| !before.contains(it));
        let requires = new.map(|it| Require::AttributeOpen(*it)).collect();
        let (mut change, body, version) = shell
            .plan(call, decision, Some(stored.version), at, |it| vec![Write::put(&Row::seen(it, stored.version))])?;
        change.requires = requires;
        Ok(ChangePlan::Commit(change, Reply::done(body, Some(version))))
    };
    shell.change(call, plan).await
}

/// `POST /observations/{id}/archive`
///
/// # Errors
/// Not found, archived already; see [`Error`].
pub async fn archive(shell: &Shell, call: &Call, id: ObservationId) -> Result<Reply, Error> {
    act(shell, call, id, Observation::archive).await
}

/// `POST /observations/{id}/restore`
///
/// # Errors
/// Not found, not archived; see [`Error`].
pub async fn restore(shell: &Shell, call: &Call, id: ObservationId) -> Result<Reply, Error> {
    act(shell, call, id, Observation::restore).await
}

async fn act(
    shell: &Shell,
    call: &Call,
    id: ObservationId,
    decide: fn(&Observation, Timestamp) -> Result<Decision<Observation>, Refusal>,
) -> Result<Reply, Error> {
    let plan = async |at: Timestamp| {
        let stored = or_not_found(shell.store.row::<Observation>(call.caller.tenant, id).await?)?;
        call.check(stored.version)?;
        let decision = decide(&stored.value, at)?;
        let (change, body, version) = shell
            .plan(call, decision, Some(stored.version), at, |it| vec![Write::put(&Row::seen(it, stored.version))])?;
        Ok(ChangePlan::Commit(change, Reply::done(body, Some(version))))
    };
    shell.change(call, plan).await
}

/// What is stored of the people and attributes that a body refers to.
async fn references(
    shell: &Shell,
    call: &Call,
    people: &[EmployeeId],
    attributes: &[Reference<AttributeKind>],
) -> Result<References, Error> {
    let tenant = call.caller.tenant;
    let people: BTreeSet<_> = people.iter().copied().collect();
    let attributes: BTreeSet<_> = attributes.iter().filter_map(|it| it.id).collect();
    if people.is_empty() && attributes.is_empty() {
        return Ok(References::default());
    }
    let people: Vec<_> = people.into_iter().map(Wanted::from).collect();
    let attributes: Vec<_> = attributes.into_iter().map(Wanted::from).collect();
    let found = shell.store.referred(tenant, &people, &attributes).await?;
    Ok(References {
        people: found.people.into_iter().map(|it| (it.value.id, it.value.status)).collect(),
        attributes: found.attributes.into_iter().map(|it| (it.value.id, it.value.archived_at.is_some())).collect(),
    })
}
