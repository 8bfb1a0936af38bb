//! Exports and personal data: the key of the request is checked again before each page (decisions H1, H2).

use candor_domain::access::{Permission, Permissions};
use candor_domain::id::KeyId;
use candor_service::usecases::exports::{self, Export};
use candor_service::usecases::operator::{self, NewKeyRequest};
use candor_service::usecases::{employees, keys};
use candor_service::{Error, RequestContext};

use crate::support::{TestServices, params};

/// Begins an export of people and departments with a new key, and reads the header and the people.
async fn begin_export(world: &TestServices, key: NewKeyRequest) -> (Export, KeyId) {
    let (made, secret) = operator::create_key(&world.services, key).await.unwrap();
    let caller = world.services.auth.authenticate(secret.reveal()).await.unwrap().unwrap();
    let context = RequestContext { caller, ..world.admin() };
    let resources = params(&[("resources", "employees,departments")]);
    let mut export = exports::begin(&world.services, &context, resources).await.unwrap();
    for part in ["header", "people"] {
        assert!(export.next().await.unwrap().is_some(), "{part}");
    }
    (export, made)
}

#[tokio::test]
async fn export_of_a_revoked_key_reads_no_further_page() {
    let world = TestServices::new().await;
    world.hire("ada", None).await;
    let (mut export, key) = begin_export(&world, world.key_request()).await;
    keys::revoke(&world.services, &world.admin(), key).await.unwrap();
    assert!(matches!(export.next().await, Err(Error::Refused(_))));
}

#[tokio::test]
async fn export_of_an_expired_key_reads_no_further_page() {
    let world = TestServices::new().await;
    let order = world.key_request();
    let scopes = Permissions::NONE.with(Permission::ExportsRead);
    let end = world.services.clock.now().plus_seconds(3_600);
    let (mut export, _) = begin_export(&world, NewKeyRequest { scopes, expires_at: Some(end), ..order }).await;
    world.clock.advance_seconds(3_600);
    assert!(matches!(export.next().await, Err(Error::Refused(_))));
}

#[tokio::test]
async fn personal_data_of_a_revoked_key_reads_no_further_page() {
    let world = TestServices::new().await;
    let person = world.hire("ada", None).await;
    let scopes = Permissions::NONE.with(Permission::EmployeesErase);
    let order = NewKeyRequest { scopes, ..world.key_request() };
    let (key, secret) = operator::create_key(&world.services, order).await.unwrap();
    let caller = world.services.auth.authenticate(secret.reveal()).await.unwrap().unwrap();
    let context = RequestContext { caller, ..world.admin() };
    let mut lines = employees::begin_personal_data(&world.services, &context, person).await.unwrap();
    assert!(lines.next().await.unwrap().is_some());
    keys::revoke(&world.services, &world.admin(), key).await.unwrap();
    assert!(matches!(lines.next().await, Err(Error::Refused(_))));
}
