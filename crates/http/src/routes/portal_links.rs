//! Portal links into the console (decision B8).

use candor_domain::access::api_key::{self, LinkDraft};
use candor_domain::access::{Access, Permission};
use candor_domain::id::{KeyKind, Kind};
use candor_service::Services;
use candor_service::context::limits::KeylessWrite;
use candor_service::usecases::portal_links::{self, PortalLink};
use serde_json::{Value, json};

use super::keys::{API_KEY_WITH_SECRET, example as example_of_key};
use crate::contract::request::AnonymousRequest;
use crate::contract::route::{Route, RouteGroup, Work, handlers};
use crate::contract::schema::{AT, Schema, body, body_of, resource, with};

const ROUTES: &[Route] = &[
    Route::post("/portal-links", Access::settings_admin(Permission::SettingsWrite), create)
        .with_name("createPortalLink", "Create a console sign-in link")
        .description(
            "Creates a link that opens the console signed in, once and within 30 minutes. The link has its own \
             API key, for the same person, environment and networks as the calling key and with no more access. The key \
             is listed and revoked under `/api-keys`. 409 if the console is off.",
        )
        .takes(&PORTAL_LINK_CREATE)
        .creates_in("/api-keys", &PORTAL_LINK),
    Route::open(KeylessWrite::PortalExchange, "/portal-links/exchange", exchange)
        .with_name("exchangePortalLink", "Exchange the code of a portal link")
        .description(
            "Exchanges the code of a portal link, or of a sign-in in this browser, for its API key. Only this response contains the key, as `key`. 404 \
             if the code is unknown, used, expired or revoked, or the client is outside the networks of the key. At most 20 requests a minute from one client address.",
        )
        .takes(&PORTAL_LINK_EXCHANGE)
        .has_no_dry_run()
        .answers(&API_KEY_WITH_SECRET),
];

/// The routes of portal links.
pub(crate) const GROUP: RouteGroup = RouteGroup::under_tag("Access", ROUTES).id(KeyKind::PREFIX);

handlers! {
    create => portal_links::create(body);
}

fn exchange(services: &Services, anonymous_request: AnonymousRequest) -> Work<'_> {
    let AnonymousRequest { request, origin, client, cookie, body } = anonymous_request;
    Box::pin(
        async move { portal_links::exchange(services, request, (origin, client), cookie.as_deref(), body).await },
    )
}

const PORTAL_LINK: Schema = Schema::resource("PortalLink", || resource::<PortalLink, _>(LinkDraft::read, vec![]))
    .example(example)
    .outcome("The API key of the link, with the link itself as `url`.");
const PORTAL_LINK_CREATE: Schema =
    Schema::new("PortalLinkCreate", || body_of::<api_key::ApiKey, _>(LinkDraft::read)).example(|| {
        json!({"scopes": ["webhooks:read", "events:read"], "read_only": true, "expires_in": 3600,
               "start": "/webhooks"})
    });
const PORTAL_LINK_EXCHANGE: Schema =
    Schema::new("PortalLinkExchange", || body(api_key::read_exchange)).example(|| json!({"code": CODE}));

/// Example code of a portal link.
const CODE: &str = "cdr_link_q3Vb0l5kTt7fJm2xYc8dRw1sNh6uEg9aPz4iKo0LyBvXnM1";

fn example() -> Value {
    let link = format!("https://candor.example/console/webhooks#code={CODE}");
    let key =
        with(with(example_of_key(), "name", "Portal link"), "scopes", json!(["webhooks:read", "events:read"]));
    let key =
        with(with(key, "expires_at", "2026-03-02T10:00:00.000Z"), "link_expires_at", "2026-03-02T09:30:00.000Z");
    with(with(key, "created_at", AT), "url", link)
}
