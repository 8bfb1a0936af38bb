//! Sign-in of people at their identity provider (decision B10). The callback from the provider is in
//! `pipeline::sign_in`.

use candor_domain::access::Access;
use candor_domain::fields::Fields;
use candor_service::Services;
use candor_service::context::limits::KeylessWrite;
use candor_service::usecases::sign_in::{self, LogoutUrl, SignInUrl};
use candor_sign_in::sign_in::SignInDraft;
use serde_json::json;

use crate::contract::request::AnonymousRequest;
use crate::contract::route::{Route, RouteGroup, Work, handlers};
use crate::contract::schema::{Schema, body, response_of};

const ROUTES: &[Route] = &[
    Route::open(KeylessWrite::SignIn, "/sign-in", begin)
        .with_name("beginSignIn", "Begin a sign-in")
        .description(
            "Returns the address at the identity provider of a person, to which the browser goes. It comes back with a \
             code, which `exchangePortalLink` exchanges for the API key of the session in the same browser. 404 if there \
             is no identity provider for the person. At most 20 requests a minute from one browser, and 300 from one \
             client address.",
        )
        .takes(&SIGN_IN)
        .has_no_dry_run()
        .answers(&SIGN_IN_URL),
    Route::post("/sign-in/logout", Access::ANY_KEY, log_out)
        .with_name("endSignIn", "Sign out")
        .description(
            "Ends the session whose key sends the request, and all keys that it created. Returns the address that ends \
             the session at the identity provider, if it has one. 409 for a key that is no session.",
        )
        .has_no_dry_run()
        .answers(&LOGOUT_URL),
];

/// The routes of sign-ins.
pub(crate) const GROUP: RouteGroup = RouteGroup::under_tag("Access", ROUTES);

fn begin(services: &Services, anonymous_request: AnonymousRequest) -> Work<'_> {
    Box::pin(
        async move { sign_in::begin(services, anonymous_request.cookie.as_deref(), anonymous_request.body).await },
    )
}

handlers! {
    log_out => sign_in::log_out();
}

fn read_new(fields: &mut Fields) -> Option<SignInDraft> {
    SignInDraft::read(fields)
}

const SIGN_IN: Schema =
    Schema::new("SignIn", || body(read_new)).example(|| json!({"email": "ada@example.com", "start": "/"}));
const SIGN_IN_URL: Schema = Schema::new("SignInUrl", response_of::<SignInUrl>)
    .example(|| json!({"url": "https://acme.okta.example/authorize?response_type=code&client_id=0oa1"}))
    .outcome("The address at the identity provider.");
const LOGOUT_URL: Schema = Schema::new("LogoutUrl", response_of::<LogoutUrl>)
    .example(|| json!({"url": "https://acme.okta.example/logout?client_id=0oa1"}))
    .outcome("The address at the identity provider, or null.");
