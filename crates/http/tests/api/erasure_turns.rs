//! Erasures of one organization do not hold back those of others.

use std::sync::Arc;

use candor_domain::access::{AccessLevel, Environment, Permissions};
use candor_service::runtime::erasure;
use candor_service::usecases::operator;
use serde_json::json;

use crate::stores::every_store;
use crate::support::TestApi;

/// Creates a person, who leaves, and begins their erasure. Returns its path.
async fn begin(world: &TestApi, key: &str, name: &str) -> String {
    let send = async |path: &str, body: serde_json::Value| {
        let answered = world.bare("POST", path).key(key).json(&body).send().await;
        assert!(answered.status < 300, "{path}: {}", answered.text());
        answered.json()
    };
    let body = json!({"email": format!("{name}@example.com"), "first_name": name, "last_name": "Moreau"});
    let id = send("/v1/employees", body).await["id"].as_str().unwrap().to_owned();
    send(&format!("/v1/employees/{id}/deactivate"), json!({})).await;
    let begun = send(&format!("/v1/employees/{id}/erasure"), json!({})).await;
    format!("/v1/erasures/{}", begun["id"].as_str().unwrap())
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
            // Each look at the clock takes so long that one erasure uses the working time of a run.
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
        assert_eq!(status(&world.admin, &own[3]).await, "running", "the last one waits, {}", shared.name);
    }
}
