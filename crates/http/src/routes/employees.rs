//! Employees and their invitations (§4.3, decisions G).

use candor_domain::access::Permission;
use candor_service::{Shell, employees, invitations};

use crate::exchange::{AnonymousRequest, AuthenticatedRequest};
use crate::invitation_page;
use crate::openapi::queries;
use crate::table::Access::Permission as Needs;
use crate::table::{Method, Route, Work};

pub(crate) const ROUTES: &[Route] = &[
    Route::get("/employees", Needs(Permission::EmployeesRead), list)
        .named("listEmployees", "List employees")
        .with(&queries::EMPLOYEES)
        .answers("EmployeeList"),
    Route::post("/employees", Needs(Permission::EmployeesWrite), create)
        .named("createEmployee", "Create an employee, invited or not")
        .takes("EmployeeCreate")
        .creates("Employee"),
    Route::post("/employees/csv", Needs(Permission::EmployeesWrite), upload)
        .named("upsertEmployees", "Record and update the people of a CSV file")
        .takes_csv()
        .answers("CsvReport"),
    Route::get("/employees/{id}", Needs(Permission::EmployeesRead), get)
        .named("getEmployee", "Get an employee")
        .with(&queries::EMPLOYEE)
        .answers("Employee"),
    Route::patch("/employees/{id}", Needs(Permission::EmployeesWrite), update)
        .named("updateEmployee", "Update an employee")
        .takes("EmployeeUpdate")
        .answers("Employee"),
    Route::post("/employees/{id}/deactivate", Needs(Permission::EmployeesWrite), deactivate)
        .named("deactivateEmployee", "Deactivate an employee")
        .answers("Employee"),
    Route::post("/employees/{id}/reactivate", Needs(Permission::EmployeesWrite), reactivate)
        .named("reactivateEmployee", "Reactivate an employee")
        .answers("Employee"),
    Route::post("/employees/{id}/rehire", Needs(Permission::EmployeesWrite), rehire)
        .named("rehireEmployee", "Rehire an employee, perhaps elsewhere in the organization")
        .may_take("EmployeeRehire")
        .answers("Employee"),
    Route::get("/employees/{id}/invitation", Needs(Permission::EmployeesRead), invitation)
        .named("getInvitation", "Get the newest invitation of an employee")
        .answers("Invitation"),
    Route::post("/employees/{id}/invite", Needs(Permission::EmployeesWrite), invite)
        .named("inviteEmployee", "Invite a pending employee again")
        .answers("InvitationSent"),
    Route::open(Method::Post, "/invitations/accept", accept)
        .shows(invitation_page::asking)
        .named("acceptInvitation", "Accept an invitation with its token")
        .takes("InvitationAccept")
        .answers("InvitationAccepted"),
];

fn list<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { employees::list(shell, &it.call, it.params).await })
}

fn get<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { employees::get(shell, &it.call, it.id()?, it.params).await })
}

fn create<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { employees::create(shell, &it.call, it.body).await })
}

fn upload<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(employees::csv::upsert(shell, it.call, it.params, it.csv))
}

fn update<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { employees::update(shell, &it.call, it.id()?, it.body).await })
}

fn deactivate<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { employees::deactivate(shell, &it.call, it.id()?).await })
}

fn reactivate<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { employees::reactivate(shell, &it.call, it.id()?).await })
}

fn rehire<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { employees::rehire(shell, &it.call, it.id()?, it.body).await })
}

fn invitation<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { invitations::get(shell, &it.call, it.id()?).await })
}

fn invite<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { invitations::invite(shell, &it.call, it.id()?).await })
}

fn accept(shell: &Shell, it: AnonymousRequest) -> Work<'_> {
    Box::pin(invitations::accept(shell, it.request, it.origin, it.body))
}
