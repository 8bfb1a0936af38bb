//! API keys and `/me` (decision B7).

use candor_domain::access::api_key::{self, ApiKey};
use candor_domain::access::{ALL_SCOPES, Access, AccessLevel, Environment, Permission, QuotaClass};
use candor_domain::fields::StringEnum;
use candor_domain::id::{EmployeeKind, KeyKind, Kind, OrganizationKind};
use candor_domain::time::Timestamp;
use candor_service::Services;
use candor_service::usecases::keys;
use serde_json::{Value, json};

use crate::request::AuthenticatedRequest;
use crate::route::{Route, RouteGroup, Work};
use crate::schema::shapes::{
    Member, answer, array, count, datetime, described, field, id, nullable, plain, reference_to, times,
};
use crate::schema::words::{SCOPES, enum_member, enumeration, open, sort};
use crate::schema::{AT, KEY_ID, ORGANIZATION_ID, Schema, body, with};

const ROUTES: &[Route] = &[
    Route::get("/me", Access::ANY_KEY, get_me)
        .named("getMe", "Get the API key of this request")
        .description("Returns the API key of the request with its permissions and quotas.")
        .answers(&ME),
    Route::get("/api-keys", Access::settings_admin(Permission::SettingsRead).live_only(), list)
        .named("listApiKeys", "List API keys")
        .description("Lists the API keys of the organization, without secrets.")
        .lists(&API_KEY, |input| drop(input.changed::<ApiKey>(""))),
    Route::post("/api-keys", Access::settings_admin(Permission::SettingsWrite).live_only(), create)
        .named("createApiKey", "Create an API key")
        .description(
            "Creates an API key. Its permissions must not exceed those of the key of the request. Only this \
             response contains the new key, as `key`.",
        )
        .takes(&API_KEY_CREATE)
        .creates(&API_KEY_WITH_SECRET),
    Route::get("/api-keys/{id}", Access::settings_admin(Permission::SettingsRead).live_only(), get)
        .named("getApiKey", "Get an API key")
        .description("Returns one API key, without its secret.")
        .answers(&API_KEY),
    Route::patch("/api-keys/{id}", Access::settings_admin(Permission::SettingsWrite).live_only(), update)
        .named("updateApiKey", "Change the name, scopes or expiry of an API key")
        .description("Changes the name, the scopes or the expiry time. All instances apply the change within a second.")
        .takes(&API_KEY_UPDATE)
        .answers(&API_KEY),
    Route::post("/api-keys/{id}/rotate", Access::settings_admin(Permission::SettingsWrite).live_only(), rotate)
        .named("rotateApiKey", "Rotate an API key")
        .description(
            "Replaces the secret of an API key. Only this response contains the new key, as `key`. The previous \
             one stays valid for `overlap_seconds`.",
        )
        .may_take(&API_KEY_ROTATE)
        .answers(&API_KEY_WITH_SECRET),
    Route::post("/api-keys/{id}/revoke", Access::settings_admin(Permission::SettingsWrite).live_only(), revoke)
        .named("revokeApiKey", "Revoke an API key")
        .description("Revokes an API key permanently. All instances reject it within a second.")
        .answers(&API_KEY),
];

/// The routes of keys.
pub(crate) const GROUP: RouteGroup =
    RouteGroup::new("Access", "API keys of the organization.", ROUTES).id(KeyKind::PREFIX).words(words);

fn list<'a>(services: &'a Services, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { keys::list(services, &it.context, it.params).await })
}

fn get<'a>(services: &'a Services, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { keys::get(services, &it.context, it.id()?).await })
}

fn create<'a>(services: &'a Services, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { keys::create(services, &it.context, it.body).await })
}

fn update<'a>(services: &'a Services, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { keys::update(services, &it.context, it.id()?, it.body).await })
}

fn rotate<'a>(services: &'a Services, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { keys::rotate(services, &it.context, it.id()?, it.body).await })
}

fn revoke<'a>(services: &'a Services, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { keys::revoke(services, &it.context, it.id()?).await })
}

fn get_me<'a>(_: &'a Services, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { keys::me(&it.context) })
}

const QUOTA: Schema = Schema::new("Quota", quota);
const ME: Schema = Schema::new("Me", me).refers_to(&[&QUOTA]).example(example_of_me);
const API_KEY: Schema = Schema::resource("ApiKey", || api_key(false)).example(example);
const API_KEY_WITH_SECRET: Schema = Schema::resource("ApiKeyWithSecret", || api_key(true))
    .example(|| with(example(), "key", "cdr_live_…"))
    .outcome("The API key resource, with the key itself as `key`.");
const API_KEY_CREATE: Schema = Schema::new("ApiKeyCreate", || body(|input| api_key::Draft::read(input, NOW)))
    .example(|| json!({"name": "HR sync", "scopes": ["employees:read", "employees:write"]}));
const API_KEY_UPDATE: Schema = Schema::new("ApiKeyUpdate", || body(|input| api_key::Patch::read(input, None, NOW)))
    .example(|| json!({"name": "HR sync, old"}));
const API_KEY_ROTATE: Schema =
    Schema::new("ApiKeyRotate", || body(api_key::read_rotation)).example(|| json!({"overlap_seconds": 3600}));

/// Fixed time: the described rules do not depend on the clock.
const NOW: Timestamp = Timestamp::from_millis(0);

fn words() -> Vec<Member> {
    let scopes: Vec<_> = Permission::words().into_iter().chain([ALL_SCOPES]).collect();
    vec![
        enum_member::<Environment>("Data set of an API key. `test` is separate from `live` and sends no mail."),
        enum_member::<AccessLevel>("Access level of an API key. `admin` permits administrative requests."),
        enumeration(
            SCOPES,
            &scopes,
            "Permission of an API key. `write` does not include `read`. `*` grants all permissions.",
        ),
        enum_member::<QuotaClass>("Quota class of a request. Each class has its own limit."),
        sort::<ApiKey>(),
    ]
}

/// Returns the members that a key and `/me` share.
fn powers() -> [Member; 4] {
    [
        field("environment", open(Environment::NAME), "Data set that the key accesses."),
        field("access_level", open(AccessLevel::NAME), "Access level. `admin` permits administrative requests."),
        field("scopes", array(&open(SCOPES)), "Permissions of the key."),
        field(
            "employee_id",
            nullable(id::<EmployeeKind>()),
            "Person the key acts for. The key sees only what this person may see. Null for a key of the \
             organization.",
        ),
    ]
}

fn expires_at() -> Member {
    field("expires_at", nullable(datetime()), "Expiry time of the key. Null if it does not expire.")
}

fn api_key(with_secret: bool) -> Value {
    let quota = |what: &str| format!("Number of {what} allowed in 60 seconds. Null for the default quota.");
    let name = format!("Display name, 1 to {} characters.", api_key::NAME_CHARS);
    let mut members =
        vec![field("id", id::<KeyKind>(), "Id of the key. It is not the secret."), field("name", plain(), &name)];
    members.extend(powers());
    members.extend([
        field("last4", plain(), "Last four characters of the secret, for display."),
        field("reads_per_minute", nullable(count(0)), &quota("reads")),
        field("writes_per_minute", nullable(count(0)), &quota("writes")),
    ]);
    members.extend(times());
    members.extend([
        expires_at(),
        field(
            "last_used_at",
            nullable(datetime()),
            "Time of the last use, to the minute. Null if the key was never used.",
        ),
        field("revoked_at", nullable(datetime()), "Time of revocation. Null if the key is not revoked."),
    ]);
    if with_secret {
        members.push(field(
            "key",
            plain(),
            "API key for the header `Authorization: Bearer`. It cannot be retrieved later.",
        ));
    }
    answer(members, vec![])
}

fn quota() -> Value {
    let members = vec![
        field("limit", count(0), "Requests that are allowed within the window."),
        field("window_seconds", count(1), "Length of the sliding window in seconds."),
    ];
    described(answer(members, vec![]), "Limit of requests within a sliding window.")
}

fn me() -> Value {
    let about = |class: &str| format!("Quota of requests of the class `{class}`.");
    let quotas =
        QuotaClass::words().into_iter().map(|class| field(class, reference_to(QUOTA.name), &about(class))).collect();
    let mut members = vec![
        field("key_id", id::<KeyKind>(), "Id of the API key of this request."),
        field("name", plain(), "Display name of the key."),
        field("organization_id", id::<OrganizationKind>(), "Organization of the key."),
    ];
    members.extend(powers());
    members.extend([expires_at(), field("quotas", answer(quotas, vec![]), "Request quotas of the key.")]);
    answer(members, vec![])
}

fn example() -> Value {
    json!({
        "id": KEY_ID, "name": "HR sync", "environment": "live", "access_level": "standard",
        "scopes": ["employees:read", "employees:write"], "employee_id": null, "last4": "pDKE",
        "reads_per_minute": null, "writes_per_minute": null, "created_at": AT, "updated_at": AT, "expires_at": null,
        "last_used_at": null, "revoked_at": null,
    })
}

fn example_of_me() -> Value {
    let quota = |limit: u32| json!({"limit": limit, "window_seconds": 60});
    json!({
        "key_id": KEY_ID, "name": "HR sync", "organization_id": ORGANIZATION_ID, "environment": "live",
        "access_level": "standard", "scopes": ["employees:read"], "employee_id": null, "expires_at": null,
        "quotas": {"read": quota(600), "write": quota(100), "webhook_test": quota(10), "csv": quota(6)},
    })
}
