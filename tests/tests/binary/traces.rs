//! Spans reach a collector of OpenTelemetry where an endpoint is set, with the ids that the answers have.

use serde_json::json;

use crate::support::{Answer, Place, Receiver, Service, candor};

fn has(body: &[u8], text: &str) -> bool {
    body.windows(text.len()).any(|it| it == text.as_bytes())
}

#[test]
fn a_request_its_use_case_and_its_commit_are_told_to_the_collector() {
    let collector = Receiver::start();
    collector.answers(|_| Answer::Status(200));
    let place = Place::sqlite()
        .with("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url("").trim_end_matches('/'))
        .with("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=staging");
    let key = place.key("employees:write", &[]);
    let service = Service::serve(&place);
    let body = json!({"email": "ada@example.com", "first_name": "Ada", "last_name": "Moreau"});
    let answer = service.client(&key.secret).post("/v1/employees", &body).unwrap();
    assert_eq!(answer.status, 201);
    let id = answer.header("x-request-id").unwrap().to_owned();
    // A stop sends what waits.
    service.stop();
    let arrived = collector.at("/v1/traces");
    let wanted = ["POST /employees", "createEmployee", "commit", "candor", "staging", &id];
    for text in wanted {
        assert!(arrived.iter().any(|it| has(&it.body, text)), "{text} in {} posts", arrived.len());
    }
    assert!(arrived.iter().all(|it| it.header("content-type") == "application/x-protobuf"));
    assert!(
        !arrived.iter().any(|it| has(&it.body, "ada@example.com") || has(&it.body, &key.secret)),
        "nothing of a person"
    );
}

#[test]
fn a_collector_that_is_not_there_stops_nothing_and_a_wrong_endpoint_is_refused_at_start() {
    let place = Place::sqlite().with("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9");
    let service = Service::serve(&place);
    assert_eq!(service.anonymous().unwrap().get("/livez").unwrap().status, 200);
    service.stop();
    let place = Place::sqlite().with("OTEL_EXPORTER_OTLP_ENDPOINT", "not a url");
    let refused = candor(&place, &["serve"]);
    assert_eq!(refused.code, Some(1), "{}", refused.stderr);
    assert!(refused.stderr.contains("traces"), "{}", refused.stderr);
    let place = place.with("OTEL_SDK_DISABLED", "true");
    Service::serve(&place).stop();
}
