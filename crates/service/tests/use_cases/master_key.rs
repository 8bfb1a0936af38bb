//! A process starts only with the key ring that its store was sealed with.

use std::sync::Arc;

use candor_domain::erasure::texts::{TEXT_COLUMNS, TextEffect};
use candor_domain::erasure::{Erasure, ErasureStatus};
use candor_domain::id::{ErasureId, WebhookId};
use candor_port_clock::{Clock, SeededIds};
use candor_port_storage::StorageExt;
use candor_port_storage::upkeep::Upkeep;
use candor_service::context::master_key::{MasterKeyError, confirm};
use candor_service::context::vault::Vault;
use candor_service::runtime::erasure;
use candor_service::usecases::webhooks::{self, RekeyCounts, UnsealableError};
use candor_service::usecases::{employees, erasures, observations};
use candor_service::{Error, ServiceSettings, Services};
use serde_json::json;

use crate::support::{TestServices, body, member, sent_to};

const OLD: &str = "k1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
const NEW: &str = "k2:ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8=";
/// A different key with the same id as the right one.
const IMPOSTER: &str = "k1:QEFCQ0RFRkdISUpLTE1OT1BRUlNUVVZXWFlaW1xdXl8=";

fn with_ring(world: &TestServices, ring: &str) -> Arc<Services> {
    let settings = ServiceSettings::with_public_url("http://localhost:8080".to_owned());
    let (store, clock) = (Arc::clone(&world.store) as _, Arc::clone(&world.clock) as Arc<dyn Clock>);
    let receivers = Arc::clone(&world.services.webhook_transport);
    let (ids, vault) = (Arc::new(SeededIds::new(99)), Vault::parse(ring).unwrap());
    Arc::new(Services::new(store, clock, ids, vault, receivers, settings))
}

async fn starts(world: &TestServices, ring: &str) -> bool {
    match confirm(&with_ring(world, ring)).await {
        Ok(()) => true,
        Err(MasterKeyError::Failed(error)) => panic!("{error}"),
        Err(_) => false,
    }
}

async fn subscribe(services: &Arc<Services>, world: &TestServices) -> WebhookId {
    let text = r#"{"url": "https://receiver.example/", "event_types": ["employee.created"]}"#;
    member(&webhooks::create(&sent_to(services, &world.admin()), body(text)).await.unwrap(), "id").parse().unwrap()
}

async fn known_keys(world: &TestServices) -> Vec<String> {
    world.store.master_keys().await.unwrap().into_iter().map(|key| key.key_id).collect()
}

#[tokio::test]
async fn store_opens_only_with_its_sealing_ring() {
    let world = TestServices::new().await;
    assert!(starts(&world, OLD).await);
    assert!(starts(&world, OLD).await, "again");
    let error = confirm(&with_ring(&world, IMPOSTER)).await.unwrap_err();
    let MasterKeyError::Lacking { sealed_by, ring } = &error else { panic!("{error:?}") };
    assert_eq!((sealed_by.id.as_str(), ring[0].id.as_str(), ring.len()), ("k1", "k1", 1));
    assert_ne!(sealed_by.fingerprint, ring[0].fingerprint);
    let (sealed, has) = (&sealed_by.fingerprint[..8], &ring[0].fingerprint[..8]);
    let text =
        format!("the secrets of this database were encrypted with k1 ({sealed}…), the ring has k1 ({has}…)");
    assert_eq!(error.to_string(), text);
    assert!(!starts(&world, NEW).await);
    assert!(!starts(&world, &format!("{NEW},{IMPOSTER}")).await);
    assert_eq!(known_keys(&world).await, ["k1"], "a refused start records no key");
}

#[tokio::test]
async fn master_key_rotation_needs_the_old_key_until_rekeyed() {
    let world = TestServices::new().await;
    assert!(starts(&world, OLD).await);
    subscribe(&with_ring(&world, OLD), &world).await;
    assert!(starts(&world, &format!("{OLD},{NEW}")).await, "the new key is added after the old one");
    assert!(starts(&world, &format!("{NEW},{OLD}")).await);
    assert_eq!(known_keys(&world).await, ["k1", "k2"]);
    for ring in [OLD, NEW] {
        assert!(!starts(&world, ring).await, "both keys have sealed secrets by now: {ring}");
    }
    let both = with_ring(&world, &format!("{NEW},{OLD}"));
    assert_eq!(webhooks::rekey(&both).await.unwrap(), RekeyCounts { rekeyed: 1, unchanged: 0, lost: 0 });
    assert_eq!(known_keys(&world).await, ["k2"]);
    assert!(starts(&world, NEW).await && !starts(&world, OLD).await);
}

#[tokio::test]
async fn one_of_two_concurrent_first_starts_records_its_master_key() {
    for (one, other) in [(OLD, IMPOSTER), (OLD, NEW)] {
        let world = TestServices::new().await;
        let (one, other) = (with_ring(&world, one), with_ring(&world, other));
        let (one, other) = tokio::join!(confirm(&one), confirm(&other));
        assert_ne!(one.is_ok(), other.is_ok(), "{one:?} {other:?}");
    }
}

#[tokio::test]
async fn legacy_store_accepts_a_ring_that_decrypts_one_secret() {
    let world = TestServices::new().await;
    let first = subscribe(&with_ring(&world, OLD), &world).await;
    for ring in [NEW, IMPOSTER] {
        match confirm(&with_ring(&world, ring)).await {
            Err(MasterKeyError::NothingOpens { webhook, .. }) => assert_eq!(webhook, first),
            other => panic!("{other:?}"),
        }
    }
    assert!(known_keys(&world).await.is_empty());
    subscribe(&with_ring(&world, IMPOSTER), &world).await;
    assert!(starts(&world, OLD).await, "a ring that opens one of two secrets is accepted");
    assert_eq!(known_keys(&world).await, ["k1"]);
}

#[tokio::test]
async fn lost_master_key_is_replaced_without_its_secrets() {
    let world = TestServices::new().await;
    assert!(starts(&world, OLD).await);
    let lost_webhook = subscribe(&with_ring(&world, OLD), &world).await;
    let new = with_ring(&world, NEW);
    world.clock.advance_seconds(1);
    subscribe(&new, &world).await;
    let rekey_result = webhooks::rekey_accepting_loss(&new).await.unwrap();
    assert_eq!(rekey_result, RekeyCounts { rekeyed: 0, unchanged: 1, lost: 1 });
    assert!(starts(&world, NEW).await && !starts(&world, OLD).await);
    let context = sent_to(&new, &world.admin());
    let error = webhooks::test(&context, lost_webhook).await;
    assert!(matches!(error, Err(Error::Bug(_))), "a delivery with a lost secret cannot be signed: {error:?}");
    let rotate = body(&json!({"rotate_secret": true}).to_string());
    webhooks::update(&context, lost_webhook, rotate).await.unwrap();
    webhooks::test(&context, lost_webhook).await.unwrap();
}

#[test]
fn every_sealed_column_is_rekeyed_or_expires() {
    let sealed_columns =
        TEXT_COLUMNS.iter().filter(|(_, effect, _)| matches!(effect, TextEffect::Sealed | TextEffect::SealedText));
    let columns: Vec<_> =
        sealed_columns.flat_map(|(table, _, names)| names.iter().map(move |name| (*table, *name))).collect();
    let rekeyed_columns = [
        ("erasures", "sealed_email"),
        ("identity_providers", "client_secret"),
        ("webhooks", "secrets"),
        ("webhooks", "headers"),
    ];
    // Replays expire within 24 hours.
    let expiring_columns = [("replays", "sealed")];
    assert!(
        columns.iter().all(|column| rekeyed_columns.contains(column) || expiring_columns.contains(column)),
        "{columns:?}"
    );
    assert_eq!(columns.len(), rekeyed_columns.len() + expiring_columns.len());
}

/// Erases a person while a hold on the author of an observation about them keeps it, and ends the hold. The names of the
/// erasure are sealed by the ring of the world.
async fn erasure_after_a_hold(world: &TestServices) -> ErasureId {
    let context = world.admin();
    let (person, witness) = (world.hire("ada", None).await, world.hire("bea", None).await);
    let observation =
        json!({"employee_id": person, "author_id": witness, "type": "strength", "observation": "Seen."});
    observations::create(&context, body(&observation.to_string())).await.unwrap();
    employees::hold::put(&context, witness, body(r#"{"reason": "Lawsuit"}"#)).await.unwrap();
    employees::deactivate(&context, person).await.unwrap();
    let reply = erasures::create(&context, person, body("{}")).await.unwrap();
    let id = member(&reply, "id").parse().unwrap();
    assert_eq!(run(world, OLD, id).await.kept_by_hold, 1);
    employees::hold::delete(&context, witness).await.unwrap();
    // The erasure looks again for what holds keep once a day.
    world.clock.advance_seconds(86_400);
    id
}

/// Runs the erasures in a process with this ring, and returns the erasure.
async fn run(world: &TestServices, ring: &str, id: ErasureId) -> Erasure {
    let services = with_ring(world, ring);
    for _ in 0..4 {
        erasure::run_due(&services, || true).await.unwrap();
        world.clock.advance_seconds(11);
    }
    world.store.row::<Erasure>(world.admin().caller.tenant, id).await.unwrap().unwrap().value
}

#[tokio::test]
async fn erasure_after_a_hold_completes_under_the_new_master_key() {
    let world = TestServices::new().await;
    let id = erasure_after_a_hold(&world).await;
    assert_eq!(run(&world, NEW, id).await.status, ErasureStatus::Running, "no search for the address yet");
    let both = with_ring(&world, &format!("{NEW},{OLD}"));
    assert_eq!(webhooks::rekey(&both).await.unwrap(), RekeyCounts { rekeyed: 1, unchanged: 0, lost: 0 });
    assert_eq!(webhooks::rekey(&both).await.unwrap(), RekeyCounts { rekeyed: 0, unchanged: 1, lost: 0 });
    let completed_erasure = run(&world, NEW, id).await;
    assert_eq!((completed_erasure.status, completed_erasure.sealed_email), (ErasureStatus::Completed, None));
    assert_eq!(webhooks::rekey(&both).await.unwrap(), RekeyCounts::default());
}

#[tokio::test]
async fn erasure_goes_on_without_names_after_the_loss_of_the_key() {
    let world = TestServices::new().await;
    let id = erasure_after_a_hold(&world).await;
    let new = with_ring(&world, NEW);
    assert!(matches!(webhooks::rekey(&new).await, Err(UnsealableError::NoErasureKey(it)) if it == id));
    assert_eq!(
        webhooks::rekey_accepting_loss(&new).await.unwrap(),
        RekeyCounts { rekeyed: 0, unchanged: 0, lost: 1 }
    );
    assert_eq!(run(&world, NEW, id).await.status, ErasureStatus::Completed);
}
