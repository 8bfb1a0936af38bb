//! Employees (§4.3, decisions G).

pub(crate) mod report;

use candor_domain::access::Permission;
use candor_domain::csv;
use candor_domain::fields::Word;
use candor_domain::id::{DepartmentKind, EmployeeKind, Kind};
use candor_domain::people::{
    self, EXTERNAL_ID_CHARS, Employee, JOB_TITLE_CHARS, MAX_DIRECT_REPORTS, MAX_FIELDS, MAX_KEY_CHARS, MAX_VALUE_CHARS,
    NAME_CHARS, Rehire, Role, Status, StatusFilter,
};
use candor_domain::text::EMAIL_CHARS;
use candor_service::Shell;
use candor_service::usecases::employees;
use serde_json::{Value, json};

use crate::exchange::AuthenticatedRequest;
use crate::schema::shapes::{Member, answer, array, datetime, field, flag, id, named, nullable, plain, times};
use crate::schema::words::{of, open, sort};
use crate::schema::{AT, EMPLOYEE_ID, Schema, body};
use crate::table::Access::{People, Permission as Needs};
use crate::table::{EventFamily, Query, Route, RouteGroup, Work};

const ROUTES: &[Route] = &[
    Route::get("/employees", Needs(Permission::EmployeesRead), list)
        .named("listEmployees", "List employees")
        .about("Lists people by last name; active ones unless `filter[status]` says otherwise.")
        .lists(&EMPLOYEE, |it| drop(people::Filter::read(it))),
    Route::post("/employees", People(Permission::EmployeesWrite), create)
        .named("createEmployee", "Create an employee, invited or not")
        .about(
            "Records a person as active, or as invited with `send_invite`. 409 if the e-mail address is taken, \
             whatever the status of who has it.",
        )
        .takes(&EMPLOYEE_CREATE)
        .creates(&EMPLOYEE),
    Route::post("/employees/csv", People(Permission::EmployeesWrite), upload)
        .named("upsertEmployees", "Record and update the people of a CSV file")
        .about(
            "Records and updates people by e-mail address, or by `external_id` where the file has that column. A bad \
             row is reported, and the others are done all the same.",
        )
        .with(Query::one(|it| drop(csv::UploadRequest::read(it))))
        .takes_csv()
        .answers(&report::CSV_REPORT),
    Route::get("/employees/{id}", Needs(Permission::EmployeesRead), get)
        .named("getEmployee", "Get an employee")
        .about("Answers one person of any status.")
        .expands::<people::Expand>()
        .answers(&EMPLOYEE),
    Route::patch("/employees/{id}", People(Permission::EmployeesWrite), update)
        .named("updateEmployee", "Update an employee")
        .about("Changes what is given. What an HR system owns is 422, and so is a manager below the person.")
        .takes(&EMPLOYEE_UPDATE)
        .answers(&EMPLOYEE),
    Route::post("/employees/{id}/deactivate", People(Permission::EmployeesWrite), deactivate)
        .named("deactivateEmployee", "Deactivate an employee")
        .about("Says that an active person has left; the reporting line and the records stay.")
        .answers(&EMPLOYEE),
    Route::post("/employees/{id}/reactivate", People(Permission::EmployeesWrite), reactivate)
        .named("reactivateEmployee", "Reactivate an employee")
        .about("Says that a deactivated person works there again, as before.")
        .answers(&EMPLOYEE),
    Route::post("/employees/{id}/rehire", People(Permission::EmployeesWrite), rehire)
        .named("rehireEmployee", "Rehire an employee, perhaps elsewhere in the organization")
        .about(
            "Says that a deactivated person works there again, with another manager, department or custom fields \
             where they are given.",
        )
        .may_take(&EMPLOYEE_REHIRE)
        .answers(&EMPLOYEE),
];

/// The routes of employees.
pub(crate) const GROUP: RouteGroup = RouteGroup::new("Employees", "The people of the organization.", ROUTES)
    .id(EmployeeKind::PREFIX)
    .words(words)
    .events(EventFamily {
        prefix: "employee.",
        name: "EmployeeEvent",
        types: "EmployeeEventType",
        data: &EMPLOYEE,
        about: "Something happened to a person.",
    });

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

const EMPLOYEE: Schema = Schema::resource("Employee", employee).example(example);
const EMPLOYEE_CREATE: Schema = Schema::new("EmployeeCreate", || body(people::Draft::read)).example(|| {
    json!({
        "email": "ada@example.com", "first_name": "Ada", "last_name": "Example",
        "custom_fields": {"location": "Izmir", "grade": 7},
    })
});
const EMPLOYEE_UPDATE: Schema = Schema::new("EmployeeUpdate", || body(people::Patch::read))
    .example(|| json!({"last_name": "Beispiel", "custom_fields": {"grade": 8}}));
const EMPLOYEE_REHIRE: Schema = Schema::new("EmployeeRehire", || body(Rehire::read))
    .example(|| json!({"manager_id": null, "custom_fields": {"location": null}}));

fn words() -> Vec<Member> {
    vec![
        of::<Role>("What a person may do in the organization."),
        of::<Status>("Whether a person works in the organization now."),
        of::<StatusFilter>("Which people are wanted, by status."),
        of::<people::Expand>("What a person can inline."),
        of::<csv::Empty>("What an empty cell means: the value stays as it is, or is cleared."),
        of::<csv::Action>("What becomes of a row."),
        sort::<Employee>(),
    ]
}

fn custom_fields() -> Member {
    let schema = json!({"type": "object", "additionalProperties": {"type": ["string", "number", "boolean"]}});
    let about = format!(
        "What else the organization records about the person: at most {MAX_FIELDS} keys of up to {MAX_KEY_CHARS} \
         characters, each with a text of up to {MAX_VALUE_CHARS} characters, a number or a boolean."
    );
    field("custom_fields", schema, &about)
}

fn employee() -> Value {
    let name = |which: &str| format!("The {which} name, 1 to {NAME_CHARS} characters.");
    let email = format!(
        "The e-mail address, at most {EMAIL_CHARS} characters, as it was given; unique in the organization without \
         case, whatever the status."
    );
    let external = format!(
        "The person's id in another system, at most {EXTERNAL_ID_CHARS} characters, unique in the organization; null \
         where there is none."
    );
    let mut members = vec![
        field("id", id::<EmployeeKind>(), "The person's id."),
        field("email", plain(), &email),
        field("external_id", nullable(plain()), &external),
        field("first_name", plain(), &name("first")),
        field("last_name", plain(), &name("last")),
        field("job_title", nullable(plain()), &format!("What the person does, at most {JOB_TITLE_CHARS} characters.")),
        field("role", open(Role::NAME), "What the person may do in the organization."),
        field("manager_id", nullable(id::<EmployeeKind>()), "The manager; null at the top of a reporting tree."),
        field("department_id", nullable(id::<DepartmentKind>()), "The department; null where there is none."),
        field("status", open(Status::NAME), "Whether the person works in the organization now."),
        custom_fields(),
        field("is_hris_managed", flag(), "Whether an HR system owns part of this record."),
        field("hris_source", plain(), "The HR system that owns part of this record, or `manual` where none does."),
    ];
    members.extend(times());
    members.push(field("deactivated_at", nullable(datetime()), "When the person left; null unless deactivated."));
    let about = format!(
        "The first {MAX_DIRECT_REPORTS} people who report to this person directly, by name, without those who have \
         left. Only with `expand=direct_reports`."
    );
    let mut reports = array(&named("Employee"));
    reports["maxItems"] = json!(MAX_DIRECT_REPORTS);
    let expanded = vec![
        field("manager", nullable(named("Employee")), "The manager. Only with `expand=manager`."),
        field("department", nullable(named("Department")), "The department. Only with `expand=department`."),
        field("direct_reports", reports, &about),
    ];
    answer(members, expanded)
}

fn example() -> Value {
    json!({
        "id": EMPLOYEE_ID, "email": "ada@example.com", "external_id": null, "first_name": "Ada", "last_name": "Example",
        "job_title": null, "role": "employee", "manager_id": null, "department_id": null, "status": "active",
        "custom_fields": {"location": "Izmir", "grade": 7}, "is_hris_managed": false, "hris_source": "manual",
        "created_at": AT, "updated_at": AT, "deactivated_at": null,
    })
}
