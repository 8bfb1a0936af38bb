//! Objectives (§4.2): two resources that share shape and lifecycle.

use candor_domain::access::Permission;
use candor_domain::objective::{Family, Verb};
use candor_service::{Shell, objectives};

use crate::exchange::AuthenticatedRequest;
use crate::openapi::queries;
use crate::table::Access::Permission as Needs;
use crate::table::{Route, Work};

pub(crate) const ROUTES: &[Route] = &[
    Route::get("/employee-objectives", Needs(Permission::ObjectivesRead), list::<OfEmployees>)
        .named("listEmployeeObjectives", "List employees' objectives")
        .with(&queries::OBJECTIVES)
        .answers("ObjectiveList"),
    Route::post("/employee-objectives", Needs(Permission::ObjectivesWrite), create::<OfEmployees>)
        .named("createEmployeeObjective", "Create an employee's objective")
        .takes("EmployeeObjectiveCreate")
        .creates("Objective"),
    Route::get("/employee-objectives/{id}", Needs(Permission::ObjectivesRead), get::<OfEmployees>)
        .named("getEmployeeObjective", "Get an employee's objective, also an archived one")
        .with(&queries::OBJECTIVE)
        .answers("Objective"),
    Route::patch("/employee-objectives/{id}", Needs(Permission::ObjectivesWrite), update::<OfEmployees>)
        .named("updateEmployeeObjective", "Update an employee's objective, or move it between approved and in_progress")
        .takes("ObjectiveUpdate")
        .answers("Objective"),
    Route::get("/employee-objectives/{id}/history", Needs(Permission::ObjectivesRead), history::<OfEmployees>)
        .named("listEmployeeObjectiveHistory", "List what was done with an employee's objective, newest first")
        .with(&queries::HISTORY)
        .answers("HistoryEntryList"),
    Route::post("/employee-objectives/{id}/submit", Needs(Permission::ObjectivesWrite), submit::<OfEmployees>)
        .named("submitEmployeeObjective", "Submit an employee's objective for review")
        .answers("Objective"),
    Route::post("/employee-objectives/{id}/approve", Needs(Permission::ObjectivesWrite), approve::<OfEmployees>)
        .named("approveEmployeeObjective", "Approve an employee's objective")
        .may_take("ObjectiveApprove")
        .answers("Objective"),
    Route::post("/employee-objectives/{id}/reject", Needs(Permission::ObjectivesWrite), reject::<OfEmployees>)
        .named("rejectEmployeeObjective", "Send an employee's objective back, with the reason")
        .takes("ObjectiveReject")
        .answers("Objective"),
    Route::post("/employee-objectives/{id}/complete", Needs(Permission::ObjectivesWrite), complete::<OfEmployees>)
        .named("completeEmployeeObjective", "Say that an employee's objective was reached")
        .may_take("ObjectiveComplete")
        .answers("Objective"),
    Route::post("/employee-objectives/{id}/miss", Needs(Permission::ObjectivesWrite), miss::<OfEmployees>)
        .named("missEmployeeObjective", "Say that an employee's objective was not reached")
        .may_take("ObjectiveMiss")
        .answers("Objective"),
    Route::post("/employee-objectives/{id}/archive", Needs(Permission::ObjectivesWrite), archive::<OfEmployees>)
        .named("archiveEmployeeObjective", "Archive an employee's objective")
        .answers("Objective"),
    Route::get("/manager-objectives", Needs(Permission::ObjectivesRead), list::<OfManagers>)
        .named("listManagerObjectives", "List managers' and org objectives")
        .with(&queries::OBJECTIVES)
        .answers("ObjectiveList"),
    Route::post("/manager-objectives", Needs(Permission::ObjectivesWrite), create::<OfManagers>)
        .named("createManagerObjective", "Create a manager's or org objective")
        .takes("ManagerObjectiveCreate")
        .creates("Objective"),
    Route::get("/manager-objectives/{id}", Needs(Permission::ObjectivesRead), get::<OfManagers>)
        .named("getManagerObjective", "Get a manager's or org objective, also an archived one")
        .with(&queries::OBJECTIVE)
        .answers("Objective"),
    Route::patch("/manager-objectives/{id}", Needs(Permission::ObjectivesWrite), update::<OfManagers>)
        .named(
            "updateManagerObjective",
            "Update a manager's or org objective, or move it between approved and in_progress",
        )
        .takes("ObjectiveUpdate")
        .answers("Objective"),
    Route::get("/manager-objectives/{id}/history", Needs(Permission::ObjectivesRead), history::<OfManagers>)
        .named("listManagerObjectiveHistory", "List what was done with a manager's or org objective, newest first")
        .with(&queries::HISTORY)
        .answers("HistoryEntryList"),
    Route::post("/manager-objectives/{id}/submit", Needs(Permission::ObjectivesWrite), submit::<OfManagers>)
        .named("submitManagerObjective", "Submit a manager's or org objective for review")
        .answers("Objective"),
    Route::post("/manager-objectives/{id}/approve", Needs(Permission::ObjectivesWrite), approve::<OfManagers>)
        .named("approveManagerObjective", "Approve a manager's or org objective")
        .may_take("ObjectiveApprove")
        .answers("Objective"),
    Route::post("/manager-objectives/{id}/reject", Needs(Permission::ObjectivesWrite), reject::<OfManagers>)
        .named("rejectManagerObjective", "Send a manager's or org objective back, with the reason")
        .takes("ObjectiveReject")
        .answers("Objective"),
    Route::post("/manager-objectives/{id}/complete", Needs(Permission::ObjectivesWrite), complete::<OfManagers>)
        .named("completeManagerObjective", "Say that a manager's or org objective was reached")
        .may_take("ObjectiveComplete")
        .answers("Objective"),
    Route::post("/manager-objectives/{id}/miss", Needs(Permission::ObjectivesWrite), miss::<OfManagers>)
        .named("missManagerObjective", "Say that a manager's or org objective was not reached")
        .may_take("ObjectiveMiss")
        .answers("Objective"),
    Route::post("/manager-objectives/{id}/archive", Needs(Permission::ObjectivesWrite), archive::<OfManagers>)
        .named("archiveManagerObjective", "Archive a manager's or org objective")
        .answers("Objective"),
];

/// Which of the two resources a route belongs to.
trait Resource {
    /// What stands in it.
    const FAMILY: Family;
}

/// `/employee-objectives`
struct OfEmployees;

/// `/manager-objectives`
struct OfManagers;

impl Resource for OfEmployees {
    const FAMILY: Family = Family::Employees;
}

impl Resource for OfManagers {
    const FAMILY: Family = Family::Managers;
}

fn list<'a, R: Resource>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { objectives::list(shell, &it.call, R::FAMILY, it.params).await })
}

fn get<'a, R: Resource>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { objectives::get(shell, &it.call, R::FAMILY, it.id()?, it.params).await })
}

fn history<'a, R: Resource>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { objectives::history(shell, &it.call, R::FAMILY, it.id()?, it.params).await })
}

fn create<'a, R: Resource>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { objectives::create(shell, &it.call, R::FAMILY, it.body).await })
}

fn update<'a, R: Resource>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { objectives::update(shell, &it.call, R::FAMILY, it.id()?, it.body).await })
}

fn submit<'a, R: Resource>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    act::<R>(shell, it, Verb::Submit)
}

fn approve<'a, R: Resource>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    act::<R>(shell, it, Verb::Approve)
}

fn reject<'a, R: Resource>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    act::<R>(shell, it, Verb::Reject)
}

fn complete<'a, R: Resource>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    act::<R>(shell, it, Verb::Complete)
}

fn miss<'a, R: Resource>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    act::<R>(shell, it, Verb::Miss)
}

fn archive<'a, R: Resource>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    act::<R>(shell, it, Verb::Archive)
}

fn act<'a, R: Resource>(shell: &'a Shell, it: AuthenticatedRequest<'a>, what: Verb) -> Work<'a> {
    Box::pin(async move { objectives::act(shell, &it.call, R::FAMILY, it.id()?, what, it.body).await })
}
