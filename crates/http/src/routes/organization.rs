//! Organization and test data (decisions B6, C10).

use candor_domain::access::{Access, Permission};
use candor_domain::event::EventData;
use candor_domain::organization::{self, Organization, Review};
use candor_domain::request_stats::RequestStats;
use candor_domain::request_stats::StatsWindow;
use candor_service::usecases::test_data::{self, TestDataReset};
use candor_service::usecases::{organization as org, request_stats};
use serde_json::{Value, json};

use crate::contract::route::{EventFamily, Query, Route, RouteGroup, handlers};
use crate::contract::schema::shapes::Member;
use crate::contract::schema::words::enum_member;
use crate::contract::schema::{AT, ORGANIZATION_ID, Schema, body_of, resource, response_of};

const ROUTES: &[Route] = &[
    Route::get("/organization", Access::scope(Permission::SettingsRead), get)
        .with_name("getOrganization", "Get the organization and its settings")
        .description("Returns the organization of the API key.")
        .answers(&ORGANIZATION),
    Route::patch("/organization", Access::settings_admin(Permission::SettingsWrite).full_sight(), update)
        .with_name("updateOrganization", "Change the organization's settings")
        .description(
            "Changes the name, the review settings and the retention. The retention also needs the scope \
             `employees:erase` and a key that acts for no person. See `GET /retention/preview`.",
        )
        .takes(&ORGANIZATION_UPDATE)
        .answers(&ORGANIZATION),
    Route::get("/request-stats", Access::settings_admin(Permission::SettingsRead), request_stats)
        .with_name("getRequestStats", "Get request counts by status and hour")
        .description(
            "Returns request counts for the data set of the API key, by HTTP status and hour. Requests without \
             a valid key are not counted. Each instance adds its counts once a minute.",
        )
        .with(Query::one(|input| _ = StatsWindow::read(input)))
        .answers(&REQUEST_STATS),
    Route::post(
        "/test-data/reset",
        Access::organization_admin(Permission::SettingsWrite).test_only(),
        reset_test_data,
    )
    .with_name("resetTestData", "Delete all test data")
    .description(
        "Deletes all test data except the settings of the organization, its keys and the audit log. \
             Restores the initial attributes. Never changes live data. A long run ends after 15 seconds with \
             `complete: false`; the next request continues.",
    )
    .has_no_dry_run()
    .answers(&TEST_DATA_RESET),
];

/// The routes of the organization.
pub(crate) const GROUP: RouteGroup =
    RouteGroup::new("Organization", "Settings of the organization, and connectors to HR systems.", ROUTES)
        .words(words)
        .events(&[EventFamily {
            carried: EventData::Organization,
            name: "OrganizationEvent",
            data: &ORGANIZATION,
            about: "An event about the organization.",
        }]);

handlers! {
    get => org::get();
    update => org::update(body);
    request_stats => request_stats::get(params);
    reset_test_data => test_data::reset();
}

const ORGANIZATION: Schema =
    Schema::resource("Organization", || resource::<Organization, _>(organization::Patch::read, vec![]))
        .example(example);
const TEST_DATA_RESET: Schema = Schema::new("TestDataReset", response_of::<TestDataReset>)
    .example(|| json!({"removed": 4812, "complete": true}))
    .outcome("Number of removed rows, and `complete`.");
const REQUEST_STATS: Schema = Schema::new("RequestStats", response_of::<RequestStats>)
    .example(|| {
        json!({
            "window": "1h", "since": "2026-03-02T08:00:00.000Z", "until": AT, "requests": 120,
            "by_status": [{"status": 200, "count": 117}, {"status": 404, "count": 2}, {"status": 503, "count": 1}],
            "by_hour": [
                {"hour": "2026-03-02T08:00:00.000Z", "requests": 120, "refused": 2, "failed": 1},
                {"hour": "2026-03-02T09:00:00.000Z", "requests": 0, "refused": 0, "failed": 0},
            ],
        })
    })
    .outcome("Request counts.");
const ORGANIZATION_UPDATE: Schema =
    Schema::new("OrganizationUpdate", || body_of::<Organization, _>(organization::Patch::read))
        .example(|| json!({"objective_review": "required"}));

fn words() -> Vec<Member> {
    vec![enum_member::<Review>(
        "Review before approval. `required`: only what was submitted can be approved. `disabled`: submission and \
         its rejection are refused with 409.",
    )]
}

fn example() -> Value {
    json!({
        "id": ORGANIZATION_ID, "name": "Example", "objective_review": "optional", "summary_review": "optional",
        "visible_custom_fields": ["desk"],
        "retention": {
            "archived_observations": "P3Y", "archived_objectives": null, "archived_summaries": "P5Y",
            "archived_conversations": null, "deactivated_people": null,
        },
        "created_at": AT, "updated_at": AT,
    })
}
