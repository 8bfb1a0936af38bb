//! Identity providers of the organization (decision B9).

use candor_domain::access::{Access, Permission};
use candor_domain::event::EventData;
use candor_domain::id::{EmployeeKind, IdentityProviderId, IdentityProviderKind, Kind};
use candor_service::usecases::identity_check::{self, IdentityCheck};
use candor_service::usecases::{identity_links as links, identity_providers as providers};
use candor_sign_in::{IdentityLink, IdentityLinkDraft, IdentityProvider, LinkRule, Status, read_check};
use serde_json::{Value, json};

use crate::contract::route::{EventFamily, Route, RouteGroup, handlers};
use crate::contract::schema::shapes::Member;
use crate::contract::schema::words::{enum_member, sort};
use crate::contract::schema::{AT, EMPLOYEE_ID, Schema, body, body_of, resource, response_of};

const READER: Access = Access::organization_admin(Permission::SettingsRead).live_only();
const ADMIN: Access = Access::organization_admin(Permission::SettingsWrite).live_only();

const ROUTES: &[Route] = &[
    Route::get("/identity-providers", READER, list)
        .with_name("listIdentityProviders", "List identity providers")
        .description("Lists the OpenID Connect providers of the organization, without client secrets.")
        .lists(&PROVIDER, |input| drop(input.list_by_update_time::<IdentityProvider>(""))),
    Route::post("/identity-providers", ADMIN, create)
        .with_name("createIdentityProvider", "Connect an identity provider")
        .description(
            "Connects an OpenID Connect provider. It is `pending` until its client id or an audience is proven. At most \
             5 per organization. 403 for more access than the key of the request has, which has neither an end nor \
             networks.",
        )
        .takes(&PROVIDER_CREATE)
        .creates(&PROVIDER),
    Route::get("/identity-providers/{id}", READER, get)
        .with_name("getIdentityProvider", "Get an identity provider")
        .description("Returns one identity provider, without its client secret.")
        .answers(&PROVIDER),
    Route::patch("/identity-providers/{id}", ADMIN, update)
        .with_name("updateIdentityProvider", "Change or disable an identity provider")
        .description(
            "Changes the given members. 403 if the change gives more access than the key of the request has; every key \
             may rename, narrow and disable.",
        )
        .takes(&PROVIDER_UPDATE)
        .answers(&PROVIDER),
    Route::delete("/identity-providers/{id}", ADMIN, remove)
        .with_name("deleteIdentityProvider", "Delete an identity provider")
        .description("Deletes an identity provider permanently, with its links."),
    Route::post("/identity-providers/{id}/check", ADMIN, check)
        .with_name("checkIdentityProvider", "Check an identity provider")
        .description(
            "Fetches the discovery document and the keys of the provider and the TXT records of its domains, and records \
             what these and the token prove. Problems are part of the answer. 403 for a proof by a key with less access \
             than the provider gives. 409 for a value that another provider has proven.",
        )
        .may_take(&CHECK)
        .has_no_dry_run()
        .answers(&CHECKED),
    Route::get("/identity-providers/{id}/links", READER, list_links)
        .with_name("listIdentityLinks", "List the accounts of an identity provider")
        .description("Lists the accounts of the provider with the people that they sign in as, newest first.")
        .lists(&LINK, |input| drop(IdentityLink::read_list(IdentityProviderId::from_bytes([0; 16]), input))),
    Route::post("/identity-providers/{id}/links", ADMIN, put_link)
        .with_name("linkIdentity", "Link an account to a person")
        .description(
            "Links an account to a person, or confirms the link of a person who was reactivated or rehired. 409 if the \
             account belongs to another person, or the person has another account of the provider. 403 if the provider \
             gives more access than the key of the request has.",
        )
        .takes(&LINK_CREATE)
        .answers(&LINK),
    Route::delete("/identity-providers/{id}/links/{employee_id}", ADMIN, remove_link)
        .with_name("unlinkIdentity", "Remove the link of a person")
        .description("Removes the link of a person. Tokens of the account from before stay refused."),
];

/// The routes of identity providers.
pub(crate) const GROUP: RouteGroup = RouteGroup::under_tag("Organization", ROUTES)
    .id(IdentityProviderKind::PREFIX)
    .second_id("employee_id", EmployeeKind::PREFIX)
    .words(words)
    .events(&[EventFamily {
        carried: EventData::IdentityProvider,
        name: "IdentityProviderEvent",
        data: &PROVIDER,
        about: "An event about an identity provider.",
    }]);

handlers! {
    list => providers::list(params);
    get => providers::get(id);
    create => providers::create(body);
    update => providers::update(id, body);
    remove => providers::remove(id);
    check => identity_check::check(id, body);
    list_links => links::list(id, params);
    put_link => links::put(id, body);
    remove_link => links::remove(id, second_id);
}

const PROVIDER: Schema =
    Schema::resource("IdentityProvider", || resource::<IdentityProvider, _>(candor_sign_in::Draft::read, vec![]))
        .example(example);
const PROVIDER_CREATE: Schema = Schema::new("IdentityProviderCreate", || {
    body_of::<IdentityProvider, _>(candor_sign_in::Draft::read)
})
.example(|| {
    json!({"name": "Okta", "issuer": "https://acme.okta.example", "client_id": "0oa1", "client_secret": "8nFq",
               "link_by": "verified_email", "email_domains": ["acme.example"]})
});
const PROVIDER_UPDATE: Schema =
    Schema::new("IdentityProviderUpdate", || body_of::<IdentityProvider, _>(candor_sign_in::Patch::read))
        .example(|| json!({"session_lifetime": 3_600, "status": "disabled"}));

const CHECK: Schema = Schema::new("IdentityProviderCheck", || body(read_check))
    .example(|| json!({"token": "eyJhbGciOiJSUzI1NiJ9…"}));
const CHECKED: Schema = Schema::new("IdentityProviderChecked", response_of::<IdentityCheck>)
    .example(|| {
        json!({"ok": true, "problems": [], "issuer": "https://acme.okta.example", "keys": 2, "proven": ["acme.example"]})
    })
    .outcome("Result of the check.");
const LINK: Schema = Schema::new("IdentityLink", response_of::<IdentityLink>).example(|| {
    json!({
        "identity_provider_id": PROVIDER_ID, "employee_id": EMPLOYEE_ID, "subject": "00u1", "created_at": AT,
        "confirmed_at": null, "updated_at": AT,
    })
});
const LINK_CREATE: Schema =
    Schema::new("IdentityLinkCreate", || body_of::<IdentityLink, _>(IdentityLinkDraft::read))
        .example(|| json!({"employee_id": EMPLOYEE_ID, "subject": "00u1"}));
/// Example id of an identity provider.
const PROVIDER_ID: &str = "idp_01KJPWD6M24DF9HWRAYHFSFV55";

fn words() -> Vec<Member> {
    vec![
        enum_member::<LinkRule>("Rule by which an account is linked to a person."),
        enum_member::<Status>("Status of an identity provider."),
        sort::<IdentityProvider>(),
        sort::<IdentityLink>(),
    ]
}

fn example() -> Value {
    json!({
        "id": PROVIDER_ID, "name": "Okta", "issuer": "https://acme.okta.example",
        "client_id": "0oa1", "client_secret_set": true, "audiences": ["api://candor"], "authorized_parties": [],
        "link_by": "verified_email", "subject_claim": "sub", "email_domains": ["acme.example"],
        "domains": [{
            "domain": "acme.example", "proven": true,
            "txt_record": "candor-verification=3f0c2d1b9a8e7f6d5c4b3a2918070605",
        }],
        "proven_audiences": ["0oa1"], "scopes": ["observations:read", "employees:read"], "scopes_from_token": false,
        "admin_sessions": false, "session_lifetime": 43_200, "required_acr": null, "status": "active",
        "disabled_at": null, "last_sign_in_at": AT, "created_at": AT, "updated_at": AT,
    })
}
