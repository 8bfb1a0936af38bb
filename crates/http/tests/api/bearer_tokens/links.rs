//! First links of accounts by their tokens.

use futures_util::StreamExt;
use serde_json::{Value, json};

use super::{TokenStage, status_of, token};
use crate::stores::every_store;
use crate::support::TestApi;

#[tokio::test]
async fn first_token_links_the_person_with_the_verified_address() {
    for shared in every_store().await {
        let world = &shared.world;
        let stage = TokenStage::begin_unlinked(world, json!({"link_by": "verified_email"})).await;
        let invite =
            json!({"email": "new@acme.example", "first_name": "Neo", "last_name": "New", "send_invite": true});
        let pending = world.made("/v1/employees", invite).await;
        let with = |email: &str, changes: Value| {
            let mut claims = json!({"email": email, "email_verified": true, "sub": email});
            for (name, value) in changes.as_object().unwrap() {
                claims[name] = value.clone();
            }
            token(world, claims)
        };
        for (name, text) in [
            ("unverified", with("token@acme.example", json!({"email_verified": false}))),
            ("verified as a text", with("token@acme.example", json!({"email_verified": "true"}))),
            ("without address", with("token@acme.example", json!({"email": null}))),
            ("unproven domain", with("token@other.example", json!({}))),
            ("nobody", with("nobody@acme.example", json!({}))),
            ("pending invitation", with("new@acme.example", json!({}))),
        ] {
            assert_eq!(status_of(world, &text).await, 401, "{name} {}", shared.name);
        }
        let links = world.get(&format!("{}/links", stage.path())).await.json();
        assert_eq!(links["data"], json!([]), "{pending}");
        let text = with("Token@Acme.example", json!({}));
        assert_eq!(status_of(world, &text).await, 200, "{}", shared.name);
        let links = world.get(&format!("{}/links", stage.path())).await.json();
        assert_eq!(links["data"][0]["employee_id"], stage.person);
        let entries = world.get("/v1/audit-log?filter[action]=employee.link_identity").await.json();
        assert_eq!(entries["data"][0]["actor"]["type"], "employee", "{entries}");
        assert_eq!(entries["data"][0]["context"]["via"], json!({"identity_provider_id": stage.provider}));
        let second = with("token@acme.example", json!({"sub": "second"}));
        assert_eq!(status_of(world, &second).await, 401, "the person has another account");
    }
}

#[tokio::test]
async fn concurrent_first_tokens_of_an_account_are_all_accepted() {
    for shared in every_store().await {
        let world = &shared.world;
        TokenStage::begin_unlinked(world, json!({"link_by": "verified_email"})).await;
        let claims = json!({"email": "token@acme.example", "email_verified": true});
        let texts: Vec<_> = (0..8).map(|number| with_id(world, &claims, number)).collect();
        let statuses = futures_util::future::join_all(texts.iter().map(|text| status_of(world, text))).await;
        assert_eq!(statuses, [200; 8], "{}", shared.name);
    }
}

#[tokio::test]
async fn token_does_not_bring_back_a_removed_link() {
    for shared in every_store().await {
        let world = &shared.world;
        let stage = TokenStage::begin_unlinked(world, json!({"link_by": "verified_email"})).await;
        let claims = json!({"email": "token@acme.example", "email_verified": true});
        assert_eq!(status_of(world, &token(world, claims.clone())).await, 200, "{}", shared.name);
        let remove = format!("{}/links/{}", stage.path(), stage.person);
        assert_eq!(world.ask("DELETE", &remove).send().await.status, 204, "{}", shared.name);
        world.clock.advance_seconds(120);
        assert_eq!(status_of(world, &token(world, claims.clone())).await, 401, "{}", shared.name);
        stage.link(world, super::SUBJECT, &stage.person).await;
        assert_eq!(status_of(world, &token(world, claims)).await, 200, "{}", shared.name);
    }
}

#[tokio::test]
async fn only_a_changed_mailbox_keeps_a_person_from_the_first_token() {
    for shared in every_store().await {
        let world = &shared.world;
        let stage = TokenStage::begin_unlinked(world, json!({"link_by": "verified_email"})).await;
        let moved_person = world.employee("former@acme.example").await;
        world.patch(&format!("/v1/employees/{moved_person}"), json!({"email": "moved@acme.example"})).await;
        // Keys without any access to people write these entries about the persons.
        for person in [&stage.person, &moved_person] {
            let read_all =
                (0..501).map(|_| world.post("/v1/notifications/read_all", json!({"recipient_id": person})));
            let responses = futures_util::stream::iter(read_all).buffer_unordered(8).collect::<Vec<_>>().await;
            assert!(responses.iter().all(|response| response.status == 200), "{}", shared.name);
        }
        let with = |email: &str| token(world, json!({"email": email, "email_verified": true, "sub": email}));
        assert_eq!(status_of(world, &with("moved@acme.example")).await, 401, "{}", shared.name);
        assert_eq!(status_of(world, &with("token@acme.example")).await, 200, "{}", shared.name);
    }
}

/// Returns a token that differs from the others in its id.
fn with_id(world: &TestApi, claims: &Value, number: usize) -> String {
    let mut claims = claims.clone();
    claims["jti"] = json!(number);
    token(world, claims)
}
