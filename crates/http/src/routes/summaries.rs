//! Summaries (decisions G).

use candor_domain::access::Permission;
use candor_domain::fields::Word;
use candor_domain::id::{EmployeeKind, Kind, ObjectiveKind, ObservationKind, SummaryKind};
use candor_domain::summary::{self, Action, ActionKind, BODY_CHARS, MAX_OBJECTIVES, MAX_OBSERVATIONS, Summary};
use candor_service::Shell;
use candor_service::usecases::summaries;
use serde_json::{Value, json};

use crate::exchange::AuthenticatedRequest;
use crate::schema::shapes::{
    Member, answer, archived_at, array, date, datetime, field, flag, id, named, nullable, plain, times,
};
use crate::schema::words::{of, open, sort, status_filter};
use crate::schema::{AT, EMPLOYEE_ID, OBJECTIVE_ID, Schema, body};
use crate::table::Access::Permission as Needs;
use crate::table::{EventFamily, Route, RouteGroup, Work};

const ROUTES: &[Route] = &[
    Route::get("/summaries", Needs(Permission::SummariesRead), list)
        .named("listSummaries", "List summaries")
        .about("Lists summaries by creation, without archived ones unless `filter[status]` names them.")
        .lists(&SUMMARY, |it| drop(summary::Filter::read(it))),
    Route::post("/summaries", Needs(Permission::SummariesWrite), create)
        .named("createSummary", "Write a draft of a summary")
        .about(
            "Writes a draft. A key that acts for a person writes as that person (`author_id`), or about people who \
             report to that person.",
        )
        .takes(&SUMMARY_CREATE)
        .creates(&SUMMARY),
    Route::get("/summaries/{id}", Needs(Permission::SummariesRead), get)
        .named("getSummary", "Get a summary, also an archived one")
        .about("Answers one summary, whatever its status.")
        .expands::<summary::Expand>()
        .answers(&SUMMARY),
    Route::patch("/summaries/{id}", Needs(Permission::SummariesWrite), update)
        .named("updateSummary", "Update a summary that is not approved yet")
        .about(
            "Changes the title, the body, the period and what it rests on while it is a draft or in review, else \
             409. What it rests on is replaced as a whole; what is new to it has to be there, about the same person, \
             and not archived.",
        )
        .takes(&SUMMARY_UPDATE)
        .answers(&SUMMARY),
    Route::post("/summaries/{id}/submit", Needs(Permission::SummariesWrite), submit)
        .named("submitSummary", "Submit a summary for review")
        .about(
            "Puts a draft up for review and tells the employee's manager, or the org admins where there is none. 422 \
             while its body is blank.",
        )
        .checks_content()
        .answers(&SUMMARY),
    Route::post("/summaries/{id}/approve", Needs(Permission::SummariesWrite), approve)
        .named("approveSummary", "Approve a summary")
        .about(
            "Approves a draft or what is in review; where reviews are required, only the latter. From now on it is \
             fixed and keeps its observations, also those that are archived.",
        )
        .answers(&SUMMARY),
    Route::post("/summaries/{id}/return", Needs(Permission::SummariesWrite), send_back)
        .named("returnSummary", "Send a summary back to be written again, with the reason")
        .about(
            "Makes a draft again of what is in review or approved, and tells its author why. Observations that are \
             archived by then disappear from it.",
        )
        .takes(&SUMMARY_RETURN)
        .answers(&SUMMARY),
    Route::post("/summaries/{id}/share", Needs(Permission::SummariesWrite), share)
        .named("shareSummary", "Share a summary with the employee")
        .about("Shows an approved summary to the employee, who is told.")
        .answers(&SUMMARY),
    Route::post("/summaries/{id}/feedback", Needs(Permission::SummariesWrite), feedback)
        .named("giveSummaryFeedback", "Give the employee's feedback on a summary")
        .about(
            "Records what the employee answers to a shared summary, once, and tells its author. A key that acts for \
             a person gives that person's feedback only.",
        )
        .may_take(&SUMMARY_FEEDBACK)
        .answers(&SUMMARY),
    Route::post("/summaries/{id}/archive", Needs(Permission::SummariesWrite), archive)
        .named("archiveSummary", "Archive a summary")
        .about("Puts a summary of any status away for good; 409 if it is archived already.")
        .answers(&SUMMARY),
];

/// The routes of summaries.
pub(crate) const GROUP: RouteGroup = RouteGroup::new("Summaries", "What is said about a person over a time.", ROUTES)
    .id(SummaryKind::PREFIX)
    .words(words)
    .events(EventFamily {
        prefix: "summary.",
        name: "SummaryEvent",
        types: "SummaryEventType",
        data: &SUMMARY,
        about: "Something happened to a summary.",
    });

fn list<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { summaries::list(shell, &it.call, it.params).await })
}

fn get<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { summaries::get(shell, &it.call, it.id()?, it.params).await })
}

fn create<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { summaries::create(shell, &it.call, it.body).await })
}

fn update<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { summaries::update(shell, &it.call, it.id()?, it.body).await })
}

fn submit<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    act(shell, it, ActionKind::Submit)
}

fn approve<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    act(shell, it, ActionKind::Approve)
}

fn send_back<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    act(shell, it, ActionKind::Return)
}

fn share<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    act(shell, it, ActionKind::Share)
}

fn feedback<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    act(shell, it, ActionKind::Feedback)
}

fn archive<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    act(shell, it, ActionKind::Archive)
}

fn act<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>, what: ActionKind) -> Work<'a> {
    Box::pin(async move { summaries::act(shell, &it.call, it.id()?, what, it.body).await })
}

const SUMMARY: Schema = Schema::resource("Summary", summary).example(example).refers_to(&[&EMPLOYEE_FEEDBACK]);
const EMPLOYEE_FEEDBACK: Schema = Schema::new("EmployeeFeedback", employee_feedback);
const SUMMARY_CREATE: Schema = Schema::new("SummaryCreate", || body(summary::Draft::read)).example(|| {
    json!({
        "employee_id": EMPLOYEE_ID, "title": "The first half of the year", "period_start": "2026-01-01",
        "period_end": "2026-06-30", "included_objective_ids": [OBJECTIVE_ID],
    })
});
const SUMMARY_UPDATE: Schema = Schema::new("SummaryUpdate", || body(summary::Patch::read))
    .example(|| json!({"body": "Calm with customers, and ever faster."}));
const SUMMARY_RETURN: Schema = Schema::new("SummaryReturn", || body(|it| Action::read(it, ActionKind::Return)))
    .example(|| json!({"reason": "Say what became of the objective."}));
const SUMMARY_FEEDBACK: Schema = Schema::new("SummaryFeedback", || body(|it| Action::read(it, ActionKind::Feedback)))
    .example(|| json!({"comment": "Thank you.", "acknowledged": true}));

fn words() -> Vec<Member> {
    vec![
        of::<summary::Status>("Where a summary stands in its lifecycle."),
        status_filter::<summary::Status>("Which summaries are wanted, by status."),
        of::<summary::Expand>("What a summary can inline."),
        sort::<Summary>(),
    ]
}

fn summary() -> Value {
    let observations = format!(
        "The ids of the observations that it rests on, at most {MAX_OBSERVATIONS}; until it is approved without those that \
         are archived."
    );
    let objectives = format!("The ids of the objectives that it rests on, at most {MAX_OBJECTIVES}.");
    let mut members = vec![
        field("id", id::<SummaryKind>(), "The summary's id."),
        field("employee_id", id::<EmployeeKind>(), "The person it is about."),
        field("author_id", nullable(id::<EmployeeKind>()), "The person who wrote it; null where that was not said."),
        field("title", plain(), &format!("What it is called, in 1 to {} characters.", summary::TITLE_CHARS)),
        field("body", plain(), &format!("What it says, in plain text of at most {BODY_CHARS} characters.")),
        field("period_start", nullable(date()), "The first day that it is about; null together with `period_end`."),
        field("period_end", nullable(date()), "The last day that it is about; not before `period_start`."),
        field("status", open(summary::Status::NAME), "Where it stands."),
        field("included_objective_ids", array(&id::<ObjectiveKind>()), &objectives),
        field("included_observation_ids", array(&id::<ObservationKind>()), &observations),
        field("employee_feedback", nullable(named("EmployeeFeedback")), "What the employee answered; null until then."),
        field(
            "submitted_at",
            nullable(datetime()),
            "When it was submitted; null where it was not, or was returned since.",
        ),
        field(
            "approved_at",
            nullable(datetime()),
            "When it was approved; null where it was not, or was returned since.",
        ),
        field("shared_at", nullable(datetime()), "When it was shared with the employee; null before that."),
    ];
    members.extend(times());
    members.push(archived_at());
    let expanded = vec![
        field("employee", named("Employee"), "The person it is about. Only with `expand=employee`."),
        field("author", nullable(named("Employee")), "The person who wrote it. Only with `expand=author`."),
        field(
            "included_objectives",
            array(&named("Objective")),
            "The objectives that it rests on, as far as the key sees them. Only with `expand=included_objectives`.",
        ),
        field(
            "included_observations",
            array(&named("Observation")),
            "The observations that it rests on. Only with `expand=included_observations`.",
        ),
    ];
    answer(members, expanded)
}

fn employee_feedback() -> Value {
    let members = vec![
        field("comment", nullable(plain()), "What the employee says to it; null for nothing."),
        field("acknowledged", flag(), "Whether the employee has taken note of it."),
        field("submitted_at", datetime(), "When the feedback was given."),
    ];
    answer(members, vec![])
}

fn example() -> Value {
    json!({
        "id": "sum_01KJPWD6M24DF9HWRAYHFSFV52", "employee_id": EMPLOYEE_ID, "author_id": null, "title": "The first half of the year",
        "body": "Calm with customers, and ever faster.", "period_start": "2026-01-01", "period_end": "2026-06-30",
        "status": "draft", "included_objective_ids": [OBJECTIVE_ID],
        "included_observation_ids": ["obs_01KJPWD6M24DF9HWRAYHFSFV52"], "employee_feedback": null,
        "submitted_at": null, "approved_at": null, "shared_at": null, "archived_at": null, "created_at": AT,
        "updated_at": AT,
    })
}
