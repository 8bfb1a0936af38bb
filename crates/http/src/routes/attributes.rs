//! Attributes (decisions G).

use candor_domain::access::Permission;
use candor_service::{Shell, library::attributes};

use crate::exchange::AuthenticatedRequest;
use crate::openapi::queries;
use crate::table::Access::{Admin, Permission as Needs};
use crate::table::{Route, Work};

pub(crate) const ROUTES: &[Route] = &[
    Route::get("/attributes", Needs(Permission::ObservationsRead), list)
        .named("listAttributes", "List attributes")
        .with(&queries::ATTRIBUTES)
        .answers("AttributeList"),
    Route::post("/attributes", Admin(Permission::ObservationsWrite), create)
        .named("createAttribute", "Create an attribute")
        .takes("AttributeCreate")
        .creates("Attribute"),
    Route::get("/attributes/{id}", Needs(Permission::ObservationsRead), get)
        .named("getAttribute", "Get an attribute, also an archived one")
        .answers("Attribute"),
    Route::patch("/attributes/{id}", Admin(Permission::ObservationsWrite), update)
        .named("updateAttribute", "Update an attribute")
        .takes("AttributeUpdate")
        .answers("Attribute"),
    Route::post("/attributes/{id}/archive", Admin(Permission::ObservationsWrite), archive)
        .named("archiveAttribute", "Archive an attribute")
        .answers("Attribute"),
    Route::post("/attributes/{id}/restore", Admin(Permission::ObservationsWrite), restore)
        .named("restoreAttribute", "Restore an archived attribute")
        .answers("Attribute"),
];

fn list<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { attributes::list(shell, &it.call, it.params).await })
}

fn get<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { attributes::get(shell, &it.call, it.id()?).await })
}

fn create<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { attributes::create(shell, &it.call, it.body).await })
}

fn update<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { attributes::update(shell, &it.call, it.id()?, it.body).await })
}

fn archive<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { attributes::archive(shell, &it.call, it.id()?).await })
}

fn restore<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { attributes::restore(shell, &it.call, it.id()?).await })
}
