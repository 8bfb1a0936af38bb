//! Log events of requests: enough to investigate, without personal data or secrets.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use metrics_exporter_prometheus::PrometheusBuilder;
use serde_json::{Value, json};
use tracing_subscriber::fmt::MakeWriter;

use crate::support::TestApi;

#[derive(Clone, Default)]
pub(crate) struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Lines {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

impl Lines {
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }

    /// Returns the logged request events.
    fn requests(&self) -> Vec<Value> {
        let events = self.text();
        let events = events.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        events.filter(|event| event["message"] == "request").collect()
    }
}

pub(crate) fn logged(lines: &Lines) -> tracing::subscriber::DefaultGuard {
    let subscriber = tracing_subscriber::fmt().json().flatten_event(true).with_current_span(false);
    tracing::subscriber::set_default(subscriber.with_span_list(false).with_writer(lines.clone()).finish())
}

#[tokio::test]
async fn request_log_names_the_route_and_no_personal_data() {
    let world = TestApi::new().await;
    let id = world.observation("ada@example.com").await;
    let me = world.get("/v1/me").await.json();
    let lines = Lines::default();
    let _log_guard = logged(&lines);
    let response = world.get(&format!("/v1/observations/{id}?expand=employee")).await;
    let events = lines.requests();
    assert_eq!(events.len(), 1, "{events:?}");
    let event = &events[0];
    assert!(event["duration_us"].is_u64(), "{event}");
    for (name, wanted) in [
        ("level", json!("INFO")),
        ("method", json!("GET")),
        ("route", json!("/observations/{id}")),
        ("status", json!(200)),
        ("request_id", json!(response.header("x-request-id"))),
        ("key_id", me["key_id"].clone()),
        ("organization_id", me["organization_id"].clone()),
        ("bytes", json!(response.body.len())),
    ] {
        assert_eq!(event[name], wanted, "{name}");
    }
}

#[tokio::test]
async fn logs_contain_neither_personal_data_nor_secrets() {
    let world = TestApi::new().await;
    let lines = Lines::default();
    let _log_guard = logged(&lines);
    let body = json!({"email": "secret.person@example.com", "first_name": "Rosalind", "last_name": "Hidden"});
    world.post("/v1/employees", body.clone()).await;
    world.post("/v1/employees", body).await;
    world.get("/v1/employees?filter[email]=secret.person@example.com&limit=x").await;
    world.bare("GET", "/v1/me").key("cdr_live_guess").send().await;
    world.bare("GET", "/v1/secret.person@example.com").send().await;
    world.bare("POST", "/v1/invitations/accept").json(&json!({"token": "guessed-token"})).send().await;
    let creation = world.post("/v1/api-keys", json!({"name": "x", "scopes": ["*"]})).await.json();
    let text = lines.text();
    assert_eq!(lines.requests().len(), 7, "{text}");
    for secret in ["secret.person", "Rosalind", "Hidden", "guess", &world.admin, creation["key"].as_str().unwrap()]
    {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
}

#[tokio::test]
async fn failure_cause_is_logged_once_and_never_sent() {
    let metrics: candor_http::MetricsText = Arc::new(|| panic!("the cause"));
    let world = TestApi::with(candor_http::HttpSettings { metrics: Some(metrics), ..Default::default() }).await;
    let lines = Lines::default();
    let _log_guard = logged(&lines);
    let response = world.bare("GET", "/metrics").with_peer("127.0.0.1").send().await;
    let text = lines.text();
    assert_eq!(text.matches("the cause").count(), 1, "{text}");
    assert!(text.contains(response.header("x-request-id").unwrap()), "{text}");
    assert!(!response.text().contains("the cause"));
}

#[tokio::test]
async fn requests_are_counted_by_method_route_and_status() {
    let recorder = PrometheusBuilder::new().build_recorder();
    let handle = recorder.handle();
    let _recorder_guard = metrics::set_default_local_recorder(&recorder);
    let world = TestApi::new().await;
    let id = world.observation("ada@example.com").await;
    for _ in 0..3 {
        world.get(&format!("/v1/observations/{id}")).await;
    }
    world.get("/v1/observations/other").await;
    world.bare("BREW", "/v1/nobody-knows-this").send().await;
    for _ in 0..60 {
        world.bare("GET", "/v1/me").send().await;
    }
    let text = handle.render();
    for line in [
        r#"candor_http_requests_total{method="GET",route="/observations/{id}",status="200"} 3"#,
        r#"candor_http_requests_total{method="GET",route="/observations/{id}",status="404"} 1"#,
        r#"candor_http_requests_total{method="POST",route="/observations",status="201"} 1"#,
        r#"candor_http_requests_total{method="other",route="unknown",status="404"} 1"#,
        r#"candor_http_requests_total{method="GET",route="/me",status="401"} 59"#,
        r#"candor_http_requests_total{method="GET",route="/me",status="429"} 1"#,
        r#"candor_http_request_duration_seconds_count{method="GET",route="/observations/{id}"} 4"#,
        r#"candor_rate_limit_refusals_total{quota="without_key"} 1"#,
        "candor_http_requests_in_flight 0",
    ] {
        assert!(text.lines().any(|candidate| candidate == line), "{line}\n{text}");
    }
    assert!(!text.contains(&id) && !text.contains("nobody-knows"), "{text}");
}
