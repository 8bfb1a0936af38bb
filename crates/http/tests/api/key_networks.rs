//! Networks limit the addresses from which a key can be used (decision B12).

use candor_http::HttpSettings;
use serde_json::{Value, json};

use crate::stores::every_store;
use crate::support::{TestApi, TestResponse};

const PROXY: &str = "10.0.0.1";
/// A client outside the networks of these tests.
const OUTSIDE: &str = "198.51.100.1";
/// A network that includes the default peer of the tests.
const OFFICE: &str = "192.0.2.0/24";
/// A network inside [`OFFICE`].
const DESK: &str = "192.0.2.7/32";

/// Creates a key with the rights of the admin key and these networks. Returns its id and its secret.
async fn create_admin_key(world: &TestApi, networks: &[&str]) -> (String, String) {
    let body = json!({"name": "Office", "scopes": ["*"], "access_level": "admin", "allowed_networks": networks});
    let response = world.post("/v1/api-keys", body).await;
    assert_eq!(response.status, 201, "{}", response.text());
    let member = |name: &str| response.json()[name].as_str().unwrap().to_owned();
    (member("id"), member("key"))
}

async fn get_me(world: &TestApi, key: &str, peer: &str) -> TestResponse {
    world.bare("GET", "/v1/me").key(key).with_peer(peer).send().await
}

async fn send(world: &TestApi, key: &str, method: &str, path: &str, body: Value) -> TestResponse {
    world.bare(method, path).key(key).json(&body).send().await
}

#[tokio::test]
async fn key_outside_its_networks_is_answered_as_unknown() {
    for shared in every_store().await {
        let world = &shared.world;
        let networks = [OFFICE, "2001:db8::/32"];
        let (id, key) = create_admin_key(world, &networks).await;
        let unknown = get_me(world, "cdr_live_unknown", OUTSIDE).await;
        for peer in [OUTSIDE, "192.0.3.1", "2001:db9::1", "::ffff:198.51.100.1"] {
            let response = get_me(world, &key, peer).await;
            assert_eq!(response.status, 401, "{} {peer}", shared.name);
            assert_eq!(response.without_request_id(), unknown.without_request_id(), "{} {peer}", shared.name);
        }
        let path = format!("/v1/api-keys/{id}");
        world.services.auth.flush_uses().await.unwrap();
        assert_eq!(world.get(&path).await.json()["last_used_at"], Value::Null, "{}", shared.name);
        for peer in ["192.0.2.9", "::ffff:192.0.2.9", "2001:db8::7"] {
            let response = get_me(world, &key, peer).await;
            assert_eq!(response.status, 200, "{} {peer}", shared.name);
            assert_eq!(response.json()["allowed_networks"], json!(networks), "{} {peer}", shared.name);
        }
        let page = world.get("/v1/api-keys?limit=1").await.json();
        assert_eq!(page["data"][0]["allowed_networks"], json!(networks), "{}", shared.name);
    }
}

#[tokio::test]
async fn uses_outside_the_networks_count_as_failures() {
    let world = TestApi::new().await;
    let (_, key) = create_admin_key(&world, &[OFFICE]).await;
    for _ in 0..60 {
        assert_eq!(get_me(&world, &key, OUTSIDE).await.status, 401);
    }
    assert_eq!(get_me(&world, &key, OUTSIDE).await.status, 429);
    assert_eq!(get_me(&world, &key, "192.0.2.9").await.status, 200);
}

#[tokio::test]
async fn networks_are_those_of_clients_behind_trusted_proxies() {
    let trusted_proxies = vec!["10.0.0.0/8".parse().unwrap()];
    let world = TestApi::with(HttpSettings { trusted_proxies, ..crate::support::patient_settings() }).await;
    let (_, office) = create_admin_key(&world, &["203.0.113.0/24"]).await;
    let (_, all) = create_admin_key(&world, &["0.0.0.0/0", "::/0"]).await;
    let table = [
        // key, peer, X-Forwarded-For, status
        (&office, PROXY, "203.0.113.5", 200),
        (&office, PROXY, "\"[::ffff:203.0.113.5]:443\"", 200),
        (&office, PROXY, "198.51.100.1, 203.0.113.5", 200),
        (&office, PROXY, "203.0.113.5, 198.51.100.1", 401),
        (&office, PROXY, "198.51.100.1", 401),
        (&office, PROXY, "unknown", 401),
        (&office, PROXY, "", 401),
        (&office, OUTSIDE, "203.0.113.5", 401),
        (&office, "203.0.113.5", "198.51.100.1", 200),
        (&all, PROXY, "2001:db8::1", 200),
        (&all, PROXY, "unknown", 401),
        (&all, PROXY, "0.0.0.0", 401),
        (&world.admin, PROXY, "unknown", 200),
    ];
    for (key, peer, forwarded, status) in table {
        let request = world.bare("GET", "/v1/me").key(key).with_peer(peer);
        let response = request.header("x-forwarded-for", forwarded).send().await;
        assert_eq!(response.status, status, "{peer} {forwarded}");
    }
}

#[tokio::test]
async fn changed_networks_apply_within_a_second() {
    for shared in every_store().await {
        let world = &shared.world;
        let (id, key) = create_admin_key(world, &[]).await;
        let peer = shared.instance(7);
        let outside = Some(OUTSIDE.parse().unwrap());
        assert_eq!(get_me(world, &key, OUTSIDE).await.status, 200, "{}", shared.name);
        assert!(peer.auth.authenticate_client(&key, outside).await.unwrap().is_some(), "{}", shared.name);
        let path = format!("/v1/api-keys/{id}");
        let response = world.patch(&path, json!({"allowed_networks": [OFFICE]})).await;
        assert_eq!(response.json()["allowed_networks"], json!([OFFICE]), "{}", response.text());
        assert_eq!(
            get_me(world, &key, OUTSIDE).await.status,
            401,
            "{}: the process of the change refuses it at once",
            shared.name
        );
        world.clock.advance_millis(900);
        assert!(peer.auth.authenticate_client(&key, outside).await.unwrap().is_none(), "{}", shared.name);
        let entry = &world.get("/v1/audit-log?limit=1").await.json()["data"][0];
        let change = json!({"from": [], "to": [OFFICE]});
        assert_eq!(entry["changes"]["allowed_networks"], change, "{}: {entry}", shared.name);
        let response = world.patch(&path, json!({"allowed_networks": []})).await;
        assert_eq!(response.status, 200, "{}", response.text());
        assert_eq!(get_me(world, &key, OUTSIDE).await.status, 200, "{}", shared.name);
    }
}

#[tokio::test]
async fn rotated_key_keeps_its_networks() {
    let world = TestApi::new().await;
    let (id, _) = create_admin_key(&world, &[OFFICE]).await;
    let rotation = world.post(&format!("/v1/api-keys/{id}/rotate"), json!({})).await.json();
    assert_eq!(rotation["allowed_networks"], json!([OFFICE]));
    let key = rotation["key"].as_str().unwrap();
    assert_eq!(get_me(&world, key, "192.0.2.9").await.status, 200);
    assert_eq!(get_me(&world, key, OUTSIDE).await.status, 401);
}

#[tokio::test]
async fn wrong_networks_of_a_key_are_refused() {
    let world = TestApi::new().await;
    let (id, _) = create_admin_key(&world, &[]).await;
    let path = format!("/v1/api-keys/{id}");
    for (networks, code) in [
        (json!(null), "required"),
        (json!(["10.1.2.3/8"]), "invalid_format"),
        (json!(["10.0.0.0/8", "10.0.0.0/8"]), "invalid_format"),
        (json!(vec!["10.0.0.0/8"; 21]), "too_long"),
    ] {
        let expected_problems = [("allowed_networks".to_owned(), code.to_owned())];
        let body = json!({"name": "Office", "scopes": ["*"], "allowed_networks": networks});
        assert_eq!(world.post("/v1/api-keys", body).await.problems(), expected_problems, "{networks}");
        let body = json!({"allowed_networks": networks});
        assert_eq!(world.patch(&path, body).await.problems(), expected_problems, "{networks}");
    }
}

#[tokio::test]
async fn limited_key_grants_only_networks_inside_its_own() {
    for shared in every_store().await {
        let world = &shared.world;
        let (id, key) = create_admin_key(world, &[OFFICE]).await;
        let (unlimited, _) = create_admin_key(world, &[]).await;
        let (own, foreign) = (format!("/v1/api-keys/{id}"), format!("/v1/api-keys/{unlimited}"));
        let rotation = format!("{foreign}/rotate");
        let new_key = |rest: Value| {
            let mut body = json!({"name": "Inner", "scopes": ["*"]});
            body.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
            body
        };
        let table = [
            ("POST", "/v1/api-keys", new_key(json!({})), 403),
            ("POST", "/v1/api-keys", new_key(json!({"allowed_networks": []})), 403),
            ("POST", "/v1/api-keys", new_key(json!({"allowed_networks": [OFFICE, "198.51.100.0/24"]})), 403),
            ("POST", "/v1/api-keys", new_key(json!({"allowed_networks": ["192.0.2.128/25"]})), 201),
            ("POST", "/v1/portal-links", json!({"scopes": ["*"], "allowed_networks": []}), 403),
            ("PATCH", &own, json!({"allowed_networks": []}), 403),
            ("PATCH", &own, json!({"allowed_networks": ["192.0.0.0/16"]}), 403),
            ("POST", &rotation, json!({}), 403),
            ("PATCH", &foreign, json!({"allowed_networks": ["198.51.100.0/24"]}), 403),
            ("PATCH", &own, json!({"allowed_networks": ["192.0.2.0/25"]}), 200),
            ("PATCH", &own, json!({"allowed_networks": [OFFICE]}), 403),
        ];
        for (method, path, body, status) in table {
            let response = send(world, &key, method, path, body.clone()).await;
            assert_eq!(response.status, status, "{} {method} {path} {body}: {}", shared.name, response.text());
        }
    }
}

#[tokio::test]
async fn stored_secret_is_not_replayed_into_narrower_networks() {
    let world = TestApi::new().await;
    let (_, limited) = create_admin_key(&world, &[OFFICE]).await;
    let (_, unlimited) = create_admin_key(&world, &[]).await;
    let (first_id, first) = create_admin_key(&world, &[]).await;
    let create = async |key: &str| {
        let body = json!({"name": "Again", "scopes": ["*"]});
        world.bare("POST", "/v1/api-keys").key(key).header("idempotency-key", "once").json(&body).send().await
    };
    assert_eq!(create(&first).await.status, 201);
    assert_eq!(create(&limited).await.refusal(), (409, "idempotency_conflict".to_owned()));
    // The stored secret is still valid everywhere, although the key that created it is limited now.
    let path = format!("/v1/api-keys/{first_id}");
    assert_eq!(send(&world, &unlimited, "PATCH", &path, json!({"allowed_networks": [DESK]})).await.status, 200);
    assert_eq!(create(&limited).await.refusal(), (409, "idempotency_conflict".to_owned()));
    assert_eq!(create(&first).await.refusal(), (401, "authentication_required".to_owned()), "outside");
    let inside = world.bare("POST", "/v1/api-keys").key(&first).with_peer("192.0.2.7");
    let body = json!({"name": "Again", "scopes": ["*"]});
    let refusal = inside.header("idempotency-key", "once").json(&body).send().await.refusal();
    assert_eq!(refusal, (409, "idempotency_conflict".to_owned()));
}

#[tokio::test]
async fn portal_link_has_the_networks_of_its_key() {
    for shared in every_store().await {
        let world = &shared.world;
        let (_, key) = create_admin_key(world, &[OFFICE]).await;
        let link =
            send(world, &key, "POST", "/v1/portal-links", json!({"scopes": ["webhooks:read"]})).await.json();
        assert_eq!(link["allowed_networks"], json!([OFFICE]), "{}: {link}", shared.name);
        let code = link["url"].as_str().unwrap().split_once("#code=").unwrap().1;
        let open = async |peer: &str| {
            let request = world.bare("POST", "/v1/portal-links/exchange").with_peer(peer);
            request.json(&json!({"code": code})).send().await
        };
        assert_eq!(open(OUTSIDE).await.refusal(), (404, "not_found".to_owned()), "{}", shared.name);
        let response = open("192.0.2.9").await;
        assert_eq!(response.status, 200, "{}: the code was not used up, {}", shared.name, response.text());
        let exchange = response.json();
        assert_eq!(exchange["allowed_networks"], json!([OFFICE]), "{}", shared.name);
        let key = exchange["key"].as_str().unwrap();
        assert_eq!(get_me(world, key, "192.0.2.9").await.status, 200, "{}", shared.name);
        assert_eq!(get_me(world, key, OUTSIDE).await.status, 401, "{}", shared.name);
    }
}

#[tokio::test]
async fn key_of_a_connector_has_networks_too() {
    let world = TestApi::new().await;
    let connector = world.post("/v1/connectors", json!({"type": "scim", "hris_source": "okta"})).await.json();
    let body = json!({"name": "Okta", "scopes": ["scim"], "connector_id": connector["id"],
        "allowed_networks": [OFFICE]});
    let creation = world.post("/v1/api-keys", body).await.json();
    let key = creation["key"].as_str().unwrap_or_else(|| panic!("{creation}"));
    let list = async |peer: &str| world.bare("GET", "/scim/v2/Users").key(key).with_peer(peer).send().await.status;
    assert_eq!((list("192.0.2.9").await, list(OUTSIDE).await), (200, 401));
}
