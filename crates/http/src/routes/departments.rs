//! Departments (decision G).

use candor_domain::access::{Access, Permission};
use candor_domain::catalog::{Department, department};
use candor_domain::event::EventData;
use candor_domain::id::{DepartmentKind, Kind};
use candor_service::usecases::catalog::departments;
use serde_json::{Value, json};

use crate::contract::route::{EventFamily, Route, RouteGroup, handlers};
use crate::contract::schema::words::sort;
use crate::contract::schema::{AT, Schema, body_of, resource};

const ROUTES: &[Route] = &[
    Route::get("/departments", Access::scope(Permission::EmployeesRead), list)
        .with_name("listDepartments", "List departments")
        .description("Lists departments by name. Archived ones are listed only on request.")
        .lists(&DEPARTMENT, |input| drop(department::Filter::read(input))),
    Route::post("/departments", Access::data_admin(Permission::EmployeesWrite), create)
        .with_name("createDepartment", "Create a department")
        .description("Creates a department. 409 if another department has the name, even an archived one.")
        .takes(&DEPARTMENT_CREATE)
        .creates(&DEPARTMENT),
    Route::get("/departments/{id}", Access::scope(Permission::EmployeesRead), get)
        .with_name("getDepartment", "Get a department")
        .description("Returns one department. It may be archived.")
        .answers(&DEPARTMENT),
    Route::patch("/departments/{id}", Access::data_admin(Permission::EmployeesWrite), update)
        .with_name("updateDepartment", "Rename a department")
        .description("Renames a department. 409 if it is archived.")
        .takes(&DEPARTMENT_UPDATE)
        .answers(&DEPARTMENT),
    Route::post("/departments/{id}/archive", Access::data_admin(Permission::EmployeesWrite), archive)
        .with_name("archiveDepartment", "Archive a department without members")
        .description(
            "Archives a department. 409 if it has members who are not deactivated, or is already archived.",
        )
        .answers(&DEPARTMENT),
    Route::post("/departments/{id}/restore", Access::data_admin(Permission::EmployeesWrite), restore)
        .with_name("restoreDepartment", "Restore an archived department")
        .description("Restores an archived department. 409 if it is not archived.")
        .answers(&DEPARTMENT),
];

/// The routes of departments.
pub(crate) const GROUP: RouteGroup = RouteGroup::new("Departments", "Departments of the organization.", ROUTES)
    .id(DepartmentKind::PREFIX)
    .words(|| vec![sort::<Department>()])
    .events(&[EventFamily {
        carried: EventData::Department,
        name: "DepartmentEvent",
        data: &DEPARTMENT,
        about: "An event about a department.",
    }]);

handlers! {
    list => departments::list(params);
    get => departments::get(id);
    create => departments::create(body);
    update => departments::update(id, body);
    archive => departments::archive(id);
    restore => departments::restore(id);
}

pub(crate) const DEPARTMENT: Schema =
    Schema::resource("Department", || resource::<Department, _>(department::read_new, vec![])).example(example);
const DEPARTMENT_CREATE: Schema =
    Schema::new("DepartmentCreate", || body_of::<Department, _>(department::read_new))
        .example(|| json!({"name": "Care"}));
const DEPARTMENT_UPDATE: Schema =
    Schema::new("DepartmentUpdate", || body_of::<Department, _>(department::read_patch))
        .example(|| json!({"name": "Care"}));

fn example() -> Value {
    json!({"id": "dep_01KJPWD6M24DF9HWRAYHFSFV52", "name": "Care", "created_at": AT, "updated_at": AT,
           "archived_at": null})
}
