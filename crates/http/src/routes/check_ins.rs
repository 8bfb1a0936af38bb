//! Check-ins of objectives (decision C12), under both kinds of objectives.

use candor_domain::access::{Access, Permission};
use candor_domain::event::EventData;
use candor_domain::id::{CheckInKind, Kind, ObjectiveId, ObjectiveKind};
use candor_domain::objective::{CheckIn, CheckInDraft, CheckedInObjective, Confidence, Family, read_check_ins};
use candor_service::usecases::check_ins;
use serde_json::{Value, json};

use super::objectives::example as example_of_objective;
use crate::contract::route::{EventFamily, KeyedHandler, Route, RouteGroup, handlers};
use crate::contract::schema::shapes::Member;
use crate::contract::schema::words::{enum_member, sort};
use crate::contract::schema::{
    AT, EMPLOYEE_ID, KEY_RESULT_ID, OBJECTIVE_ID, Schema, body_of, resource, response_of, with,
};

const EMPLOYEES: &[Route] = &rows(
    [
        ("/employee-objectives/{id}/check-ins", "listEmployeeObjectiveCheckIns"),
        ("/employee-objectives/{id}/check-ins", "createEmployeeObjectiveCheckIn"),
        ("/employee-objectives/{id}/check-ins/{check_in_id}", "getEmployeeObjectiveCheckIn"),
    ],
    [
        "List the check-ins of an employee's objective",
        "Check in on an employee's objective",
        "Get one check-in of an employee's objective",
    ],
    [list_of_employee, create_of_employee, get_of_employee],
);

const MANAGERS: &[Route] = &rows(
    [
        ("/manager-objectives/{id}/check-ins", "listManagerObjectiveCheckIns"),
        ("/manager-objectives/{id}/check-ins", "createManagerObjectiveCheckIn"),
        ("/manager-objectives/{id}/check-ins/{check_in_id}", "getManagerObjectiveCheckIn"),
    ],
    [
        "List the check-ins of a manager's or org objective",
        "Check in on a manager's or org objective",
        "Get one check-in of a manager's or org objective",
    ],
    [list_of_manager, create_of_manager, get_of_manager],
);

/// Builds the routes of one kind of objectives: their paths with operation ids, their summaries and their handlers.
const fn rows(
    named: [(&'static str, &'static str); 3],
    summaries: [&'static str; 3],
    handlers: [KeyedHandler; 3],
) -> [Route; 3] {
    let [(all, list), (new, create), (one, get)] = named;
    let [read, write] = [Permission::ObjectivesRead, Permission::ObjectivesWrite];
    [
        Route::get(all, Access::scope(read), handlers[0])
            .with_name(list, summaries[0])
            .description("Lists the check-ins of an objective, newest first.")
            .lists(&CHECK_IN, |input| drop(read_check_ins(ObjectiveId::from_bytes([0; 16]), input))),
        Route::post(new, Access::scope(write), handlers[1])
            .with_name(create, summaries[1])
            .description(
                "Adds an immutable check-in, which sets `progress`, `confidence` and the values of key results. At \
                 least one of these or a note is required. 409 unless the objective is approved or in progress. \
                 `If-Match` takes the `ETag` of the objective.",
            )
            .takes(&CHECK_IN_CREATE)
            .creates(&CHECK_IN),
        Route::get(one, Access::scope(read), handlers[2])
            .with_name(get, summaries[2])
            .description("Returns one check-in of the objective.")
            .answers(&CHECK_IN),
    ]
}

/// Routes of check-ins of employee objectives.
pub(crate) const OF_EMPLOYEES: RouteGroup = RouteGroup::under_tag("Objectives", EMPLOYEES)
    .id(ObjectiveKind::PREFIX)
    .second_id("check_in_id", CheckInKind::PREFIX)
    .words(words)
    .events(&[EventFamily {
        carried: EventData::CheckedObjective,
        name: "ObjectiveCheckedInEvent",
        data: &CHECKED_IN,
        about: "A check-in was added to an objective.",
    }]);

/// Routes of check-ins of manager and organization objectives.
pub(crate) const OF_MANAGERS: RouteGroup = RouteGroup::under_tag("Objectives", MANAGERS)
    .id(ObjectiveKind::PREFIX)
    .second_id("check_in_id", CheckInKind::PREFIX);

handlers! {
    list_of_employee => check_ins::list({Family::Employees}, id, params);
    list_of_manager => check_ins::list({Family::Managers}, id, params);
    create_of_employee => check_ins::create({Family::Employees}, id, body);
    create_of_manager => check_ins::create({Family::Managers}, id, body);
    get_of_employee => check_ins::get({Family::Employees}, id, second_id);
    get_of_manager => check_ins::get({Family::Managers}, id, second_id);
}

pub(crate) const CHECK_IN: Schema =
    Schema::resource("CheckIn", || resource::<CheckIn, _>(CheckInDraft::read, vec![])).example(example);
const CHECK_IN_CREATE: Schema = Schema::new("CheckInCreate", || body_of::<CheckIn, _>(CheckInDraft::read))
    .example(|| {
        json!({
            "confidence": "at_risk", "note": "Two people are ill.",
            "key_results": [{"id": KEY_RESULT_ID, "current": 12.5}],
        })
    });
const CHECKED_IN: Schema = Schema::new("CheckedInObjective", response_of::<CheckedInObjective<'static>>)
    .example(example_of_event)
    .refers_to(&[&CHECK_IN]);

fn words() -> Vec<Member> {
    vec![enum_member::<Confidence>("Expectations about the end of an objective."), sort::<CheckIn>()]
}

fn example() -> Value {
    json!({
        "id": "chk_01KJPWD6M24DF9HWRAYHFSFV52", "objective_id": OBJECTIVE_ID, "owner_id": EMPLOYEE_ID, "author_id": EMPLOYEE_ID,
        "progress": 12, "confidence": "at_risk", "note": "Two people are ill.",
        "key_results": [{"id": KEY_RESULT_ID, "title": "Tickets answered within a day", "from": 0, "to": 12.5}],
        "created_at": AT,
    })
}

fn example_of_event() -> Value {
    with(example_of_objective(), "check_in", example())
}
