//! Tests trace export to an OpenTelemetry collector: the spans have the request ids of the responses.

use serde_json::json;

use crate::support::{Installation, Receiver, ReceiverResponse, Service, candor};

fn contains_text(body: &[u8], text: &str) -> bool {
    body.windows(text.len()).any(|body| body == text.as_bytes())
}

#[test]
fn trace_of_a_request_includes_use_case_and_commit() {
    let collector = Receiver::start();
    collector.answers(|_| ReceiverResponse::Status(200));
    let place = Installation::sqlite()
        .with("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url("").trim_end_matches('/'))
        .with("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=staging");
    let key = place.key("employees:write", &[]);
    let service = Service::serve(&place);
    let body = json!({"email": "ada@example.com", "first_name": "Ada", "last_name": "Moreau"});
    let response = service.client(&key.secret).post("/v1/employees", &body).unwrap();
    assert_eq!(response.status, 201);
    let id = response.header("x-request-id").unwrap().to_owned();
    // Stopping the service sends the buffered spans.
    service.stop();
    let trace_requests = collector.requests_to("/v1/traces");
    let expected_words = ["POST /employees", "createEmployee", "commit", "candor", "staging", &id];
    for text in expected_words {
        assert!(
            trace_requests.iter().any(|arrival| contains_text(&arrival.body, text)),
            "{text} in {} posts",
            trace_requests.len()
        );
    }
    assert!(trace_requests.iter().all(|arrival| arrival.header("content-type") == "application/x-protobuf"));
    assert!(
        !trace_requests
            .iter()
            .any(|arrival| contains_text(&arrival.body, "ada@example.com")
                || contains_text(&arrival.body, &key.secret)),
        "a span contains personal data or the key"
    );
}

#[test]
fn request_joins_the_callers_trace_with_its_statements() {
    const TRACE: [u8; 16] =
        [0x4b, 0xf9, 0x2f, 0x35, 0x77, 0xb3, 0x4d, 0xa6, 0xa3, 0xce, 0x92, 0x9d, 0x0e, 0x0e, 0x47, 0x36];
    let collector = Receiver::start();
    collector.answers(|_| ReceiverResponse::Status(200));
    let place = Installation::sqlite()
        .with("CANDOR_TRUSTED_PROXIES", "127.0.0.1")
        .with("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url("").trim_end_matches('/'));
    let key = place.key("employees:read", &[]);
    let service = Service::serve(&place);
    let mut client = service.client(&key.secret);
    let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let mut ask =
        |path: &str, parent: &str| client.request("GET", path, &[("traceparent", parent)], None).unwrap().status;
    assert_eq!(ask("/v1/employees?limit=3", parent), 200);
    for malformed in ["", "00-0-0-01", "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "nonsense"] {
        assert_eq!(ask("/v1/employees/emp_0000000000000000000000000", malformed), 404, "{malformed}");
    }
    service.stop();
    let trace_requests = collector.requests_to("/v1/traces");
    let spans: usize =
        trace_requests.iter().map(|arrival| arrival.body.windows(16).filter(|body| *body == TRACE).count()).sum();
    assert!(spans >= 3, "spans of the request, its use case and a statement are expected, not {spans}");
    for text in ["statement", "sqlite", "FROM employees"] {
        assert!(
            trace_requests.iter().any(|arrival| contains_text(&arrival.body, text)),
            "{text} in {} posts",
            trace_requests.len()
        );
    }
}

#[test]
fn absent_collector_stops_nothing_and_bad_endpoint_is_refused() {
    let place = Installation::sqlite().with("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9");
    let service = Service::serve(&place);
    assert_eq!(service.anonymous().unwrap().get("/livez").unwrap().status, 200);
    service.stop();
    let place = Installation::sqlite().with("OTEL_EXPORTER_OTLP_ENDPOINT", "not a url");
    let refusal = candor(&place, &["serve"]);
    assert_eq!(refusal.code, Some(1), "{}", refusal.stderr);
    assert!(refusal.stderr.contains("traces"), "{}", refusal.stderr);
    let place = place.with("OTEL_SDK_DISABLED", "true");
    Service::serve(&place).stop();
}
