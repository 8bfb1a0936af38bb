//! The feed, subscriptions and replays show a resource only to keys with the read scope of its family (decision F6).

use candor_domain::access::{AccessLevel, Environment, Permission, Permissions};
use candor_domain::event::EventType;
use candor_domain::export::ExportedResource;
use candor_domain::fields::StringEnum;
use serde_json::json;

use super::events;
use crate::resources::Resources;
use crate::stores::every_store;

#[tokio::test]
async fn feed_has_the_events_whose_resources_the_key_may_read() {
    for shared in every_store().await {
        let world = &shared.world;
        Resources::make(world, &world.admin).await;
        let all = events(world).await;
        let kind = |event: &serde_json::Value| EventType::from_word(event["event"].as_str().unwrap()).unwrap();
        let scopes = Permission::ALL.iter().copied().filter(|scope| *scope != Permission::Scim);
        for scope in scopes {
            let own = Permissions::NONE.with(Permission::EventsRead).with(scope);
            let key = world.key(own, AccessLevel::Admin, Environment::Live).await;
            let page = world.bare("GET", "/v1/events?limit=100").key(&key).send().await.json();
            let event_ids: Vec<_> =
                page["data"].as_array().unwrap().iter().map(|event| event["id"].clone()).collect();
            let is_readable = |event: &&serde_json::Value| {
                let read_scope = kind(event).needed_scope();
                let is_exported =
                    |needed| ExportedResource::ALL.iter().any(|resource| resource.read_scope() == needed);
                read_scope.is_none_or(|needed| {
                    needed == scope || (scope == Permission::ExportsRead && is_exported(needed))
                })
            };
            let expected_ids: Vec<_> = all.iter().filter(is_readable).map(|event| event["id"].clone()).collect();
            assert_eq!(event_ids, expected_ids, "{scope:?} on {}", shared.name);
            for event in &all {
                let path = format!("/v1/events/{}", event["id"].as_str().unwrap());
                let status = world.bare("GET", &path).key(&key).send().await.status;
                assert_eq!(status == 200, is_readable(&event), "{scope:?} {}", event["event"]);
            }
        }
    }
}

#[tokio::test]
async fn feed_does_not_count_events_that_the_key_may_not_read() {
    for shared in every_store().await {
        let world = &shared.world;
        let key = world.scoped(&[Permission::EventsRead]).await;
        let now = world.bare("GET", "/v1/events?since=now").key(&key).send().await.json();
        let cursor = now["next_cursor"].as_str().unwrap().to_owned();
        world.observation("ada@example.com").await;
        let page = world.bare("GET", &format!("/v1/events?limit=1&cursor={cursor}")).key(&key).send().await.json();
        assert_eq!((&page["data"], &page["has_more"]), (&json!([]), &json!(false)), "on {}", shared.name);
        let response = world.bare("GET", "/v1/events?filter[event]=summary.created").key(&key).send().await;
        assert_eq!(response.refusal(), (403, "permission_denied".to_owned()));
    }
}

#[tokio::test]
async fn audit_log_shows_values_under_the_scope_of_their_target() {
    for shared in every_store().await {
        let world = &shared.world;
        let id = world.employee("ada@example.com").await;
        world.patch(&format!("/v1/employees/{id}"), json!({"job_title": "SECRET"})).await;
        let log = format!("/v1/audit-log?filter[target_id]={id}");
        for (scopes, is_shown) in [
            (Permissions::NONE.with(Permission::AuditRead), false),
            (Permissions::NONE.with(Permission::AuditRead).with(Permission::SummariesRead), false),
            (Permissions::NONE.with(Permission::AuditRead).with(Permission::EmployeesRead), true),
        ] {
            let key = world.key(scopes, AccessLevel::Admin, Environment::Live).await;
            let read = world.bare("GET", &log).key(&key).send().await;
            assert_eq!(read.text().contains("SECRET"), is_shown, "{} on {}", read.text(), shared.name);
            assert_eq!(read.json()["data"].as_array().unwrap().len(), 2, "the entries are shown to every key");
        }
    }
}

#[tokio::test]
async fn subscription_and_replay_need_the_read_scope_of_each_family() {
    for shared in every_store().await {
        let world = &shared.world;
        let own = Permissions::NONE.with(Permission::WebhooksWrite).with(Permission::ObjectivesRead);
        let key = world.key(own, AccessLevel::Standard, Environment::Live).await;
        let create = async |types: &[&str], payload: &str| {
            let body = json!({"url": "https://receiver.example/in", "event_types": types, "payload": payload});
            world.bare("POST", "/v1/webhooks").key(&key).json(&body).send().await
        };
        let every = create(&["*"], "full").await;
        assert_eq!(every.status, 201, "{}", every.text());
        let event_types = every.json()["effective_event_types"].clone();
        assert!(event_types.as_array().unwrap().contains(&json!("objective.created")), "{event_types}");
        assert!(!event_types.to_string().contains("summary."), "{event_types}");
        let response = create(&["objective.created", "summary.created"], "full").await;
        assert_eq!(response.refusal(), (403, "permission_denied".to_owned()));
        assert_eq!(response.json()["error"]["details"], json!([{"required_scope": "summaries:read"}]));
        assert_eq!(create(&["summary.created"], "thin").await.status, 201);

        // The subscription of an admin key, which gets more events than the other key may read.
        let body = json!({"url": "https://receiver.example/in", "event_types": ["*"]});
        let webhook = world.post("/v1/webhooks", body).await.json();
        assert_eq!(webhook["effective_event_types"], json!(["*"]));
        let path = format!("/v1/webhooks/{}", webhook["id"].as_str().unwrap());
        let start = world.services.clock.now().to_string();
        let replay = async |types: &[&str]| {
            let body = json!({"since": start, "only": "all", "event_types": types});
            world.bare("POST", &format!("{path}/replay")).key(&key).json(&body).send().await.status
        };
        assert_eq!(replay(&["summary.created"]).await, 403);
        assert_eq!((replay(&["objective.created"]).await, replay(&["*"]).await), (202, 202));
        let patch_response = world
            .bare("PATCH", &path)
            .key(&key)
            .json(&json!({"url": "https://receiver.example/other"}))
            .send()
            .await;
        assert_eq!(
            patch_response.refusal(),
            (403, "permission_denied".to_owned()),
            "the key may not read the events of the subscription"
        );
        let own = format!("/v1/webhooks/{}", every.json()["id"].as_str().unwrap());
        let body = json!({"url": "https://receiver.example/other"});
        let owner_response = world.bare("PATCH", &own).key(&key).json(&body).send().await;
        assert_eq!(owner_response.json()["effective_event_types"], event_types, "{}", owner_response.text());
    }
}
