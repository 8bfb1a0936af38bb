//! Tests of portal links (decision B8).

use super::super::tests::{NOW, body, caller, codes, holder, key, record, secret, set};
use super::super::{Holder, generate_code, read_code};
use super::*;
use crate::access::{AllowedNetworks, BoundPerson, Environment, PermissionError};
use crate::id::EmployeeId;
use crate::people::Role;
use Permission::{ObservationsRead, ObservationsWrite, WebhooksRead};
use ulid::Ulid;

const PERSON: EmployeeId = EmployeeId::from_ulid(Ulid(7));

fn code() -> Secret {
    generate_code([9; 32])
}

fn parse(text: &str) -> Result<LinkDraft, ValidationErrors> {
    LinkDraft::parse(body(text))
}

fn link(text: &str, granter: &Caller) -> Result<ApiKey, DomainError> {
    let draft = parse(text).unwrap().for_granter(granter, NOW);
    let creation = ApiKey::create_link(KeyId::from_ulid(Ulid(3)), draft, &code(), Some(granter), NOW)?;
    Ok(creation.state)
}

fn at(seconds: i64) -> Timestamp {
    NOW.plus_seconds(seconds)
}

#[test]
fn link_has_defaults_for_all_fields_but_its_scopes() {
    let draft = parse(r#"{"scopes":["webhooks:read"]}"#).unwrap();
    let expected_link = LinkDraft {
        name: "Portal link".to_owned(),
        scopes: set(&[WebhooksRead]),
        access_level: AccessLevel::Standard,
        allowed_networks: None,
        expires_in: None,
        start: "/".to_owned(),
    };
    assert_eq!(draft, expected_link);
    let table = [
        ("{}", "scopes", Code::Required),
        (r#"{"scopes":["*"],"expires_in":59}"#, "expires_in", Code::OutOfRange),
        (r#"{"scopes":["*"],"expires_in":86401}"#, "expires_in", Code::OutOfRange),
        (r#"{"scopes":["*"],"read_only":null}"#, "read_only", Code::Required),
        (r#"{"scopes":["observations:write"],"read_only":true}"#, "scopes", Code::TooShort),
        (r#"{"scopes":["*"],"environment":"test"}"#, "environment", Code::ReadOnly),
        (r#"{"scopes":["*"],"employee_id":"emp_1"}"#, "employee_id", Code::ReadOnly),
        (r#"{"scopes":["*"],"code":"x"}"#, "code", Code::UnknownField),
    ];
    for (text, field, code) in table {
        assert_eq!(codes(&parse(text).unwrap_err()), [(field, code)], "{text}");
    }
}

#[test]
fn start_is_an_address_inside_the_console() {
    let parse = |start: &str| parse(&format!(r#"{{"scopes":["*"],"start":"{start}"}}"#));
    for good in ["/", "/webhooks", "/webhooks/whk_1?view=deliveries&filter%5Bstate%5D=failed", "/feedback?q=a+b"] {
        assert_eq!(parse(good).unwrap().start, good);
    }
    let bad = ["webhooks", "//evil.example", "/../v1/me", "/%2e%2e/v1", "/a#key=x", "/a b", "/?q=<b>", "/a\\\\b"];
    for text in bad {
        assert_eq!(codes(&parse(text).unwrap_err()), [("start", Code::InvalidFormat)], "{text}");
    }
    assert_eq!(codes(&parse(&format!("/{}", "a".repeat(200))).unwrap_err()), [("start", Code::TooLong)]);
}

#[test]
fn read_only_link_has_no_write_scope() {
    let scopes = |text: &str| parse(text).unwrap().scopes;
    let some = scopes(r#"{"scopes":["observations:read","observations:write"],"read_only":true}"#);
    assert_eq!(some, set(&[ObservationsRead]));
    let all = scopes(r#"{"scopes":["*"],"read_only":true}"#);
    assert!(Permission::ALL.iter().all(|scope| all.has(*scope) == scope.word().ends_with(":read")));
    assert_ne!(all, Permissions::ALL, "a read-only link must not gain scopes that are added later");
}

#[test]
fn link_grants_no_more_than_its_granter_has() {
    let few = caller(set(&[ObservationsRead]), AccessLevel::Standard);
    let cannot_grant = Err(DomainError::Denied(PermissionError::CannotGrant));
    assert_eq!(link(r#"{"scopes":["observations:write"]}"#, &few), cannot_grant);
    assert_eq!(link(r#"{"scopes":["observations:read"],"access_level":"admin"}"#, &few), cannot_grant);
    assert!(link(r#"{"scopes":["observations:read"]}"#, &few).is_ok());
    let ending = Caller { expires_at: Some(at(600)), ..few };
    let body_with_end = |seconds: i64| format!(r#"{{"scopes":["observations:read"],"expires_in":{seconds}}}"#);
    assert_eq!(link(&body_with_end(601), &ending), cannot_grant);
    assert_eq!(link(&body_with_end(600), &ending).unwrap().expires_at, Some(at(600)));
    let short_link = link(r#"{"scopes":["observations:read"]}"#, &ending).unwrap();
    assert_eq!((short_link.expires_at, short_link.link_expires_at), (Some(at(600)), Some(at(600))));
}

#[test]
fn key_of_a_link_inherits_person_and_environment() {
    let mut granter = caller(Permissions::ALL, AccessLevel::Admin);
    granter.tenant.environment = Environment::Test;
    granter.person = Some(BoundPerson { id: PERSON, is_org_admin: false });
    let fresh = link(r#"{"scopes":["observations:read"]}"#, &granter).unwrap();
    assert_eq!((fresh.environment, fresh.employee_id), (Environment::Test, Some(PERSON)));
    assert_eq!((fresh.expires_at, fresh.link_expires_at), (Some(at(3600)), Some(at(1800))));
    assert_eq!((fresh.expiring_due, fresh.remind_at), (None, None), "the end is not announced");
}

#[test]
fn code_opens_its_link_once() {
    let granter = caller(Permissions::ALL, AccessLevel::Admin);
    let fresh = link(r#"{"scopes":["observations:read"]}"#, &granter).unwrap();
    let hash = read_code(code().reveal()).unwrap();
    assert_eq!(fresh.hash, hash);
    assert_eq!(record(fresh.clone(), None).authenticate(hash, NOW), None, "a code is no key");
    let decision = record(fresh, None).open_link(hash, &secret(2), None, at(5)).unwrap();
    assert_eq!(decision.audit.changes.keys().collect::<Vec<_>>(), ["last4", "link_expires_at"]);
    assert_eq!(decision.state.updated_at, at(5));
    let exchange = parse_exchange(body(r#"{"code":"a"}"#));
    assert_eq!(exchange, Ok(LinkExchange { code: "a".to_owned(), verifier: None }));
    let opened_key = record(decision.state, None);
    assert_eq!(opened_key.open_link(hash, &secret(3), None, at(6)).err(), Some(DomainError::NotFound));
    let secret = super::hash(secret(2).reveal());
    assert!(opened_key.authenticate(secret, at(6)).is_some());
    assert_eq!(opened_key.authenticate(secret, at(3600)), None, "the key ends with its lifetime");
    assert_eq!(opened_key.open_link(secret, &code(), None, at(6)).err(), Some(DomainError::NotFound));
}

#[test]
fn ended_revoked_or_orphaned_link_is_not_opened() {
    let hash = read_code(code().reveal()).unwrap();
    let granter = caller(Permissions::ALL, AccessLevel::Admin);
    let fresh = link(r#"{"scopes":["observations:read"]}"#, &granter).unwrap();
    let bound_link = ApiKey { employee_id: Some(PERSON), ..fresh.clone() };
    let holder = holder(Role::Employee);
    let person = |status| Some(Holder { status, ..holder });
    let returned_holder = Some(Holder { returned_at: Some(at(1)), ..holder });
    let table = [
        ("in time", fresh.clone(), None, at(1799), true),
        ("at the end of the code", fresh.clone(), None, at(1800), false),
        ("at the end of the key", ApiKey { expires_at: Some(at(60)), ..fresh.clone() }, None, at(60), false),
        ("revoked", fresh.revoke(at(1)).unwrap().state, None, at(2), false),
        ("rotated", fresh.rotate(&secret(4), 60, &granter, at(1)).unwrap().state, None, at(2), false),
        ("of an active person", bound_link.clone(), person(Status::Active), at(1), true),
        ("of a person who has left", bound_link.clone(), person(Status::Deactivated), at(1), false),
        ("of a person who came back since", bound_link.clone(), returned_holder, at(1), false),
        ("of a person who is not there", bound_link, None, at(1), false),
        ("a key without a link", key(), None, at(1), false),
    ];
    for (what, key, person, at, opens) in table {
        assert_eq!(record(key, person).open_link(hash, &secret(2), None, at).is_ok(), opens, "{what}");
    }
    let other = read_code(generate_code([8; 32]).reveal()).unwrap();
    assert!(record(fresh, None).open_link(other, &secret(2), None, NOW).is_err());
}

#[test]
fn rotation_voids_the_link_and_keeps_no_code() {
    let granter = caller(set(&[ObservationsRead, ObservationsWrite]), AccessLevel::Standard);
    let fresh = link(r#"{"scopes":["observations:read"]}"#, &granter).unwrap();
    let key_now = fresh.rotate(&secret(2), 60, &granter, at(1)).unwrap().state;
    assert_eq!((key_now.previous, key_now.previous_expiring_due, key_now.link_expires_at), (None, None, None));
    assert!(record(key_now, None).authenticate(super::hash(secret(2).reveal()), at(2)).is_some());
}

#[test]
fn link_has_the_networks_of_its_granter_or_narrower_ones() {
    let networks = |texts: &[&str]| AllowedNetworks::from_texts(texts.iter().copied()).unwrap();
    let granter = Caller {
        allowed_networks: networks(&["10.0.0.0/8", "2001:db8::/32"]),
        ..caller(Permissions::ALL, AccessLevel::Admin)
    };
    let request = |rest: &str| link(&format!(r#"{{"scopes":["webhooks:read"]{rest}}}"#), &granter);
    assert_eq!(request("").unwrap().allowed_networks, granter.allowed_networks);
    let narrow = request(r#","allowed_networks":["10.1.0.0/16"]"#).unwrap();
    assert_eq!(narrow.allowed_networks, networks(&["10.1.0.0/16"]));
    for wider in ["[]", r#"["11.0.0.0/8"]"#, r#"["10.0.0.0/7"]"#] {
        let error = request(&format!(r#","allowed_networks":{wider}"#)).unwrap_err();
        assert_eq!(error, DomainError::Denied(PermissionError::CannotGrant), "{wider}");
    }
}

#[test]
fn link_is_opened_from_its_networks_only() {
    let granter = caller(Permissions::ALL, AccessLevel::Admin);
    let body = r#"{"scopes":["webhooks:read"],"allowed_networks":["192.0.2.0/24"]}"#;
    let key = link(body, &granter).unwrap();
    let hash = read_code(code().reveal()).unwrap();
    let opened_from = |client: Option<&str>| {
        let address = client.map(|text| text.parse().unwrap());
        record(key.clone(), None).open_link(hash, &secret(2), address, at(5))
    };
    for client in [Some("192.0.3.1"), Some("2001:db8::1"), None] {
        assert_eq!(opened_from(client).err(), Some(DomainError::NotFound), "{client:?}");
    }
    let decision = opened_from(Some("::ffff:192.0.2.7")).unwrap();
    assert_eq!(decision.state.allowed_networks, key.allowed_networks);
}
