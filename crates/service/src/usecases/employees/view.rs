//! Reading people with inlined resources (§2.3).

use std::collections::{BTreeMap, HashMap};

use candor_domain::access::Access;
use candor_domain::catalog::Department;
use candor_domain::id::EmployeeId;
use candor_domain::params::Params;
use candor_domain::people::{Employee, Expand, Filter, MAX_DIRECT_REPORTS};
use candor_port_storage::StorageExt;
use candor_port_storage::read::IDS_AT_A_TIME;
use candor_tables::rows;

use crate::context::error::Error;
use crate::context::expand::{self, Expandable, Inlined};
use crate::context::list::{JsonObjectWriter, MAX_PAGE_BYTES};
use crate::context::reply::Reply;
use crate::context::request::RequestContext;
use crate::context::visible;
use crate::usecases::organization;

/// Number of people whose direct reports are read together.
const WITH_REPORTS_AT_A_TIME: usize = 10;

// The reports of one person are always read completely.
const _: () = assert!(MAX_DIRECT_REPORTS as usize <= IDS_AT_A_TIME);

/// Resources to inline in the people of a page.
pub(crate) struct Included {
    managers: Inlined<Employee>,
    departments: Inlined<Department>,
    reports: Option<Reports>,
    has_holds: bool,
}

/// Direct reports of the first people of a page, by manager.
struct Reports {
    by_manager: BTreeMap<EmployeeId, Vec<Employee>>,
    /// Number of people of the page whose reports were read.
    covered: usize,
}

impl Expandable for Employee {
    type Path = Expand;
    type Included = Included;

    fn access(path: Expand) -> Option<Access> {
        path.access()
    }

    fn at_a_time(paths: &[Expand]) -> usize {
        if paths.contains(&Expand::DirectReports) { WITH_REPORTS_AT_A_TIME } else { usize::MAX }
    }

    async fn find(context: &RequestContext, paths: &[Expand], items: &[Self]) -> Result<Included, Error> {
        let managers = items.iter().filter_map(|item| item.manager_id);
        let departments = items.iter().filter_map(|item| item.department_id);
        let reports = async {
            if paths.contains(&Expand::DirectReports) { reports(context, items).await.map(Some) } else { Ok(None) }
        };
        let (managers, departments, reports) = tokio::try_join!(
            expand::inline_referenced(context, paths.contains(&Expand::Manager), managers),
            expand::inline_referenced(context, paths.contains(&Expand::Department), departments),
            reports,
        )?;
        Ok(Included { managers, departments, reports, has_holds: paths.contains(&Expand::LegalHold) })
    }

    fn count_covered(included: &Included, items: &[Self]) -> usize {
        included.reports.as_ref().map_or(items.len(), |reports| reports.covered)
    }

    fn inline(&self, found: &Included, shown: &mut JsonObjectWriter<'_>) -> Result<(), Error> {
        let managers = found.managers.as_ref();
        shown.member("manager", managers.map(|all| self.manager_id.and_then(|id| all.get(&id))))?;
        let departments = found.departments.as_ref();
        shown.member("department", departments.map(|all| self.department_id.and_then(|id| all.get(&id))))?;
        let reports = found.reports.as_ref();
        let reports = reports.map(|reports| reports.by_manager.get(&self.id).map_or(&[][..], Vec::as_slice));
        shown.member("direct_reports", reports)?;
        shown.member("legal_hold", found.has_holds.then(|| self.legal_hold()))
    }
}

/// Returns the direct reports of these managers, in the order of the page, until a page is full, but at least those of
/// the first manager. 10 managers with 100 reports of up to 140 KB each have 140 MB of reports, and a page shows 8 MB.
async fn reports(context: &RequestContext, managers: &[Employee]) -> Result<Reports, Error> {
    let tenant = context.caller.tenant;
    let ids: Vec<_> = managers.iter().map(|manager| manager.id).collect();
    let pairs = context.services.store.direct_reports(tenant, &ids, MAX_DIRECT_REPORTS).await?;
    // In the order of the page, so that reports that do not fit belong to the last people of the page.
    let ordered_pairs = || ids.iter().flat_map(|manager| pairs.iter().filter(move |pair| pair.0 == *manager));
    let reports: Vec<_> = ordered_pairs().map(|(_, report)| *report).collect();
    let (rows, read) = context.services.store.rows_within::<Employee>(tenant, &reports, MAX_PAGE_BYTES).await?;
    let incomplete = ordered_pairs().nth(read).and_then(|(manager, _)| ids.iter().position(|id| id == manager));
    let mut people: Vec<_> = rows.into_iter().map(|row| row.value).collect();
    visible::narrow(context, &mut people).await?;
    let mut people: HashMap<_, _> = people.into_iter().map(|person| (person.id, person)).collect();
    let mut by_manager: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (manager, report) in ordered_pairs().take(read) {
        by_manager.entry(*manager).or_default().extend(people.remove(report));
    }
    Ok(Reports { by_manager, covered: incomplete.unwrap_or(ids.len()) })
}

/// `GET /employees`: lists people.
///
/// # Errors
/// Invalid parameters; see [`Error`].
pub async fn list(context: &RequestContext, params: Params) -> Result<Reply, Error> {
    let request = params.parse(Filter::read)?;
    if !request.filter.custom.is_empty() {
        let organization = organization::load(context).await?;
        request.filter.check_sight(context.caller.viewer(), &organization.value)?;
    }
    let listing = rows::employees::list(&request.filter, request.sort, &request.page);
    expand::page(context, &request, listing).await
}

/// `GET /employees/{id}`: returns a person.
///
/// # Errors
/// Not found; invalid parameters; see [`Error`].
pub async fn get(context: &RequestContext, id: EmployeeId, params: Params) -> Result<Reply, Error> {
    expand::one::<Employee>(context, params, context.find_stored(id)).await
}
