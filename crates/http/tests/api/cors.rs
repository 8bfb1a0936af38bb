//! Cross-origin requests are permitted only from configured origins (decision A14).

use candor_http::HttpSettings;

use crate::support::TestApi;

async fn world(origins: &[&str]) -> TestApi {
    let cors_origins = origins.iter().map(|origin| (*origin).to_owned()).collect();
    TestApi::with(HttpSettings { cors_origins, ..crate::support::patient_settings() }).await
}

#[tokio::test]
async fn cors_without_allowed_origin_sends_no_header() {
    let world = world(&[]).await;
    let response = world.ask("GET", "/v1/me").header("origin", "https://app.example").send().await;
    assert_eq!((response.header("access-control-allow-origin"), response.header("vary")), (None, None));
}

#[tokio::test]
async fn cors_allowed_origin_can_call_and_read_answers() {
    let world = world(&["https://app.example"]).await;
    let send = |origin: &'static str| world.ask("GET", "/v1/me").header("origin", origin).send();
    let allowed_response = send("https://app.example").await;
    assert_eq!(allowed_response.header("access-control-allow-origin"), Some("https://app.example"));
    assert!(allowed_response.header("access-control-expose-headers").unwrap().contains("X-Request-Id"));
    assert!(allowed_response.header("access-control-expose-headers").unwrap().contains("Candor-Should-Retry"));
    assert_eq!(allowed_response.header("vary"), Some("Origin"));
    for other in ["https://app.example.evil.example", "http://app.example", "null"] {
        let other_response = send(other).await;
        assert_eq!(
            (other_response.header("access-control-allow-origin"), other_response.header("vary")),
            (None, Some("Origin"))
        );
    }
    let error_response = world.bare("GET", "/v1/me").header("origin", "https://app.example").send().await;
    assert_eq!(
        error_response.header("access-control-allow-origin"),
        Some("https://app.example"),
        "browsers can read refusals too"
    );
}

#[tokio::test]
async fn cors_preflight_lists_methods_and_headers() {
    let world = world(&["*"]).await;
    let ask = world.bare("OPTIONS", "/v1/observations").header("origin", "https://any.example");
    let response = ask.header("access-control-request-method", "POST").send().await;
    assert_eq!(response.status, 204);
    assert_eq!(response.header("access-control-allow-origin"), Some("https://any.example"));
    assert_eq!(response.header("access-control-allow-methods"), Some("GET, HEAD, POST, OPTIONS"));
    assert!(response.header("access-control-allow-headers").unwrap().contains("Idempotency-Key"));
}
