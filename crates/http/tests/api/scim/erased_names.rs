//! Texts of connectors that name an erased person are removed, in whatever spelling of the address. Texts that name
//! the next holder of the address stay.

use candor_service::runtime::erasure;
use serde_json::json;

use super::{ENTERPRISE, Provider, user};
use crate::stores::every_store;
use crate::support::{TestApi, TestResponse};

/// Local part of the address of the erased person. A message that is cut off after 200 characters ends within the
/// domain.
const LOCAL: &str = "zqmark.with.a.name.of.sixty.characters.in.the.local.part";

async fn upload(world: &TestApi, key: &str, row: &str) -> (String, TestResponse) {
    world.clock.advance_seconds(60);
    let connector = world.made("/v1/connectors", json!({"type": "csv_feed", "hris_source": key})).await;
    (connector.clone(), repeat_upload(world, &connector, key, row).await)
}

async fn repeat_upload(world: &TestApi, connector: &str, key: &str, row: &str) -> TestResponse {
    let request = world.ask("POST", &format!("/v1/employees/csv?connector_id={connector}"));
    let file = format!("email,first_name,last_name,manager_email\n{row}\n");
    request.header("content-type", "text/csv").header("idempotency-key", key).body(file).send().await
}

async fn org_admin(world: &TestApi) {
    let admin =
        json!({"email": "admin@example.com", "first_name": "Ada", "last_name": "Moreau", "role": "org_admin"});
    world.made("/v1/employees", admin).await;
}

pub(super) async fn continue_erasures(world: &TestApi) {
    for _ in 0..4 {
        erasure::run_due(&world.services, || true).await.unwrap();
        world.clock.advance_seconds(20);
    }
}

/// Returns the lists that show texts of connectors, each as path and answer in lower case.
async fn texts(world: &TestApi, provider: &Provider<'_>) -> Vec<(String, String)> {
    let issues = format!("/v1/connectors/{}/sync-issues?filter[resolved]=all", provider.connector);
    let lists = ["connectors", "audit-log", "notifications", "events"].map(|list| format!("/v1/{list}?limit=100"));
    let mut texts = vec![];
    for path in lists.into_iter().chain([issues]) {
        let text = world.get(&path).await.text().to_lowercase();
        texts.push((path, text));
    }
    texts
}

#[tokio::test]
async fn other_spellings_of_an_erased_address_are_removed() {
    for shared in every_store().await {
        let world = &shared.world;
        org_admin(world).await;
        let provider = Provider::new(world).await;
        let row = format!("jo@example.com,Jo,Berg,{}@XN--MLLER-KVA.example", LOCAL.to_uppercase());
        let (connector, response) = upload(world, "spelled", &row).await;
        assert!(response.text().to_lowercase().contains(LOCAL), "{}", response.text());
        let long = "x".repeat(81);
        let (truncated, _) =
            upload(world, "truncated", &format!("jo@example.com,{long},{long},{LOCAL}@müller.example")).await;
        let message = world.get(&format!("/v1/connectors/{truncated}")).await.json()["last_sync_message"].clone();
        assert!(
            message.as_str().unwrap().ends_with('…') && message.as_str().unwrap().contains(LOCAL),
            "{message}"
        );
        let mut report = user("report");
        report[ENTERPRISE] = json!({"manager": {"value": format!("{LOCAL}@mu\u{308}ller.example")}});
        provider.made(&report).await;
        for (path, text) in texts(world, &provider).await {
            assert!(text.contains("zqmark"), "{} {path}: {text}", shared.name);
        }

        let person = world.employee(&format!("{LOCAL}@müller.example")).await;
        assert_eq!(world.post(&format!("/v1/employees/{person}/deactivate"), json!({})).await.status, 200);
        assert_eq!(world.post(&format!("/v1/employees/{person}/erasure"), json!({})).await.status, 202);
        continue_erasures(world).await;
        assert_eq!(world.get("/v1/erasures").await.json()["data"][0]["status"], "completed");
        for (path, text) in texts(world, &provider).await {
            assert!(!text.contains("zqmark"), "{} {path}: {text}", shared.name);
        }
        let replay = repeat_upload(world, &connector, "spelled", &row).await;
        assert_eq!(replay.status, 404, "{}: {}", shared.name, replay.text());
    }
}

/// Returns the number of mentions of the address in each of the [`texts`].
async fn count_mentions(world: &TestApi, provider: &Provider<'_>) -> Vec<usize> {
    texts(world, provider).await.into_iter().map(|(_, text)| text.matches("zqmark").count()).collect()
}

#[tokio::test]
async fn texts_about_the_next_holder_of_an_address_stay() {
    for shared in every_store().await {
        let world = &shared.world;
        org_admin(world).await;
        let provider = Provider::new(world).await;
        let (held, person) = (provider.made(&user("held")).await, provider.made(&user("zqmark")).await);
        let hold =
            world.ask("PUT", &format!("/v1/employees/{held}/legal-hold")).json(&json!({"reason": "Lawsuit"}));
        assert_eq!(hold.send().await.status, 200);
        let observation =
            json!({"employee_id": person, "author_id": held, "type": "strength", "observation": "Plain"});
        world.made("/v1/observations", observation).await;
        assert!(provider.patch(&person, "active", json!(false)).await.status < 300);
        assert_eq!(world.post(&format!("/v1/employees/{person}/erasure"), json!({})).await.status, 202);
        continue_erasures(world).await;
        assert_eq!(world.get("/v1/erasures").await.json()["data"][0]["kept_by_hold"], 1);
        assert_eq!(count_mentions(world, &provider).await, vec![0; 5], "{}", shared.name);

        upload(world, "next", "jo@example.com,Jo,Berg,zqmark@example.com").await;
        let next_holder = provider.made(&user("zqmark")).await;
        assert_ne!(next_holder, person);
        let other = provider.made(&user("other")).await;
        assert_eq!(provider.patch(&other, "userName", json!("zqmark@example.com")).await.status, 409);
        let named_before = count_mentions(world, &provider).await;
        assert!(named_before.iter().all(|count| *count > 0), "{}: {named_before:?}", shared.name);
        for release_hold in [false, true] {
            if release_hold {
                let path = format!("/v1/employees/{held}/legal-hold");
                assert_eq!(world.ask("DELETE", &path).send().await.status, 204);
            }
            world.clock.advance_seconds(24 * 3600);
            continue_erasures(world).await;
            assert_eq!(count_mentions(world, &provider).await, named_before, "{} {release_hold}", shared.name);
        }
        assert_eq!(world.get("/v1/erasures").await.json()["data"][0]["status"], "completed");
    }
}
