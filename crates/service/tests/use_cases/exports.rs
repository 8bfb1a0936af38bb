//! Exports and personal data: the key of the request is checked again before each page (decisions H1, H2).

use candor_domain::access::api_key::read;
use candor_domain::access::{Permission, Permissions};
use candor_domain::id::KeyId;
use candor_port_clock::Clock;
use candor_service::usecases::exports::{self, Export};
use candor_service::usecases::operator::{self, NewKeyRequest};
use candor_service::usecases::{employees, keys};
use candor_service::{Admission, Credential, Error, RequestContext};

use crate::support::{TestServices, body, params};

/// Returns a request with a new key, and the id of the key.
async fn context_of(world: &TestServices, key: NewKeyRequest) -> (RequestContext, KeyId) {
    let (made, secret) = operator::create_key(&world.services, key).await.unwrap();
    let caller = world.services.auth.authenticate(secret.reveal()).await.unwrap().unwrap();
    let credential = Credential::Key(read(secret.reveal()).unwrap());
    let admission = Some(Admission { credential, at: world.clock.steady(), gives_access: false });
    (RequestContext { caller, admission, ..world.admin() }, made)
}

/// Begins an export of people and departments with a new key, and reads the header and the people.
async fn begin_export(world: &TestServices, key: NewKeyRequest) -> (Export, KeyId) {
    let (context, made) = context_of(world, key).await;
    let resources = params(&[("resources", "employees,departments")]);
    let mut export = exports::begin(&context, resources).await.unwrap();
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
    keys::revoke(&world.admin(), key).await.unwrap();
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
async fn export_of_a_rotated_secret_ends_with_its_overlap() {
    for (overlap, seconds, goes_on) in [(60, 59, true), (60, 60, false), (0, 0, false)] {
        let world = TestServices::new().await;
        let (mut export, key) = begin_export(&world, world.key_request()).await;
        let overlap_body = body(&format!(r#"{{"overlap_seconds":{overlap}}}"#));
        keys::rotate(&world.admin(), key, overlap_body).await.unwrap();
        world.clock.advance_seconds(seconds);
        assert_eq!(export.next().await.is_ok(), goes_on, "{overlap} {seconds}");
    }
}

#[tokio::test]
async fn personal_data_of_a_revoked_key_reads_no_further_page() {
    let world = TestServices::new().await;
    let person = world.hire("ada", None).await;
    let scopes = Permissions::NONE.with(Permission::EmployeesErase);
    let order = NewKeyRequest { scopes, ..world.key_request() };
    let (context, key) = context_of(&world, order).await;
    let mut lines = employees::begin_personal_data(&context, person).await.unwrap();
    assert!(lines.next().await.unwrap().is_some());
    keys::revoke(&world.admin(), key).await.unwrap();
    assert!(matches!(lines.next().await, Err(Error::Refused(_))));
}

#[tokio::test]
async fn unread_exports_leave_each_organization_a_place() {
    let world = TestServices::new().await;
    let person = world.hire("ada", None).await;
    let mut idle_exports = vec![];
    for name in ["Beta", "Gamma", "Delta", "Epsilon"] {
        let organization = operator::create_organization(&world.services, name).await.unwrap();
        let (context, _) = context_of(&world, NewKeyRequest { organization, ..world.key_request() }).await;
        for _ in 0..2 {
            idle_exports.push(exports::begin(&context, params(&[])).await.unwrap());
        }
    }
    let (context, _) = context_of(&world, world.key_request()).await;
    let mut export = exports::begin(&context, params(&[])).await.unwrap();
    let second = employees::begin_personal_data(&context, person).await;
    assert!(matches!(second, Err(Error::TooManyExports)), "a second one has no place of its own");
    while export.next().await.unwrap().is_some() {}
    drop(export);
    let mut lines = employees::begin_personal_data(&context, person).await.unwrap();
    while lines.next().await.unwrap().is_some() {}
}

#[tokio::test]
async fn page_of_an_export_ends_after_two_mebibytes_of_rows() {
    const PAGE_BYTES: usize = 2 * 1024 * 1024;
    let world = TestServices::new().await;
    // Each of the last 40 people has 131 KB. The small rows before them take more than one statement.
    let fields: serde_json::Map<String, serde_json::Value> =
        (0..32).map(|number| (format!("field{number}"), "\u{1f600}".repeat(1024).into())).collect();
    for number in 0..170 {
        let no_fields = serde_json::Map::new();
        let person = serde_json::json!({
            "email": format!("person{number}@example.com"), "first_name": "Ada", "last_name": "Example",
            "custom_fields": if number < 130 { &no_fields } else { &fields },
        });
        employees::create(&world.admin(), body(&person.to_string())).await.unwrap();
    }
    let resources = params(&[("resources", "employees")]);
    let (context, _) = context_of(&world, world.key_request()).await;
    let mut export = exports::begin(&context, resources).await.unwrap();
    let (mut pages, mut lines) = (0, 0);
    while let Some(page) = export.next().await.unwrap() {
        assert!(page.len() < PAGE_BYTES + 200_000, "{} bytes", page.len());
        lines += page.iter().filter(|byte| **byte == b'\n').count();
        pages += 1;
    }
    assert_eq!((pages, lines), (4, 172), "header, people, end");
}
