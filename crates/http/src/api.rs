//! The API as a value: the shell, the table's router and what the operator set.

use std::sync::Arc;

use actix_web::http::header::HeaderValue;
use actix_web::web::{self, ServiceConfig};
use candor_service::Shell;

use crate::cors::Cors;
use crate::health::Readiness;
use crate::router::Router;
use crate::settings::HttpSettings;
use crate::table::{BASE, ROUTES};

/// Answers requests. Share one between all workers.
pub struct Api {
    pub(crate) shell: Arc<Shell>,
    pub(crate) settings: HttpSettings,
    pub(crate) readiness: Readiness,
    pub(crate) router: Router,
    pub(crate) cors: Cors,
    /// What `Location` starts with.
    pub(crate) base_url: String,
}

impl Api {
    /// Puts the parts together.
    #[must_use]
    pub fn new(shell: Arc<Shell>, settings: HttpSettings, readiness: Readiness) -> Self {
        let base_url = format!("{}{BASE}", shell.settings.public_url.trim_end_matches('/'));
        let cors = Cors::new(&settings.cors_origins);
        Self { shell, settings, readiness, router: Router::new(ROUTES), cors, base_url }
    }

    pub(crate) fn location(&self, path: &str) -> Option<HeaderValue> {
        HeaderValue::from_str(&format!("{}{path}", self.base_url)).ok()
    }
}

/// Adds the API to an actix application: it answers every path.
pub fn configure(api: Arc<Api>) -> impl FnOnce(&mut ServiceConfig) {
    move |config| {
        config.app_data(web::Data::from(api)).default_service(web::to(crate::dispatch::entry));
    }
}
