//! First links by the id that the provider gave a person over SCIM.

use candor_domain::access::{AccessLevel, Environment, Permissions};
use candor_service::usecases::operator;

use super::*;
use crate::bearer_tokens;
use crate::scim::{Provider, user};

const NOT_LINKED: &str = "https://candor.example/console#error=not_linked";

/// Adds people of two connectors and of another organization. Returns the one with the external id `x-ada`.
async fn provision(world: &TestApi, stage: &Stage) -> String {
    let connectors = [Provider::new(world).await, Provider::new(world).await];
    world.patch(&format!("/v1/employees/{}", stage.person), json!({"external_id": "x-by-hand"})).await;
    let ada = connectors[0].made(&user("ada")).await;
    for (connector, name) in connectors.iter().zip(["eve", "eva"]) {
        let mut body = user(name);
        body["externalId"] = json!("x-twice");
        connector.made(&body).await;
    }
    let leaver = connectors[0].made(&user("leaver")).await;
    connectors[0].patch(&leaver, "active", json!(false)).await;
    let foreign = operator::create_organization(&world.services, "Foreign").await.unwrap();
    let key = world.key_of(foreign, Permissions::ALL, AccessLevel::Admin, Environment::Live).await;
    let brake = json!({"percent": 100, "at_least": 1_000_000});
    Provider::in_organization(world, &key, brake).await.made(&user("foreign")).await;
    ada
}

/// Claims that link no person, with the causes of the refusals.
fn refused_claims() -> [(Value, &'static str); 10] {
    [
        (json!({"oid": null}), "no_claim"),
        (json!({"oid": ""}), "no_claim"),
        (json!({"oid": 7}), "no_claim"),
        (json!({"oid": ["x-ada"]}), "no_claim"),
        // The claim `sub` is not the claim of the rule.
        (json!({"oid": null, "sub": "x-ada"}), "no_claim"),
        (json!({"oid": "X-ADA"}), "no_person"),
        (json!({"oid": "x-by-hand"}), "no_person"),
        (json!({"oid": "x-foreign"}), "no_person"),
        (json!({"oid": "x-twice"}), "ambiguous"),
        (json!({"oid": "x-leaver"}), "deactivated"),
    ]
}

#[tokio::test]
async fn account_is_linked_to_the_person_with_its_external_id() {
    for shared in every_store().await {
        let (world, what) = (&shared.world, shared.name);
        let stage = Stage::begin(world, json!({"link_by": "scim_external_id", "subject_claim": "oid"})).await;
        let person = provision(world, &stage).await;
        for (changes, cause) in refused_claims() {
            world.clock.advance_seconds(60);
            assert_eq!(stage.sign_in(world, changes.clone()).await.0, NOT_LINKED, "{what} {changes}");
            let entries = audit(world, "session.refuse").await;
            assert_eq!(entries[0]["changes"]["cause"]["to"], cause, "{what} {changes}");
        }
        let links = async || world.get(&format!("{}/links", stage.path())).await.json()["data"].clone();
        assert_eq!(links().await, json!([]), "{what}");
        // The address of the token, here that of another person, has no part in the rule.
        let (address, _) = stage.sign_in(world, json!({"oid": "x-ada"})).await;
        assert!(address.contains("#code="), "{what}: {address}");
        let links = links().await;
        assert_eq!((&links[0]["employee_id"], &links[0]["subject"]), (&json!(person), &json!("00u1")), "{what}");
        world.clock.advance_seconds(60);
        assert_eq!(stage.sign_in(world, json!({"oid": "x-ada", "sub": "00u2"})).await.0, NOT_LINKED, "{what}");
        assert_eq!(audit(world, "session.refuse").await[0]["changes"]["cause"]["to"], "other_account", "{what}");
        // The link of the account stays, whatever its tokens claim later.
        let (address, _) = stage.sign_in(world, json!({"oid": "x-twice"})).await;
        assert!(address.contains("#code="), "{what}: {address}");
    }
}

#[tokio::test]
async fn bearer_token_links_the_person_with_its_external_id() {
    for shared in every_store().await {
        let (world, what) = (&shared.world, shared.name);
        let stage = Stage::begin(world, json!({"link_by": "scim_external_id", "subject_claim": "oid"})).await;
        let claims = json!({"azp": "web", "candor_provider": stage.provider});
        let check = json!({"token": bearer_tokens::token(world, claims)});
        world.post(&format!("{}/check", stage.path()), check).await;
        let person = provision(world, &stage).await;
        let me = async |claims: Value| {
            let me = world.bare("GET", "/v1/me").key(&bearer_tokens::token(world, claims)).send().await;
            (me.status, me.json()["employee_id"].clone())
        };
        for (claims, _) in refused_claims() {
            assert_eq!(me(claims.clone()).await, (401, Value::Null), "{what} {claims}");
        }
        // A refused token is judged again after less than a second.
        world.clock.advance_seconds(1);
        assert_eq!(me(json!({"oid": "x-ada"})).await, (200, json!(person)), "{what}");
        assert_eq!(me(json!({"oid": "x-ada", "sub": "00u2"})).await.0, 401, "{what}: another account");
        assert_eq!(me(json!({})).await, (200, json!(person)), "{what}: linked");
    }
}
