//! The published suite of Okta for SCIM servers ("Okta SCIM 2.0 SPEC Test"), as the table `okta.json`. The table
//! also has a request that is not in the suite.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Provider;
use crate::support::{Installation, Response};

const SUITE: &str = include_str!("okta.json");
/// Number of requests of the published suite. Its limit on the duration of a response is not part of the table.
const REQUESTS: usize = 12;
/// Variables of the suite that its user chooses.
const VARIABLES: [(&str, &str); 8] = [
    ("unknown", "abcdefgh@atko.com"),
    ("unknown_id", "010101001010101011001010101011"),
    ("unknown_number", "00919288221112222"),
    ("user_name", "grace.hopper@example.com"),
    ("user_name_capitals", "GRACE.HOPPER@EXAMPLE.COM"),
    ("email", "grace.work@example.com"),
    ("given", "Grace"),
    ("family", "Hopper"),
];

type Variables = BTreeMap<String, String>;

#[test]
fn suite_of_okta_passes_on_sqlite() {
    run_suite(&Installation::sqlite());
}

#[test]
fn suite_of_okta_passes_on_postgres() {
    if let Some(place) = Installation::postgres() {
        run_suite(&place);
    }
}

fn run_suite(place: &Installation) {
    let suite: Value = serde_json::from_str(SUITE).unwrap();
    let provider = Provider::new(place);
    // The suite expects one user, who may have no connector.
    provider.employee("ada@example.com");
    let mut variables: Variables =
        VARIABLES.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let requests = suite["requests"].as_array().unwrap();
    assert_eq!(requests.len(), REQUESTS);
    for row in requests {
        let response = send(&provider, &suite["headers"], row, &variables);
        judge(row, &response, &variables);
        for (name, path) in members(&row["keep"]) {
            let value = at(&response.json(), path.as_str().unwrap()).as_str().unwrap().to_owned();
            variables.insert(name.clone(), value);
        }
    }
}

fn send(provider: &Provider, headers: &Value, row: &Value, variables: &Variables) -> Response {
    let [method, path] = [0, 1].map(|part| row["request"][part].as_str().unwrap());
    let path = fill_variables(path, variables).replace(' ', "%20").replace('"', "%22");
    let bearer = format!("Bearer {}", provider.token);
    let authorization = row["authorization"].as_str().unwrap_or(&bearer);
    let usual = members(&headers[method]).map(|(name, value)| (name.as_str(), value.as_str().unwrap()));
    let headers: Vec<_> = usual.chain([("Authorization", authorization)]).collect();
    let body =
        row.get("body").map(|body| serde_json::from_str(&fill_variables(&body.to_string(), variables)).unwrap());
    let mut client = provider.service.anonymous().unwrap();
    client.request(method, &format!("/scim/v2{path}"), &headers, body.as_ref()).unwrap()
}

/// Compares a response with the assertions of its row.
fn judge(row: &Value, response: &Response, variables: &Variables) {
    let row_text = || format!("{}: {} {}", row["name"], response.status, response.text());
    assert_eq!(row["status"], response.status, "{}", row_text());
    assert_eq!(response.header("content-type"), Some("application/scim+json"), "{}", row_text());
    let body = response.json();
    for path in row["present"].as_array().into_iter().flatten() {
        let value = at(&body, path.as_str().unwrap());
        let is_empty = value.is_null() || *value == "" || value.as_array().is_some_and(Vec::is_empty);
        assert!(!is_empty, "{path} {}", row_text());
    }
    for path in row["numbers"].as_array().into_iter().flatten() {
        assert!(at(&body, path.as_str().unwrap()).is_u64(), "{path} {}", row_text());
    }
    for (path, wanted) in members(&row["contains"]) {
        let values = at(&body, path).as_array();
        assert!(values.is_some_and(|values| values.contains(wanted)), "{path} {}", row_text());
    }
    for (path, wanted) in members(&row["equal"]) {
        let expected_value =
            wanted.as_str().map_or(wanted.clone(), |text| Value::from(fill_variables(text, variables)));
        assert_eq!(*at(&body, path), expected_value, "{path} {}", row_text());
    }
}

/// Returns the members of an object. A row without the object has none.
fn members(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

/// Returns the value at a path such as `Resources[0].name.familyName`.
fn at<'a>(body: &'a Value, path: &str) -> &'a Value {
    let pointer = path.replace('[', "/").replace(']', "").replace('.', "/");
    body.pointer(&format!("/{pointer}")).unwrap_or(&Value::Null)
}

/// Replaces the names in braces by their values.
fn fill_variables(text: &str, variables: &Variables) -> String {
    variables.iter().fold(text.to_owned(), |text, (name, value)| text.replace(&format!("{{{name}}}"), value))
}
