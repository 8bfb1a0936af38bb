//! The organization, its keys and its connectors.

use candor_domain::access::Permission;

use crate::openapi::queries;
use crate::routes::{keys, settings};
use crate::table::Access::{Admin, AnyKey, Permission as Needs};
use crate::table::Route;

pub(super) const ROUTES: &[Route] = &[
    // The organization and its keys
    Route::get("/me", AnyKey, keys::me).named("getMe", "Get what the key of this request is and may do").answers("Me"),
    Route::get("/organization", Needs(Permission::SettingsRead), settings::organization)
        .named("getOrganization", "Get the organization and its settings")
        .answers("Organization"),
    Route::patch("/organization", Admin(Permission::SettingsWrite), settings::update_organization)
        .named("updateOrganization", "Change the organization's settings")
        .takes("OrganizationUpdate")
        .answers("Organization"),
    Route::post("/test-data/reset", Admin(Permission::SettingsWrite), settings::reset_test_data)
        .named("resetTestData", "Remove all test data")
        .answers("TestDataReset")
        .test_only(),
    Route::get("/api-keys", Admin(Permission::SettingsRead), keys::list)
        .named("listApiKeys", "List API keys")
        .with(&queries::API_KEYS)
        .answers("ApiKeyList")
        .live_only(),
    Route::post("/api-keys", Admin(Permission::SettingsWrite), keys::create)
        .named("createApiKey", "Create an API key; its secret is shown this once")
        .takes("ApiKeyCreate")
        .creates("ApiKeyWithSecret")
        .live_only(),
    Route::get("/api-keys/{id}", Admin(Permission::SettingsRead), keys::get)
        .named("getApiKey", "Get an API key")
        .answers("ApiKey")
        .live_only(),
    Route::patch("/api-keys/{id}", Admin(Permission::SettingsWrite), keys::update)
        .named("updateApiKey", "Change the name, scopes or end of an API key")
        .takes("ApiKeyUpdate")
        .answers("ApiKey")
        .live_only(),
    Route::post("/api-keys/{id}/rotate", Admin(Permission::SettingsWrite), keys::rotate)
        .named("rotateApiKey", "Give an API key a new secret; it is shown this once")
        .may_take("ApiKeyRotate")
        .answers("ApiKeyWithSecret")
        .live_only(),
    Route::post("/api-keys/{id}/revoke", Admin(Permission::SettingsWrite), keys::revoke)
        .named("revokeApiKey", "Revoke an API key")
        .answers("ApiKey")
        .live_only(),
    // Connectors
    Route::get("/connectors", Admin(Permission::SettingsRead), settings::connectors)
        .named("listConnectors", "List connectors to HR systems")
        .with(&queries::CONNECTORS)
        .answers("ConnectorList")
        .live_only(),
    Route::post("/connectors", Admin(Permission::SettingsWrite), settings::create_connector)
        .named("createConnector", "Connect an HR system")
        .takes("ConnectorCreate")
        .creates("Connector")
        .live_only(),
    Route::get("/connectors/{id}", Admin(Permission::SettingsRead), settings::connector)
        .named("getConnector", "Get a connector")
        .answers("Connector")
        .live_only(),
    Route::post("/connectors/{id}/release", Admin(Permission::SettingsWrite), settings::release)
        .named("releaseEmployees", "Give the records of some, or all, managed employees back")
        .may_take("ConnectorRelease")
        .answers("ConnectorReleased")
        .live_only(),
];
