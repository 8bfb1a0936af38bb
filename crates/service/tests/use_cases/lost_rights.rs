//! Requests that began before their caller lost rights (decision B4).

use std::sync::Arc;

use bytes::Bytes;
use candor_domain::access::api_key::read;
use candor_domain::access::{AccessLevel, AdminContext};
use candor_domain::id::{EmployeeId, KeyId};
use candor_domain::secret::Secret;
use candor_port_clock::Clock;
use candor_service::usecases::employees::{self, csv};
use candor_service::usecases::{catalog, keys, operator};
use candor_service::{Admission, Credential, Error, Reply, RequestContext};

use crate::support::{TestServices, body, json, kind, member, params, sent_to};

/// A person with a key that acts for them, and a key of the organization.
struct Stage {
    world: TestServices,
    person: EmployeeId,
    bound: (KeyId, Secret),
    unbound: (KeyId, Secret),
}

/// A loss of rights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Loss {
    Revoked,
    Narrowed,
    /// The key is limited to fewer networks.
    Confined,
    /// The secret is the previous one, which ends with its overlap.
    Rotated,
    Demoted,
    Deactivated,
}

/// A write that began before the loss.
#[derive(Debug, Clone, Copy)]
enum HeldWrite {
    NewKey,
    WiderKey,
    Promotion,
    PromotionByFile,
    Reactivation,
    Department,
}

impl Stage {
    async fn new() -> Self {
        let world = TestServices::new().await;
        let person = world.hire("ada", None).await;
        let other = world.hire("grace", None).await;
        for promoted in [person, other] {
            let role = body(r#"{"role":"org_admin"}"#);
            employees::update(&world.admin(), promoted, role).await.unwrap();
        }
        let mut order = world.key_request();
        let unbound = operator::create_key(&world.services, order.clone()).await.unwrap();
        order.employee = Some(person.to_string());
        order.level = AccessLevel::Admin;
        let bound_key = operator::create_key(&world.services, order).await.unwrap();
        Self { world, person, bound: bound_key, unbound }
    }

    fn key(&self, loss: Loss) -> &(KeyId, Secret) {
        match loss {
            Loss::Revoked | Loss::Narrowed | Loss::Confined | Loss::Rotated => &self.unbound,
            Loss::Demoted | Loss::Deactivated => &self.bound,
        }
    }

    async fn begun(&self, (_, secret): &(KeyId, Secret), admin_context: Option<AdminContext>) -> RequestContext {
        let caller = self.world.services.auth.authenticate(secret.reveal()).await.unwrap().unwrap();
        let (key, at) = (read(secret.reveal()).unwrap(), self.world.clock.steady());
        let admission = Admission { credential: Credential::Key(key), at, gives_access: admin_context.is_some() };
        let request = self.world.call((*caller).clone());
        RequestContext { admission: Some(admission), admin_context, ..request }
    }

    async fn lose(&self, loss: Loss) {
        let (admin, person) = (self.world.admin(), self.person);
        let (key, _) = self.key(loss);
        match loss {
            Loss::Revoked => drop(keys::revoke(&admin, *key).await.unwrap()),
            Loss::Narrowed => {
                drop(keys::update(&admin, *key, body(r#"{"scopes":["events:read"]}"#)).await.unwrap());
            }
            Loss::Confined => {
                let patch = body(r#"{"allowed_networks":["192.0.2.0/24"]}"#);
                drop(keys::update(&admin, *key, patch).await.unwrap());
            }
            Loss::Rotated => drop(keys::rotate(&admin, *key, body("{}")).await.unwrap()),
            Loss::Demoted => {
                drop(employees::update(&admin, person, body(r#"{"role":"employee"}"#)).await.unwrap());
            }
            Loss::Deactivated => drop(employees::deactivate(&admin, person).await.unwrap()),
        }
    }

    async fn finish(&self, write: HeldWrite, context: &RequestContext, key: KeyId) -> Result<Reply, Error> {
        let context = &sent_to(&self.world.services, context);
        match write {
            HeldWrite::NewKey => keys::create(context, body(r#"{"name":"Again","scopes":["*"]}"#)).await,
            HeldWrite::WiderKey => keys::update(context, key, body(r#"{"scopes":["*"]}"#)).await,
            HeldWrite::Promotion => employees::update(context, self.person, body(r#"{"role":"org_admin"}"#)).await,
            HeldWrite::PromotionByFile => {
                let file = "email,first_name,last_name,role\nada@example.com,Ada,Example,org_admin\n";
                csv::upsert(context.clone(), params(&[]), Bytes::from_static(file.as_bytes())).await
            }
            HeldWrite::Reactivation => employees::reactivate(context, self.person).await,
            HeldWrite::Department => catalog::departments::create(context, body(r#"{"name":"Sales"}"#)).await,
        }
    }
}

impl HeldWrite {
    const fn admin_context(self) -> Option<AdminContext> {
        match self {
            Self::NewKey | Self::WiderKey => Some(AdminContext::Settings),
            Self::Promotion | Self::PromotionByFile | Self::Reactivation => Some(AdminContext::People),
            Self::Department => None,
        }
    }
}

const HELD: [(Loss, HeldWrite); 12] = [
    (Loss::Revoked, HeldWrite::NewKey),
    (Loss::Revoked, HeldWrite::Department),
    (Loss::Revoked, HeldWrite::PromotionByFile),
    (Loss::Narrowed, HeldWrite::WiderKey),
    (Loss::Narrowed, HeldWrite::Department),
    (Loss::Confined, HeldWrite::NewKey),
    (Loss::Confined, HeldWrite::Department),
    (Loss::Rotated, HeldWrite::NewKey),
    (Loss::Demoted, HeldWrite::Promotion),
    (Loss::Demoted, HeldWrite::PromotionByFile),
    (Loss::Deactivated, HeldWrite::Reactivation),
    (Loss::Deactivated, HeldWrite::Department),
];

#[tokio::test]
async fn write_begun_before_a_loss_of_rights_changes_nothing() {
    for (loss, write) in HELD {
        for another_process in [false, true] {
            let stage = Stage::new().await;
            let context = stage.begun(stage.key(loss), write.admin_context()).await;
            let secret = stage.key(loss).1.reveal().to_owned();
            let peer = crate::support::process(
                &stage.world.clock,
                &stage.world.store,
                Arc::new(crate::support::Receivers),
                9,
            );
            peer.auth.authenticate(&secret).await.unwrap();
            stage.lose(loss).await;
            // Writes that can give rights back are checked at once, all others within a second.
            let millis = if write.admin_context().is_some() { 10 } else { 1_000 };
            stage.world.clock.advance_millis(millis);
            let stage = if another_process {
                Stage { world: TestServices { services: peer, ..stage.world }, ..stage }
            } else {
                stage
            };
            let result = stage.finish(write, &context, stage.key(loss).0).await;
            assert_eq!(kind(result), "denied", "{loss:?} {write:?} {another_process}");
            let admin = stage.world.admin();
            let person = employees::get(&admin, stage.person, params(&[])).await.unwrap();
            let person = json(&person);
            let (role, status) = match loss {
                Loss::Demoted => ("employee", "active"),
                Loss::Deactivated => ("org_admin", "deactivated"),
                Loss::Revoked | Loss::Narrowed | Loss::Confined | Loss::Rotated => ("org_admin", "active"),
            };
            assert_eq!((&person["role"], &person["status"]), (&role.into(), &status.into()), "{loss:?} {write:?}");
        }
    }
}

#[tokio::test]
async fn slow_write_of_a_caller_with_unchanged_rights_succeeds() {
    for (loss, write) in HELD {
        let stage = Stage::new().await;
        let key = stage.key(loss);
        let context = stage.begun(key, write.admin_context()).await;
        // A change of the key that takes no rights away does not matter either.
        let rename_body = body(r#"{"name":"Renamed"}"#);
        keys::update(&stage.world.admin(), key.0, rename_body).await.unwrap();
        stage.world.clock.advance_seconds(9);
        let result = stage.finish(write, &context, key.0).await;
        if matches!(write, HeldWrite::Reactivation) {
            assert_eq!(kind(result), "conflict", "the person is active");
        } else {
            let reply = result.unwrap_or_else(|error| panic!("{loss:?} {write:?}: {error}"));
            assert!(!reply.body.is_empty(), "{loss:?} {write:?}");
        }
    }
}

#[tokio::test]
async fn key_of_an_admin_write_is_looked_up_again_after_10_ms() {
    let stage = Stage::new().await;
    let context = stage.begun(&stage.unbound, Some(AdminContext::Settings)).await;
    let lookups = || stage.world.store.calls(candor_store_testkit::FaultyCall::Authenticate);
    let lookups_before = lookups();
    let key_reply = stage.finish(HeldWrite::NewKey, &context, stage.unbound.0).await.unwrap();
    assert_eq!(
        (lookups() - lookups_before, member(&key_reply, "name").as_str()),
        (0, "Again"),
        "the key was looked up at the same time"
    );
    stage.world.clock.advance_millis(10);
    stage.finish(HeldWrite::NewKey, &context, stage.unbound.0).await.unwrap();
    assert_eq!(lookups() - lookups_before, 1);
}
