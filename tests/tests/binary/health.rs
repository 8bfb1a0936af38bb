//! Tests health checks, metrics and logs, as a monitoring system uses them.

use std::io::Write;
use std::net::TcpStream;

use serde_json::{Value, json};

use crate::support::{Installation, PATIENCE, Service, candor, wait_until};

#[test]
fn ready_service_answers_health_checks_and_metrics() {
    let place = Installation::sqlite();
    let service = Service::serve(&place);
    let mut client = service.anonymous().unwrap();
    assert_eq!(client.get("/livez").unwrap().status, 200);
    assert_eq!(client.get("/readyz").unwrap().status, 200);
    assert_eq!(client.get("/v1/nowhere").unwrap().status, 404);
    let metrics = client.get("/metrics").unwrap();
    assert_eq!(metrics.status, 200);
    let text = metrics.text();
    let is_counted =
        text.lines().any(|line| line.starts_with("candor_http_requests_total{") && line.contains("404"));
    assert!(is_counted, "{text}");
    assert!(text.contains("candor_http_request_duration_seconds_bucket{"), "{text}");
}

#[test]
fn metrics_move_to_the_admin_listener() {
    let place = Installation::sqlite();
    let service = Service::start(&place, &["serve", "--admin-listen", "127.0.0.1:0"]);
    assert_eq!(service.anonymous().unwrap().get("/metrics").unwrap().status, 404);
    assert_eq!(service.admin().unwrap().get("/metrics").unwrap().status, 200);
    service.stop();
}

#[test]
fn worker_answers_health_checks_on_the_admin_listener() {
    let place = Installation::sqlite();
    let worker = Service::start(&place, &["serve", "--role", "worker", "--admin-listen", "127.0.0.1:0"]);
    let mut client = worker.admin().unwrap();
    for (path, status) in [("/livez", "alive"), ("/readyz", "ready")] {
        let response = client.get(path).unwrap();
        assert_eq!((response.status, response.json()), (200, json!({"status": status})), "{path}");
    }
    let elsewhere = client.get("/v1/me").unwrap();
    assert_eq!(
        (elsewhere.status, &elsewhere.json()["error"]["code"]),
        (404, &json!("not_found")),
        "the API is not here"
    );
    let post_response = client.post("/livez", &json!({})).unwrap();
    assert_eq!((post_response.status, post_response.header("allow")), (405, Some("GET, HEAD, OPTIONS")));
    let options = worker.admin().unwrap().request("OPTIONS", "/livez", &[], None).unwrap();
    assert_eq!((options.status, options.header("allow")), (204, Some("GET, HEAD, OPTIONS")));
    assert!(!worker.log().contains("no health or metrics endpoint"), "{}", worker.log());
    let address = worker.said["metrics_url"].as_str().unwrap().trim_start_matches("http://");
    let mut stream = TcpStream::connect(address.trim_end_matches("/metrics")).unwrap();
    stream.write_all(b"HEAD /livez HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n").unwrap();
    let head = std::io::read_to_string(stream).unwrap();
    assert!(head.starts_with("HTTP/1.1 200 ") && head.ends_with("\r\n\r\n"), "no body: {head}");
    worker.stop();
}

#[test]
fn request_log_line_has_no_personal_data_and_no_secret() {
    let place = Installation::sqlite();
    let key = place.key("*", &["--admin"]).secret;
    let service = Service::start(&place, &["serve", "--log-format", "json"]);
    let body = json!({"email": "grace@example.com", "first_name": "Grace", "last_name": "Hopper-Murray"});
    let create_response = service.client(&key).post("/v1/employees", &body).unwrap();
    assert_eq!(create_response.status, 201, "{}", create_response.text());
    let response = service.client(&key).get("/v1/employees?filter[email]=grace@example.com").unwrap();
    assert_eq!(response.status, 200);
    let request = create_response.header("x-request-id").unwrap().to_owned();
    let log = service.stop_and_read_log();
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let about = lines.iter().filter(|line| line.to_string().contains(&request)).collect::<Vec<_>>();
    assert_eq!(about.len(), 1, "{log}");
    assert_eq!(about[0]["status"], json!(201), "{log}");
    for secret in ["grace", "Grace", "Hopper", key.as_str()] {
        assert!(!log.contains(secret), "{secret} in {log}");
    }
}

#[test]
fn worker_without_admin_listener_logs_a_warning() {
    let place = Installation::sqlite();
    let worker = Service::start(&place, &["serve", "--role", "worker"]);
    let warning = worker.wait_for_line("no health or metrics endpoint");
    assert!(warning.contains("WARN") && warning.contains("CANDOR_ADMIN_LISTEN"), "{warning}");
    let log = worker.stop_and_read_log();
    assert!(log.contains("role=\"worker\""), "{log}");
}

#[test]
fn metrics_include_version_and_process_usage() {
    let place = Installation::sqlite();
    let service = Service::serve(&place);
    let text = service.anonymous().unwrap().get("/metrics").unwrap().text();
    let version = format!("candor_build_info{{version=\"{}\"}} 1", env!("CARGO_PKG_VERSION"));
    assert!(text.lines().any(|line| line == version), "{text}");
    for name in ["process_resident_memory_bytes", "process_open_fds", "process_start_time_seconds"] {
        let number = |line: &str| line.strip_prefix(name).and_then(|value| value.trim().parse::<f64>().ok());
        assert!(text.lines().filter_map(number).any(|text| text > 0.0), "{name} in {text}");
        assert!(text.contains(&format!("# HELP {name} ")), "{name} is explained");
    }
    let time = text.lines().find_map(|line| line.strip_prefix("process_cpu_seconds_total ")).unwrap();
    assert!(time.parse::<f64>().unwrap() > 0.0, "a start takes less than a second: {time}");
    let document = service.anonymous().unwrap().get("/v1/openapi.json").unwrap().json();
    assert_eq!(document["info"]["version"], json!(env!("CARGO_PKG_VERSION")));
}

#[test]
fn counters_are_zero_before_the_first_event() {
    let place = Installation::sqlite();
    let service = Service::serve(&place);
    let text = service.anonymous().unwrap().get("/metrics").unwrap().text();
    for name in [
        "candor_http_connections_refused_total",
        "candor_http_connections_not_reading_total",
        "candor_http_answers_refused_total",
        "candor_http_bodies_refused_total",
        "candor_forwarded_header_unreadable_total",
        "candor_rate_limit_refusals_total{quota=\"read\"}",
        "candor_rate_limit_refusals_total{quota=\"without_key\"}",
        "candor_retention_refusals_total",
        "candor_search_indexed_rows_total",
        "candor_webhook_attempts_total{outcome=\"success\"}",
        "candor_webhook_leases_lost_total",
    ] {
        let line = format!("{name} 0");
        assert!(text.lines().any(|candidate| candidate == line), "{name} in {text}");
    }
    assert!(text.contains("candor_store_groups_total{store=\"sqlite\"}"), "{text}");
}

#[test]
fn metrics_include_the_sizes_of_organizations() {
    let place = Installation::sqlite();
    let key = place.key("*", &["--admin"]).secret;
    let service = Service::serve(&place);
    let organization = service.client(&key).get("/v1/me").unwrap().json()["organization_id"].clone();
    let label = format!("{{organization={organization}}} ");
    let mut sizes = None;
    let is_measured = wait_until(PATIENCE, || {
        let text = service.anonymous().unwrap().get("/metrics").unwrap().text();
        let value = |name: &str| {
            let line =
                text.lines().find_map(|line| line.strip_prefix(&format!("{name}{label}")).map(str::to_owned));
            line.and_then(|value| value.parse::<u64>().ok())
        };
        sizes = value("candor_tenant_rows").zip(value("candor_tenant_bytes"));
        sizes.is_some()
    });
    assert!(is_measured.is_some() && sizes.is_some_and(|(rows, bytes)| rows > 0 && bytes > rows), "{sizes:?}");
}

/// Returns message and route of each logged line at a log level. A person is created and a health check runs
/// meanwhile.
fn logged_at(level: &str) -> Vec<String> {
    let place = Installation::sqlite();
    let key = place.key("*", &["--admin"]).secret;
    let service = Service::start(&place, &["serve", "--log", level, "--log-format", "json"]);
    let body = json!({"email": "grace@example.com", "first_name": "Grace", "last_name": "Hopper"});
    let response = service.client(&key).get("/v1/employees?filter[email]=Murray@example.com").unwrap();
    assert_eq!(response.status, 200, "{}", response.text());
    let create_response = service.client(&key).post("/v1/employees", &body).unwrap();
    assert_eq!(create_response.status, 201, "{}", create_response.text());
    assert_eq!(service.anonymous().unwrap().get("/livez").unwrap().status, 200);
    let log = service.stop_and_read_log();
    for secret in ["grace", "Grace", "Hopper", "Murray", key.as_str()] {
        assert!(!log.contains(secret), "{secret} in {log}");
    }
    let lines = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap_or_else(|_| panic!("{line}")));
    lines.map(|line| format!("{} {}", line["message"].as_str().unwrap_or_default(), line["route"])).collect()
}

#[test]
fn log_levels_add_detail_but_never_stored_data() {
    let [info, debug, trace] = ["info", "debug", "trace"].map(logged_at);
    let has = |lines: &[String], words: &str| lines.iter().any(|line| line.starts_with(words));
    let probe = |lines: &[String]| lines.iter().any(|line| line.contains("livez") || line.contains("readyz"));
    assert!(has(&info, "request ") && !has(&info, "request begins") && !probe(&info), "{info:?}");
    assert!(has(&debug, "request begins \"/employees\"") && has(&debug, "saved") && probe(&debug), "{debug:?}");
    assert!(has(&trace, "key looked up") && has(&trace, "saved") && !has(&debug, "key looked up"), "{trace:?}");
}

#[test]
fn json_log_format_applies_to_every_line_of_both_streams() {
    let place = Installation::sqlite().with("CANDOR_LOG_FORMAT", "json");
    let mut process = crate::support::watched(&place, &["serve"]);
    let lines = process.lines_until("\"ready\"");
    let lines: Vec<Value> =
        lines.iter().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"))).collect();
    let ready = lines.iter().find(|line| line["message"] == json!("ready")).unwrap();
    assert_eq!(ready["role"], json!("all"));
    assert_eq!(process.stop(), "", "nothing on standard output");
}

#[test]
fn healthcheck_command_asks_the_local_service() {
    let place = Installation::sqlite();
    let run_without_service = candor(&place, &["healthcheck", "--listen", "127.0.0.1:9"]);
    assert_eq!(run_without_service.code, Some(1), "{}", run_without_service.stdout);
    assert!(
        run_without_service.stderr.contains("127.0.0.1:9")
            && run_without_service.stderr.contains("no Candor service responds"),
        "{}",
        run_without_service.stderr
    );

    let service = Service::serve(&place);
    let listen = ["healthcheck", "--listen", &service.address.to_string()].map(str::to_owned);
    let options = |more: &[&str]| {
        let words: Vec<&str> = listen.iter().map(String::as_str).chain(more.iter().copied()).collect();
        candor(&place, &words)
    };
    assert_eq!(options(&["--json"]).json(), json!({"status": "ready"}));
    assert_eq!(options(&["--live"]).succeeded().stdout, "alive\n");
    // `healthcheck` asks the separate listener if there is one, because a worker has no other. Nothing listens at this
    // address.
    assert_eq!(options(&["--admin-listen", "127.0.0.1:9"]).code, Some(1));
    service.stop();
}
