//! Isolation of organizations, data sets and connectors on every SCIM route.

use candor_domain::access::{AccessLevel, Environment, Permissions};
use candor_service::usecases::operator;
use serde_json::{Value, json};

use super::{ENTERPRISE, Provider, user};
use crate::stores::every_store;

/// Every route: its method, its path, and `true` if its request has a body. `USER` is the path of a user of
/// another tenant or connector, `ID` the id of this user.
const ROUTES: [(&str, &str, bool); 21] = [
    ("GET", "USER", false),
    ("HEAD", "USER", false),
    ("PUT", "USER", true),
    ("PATCH", "USER", true),
    ("DELETE", "USER", false),
    ("GET", "/Users?filter=id%20eq%20%22ID%22", false),
    ("GET", "/Users?filter=userName%20eq%20%22ada@example.com%22", false),
    ("GET", "/Users?filter=externalId%20eq%20%22x-ada%22", false),
    ("GET", "/Users?filter=emails.value%20eq%20%22ada@example.com%22", false),
    ("GET", "/Users?filter=manager%20eq%20%22ID%22", false),
    ("GET", "/Users?filter=active%20eq%20true", false),
    ("GET", "/Users", false),
    ("GET", "/Users?cursor=", false),
    ("GET", "/ServiceProviderConfig", false),
    ("GET", "/ResourceTypes", false),
    ("GET", "/ResourceTypes/User", false),
    ("GET", "/Schemas", false),
    ("GET", "/Schemas/urn:ietf:params:scim:schemas:core:2.0:User", false),
    ("GET", "/Groups", false),
    ("GET", "/Me", false),
    ("POST", "/.search", true),
];

fn body(method: &str) -> Value {
    match method {
        "PATCH" => json!({"Operations": [{"op": "replace", "path": "active", "value": false}]}),
        _ => user("mallory"),
    }
}

#[tokio::test]
async fn user_of_another_connector_or_tenant_is_absent_everywhere() {
    for shared in every_store().await {
        let world = &shared.world;
        let brake_off = || json!({"percent": 100, "at_least": 1_000_000});
        let owner = Provider::new(world).await;
        let other = operator::create_organization(&world.services, "Other").await.unwrap();
        let admin = world.key_of(other, Permissions::ALL, AccessLevel::Admin, Environment::Live).await;
        let strangers = [
            ("connector", Provider::new(world).await),
            ("data set", owner.with_test_key().await),
            ("organization", Provider::in_organization(world, &admin, brake_off()).await),
        ];
        let boss = owner.made(&user("boss")).await;
        let mut ada = user("ada");
        ada[ENTERPRISE] = json!({"manager": {"value": boss}, "department": "Care"});
        let id = owner.made(&ada).await;
        let user_before = owner.get(&format!("/Users/{id}")).await.json();
        for (name, stranger) in &strangers {
            for (method, path, has_body) in ROUTES {
                let body = has_body.then(|| body(method));
                for id in [&id, &boss] {
                    let path = path.replace("USER", &format!("/Users/{id}")).replace("ID", id);
                    let response = if method == "HEAD" {
                        world.bare(method, &format!("/scim/v2{path}")).key(&stranger.key).send().await
                    } else {
                        stranger.send(method, &path, body.as_ref()).await
                    };
                    let text = response.text();
                    if path.strip_prefix("/Users").is_some_and(|rest| rest.starts_with('/')) {
                        assert_eq!(response.status, 404, "{method} {path} of another {name}: {text}");
                    } else if path.starts_with("/Users") {
                        let total = response.json()["totalResults"].clone();
                        assert_eq!((response.status, total), (200, json!(0)), "{method} {path}: {text}");
                    }
                    assert!(!text.contains("Ada") && !text.contains("x-ada"), "{method} {path}: {text}");
                }
            }
            // A reference to a person of another tenant names no person.
            let mut zoe = user("zoe");
            zoe[ENTERPRISE] = json!({"manager": {"value": "x-boss"}});
            if *name != "connector" {
                let own_user = stranger.made(&zoe).await;
                let user_json = stranger.get(&format!("/Users/{own_user}")).await.json();
                assert_eq!(user_json[ENTERPRISE]["manager"], json!({"value": "x-boss"}), "another {name}");
                assert_ne!(stranger.made(&user("ada")).await, id, "another {name}");
            } else {
                let response = stranger.send("POST", "/Users", Some(&user("ada"))).await;
                assert_eq!(response.status, 409);
                assert!(!response.text().contains(&id), "{}", response.text());
            }
        }
        assert_eq!(owner.get(&format!("/Users/{id}")).await.json(), user_before, "on {}", shared.name);
    }
}
