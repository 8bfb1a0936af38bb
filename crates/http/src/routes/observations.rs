//! Observations (§4.1).

use candor_domain::access::Permission;
use candor_service::{Shell, observations};

use crate::exchange::AuthenticatedRequest;
use crate::openapi::queries;
use crate::table::Access::Permission as Needs;
use crate::table::{Route, Work};

pub(crate) const ROUTES: &[Route] = &[
    Route::get("/observations", Needs(Permission::ObservationsRead), list)
        .named("listObservations", "List observations")
        .with(&queries::OBSERVATIONS)
        .answers("ObservationList"),
    Route::post("/observations", Needs(Permission::ObservationsWrite), create)
        .named("createObservation", "Record an observation")
        .takes("ObservationCreate")
        .creates("Observation"),
    Route::get("/observations/{id}", Needs(Permission::ObservationsRead), get)
        .named("getObservation", "Get an observation, also an archived one")
        .with(&queries::OBSERVATION)
        .answers("Observation"),
    Route::patch("/observations/{id}", Needs(Permission::ObservationsWrite), update)
        .named("updateObservation", "Update an observation")
        .takes("ObservationUpdate")
        .answers("Observation"),
    Route::post("/observations/{id}/archive", Needs(Permission::ObservationsWrite), archive)
        .named("archiveObservation", "Archive an observation")
        .answers("Observation"),
    Route::post("/observations/{id}/restore", Needs(Permission::ObservationsWrite), restore)
        .named("restoreObservation", "Restore an archived observation")
        .answers("Observation"),
];

fn list<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { observations::list(shell, &it.call, it.params).await })
}

fn get<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { observations::get(shell, &it.call, it.id()?, it.params).await })
}

fn create<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { observations::create(shell, &it.call, it.body).await })
}

fn update<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { observations::update(shell, &it.call, it.id()?, it.body).await })
}

fn archive<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { observations::archive(shell, &it.call, it.id()?).await })
}

fn restore<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { observations::restore(shell, &it.call, it.id()?).await })
}
