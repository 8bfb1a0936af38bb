//! State of one request while it is processed.

use std::sync::Arc;

use actix_web::HttpRequest;
use candor_domain::access::Caller;
use candor_domain::audit::Origin;
use candor_domain::id::RequestId;
use candor_domain::time::Timestamp;
use candor_domain::window::RateLimitStatus;
use candor_service::context::tokens::bearer_token::BearerToken;
use candor_service::usecases::bearer::BearerCaller;

use crate::connection::address::Client;
use crate::contract::route::{Dialect, Route};
use crate::pages::invitation_page;

/// Maximum length of a `User-Agent` in the audit log, in characters.
const USER_AGENT_CHARS: usize = 256;

/// Facts about one request. Response headers, log and metrics are derived from them.
pub(crate) struct Exchange<'a> {
    pub(crate) request: &'a HttpRequest,
    pub(crate) id: RequestId,
    pub(crate) at: Timestamp,
    pub(crate) client: Client,
    pub(crate) dialect: Dialect,
    /// Path pattern for logs and metrics, never the path itself.
    pub(crate) pattern: &'static str,
    pub(crate) route: Option<&'static Route>,
    /// `true` if a write was sent with `dry_run=true`.
    pub(crate) is_dry_run: bool,
    pub(crate) rate_limit: Option<RateLimitStatus>,
    pub(crate) caller: Option<Arc<Caller>>,
    /// Token of an identity provider that authenticated the caller.
    pub(crate) token: Option<Arc<BearerToken>>,
    /// Tracing span; disabled until a route is found.
    pub(crate) span: tracing::Span,
}

impl Exchange<'_> {
    /// Sets the caller of a bearer token, and returns it.
    pub(crate) fn set_bearer(&mut self, authenticated: Option<BearerCaller>) -> Option<Arc<Caller>> {
        (self.caller, self.token) = authenticated.unzip();
        self.caller.clone()
    }

    /// Returns whether the request only reads and counts against the read quota.
    pub(crate) fn is_read(&self) -> bool {
        let method = self.request.method();
        method == actix_web::http::Method::GET || method == actix_web::http::Method::HEAD
    }

    /// Returns whether the request submits an HTML form, which is answered with an HTML page.
    pub(crate) fn is_form(&self) -> bool {
        self.route.is_some_and(Route::has_page) && invitation_page::is_sent_by(self.request)
    }

    /// Returns the client's address and user agent for the audit log.
    pub(crate) fn origin(&self) -> Origin {
        let agent = self.request.headers().get(actix_web::http::header::USER_AGENT);
        let agent =
            agent.map(|agent| String::from_utf8_lossy(agent.as_bytes()).chars().take(USER_AGENT_CHARS).collect());
        Origin { ip: Some(self.client.address.to_string()), user_agent: agent, ..Origin::default() }
    }
}
