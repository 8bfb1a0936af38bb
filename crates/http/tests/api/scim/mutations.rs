//! Mutated bodies: each request has a whole effect or none, and is never answered by a server error.

use candor_domain::json::Value as Json;
use candor_test_explore as explore;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{RngCore, SeedableRng};
use serde_json::{Value, json};

use super::{DIALECTS, Provider, user};
use crate::support::{TestApi, TestResponse};

#[path = "../../../../provisioning/tests/rules/scim_dialects/mutate.rs"]
mod mutate;

/// Mutated bodies that the test sends in the gate, and in an exploration.
const BODIES: [usize; 2] = [1_000, 50_000];
/// Number of people that the requests are about. Few, so that identifiers collide.
const PEOPLE: usize = 5;

/// Sends a body as text: a mutated object may have a member twice.
async fn send(provider: &Provider<'_>, method: &str, path: &str, body: &Json) -> TestResponse {
    // The advance keeps the requests below the quota of the key.
    provider.world.clock.advance_millis(100);
    let request = provider.world.bare(method, &format!("/scim/v2{path}")).key(&provider.key);
    let text = serde_json::to_string(body).unwrap();
    request.header("content-type", "application/scim+json").body(text).send().await
}

async fn read_user(provider: &Provider<'_>, id: &str) -> Option<Value> {
    provider.world.clock.advance_millis(100);
    let response = provider.get(&format!("/Users/{id}")).await;
    (response.status == 200).then(|| response.json())
}

#[tokio::test]
async fn mutated_bodies_have_a_whole_effect_or_none() {
    let world = TestApi::new().await;
    let provider = Provider::new(&world).await;
    let rows: Vec<Value> = serde_json::from_str(DIALECTS).unwrap();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(explore::seed(18));
    let mut people = Vec::new();
    for number in 0..PEOPLE {
        let id = provider.made(&user(&format!("p{number}"))).await;
        let user_before = read_user(&provider, &id).await.unwrap();
        people.push((id, user_before));
    }
    let (mut accepted, mut refused) = (0, 0);
    let bodies = explore::size(BODIES[0], BODIES[1]);
    for number in 0..bodies {
        let row = &rows[number % rows.len()];
        let request: Json = serde_json::from_value(row["request"].clone()).unwrap();
        let body = mutate::mutate(request, 4 + u32::try_from(number % 29).unwrap(), &mut random);
        let person_index = usize::try_from(random.next_u32()).unwrap() % people.len();
        let (id, before) = people[person_index].clone();
        let path = format!("/Users/{id}");
        let response = match row["operation"].as_str().unwrap() {
            "create" => send(&provider, "POST", "/Users", &body).await,
            "replace" => send(&provider, "PUT", &path, &body).await,
            _ => send(&provider, "PATCH", &path, &body).await,
        };
        let text = response.text();
        assert!(response.status < 500, "{number}: {body:?}: {text}");
        if response.status < 300 {
            accepted += 1;
            let user = response.json();
            let user_id = user["id"].as_str().unwrap().to_owned();
            let user_after = read_user(&provider, &user_id).await;
            assert_eq!(user_after.as_ref(), Some(&user), "{number}: {body:?}");
            people.retain(|(id, _)| *id != user_id);
            people.push((user_id, user));
        } else {
            refused += 1;
            assert_eq!(response.json()["status"], response.status.to_string(), "{number}: {text}");
            assert_eq!(read_user(&provider, &id).await.as_ref(), Some(&before), "{number}: {body:?}: {text}");
        }
        let total = provider.get("/Users?count=0").await.json()["totalResults"].clone();
        assert_eq!(total, json!(people.len()), "{number}: {body:?}: {text}");
    }
    for (id, stored) in &people {
        assert_eq!(read_user(&provider, id).await.as_ref(), Some(stored), "no request changed another person");
    }
    assert!(accepted > bodies / 10 && refused > bodies / 10, "{accepted} accepted, {refused} refused");
}
