//! Pages beside the API: `/`, the reference at `/docs`, the console at `/console`, `/livez`, `/readyz` and
//! `/metrics`.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use actix_web::http::Method;
use actix_web::http::header::{CONTENT_SECURITY_POLICY, HeaderMap, HeaderValue, REFERRER_POLICY, X_FRAME_OPTIONS};
use bytes::Bytes;
use serde_json::json;

use crate::contract::route::BASE;
use crate::pages::asset::Asset;
use crate::pages::console;
use crate::pipeline::api::Api;
use crate::pipeline::exchange::Exchange;
use crate::reference;
use crate::response::error_response::ErrorResponse;
use crate::response::health::status;
use crate::response::{JSON, Response};

/// Content security policy of the reference. External resources are forbidden; inline styles are allowed because
/// the page uses them.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' \
                      data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
pub(crate) const READ_METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD, OPTIONS");
pub(crate) const TEXT: HeaderValue = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");

/// A page outside of the API.
pub(crate) enum Page<'a> {
    /// The path `/`, which names the service and links to its documents.
    Root,
    /// Liveness check at `/livez`.
    Alive,
    /// Readiness check at `/readyz`.
    Ready,
    /// Metrics for Prometheus at `/metrics`.
    Metrics,
    /// `/docs` or one of its files.
    Docs(&'a str),
    /// `/console`, one of its screens or one of its files.
    Console(&'a str),
}

/// Returns the page at a path, with its pattern for logs and metrics.
pub(crate) fn page(path: &str) -> Option<(&'static str, Page<'_>)> {
    match path {
        "/" => Some(("/", Page::Root)),
        "/livez" => Some(("/livez", Page::Alive)),
        "/readyz" => Some(("/readyz", Page::Ready)),
        "/metrics" => Some(("/metrics", Page::Metrics)),
        "/docs" | "/docs/" => Some(("/docs", Page::Docs("index.html"))),
        "/console" => Some(("/console", Page::Console(""))),
        _ => path
            .strip_prefix("/docs/")
            .map(|file| ("/docs", Page::Docs(file)))
            .or_else(|| path.strip_prefix("/console/").map(|file| ("/console", Page::Console(file)))),
    }
}

/// Answers a request for a page, with 405 for methods other than `GET`, `HEAD` and `OPTIONS`.
pub(crate) async fn find_response(
    api: &Api,
    exchange: &Exchange<'_>,
    page: Page<'_>,
) -> Result<Response, ErrorResponse> {
    let method = exchange.request.method();
    if matches!(page, Page::Console(_)) && !api.settings.console {
        return Err(ErrorResponse::not_found());
    }
    if *method == Method::OPTIONS {
        return Ok(Response::options(&READ_METHODS));
    }
    if *method != Method::GET && *method != Method::HEAD {
        return Err(ErrorResponse::wrong_method(&READ_METHODS));
    }
    match page {
        Page::Root => Ok(root(api)),
        Page::Alive => Ok(status("alive")),
        Page::Ready => api.readiness.check(&api.services).await.map(|()| status("ready")),
        Page::Metrics => metrics(api, exchange),
        Page::Docs(file) => docs(file, exchange.request.headers()),
        Page::Console(path) => console::find_response(path, exchange.request.headers()),
    }
}

/// Answers `/` with the name of the service and links to the documentation.
fn root(api: &Api) -> Response {
    let base = api.services.settings.public_url.trim_end_matches('/');
    let text = json!({
        "name": "Candor",
        "version": env!("CARGO_PKG_VERSION"),
        "docs_url": format!("{base}/docs"),
        "openapi_url": format!("{base}{BASE}/openapi.json"),
    });
    Response::with_body(JSON, Bytes::from(text.to_string()))
}

/// Answers the metrics to loopback peers, unless the peer is a local proxy.
fn metrics(api: &Api, exchange: &Exchange<'_>) -> Result<Response, ErrorResponse> {
    let is_local =
        exchange.client.address.is_loopback() && !exchange.request.headers().contains_key("x-forwarded-for");
    let render = api.settings.metrics.as_ref().filter(|_| is_local).ok_or_else(ErrorResponse::not_found)?;
    Ok(Response::with_body(TEXT, Bytes::from(render())))
}

/// Cache of the requested files. Unknown names are not stored, so the program's own files bound its size.
static FILES: Mutex<BTreeMap<String, Arc<Asset>>> = Mutex::new(BTreeMap::new());

fn docs(file: &str, request: &HeaderMap) -> Result<Response, ErrorResponse> {
    let mut response = find_file(file)?.answer(request);
    for (name, value) in
        [(CONTENT_SECURITY_POLICY, POLICY), (X_FRAME_OPTIONS, "DENY"), (REFERRER_POLICY, "no-referrer")]
    {
        response.headers.push((name, HeaderValue::from_static(value)));
    }
    Ok(response)
}

fn find_file(name: &str) -> Result<Arc<Asset>, ErrorResponse> {
    let mut files = FILES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(it) = files.get(name) {
        return Ok(Arc::clone(it));
    }
    let asset = Arc::new(reference::file(name).ok_or_else(|| ErrorResponse::no_such_path(None))?);
    files.insert(name.to_owned(), Arc::clone(&asset));
    Ok(asset)
}
