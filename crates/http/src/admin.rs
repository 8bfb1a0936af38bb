//! A listener for whoever watches the process: metrics and health, and nothing of the API.

use std::fmt;
use std::io;
use std::net::TcpListener;
use std::sync::Arc;

use actix_web::dev::Server;
use actix_web::http::header::{CACHE_CONTROL, ContentType, RETRY_AFTER};
use actix_web::web::{self, Data};
use actix_web::{App, HttpResponse, HttpServer};
use candor_domain::id::RequestId;
use candor_service::Shell;

use crate::health::Readiness;
use crate::settings::MetricsText;

/// What is told to whoever watches.
#[derive(Clone)]
pub struct Watched {
    /// What the process works with.
    pub shell: Arc<Shell>,
    /// Whether it is ready for work.
    pub readiness: Readiness,
    /// Its metrics.
    pub metrics: MetricsText,
}

impl fmt::Debug for Watched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watched").field("readiness", &self.readiness).finish_non_exhaustive()
    }
}

/// Serves `/metrics`, `/livez` and `/readyz` on a listener of their own, to anybody who can reach it. A process that does
/// not answer requests has its health nowhere else.
///
/// # Errors
/// The listener cannot be used.
pub fn admin_server(watched: Watched, listener: TcpListener) -> io::Result<Server> {
    let app = move || {
        App::new()
            .app_data(Data::new(watched.clone()))
            .route("/metrics", web::get().to(metrics))
            .route("/livez", web::get().to(alive))
            .route("/readyz", web::get().to(ready))
    };
    Ok(HttpServer::new(app).workers(1).disable_signals().listen(listener)?.run())
}

async fn metrics(watched: Data<Watched>) -> HttpResponse {
    HttpResponse::Ok().content_type(ContentType::plaintext()).body((watched.metrics)())
}

async fn alive() -> HttpResponse {
    status("alive")
}

async fn ready(watched: Data<Watched>) -> HttpResponse {
    let shell = &watched.shell;
    let Err(fault) = watched.readiness.check(shell).await else { return status("ready") };
    let request: RequestId = shell.id(shell.clock.now());
    if let Some(cause) = &fault.cause {
        tracing::error!(request_id = %request, %cause, "not ready");
    }
    let mut answer = HttpResponse::build(fault.status);
    if let Some(seconds) = fault.retry_after_seconds {
        answer.insert_header((RETRY_AFTER, seconds.to_string()));
    }
    answer.insert_header((CACHE_CONTROL, "no-store")).content_type(ContentType::json()).body(fault.envelope(request))
}

fn status(word: &str) -> HttpResponse {
    let body = format!(r#"{{"status":"{word}"}}"#);
    HttpResponse::Ok().insert_header((CACHE_CONTROL, "no-store")).content_type(ContentType::json()).body(body)
}
