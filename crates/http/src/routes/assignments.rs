//! Assignments and their submissions (decision G).

use candor_domain::access::{Access, Permission};
use candor_domain::assignment::{
    self, Assignment, INSTRUCTIONS_CHARS, MAX_REVIEWERS, SubmissionDraft, SubmissionStatus, TITLE_CHARS,
};
use candor_domain::fields::StringEnum;
use candor_domain::id::{AssignmentKind, EmployeeKind, Id, Kind, ObservationKind};
use candor_domain::time::Timestamp;
use candor_service::Services;
use candor_service::usecases::assignments;
use serde_json::{Value, json};

use crate::request::AuthenticatedRequest;
use crate::route::{EventFamily, Route, RouteGroup, Work};
use crate::schema::shapes::{
    Member, answer, array, count, date, datetime, field, id, nullable, plain, reference_to, times,
};
use crate::schema::words::{enum_member, open, sort, status_filter};
use crate::schema::{AT, EMPLOYEE_ID, MANAGER_ID, Schema, body};

const ROUTES: &[Route] = &[
    Route::get("/assignments", Access::scope(Permission::AssignmentsRead), list)
        .named("listAssignments", "List assignments")
        .description("Lists assignments of every status, newest first.")
        .lists(&ASSIGNMENT, |input| drop(assignment::Filter::read(input))),
    Route::post("/assignments", Access::scope(Permission::AssignmentsWrite), create)
        .named("createAssignment", "Request feedback about a person from reviewers")
        .description(
            "Requests observations about one person from reviewers and notifies the reviewers. For a key that \
             acts for a person, that person is the requester.",
        )
        .takes(&ASSIGNMENT_CREATE)
        .creates(&ASSIGNMENT),
    Route::get("/assignments/{id}", Access::scope(Permission::AssignmentsRead), get)
        .named("getAssignment", "Get an assignment with its submissions")
        .description("Returns one assignment with the submission of each reviewer.")
        .answers(&ASSIGNMENT),
    Route::post("/assignments/{id}/submissions", Access::scope(Permission::AssignmentsWrite), submit)
        .named("submitFeedback", "Submit the feedback of one reviewer")
        .description(
            "Creates the observations of one reviewer about the person and records the submission. The last \
             required submission completes the assignment and notifies the requester. 409 if the assignment is \
             not open or the reviewer has already submitted. A key that acts for a person can submit only as \
             that person.",
        )
        .takes(&SUBMISSION_CREATE)
        .answers(&ASSIGNMENT),
    Route::post("/assignments/{id}/cancel", Access::scope(Permission::AssignmentsWrite), cancel)
        .named("cancelAssignment", "Cancel an open assignment")
        .description("Cancels an open assignment. Submitted observations stay. 409 if it is not open.")
        .answers(&ASSIGNMENT),
];

/// The routes of assignments.
pub(crate) const GROUP: RouteGroup = RouteGroup::new("Assignments", "Requests for feedback about a person.", ROUTES)
    .id(AssignmentKind::PREFIX)
    .words(words)
    .events(EventFamily {
        prefix: "assignment.",
        name: "AssignmentEvent",
        types: "AssignmentEventType",
        data: &ASSIGNMENT,
        about: "An assignment was created or completed.",
    });

fn list<'a>(services: &'a Services, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { assignments::list(services, &it.context, it.params).await })
}

fn get<'a>(services: &'a Services, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { assignments::get(services, &it.context, it.id()?).await })
}

fn create<'a>(services: &'a Services, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { assignments::create(services, &it.context, it.body).await })
}

fn cancel<'a>(services: &'a Services, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { assignments::cancel(services, &it.context, it.id()?).await })
}

fn submit<'a>(services: &'a Services, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { assignments::submit(services, &it.context, it.id()?, it.body).await })
}

const ASSIGNMENT: Schema = Schema::resource("Assignment", assignment).example(example).refers_to(&[&SUBMISSION]);
const SUBMISSION: Schema = Schema::new("Submission", submission);
const ASSIGNMENT_CREATE: Schema = Schema::new("AssignmentCreate", || body(assignment::Draft::read)).example(|| {
    json!({
        "employee_id": EMPLOYEE_ID, "requester_id": MANAGER_ID, "title": "Before the review",
        "instructions": "How did the launch go?", "due_date": "2026-03-31", "reviewer_ids": [REVIEWER_ID],
    })
});
const SUBMISSION_CREATE: Schema = Schema::new("SubmissionCreate", || {
    body(|fields| SubmissionDraft::read(fields, Id::from_bytes([0; 16]), None, NOW.date()))
})
.example(|| {
    json!({
        "reviewer_id": REVIEWER_ID, "observations": [{"type": "strength", "observation": "Kept calm on the day."}],
    })
});

/// Fixed time: the described rules do not depend on the clock.
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

fn assignment() -> Value {
    let instructions = format!(
        "Instructions for the reviewers in plain text, at most {INSTRUCTIONS_CHARS} characters. Null if there \
         are none."
    );
    let reviewers = format!("Ids of the reviewers, 1 to {MAX_REVIEWERS}, without duplicates.");
    let person = || id::<EmployeeKind>();
    let mut members = vec![
        field("id", id::<AssignmentKind>(), "The assignment's id."),
        field("employee_id", person(), "Person the feedback is about."),
        field("requester_id", nullable(person()), "Person who requests the feedback. Null if unknown."),
        field("title", plain(), &format!("Title, 1 to {TITLE_CHARS} characters.")),
        field("instructions", nullable(plain()), &instructions),
        field("due_date", nullable(date()), "Due date. Null if there is none."),
        field("reviewer_ids", array(&person()), &reviewers),
        field("required_submissions", count(1), "Number of submissions that complete the assignment."),
        field("status", open(assignment::Status::NAME), "Current status."),
        field(
            "submissions",
            array(&reference_to("Submission")),
            "Submission of each reviewer, in the order of `reviewer_ids`.",
        ),
        field("submitted_count", count(0), "Number of reviewers who have submitted."),
    ];
    members.extend(times());
    answer(members, vec![])
}

fn submission() -> Value {
    let members = vec![
        field("reviewer_id", id::<EmployeeKind>(), "Id of the reviewer."),
        field("status", open(SubmissionStatus::NAME), "Status of the submission."),
        field(
            "observation_ids",
            array(&id::<ObservationKind>()),
            "Ids of the submitted observations that the key sees.",
        ),
        field("submitted_at", nullable(datetime()), "Time of the submission. Null if the reviewer has not submitted."),
    ];
    answer(members, vec![])
}

fn example() -> Value {
    json!({
        "id": "asg_01KJPWD6M24DF9HWRAYHFSFV52", "employee_id": EMPLOYEE_ID, "requester_id": MANAGER_ID,
        "title": "Before the review", "instructions": "How did the launch go?", "due_date": "2026-03-31",
        "reviewer_ids": [REVIEWER_ID], "required_submissions": 1, "status": "open",
        "submissions": [
            {"reviewer_id": REVIEWER_ID, "status": "pending", "observation_ids": [], "submitted_at": null},
        ],
        "submitted_count": 0, "created_at": AT, "updated_at": AT,
    })
}
