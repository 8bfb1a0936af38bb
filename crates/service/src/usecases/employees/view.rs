//! Reading people with inlined resources (§2.3).

use std::collections::BTreeMap;

use candor_domain::access::Permission;
use candor_domain::catalog::Department;
use candor_domain::id::EmployeeId;
use candor_domain::params::Params;
use candor_domain::people::{Employee, Expand, Filter, MAX_DIRECT_REPORTS};
use candor_tables::rows;

use crate::context::error::Error;
use crate::context::expand::{self, Expandable, Inlined};
use crate::context::list::JsonObjectWriter;
use crate::context::reply::Reply;
use crate::context::request::RequestContext;
use crate::context::services::Services;
use crate::context::visible;
use crate::usecases::organization;

/// Number of people whose direct reports are read together. A page of 100 people with 100 reports of up to 140
/// KB each has a gigabyte, of which 8 MB are shown.
const WITH_REPORTS_AT_A_TIME: usize = 10;

/// Resources to inline in the people of a page.
pub(crate) struct Included {
    managers: Inlined<Employee>,
    departments: Inlined<Department>,
    reports: Option<BTreeMap<EmployeeId, Vec<Employee>>>,
}

impl Expandable for Employee {
    type Path = Expand;
    type Included = Included;

    /// Departments are read with the scopes of employees (decision B3).
    fn permission(_: Expand) -> Option<Permission> {
        None
    }

    fn at_a_time(paths: &[Expand]) -> usize {
        if paths.contains(&Expand::DirectReports) { WITH_REPORTS_AT_A_TIME } else { usize::MAX }
    }

    async fn find(
        services: &Services,
        context: &RequestContext,
        paths: &[Expand],
        items: &[Self],
    ) -> Result<Included, Error> {
        let managers = items.iter().filter_map(|item| item.manager_id);
        let departments = items.iter().filter_map(|item| item.department_id);
        let reports = async {
            if paths.contains(&Expand::DirectReports) {
                reports(services, context, items).await.map(Some)
            } else {
                Ok(None)
            }
        };
        let (managers, departments, reports) = tokio::try_join!(
            expand::inline_referenced(services, context, paths.contains(&Expand::Manager), managers),
            expand::inline_referenced(services, context, paths.contains(&Expand::Department), departments),
            reports,
        )?;
        Ok(Included { managers, departments, reports })
    }

    fn inline(&self, found: &Included, shown: &mut JsonObjectWriter<'_>) -> Result<(), Error> {
        let managers = found.managers.as_ref();
        shown.member("manager", managers.map(|all| self.manager_id.and_then(|id| all.get(&id))))?;
        let departments = found.departments.as_ref();
        shown.member("department", departments.map(|all| self.department_id.and_then(|id| all.get(&id))))?;
        let reports = found.reports.as_ref();
        shown.member("direct_reports", reports.map(|all| all.get(&self.id).map_or(&[][..], Vec::as_slice)))
    }
}

/// Returns the direct reports of these people, by manager.
async fn reports(
    services: &Services,
    context: &RequestContext,
    managers: &[Employee],
) -> Result<BTreeMap<EmployeeId, Vec<Employee>>, Error> {
    let ids: Vec<_> = managers.iter().map(|manager| manager.id).collect();
    let mut reports: BTreeMap<_, Vec<_>> = BTreeMap::new();
    let mut found = services.store.direct_reports(context.caller.tenant, &ids, MAX_DIRECT_REPORTS).await?;
    visible::narrow(services, context, &mut found).await?;
    for it in found {
        if let Some(manager) = it.manager_id {
            reports.entry(manager).or_default().push(it);
        }
    }
    Ok(reports)
}

/// `GET /employees`: lists people.
///
/// # Errors
/// Invalid parameters; see [`Error`].
pub async fn list(services: &Services, context: &RequestContext, params: Params) -> Result<Reply, Error> {
    let request = Filter::parse(params)?;
    if !request.filter.custom.is_empty() {
        let organization = organization::load(services, context).await?;
        request.filter.check_sight(context.caller.viewer(), &organization.value)?;
    }
    let listing = rows::employees::list(&request.filter, request.sort, &request.page);
    expand::page(services, context, &request, listing).await
}

/// `GET /employees/{id}`: returns a person.
///
/// # Errors
/// Not found; invalid parameters; see [`Error`].
pub async fn get(
    services: &Services,
    context: &RequestContext,
    id: EmployeeId,
    params: Params,
) -> Result<Reply, Error> {
    expand::one::<Employee>(services, context, params, services.find_stored(context, id)).await
}
