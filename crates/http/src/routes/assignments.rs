//! Assignments and their submissions (decision G).

use candor_domain::access::Permission;
use candor_domain::assignment::{
    self, Assignment, INSTRUCTIONS_CHARS, MAX_REVIEWERS, SubmissionDraft, SubmissionStatus, TITLE_CHARS,
};
use candor_domain::fields::Word;
use candor_domain::id::{AssignmentKind, EmployeeKind, Id, Kind, ObservationKind};
use candor_domain::time::Timestamp;
use candor_service::Shell;
use candor_service::usecases::assignments;
use serde_json::{Value, json};

use crate::exchange::AuthenticatedRequest;
use crate::schema::shapes::{Member, answer, array, count, date, datetime, field, id, named, nullable, plain, times};
use crate::schema::words::{of, open, sort, status_filter};
use crate::schema::{AT, EMPLOYEE_ID, MANAGER_ID, Schema, body};
use crate::table::Access::Permission as Needs;
use crate::table::{EventFamily, Route, RouteGroup, Work};

const ROUTES: &[Route] = &[
    Route::get("/assignments", Needs(Permission::AssignmentsRead), list)
        .named("listAssignments", "List assignments")
        .about("Lists assignments of every status, newest first.")
        .lists(&ASSIGNMENT, |it| drop(assignment::Filter::read(it))),
    Route::post("/assignments", Needs(Permission::AssignmentsWrite), create)
        .named("createAssignment", "Ask reviewers for feedback about a person")
        .about(
            "Asks reviewers for observations about one person, and tells them. A key that acts for a person asks as \
             that person.",
        )
        .takes(&ASSIGNMENT_CREATE)
        .creates(&ASSIGNMENT),
    Route::get("/assignments/{id}", Needs(Permission::AssignmentsRead), get)
        .named("getAssignment", "Get an assignment with its submissions")
        .about("Answers one assignment with what came of each reviewer.")
        .answers(&ASSIGNMENT),
    Route::post("/assignments/{id}/submissions", Needs(Permission::AssignmentsWrite), submit)
        .named("submitFeedback", "Submit the feedback of one reviewer")
        .about(
            "Records the observations of one reviewer about the person, as if they were recorded one by one, and \
             notes the submission with them. The last one that is required completes the assignment and tells the \
             requester. 409 if it is not open, or the reviewer has submitted already. A key that acts for a person \
             submits as that person only.",
        )
        .takes(&SUBMISSION_CREATE)
        .answers(&ASSIGNMENT),
    Route::post("/assignments/{id}/cancel", Needs(Permission::AssignmentsWrite), cancel)
        .named("cancelAssignment", "Cancel an open assignment")
        .about("Calls an open assignment off; what was submitted stays. 409 if it is not open.")
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
        about: "Somebody asked for feedback, or all of it is there.",
    });

fn list<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { assignments::list(shell, &it.call, it.params).await })
}

fn get<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { assignments::get(shell, &it.call, it.id()?).await })
}

fn create<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { assignments::create(shell, &it.call, it.body).await })
}

fn cancel<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { assignments::cancel(shell, &it.call, it.id()?).await })
}

fn submit<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { assignments::submit(shell, &it.call, it.id()?, it.body).await })
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

/// No rule that is shown depends on the time.
const NOW: Timestamp = Timestamp::from_millis(0);

/// One of those who are asked in examples.
const REVIEWER_ID: &str = "emp_01KJPWD6M17S2TC3YGZXGMY0TH";

fn words() -> Vec<Member> {
    vec![
        of::<assignment::Status>("Where an assignment stands."),
        status_filter::<assignment::Status>("Which assignments are wanted, by status."),
        of::<SubmissionStatus>("Whether a reviewer has submitted."),
        sort::<Assignment>(),
    ]
}

fn assignment() -> Value {
    let instructions = format!(
        "What reviewers are to look at, in plain text of at most {INSTRUCTIONS_CHARS} characters; null for nothing."
    );
    let reviewers = format!("The ids of those who are asked, 1 to {MAX_REVIEWERS}, nobody twice.");
    let person = || id::<EmployeeKind>();
    let mut members = vec![
        field("id", id::<AssignmentKind>(), "The assignment's id."),
        field("employee_id", person(), "The person whom the feedback is about."),
        field("requester_id", nullable(person()), "The person who asks for it; null where that was not said."),
        field("title", plain(), &format!("What people call it, 1 to {TITLE_CHARS} characters.")),
        field("instructions", nullable(plain()), &instructions),
        field("due_date", nullable(date()), "The day by which it is wanted; null for none."),
        field("reviewer_ids", array(&person()), &reviewers),
        field("required_submissions", count(1), "So many submissions complete it."),
        field("status", open(assignment::Status::NAME), "Where it stands."),
        field(
            "submissions",
            array(&named("Submission")),
            "What came of each reviewer, in the order of `reviewer_ids`.",
        ),
        field("submitted_count", count(0), "How many reviewers have submitted."),
    ];
    members.extend(times());
    answer(members, vec![])
}

fn submission() -> Value {
    let members = vec![
        field("reviewer_id", id::<EmployeeKind>(), "The reviewer."),
        field("status", open(SubmissionStatus::NAME), "Whether the reviewer has submitted."),
        field(
            "observation_ids",
            array(&id::<ObservationKind>()),
            "The ids of the submitted observations that the key sees.",
        ),
        field("submitted_at", nullable(datetime()), "When they were; null until then."),
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
