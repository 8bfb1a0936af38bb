//! Settings: named when they are wrong, masked when they are shown.

use std::fs;

use serde_json::json;

use crate::support::{Place, Service, candor};

/// The one line on standard error, and nothing on standard output.
fn refused(place: &Place, arguments: &[&str], code: i32) -> String {
    let it = candor(place, arguments);
    assert_eq!((it.code, it.stdout.as_str(), it.stderr.lines().count()), (Some(code), "", 1), "{}", it.stderr);
    it.stderr
}

#[test]
fn an_unknown_setting_is_refused_by_name() {
    let place = Place::sqlite().with("CANDOR_LISTN", "127.0.0.1:1");
    for command in ["serve", "dev", "config", "migrate"] {
        let line = refused(&place, &[command], 1);
        assert!(line.contains("CANDOR_LISTN") && line.contains("CANDOR_LISTEN"), "{line}");
    }
    let place = Place::sqlite();
    fs::write(place.folder.path().join("candor.toml"), "[database]\npol = 3\n").unwrap();
    let line = refused(&place, &["config", "--config", "candor.toml"], 1);
    assert!(line.contains("database_pol in candor.toml") && line.contains("database_pool"), "{line}");
}

#[test]
fn a_malformed_setting_is_refused_by_name() {
    let line = refused(&Place::sqlite().with("CANDOR_SWEEP_INTERVAL", "soon"), &["serve"], 1);
    assert!(line.contains("CANDOR_SWEEP_INTERVAL") && line.contains("soon"), "{line}");
    let line = refused(&Place::sqlite(), &["serve", "--listen", "nowhere"], 2);
    assert!(line.contains("--listen") && line.contains("nowhere"), "{line}");
    let line = refused(&Place::sqlite(), &["serve", "--config", "absent.toml"], 1);
    assert!(line.contains("absent.toml"), "{line}");
}

#[test]
fn variables_of_clients_and_tests_are_left_alone() {
    let place = Place::sqlite().with("CANDOR_API_KEY", "x").with("CANDOR_TEST_ANYTHING", "x");
    candor(&place, &["config"]).succeeded();
}

#[test]
fn config_shows_where_each_value_came_from_and_no_secret() {
    let key = "k1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
    let place = Place::sqlite()
        .with("CANDOR_MASTER_KEY", key)
        .with("CANDOR_DATABASE_URL", "postgres://app:hunter2@db.example/candor?sslmode=require")
        .with("CANDOR_CONFIG", "candor.toml");
    fs::write(place.folder.path().join("candor.toml"), "log = \"warn\"\nlisten = \"127.0.0.1:2\"\n").unwrap();
    let shown = candor(&place, &["config", "--log-format", "json", "--json"]).json();
    let of = |name: &str| (shown[name]["value"].clone(), shown[name]["origin"].clone());
    let url = "postgres://app:***@db.example/candor?sslmode=require";
    assert_eq!(of("database_url"), (json!(url), json!("environment")));
    assert_eq!(of("master_key"), (json!("***"), json!("environment")));
    assert_eq!(of("listen"), (json!("127.0.0.1:0"), json!("environment")));
    assert_eq!(of("log"), (json!("warn"), json!("file candor.toml")));
    assert_eq!(of("log_format"), (json!("json"), json!("flag")));
    assert_eq!(of("data_dir"), (json!("data"), json!("default")));
    assert_eq!(of("admin_listen"), (json!(null), json!("default")));
    let people = candor(&place, &["config"]).succeeded();
    for text in [shown.to_string(), people.stdout] {
        assert!(!text.contains("hunter2") && !text.contains("AAECAwQF"), "{text}");
    }
}

#[test]
fn wrong_usage_has_a_status_of_its_own() {
    for arguments in [&["fly"][..], &[], &["serve", "--role", "king"], &["key", "create"], &["key", "revoke", "x"]] {
        let it = candor(&Place::sqlite(), arguments);
        assert_eq!((it.code, it.stdout.as_str()), (Some(2), ""), "{arguments:?}: {}", it.stderr);
    }
}

#[test]
fn links_begin_where_the_operator_says_or_where_the_service_listens() {
    let public = "https://feedback.example.com/api";
    for (place, base) in [(Place::sqlite(), None), (Place::sqlite().with("CANDOR_PUBLIC_URL", public), Some(public))] {
        let key = place.key("*", &["--admin"]).secret;
        let service = Service::serve(&place);
        let made = service.client(&key).post("/v1/departments", &json!({"name": "x"})).unwrap();
        let base = base.map_or(format!("http://{}", service.address), str::to_owned);
        let id = made.json()["id"].as_str().unwrap().to_owned();
        assert_eq!(made.header("location"), Some(format!("{base}/v1/departments/{id}").as_str()));
    }
}

#[test]
fn only_pages_of_the_origins_that_are_set_may_read_answers() {
    let place = Place::sqlite().with("CANDOR_CORS_ORIGINS", "https://app.example.com");
    let service = Service::serve(&place);
    let mut client = service.anonymous().unwrap();
    for (origin, allowed) in [("https://app.example.com", true), ("https://evil.example.com", false)] {
        let answer = client.request("GET", "/v1/me", &[("Origin", origin)], None).unwrap();
        assert_eq!(answer.header("access-control-allow-origin"), allowed.then_some(origin));
    }
}
