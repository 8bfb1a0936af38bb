use std::sync::Arc;

use actix_web::web::{Bytes, Data, ServiceConfig, post};
use actix_web::{HttpRequest, HttpResponse};
use candor_client::webhooks::{self, Delivered, WebhookError};

/// Secrets and handler of the receiver, as data of the application.
pub struct Receiver {
    pub secrets: Vec<String>,
    pub handle: Arc<dyn Fn(Delivered) + Send + Sync>,
}

/// Receives deliveries at `/hooks/candor` of an Actix Web application.
pub fn routes(config: &mut ServiceConfig) {
    config.route("/hooks/candor", post().to(receive));
}

async fn receive(request: HttpRequest, body: Bytes, receiver: Data<Receiver>) -> HttpResponse {
    let header = |name: &str| Some(request.headers().get(name)?.to_str().ok()?.to_owned());
    // The raw body: a parsed one cannot be verified.
    match webhooks::unwrap(&body, &header, &receiver.secrets) {
        Ok(event) => {
            (receiver.handle)(event);
            HttpResponse::NoContent().finish()
        }
        Err(WebhookError::MalformedSecret) => HttpResponse::InternalServerError().finish(),
        Err(_) => HttpResponse::BadRequest().finish(),
    }
}
