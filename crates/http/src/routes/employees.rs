//! Employees (§4.3, decision G).

pub(crate) mod report;

use candor_domain::access::{Access, Permission, QuotaClass};
use candor_domain::event::EventData;
use candor_domain::id::{EmployeeKind, Kind};
use candor_domain::people::personal_data::{DataSourceType, PersonalDataLine, PersonalDataType};
use candor_domain::people::{self, Employee, MAX_DIRECT_REPORTS, Rehire, Role, Status, StatusFilter};
use candor_people_csv as csv;
use candor_service::usecases::employees;
use candor_service::usecases::line_stream::LineStream;
use serde_json::{Value, json};

use crate::contract::request::AuthenticatedRequest;
use crate::contract::route::{EventFamily, LineWork, Query, Route, RouteGroup, Work, handlers};
use crate::contract::schema::shapes::{Member, array, field, nullable, reference_to};
use crate::contract::schema::words::{enum_member, sort};
use crate::contract::schema::{AT, EMPLOYEE_ID, Schema, body_of, resource, response_of};

const ROUTES: &[Route] = &[
    Route::get("/employees", Access::scope(Permission::EmployeesRead), list)
        .with_name("listEmployees", "List employees")
        .description(
            "Lists people by last name. Only active people are listed, unless `filter[status]` selects others.",
        )
        .lists(&EMPLOYEE, |input| drop(people::Filter::read(input))),
    Route::post("/employees", Access::people_writer(Permission::EmployeesWrite), create)
        .with_name("createEmployee", "Create an employee")
        .description(
            "Creates an active person, or an invited one with `send_invite`. 409 if another person has the \
             e-mail address, whatever their status.",
        )
        .takes(&EMPLOYEE_CREATE)
        .creates(&EMPLOYEE),
    Route::post("/employees/csv", Access::people_writer(Permission::EmployeesWrite), upload)
        .with_name("upsertEmployees", "Create and update people from a CSV file")
        .description(
            "Creates and updates people by e-mail address, or by `external_id` if the file has that column. \
             Invalid rows are reported; the other rows are applied.",
        )
        .with(Query::one(|input| drop(csv::UploadRequest::read(input))))
        .takes_csv()
        .answers(&report::CSV_REPORT),
    Route::get("/employees/{id}", Access::scope(Permission::EmployeesRead), get)
        .with_name("getEmployee", "Get an employee")
        .description("Returns one person of any status.")
        .expands::<people::Expand>()
        .answers(&EMPLOYEE),
    Route::patch("/employees/{id}", Access::people_writer(Permission::EmployeesWrite), update)
        .with_name("updateEmployee", "Update an employee")
        .description(
            "Changes the given members. 422 if an HR system manages one of them, or if the new manager reports \
             to the person.",
        )
        .takes(&EMPLOYEE_UPDATE)
        .answers(&EMPLOYEE),
    Route::post("/employees/{id}/deactivate", Access::people_writer(Permission::EmployeesWrite), deactivate)
        .with_name("deactivateEmployee", "Deactivate an employee")
        .description(
            "Deactivates an active or invited person. API keys that act for the person stop working. The \
             reporting line and all records stay. 409 if the person is already deactivated.",
        )
        .answers(&EMPLOYEE),
    Route::post("/employees/{id}/reactivate", Access::people_writer(Permission::EmployeesWrite), reactivate)
        .with_name("reactivateEmployee", "Reactivate an employee")
        .description(
            "Reactivates a deactivated person without other changes. 409 if the person is not deactivated.",
        )
        .answers(&EMPLOYEE),
    Route::post("/employees/{id}/rehire", Access::people_writer(Permission::EmployeesWrite), rehire)
        .with_name("rehireEmployee", "Rehire an employee")
        .description(
            "Rehires a deactivated person. The manager, department and custom fields change if they are given. \
             409 if the person is not deactivated.",
        )
        .may_take(&EMPLOYEE_REHIRE)
        .answers(&EMPLOYEE),
    Route::lines(
        "/employees/{id}/personal-data",
        Access::organization_admin(Permission::EmployeesRead).or_scope(Permission::EmployeesErase),
        personal_data,
    )
    .with_name("getPersonalData", "Get all data about a person")
    .description(
        "Returns all data about a person as lines of JSON (NDJSON), for access requests. Each line has a \
         `type`, the `data`, and in `from` the source of the data. Texts that the person wrote about others \
         are data of these people and are not included. The last line is `end`; without it the response is not \
         complete. The request is recorded in the audit log.",
    )
    .counts_as(QuotaClass::Export)
    .answers_lines(&PERSONAL_DATA_LINE),
];

/// The routes of employees.
pub(crate) const GROUP: RouteGroup = RouteGroup::new("Employees", "The people of the organization.", ROUTES)
    .id(EmployeeKind::PREFIX)
    .words(words)
    .events(&[EventFamily {
        carried: EventData::Employee,
        name: "EmployeeEvent",
        data: &EMPLOYEE,
        about: "An employee was created or changed.",
    }]);

handlers! {
    list => employees::list(params);
    get => employees::get(id, params);
    create => employees::create(body);
    update => employees::update(id, body);
    deactivate => employees::deactivate(id);
    reactivate => employees::reactivate(id);
    rehire => employees::rehire(id, body);
}

fn upload(request: AuthenticatedRequest<'_>) -> Work<'_> {
    Box::pin(employees::csv::upsert(request.context, request.params, request.csv))
}

fn personal_data(request: AuthenticatedRequest<'_>, is_head: bool) -> LineWork<'_> {
    Box::pin(async move {
        let (context, person) = (&request.context, request.id()?);
        if is_head {
            employees::check_personal_data(context, person).await?;
            return Ok(None);
        }
        let data = employees::begin_personal_data(context, person).await?;
        Ok(Some(LineStream::PersonalData(Box::new(data))))
    })
}

const PERSONAL_DATA_LINE: Schema = Schema::new("PersonalDataLine", response_of::<PersonalDataLine>).outcome(
    "Lines of JSON. The schema describes one line. Ignore lines of other types, which later versions may have.",
);
pub(crate) const EMPLOYEE: Schema =
    Schema::resource("Employee", || resource::<Employee, _>(people::Draft::read, expandable_members()))
        .example(example);
const EMPLOYEE_CREATE: Schema = Schema::new("EmployeeCreate", || body_of::<Employee, _>(people::Draft::read))
    .example(|| {
        json!({
            "email": "ada@example.com", "first_name": "Ada", "last_name": "Example",
            "custom_fields": {"location": "Izmir", "grade": 7},
        })
    });
const EMPLOYEE_UPDATE: Schema = Schema::new("EmployeeUpdate", || body_of::<Employee, _>(people::Patch::read))
    .example(|| json!({"last_name": "Beispiel", "custom_fields": {"grade": 8}}));
const EMPLOYEE_REHIRE: Schema = Schema::new("EmployeeRehire", || body_of::<Employee, _>(Rehire::read))
    .example(|| json!({"manager_id": null, "custom_fields": {"location": null}}));

fn words() -> Vec<Member> {
    vec![
        enum_member::<Role>("Role of a person in the organization."),
        enum_member::<Status>("Employment status of a person."),
        enum_member::<StatusFilter>("Filter of employees by status."),
        enum_member::<people::Expand>("Related resources that an employee can include."),
        enum_member::<csv::EmptyCell>("Meaning of an empty cell: the value is kept or cleared."),
        enum_member::<csv::Action>("Effect of a row."),
        enum_member::<PersonalDataType>("Types of data about a person."),
        enum_member::<DataSourceType>("Kinds of sources of data about a person."),
        sort::<Employee>(),
    ]
}

fn expandable_members() -> Vec<Member> {
    let about = format!(
        "Direct reports who are not deactivated, ordered by name, at most {MAX_DIRECT_REPORTS}. Present with \
         `expand=direct_reports`."
    );
    let mut reports = array(&reference_to("Employee"));
    reports["maxItems"] = json!(MAX_DIRECT_REPORTS);
    vec![
        field("manager", nullable(reference_to("Employee")), "The manager. Present with `expand=manager`."),
        field(
            "department",
            nullable(reference_to("Department")),
            "The department. Present with `expand=department`.",
        ),
        field("direct_reports", reports, &about),
        field(
            "legal_hold",
            nullable(reference_to("LegalHold")),
            "The legal hold on the data of the person. Present with `expand=legal_hold`, for keys that may read it.",
        ),
    ]
}

fn example() -> Value {
    json!({
        "id": EMPLOYEE_ID, "email": "ada@example.com", "external_id": null, "first_name": "Ada", "last_name": "Example",
        "job_title": null, "role": "employee", "manager_id": null, "department_id": null, "status": "active",
        "custom_fields": {"location": "Izmir", "grade": 7}, "is_hris_managed": false, "hris_source": "manual",
        "created_at": AT, "updated_at": AT, "deactivated_at": null, "returned_at": null,
    })
}
