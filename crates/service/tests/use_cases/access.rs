//! Keys: what they open, and how soon a change of one counts (§5, decisions B4 to B7).

use crate::support::{NOON, World, body, json, kind, member};
use candor_domain::access::{AccessLevel, Scope, Scopes};
use candor_domain::id::KeyId;
use candor_domain::problem::{Code, Flaw};
use candor_domain::refusal::Refusal;
use candor_service::{Error, keys, operator};
use candor_store_testkit::Call as Stored;

#[tokio::test]
async fn a_key_is_looked_up_once_in_a_while_and_not_for_every_request() {
    let world = World::new().await;
    let (_, secret) = operator::create_key(&world.shell, world.order()).await.unwrap();
    let before = world.store.calls(Stored::Authenticate);
    for _ in 0..100 {
        assert!(world.shell.auth.authenticate(secret.reveal()).await.unwrap().is_some());
    }
    assert_eq!(world.store.calls(Stored::Authenticate) - before, 1);
    assert!(world.shell.auth.authenticate("cdr_live_guess").await.unwrap().is_none());
    assert_eq!(world.store.calls(Stored::Authenticate) - before, 1, "a bad checksum needs no store");
}

#[tokio::test]
async fn a_revoked_key_is_refused_within_a_second_elsewhere_and_at_once_here() {
    let world = World::new().await;
    let (id, secret) = operator::create_key(&world.shell, world.order()).await.unwrap();
    let good = async || world.shell.auth.authenticate(secret.reveal()).await.unwrap().is_some();
    assert!(good().await);
    operator::revoke_key(&world.shell, id).await.unwrap();
    world.clock.advance_millis(1_000);
    assert!(!good().await);

    let (id, secret) = operator::create_key(&world.shell, world.order()).await.unwrap();
    assert!(world.shell.auth.authenticate(secret.reveal()).await.unwrap().is_some());
    keys::revoke(&world.shell, &world.admin(), id).await.unwrap();
    assert!(world.shell.auth.authenticate(secret.reveal()).await.unwrap().is_none());
}

#[tokio::test]
async fn the_end_of_a_key_counts_to_the_millisecond() {
    let world = World::new().await;
    let mut order = world.order();
    order.expires_at = Some(NOON.plus_seconds(1));
    let (_, secret) = operator::create_key(&world.shell, order).await.unwrap();
    world.clock.advance_millis(999);
    assert!(world.shell.auth.authenticate(secret.reveal()).await.unwrap().is_some());
    world.clock.advance_millis(1);
    assert!(world.shell.auth.authenticate(secret.reveal()).await.unwrap().is_none());
}

#[tokio::test]
async fn nobody_makes_a_key_whose_end_is_over() {
    let world = World::new().await;
    for (seconds, made) in [(-1, false), (0, false), (1, true)] {
        let mut order = world.order();
        order.expires_at = Some(NOON.plus_seconds(seconds));
        let refused = operator::create_key(&world.shell, order).await.err();
        let named =
            Error::Refused(Refusal::invalid("expires_at", Flaw::new(Code::OutOfRange, "must be in the future")));
        assert_eq!(refused.map(|it| it.to_string()), (!made).then(|| named.to_string()), "{seconds}");
    }
}

#[tokio::test]
async fn a_rotated_secret_goes_on_for_as_long_as_was_said() {
    let world = World::new().await;
    let (id, old) = operator::create_key(&world.shell, world.order()).await.unwrap();
    let reply = keys::rotate(&world.shell, &world.admin(), id, body(r#"{"overlap_seconds":60}"#)).await.unwrap();
    let new = member(&reply, "key");
    for (seconds, old_is_good) in [(0, true), (59, true), (1, false)] {
        world.clock.advance_seconds(seconds);
        assert_eq!(world.shell.auth.authenticate(old.reveal()).await.unwrap().is_some(), old_is_good);
        assert!(world.shell.auth.authenticate(&new).await.unwrap().is_some());
    }
}

#[tokio::test]
async fn nobody_grants_what_they_lack() {
    let world = World::new().await;
    let mut caller = (*world.admin().caller).clone();
    caller.scopes = Scopes::NONE.with(Scope::SettingsWrite).with(Scope::EventsRead);
    let call = world.call(caller.clone());
    let create = async |text: &str| kind(keys::create(&world.shell, &call, body(text)).await);
    assert_eq!(create(r#"{"name":"a","scopes":["events:read"]}"#).await, "done");
    assert_eq!(create(r#"{"name":"a","scopes":["observations:read"]}"#).await, "denied");
    assert_eq!(create(r#"{"name":"a","scopes":["*"]}"#).await, "denied");
    let (all, _) = operator::create_key(&world.shell, world.order()).await.unwrap();
    assert_eq!(kind(keys::rotate(&world.shell, &call, all, vec![]).await), "denied");
    caller.level = AccessLevel::Standard;
    let standard = world.call(caller);
    let refused = keys::create(&world.shell, &standard, body(r#"{"name":"a","scopes":["events:read"]}"#)).await;
    assert_eq!(kind(refused), "denied");
}

#[tokio::test]
async fn a_bound_key_lives_and_rises_with_its_person() {
    let world = World::new().await;
    let person = world.hire("ada", None).await;
    let mut order = world.order();
    order.employee = Some(person.to_string());
    order.level = AccessLevel::Standard;
    let (_, secret) = operator::create_key(&world.shell, order).await.unwrap();
    let caller = async || {
        world.clock.advance_seconds(1);
        world.shell.auth.authenticate(secret.reveal()).await.unwrap()
    };
    assert!(!caller().await.unwrap().is_admin());
    let promote = body(r#"{"role":"org_admin"}"#);
    candor_service::employees::update(&world.shell, &world.admin(), person, promote).await.unwrap();
    assert!(caller().await.unwrap().is_admin());
    candor_service::employees::deactivate(&world.shell, &world.admin(), person).await.unwrap();
    assert!(caller().await.is_none());
}

#[tokio::test]
async fn the_last_use_of_a_key_is_noted_to_the_minute_and_leaves_its_version_alone() {
    let world = World::new().await;
    let (id, secret) = operator::create_key(&world.shell, world.order()).await.unwrap();
    let shown = async |id: KeyId| keys::get(&world.shell, &world.admin(), id).await.unwrap();
    let before = shown(id).await;
    world.clock.advance_seconds(95);
    world.shell.auth.authenticate(secret.reveal()).await.unwrap();
    world.shell.auth.flush_uses().await.unwrap();
    let after = shown(id).await;
    assert_eq!(json(&after)["last_used_at"], NOON.plus_seconds(60).to_string());
    assert_eq!(after.version, before.version);
    assert_ne!(after.beside, before.beside, "the tag of what is shown is another one");
}
