//! The background work of one organization does not delay the background work of other organizations.

use std::sync::Arc;

use candor_domain::access::{AccessLevel, Environment, Permissions, Tenant};
use candor_service::runtime::{erasure, retention, search_index};
use candor_service::usecases::operator;
use serde_json::json;

use crate::retention::DAY;
use crate::stores::{every_faulty_store, every_store};
use crate::support::TestApi;

/// Creates a person, deactivates the person and requests an erasure. Returns the path of the erasure.
async fn begin(world: &TestApi, key: &str, name: &str) -> String {
    let send = async |path: &str, body: serde_json::Value| {
        let response = world.bare("POST", path).key(key).json(&body).send().await;
        assert!(response.status < 300, "{path}: {}", response.text());
        response.json()
    };
    let body = json!({"email": format!("{name}@example.com"), "first_name": name, "last_name": "Moreau"});
    let id = send("/v1/employees", body).await["id"].as_str().unwrap().to_owned();
    send(&format!("/v1/employees/{id}/deactivate"), json!({})).await;
    let erasure_response = send(&format!("/v1/employees/{id}/erasure"), json!({})).await;
    format!("/v1/erasures/{}", erasure_response["id"].as_str().unwrap())
}

#[tokio::test]
async fn organizations_take_turns_at_erasures() {
    for shared in every_store().await {
        let world = &shared.world;
        let other = operator::create_organization(&world.services, "Other").await.unwrap();
        let other = world.key_of(other, Permissions::ALL, AccessLevel::Admin, Environment::Live).await;
        let mut own = vec![];
        for number in 0..4 {
            own.push(begin(world, &world.admin, &format!("person{number}")).await);
            world.clock.advance_seconds(1);
        }
        let foreign = begin(world, &other, "guest").await;
        let status =
            async |key: &str, path: &str| world.bare("GET", path).key(key).send().await.json()["status"].clone();
        for _ in 0..50 {
            // Each check whether to continue takes so long that one erasure uses the working time of a run.
            let clock = Arc::clone(&world.clock);
            let slow = move || {
                clock.advance_seconds(6);
                true
            };
            erasure::run_due(&world.services, slow).await.unwrap();
            if status(&other, &foreign).await == "completed" {
                break;
            }
        }
        assert_eq!(status(&other, &foreign).await, "completed", "{}", shared.name);
        assert_eq!(status(&world.admin, &own[3]).await, "running", "the last erasure waits, {}", shared.name);
    }
}

/// Creates archived observations about a person, and a rule that removes them after 30 days. Returns the path of the
/// last observation.
async fn archive(world: &TestApi, key: &str, count: usize) -> String {
    let send = async |path: &str, body: serde_json::Value| {
        let response = world.bare("POST", path).key(key).json(&body).send().await;
        assert!(response.status < 300, "{path}: {}", response.text());
        response.json()
    };
    let person = json!({"email": "anna@example.com", "first_name": "Anna", "last_name": "Moreau"});
    let person = send("/v1/employees", person).await["id"].clone();
    let mut last = String::new();
    for _ in 0..count {
        let body = json!({"employee_id": person, "type": "strength", "observation": "Listens."});
        last = format!("/v1/observations/{}", send("/v1/observations", body).await["id"].as_str().unwrap());
        send(&format!("{last}/archive"), json!({})).await;
        world.clock.advance_seconds(1);
    }
    let body = json!({"retention": {"archived_observations": "P30D"}});
    let settings_response = world.bare("PATCH", "/v1/organization").key(key).json(&body).send().await;
    assert_eq!(settings_response.status, 200, "{}", settings_response.text());
    last
}

#[tokio::test]
async fn organizations_take_turns_at_retention_runs() {
    for (world, faulty, _database) in every_faulty_store().await {
        let other = operator::create_organization(&world.services, "Other").await.unwrap();
        let other = world.key_of(other, Permissions::ALL, AccessLevel::Admin, Environment::Live).await;
        // More than two pieces, so that the first organization needs more than two calls.
        archive(&world, &world.admin, 120).await;
        let foreign = archive(&world, &other, 1).await;
        world.clock.advance_seconds(40 * DAY);
        faulty.set_time(world.services.clock.now());
        let clock = Arc::clone(&world.clock);
        // Each check whether to continue takes so long that one piece uses the working time of a call.
        let slow = move || {
            clock.advance_seconds(6);
            true
        };
        retention::run_due(&world.services, slow).await.unwrap();
        let archived_rows = world.get("/v1/observations?filter[archived]=true&limit=100").await.json();
        assert_eq!(archived_rows["data"].as_array().unwrap().len(), 70);
        let response = world.bare("GET", &foreign).key(&other).send().await;
        assert_eq!(response.status, 404);
    }
}

#[tokio::test]
async fn organizations_take_turns_at_the_search_index() {
    for shared in every_store().await {
        let world = &shared.world;
        let other = operator::create_organization(&world.services, "Other").await.unwrap();
        let tenants = [Tenant::live(world.organization), Tenant::live(other)];
        let other = world.key_of(other, Permissions::ALL, AccessLevel::Admin, Environment::Live).await;
        // Each text has 12,000 bytes, so that a piece has 200 texts.
        let text: String = (0x4e00..).filter_map(char::from_u32).take(4_000).collect();
        for (key, count) in [(&world.admin, 450), (&other, 1)] {
            let send = async |path: &str, body: serde_json::Value| {
                let response = world.bare("POST", path).key(key).json(&body).send().await;
                assert!(response.status < 300, "{path}: {}", response.text());
                response.json()
            };
            let person = json!({"email": "anna@example.com", "first_name": "Anna", "last_name": "Moreau"});
            let person = send("/v1/employees", person).await["id"].clone();
            for _ in 0..count {
                world.clock.advance_seconds(1);
                let body = json!({"employee_id": person, "type": "strength", "observation": text});
                send("/v1/observations", body).await;
            }
        }
        let store = &world.services.store;
        let (mut tables, mut after) = (0, None);
        while let Some(next) = store.next_pending(after.as_ref()).await.unwrap() {
            (tables, after) = (tables + 1, Some(next));
        }
        let pieces = std::cell::Cell::new(0);
        let goes_on = || pieces.replace(pieces.get() + 1) < tables;
        search_index::index_pending(&world.services, goes_on).await.unwrap();
        let pending =
            async |tenant: Tenant| store.index_state(tenant, "observations", 1_000).await.unwrap().pending.len();
        assert_eq!((pending(tenants[0]).await, pending(tenants[1]).await), (250, 0), "{}", shared.name);
    }
}
