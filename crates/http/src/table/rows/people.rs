//! People, and the library that describes them.

use candor_domain::access::Permission;

use crate::invitation_page;
use crate::openapi::queries;
use crate::routes::{attributes, departments, employees};
use crate::table::Access::{Admin, Permission as Needs};
use crate::table::{Method, Route};

pub(super) const ROUTES: &[Route] = &[
    // Employees (§4.3)
    Route::get("/employees", Needs(Permission::EmployeesRead), employees::list)
        .named("listEmployees", "List employees")
        .with(&queries::EMPLOYEES)
        .answers("EmployeeList"),
    Route::post("/employees", Needs(Permission::EmployeesWrite), employees::create)
        .named("createEmployee", "Create an employee, invited or not")
        .takes("EmployeeCreate")
        .creates("Employee"),
    Route::post("/employees/csv", Needs(Permission::EmployeesWrite), employees::upload)
        .named("upsertEmployees", "Record and update the people of a CSV file")
        .takes_csv()
        .answers("CsvReport"),
    Route::get("/employees/{id}", Needs(Permission::EmployeesRead), employees::get)
        .named("getEmployee", "Get an employee")
        .with(&queries::EMPLOYEE)
        .answers("Employee"),
    Route::patch("/employees/{id}", Needs(Permission::EmployeesWrite), employees::update)
        .named("updateEmployee", "Update an employee")
        .takes("EmployeeUpdate")
        .answers("Employee"),
    Route::post("/employees/{id}/deactivate", Needs(Permission::EmployeesWrite), employees::deactivate)
        .named("deactivateEmployee", "Deactivate an employee")
        .answers("Employee"),
    Route::post("/employees/{id}/reactivate", Needs(Permission::EmployeesWrite), employees::reactivate)
        .named("reactivateEmployee", "Reactivate an employee")
        .answers("Employee"),
    Route::post("/employees/{id}/rehire", Needs(Permission::EmployeesWrite), employees::rehire)
        .named("rehireEmployee", "Rehire an employee, perhaps elsewhere in the organization")
        .may_take("EmployeeRehire")
        .answers("Employee"),
    Route::get("/employees/{id}/invitation", Needs(Permission::EmployeesRead), employees::invitation)
        .named("getInvitation", "Get the newest invitation of an employee")
        .answers("Invitation"),
    Route::post("/employees/{id}/invite", Needs(Permission::EmployeesWrite), employees::invite)
        .named("inviteEmployee", "Invite a pending employee again")
        .answers("InvitationSent"),
    Route::open(Method::Post, "/invitations/accept", employees::accept)
        .shows(invitation_page::asking)
        .named("acceptInvitation", "Accept an invitation with its token")
        .takes("InvitationAccept")
        .answers("InvitationAccepted"),
    // Departments
    Route::get("/departments", Needs(Permission::EmployeesRead), departments::list)
        .named("listDepartments", "List departments")
        .with(&queries::DEPARTMENTS)
        .answers("DepartmentList"),
    Route::post("/departments", Admin(Permission::EmployeesWrite), departments::create)
        .named("createDepartment", "Create a department")
        .takes("DepartmentCreate")
        .creates("Department"),
    Route::get("/departments/{id}", Needs(Permission::EmployeesRead), departments::get)
        .named("getDepartment", "Get a department, also an archived one")
        .answers("Department"),
    Route::patch("/departments/{id}", Admin(Permission::EmployeesWrite), departments::update)
        .named("updateDepartment", "Rename a department")
        .takes("DepartmentUpdate")
        .answers("Department"),
    Route::post("/departments/{id}/archive", Admin(Permission::EmployeesWrite), departments::archive)
        .named("archiveDepartment", "Archive a department without members")
        .answers("Department"),
    Route::post("/departments/{id}/restore", Admin(Permission::EmployeesWrite), departments::restore)
        .named("restoreDepartment", "Restore an archived department")
        .answers("Department"),
    // Attributes
    Route::get("/attributes", Needs(Permission::ObservationsRead), attributes::list)
        .named("listAttributes", "List attributes")
        .with(&queries::ATTRIBUTES)
        .answers("AttributeList"),
    Route::post("/attributes", Admin(Permission::ObservationsWrite), attributes::create)
        .named("createAttribute", "Create an attribute")
        .takes("AttributeCreate")
        .creates("Attribute"),
    Route::get("/attributes/{id}", Needs(Permission::ObservationsRead), attributes::get)
        .named("getAttribute", "Get an attribute, also an archived one")
        .answers("Attribute"),
    Route::patch("/attributes/{id}", Admin(Permission::ObservationsWrite), attributes::update)
        .named("updateAttribute", "Update an attribute")
        .takes("AttributeUpdate")
        .answers("Attribute"),
    Route::post("/attributes/{id}/archive", Admin(Permission::ObservationsWrite), attributes::archive)
        .named("archiveAttribute", "Archive an attribute")
        .answers("Attribute"),
    Route::post("/attributes/{id}/restore", Admin(Permission::ObservationsWrite), attributes::restore)
        .named("restoreAttribute", "Restore an archived attribute")
        .answers("Attribute"),
];
