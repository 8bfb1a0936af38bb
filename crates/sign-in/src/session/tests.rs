//! Begin and ends of sessions.

use candor_domain::access::api_key::{Holder, generate, generate_code};
use candor_domain::access::{Permission, Permissions};
use candor_domain::id::{EmployeeId, IdentityLinkId, OrganizationId};
use candor_domain::people::Status as PersonStatus;
use ulid::Ulid;

use super::super::tests::{AT, provider};
use super::*;

const PERSON: EmployeeId = EmployeeId::from_ulid(Ulid(7));
const SESSION: KeyId = KeyId::from_ulid(Ulid(3));

fn link() -> IdentityLink {
    let provider = provider(r#""link_by": "scim_external_id""#);
    IdentityLink {
        id: IdentityLinkId::from_ulid(Ulid(5)),
        identity_provider_id: provider.id,
        employee_id: PERSON,
        subject: "00u1".to_owned(),
        created_at: AT,
        confirmed_at: None,
        updated_at: AT,
        tokens_after: None,
        bearer_tokens_after: None,
        removed_at: None,
    }
}

fn basis() -> SessionBasis {
    let provider = IdentityProvider {
        status: Status::Active,
        admin_sessions: true,
        ..provider(r#""link_by": "scim_external_id", "scopes": ["observations:read"]"#)
    };
    let (scopes, access_level) = provider.session_rights(true);
    let draft = Draft {
        name: "Session".to_owned(),
        environment: Environment::Live,
        access_level,
        scopes,
        employee: Some(PERSON.into()),
        connector: None,
        expires_at: Some(AT.plus_seconds(100)),
        reads_per_minute: None,
        writes_per_minute: None,
        scim_per_minute: None,
        allowed_networks: AllowedNetworks::EVERYWHERE,
    };
    let references = KeyReferences { person_exists: true, connector: None };
    let key = ApiKey::create(SESSION, draft, &secret(1), None, references, AT).unwrap().state;
    let session = ApiKey { kind: ApiKeyKind::Session, identity_provider_id: Some(provider.id), ..key };
    SessionBasis { session, provider, link: link() }
}

fn secret(number: u8) -> Secret {
    generate(Environment::Live, [number; 32])
}

fn record(key: ApiKey, role: Role) -> KeyRecord {
    let holder = Holder { id: PERSON, role, status: PersonStatus::Active, returned_at: None };
    KeyRecord { organization: OrganizationId::from_ulid(Ulid(1)), key, holder: Some(holder) }
}

fn authenticate(basis: &SessionBasis, record: &KeyRecord, at: Timestamp) -> Option<Caller> {
    basis.authenticate(record, hash(secret(1).reveal()), at)
}

#[test]
fn session_lasts_as_long_as_its_provider_link_and_person() {
    let with_provider = |change: fn(&mut IdentityProvider)| {
        let mut basis = basis();
        change(&mut basis.provider);
        basis
    };
    let with_link = |change: fn(&mut IdentityLink)| {
        let mut basis = basis();
        change(&mut basis.link);
        basis
    };
    let with_session = |change: fn(&mut ApiKey)| {
        let mut basis = basis();
        change(&mut basis.session);
        basis
    };
    for (name, basis, wanted) in [
        ("plain", basis(), true),
        ("disabled", with_provider(|provider| provider.status = Status::Disabled), false),
        ("pending", with_provider(|provider| provider.status = Status::Pending), true),
        (
            "disabled before",
            with_provider(|provider| provider.disabled_at = Some(Timestamp::from_millis(AT.millis() - 1))),
            true,
        ),
        ("disabled since", with_provider(|provider| provider.disabled_at = Some(AT)), false),
        ("unlinked", with_link(|link| link.removed_at = Some(AT)), false),
        ("linked again", with_link(|link| link.tokens_after = Some(AT)), false),
        ("linked to another", with_link(|link| link.employee_id = EmployeeId::from_ulid(Ulid(8))), false),
        ("revoked", with_session(|session| session.revoked_at = Some(AT)), false),
        ("shortened", with_session(|session| session.expires_at = Some(AT.plus_seconds(1))), false),
    ] {
        let now = AT.plus_seconds(1);
        let child = ApiKey {
            id: KeyId::from_ulid(Ulid(4)),
            kind: ApiKeyKind::Key,
            session_id: Some(SESSION),
            expires_at: None,
            revoked_at: None,
            ..basis.session.clone()
        };
        for key in [basis.session.clone(), child] {
            let record = record(key, Role::Employee);
            assert_eq!(authenticate(&basis, &record, now).is_some(), wanted, "{name} {:?}", record.key.kind);
            assert_eq!(record.authenticate(hash(secret(1).reveal()), now), None, "{name}: not by itself");
        }
    }
}

#[test]
fn returned_person_has_no_session() {
    let basis = basis();
    for (returned_at, wanted) in [(None, true), (Some(AT), true), (Some(AT.plus_seconds(1)), false)] {
        let mut record = record(basis.session.clone(), Role::Employee);
        record.holder = record.holder.map(|holder| Holder { returned_at, ..holder });
        assert_eq!(authenticate(&basis, &record, AT.plus_seconds(2)).is_some(), wanted, "{returned_at:?}");
    }
}

#[test]
fn caller_has_the_present_rights_of_the_provider() {
    let own = Permissions::NONE.with(Permission::ObservationsRead);
    let level_of = |basis: &SessionBasis, role| {
        let caller = authenticate(basis, &record(basis.session.clone(), role), AT).unwrap();
        assert_eq!((caller.session, caller.expires_at), (Some(SESSION), Some(AT.plus_seconds(100))));
        (caller.level, caller.scopes)
    };
    let basis = basis();
    let (level, scopes) = level_of(&basis, Role::OrgAdmin);
    assert!(level == AccessLevel::Admin && scopes.has(Permission::SettingsWrite));
    assert_eq!(level_of(&basis, Role::Manager), (AccessLevel::Standard, own));
    let mut narrowed_basis = basis.clone();
    narrowed_basis.provider.admin_sessions = false;
    assert_eq!(level_of(&narrowed_basis, Role::OrgAdmin), (AccessLevel::Standard, own));
    let foreign =
        ApiKey { session_id: Some(KeyId::from_ulid(Ulid(9))), kind: ApiKeyKind::Key, ..basis.session.clone() };
    assert_eq!(authenticate(&basis, &record(foreign, Role::Manager), AT), None, "of another session");
}

#[test]
fn code_of_a_session_serves_its_browser_alone() {
    let code = generate_code([1; 32]);
    let hashes = ["a", "b", ""].map(|browser| hash_code(code.reveal(), browser));
    assert!(hashes[0] != hashes[1] && hashes[1] != hashes[2]);
    assert!(!hashes.contains(&hash(code.reveal())));
}
