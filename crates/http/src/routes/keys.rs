//! API keys and `/me` (decision B7).

use candor_domain::access::api_key::{self, ApiKey, ApiKeyKind};
use candor_domain::access::{ALL_SCOPES, Access, AccessLevel, Environment, Permission, QuotaClass};
use candor_domain::event::EventData;
use candor_domain::fields::{Fields, StringEnum};
use candor_domain::id::{KeyKind, Kind};
use candor_domain::time::Timestamp;
use candor_service::usecases::keys::{self, ApiKeyWithSecret, Me};
use serde_json::{Value, json};

use crate::contract::route::{EventFamily, Route, RouteGroup, handlers};
use crate::contract::schema::shapes::Member;
use crate::contract::schema::words::{SCOPES, enum_member, enumeration, sort};
use crate::contract::schema::{AT, KEY_ID, ORGANIZATION_ID, Schema, body, body_of, resource, response_of, with};

const ROUTES: &[Route] = &[
    Route::get("/me", Access::ANY_KEY, get_me)
        .with_name("getMe", "Get the API key of this request")
        .description("Returns the calling API key with its permissions and quotas.")
        .answers(&ME),
    Route::get("/api-keys", Access::settings_admin(Permission::SettingsRead).live_only(), list)
        .with_name("listApiKeys", "List API keys")
        .description("Lists the API keys of the organization, without secrets.")
        .lists(&API_KEY, |input| drop(api_key::Filter::read(input))),
    Route::post("/api-keys", Access::settings_admin(Permission::SettingsWrite).live_only(), create)
        .with_name("createApiKey", "Create an API key")
        .description(
            "Creates an API key. Its permissions must not exceed those of the calling key. Only this response \
             contains the new key, as `key`.",
        )
        .takes(&API_KEY_CREATE)
        .creates(&API_KEY_WITH_SECRET),
    Route::get("/api-keys/{id}", Access::settings_admin(Permission::SettingsRead).live_only(), get)
        .with_name("getApiKey", "Get an API key")
        .description("Returns one API key, without its secret.")
        .answers(&API_KEY),
    Route::patch("/api-keys/{id}", Access::settings_admin(Permission::SettingsWrite).live_only(), update)
        .with_name("updateApiKey", "Change or enable an API key")
        .description(
            "Changes the name, the scopes, the networks or the expiry time, or enables a key that is off because its person was \
             deactivated and came back. All instances apply the change within a second.",
        )
        .takes(&API_KEY_UPDATE)
        .answers(&API_KEY),
    Route::post("/api-keys/{id}/rotate", Access::settings_admin(Permission::SettingsWrite).live_only(), rotate)
        .with_name("rotateApiKey", "Rotate an API key")
        .description(
            "Replaces the secret of an API key. Only this response contains the new key, as `key`. The previous \
             one stays valid for `overlap_seconds`.",
        )
        .may_take(&API_KEY_ROTATE)
        .answers(&API_KEY_WITH_SECRET),
    Route::post("/api-keys/{id}/revoke", Access::settings_admin(Permission::SettingsWrite).live_only(), revoke)
        .with_name("revokeApiKey", "Revoke an API key")
        .description("Revokes an API key permanently. All instances reject it within a second.")
        .answers(&API_KEY),
];

/// The routes of keys.
pub(crate) const GROUP: RouteGroup = RouteGroup::new("Access", "API keys of the organization.", ROUTES)
    .id(KeyKind::PREFIX)
    .words(words)
    .events(&[EventFamily {
        carried: EventData::ApiKey,
        name: "ApiKeyEvent",
        data: &API_KEY,
        about: "An API key, or the secret that a rotation has replaced, expires soon.",
    }]);

handlers! {
    list => keys::list(params);
    get => keys::get(id);
    create => keys::create(body);
    update => keys::update(id, body);
    rotate => keys::rotate(id, body);
    revoke => keys::revoke(id);
    get_me => keys::me();
}

const ME: Schema = Schema::new("Me", response_of::<Me>).example(example_of_me);
const API_KEY: Schema = Schema::resource("ApiKey", || resource::<ApiKey, _>(read_new, vec![])).example(example);
pub(super) const API_KEY_WITH_SECRET: Schema =
    Schema::resource("ApiKeyWithSecret", || resource::<ApiKeyWithSecret, _>(read_new, vec![]))
        .example(|| with(example(), "key", "cdr_live_…"))
        .outcome("The API key resource, with the key itself as `key`.");
const API_KEY_CREATE: Schema = Schema::new("ApiKeyCreate", || body_of::<ApiKey, _>(read_new))
    .example(|| json!({"name": "HR sync", "scopes": ["employees:read", "employees:write"]}));
const API_KEY_UPDATE: Schema = Schema::new("ApiKeyUpdate", || body_of::<ApiKey, _>(api_key::Patch::read))
    .example(|| json!({"name": "HR sync, old"}));
const API_KEY_ROTATE: Schema =
    Schema::new("ApiKeyRotate", || body(api_key::read_rotation)).example(|| json!({"overlap_seconds": 3600}));

/// Time for parsers that are run only to describe their rules, which do not depend on the clock.
const NOW: Timestamp = Timestamp::from_millis(0);

fn read_new(fields: &mut Fields) -> Option<api_key::Draft> {
    api_key::Draft::read(fields, NOW)
}

fn words() -> Vec<Member> {
    let scopes: Vec<_> = Permission::words().into_iter().chain([ALL_SCOPES]).collect();
    vec![
        enum_member::<ApiKeyKind>("Kind of an API key. `session` is the session of a person who signed in."),
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

pub(super) fn example() -> Value {
    json!({
        "id": KEY_ID, "name": "HR sync", "kind": "key", "session_id": null, "identity_provider_id": null,
        "environment": "live", "access_level": "standard",
        "scopes": ["employees:read", "employees:write"], "employee_id": null, "last4": "pDKE",
        "reads_per_minute": null, "writes_per_minute": null, "connector_id": null, "scim_per_minute": null,
        "allowed_networks": [],
        "created_at": AT, "updated_at": AT, "expires_at": null,
        "last_used_at": null, "revoked_at": null, "link_expires_at": null, "enabled_at": null,
    })
}

fn example_of_me() -> Value {
    let quota = |limit: u32| json!({"limit": limit, "window_seconds": 60});
    json!({
        "key_id": KEY_ID, "name": "HR sync", "organization_id": ORGANIZATION_ID,
        "organization_name": "Example Inc.", "environment": "live",
        "access_level": "standard", "scopes": ["employees:read"], "employee_id": null, "employee_name": null,
        "manager_id": null, "manager_name": null, "connector_id": null, "identity_provider_id": null, "session_id": null,
        "expires_at": null, "allowed_networks": ["192.0.2.0/24"],
        "quotas": {
            "read": quota(600), "write": quota(100), "webhook_test": quota(10), "csv": quota(6), "export": quota(6),
            "scim": quota(3000),
        },
    })
}
