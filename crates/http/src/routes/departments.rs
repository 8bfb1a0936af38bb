//! Departments (decisions G).

use candor_domain::access::Permission;
use candor_service::{Shell, library::departments};

use crate::exchange::AuthenticatedRequest;
use crate::openapi::queries;
use crate::table::Access::{Admin, Permission as Needs};
use crate::table::{Route, Work};

pub(crate) const ROUTES: &[Route] = &[
    Route::get("/departments", Needs(Permission::EmployeesRead), list)
        .named("listDepartments", "List departments")
        .with(&queries::DEPARTMENTS)
        .answers("DepartmentList"),
    Route::post("/departments", Admin(Permission::EmployeesWrite), create)
        .named("createDepartment", "Create a department")
        .takes("DepartmentCreate")
        .creates("Department"),
    Route::get("/departments/{id}", Needs(Permission::EmployeesRead), get)
        .named("getDepartment", "Get a department, also an archived one")
        .answers("Department"),
    Route::patch("/departments/{id}", Admin(Permission::EmployeesWrite), update)
        .named("updateDepartment", "Rename a department")
        .takes("DepartmentUpdate")
        .answers("Department"),
    Route::post("/departments/{id}/archive", Admin(Permission::EmployeesWrite), archive)
        .named("archiveDepartment", "Archive a department without members")
        .answers("Department"),
    Route::post("/departments/{id}/restore", Admin(Permission::EmployeesWrite), restore)
        .named("restoreDepartment", "Restore an archived department")
        .answers("Department"),
];

fn list<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { departments::list(shell, &it.call, it.params).await })
}

fn get<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { departments::get(shell, &it.call, it.id()?).await })
}

fn create<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { departments::create(shell, &it.call, it.body).await })
}

fn update<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { departments::update(shell, &it.call, it.id()?, it.body).await })
}

fn archive<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { departments::archive(shell, &it.call, it.id()?).await })
}

fn restore<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { departments::restore(shell, &it.call, it.id()?).await })
}
