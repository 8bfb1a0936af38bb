//! Summaries (decision G).

use candor_domain::access::{Access, Permission};
use candor_domain::audit::AuditEntry;
use candor_domain::event::EventData;
use candor_domain::id::{Kind, SummaryKind};
use candor_domain::summary::{self, Action, ActionKind, Summary};
use candor_service::usecases::summaries;
use serde_json::{Value, json};

use super::events::HISTORY_ENTRY;
use crate::contract::route::{EventFamily, Route, RouteGroup, handlers};
use crate::contract::schema::shapes::{Member, array, field, nullable, reference_to};
use crate::contract::schema::words::{enum_member, sort, status_filter};
use crate::contract::schema::{AT, EMPLOYEE_ID, OBJECTIVE_ID, Schema, body, body_of, resource};

const ROUTES: &[Route] = &[
    Route::get("/summaries", Access::scope(Permission::SummariesRead), list)
        .with_name("listSummaries", "List summaries")
        .description(
            "Lists summaries, newest first. Archived ones are listed only if `filter[status]` contains \
             `archived` or `all`.",
        )
        .lists(&SUMMARY, |input| drop(summary::Filter::read(input))),
    Route::post("/summaries", Access::scope(Permission::SummariesWrite), create)
        .with_name("createSummary", "Create a draft of a summary")
        .description(
            "Creates a draft of a summary. A key that acts for a person writes as that person: this is the \
             default of `author_id`, and another author returns 403. 409 if another summary has the \
             `external_id`.",
        )
        .takes(&SUMMARY_CREATE)
        .creates(&SUMMARY),
    Route::get("/summaries/{id}", Access::scope(Permission::SummariesRead), get)
        .with_name("getSummary", "Get a summary")
        .description("Returns one summary of any status.")
        .expands::<summary::Expand>()
        .answers(&SUMMARY),
    Route::patch("/summaries/{id}", Access::scope(Permission::SummariesWrite), update)
        .with_name("updateSummary", "Update a summary before its approval")
        .description(
            "Changes the title, the body, the period, the metadata, the external id and the included resources of \
             a draft or a summary in review. 409 for other statuses, and if another summary has the `external_id`. \
             The lists of included resources are replaced. New entries must exist, be about the same person, and \
             not be archived.",
        )
        .takes(&SUMMARY_UPDATE)
        .answers(&SUMMARY),
    Route::get("/summaries/{id}/history", Access::scope(Permission::SummariesRead), history)
        .with_name("listSummaryHistory", "List the history of a summary, newest first")
        .description(
            "Lists the audit entries of the summary with the former texts and the reason of a return, but without the \
             origin of the requests. 403 for a key of the person that the summary was shared with.",
        )
        .lists(&HISTORY_ENTRY, |input| drop(input.list::<AuditEntry, (), ()>("", (), vec![]))),
    Route::post("/summaries/{id}/submit", Access::scope(Permission::SummariesWrite), submit)
        .with_name("submitSummary", "Submit a summary for review")
        .description(
            "Submits a draft for review. Notifies the manager of the employee, or the org admins if there is no \
             manager. 422 if the body is blank.",
        )
        .checks_content()
        .answers(&SUMMARY),
    Route::post("/summaries/{id}/approve", Access::scope(Permission::SummariesWrite), approve)
        .with_name("approveSummary", "Approve a summary")
        .description(
            "Approves a draft or a summary in review. If reviews are required, it must be in review. An \
             approved summary is immutable and keeps its observations, even archived ones.",
        )
        .answers(&SUMMARY),
    Route::post("/summaries/{id}/return", Access::scope(Permission::SummariesWrite), send_back)
        .with_name("returnSummary", "Return a summary to its author with a reason")
        .description(
            "Returns a summary in review or an approved summary to its author with a reason, as a draft. \
             Archived observations are removed from it.",
        )
        .takes(&SUMMARY_RETURN)
        .answers(&SUMMARY),
    Route::post("/summaries/{id}/share", Access::scope(Permission::SummariesWrite), share)
        .with_name("shareSummary", "Share a summary with the employee")
        .description("Shares an approved summary with the employee and notifies the employee.")
        .answers(&SUMMARY),
    Route::post("/summaries/{id}/feedback", Access::scope(Permission::SummariesWrite), feedback)
        .with_name("giveSummaryFeedback", "Submit employee feedback on a summary")
        .description(
            "Adds the feedback of the employee to a shared summary, once, and notifies the author. A key that \
             acts for a person can give only the feedback of that person.",
        )
        .may_take(&SUMMARY_FEEDBACK)
        .answers(&SUMMARY),
    Route::post("/summaries/{id}/archive", Access::scope(Permission::SummariesWrite), archive)
        .with_name("archiveSummary", "Archive a summary")
        .description("Archives a summary of any status permanently. 409 if it is already archived.")
        .answers(&SUMMARY),
];

/// The routes of summaries.
pub(crate) const GROUP: RouteGroup =
    RouteGroup::new("Summaries", "Summaries of the feedback about a person in a period.", ROUTES)
        .id(SummaryKind::PREFIX)
        .words(words)
        .events(&[EventFamily {
            carried: EventData::Summary,
            name: "SummaryEvent",
            data: &SUMMARY,
            about: "A summary was created or changed.",
        }]);

handlers! {
    list => summaries::list(params);
    get => summaries::get(id, params);
    history => summaries::history(id, params);
    create => summaries::create(body);
    update => summaries::update(id, body);
    submit => summaries::act(id, {ActionKind::Submit}, body);
    approve => summaries::act(id, {ActionKind::Approve}, body);
    send_back => summaries::act(id, {ActionKind::Return}, body);
    share => summaries::act(id, {ActionKind::Share}, body);
    feedback => summaries::act(id, {ActionKind::Feedback}, body);
    archive => summaries::act(id, {ActionKind::Archive}, body);
}

pub(crate) const SUMMARY: Schema =
    Schema::resource("Summary", || resource::<Summary, _>(summary::Draft::read, expandable_members()))
        .example(example);
const SUMMARY_CREATE: Schema = Schema::new("SummaryCreate", || body_of::<Summary, _>(summary::Draft::read))
    .example(|| {
        json!({
            "employee_id": EMPLOYEE_ID, "title": "The first half of the year", "period_start": "2026-01-01",
            "period_end": "2026-06-30", "included_objective_ids": [OBJECTIVE_ID],
        })
    });
const SUMMARY_UPDATE: Schema = Schema::new("SummaryUpdate", || body_of::<Summary, _>(summary::Patch::read))
    .example(|| json!({"body": "Calm with customers, and ever faster."}));
const SUMMARY_RETURN: Schema =
    Schema::new("SummaryReturn", || body(|input| Action::read(input, ActionKind::Return)))
        .example(|| json!({"reason": "Say what became of the objective."}));
const SUMMARY_FEEDBACK: Schema =
    Schema::new("SummaryFeedback", || body(|input| Action::read(input, ActionKind::Feedback)))
        .example(|| json!({"comment": "Thank you.", "acknowledged": true}));

fn words() -> Vec<Member> {
    vec![
        enum_member::<summary::Status>("Status of a summary."),
        status_filter::<summary::Status>("Filter of summaries by status."),
        enum_member::<summary::Expand>("Related resources that a summary can include."),
        sort::<Summary>(),
    ]
}

fn expandable_members() -> Vec<Member> {
    vec![
        field("employee", reference_to("Employee"), "The person. Present with `expand=employee`."),
        field(
            "author",
            nullable(reference_to("Employee")),
            "Author of the summary. Present with `expand=author`.",
        ),
        field(
            "included_objectives",
            array(&reference_to("Objective")),
            "Included objectives that are visible to the key. Present with `expand=included_objectives`.",
        ),
        field(
            "included_observations",
            array(&reference_to("Observation")),
            "Included observations. Present with `expand=included_observations`.",
        ),
    ]
}

fn example() -> Value {
    json!({
        "id": "sum_01KJPWD6M24DF9HWRAYHFSFV52", "employee_id": EMPLOYEE_ID, "author_id": null, "edited_by": null,
        "title": "The first half of the year",
        "body": "Calm with customers, and ever faster.", "period_start": "2026-01-01", "period_end": "2026-06-30",
        "status": "draft", "included_objective_ids": [OBJECTIVE_ID],
        "included_observation_ids": ["obs_01KJPWD6M24DF9HWRAYHFSFV52"], "archived_observation_ids": [],
        "employee_feedback": null,
        "submitted_at": null, "approved_at": null, "shared_at": null, "archived_at": null, "created_at": AT,
        "updated_at": AT, "metadata": {"review_cycle": "2026-h1"}, "external_id": null,
    })
}
