//! Observations (§4.1).

use std::collections::HashMap;

use candor_domain::access::{Access, Permission};
use candor_domain::catalog::Attribute;
use candor_domain::counts::CountRequest;
use candor_domain::decision::Decision;
use candor_domain::external_id::ExternallyIdentified;
use candor_domain::fields::Reference;
use candor_domain::id::{AttributeId, AttributeKind, EmployeeId, ObservationId};
use candor_domain::json::Object;
use candor_domain::observation::{
    Draft, Expand, Filter, Observation, ObservationCount, ObservationGroup, Patch, References,
};
use candor_domain::page::{PageRequest, Sortable};
use candor_domain::params::Params;
use candor_domain::people::Employee;
use candor_domain::refusal::DomainError;
use candor_domain::time::Timestamp;
use candor_port_storage::{Require, StorageExt};
use candor_tables::rows;

use crate::change::resource::PendingChange;
use crate::context::counts;
use crate::context::error::Error;
use crate::context::expand::{self, Expandable, Inlined};
use crate::context::external_ids;
use crate::context::list::JsonObjectWriter;
use crate::context::reply::Reply;
use crate::context::request::RequestContext;
use crate::context::visible;

/// Resources to inline in the observations of a page.
pub(crate) struct Included {
    people: HashMap<EmployeeId, Employee>,
    employee: bool,
    author: bool,
    attributes: Inlined<Attribute>,
}

impl Expandable for Observation {
    type Path = Expand;
    type Included = Included;

    fn access(path: Expand) -> Option<Access> {
        match path {
            Expand::Employee | Expand::Author => Some(Access::scope(Permission::EmployeesRead)),
            Expand::Attributes => None,
        }
    }

    async fn find(context: &RequestContext, paths: &[Expand], items: &[Self]) -> Result<Included, Error> {
        let (employee, author) = (paths.contains(&Expand::Employee), paths.contains(&Expand::Author));
        let people = items.iter().flat_map(|item| {
            let subject = employee.then_some(item.employee_id);
            subject.into_iter().chain(item.author_id.filter(|_| author))
        });
        let tags = items.iter().flat_map(|item| item.attribute_ids.iter().copied());
        let (people, attributes) = tokio::try_join!(
            expand::inline_referenced(context, employee || author, people),
            expand::inline_referenced(context, paths.contains(&Expand::Attributes), tags),
        )?;
        Ok(Included { people: people.unwrap_or_default(), employee, author, attributes })
    }

    fn inline(&self, found: &Included, shown: &mut JsonObjectWriter<'_>) -> Result<(), Error> {
        shown.member("employee", found.employee.then(|| found.people.get(&self.employee_id)))?;
        shown.member("author", found.author.then(|| self.author_id.and_then(|id| found.people.get(&id))))?;
        let tags = |all| self.attribute_ids.iter().filter_map(|id| HashMap::get(all, id)).collect::<Vec<_>>();
        shown.member("attributes", found.attributes.as_ref().map(tags))
    }
}

/// `GET /observations`: lists observations that the caller sees.
///
/// # Errors
/// Invalid parameters; see [`Error`].
pub async fn list(context: &RequestContext, params: Params) -> Result<Reply, Error> {
    let request = params.parse(Filter::read)?;
    let listing = rows::observations::list(&request.filter, context.caller.viewer(), request.sort, &request.page);
    expand::page(context, &request, listing).await
}

/// `GET /observations/counts`: counts the observations that the caller sees.
///
/// # Errors
/// Invalid parameters, too slow; without `employees:read`, a group by department; see [`Error`].
pub async fn counts(context: &RequestContext, params: Params) -> Result<Reply, Error> {
    let CountRequest { filter, groups } = params.parse(Filter::read_counts)?;
    if groups.contains(&ObservationGroup::DepartmentId) {
        context.caller.require(Permission::EmployeesRead)?;
    }
    let keys: Vec<_> = groups.iter().map(|group| rows::observations::group_key(*group)).collect();
    let listing =
        rows::observations::list(&filter, context.caller.viewer(), Observation::DEFAULT, &PageRequest::ALL);
    counts::reply(context, listing, &keys, |counted| {
        let mut group_view = ObservationCount { count: counted.count, ..ObservationCount::default() };
        for (group, value) in groups.iter().zip(&counted.values) {
            match group {
                ObservationGroup::Type => group_view.kind = counts::text(value),
                ObservationGroup::AttributeId => group_view.attribute_id = Some(counts::id(value)),
                ObservationGroup::Month => group_view.month = counts::text(value),
                ObservationGroup::DepartmentId => group_view.department_id = Some(counts::id(value)),
            }
        }
        group_view
    })
    .await
}

/// `GET /observations/{id}`: returns an observation, also an archived one.
///
/// # Errors
/// Not found; invalid parameters; see [`Error`].
pub async fn get(context: &RequestContext, id: ObservationId, params: Params) -> Result<Reply, Error> {
    expand::one::<Observation>(context, params, visible::require::<Observation>(context, id)).await
}

/// `POST /observations`: creates an observation.
///
/// # Errors
/// Invalid fields, another author than the person of a bound key, invalid references, an external id in use; see
/// [`Error`].
pub async fn create(context: &RequestContext, body: Object) -> Result<Reply, Error> {
    let draft = Draft::parse(body, context.services.clock.now());
    let decide = async |at: Timestamp| {
        let draft = context.validate_create(|| draft.clone())?.written_by(&context.caller)?;
        let references = find_named(context, std::slice::from_ref(&draft)).await?;
        let decision = Observation::create(context.services.id(at), draft, &references, at)?;
        let requires = require_new_open(&decision.state.attribute_ids, &[]);
        Ok(PendingChange::new(decision).with_requirements(requires))
    };
    context.create(decide).await
}

/// `PATCH /observations/{id}`: updates an observation.
///
/// # Errors
/// Not found, invalid fields, a caller who is neither the author nor an org admin, archived, invalid references,
/// an external id in use; see [`Error`].
pub async fn update(context: &RequestContext, id: ObservationId, body: Object) -> Result<Reply, Error> {
    let update = Patch::parse(body);
    let decide = async |at: Timestamp| {
        let observation = visible::require::<Observation>(context, id).await?;
        let patch = context.validate_update(observation.version, || update.resolve_with(&observation.value))?;
        observation.value.may_be_changed_by(&context.caller)?;
        let attribute_list = patch.attributes.clone().unwrap_or_default();
        let known_references = references(context, &[], &attribute_list, std::slice::from_ref(&patch)).await?;
        let change = observation.value.update(&patch, &known_references, at)?.map(|decision| {
            let requires = require_new_open(&decision.state.attribute_ids, &observation.value.attribute_ids);
            PendingChange::new(decision).with_requirements(requires)
        });
        Ok((observation, change))
    };
    context.update(decide).await
}

/// `POST /observations/{id}/archive`: archives an observation.
///
/// # Errors
/// Not found, a caller who is neither the author nor an org admin, archived already; see [`Error`].
pub async fn archive(context: &RequestContext, id: ObservationId) -> Result<Reply, Error> {
    act(context, id, Observation::archive).await
}

/// `POST /observations/{id}/restore`: restores an archived observation.
///
/// # Errors
/// Not found, a caller who is neither the author nor an org admin, not archived; see [`Error`].
pub async fn restore(context: &RequestContext, id: ObservationId) -> Result<Reply, Error> {
    act(context, id, Observation::restore).await
}

/// Archives or restores an observation.
async fn act(
    context: &RequestContext,
    id: ObservationId,
    decide: impl Fn(&Observation, Timestamp) -> Result<Decision<Observation>, DomainError>,
) -> Result<Reply, Error> {
    let decide = async |at: Timestamp| {
        let observation = visible::require::<Observation>(context, id).await?;
        context.validate_action(observation.version)?;
        observation.value.may_be_changed_by(&context.caller)?;
        let decision = decide(&observation.value, at)?;
        Ok((observation, PendingChange::new(decision)))
    };
    context.act(decide).await
}

/// Returns, for each attribute that is new to an observation, the condition that the attribute is not archived at
/// commit time.
fn require_new_open(after: &[AttributeId], before: &[AttributeId]) -> Vec<Require> {
    after.iter().filter(|id| !before.contains(id)).map(|id| Require::open::<Attribute>(*id)).collect()
}

/// Returns the stored state of the people and attributes that new observations refer to, and the stored observations
/// that have an external id of the new ones.
pub(crate) async fn find_named(context: &RequestContext, drafts: &[Draft]) -> Result<References, Error> {
    let people =
        drafts.iter().flat_map(|draft| std::iter::once(&draft.employee).chain(draft.author.iter().flatten()));
    let people: Vec<_> = people.filter_map(|person| person.id).collect();
    let attributes: Vec<_> = drafts.iter().flat_map(|draft| draft.attributes.iter().cloned()).collect();
    references(context, &people, &attributes, drafts).await
}

/// Returns the stored state of the people and attributes that a body refers to, and the observations with the
/// external ids of `bodies`.
async fn references(
    context: &RequestContext,
    people: &[EmployeeId],
    attributes: &[Reference<AttributeKind>],
    bodies: &[impl ExternallyIdentified],
) -> Result<References, Error> {
    let tenant = context.caller.tenant;
    let attributes: Vec<_> = attributes.iter().filter_map(|attribute| attribute.id).collect();
    let referenced_rows = async {
        let (people, attributes) = tokio::try_join!(
            context.services.store.rows::<Employee>(tenant, people),
            context.services.store.rows::<Attribute>(tenant, &attributes),
        )?;
        Ok::<_, Error>((people, attributes))
    };
    let holders = external_ids::find_holders(context, rows::observations::BY_EXTERNAL_ID, bodies);
    let ((people, attributes), external_ids) = tokio::try_join!(referenced_rows, holders)?;
    people.iter().try_for_each(|person| person.value.must_exist("create"))?;
    Ok(References {
        people: people.into_iter().map(|person| (person.value.id, person.value.status)).collect(),
        attributes: attributes
            .into_iter()
            .map(|attribute| (attribute.value.id, attribute.value.archived_at.is_some()))
            .collect(),
        external_ids,
    })
}
