//! The organization, and its test data (decisions B6, C10).

use candor_domain::access::Permission;
use candor_service::{Shell, organization as org, test_data};

use crate::exchange::AuthenticatedRequest;
use crate::table::Access::{Admin, Permission as Needs};
use crate::table::{Route, Work};

pub(crate) const ROUTES: &[Route] = &[
    Route::get("/organization", Needs(Permission::SettingsRead), get)
        .named("getOrganization", "Get the organization and its settings")
        .answers("Organization"),
    Route::patch("/organization", Admin(Permission::SettingsWrite), update)
        .named("updateOrganization", "Change the organization's settings")
        .takes("OrganizationUpdate")
        .answers("Organization"),
    Route::post("/test-data/reset", Admin(Permission::SettingsWrite), reset_test_data)
        .named("resetTestData", "Remove all test data")
        .answers("TestDataReset")
        .test_only(),
];

fn get<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { org::get(shell, &it.call).await })
}

fn update<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { org::update(shell, &it.call, it.body).await })
}

fn reset_test_data<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { test_data::reset(shell, &it.call).await })
}
