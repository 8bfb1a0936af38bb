//! Reading people, with what is inlined (§2.3).

use std::collections::{BTreeMap, BTreeSet};

use candor_domain::id::{DepartmentId, EmployeeId};
use candor_domain::library::Department;
use candor_domain::params::Params;
use candor_domain::people::{Employee, Expand, Filter, MAX_DIRECT_REPORTS};
use candor_port_storage::{StorageExt, rows};

use crate::list::{self, JsonObjectWriter};
use crate::reply::Reply;
use crate::shell::{or_not_found, render};
use crate::{Call, Error, Shell};

/// For how many people at a time their direct reports are read. A page may have 100 people, each of them 100 reports of
/// up to 140 KB: a gigabyte, of which 8 MB are shown.
const WITH_REPORTS_AT_A_TIME: usize = 10;

/// What the people of a page refer to, as far as it is to be inlined.
struct Inlined {
    managers: Option<BTreeMap<EmployeeId, Employee>>,
    departments: Option<BTreeMap<DepartmentId, Department>>,
    reports: Option<BTreeMap<EmployeeId, Vec<Employee>>>,
}

impl Inlined {
    /// One read per kind, however many people there are.
    async fn load(shell: &Shell, call: &Call, expand: &[Expand], items: &[Employee]) -> Result<Self, Error> {
        let tenant = call.caller.tenant;
        let managers = async {
            if !expand.contains(&Expand::Manager) {
                return Ok(None);
            }
            let ids: Vec<_> =
                items.iter().filter_map(|it| it.manager_id).collect::<BTreeSet<_>>().into_iter().collect();
            let found = shell.store.rows::<Employee>(tenant, &ids).await?;
            Ok(Some(found.into_iter().map(|it| (it.value.id, it.value)).collect()))
        };
        let departments = async {
            if !expand.contains(&Expand::Department) {
                return Ok(None);
            }
            let ids: Vec<_> =
                items.iter().filter_map(|it| it.department_id).collect::<BTreeSet<_>>().into_iter().collect();
            let found = shell.store.rows::<Department>(tenant, &ids).await?;
            Ok(Some(found.into_iter().map(|it| (it.value.id, it.value)).collect()))
        };
        let reports = async {
            if !expand.contains(&Expand::DirectReports) {
                return Ok(None);
            }
            let ids: Vec<_> = items.iter().map(|it| it.id).collect();
            let mut reports: BTreeMap<_, Vec<_>> = BTreeMap::new();
            for it in shell.store.direct_reports(tenant, &ids, MAX_DIRECT_REPORTS).await? {
                if let Some(manager) = it.manager_id {
                    reports.entry(manager).or_default().push(it);
                }
            }
            Ok::<_, Error>(Some(reports))
        };
        let (managers, departments, reports) = tokio::try_join!(managers, departments, reports)?;
        Ok(Self { managers, departments, reports })
    }

    fn show(&self, employee: &Employee, out: &mut Vec<u8>) -> Result<(), Error> {
        let mut shown = JsonObjectWriter::of(out, employee)?;
        shown.member("manager", self.managers.as_ref().map(|all| employee.manager_id.and_then(|id| all.get(&id))))?;
        let departments = self.departments.as_ref();
        shown.member("department", departments.map(|all| employee.department_id.and_then(|id| all.get(&id))))?;
        let reports = self.reports.as_ref();
        shown.member("direct_reports", reports.map(|all| all.get(&employee.id).map_or(&[][..], Vec::as_slice)))?;
        shown.end();
        Ok(())
    }
}

/// `GET /employees`
///
/// # Errors
/// Invalid parameters; see [`Error`].
pub async fn list(shell: &Shell, call: &Call, params: Params) -> Result<Reply, Error> {
    let request = Filter::parse(params)?;
    let page = shell
        .store
        .page(call.caller.tenant, rows::employees::list(&request.filter, request.sort, &request.page))
        .await?;
    if request.expand.is_empty() {
        return list::page(&request, &page, |it| it);
    }
    let reports = request.expand.contains(&Expand::DirectReports);
    let at_a_time = if reports { WITH_REPORTS_AT_A_TIME } else { page.items.len() };
    let load = |part| Inlined::load(shell, call, &request.expand, part);
    list::page_inlined(&request, &page, at_a_time, load, Inlined::show).await
}

/// `GET /employees/{id}`
///
/// # Errors
/// Not found; invalid parameters; see [`Error`].
pub async fn get(shell: &Shell, call: &Call, id: EmployeeId, mut params: Params) -> Result<Reply, Error> {
    let expand: Vec<Expand> = params.expand();
    let stored = or_not_found(shell.store.row::<Employee>(call.caller.tenant, id).await?)?;
    params.finish(())?;
    if expand.is_empty() {
        return Ok(Reply::done(render(&stored.value)?, Some(stored.version)));
    }
    let inlined = Inlined::load(shell, call, &expand, std::slice::from_ref(&stored.value)).await?;
    let mut body = vec![];
    inlined.show(&stored.value, &mut body)?;
    Ok(Reply::done(body.into(), None))
}
