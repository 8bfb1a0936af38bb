//! `candor connector check` against a running service.

use serde_json::{Value, json};

use super::Provider;
use crate::support::{CommandResult, Installation, candor};

/// Number of requests of a check that only reads.
const READS: usize = 6;
/// Number of requests of a check that also writes.
const ALL: usize = 13;

#[test]
fn check_of_a_connector_passes_on_sqlite() {
    check_passes(Installation::sqlite());
}

#[test]
fn check_of_a_connector_passes_on_postgres() {
    if let Some(place) = Installation::postgres() {
        check_passes(place);
    }
}

fn check_passes(mut place: Installation) {
    let provider = Provider::new(&place);
    provider.employee("ada@example.com");
    let test = place.key_of(&provider.admin.organization, "scim", &["--connector", &provider.connector, "--test"]);
    for (token, options, requests) in
        [(&provider.token, &[][..], READS), (&test.secret, &["--write"], ALL), (&test.secret, &["--write"], ALL)]
    {
        let check_json = check(&mut place, &provider, token, options).json();
        assert_eq!(check_json["failed"], 0, "{check_json}");
        assert_eq!(check_json["data"].as_array().map(Vec::len), Some(requests), "{check_json}");
    }
    let people = provider.administrator().all("/v1/employees");
    assert_eq!(people.len(), 1, "the check writes to the test data set only: {people:?}");
}

#[test]
fn check_with_a_wrong_key_names_each_problem() {
    let mut place = Installation::sqlite();
    let provider = Provider::new(&place);
    let admin = provider.admin.secret.clone();
    let refusal = check(&mut place, &provider, &admin, &[]);
    assert_eq!(refusal.code, Some(1), "{}", refusal.stderr);
    let printed_json = refusal.object();
    assert_eq!(printed_json["failed"], READS);
    let problems: Vec<_> = printed_json["data"].as_array().unwrap().iter().map(|step| &step["problem"]).collect();
    let names_scope = |problem: &Value| problem.as_str().is_some_and(|text| text.contains("403"));
    assert!(problems.iter().all(|problem| names_scope(problem)), "{problems:?}");
    assert!(refusal.stderr.contains("6 of 6 requests"), "{}", refusal.stderr);
}

#[test]
fn writing_check_with_a_live_token_is_refused() {
    let mut place = Installation::sqlite();
    let provider = Provider::new(&place);
    let refusal = check(&mut place, &provider, &provider.token, &["--write"]);
    assert_eq!((refusal.code, refusal.stdout.as_str()), (Some(1), ""), "{}", refusal.stderr);
    assert!(refusal.stderr.contains("test data set") || refusal.stderr.contains("--test"), "{}", refusal.stderr);
    assert_eq!(provider.administrator().all("/v1/employees"), Vec::<Value>::new());
    let run_without_token = candor(&Installation::sqlite(), &["connector", "check", "--url", &provider.url()]);
    assert_eq!(run_without_token.code, Some(2));
    assert!(run_without_token.stderr.contains("CANDOR_API_KEY"), "{}", run_without_token.stderr);
}

#[test]
fn created_connector_prints_its_public_url_once() {
    let place = Installation::sqlite().with("CANDOR_PUBLIC_URL", "https://feedback.example.com/");
    let provider = Provider::new(&place);
    let create = ["connector", "create", "--kind", "scim", "--org", &provider.admin.organization, "--json"];
    let connector_json = candor(&place, &[&create[..], &["--source", "entra", "--test"]].concat()).json();
    assert_eq!(connector_json["url"], "https://feedback.example.com/scim/v2");
    assert!(connector_json["token"].as_str().unwrap().starts_with("cdr_test_"), "{connector_json}");
    let connectors = provider.administrator().all("/v1/connectors");
    let sources: Vec<_> = connectors.iter().map(|connector| &connector["hris_source"]).collect();
    assert!(sources.len() == 2 && sources.contains(&&json!("entra")), "{connectors:?}");
    assert!(!json!(connectors).to_string().contains(connector_json["token"].as_str().unwrap()));
}

fn check(place: &mut Installation, provider: &Provider, token: &str, options: &[&str]) -> CommandResult {
    place.settings.retain(|(name, _)| name != "CANDOR_API_KEY");
    place.settings.push(("CANDOR_API_KEY".to_owned(), token.to_owned()));
    candor(place, &[&["connector", "check", "--url", &provider.url(), "--json"], options].concat())
}
