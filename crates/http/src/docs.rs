//! What stands beside the API: the reference at `/docs`, `/livez`, `/readyz` and `/metrics`.

use std::sync::{Arc, OnceLock};

use actix_web::http::Method;
use actix_web::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderValue, REFERRER_POLICY, X_FRAME_OPTIONS};
use bytes::Bytes;
use utoipa_swagger_ui::Config;

use crate::answer::Answer;
use crate::api::Api;
use crate::exchange::Exchange;
use crate::fault::Fault;
use crate::health::status;

/// Nothing is loaded from elsewhere; the page styles itself with inline styles.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/// The files only change with the binary.
const CACHED: &str = "public, max-age=3600";
pub(crate) const READ_METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD, OPTIONS");
pub(crate) const TEXT: HeaderValue = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");

/// A page beside the API.
pub(crate) enum Page<'a> {
    /// `/livez`
    Alive,
    /// `/readyz`
    Ready,
    /// `/metrics`
    Metrics,
    /// `/docs`, or a file of it.
    Docs(&'a str),
}

/// The page at a path, with its pattern for logs and metrics.
pub(crate) fn page(path: &str) -> Option<(&'static str, Page<'_>)> {
    match path {
        "/livez" => Some(("/livez", Page::Alive)),
        "/readyz" => Some(("/readyz", Page::Ready)),
        "/metrics" => Some(("/metrics", Page::Metrics)),
        "/docs" | "/docs/" => Some(("/docs", Page::Docs("index.html"))),
        _ => path.strip_prefix("/docs/").map(|file| ("/docs", Page::Docs(file))),
    }
}

/// Answers a page.
pub(crate) async fn answer(api: &Api, exchange: &Exchange<'_>, page: Page<'_>) -> Result<Answer, Fault> {
    let method = exchange.request.method();
    if *method == Method::OPTIONS {
        return Ok(Answer::options(&READ_METHODS));
    }
    if *method != Method::GET && *method != Method::HEAD {
        return Err(Fault::wrong_method(&READ_METHODS));
    }
    match page {
        Page::Alive => Ok(status("alive")),
        Page::Ready => api.readiness.check(&api.shell).await.map(|()| status("ready")),
        Page::Metrics => metrics(api, exchange),
        Page::Docs(file) => reference(file),
    }
}

/// The metrics, for peers on this machine; a proxy on this machine does not count as one.
fn metrics(api: &Api, exchange: &Exchange<'_>) -> Result<Answer, Fault> {
    let is_local = exchange.client.is_loopback() && !exchange.request.headers().contains_key("x-forwarded-for");
    let render = api.settings.metrics.as_ref().filter(|_| is_local).ok_or_else(Fault::not_found)?;
    Ok(Answer::with_body(TEXT, Bytes::from(render())))
}

/// The page that loads the reference, with paths that hold at `/docs` and at `/docs/`.
const INDEX: &str = r#"<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Candor API</title>
<link rel="stylesheet" href="/docs/swagger-ui.css">
<link rel="stylesheet" href="/docs/index.css">
<link rel="icon" type="image/png" href="/docs/favicon-32x32.png" sizes="32x32">
</head>
<body>
<div id="swagger-ui"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/swagger-ui-standalone-preset.js"></script>
<script src="/docs/swagger-initializer.js"></script>
</body>
</html>
"#;

fn reference(file: &str) -> Result<Answer, Fault> {
    let mut answer = if file == "index.html" {
        Answer::with_body(HeaderValue::from_static("text/html; charset=utf-8"), Bytes::from_static(INDEX.as_bytes()))
    } else {
        asset(file)?
    };
    for (name, value) in [
        (CONTENT_SECURITY_POLICY, POLICY),
        (CACHE_CONTROL, CACHED),
        (X_FRAME_OPTIONS, "DENY"),
        (REFERRER_POLICY, "no-referrer"),
    ] {
        answer.headers.push((name, HeaderValue::from_static(value)));
    }
    Ok(answer)
}

fn asset(file: &str) -> Result<Answer, Fault> {
    static CONFIG: OnceLock<Arc<Config<'static>>> = OnceLock::new();
    let config = CONFIG.get_or_init(|| {
        let config = Config::new(["/v1/openapi.json"]).validator_url("none").deep_linking(true);
        Arc::new(config.persist_authorization(false).display_request_duration(true).try_it_out_enabled(true))
    });
    let found = utoipa_swagger_ui::serve(file, Arc::clone(config)).map_err(|it| Fault::defect(it.to_string()))?;
    let found = found.ok_or_else(Fault::not_found)?;
    let content_type = HeaderValue::try_from(found.content_type).map_err(|it| Fault::defect(it.to_string()))?;
    let body = match found.bytes {
        std::borrow::Cow::Borrowed(bytes) => Bytes::from_static(bytes),
        std::borrow::Cow::Owned(bytes) => Bytes::from(bytes),
    };
    Ok(Answer::with_body(content_type, body))
}
