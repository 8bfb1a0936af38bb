//! Assignments and their submissions (decision G).

use candor_domain::access::{Access, Permission};
use candor_domain::assignment::{self, Assignment, SubmissionDraft, SubmissionStatus};
use candor_domain::event::EventData;
use candor_domain::id::{AssignmentKind, Id, Kind};
use candor_domain::observation::Observation;
use candor_domain::time::Timestamp;
use candor_service::usecases::assignments;
use serde_json::{Value, json};

use crate::contract::route::{EventFamily, Route, RouteGroup, handlers};
use crate::contract::schema::shapes::Member;
use crate::contract::schema::words::{enum_member, sort, status_filter};
use crate::contract::schema::{AT, EMPLOYEE_ID, MANAGER_ID, Schema, body_of, body_with, resource};

const ROUTES: &[Route] = &[
    Route::get("/assignments", Access::scope(Permission::AssignmentsRead), list)
        .with_name("listAssignments", "List assignments")
        .description("Lists assignments of every status, newest first.")
        .lists(&ASSIGNMENT, |input| drop(assignment::Filter::read(input))),
    Route::post("/assignments", Access::scope(Permission::AssignmentsWrite), create)
        .with_name("createAssignment", "Request feedback about a person from reviewers")
        .description(
            "Requests observations about one person from reviewers and notifies the reviewers. For a key that \
             acts for a person, that person is the requester. 409 if another assignment has the `external_id`.",
        )
        .takes(&ASSIGNMENT_CREATE)
        .creates(&ASSIGNMENT),
    Route::get("/assignments/{id}", Access::scope(Permission::AssignmentsRead), get)
        .with_name("getAssignment", "Get an assignment with its submissions")
        .description("Returns one assignment with the submission of each reviewer.")
        .answers(&ASSIGNMENT),
    Route::post("/assignments/{id}/submissions", Access::scope(Permission::AssignmentsWrite), submit)
        .with_name("submitFeedback", "Submit the feedback of one reviewer")
        .description(
            "Creates the observations of one reviewer about the person and records the submission. The last \
             required submission completes the assignment and notifies the requester. 409 if the assignment is \
             not open or the reviewer has already submitted. A key that acts for a person can submit only as \
             that person.",
        )
        .takes(&SUBMISSION_CREATE)
        .answers(&ASSIGNMENT),
    Route::post("/assignments/{id}/cancel", Access::scope(Permission::AssignmentsWrite), cancel)
        .with_name("cancelAssignment", "Cancel an open assignment")
        .description("Cancels an open assignment. Submitted observations stay. 409 if it is not open.")
        .answers(&ASSIGNMENT),
];

/// The routes of assignments.
pub(crate) const GROUP: RouteGroup =
    RouteGroup::new("Assignments", "Requests for feedback about a person.", ROUTES)
        .id(AssignmentKind::PREFIX)
        .words(words)
        .events(&[EventFamily {
            carried: EventData::Assignment,
            name: "AssignmentEvent",
            data: &ASSIGNMENT,
            about: "An event about an assignment.",
        }]);

handlers! {
    list => assignments::list(params);
    get => assignments::get(id);
    create => assignments::create(body);
    cancel => assignments::cancel(id);
    submit => assignments::submit(id, body);
}

pub(crate) const ASSIGNMENT: Schema =
    Schema::resource("Assignment", || resource::<Assignment, _>(assignment::Draft::read, vec![])).example(example);
const ASSIGNMENT_CREATE: Schema =
    Schema::new("AssignmentCreate", || body_of::<Assignment, _>(assignment::Draft::read)).example(|| {
        json!({
            "employee_id": EMPLOYEE_ID, "requester_id": MANAGER_ID, "title": "Before the review",
            "instructions": "How did the launch go?", "due_date": "2026-03-31", "reviewer_ids": [REVIEWER_ID],
        })
    });
const SUBMISSION_CREATE: Schema = Schema::new("SubmissionCreate", || {
    body_with::<Observation, _>("observations", |fields| {
        SubmissionDraft::read(fields, Id::from_bytes([0; 16]), None, NOW)
    })
})
.example(|| {
    json!({
        "reviewer_id": REVIEWER_ID, "observations": [{"type": "strength", "observation": "Kept calm on the day."}],
    })
});

/// Time for parsers that are run only to describe their rules, which do not depend on the clock.
const NOW: Timestamp = Timestamp::from_millis(0);

/// Example id of a reviewer.
const REVIEWER_ID: &str = "emp_01KJPWD6M17S2TC3YGZXGMY0TH";

fn words() -> Vec<Member> {
    vec![
        enum_member::<assignment::Status>("Status of an assignment."),
        status_filter::<assignment::Status>("Filter of assignments by status."),
        enum_member::<SubmissionStatus>("Status of the submission of a reviewer."),
        sort::<Assignment>(),
    ]
}

fn example() -> Value {
    json!({
        "id": "asg_01KJPWD6M24DF9HWRAYHFSFV52", "employee_id": EMPLOYEE_ID, "requester_id": MANAGER_ID,
        "title": "Before the review", "instructions": "How did the launch go?", "due_date": "2026-03-31",
        "reviewer_ids": [REVIEWER_ID], "required_submissions": 1, "status": "open",
        "submissions": [
            {"reviewer_id": REVIEWER_ID, "status": "pending", "observation_ids": [], "submitted_at": null},
        ],
        "submitted_count": 0, "created_at": AT, "updated_at": AT, "metadata": {"review_cycle": "2026-h1"},
        "external_id": null,
    })
}
