use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use candor_client::webhooks::{self, Delivered, WebhookError};

/// An axum application that receives deliveries at `/hooks/candor`.
pub fn receiver(secrets: Vec<String>, handle: impl Fn(Delivered) + Send + Sync + 'static) -> Router {
    let state = Arc::new((secrets, handle));
    // The raw body: a parsed one cannot be verified.
    let receive = async move |headers: HeaderMap, body: Bytes| {
        let (secrets, handle) = &*state;
        match webhooks::unwrap(&body, &headers, secrets) {
            Ok(event) => {
                handle(event);
                StatusCode::NO_CONTENT
            }
            Err(WebhookError::MalformedSecret) => StatusCode::INTERNAL_SERVER_ERROR,
            Err(_) => StatusCode::BAD_REQUEST,
        }
    };
    Router::new().route("/hooks/candor", post(receive))
}
