//! Cross-origin requests are permitted only from configured origins (decision A14).

use candor_http::HttpSettings;

use crate::support::TestApi;

async fn world(origins: &[&str]) -> TestApi {
    let cors_origins = origins.iter().map(|origin| (*origin).to_owned()).collect();
    TestApi::with(HttpSettings { cors_origins, ..HttpSettings::default() }).await
}

#[tokio::test]
async fn cors_without_allowed_origin_sends_no_header() {
    let world = world(&[]).await;
    let answered = world.ask("GET", "/v1/me").header("origin", "https://app.example").send().await;
    assert_eq!((answered.header("access-control-allow-origin"), answered.header("vary")), (None, None));
}

#[tokio::test]
async fn cors_allowed_origin_can_call_and_read_answers() {
    let world = world(&["https://app.example"]).await;
    let send = |origin: &'static str| world.ask("GET", "/v1/me").header("origin", origin).send();
    let named = send("https://app.example").await;
    assert_eq!(named.header("access-control-allow-origin"), Some("https://app.example"));
    assert!(named.header("access-control-expose-headers").unwrap().contains("X-Request-Id"));
    assert!(named.header("access-control-expose-headers").unwrap().contains("Candor-Should-Retry"));
    assert_eq!(named.header("vary"), Some("Origin"));
    for other in ["https://app.example.evil.example", "http://app.example", "null"] {
        let answered = send(other).await;
        assert_eq!(
            (answered.header("access-control-allow-origin"), answered.header("vary")),
            (None, Some("Origin"))
        );
    }
    let refused = world.bare("GET", "/v1/me").header("origin", "https://app.example").send().await;
    assert_eq!(
        refused.header("access-control-allow-origin"),
        Some("https://app.example"),
        "refusals are readable too"
    );
}

#[tokio::test]
async fn cors_preflight_lists_methods_and_headers() {
    let world = world(&["*"]).await;
    let ask = world.bare("OPTIONS", "/v1/observations").header("origin", "https://any.example");
    let answered = ask.header("access-control-request-method", "POST").send().await;
    assert_eq!(answered.status, 204);
    assert_eq!(answered.header("access-control-allow-origin"), Some("https://any.example"));
    assert_eq!(answered.header("access-control-allow-methods"), Some("GET, HEAD, POST, OPTIONS"));
    assert!(answered.header("access-control-allow-headers").unwrap().contains("Idempotency-Key"));
}
