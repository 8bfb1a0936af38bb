//! Receivers of the examples with real deliveries, and signatures compared with the reference library.

use std::collections::HashMap;
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use actix_web::{App, HttpServer, web};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use candor_client::types::{Event, WebhookCreate, WebhookPayload, WebhookUpdate};
use candor_client::webhooks::{Delivered, WebhookError, unwrap};
use candor_client::{HeaderMap, Secret};
use serde_json::json;
use standardwebhooks::Webhook;

use super::events::wait_until;
use super::{Fixture, hire};
use crate::support::Client;

#[path = "../../../../crates/client/examples/actix.rs"]
#[expect(unreachable_pub, reason = "an example, as its readers have it")]
mod actix;
#[path = "../../../../crates/client/examples/axum.rs"]
#[expect(unreachable_pub, reason = "an example, as its readers have it")]
mod axum_receiver;

type ReceivedDeliveries = Arc<Mutex<Vec<Delivered>>>;

/// Starts a receiver with these secrets.
async fn axum_application(listener: TcpListener, secrets: Vec<String>, received: ReceivedDeliveries) {
    listener.set_nonblocking(true).unwrap();
    let listener = tokio::net::TcpListener::from_std(listener).unwrap();
    let router = axum_receiver::receiver(secrets, move |event| received.lock().unwrap().push(event));
    tokio::spawn(async move { axum::serve(listener, router).await });
}

async fn actix_application(listener: TcpListener, secrets: Vec<String>, received: ReceivedDeliveries) {
    let handle: Arc<dyn Fn(Delivered) + Send + Sync> = Arc::new(move |event| received.lock().unwrap().push(event));
    let data = web::Data::new(actix::Receiver { secrets, handle });
    let server = HttpServer::new(move || App::new().app_data(data.clone()).configure(actix::routes));
    tokio::spawn(server.workers(1).disable_signals().listen(listener).unwrap().run());
}

/// Asserts that a receiver with both secrets of a rotation gets a test and a hire, and refuses a forged delivery.
async fn receives<F: Future<Output = ()>>(
    application: impl Fn(TcpListener, Vec<String>, ReceivedDeliveries) -> F,
) {
    let fixture = Fixture::start();
    let client = fixture.client();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let url = format!("http://{address}/hooks/candor");
    let webhook = client.webhooks().create(WebhookCreate::new(url, ["*"])).await.unwrap();
    let updated_webhook =
        client.webhooks().update(&webhook.id, WebhookUpdate::new().rotate_secret(true)).await.unwrap();
    let secrets = [Some(webhook.secret), updated_webhook.secret]
        .map(|secret| secret.as_ref().map(Secret::expose).map(str::to_owned));
    let receipts = ReceivedDeliveries::default();
    application(listener, secrets.into_iter().flatten().collect(), Arc::clone(&receipts)).await;
    client.webhooks().test(&webhook.id).await.unwrap();
    let email = hire(&client, 1).await.unwrap();
    let is_of_employee =
        |event: &Delivered| matches!(event, Delivered::Full(Event::Employee(event)) if event.data.email == email);
    wait_until(|| {
        let events = receipts.lock().unwrap();
        events.iter().any(is_of_employee)
            && events.iter().any(|event| matches!(event, Delivered::Full(Event::Test(_))))
    })
    .await;
    client.webhooks().update(&webhook.id, WebhookUpdate::new().payload(WebhookPayload::Thin)).await.unwrap();
    hire(&client, 2).await.unwrap();
    let thin = |event: &Delivered| matches!(event, Delivered::Thin(event) if event.data.url.ends_with(&format!("/v1/employees/{}", event.data.id)));
    wait_until(|| receipts.lock().unwrap().iter().any(thin)).await;
    let time = seconds().to_string();
    let forged_headers = [("webhook-id", "evt_1"), ("webhook-timestamp", &time), ("webhook-signature", "v1,AAAA")];
    let post = move || {
        let mut forger = Client::connect(address, "").unwrap();
        forger
            .request("POST", "/hooks/candor", &forged_headers.map(|(name, value)| (name, value)), Some(&json!({})))
            .unwrap()
    };
    assert_eq!(std::thread::scope(|scope| scope.spawn(post).join().unwrap()).status, 400);
    client.webhooks().delete(&webhook.id).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn axum_example_receives_deliveries_and_refuses_forged_ones() {
    receives(axum_application).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn actix_example_receives_deliveries_and_refuses_forged_ones() {
    receives(actix_application).await;
}

#[expect(clippy::disallowed_methods, reason = "signatures are compared with the clock of this machine")]
fn seconds() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs().try_into().unwrap()
}

/// Returns the headers of a delivery that was signed at this time.
fn sign_delivery(secret: &str, body: &str, at: i64) -> impl Fn(&str) -> Option<String> + use<> {
    let signature = Webhook::new(secret).unwrap().sign("evt_1", at, body.as_bytes()).unwrap();
    let texts = [("webhook-id", "evt_1".to_owned()), ("webhook-timestamp", at.to_string())];
    let texts: HashMap<_, _> = texts.into_iter().chain([("webhook-signature", signature)]).collect();
    move |name: &str| texts.get(name).cloned()
}

#[test]
fn thin_delivery_has_only_a_reference_to_its_resource() {
    let secret = format!("whsec_{}", STANDARD.encode([7; 32]));
    let url = "https://feedback.example.com/v1/employees/emp_1";
    let body = json!({
        "id": "evt_1", "event": "employee.created", "created_at": "t", "api_version": "v1", "organization_id": "org_1",
        "data": {"id": "emp_1", "type": "employee", "url": url}, "payload": "thin",
    });
    let text = body.to_string();
    let read = unwrap(text.as_bytes(), &sign_delivery(&secret, &text, seconds()), &[&secret]).unwrap();
    assert!(matches!(&read, Delivered::Thin(event) if serde_json::to_value(event).unwrap() == body), "{read:?}");
}

#[test]
fn signatures_are_those_of_standard_webhooks() {
    let secret = format!("whsec_{}", STANDARD.encode([7; 32]));
    let common = json!({"id": "evt_1", "created_at": "t", "api_version": "v1", "organization_id": "org_1"});
    let mut event = common;
    event["event"] = json!("employee.promoted");
    event["data"] = json!({"level": 3});
    let body = event.to_string();
    let sign_at = |at: i64| sign_delivery(&secret, &body, at);
    let read = unwrap(body.as_bytes(), &sign_at(seconds()), &["whsec_AAAA", &secret]).unwrap();
    assert!(matches!(&read, Delivered::Full(Event::Other(other)) if other.data["level"] == 3), "{read:?}");
    let altered_body = body.replace('3', "4");
    let of_body =
        |text: &str, at: i64, secret: &str| unwrap(text.as_bytes(), &sign_at(at), &[secret]).unwrap_err();
    assert!(matches!(of_body(&altered_body, seconds(), &secret), WebhookError::WrongSignature));
    assert!(matches!(of_body(&body, seconds(), "whsec_AAAA"), WebhookError::WrongSignature));
    assert!(matches!(of_body(&body, seconds() - 302, &secret), WebhookError::Expired));
    assert!(matches!(of_body(&body, seconds(), "?"), WebhookError::MalformedSecret));
    let none = unwrap(body.as_bytes(), &HeaderMap::new(), &[&secret]).unwrap_err();
    assert!(matches!(none, WebhookError::MissingHeader("webhook-id")));
}
