//! Admin listener for monitoring: metrics and health checks, without the API.

use std::fmt;
use std::io;
use std::net::TcpListener;
use std::sync::Arc;

use actix_web::dev::Server;
use actix_web::http::Method;
use actix_web::http::header::CACHE_CONTROL;
use actix_web::rt::net::TcpStream;
use actix_web::web::{self, Data};
use actix_web::{App, HttpRequest, HttpResponse, HttpServer};
use bytes::Bytes;
use candor_domain::id::RequestId;
use candor_service::Services;

use crate::pipeline::docs::{READ_METHODS, TEXT};
use crate::pipeline::settings::MetricsText;
use crate::response::error_response::ErrorResponse;
use crate::response::health::{Readiness, status};
use crate::response::{JSON, Response};
use crate::server::{WRITE_TIME, end_when_not_taken};

/// State that the admin listener reports.
#[derive(Clone)]
pub struct AdminState {
    /// Services, for the readiness check.
    pub services: Arc<Services>,
    /// Readiness of the process.
    pub readiness: Readiness,
    /// Renders the metrics as text for a scraper.
    pub metrics: MetricsText,
}

impl fmt::Debug for AdminState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AdminState").field("readiness", &self.readiness).finish_non_exhaustive()
    }
}

/// Serves `/metrics`, `/livez` and `/readyz` on a separate listener, without authentication. Processes without
/// an API listener report their health only here.
///
/// # Errors
/// The listener cannot be used.
pub fn admin_server(state: AdminState, listener: TcpListener) -> io::Result<Server> {
    let app = move || App::new().app_data(Data::new(state.clone())).default_service(web::to(respond));
    let server = HttpServer::new(app).on_connect(|stream, _| {
        if let Some(stream) = stream.downcast_ref::<TcpStream>() {
            end_when_not_taken(stream, WRITE_TIME);
        }
    });
    Ok(server.workers(1).disable_signals().listen(listener)?.run())
}

async fn respond(request: HttpRequest, state: Data<AdminState>) -> HttpResponse {
    let services = &state.services;
    let page = page(&request, &state).await.unwrap_or_else(|error| {
        let id: RequestId = services.id(services.clock.now());
        if let Some(cause) = &error.cause {
            tracing::error!(request_id = %id, %cause, "the service is not ready: load balancers send no requests to it until the cause is gone");
        }
        Response::refuse(JSON, error.envelope(id), error)
    });
    let mut response = HttpResponse::build(page.status);
    response.insert_header((CACHE_CONTROL, "no-store"));
    for header in page.headers {
        response.insert_header(header);
    }
    response.body(page.body)
}

async fn page(request: &HttpRequest, state: &AdminState) -> Result<Response, ErrorResponse> {
    let path = request.path();
    if !["/metrics", "/livez", "/readyz"].contains(&path) {
        return Err(ErrorResponse::not_found());
    }
    match *request.method() {
        Method::OPTIONS => return Ok(Response::options(&READ_METHODS)),
        Method::GET | Method::HEAD => {}
        _ => return Err(ErrorResponse::wrong_method(&READ_METHODS)),
    }
    match path {
        "/metrics" => Ok(Response::with_body(TEXT, Bytes::from((state.metrics)()))),
        "/livez" => Ok(status("alive")),
        _ => state.readiness.check(&state.services).await.map(|()| status("ready")),
    }
}
