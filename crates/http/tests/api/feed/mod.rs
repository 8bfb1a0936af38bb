//! The event feed is complete: every write of a readable resource fires an event, and a copy made from the lists
//! and the feed equals the stored data (decision F9).

pub(crate) mod copy;
mod families;
mod replica;

use candor_domain::access::{AccessLevel, Environment, Permissions};
use candor_http::table::{Method, ROUTES, Route};
use serde_json::{Value, json};

use crate::resources::{Resources, family, method, routes_of_v1};
use crate::support::TestApi;

/// Families whose writes fire no events: they describe the integration or one reader, not the data (§6.2.1).
const WITHOUT_EVENTS: [&str; 4] = ["webhooks", "api-keys", "portal-links", "notifications"];

/// Other writes that fire no event when they run alone, each with the reason.
const SILENT: [(&str, &str); 9] = [
    ("acceptInvitation", "the token is unknown here; `invitation_fires_an_event_for_each_step` covers it"),
    (
        "checkIdentityProvider",
        "nothing is proven here; `check_proves_domains_by_records_and_audiences_by_tokens` covers it",
    ),
    ("linkIdentity", "an account describes the sign-in, not the data"),
    ("beginSignIn", "a sign-in describes access, not the data"),
    ("endSignIn", "a session describes access, not the data"),
    ("unlinkIdentity", "an account describes the sign-in, not the data"),
    ("releaseEmployees", "no person is managed here; each released one fires `employee.updated`"),
    ("resetTestData", "removes the events too"),
    ("resolveSyncIssue", "an issue describes the integration, not the data"),
];

async fn events(world: &TestApi) -> Vec<Value> {
    let page = world.get("/v1/events?limit=100").await.json();
    assert_eq!(page["has_more"], false);
    page["data"].as_array().unwrap().clone()
}

fn is_silent(route: &Route) -> bool {
    WITHOUT_EVENTS.contains(&family(route)) || SILENT.iter().any(|(operation, _)| *operation == route.operation)
}

#[tokio::test]
async fn write_of_a_readable_resource_fires_an_event() {
    for (operation, _) in SILENT {
        assert!(ROUTES.iter().any(|route| route.operation == operation), "{operation} is no route");
    }
    for route in routes_of_v1().filter(|route| route.method != Method::Get && !is_silent(route)) {
        let world = TestApi::new().await;
        let resources = Resources::make(&world, &world.admin).await;
        resources.begin(&world, route).await;
        let count_before = events(&world).await.len();
        let request = world.ask(method(route), &resources.path(route));
        let response = resources.fill(request, route).send().await;
        assert!(response.status < 300, "{}: {}", route.operation, response.text());
        let new_events = events(&world).await.split_off(count_before);
        assert!(!new_events.is_empty(), "{} changes a readable resource and fires no event", route.operation);
    }
}

#[tokio::test]
async fn invitation_fires_an_event_for_each_step() {
    let world = TestApi::new().await;
    let person =
        json!({"email": "ada@example.com", "first_name": "Ada", "last_name": "Example", "send_invite": true});
    let id = world.made("/v1/employees", person).await;
    let invitation = world.post(&format!("/v1/employees/{id}/invite"), json!({})).await.json();
    let token = invitation["accept_url"].as_str().unwrap().split_once("token=").unwrap().1.to_owned();
    let acceptance = world.bare("POST", "/v1/invitations/accept").json(&json!({"token": token})).send().await;
    assert_eq!(acceptance.status, 200, "{}", acceptance.text());
    let all_events = events(&world).await;
    let kinds: Vec<_> = all_events.iter().map(|event| event["event"].as_str().unwrap()).collect();
    assert_eq!(
        kinds,
        [
            "employee.created",
            "invitation.created",
            "invitation.revoked",
            "invitation.created",
            "employee.updated",
            "invitation.accepted",
        ]
    );
    let statuses = [1, 2, 3, 5].map(|at: usize| all_events[at]["data"]["status"].clone());
    assert_eq!(statuses, ["pending", "revoked", "pending", "accepted"]);
    assert_eq!(all_events[5]["data"], world.get(&format!("/v1/employees/{id}/invitation")).await.json());
    assert!(all_events.iter().all(|event| !event.to_string().contains(&token)), "no event has the token");
}

#[tokio::test]
async fn connector_events_are_shown_only_to_admin_level() {
    let world = TestApi::new().await;
    world.made("/v1/connectors", json!({"type": "csv_feed", "hris_source": "acme"})).await;
    world.made("/v1/departments", json!({"name": "Care"})).await;
    let visible_events = events(&world).await;
    let kinds: Vec<_> = visible_events.iter().map(|event| event["event"].clone()).collect();
    assert_eq!(kinds, ["connector.created", "department.created"]);
    let standard = world.key(Permissions::ALL, AccessLevel::Standard, Environment::Live).await;
    let path = |event: &Value| format!("/v1/events/{}", event["id"].as_str().unwrap());
    for (event, status) in visible_events.iter().zip([404, 200]) {
        assert_eq!(world.bare("GET", &path(event)).key(&standard).send().await.status, status);
        assert_eq!(world.get(&path(event)).await.status, 200);
    }
    let page = world.bare("GET", "/v1/events?limit=1").key(&standard).send().await.json();
    assert_eq!(
        (&page["data"][0], &page["has_more"]),
        (&visible_events[1], &json!(false)),
        "the other event is not counted"
    );
}
