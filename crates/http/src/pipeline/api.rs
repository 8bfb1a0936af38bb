//! The API as a value: services, router and settings.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use actix_web::http::header::HeaderValue;
use candor_service::Services;

use crate::contract::route::Dialect;
use crate::meters::{self, CountedBytes};
use crate::pipeline::cors::Cors;
use crate::pipeline::read_turns::ReadTurns;
use crate::pipeline::router::Router;
use crate::pipeline::settings::HttpSettings;
use crate::response::byte_budget::ByteBudget;
use crate::response::health::Readiness;
use crate::routes::ROUTES;

/// Answers requests. All server workers share one instance.
pub struct Api {
    pub(crate) services: Arc<Services>,
    pub(crate) settings: HttpSettings,
    pub(crate) readiness: Readiness,
    pub(crate) router: Router,
    pub(crate) cors: Cors,
    pub(crate) responses: Arc<ByteBudget>,
    pub(crate) bodies: Arc<ByteBudget>,
    pub(crate) read_turns: Arc<ReadTurns>,
    /// `true` if the warning about an unreadable `X-Forwarded-For` is already logged.
    warned_of_forwarded_header: AtomicBool,
}

impl Api {
    /// Creates the API with the router of all routes.
    #[must_use]
    pub fn new(services: Arc<Services>, settings: HttpSettings, readiness: Readiness) -> Self {
        let cors = Cors::new(&settings.cors_origins);
        let responses = ByteBudget::new(CountedBytes::Responses, settings.response_limits);
        let bodies = ByteBudget::new(CountedBytes::Bodies, settings.body_limits);
        meters::register(meters::quota_names());
        let (router, warned_of_forwarded_header) = (Router::new(ROUTES), AtomicBool::new(false));
        let read_turns = Arc::default();
        Self {
            services,
            settings,
            readiness,
            router,
            cors,
            responses,
            bodies,
            read_turns,
            warned_of_forwarded_header,
        }
    }

    /// Counts a request whose trusted proxy sent an `X-Forwarded-For` that cannot be read. Logs a warning for the
    /// first of these requests.
    pub(crate) fn report_unreadable_forwarded_header(&self, proxy: IpAddr) {
        meters::forwarded_header_unreadable();
        if !self.warned_of_forwarded_header.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                %proxy,
                "cannot read the X-Forwarded-For of a trusted proxy: its clients share the limits of one address. \
                 Make the proxy add the address of its client, for instance 203.0.113.5 or [2001:db8::7]:443"
            );
        }
    }

    /// Returns the `Location` of a path below the base of the dialect.
    pub(crate) fn location(&self, dialect: Dialect, path: &str) -> Option<HeaderValue> {
        let public_url = self.services.settings.public_url.trim_end_matches('/');
        HeaderValue::from_str(&format!("{public_url}{}{path}", dialect.base())).ok()
    }
}
