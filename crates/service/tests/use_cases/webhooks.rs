//! Re-encryption of secrets, and replays that take more than one call.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use candor_domain::access::{Environment, Tenant};
use candor_domain::audit::{Actor, AuditEntry, Origin, Target};
use candor_domain::event::{Event, EventType};
use candor_domain::id::{AuditId, EventId, IdentityProviderId, WebhookId};
use candor_domain::json::Object;
use candor_domain::params::Params;
use candor_domain::time::Timestamp;
use candor_port_clock::{Clock, SeededIds};
use candor_port_storage::{ChangeSet, StorageExt};
use candor_service::context::vault::{SealContext, Vault};
use candor_service::usecases::audit_log;
use candor_service::usecases::identity_providers;
use candor_service::usecases::webhooks::{self, RekeyCounts, UnsealableError};
use candor_service::{Error, Outcome, RequestContext, ServiceSettings, Services};
use candor_sign_in::IdentityProvider;
use candor_store_testkit::{Fault, FaultyCall as StoreCall};
use candor_subscriptions::Subscription;
use serde_json::json;
use ulid::Ulid;

use crate::support::{NOON, TestServices, body, json, member, params, sent_to};

/// The key of the fixture's ring.
const OLD: &str = "k1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
/// The key that replaces `OLD`.
const NEW: &str = "k2:ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8=";

/// Creates another process on the same store, with this key ring and clock.
fn process(world: &TestServices, ring: &str, clock: Arc<dyn Clock>) -> Arc<Services> {
    let settings = ServiceSettings {
        max_subscriptions: 1_000,
        ..ServiceSettings::with_public_url("http://localhost:8080".to_owned())
    };
    let receivers = Arc::clone(&world.services.webhook_transport);
    let (store, ids) = (Arc::clone(&world.store) as _, Arc::new(SeededIds::new(99)));
    Arc::new(Services::new(store, clock, ids, Vault::parse(ring).unwrap(), receivers, settings))
}

fn with_ring(world: &TestServices, ring: &str) -> Arc<Services> {
    process(world, ring, Arc::clone(&world.clock) as _)
}

fn receiver() -> Object {
    body(r#"{"url": "https://receiver.example/", "event_types": ["employee.created"]}"#)
}

async fn subscribe(context: &RequestContext) -> (WebhookId, String) {
    let reply = webhooks::create(context, receiver()).await.unwrap();
    (member(&reply, "id").parse().unwrap(), member(&reply, "secret"))
}

async fn read_subscription(world: &TestServices, tenant: Tenant, id: WebhookId) -> Subscription {
    world.services.store.row::<Subscription>(tenant, id).await.unwrap().unwrap().value
}

/// Decrypts the newest secret of a subscription with this ring; `None` if the ring lacks the key.
async fn open_newest(world: &TestServices, tenant: Tenant, id: WebhookId, ring: &str) -> Option<String> {
    let sealed_secret = read_subscription(world, tenant, id).await.secrets.last()?.sealed.clone();
    open_secret(tenant, id, ring, &sealed_secret)
}

/// Decrypts a secret of a subscription with this ring. `None` if the ring lacks the key.
fn open_secret(tenant: Tenant, id: WebhookId, ring: &str, sealed: &[u8]) -> Option<String> {
    let place = SealContext { purpose: "webhook", tenant: Some(tenant), row: &id.to_bytes() };
    Vault::parse(ring).unwrap().open(&place, sealed).ok().and_then(|bytes| String::from_utf8(bytes).ok())
}

fn test_call(world: &TestServices) -> RequestContext {
    let admin = world.admin();
    let mut caller = (*admin.caller).clone();
    caller.tenant.environment = Environment::Test;
    RequestContext { caller: Arc::new(caller), ..admin }
}

#[tokio::test]
async fn rekey_moves_secrets_of_all_tenants_to_the_first_master_key() {
    let world = TestServices::new().await;
    let (live, test) = (world.admin(), test_call(&world));
    let mut all = vec![];
    for number in 0..205 {
        let context = if number % 3 == 0 { &test } else { &live };
        let (id, secret) = subscribe(context).await;
        all.push((context.caller.tenant, id, secret));
    }
    let webhook_json = webhooks::get(&live, all[1].1, Params::new(vec![])).await.unwrap().body;
    let both = with_ring(&world, &format!("{NEW},{OLD}"));
    let (_, new_secret) = subscribe(&sent_to(&both, &live)).await;
    world.clock.advance_seconds(1);
    assert_eq!(webhooks::rekey(&both).await.unwrap(), RekeyCounts { rekeyed: 205, unchanged: 1, lost: 0 });
    for (tenant, id, secret) in &all {
        assert_eq!(open_newest(&world, *tenant, *id, NEW).await.as_ref(), Some(secret));
        assert_eq!(open_newest(&world, *tenant, *id, OLD).await, None);
    }
    assert_eq!(webhooks::get(&live, all[1].1, Params::new(vec![])).await.unwrap().body, webhook_json);
    assert_eq!(webhooks::rekey(&both).await.unwrap(), RekeyCounts { rekeyed: 0, unchanged: 206, lost: 0 });
    let services_with_new_key = with_ring(&world, NEW);
    assert_eq!(
        webhooks::rekey(&services_with_new_key).await.unwrap(),
        RekeyCounts { rekeyed: 0, unchanged: 206, lost: 0 }
    );
    let entries = audit_log::list(
        &sent_to(&services_with_new_key, &live),
        params(&[("filter[action]", "webhook.rekey"), ("limit", "1")]),
    )
    .await;
    let entry = json(&entries.unwrap())["data"][0].clone();
    assert_eq!(entry["actor"], json!({"type": "system", "id": null, "name": "rekey"}));
    assert_eq!(entry["changes"], json!({}));
    assert!(!entry.to_string().contains(&new_secret[6..]) && !entry.to_string().contains("sealed"), "{entry}");
}

#[tokio::test]
async fn rekey_moves_rotated_secrets_and_drops_expired_ones() {
    let world = TestServices::new().await;
    let context = world.admin();
    let (id, first) = subscribe(&context).await;
    let rotate = async |services: &Arc<Services>| {
        let reply =
            webhooks::update(&sent_to(services, &context), id, body(r#"{"rotate_secret": true}"#)).await.unwrap();
        member(&reply, "secret")
    };
    let second = rotate(&world.services).await;
    let both = with_ring(&world, &format!("{NEW},{OLD}"));
    assert_eq!(webhooks::rekey(&both).await.unwrap(), RekeyCounts { rekeyed: 1, unchanged: 0, lost: 0 });
    let it = read_subscription(&world, context.caller.tenant, id).await;
    let secrets =
        it.secrets.iter().map(|secret| open_secret(context.caller.tenant, id, NEW, &secret.sealed).unwrap());
    assert_eq!(secrets.collect::<Vec<_>>(), [first, second]);
    assert_eq!(it.secrets[0].ends_at, Some(NOON.plus_seconds(86_400)));
    rotate(&world.services).await;
    world.clock.advance_seconds(86_400);
    assert_eq!(webhooks::rekey(&both).await.unwrap(), RekeyCounts { rekeyed: 1, unchanged: 0, lost: 0 });
    assert_eq!(read_subscription(&world, context.caller.tenant, id).await.secrets.len(), 1);
}

#[tokio::test]
async fn rekey_names_an_unopenable_secret_and_keeps_its_row() {
    let world = TestServices::new().await;
    let context = world.admin();
    let (first, _) = subscribe(&context).await;
    let third = "k3:QEFCQ0RFRkdISUpLTE1OT1BRUlNUVVZXWFlaW1xdXl8=";
    world.clock.advance_seconds(1);
    let (lost, secret) = subscribe(&sent_to(&with_ring(&world, third), &context)).await;
    let tenant = context.caller.tenant;
    let row_before = read_subscription(&world, tenant, lost).await;
    for _ in 0..2 {
        let both = with_ring(&world, &format!("{NEW},{OLD}"));
        match webhooks::rekey(&both).await {
            Err(UnsealableError::NoKey(id)) => assert_eq!(id, lost),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(read_subscription(&world, tenant, lost).await, row_before);
    assert!(open_newest(&world, tenant, first, NEW).await.is_some(), "the subscription before it is rekeyed");
    let all = with_ring(&world, &format!("{NEW},{OLD},{third}"));
    assert_eq!(webhooks::rekey(&all).await.unwrap(), RekeyCounts { rekeyed: 1, unchanged: 1, lost: 0 });
    assert_eq!(open_newest(&world, tenant, lost, NEW).await, Some(secret));
}

#[tokio::test]
async fn rekey_refuses_another_master_key_with_the_same_id() {
    let world = TestServices::new().await;
    let (id, _) = subscribe(&world.admin()).await;
    let imposter = NEW.replace("k2:", "k1:");
    assert!(
        matches!(webhooks::rekey(&with_ring(&world, &imposter)).await, Err(UnsealableError::NoKey(it)) if it == id)
    );
}

#[tokio::test]
async fn rekey_resumes_after_failures_and_concurrent_changes() {
    let world = TestServices::new().await;
    let context = world.admin();
    let mut ids = vec![];
    for _ in 0..20 {
        ids.push(subscribe(&context).await.0);
    }
    let both = with_ring(&world, &format!("{NEW},{OLD}"));
    world.store.fail(StoreCall::Commit, 5, Fault::After);
    assert!(matches!(webhooks::rekey(&both).await, Err(UnsealableError::Failed(Error::Unavailable(_)))));
    let others = async {
        for id in &ids {
            webhooks::update(&context, *id, body(r#"{"description": "changed"}"#)).await.unwrap();
        }
    };
    let (done, ()) = tokio::join!(webhooks::rekey(&both), others);
    assert_eq!(done.unwrap().unchanged, 5, "the commit whose answer was lost has taken effect");
    for id in ids {
        let it = read_subscription(&world, context.caller.tenant, id).await;
        assert_eq!(it.description.as_deref(), Some("changed"));
        assert!(open_newest(&world, context.caller.tenant, id, NEW).await.is_some());
    }
}

/// A clock that advances by a second on every read.
struct AdvancingClock(AtomicI64);

impl Clock for AdvancingClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.fetch_add(1_000, Ordering::SeqCst))
    }

    fn steady(&self) -> std::time::Duration {
        let millis = self.0.fetch_add(1_000, Ordering::SeqCst);
        std::time::Duration::from_millis(millis.unsigned_abs())
    }
}

/// Stores `count` events that are `apart` milliseconds apart.
async fn store_events(world: &TestServices, tenant: Tenant, count: i64, apart: i64) {
    let event = |number: i64| {
        let time = Timestamp::from_millis(NOON.millis() + number * apart);
        let id = EventId::from_ulid(Ulid::from_parts(time.millis().cast_unsigned(), 1));
        Event { id, kind: EventType::EmployeeCreated, created_at: time, data: "{}".to_owned(), request_id: None }
    };
    let mut change = ChangeSet::new(AuditEntry {
        id: AuditId::from_ulid(Ulid(77)),
        occurred_at: NOON,
        action: "test".to_owned(),
        actor: Actor::system("test"),
        target: Target { kind: "test".to_owned(), id: String::new() },
        changes: Default::default(),
        comment: None,
        request_id: None,
        context: Origin::default(),
    });
    change.events = (0..count).map(event).collect();
    world.services.store.commit(tenant, change).await.unwrap();
}

#[tokio::test]
async fn replay_over_its_time_budget_returns_a_continuation() {
    const EVENTS: i64 = 6_000;
    let world = TestServices::new().await;
    let context = world.admin();
    store_events(&world, context.caller.tenant, EVENTS, 1).await;
    let (id, _) = subscribe(&context).await;
    world.clock.advance_seconds(60);
    let order = |since: &str| body(&format!(r#"{{"since": "{since}", "only": "all"}}"#));
    let hasty = process(&world, OLD, Arc::new(AdvancingClock(AtomicI64::new(NOON.plus_seconds(60).millis()))));
    let first = webhooks::replay(&sent_to(&hasty, &context), id, order(&NOON.to_string())).await.unwrap();
    let enqueued_count = json(&first)["enqueued"].as_i64().unwrap();
    assert!(enqueued_count > 0 && enqueued_count < EVENTS, "{enqueued_count}");
    let next = member(&first, "continue_since");
    assert_eq!(
        next,
        Timestamp::from_millis(NOON.millis() + enqueued_count).to_string(),
        "the continuation begins with the first event that is not queued"
    );
    let rest = webhooks::replay(&context, id, order(&next)).await.unwrap();
    assert_eq!(rest.outcome, Outcome::Accepted);
    assert_eq!(json(&rest), json!({"enqueued": EVENTS - enqueued_count, "continue_since": null}));
}

#[tokio::test]
async fn replay_of_a_sparse_period_resumes_from_its_continuation() {
    const HOUR: i64 = 3_600;
    let world = TestServices::new().await;
    let context = world.admin();
    store_events(&world, context.caller.tenant, 48, 10 * HOUR * 1_000).await;
    let (id, _) = subscribe(&context).await;
    world.clock.advance_seconds(29 * 24 * HOUR);
    let clock = Arc::new(AdvancingClock(AtomicI64::new(world.services.clock.now().millis())));
    let hasty = process(&world, OLD, clock);
    let (mut since, mut counts) = (NOON.to_string(), vec![]);
    loop {
        let order = body(&format!(r#"{{"since": "{since}", "until": "9999-12-31T23:59:59Z", "only": "all"}}"#));
        let reply = json(&webhooks::replay(&sent_to(&hasty, &context), id, order).await.unwrap());
        counts.push(reply["enqueued"].as_u64().unwrap());
        match reply["continue_since"].as_str() {
            Some(next) if next > since.as_str() => since = next.to_owned(),
            Some(next) => panic!("{next} is no progress from {since}"),
            None => break,
        }
    }
    assert_eq!(counts.iter().sum::<u64>(), 48, "{counts:?}");
    assert!(counts.len() > 2, "{counts:?}");
}

#[tokio::test]
async fn rekey_moves_client_secrets_of_identity_providers() {
    let world = TestServices::new().await;
    let context = world.admin();
    let create = async |secret: &str| {
        let text = format!(
            r#"{{"name": "Okta", "issuer": "https://acme.okta.example", "client_id": "0oa1",
                "link_by": "scim_external_id", "client_secret": {secret}}}"#
        );
        let reply = identity_providers::create(&context, body(&text)).await.unwrap();
        member(&reply, "id").parse::<IdentityProviderId>().unwrap()
    };
    let (id, _) = (create(r#""8nFq""#).await, create("null").await);
    let read = async || {
        let provider = world.services.store.row::<IdentityProvider>(context.caller.tenant, id).await.unwrap();
        provider.unwrap().value
    };
    let provider_before = read().await;
    let both = with_ring(&world, &format!("{NEW},{OLD}"));
    assert_eq!(webhooks::rekey(&both).await.unwrap(), RekeyCounts { rekeyed: 1, unchanged: 0, lost: 0 });
    let provider_after = read().await;
    assert_ne!(provider_after.client_secret, provider_before.client_secret);
    assert_eq!(
        IdentityProvider { client_secret: None, ..provider_after.clone() },
        IdentityProvider { client_secret: None, ..provider_before }
    );
    assert_eq!(webhooks::rekey(&both).await.unwrap(), RekeyCounts { rekeyed: 0, unchanged: 1, lost: 0 });
    let same =
        identity_providers::update(&sent_to(&both, &context), id, body(r#"{"client_secret": "8nFq"}"#)).await;
    assert_eq!(
        (same.is_ok(), read().await.client_secret),
        (true, provider_after.client_secret),
        "an equal secret stays"
    );
    let imposter = with_ring(&world, &OLD.replace("k1:", "k2:"));
    assert!(matches!(webhooks::rekey(&imposter).await, Err(UnsealableError::NoProviderKey(it)) if it == id));
}
