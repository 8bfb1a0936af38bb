//! Connectors to HR systems (decisions G).

use candor_domain::access::Permission;
use candor_service::{Shell, connectors as hr};

use crate::exchange::AuthenticatedRequest;
use crate::openapi::queries;
use crate::table::Access::Admin;
use crate::table::{Route, Work};

pub(crate) const ROUTES: &[Route] = &[
    Route::get("/connectors", Admin(Permission::SettingsRead), list)
        .named("listConnectors", "List connectors to HR systems")
        .with(&queries::CONNECTORS)
        .answers("ConnectorList")
        .live_only(),
    Route::post("/connectors", Admin(Permission::SettingsWrite), create)
        .named("createConnector", "Connect an HR system")
        .takes("ConnectorCreate")
        .creates("Connector")
        .live_only(),
    Route::get("/connectors/{id}", Admin(Permission::SettingsRead), get)
        .named("getConnector", "Get a connector")
        .answers("Connector")
        .live_only(),
    Route::post("/connectors/{id}/release", Admin(Permission::SettingsWrite), release)
        .named("releaseEmployees", "Give the records of some, or all, managed employees back")
        .may_take("ConnectorRelease")
        .answers("ConnectorReleased")
        .live_only(),
];

fn list<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { hr::list(shell, &it.call, it.params).await })
}

fn get<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { hr::get(shell, &it.call, it.id()?).await })
}

fn create<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { hr::create(shell, &it.call, it.body).await })
}

fn release<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { hr::release(shell, &it.call, it.id()?, it.body).await })
}
