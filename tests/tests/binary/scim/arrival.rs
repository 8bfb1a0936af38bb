//! People who arrive before their managers, from a provider with several connections.

use std::collections::BTreeMap;
use std::sync::Barrier;
use std::thread;

use serde_json::{Value, json};

use super::Provider;
use crate::support::{Installation, Service};

/// Number of people of the provider.
const PEOPLE: usize = 240;
/// Number of reports of each manager.
const REPORTS: usize = 10;
/// Number of connections of the provider.
const CONNECTIONS: usize = 6;
/// Distance between the numbers of two people who arrive one after the other. It has no common divisor with
/// `PEOPLE`, so that each person arrives once.
const STEP: usize = 97;
/// Number of people who arrive together with their manager.
const PAIRS: usize = 40;
const ENTERPRISE: &str = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User";

#[test]
fn people_in_any_order_have_their_managers_on_sqlite() {
    arrive(&Installation::sqlite());
}

#[test]
fn people_in_any_order_have_their_managers_on_postgres() {
    if let Some(place) = Installation::postgres() {
        arrive(&place);
    }
}

fn arrive(place: &Installation) {
    let provider = Provider::new(place);
    thread::scope(|scope| {
        for connection in 0..CONNECTIONS {
            let provider = &provider;
            scope.spawn(move || create_part(provider, connection));
        }
    });
    let people = provider.administrator().all("/v1/employees");
    assert_eq!(people.len(), PEOPLE, "each person exists once");
    let by_id: BTreeMap<&str, &str> = people.iter().map(|person| (text(person, "id"), number(person))).collect();
    let wrong: Vec<_> = people
        .iter()
        .filter(|person| {
            let manager = person["manager_id"].as_str().map(|id| by_id[id].to_owned());
            manager != manager_of(number(person).parse().unwrap())
        })
        .map(|person| (number(person), person["manager_id"].as_str().map(|id| by_id[id])))
        .collect();
    assert!(wrong.is_empty(), "{} people without their manager: {wrong:?}", wrong.len());
    let connector = provider.administrator().get(&format!("/v1/connectors/{}", provider.connector)).unwrap();
    assert_eq!(connector.json()["open_issues"], 0, "{}", connector.text());
}

#[test]
fn report_and_manager_may_arrive_together_on_sqlite() {
    let place = Installation::sqlite();
    let provider = Provider::new(&place);
    arrive_together(&provider, &provider.service);
}

#[test]
fn report_and_manager_may_arrive_at_two_processes() {
    let Some(place) = Installation::postgres() else { return };
    arrive_together(&Provider::new(&place), &Service::serve(&place));
}

/// Sends reports to the service of the provider and their managers to another service, in pairs.
fn arrive_together(provider: &Provider, other: &Service) {
    let barrier = Barrier::new(2);
    let send = |service: &Service, prefix: &str, manager: Option<&str>| {
        let mut client = service.client(&provider.token);
        for number in 0..PAIRS {
            let id = |prefix: &str| format!("{prefix}-{number}");
            let manager = manager.map(id);
            barrier.wait();
            let response = client.post("/scim/v2/Users", &user(&id(prefix), manager.as_deref())).unwrap();
            assert_eq!(response.status, 201, "{}", response.text());
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| send(&provider.service, "report", Some("manager")));
        send(other, "manager", None);
    });
    let people = provider.administrator().all("/v1/employees");
    let people_without_manager: Vec<_> = people
        .iter()
        .filter(|person| number(person).starts_with("report") && person["manager_id"].is_null())
        .map(number)
        .collect();
    assert!(
        people.len() == 2 * PAIRS && people_without_manager.is_empty(),
        "{} people without manager: {people_without_manager:?}",
        people_without_manager.len()
    );
}

/// Sends every `CONNECTIONS`th person.
fn create_part(provider: &Provider, connection: usize) {
    let mut client = provider.service.client(&provider.token);
    for place in (connection..PEOPLE).step_by(CONNECTIONS) {
        let response = client.post("/scim/v2/Users", &numbered_user(place * STEP % PEOPLE)).unwrap();
        assert_eq!(response.status, 201, "{}", response.text());
    }
}

fn numbered_user(number: usize) -> Value {
    user(&number.to_string(), manager_of(number).as_deref())
}

fn user(external_id: &str, manager: Option<&str>) -> Value {
    let mut user = json!({
        "userName": format!("{external_id}@example.com"), "externalId": external_id, "active": true,
        "name": {"givenName": "Ada", "familyName": "Example"},
    });
    if let Some(manager) = manager {
        user[ENTERPRISE] = json!({"manager": {"value": manager}});
    }
    user
}

/// Returns the `externalId` of a person's manager. The first person has none.
fn manager_of(number: usize) -> Option<String> {
    Some((number.checked_sub(1)? / REPORTS).to_string())
}

fn number(person: &Value) -> &str {
    text(person, "external_id")
}

fn text<'a>(person: &'a Value, member: &str) -> &'a str {
    person[member].as_str().unwrap()
}
