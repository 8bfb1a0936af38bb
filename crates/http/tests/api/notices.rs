//! Notifications to org admins about expiring keys and failing uploads (decision G).

use candor_service::runtime::reminders;
use serde_json::{Value, json};

use crate::stores::every_store;
use crate::support::{TestApi, TestResponse};

const DAY: i64 = 86_400;

async fn admin(world: &TestApi) -> String {
    let person =
        json!({"email": "admin@example.com", "first_name": "Ada", "last_name": "Moreau", "role": "org_admin"});
    world.made("/v1/employees", person).await
}

async fn notices_of(world: &TestApi, kind: &str) -> Vec<Value> {
    let all = world.get("/v1/notifications?limit=100&sort=created_at").await.json();
    let of_kind = all["data"].as_array().unwrap().iter().filter(|item| item["type"] == kind);
    of_kind.cloned().collect()
}

async fn send_reminders(world: &TestApi) -> u64 {
    reminders::due_reminders(&world.services, || true).await.unwrap()
}

#[tokio::test]
async fn key_expiry_is_notified_to_org_admins_three_times() {
    for shared in every_store().await {
        let world = &shared.world;
        let admin = admin(world).await;
        let end = world.services.clock.now().plus_seconds(20 * 86_400).to_string();
        let body = json!({"name": "HR sync", "scopes": ["*"], "expires_at": end});
        let key = world.post("/v1/api-keys", body).await.json()["id"].as_str().unwrap().to_owned();
        let key_body = json!({"name": "Old", "scopes": ["*"], "expires_at": end});
        let revoked_id = world.post("/v1/api-keys", key_body).await.json()["id"].as_str().unwrap().to_owned();
        assert_eq!(world.post(&format!("/v1/api-keys/{revoked_id}/revoke"), json!({})).await.status, 200);
        let mut days = vec![];
        for day in 1..=21 {
            world.clock.advance_seconds(DAY);
            let count = send_reminders(world).await;
            assert_eq!(send_reminders(world).await, 0, "each reminder is sent once");
            if count > 0 {
                days.push(20 - day);
            }
        }
        assert_eq!(days, [14, 3, 1], "{}", shared.name);
        let notices = notices_of(world, "api_key.expiring").await;
        assert_eq!(notices.len(), 3);
        assert_eq!((&notices[0]["recipient_id"], &notices[0]["target"]["id"]), (&json!(admin), &json!(key)));
        assert!(notices[0]["title"].as_str().unwrap().contains("14 days"), "{}", notices[0]);
        assert!(notices[2]["body"].as_str().unwrap().contains(&end), "{}", notices[2]);
        let audit_page = world.get("/v1/audit-log?filter[action]=api_key.remind").await.json();
        assert_eq!(audit_page["data"].as_array().unwrap().len(), 3);
    }
}

#[tokio::test]
async fn key_with_a_later_expiry_is_notified_before_the_new_end() {
    for shared in every_store().await {
        let world = &shared.world;
        admin(world).await;
        let end = |days: i64| world.services.clock.now().plus_seconds(days * 86_400).to_string();
        let body = json!({"name": "HR sync", "scopes": ["*"], "expires_at": end(15)});
        let key = world.post("/v1/api-keys", body).await.json()["id"].as_str().unwrap().to_owned();
        let response = world.patch(&format!("/v1/api-keys/{key}"), json!({"expires_at": end(30)})).await;
        assert_eq!(response.status, 200, "{}", response.text());
        world.clock.advance_seconds(15 * DAY);
        assert_eq!(send_reminders(world).await, 0, "{}", shared.name);
        world.clock.advance_seconds(DAY);
        assert_eq!(send_reminders(world).await, 1);
        let instances = [shared.instance(71), shared.instance(72)];
        world.clock.advance_seconds(11 * DAY);
        let both = tokio::join!(
            reminders::due_reminders(&instances[0], || true),
            reminders::due_reminders(&instances[1], || true)
        );
        assert_eq!(both.0.unwrap() + both.1.unwrap(), 1, "two processes send a reminder once");
        let endless = world.patch(&format!("/v1/api-keys/{key}"), json!({"expires_at": null})).await;
        assert_eq!(endless.status, 200);
        world.clock.advance_seconds(2 * DAY);
        assert_eq!(send_reminders(world).await, 0, "the key has no expiry any more");
    }
}

async fn upload(world: &TestApi, connector: &str, more: &str, file: &str) -> TestResponse {
    world.clock.advance_seconds(60);
    let request = world.ask("POST", &format!("/v1/employees/csv?connector_id={connector}{more}"));
    request.header("content-type", "text/csv").body(file.to_owned()).send().await
}

const GOOD: &str = "email,first_name,last_name\nines@example.com,Ines,Neil\njonas@example.com,Jonas,Berg\n";
const ONE_BAD: &str = "email,first_name,last_name\nines@example.com,Ines,Neill\nnobody,Jonas,Berg\n";
const ALL_BAD: &str = "email,first_name,last_name\nnobody,Jonas,Berg\n";
const UNREADABLE: &str = "email,first_name\n\"ines";
const HEADLESS: &str = "first_name,last_name\nInes,Neil\n";

#[tokio::test]
async fn connector_shows_the_result_of_its_last_upload() {
    for shared in every_store().await {
        let world = &shared.world;
        admin(world).await;
        let id = world.made("/v1/connectors", json!({"type": "csv_feed", "hris_source": "acme"})).await;
        let path = format!("/v1/connectors/{id}");
        let connector = world.get(&path).await.json();
        assert_eq!(
            (&connector["status"], &connector["last_sync_at"], &connector["last_sync_status"]),
            (&json!("pending"), &json!(null), &json!(null))
        );
        assert_eq!(upload(world, &id, "&dry_run=true", GOOD).await.status, 200);
        assert_eq!(upload(world, &id, "&dry_run=true", UNREADABLE).await.status, 400);
        assert_eq!(world.get(&path).await.json(), connector, "a dry run is no sync");
        let table = [
            // file,     answer, status,    sync,        message,                  notifications so far
            (GOOD, 200, "active", "succeeded", "", 0),
            (GOOD, 200, "active", "succeeded", "", 0),
            (ONE_BAD, 200, "active", "partial", "1 of 2 rows had errors, the first in row 3", 0),
            (ALL_BAD, 200, "failing", "failed", "1 of 1 rows had errors", 1),
            (UNREADABLE, 400, "failing", "failed", "line 2", 1),
            (GOOD, 200, "active", "succeeded", "", 1),
            (HEADLESS, 400, "failing", "failed", "email", 2),
        ];
        for (number, (file, answered, status, sync, says, count)) in table.into_iter().enumerate() {
            let reply = upload(world, &id, "", file).await;
            assert_eq!(reply.status, answered, "{} {number}: {}", shared.name, reply.text());
            let connector_after = world.get(&path).await.json();
            assert_eq!(
                (&connector_after["status"], &connector_after["last_sync_status"]),
                (&json!(status), &json!(sync)),
                "{number}"
            );
            assert_eq!(connector_after["last_sync_at"], json!(world.services.clock.now().to_string()), "{number}");
            let message = connector_after["last_sync_message"].as_str().unwrap_or_default();
            assert!(message.contains(says) && message.is_empty() == says.is_empty(), "{number}: {message}");
            assert_eq!(notices_of(world, "connector.sync_failed").await.len(), count, "{} {number}", shared.name);
        }
        let audit_page = world.get("/v1/audit-log?filter[action]=connector.sync").await.json();
        assert_eq!(audit_page["data"].as_array().unwrap().len(), table.len());
        assert_eq!(audit_page["data"][0]["changes"]["status"], json!({"from": "active", "to": "failing"}));
    }
}

#[tokio::test]
async fn retried_upload_is_one_sync() {
    for shared in every_store().await {
        let world = &shared.world;
        let id = world.made("/v1/connectors", json!({"type": "csv_feed", "hris_source": "acme"})).await;
        let send = async || {
            let request = world.ask("POST", &format!("/v1/employees/csv?connector_id={id}"));
            let request = request.header("content-type", "text/csv").header("idempotency-key", "nightly");
            request.body(GOOD.to_owned()).send().await
        };
        let first = send().await;
        let last_sync_at = world.get(&format!("/v1/connectors/{id}")).await.json()["last_sync_at"].clone();
        world.clock.advance_seconds(60);
        assert_eq!(send().await.json(), first.json());
        assert_eq!(
            world.get(&format!("/v1/connectors/{id}")).await.json()["last_sync_at"],
            last_sync_at,
            "{}",
            shared.name
        );
    }
}
