//! Tests settings: error messages name the setting, and output masks secrets.

use std::fs;

use serde_json::json;

use crate::support::{Installation, Service, candor};

/// Runs a command that must fail with this code and an empty standard output. Returns its single line of
/// standard error.
fn run_refused(place: &Installation, arguments: &[&str], code: i32) -> String {
    let it = candor(place, arguments);
    assert_eq!((it.code, it.stdout.as_str(), it.stderr.lines().count()), (Some(code), "", 1), "{}", it.stderr);
    it.stderr
}

#[test]
fn unknown_variable_is_named_without_stopping_the_start() {
    let place = Installation::sqlite().with("CANDOR_LISTN", "127.0.0.1:1").with("CANDOR_FOO", "hunter2");
    let service = Service::serve(&place);
    let log = service.stop_and_read_log();
    let near = "CANDOR_LISTN is not a setting and is ignored; did you mean CANDOR_LISTEN?";
    assert!(log.contains(near), "{log}");
    assert!(log.contains("CANDOR_FOO is not a setting and is ignored\n") && !log.contains("hunter2"), "{log}");
    let it = candor(&place, &["config"]).succeeded();
    assert!(it.stdout.contains("CANDOR_LISTEN ") && it.stderr.lines().count() == 2, "{}{}", it.stdout, it.stderr);
}

#[test]
fn variables_of_a_kubernetes_service_are_ignored_silently() {
    let address = "tcp://10.0.0.1:8080";
    let place = Installation::sqlite()
        .with("CANDOR_SERVICE_HOST", "10.0.0.1")
        .with("CANDOR_SERVICE_PORT", "8080")
        .with("CANDOR_SERVICE_PORT_HTTP", "8080")
        .with("CANDOR_PORT", address)
        .with("CANDOR_PORT_8080_TCP", address)
        .with("CANDOR_PORT_8080_TCP_PROTO", "tcp")
        .with("CANDOR_PORT_8080_TCP_PORT", "8080")
        .with("CANDOR_PORT_8080_TCP_ADDR", "10.0.0.1");
    assert_eq!(candor(&place, &["config"]).succeeded().stderr, "");
    let service = Service::serve(&place);
    assert!(!service.log().contains("WARN"), "{}", service.log());
}

#[test]
fn setting_errors_are_named_at_once_and_config_shows_all() {
    let place =
        Installation::sqlite().with("CANDOR_SWEEP_INTERVAL", "soon").with("CANDOR_SMTP_URL", "http://mail");
    fs::write(place.folder.path().join("candor.toml"), "listen = true\n[database]\npol = 3\n").unwrap();
    let arguments = ["--config", "candor.toml", "--log-format", "yaml"];
    let serve = candor(&place, &[&["serve"], &arguments[..]].concat());
    assert_eq!((serve.code, serve.stdout.as_str()), (Some(1), ""), "{}", serve.stderr);
    let expected_names = [
        "listen in candor.toml",
        "database_pol in candor.toml",
        "CANDOR_SWEEP_INTERVAL",
        "CANDOR_SMTP_URL",
        "--log-format",
    ];
    for place in expected_names {
        assert!(serve.stderr.lines().any(|line| line.contains(place)), "{place}: {}", serve.stderr);
    }
    assert_eq!(serve.stderr.lines().count(), expected_names.len(), "{}", serve.stderr);
    assert!(serve.stderr.contains("did you mean database_pool?"), "{}", serve.stderr);
    let config = candor(&place, &[&["config"], &arguments[..]].concat());
    assert_eq!((config.code, &config.stderr), (Some(1), &serve.stderr));
    assert!(config.stdout.contains("CANDOR_DATABASE_URL") && config.stdout.contains("soon"), "{}", config.stdout);
}

#[test]
fn malformed_setting_is_refused_by_name() {
    let line = run_refused(&Installation::sqlite().with("CANDOR_SWEEP_INTERVAL", "soon"), &["serve"], 1);
    assert!(line.contains("CANDOR_SWEEP_INTERVAL") && line.contains("soon"), "{line}");
    let line = run_refused(&Installation::sqlite(), &["serve", "--listen", "nowhere"], 2);
    assert!(line.contains("--listen") && line.contains("nowhere"), "{line}");
    let line = run_refused(&Installation::sqlite(), &["serve", "--config", "absent.toml"], 1);
    assert!(line.contains("absent.toml"), "{line}");
}

#[test]
fn variables_of_clients_and_tests_are_ignored() {
    let place = Installation::sqlite().with("CANDOR_API_KEY", "x").with("CANDOR_TEST_ANYTHING", "x");
    candor(&place, &["config"]).succeeded();
}

#[test]
fn config_shows_the_origin_of_each_value_and_no_secret() {
    let key = "k1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
    let place = Installation::sqlite()
        .with("CANDOR_MASTER_KEY", key)
        .with("CANDOR_DATABASE_URL", "postgres://app:hunter2@db.example/candor?sslmode=require")
        .with("CANDOR_CONFIG", "candor.toml");
    fs::write(place.folder.path().join("candor.toml"), "log = \"warn\"\nlisten = \"127.0.0.1:2\"\n").unwrap();
    let config_json = candor(&place, &["config", "--log-format", "json", "--json"]).json();
    let value_and_origin = |name: &str| (config_json[name]["value"].clone(), config_json[name]["origin"].clone());
    let url = "postgres://app:***@db.example/candor?sslmode=require";
    assert_eq!(value_and_origin("database_url"), (json!(url), json!("environment")));
    assert_eq!(value_and_origin("master_key"), (json!("***"), json!("environment")));
    assert_eq!(value_and_origin("listen"), (json!("127.0.0.1:0"), json!("environment")));
    assert_eq!(value_and_origin("log"), (json!("warn"), json!("file candor.toml")));
    assert_eq!(value_and_origin("log_format"), (json!("json"), json!("flag")));
    assert_eq!(value_and_origin("data_dir"), (json!("data"), json!("default")));
    assert_eq!(value_and_origin("admin_listen"), (json!(null), json!("default")));
    let people = candor(&place, &["config"]).succeeded();
    for text in [config_json.to_string(), people.stdout] {
        assert!(!text.contains("hunter2") && !text.contains("AAECAwQF"), "{text}");
    }
}

#[test]
fn wrong_usage_exits_with_status_2() {
    for arguments in [&["fly"][..], &[], &["serve", "--role", "king"], &["key", "create"], &["key", "revoke", "x"]]
    {
        let it = candor(&Installation::sqlite(), arguments);
        assert_eq!((it.code, it.stdout.as_str()), (Some(2), ""), "{arguments:?}: {}", it.stderr);
    }
}

#[test]
fn links_start_with_the_public_url_or_the_listening_address() {
    let public = "https://feedback.example.com/api";
    for (place, base) in
        [(Installation::sqlite(), None), (Installation::sqlite().with("CANDOR_PUBLIC_URL", public), Some(public))]
    {
        let key = place.key("*", &["--admin"]).secret;
        let service = Service::serve(&place);
        let response = service.client(&key).post("/v1/departments", &json!({"name": "x"})).unwrap();
        let base = base.map_or(format!("http://{}", service.address), str::to_owned);
        let id = response.json()["id"].as_str().unwrap().to_owned();
        assert_eq!(response.header("location"), Some(format!("{base}/v1/departments/{id}").as_str()));
    }
}

#[test]
fn cors_headers_are_sent_to_configured_origins_only() {
    let place = Installation::sqlite().with("CANDOR_CORS_ORIGINS", "https://app.example.com");
    let service = Service::serve(&place);
    let mut client = service.anonymous().unwrap();
    for (origin, allowed) in [("https://app.example.com", true), ("https://evil.example.com", false)] {
        let response = client.request("GET", "/v1/me", &[("Origin", origin)], None).unwrap();
        assert_eq!(response.header("access-control-allow-origin"), allowed.then_some(origin));
    }
}
