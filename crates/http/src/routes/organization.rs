//! Organization and test data (decisions B6, C10).

use candor_domain::access::{Access, Permission};
use candor_domain::organization::{self, Organization, Review};
use candor_service::Services;
use candor_service::usecases::organization as org;
use candor_service::usecases::test_data::{self, TestDataReset};
use serde_json::{Value, json};

use crate::request::AuthenticatedRequest;
use crate::route::{EventFamily, Route, RouteGroup, Work};
use crate::schema::shapes::Member;
use crate::schema::words::enum_member;
use crate::schema::{AT, ORGANIZATION_ID, Schema, answer_of, body_of, resource};

const ROUTES: &[Route] = &[
    Route::get("/organization", Access::scope(Permission::SettingsRead), get)
        .named("getOrganization", "Get the organization and its settings")
        .description("Returns the organization of the API key.")
        .answers(&ORGANIZATION),
    Route::patch("/organization", Access::settings_admin(Permission::SettingsWrite), update)
        .named("updateOrganization", "Change the organization's settings")
        .description("Changes the name and the review settings.")
        .takes(&ORGANIZATION_UPDATE)
        .answers(&ORGANIZATION),
    Route::post(
        "/test-data/reset",
        Access::settings_admin(Permission::SettingsWrite).test_only(),
        reset_test_data,
    )
    .named("resetTestData", "Delete all test data")
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
            prefix: "organization.",
            name: "OrganizationEvent",
            types: "OrganizationEventType",
            data: &ORGANIZATION,
            about: "An event about the organization.",
        }]);

fn get<'a>(services: &'a Services, request: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { org::get(services, &request.context).await })
}

fn update<'a>(services: &'a Services, request: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { org::update(services, &request.context, request.body).await })
}

fn reset_test_data<'a>(services: &'a Services, request: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { test_data::reset(services, &request.context).await })
}

const ORGANIZATION: Schema =
    Schema::resource("Organization", || resource::<Organization, _>(organization::Patch::read, vec![]))
        .example(example);
const TEST_DATA_RESET: Schema = Schema::new("TestDataReset", answer_of::<TestDataReset>)
    .example(|| json!({"removed": 4812, "complete": true}))
    .outcome("Number of removed rows, and `complete`.");
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
    json!({"id": ORGANIZATION_ID, "name": "Example", "objective_review": "optional", "summary_review": "optional",
           "created_at": AT, "updated_at": AT})
}
