//! Preview of the retention, and its runs with their receipts (decision H5).

use candor_domain::access::{Access, Permission};
use candor_domain::event::EventData;
use candor_domain::id::{Kind, RetentionRunKind};
use candor_domain::retention::{
    self, PreviewRequest, RetentionPreview, RetentionRemoval, RetentionRun, RunStatus,
};
use candor_service::usecases::retention as use_cases;
use serde_json::{Value, json};

use crate::contract::route::{EventFamily, Query, Route, RouteGroup, handlers};
use crate::contract::schema::words::{enum_member, sort};
use crate::contract::schema::{AT, Schema, response_of};

const ACCESS: Access = Access::organization_admin(Permission::EmployeesErase);
const RUN_ID: &str = "ret_01KJPWD6M24DF9HWRAYHFSFV52";

const ROUTES: &[Route] = &[
    Route::get("/retention/preview", ACCESS, preview)
        .with_name("previewRetention", "Preview retention")
        .description(
            "Returns the time of the next retention run, and the number of resources that each rule would \
             remove in the first run that applies the rule. A parameter previews another period of a rule, as \
             if that period were set now. Data of people under a legal hold is not counted, nor are \
             observations and objectives that a summary includes.",
        )
        .with(Query::one(|input| _ = PreviewRequest::read(input)))
        .answers(&PREVIEW),
    Route::get("/retention/runs", ACCESS, list)
        .with_name("listRetentionRuns", "List retention runs")
        .description("Lists the daily retention runs with their receipts, newest first.")
        .lists(&RUN, |input| drop(retention::Filter::read(input))),
    Route::get("/retention/runs/{id}", ACCESS, get)
        .with_name("getRetentionRun", "Get a retention run")
        .description("Returns a run. Its receipt is final once the status is `completed`.")
        .answers(&RUN),
];

/// The routes of the retention.
pub(crate) const GROUP: RouteGroup = RouteGroup::new(
    "Retention",
    "Removal of archived resources and of people who left, after the periods that the organization sets.",
    ROUTES,
)
.id(RetentionRunKind::PREFIX)
.words(words)
.events(&[
    EventFamily {
        carried: EventData::RetentionRun,
        name: "RetentionCompletedEvent",
        data: &RUN,
        about: "A retention run that removed data was completed.",
    },
    EventFamily {
        carried: EventData::RemovedIds,
        name: "RetentionRemovedEvent",
        data: &REMOVAL,
        about: "A retention run removed archived resources.",
    },
]);

handlers! {
    preview => use_cases::preview(params);
    list => use_cases::list(params);
    get => use_cases::get(id);
}

const RUN: Schema = Schema::new("RetentionRun", response_of::<RetentionRun>)
    .outcome("The run with its receipt.")
    .example(run_example);
const REMOVAL: Schema = Schema::new("RetentionRemoval", response_of::<RetentionRemoval>)
    .example(|| json!({"id": RUN_ID, "resource": "observations", "ids": ["obs_01KJPWD6M24DF9HWRAYHFSFV52"]}));
const PREVIEW: Schema = Schema::new("RetentionPreview", response_of::<RetentionPreview>)
    .outcome("Time and effect of the next runs.")
    .example(|| {
        json!({
            "next_run_at": AT, "applies_at": {"archived_observations": AT, "archived_summaries": AT},
            "counts": {"archived_observations": 120, "archived_summaries": 0},
        })
    });

fn words() -> Vec<crate::contract::schema::shapes::Member> {
    vec![enum_member::<RunStatus>("Status of a retention run."), sort::<RetentionRun>()]
}

fn run_example() -> Value {
    json!({
        "id": RUN_ID, "status": "completed", "started_at": AT, "completed_at": AT,
        "applied": {
            "archived_observations": "P3Y", "archived_objectives": null, "archived_summaries": "P5Y",
            "archived_conversations": null, "deactivated_people": null,
        },
        "counts": {"archived_observations": 120}, "out_of_reach": ["backups", "webhook_receivers"],
        "tables_to_rewrite": [],
    })
}
