//! Organization and test data (decisions B6, C10).

use candor_domain::access::{Access, Permission};
use candor_domain::fields::StringEnum;
use candor_domain::id::OrganizationKind;
use candor_domain::organization::{self, Review};
use candor_service::Services;
use candor_service::usecases::{organization as org, test_data};
use serde_json::{Value, json};

use crate::request::AuthenticatedRequest;
use crate::route::{Route, RouteGroup, Work};
use crate::schema::shapes::{Member, answer, count, field, flag, id, plain, times};
use crate::schema::words::{enum_member, open};
use crate::schema::{AT, ORGANIZATION_ID, Schema, body};

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
    Route::post("/test-data/reset", Access::settings_admin(Permission::SettingsWrite).test_only(), reset_test_data)
        .named("resetTestData", "Delete all test data")
        .description(
            "Deletes all test data except the settings of the organization, its keys and the audit log. \
             Restores the initial attributes. Never changes live data. A long run ends after 15 seconds with \
             `complete: false`; the next request continues.",
        )
        .answers(&TEST_DATA_RESET),
];

/// The routes of the organization.
pub(crate) const GROUP: RouteGroup =
    RouteGroup::new("Organization", "Settings of the organization, and connectors to HR systems.", ROUTES).words(words);

fn get<'a>(services: &'a Services, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { org::get(services, &it.context).await })
}

fn update<'a>(services: &'a Services, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { org::update(services, &it.context, it.body).await })
}

fn reset_test_data<'a>(services: &'a Services, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { test_data::reset(services, &it.context).await })
}

const ORGANIZATION: Schema = Schema::resource("Organization", organization).example(example);
const TEST_DATA_RESET: Schema = Schema::new("TestDataReset", test_data_reset)
    .example(|| json!({"removed": 4812, "complete": true}))
    .outcome("Number of removed rows, and `complete`.");
const ORGANIZATION_UPDATE: Schema = Schema::new("OrganizationUpdate", || body(organization::Patch::read))
    .example(|| json!({"objective_review": "required"}));

fn words() -> Vec<Member> {
    vec![enum_member::<Review>("Review before approval: optional, required or disabled.")]
}

fn organization() -> Value {
    let name = format!("The organization's name, 1 to {} characters.", organization::NAME_CHARS);
    let mut members = vec![
        field("id", id::<OrganizationKind>(), "The organization's id."),
        field("name", plain(), &name),
        field("objective_review", open(Review::NAME), "Review of objectives before approval."),
        field("summary_review", open(Review::NAME), "Review of summaries before approval."),
    ];
    members.extend(times());
    answer(members, vec![])
}

fn test_data_reset() -> Value {
    let complete = "`true` if all test data is removed. If `false`, send the request again to continue.";
    let members =
        vec![field("removed", count(0), "Number of removed rows of all kinds."), field("complete", flag(), complete)];
    answer(members, vec![])
}

fn example() -> Value {
    json!({"id": ORGANIZATION_ID, "name": "Example", "objective_review": "optional", "summary_review": "optional",
           "created_at": AT, "updated_at": AT})
}
