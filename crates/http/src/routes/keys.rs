//! API keys, and what the key of a request is (decision B7).

use candor_domain::access::Permission;
use candor_service::{Shell, keys};

use crate::exchange::AuthenticatedRequest;
use crate::openapi::queries;
use crate::table::Access::{Admin, AnyKey};
use crate::table::{Route, Work};

pub(crate) const ROUTES: &[Route] = &[
    Route::get("/me", AnyKey, me).named("getMe", "Get what the key of this request is and may do").answers("Me"),
    Route::get("/api-keys", Admin(Permission::SettingsRead), list)
        .named("listApiKeys", "List API keys")
        .with(&queries::API_KEYS)
        .answers("ApiKeyList")
        .live_only(),
    Route::post("/api-keys", Admin(Permission::SettingsWrite), create)
        .named("createApiKey", "Create an API key; its secret is shown this once")
        .takes("ApiKeyCreate")
        .creates("ApiKeyWithSecret")
        .live_only(),
    Route::get("/api-keys/{id}", Admin(Permission::SettingsRead), get)
        .named("getApiKey", "Get an API key")
        .answers("ApiKey")
        .live_only(),
    Route::patch("/api-keys/{id}", Admin(Permission::SettingsWrite), update)
        .named("updateApiKey", "Change the name, scopes or end of an API key")
        .takes("ApiKeyUpdate")
        .answers("ApiKey")
        .live_only(),
    Route::post("/api-keys/{id}/rotate", Admin(Permission::SettingsWrite), rotate)
        .named("rotateApiKey", "Give an API key a new secret; it is shown this once")
        .may_take("ApiKeyRotate")
        .answers("ApiKeyWithSecret")
        .live_only(),
    Route::post("/api-keys/{id}/revoke", Admin(Permission::SettingsWrite), revoke)
        .named("revokeApiKey", "Revoke an API key")
        .answers("ApiKey")
        .live_only(),
];

fn list<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { keys::list(shell, &it.call, it.params).await })
}

fn get<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { keys::get(shell, &it.call, it.id()?).await })
}

fn create<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { keys::create(shell, &it.call, it.body).await })
}

fn update<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { keys::update(shell, &it.call, it.id()?, it.body).await })
}

fn rotate<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { keys::rotate(shell, &it.call, it.id()?, it.body).await })
}

fn revoke<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { keys::revoke(shell, &it.call, it.id()?).await })
}

fn me<'a>(_: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { keys::me(&it.call) })
}
