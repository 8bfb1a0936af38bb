//! API keys: their permissions, and the delay until a change takes effect (§5, decisions B4 to B7).

use std::sync::Arc;

use crate::support::{NOON, Receivers, TestServices, body, json, kind, member, params, process};
use candor_domain::access::api_key::generate;
use candor_domain::access::{AccessLevel, AdminContext, Environment, Permission, Permissions};
use candor_domain::id::KeyId;
use candor_domain::json::Object;
use candor_domain::problem::{Code, ValueError};
use candor_domain::refusal::DomainError;
use candor_service::usecases::{audit_log, keys, operator, organization};
use candor_service::{Error, Services};
use candor_store_testkit::FaultyCall as Stored;

#[tokio::test]
async fn valid_key_is_cached_between_requests() {
    let world = TestServices::new().await;
    let (_, secret) = operator::create_key(&world.services, world.key_request()).await.unwrap();
    let lookups_before = world.store.calls(Stored::Authenticate);
    for _ in 0..100 {
        assert!(world.services.auth.authenticate(secret.reveal()).await.unwrap().is_some());
    }
    assert_eq!(world.store.calls(Stored::Authenticate) - lookups_before, 1);
    assert!(world.services.auth.authenticate("cdr_live_guess").await.unwrap().is_none());
    assert_eq!(
        world.store.calls(Stored::Authenticate) - lookups_before,
        1,
        "a key with a bad checksum is not looked up"
    );
}

#[tokio::test]
async fn unknown_key_is_looked_up_once_a_second_until_created() {
    let world = TestServices::new().await;
    let lookups = || world.store.calls(Stored::Authenticate);
    let is_authentic =
        async |services: &Services, secret: &str| services.auth.authenticate(secret).await.unwrap().is_some();
    // A service with the same seed generates the same secret, so the test can use the key before it exists.
    let twin = TestServices::new().await;
    let (_, secret) = operator::create_key(&twin.services, twin.key_request()).await.unwrap();
    let lookups_before = lookups();
    for _ in 0..100 {
        assert!(!is_authentic(&world.services, secret.reveal()).await);
    }
    assert_eq!(lookups() - lookups_before, 1, "an unknown key is cached as unknown");
    world.clock.advance_millis(900);
    assert!(!is_authentic(&world.services, secret.reveal()).await);
    assert_eq!(lookups() - lookups_before, 2, "the cache entry lasts less than a second");
    let other = process(&world.clock, &world.store, Arc::new(Receivers), 8);
    assert!(!is_authentic(&other, secret.reveal()).await);
    let (_, made) = operator::create_key(&world.services, world.key_request()).await.unwrap();
    assert_eq!(made.reveal(), secret.reveal());
    assert!(is_authentic(&world.services, secret.reveal()).await, "valid at once in the process that created it");
    world.clock.advance_millis(900);
    assert!(is_authentic(&other, secret.reveal()).await, "valid within a second in other processes");
}

#[tokio::test]
async fn many_unknown_keys_do_not_evict_a_valid_key() {
    let world = TestServices::new().await;
    let (_, secret) = operator::create_key(&world.services, world.key_request()).await.unwrap();
    assert!(world.services.auth.authenticate(secret.reveal()).await.unwrap().is_some());
    let lookups_before = world.store.calls(Stored::Authenticate);
    for number in 0..10_100_u32 {
        let mut random = [7; 32];
        random[..4].copy_from_slice(&number.to_be_bytes());
        let made_up = generate(Environment::Live, random);
        assert!(world.services.auth.authenticate(made_up.reveal()).await.unwrap().is_none());
    }
    assert_eq!(world.store.calls(Stored::Authenticate) - lookups_before, 10_100);
    assert!(world.services.auth.authenticate(secret.reveal()).await.unwrap().is_some());
    assert_eq!(world.store.calls(Stored::Authenticate) - lookups_before, 10_100, "the valid key is still cached");
}

#[tokio::test]
async fn revoked_key_is_refused_here_at_once_and_elsewhere_in_1_s() {
    let world = TestServices::new().await;
    let (id, secret) = operator::create_key(&world.services, world.key_request()).await.unwrap();
    let good = async || world.services.auth.authenticate(secret.reveal()).await.unwrap().is_some();
    assert!(good().await);
    operator::revoke_key(&world.services, id).await.unwrap();
    world.clock.advance_millis(1_000);
    assert!(!good().await);

    let (id, secret) = operator::create_key(&world.services, world.key_request()).await.unwrap();
    assert!(world.services.auth.authenticate(secret.reveal()).await.unwrap().is_some());
    keys::revoke(&world.admin(), id).await.unwrap();
    assert!(world.services.auth.authenticate(secret.reveal()).await.unwrap().is_none());
}

#[tokio::test]
async fn key_expires_at_the_exact_millisecond() {
    let world = TestServices::new().await;
    let mut order = world.key_request();
    order.expires_at = Some(NOON.plus_seconds(1));
    let (_, secret) = operator::create_key(&world.services, order).await.unwrap();
    world.clock.advance_millis(999);
    assert!(world.services.auth.authenticate(secret.reveal()).await.unwrap().is_some());
    world.clock.advance_millis(1);
    assert!(world.services.auth.authenticate(secret.reveal()).await.unwrap().is_none());
}

#[tokio::test]
async fn key_with_a_past_expiry_is_refused() {
    let world = TestServices::new().await;
    for (seconds, made) in [(-1, false), (0, false), (1, true)] {
        let mut order = world.key_request();
        order.expires_at = Some(NOON.plus_seconds(seconds));
        let creation_error = operator::create_key(&world.services, order).await.err();
        let expected_error = Error::Refused(DomainError::invalid(
            "expires_at",
            ValueError::new(Code::OutOfRange, "must be in the future"),
        ));
        assert_eq!(
            creation_error.map(|error| error.to_string()),
            (!made).then(|| expected_error.to_string()),
            "{seconds}"
        );
    }
}

#[tokio::test]
async fn rotated_secret_stays_valid_for_the_overlap() {
    let world = TestServices::new().await;
    let (id, old) = operator::create_key(&world.services, world.key_request()).await.unwrap();
    let reply = keys::rotate(&world.admin(), id, body(r#"{"overlap_seconds":60}"#)).await.unwrap();
    let new = member(&reply, "key");
    for (seconds, old_is_good) in [(0, true), (59, true), (1, false)] {
        world.clock.advance_seconds(seconds);
        assert_eq!(world.services.auth.authenticate(old.reveal()).await.unwrap().is_some(), old_is_good);
        assert!(world.services.auth.authenticate(&new).await.unwrap().is_some());
    }
}

#[tokio::test]
async fn key_beyond_the_callers_access_is_denied() {
    let world = TestServices::new().await;
    let mut caller = (*world.admin().caller).clone();
    caller.scopes = Permissions::NONE.with(Permission::SettingsWrite).with(Permission::EventsRead);
    let context = world.call(caller.clone());
    let create = async |text: &str| kind(keys::create(&context, body(text)).await);
    assert_eq!(create(r#"{"name":"a","scopes":["events:read"]}"#).await, "done");
    assert_eq!(create(r#"{"name":"a","scopes":["observations:read"]}"#).await, "denied");
    assert_eq!(create(r#"{"name":"a","scopes":["*"]}"#).await, "denied");
    let (all, _) = operator::create_key(&world.services, world.key_request()).await.unwrap();
    assert_eq!(kind(keys::rotate(&context, all, Object::new()).await), "denied");
    caller.level = AccessLevel::Standard;
    let standard =
        candor_service::RequestContext { admin_context: Some(AdminContext::Settings), ..world.call(caller) };
    let error = keys::create(&standard, body(r#"{"name":"a","scopes":["events:read"]}"#)).await;
    assert_eq!(kind(error), "denied");
}

#[tokio::test]
async fn bound_key_follows_status_and_role_of_its_person() {
    let world = TestServices::new().await;
    let person = world.hire("ada", None).await;
    let mut order = world.key_request();
    order.employee = Some(person.to_string());
    order.level = AccessLevel::Standard;
    let (_, secret) = operator::create_key(&world.services, order).await.unwrap();
    let caller = async || {
        world.clock.advance_seconds(1);
        world.services.auth.authenticate(secret.reveal()).await.unwrap()
    };
    assert!(!caller().await.unwrap().is_data_admin());
    let other = world.hire("grace", None).await;
    for promoted in [other, person] {
        let promote = body(r#"{"role":"org_admin"}"#);
        candor_service::usecases::employees::update(&world.admin(), promoted, promote).await.unwrap();
    }
    assert!(caller().await.unwrap().is_data_admin());
    candor_service::usecases::employees::deactivate(&world.admin(), person).await.unwrap();
    assert!(caller().await.is_none());
}

#[tokio::test]
async fn last_use_of_a_key_is_minute_exact_and_not_a_version() {
    let world = TestServices::new().await;
    let (id, secret) = operator::create_key(&world.services, world.key_request()).await.unwrap();
    let read_key = async |id: KeyId| keys::get(&world.admin(), id).await.unwrap();
    let key_before = read_key(id).await;
    world.clock.advance_seconds(95);
    world.services.auth.authenticate(secret.reveal()).await.unwrap();
    world.services.auth.flush_uses().await.unwrap();
    let key_after = read_key(id).await;
    assert_eq!(json(&key_after)["last_used_at"], NOON.plus_seconds(60).to_string());
    assert_eq!(key_after.version, key_before.version);
    assert_ne!(key_after.etag_extra, key_before.etag_extra, "the ETag covers the last use");
}

#[tokio::test]
async fn organization_rename_is_audited_once_per_data_set() {
    let world = TestServices::new().await;
    for changed in [true, false] {
        let renaming = operator::rename_organization(&world.services, world.organization, "Acme Group").await;
        assert_eq!(renaming.unwrap(), changed);
    }
    for environment in [Environment::Live, Environment::Test] {
        let mut caller = (*world.admin().caller).clone();
        caller.tenant.environment = environment;
        let context = world.call(caller);
        assert_eq!(member(&organization::get(&context).await.unwrap(), "name"), "Acme Group");
        let filter = params(&[("filter[action]", "organization.update")]);
        let entries = json(&audit_log::list(&context, filter).await.unwrap());
        assert_eq!(entries["data"].as_array().map(Vec::len), Some(1), "{entries}");
        let entry = &entries["data"][0];
        assert_eq!(entry["actor"], serde_json::json!({"type": "system", "id": null, "name": "operator"}));
        assert_eq!(entry["changes"]["name"], serde_json::json!({"from": "Acme", "to": "Acme Group"}));
    }
    let error = operator::rename_organization(&world.services, world.organization, "").await;
    assert!(matches!(error, Err(Error::Refused(DomainError::Invalid(_)))), "{error:?}");
}
