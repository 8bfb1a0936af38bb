//! One request on its way through, and the facts that are known of it so far.

use std::net::IpAddr;
use std::sync::Arc;

use actix_web::HttpRequest;
use candor_domain::access::Caller;
use candor_domain::audit::Origin;
use candor_domain::id::RequestId;
use candor_domain::time::Timestamp;
use candor_domain::window::RateLimitStatus;

use crate::invitation_page;
use crate::route::Route;

/// The longest `User-Agent` that the audit log keeps, in characters.
const USER_AGENT_CHARS: usize = 256;

/// What is known of a request so far; the answer's headers, the log and the metrics are made from it.
pub(crate) struct Exchange<'a> {
    pub(crate) request: &'a HttpRequest,
    pub(crate) id: RequestId,
    pub(crate) at: Timestamp,
    pub(crate) client: IpAddr,
    /// The pattern of the path, for logs and metrics; never the path itself.
    pub(crate) pattern: &'static str,
    pub(crate) route: Option<&'static Route>,
    pub(crate) rate_limit: Option<RateLimitStatus>,
    pub(crate) caller: Option<Arc<Caller>>,
    /// Its span, once a route is found.
    pub(crate) span: tracing::Span,
}

impl Exchange<'_> {
    /// Whether the request only reads, so that it counts as a read.
    pub(crate) fn is_read(&self) -> bool {
        let method = self.request.method();
        method == actix_web::http::Method::GET || method == actix_web::http::Method::HEAD
    }

    /// Whether the request is the form of a page, whose answer is a page as well.
    pub(crate) fn is_form(&self) -> bool {
        self.route.is_some_and(Route::has_page) && invitation_page::is_sent_by(self.request)
    }

    /// Where the request came from, for the audit log.
    pub(crate) fn origin(&self) -> Origin {
        let agent = self.request.headers().get(actix_web::http::header::USER_AGENT);
        let agent = agent.map(|it| String::from_utf8_lossy(it.as_bytes()).chars().take(USER_AGENT_CHARS).collect());
        Origin { ip: Some(self.client.to_string()), user_agent: agent, api_key: None }
    }
}
