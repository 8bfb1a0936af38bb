//! Tests of the creation, update, rotation, revocation and authentication of API keys.

mod lowered;
mod networks;
mod rotation;

use super::*;
use crate::access::{AllowedNetworks, Permission, PermissionError};
use crate::id::{EmployeeId, OrganizationId};
use crate::json::{Object, Value};
use crate::people::{Role, Status};
use crate::problem::{Code, ValidationErrors};
use Permission::{EmployeesRead, ObservationsRead, ObservationsWrite, SettingsWrite};
use ulid::Ulid;

pub(super) const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
pub(super) const ORGANIZATION: OrganizationId = OrganizationId::from_ulid(Ulid(1));
pub(super) const PERSON: EmployeeId = EmployeeId::from_ulid(Ulid(7));
const NOTHING: KeyReferences = KeyReferences { person_exists: false, connector: None };
const PERSON_EXISTS: KeyReferences = KeyReferences { person_exists: true, connector: None };

pub(super) fn secret(number: u8) -> Secret {
    generate(Environment::Live, [number; 32])
}

pub(super) fn body(text: &str) -> Object {
    let Ok(Value::Object(members)) = serde_json::from_str(text) else { panic!("{text}") };
    members
}

pub(super) fn codes(problems: &ValidationErrors) -> Vec<(&str, Code)> {
    problems.as_slice().iter().map(|problem| (problem.field.as_str(), problem.code)).collect()
}

pub(super) fn set(scopes: &[Permission]) -> Permissions {
    scopes.iter().fold(Permissions::NONE, |set, scope| set.with(*scope))
}

fn draft(scopes: Permissions, access_level: AccessLevel) -> Draft {
    Draft {
        name: "Reporting".to_owned(),
        environment: Environment::Live,
        access_level,
        scopes,
        employee: None,
        connector: None,
        expires_at: None,
        reads_per_minute: None,
        writes_per_minute: None,
        scim_per_minute: None,
        allowed_networks: AllowedNetworks::EVERYWHERE,
    }
}

pub(super) fn key() -> ApiKey {
    let draft = draft(set(&[ObservationsRead, ObservationsWrite]), AccessLevel::Standard);
    ApiKey::create(KeyId::from_ulid(Ulid(2)), draft, &secret(1), None, NOTHING, NOW).unwrap().state
}

/// Returns a caller with another key than [`key`].
pub(super) fn caller(scopes: Permissions, level: AccessLevel) -> Caller {
    let key = ApiKey { id: KeyId::from_ulid(Ulid(20)), scopes, access_level: level, ..key() };
    record(key, None).authenticate(hash(secret(1).reveal()), NOW).unwrap()
}

/// Returns an active person of this role.
pub(super) fn holder(role: Role) -> Holder {
    Holder { id: PERSON, role, status: Status::Active, returned_at: None }
}

pub(super) fn record(key: ApiKey, holder: Option<Holder>) -> KeyRecord {
    KeyRecord { organization: ORGANIZATION, key, holder }
}

#[test]
fn granted_access_is_limited_to_the_granters_own() {
    use AccessLevel::{Admin, Standard};
    let (some, more) = (set(&[ObservationsRead]), set(&[ObservationsRead, EmployeesRead]));
    let table = [
        //  the granter's           the new key's           allowed
        ((some, Standard), (some, Standard), true),
        ((more, Standard), (some, Standard), true),
        ((some, Standard), (more, Standard), false),
        ((some, Standard), (some, Admin), false),
        ((some, Admin), (some, Admin), true),
        ((some, Admin), (more, Admin), false),
        ((Permissions::ALL, Standard), (more, Standard), true),
        ((more, Admin), (Permissions::ALL, Standard), false),
        ((Permissions::ALL, Admin), (Permissions::ALL, Admin), true),
    ];
    for ((scopes, level), (wanted, wanted_level), allowed) in table {
        let granter = caller(scopes, level);
        let expected_error = (!allowed).then_some(DomainError::Denied(PermissionError::CannotGrant));
        let draft = draft(wanted, wanted_level);
        let creation =
            ApiKey::create(KeyId::from_ulid(Ulid(3)), draft.clone(), &secret(2), Some(&granter), NOTHING, NOW);
        assert_eq!(creation.err(), expected_error, "create {draft:?}");
        let other = ApiKey { scopes: wanted, access_level: wanted_level, ..key() };
        assert_eq!(other.rotate(&secret(2), 60, &granter, NOW).err(), expected_error, "rotate {other:?}");
        let narrow = ApiKey { scopes: Permissions::NONE, access_level: wanted_level, ..key() };
        let patch = Patch { scopes: Some(wanted), ..Patch::default() };
        assert_eq!(narrow.update(patch, None, &granter, NOW).err(), expected_error, "widen {narrow:?}");
    }
    let operator =
        ApiKey::create(KeyId::from_ulid(Ulid(3)), draft(Permissions::ALL, Admin), &secret(2), None, NOTHING, NOW);
    assert!(operator.is_ok(), "the operator grants anything");
}

#[test]
fn bound_key_manages_keys_of_its_person_only() {
    let other_person = EmployeeId::from_ulid(Ulid(8));
    let admin =
        ApiKey { employee_id: Some(PERSON), access_level: AccessLevel::Admin, scopes: Permissions::ALL, ..key() };
    let table = [
        // the granter's person, the person of the key, allowed
        (None, None, true),
        (None, Some(other_person), true),
        (Some(Role::OrgAdmin), None, false),
        (Some(Role::OrgAdmin), Some(other_person), false),
        (Some(Role::OrgAdmin), Some(PERSON), true),
        (Some(Role::Manager), None, false),
        (Some(Role::Manager), Some(other_person), false),
        (Some(Role::Manager), Some(PERSON), true),
    ];
    for (role, person, allowed) in table {
        let employee_id = role.map(|_| PERSON);
        let holder_of_key = role.map(holder);
        let granter = record(ApiKey { employee_id, ..admin.clone() }, holder_of_key);
        let granter = granter.authenticate(hash(secret(1).reveal()), NOW).unwrap();
        let expected_error = (!allowed).then_some(DomainError::Denied(PermissionError::CannotGrant));
        let employee = person.map(|id| Reference { text: id.to_string(), id: Some(id) });
        let new_draft = Draft { employee, ..draft(Permissions::ALL, AccessLevel::Standard) };
        let creation =
            ApiKey::create(KeyId::from_ulid(Ulid(3)), new_draft, &secret(2), Some(&granter), PERSON_EXISTS, NOW);
        assert_eq!(creation.err(), expected_error, "create {role:?} {person:?}");
        let stored_key = ApiKey { employee_id: person, ..key() };
        assert_eq!(
            stored_key.rotate(&secret(2), 60, &granter, NOW).err(),
            expected_error,
            "rotate {role:?} {person:?}"
        );
        let wider = Patch { scopes: Some(Permissions::ALL), ..Patch::default() };
        assert_eq!(
            stored_key.update(wider, None, &granter, NOW).err(),
            expected_error,
            "widen {role:?} {person:?}"
        );
        let narrower = Patch { scopes: Some(set(&[ObservationsRead])), ..Patch::default() };
        assert_eq!(
            stored_key.update(narrower, None, &granter, NOW).err(),
            expected_error,
            "narrow {role:?} {person:?}"
        );
        let rename = Patch { name: Some("Other".to_owned()), ..Patch::default() };
        assert_eq!(
            stored_key.update(rename, None, &granter, NOW).err(),
            expected_error,
            "rename {role:?} {person:?}"
        );
    }
}

#[test]
fn granted_end_is_limited_to_the_granters_own() {
    let time_after = |seconds| Some(NOW.plus_seconds(seconds));
    let table = [
        // end of the granter's key, end of the new key, allowed
        (None, None, true),
        (None, time_after(60), true),
        (time_after(60), None, false),
        (time_after(60), time_after(61), false),
        (time_after(60), time_after(60), true),
        (time_after(60), time_after(59), true),
    ];
    for (own, given, allowed) in table {
        let granter = Caller { expires_at: own, ..caller(Permissions::ALL, AccessLevel::Admin) };
        let expected_error = (!allowed).then_some(DomainError::Denied(PermissionError::CannotGrant));
        let new_draft = Draft { expires_at: given, ..draft(Permissions::ALL, AccessLevel::Standard) };
        let creation =
            ApiKey::create(KeyId::from_ulid(Ulid(3)), new_draft, &secret(2), Some(&granter), NOTHING, NOW);
        assert_eq!(creation.err(), expected_error, "create {own:?} {given:?}");
        let lasting = ApiKey { expires_at: given, ..key() };
        assert_eq!(
            lasting.rotate(&secret(2), 60, &granter, NOW).err(),
            expected_error,
            "rotate {own:?} {given:?}"
        );
        let wider = Patch { scopes: Some(Permissions::ALL), ..Patch::default() };
        assert_eq!(lasting.update(wider, None, &granter, NOW).err(), expected_error, "widen {own:?} {given:?}");
        let soon_over = ApiKey { expires_at: time_after(1), ..key() };
        let longer = Patch { expires_at: Some(given), ..Patch::default() };
        assert_eq!(
            soon_over.update(longer, None, &granter, NOW).err(),
            expected_error,
            "prolong {own:?} {given:?}"
        );
        let earlier_end = Patch { expires_at: Some(time_after(1)), ..Patch::default() };
        assert_eq!(
            lasting.update(earlier_end, None, &granter, NOW).err(),
            expected_error,
            "shorten {own:?} {given:?}"
        );
        let rename = Patch { name: Some("Other".to_owned()), ..Patch::default() };
        assert_eq!(lasting.update(rename, None, &granter, NOW).err(), None, "name {own:?} {given:?}");
    }
}

#[test]
fn renaming_a_key_requires_no_extra_scope() {
    let granter = caller(set(&[SettingsWrite]), AccessLevel::Standard);
    let rename = Patch { name: Some("Other".to_owned()), ..Patch::default() };
    let decision = key().update(rename, None, &granter, NOW).unwrap().unwrap();
    assert_eq!(decision.audit.changes.keys().collect::<Vec<_>>(), ["name"]);
    assert!(decision.state.updated_at > key().updated_at, "also within one millisecond");
    assert_eq!(key().update(Patch::default(), None, &granter, NOW), Ok(None));
}

#[test]
fn admin_level_is_granted_by_level_and_never_by_role() {
    use AccessLevel::{Admin, Standard};
    for role in [Role::OrgAdmin, Role::Manager, Role::Employee] {
        for (level, may) in [(Standard, false), (Admin, true)] {
            let bound_key =
                ApiKey { employee_id: Some(PERSON), scopes: Permissions::ALL, access_level: level, ..key() };
            let admin_holder = Some(holder(role));
            let caller = record(bound_key, admin_holder).authenticate(hash(secret(1).reveal()), NOW).unwrap();
            assert_eq!(caller.is_data_admin(), role == Role::OrgAdmin, "{role:?}");
            let employee = Some(Reference { text: PERSON.to_string(), id: Some(PERSON) });
            let new_draft = Draft { employee, ..draft(Permissions::ALL, Admin) };
            let creation = ApiKey::create(
                KeyId::from_ulid(Ulid(3)),
                new_draft,
                &secret(2),
                Some(&caller),
                PERSON_EXISTS,
                NOW,
            );
            assert_eq!(creation.is_ok(), may, "{role:?} {level:?}");
        }
    }
}

#[test]
fn previous_secret_is_valid_until_its_overlap_ends() {
    let granter = caller(Permissions::ALL, AccessLevel::Admin);
    let time_after = |seconds: i64| NOW.plus_seconds(seconds);
    let good = |key: &ApiKey, number: u8, at: Timestamp| {
        record(key.clone(), None).authenticate(hash(secret(number).reveal()), at).is_some()
    };
    let decision = key().rotate(&secret(2), 60, &granter, time_after(10)).unwrap();
    let rotated_key = decision.state;
    let just_before = Timestamp::from_millis(time_after(70).millis() - 1);
    for (number, when, wanted) in [
        (2, time_after(10), true),
        (2, time_after(1000), true),
        (1, time_after(10), true),
        (1, just_before, true),
        (1, time_after(70), false),
    ] {
        assert_eq!(good(&rotated_key, number, when), wanted, "secret {number} at {when}");
    }
    let audit_text = serde_json::to_string(&decision.audit.changes).unwrap();
    assert_eq!(decision.audit.changes.keys().collect::<Vec<_>>(), ["last4"], "no secret, no hash: {audit_text}");
    assert!(secret(2).reveal().ends_with(&rotated_key.last4));

    let at_once = key().rotate(&secret(2), 0, &granter, time_after(10)).unwrap().state;
    assert!(!good(&at_once, 1, time_after(10)), "without overlap the old secret ends at once");
    let second_rotation = rotated_key.rotate(&secret(3), 60, &granter, time_after(20)).unwrap().state;
    assert!(
        good(&second_rotation, 3, time_after(21)) && good(&second_rotation, 2, time_after(21)),
        "the newest and the one before it"
    );
    assert!(!good(&second_rotation, 1, time_after(21)), "only one previous secret stays valid");
    let revoked_key = second_rotation.revoke(time_after(30)).unwrap().state;
    assert!(
        !good(&revoked_key, 3, time_after(30)) && !good(&revoked_key, 2, time_after(30)),
        "a revoked key ends with all its secrets"
    );
}

#[test]
fn revoked_key_cannot_be_changed() {
    let granter = caller(Permissions::ALL, AccessLevel::Admin);
    let revoked_key = key().revoke(NOW).unwrap().state;
    assert!(matches!(revoked_key.revoke(NOW), Err(DomainError::Conflict(_))));
    assert!(matches!(revoked_key.rotate(&secret(2), 0, &granter, NOW), Err(DomainError::Conflict(_))));
    assert!(matches!(revoked_key.update(Patch::default(), None, &granter, NOW), Err(DomainError::Conflict(_))));
}

#[test]
fn key_cannot_be_bound_outside_its_data_set() {
    let make = |text: &str, id: Option<EmployeeId>, exists: bool| {
        let employee = Some(Reference { text: text.to_owned(), id });
        let draft = Draft { employee, ..draft(Permissions::ALL, AccessLevel::Standard) };
        let references = KeyReferences { person_exists: exists, ..NOTHING };
        ApiKey::create(KeyId::from_ulid(Ulid(3)), draft, &secret(2), None, references, NOW)
    };
    assert_eq!(make("emp", Some(PERSON), true).unwrap().state.employee_id, Some(PERSON));
    for (id, exists) in [(Some(PERSON), false), (None, false), (None, true)] {
        let Err(DomainError::Unprocessable(problems)) = make("x", id, exists) else { panic!("{id:?} {exists}") };
        assert_eq!(codes(&problems), [("employee_id", Code::NotFoundInOrganization)]);
    }
}

#[test]
fn draft_with_bad_fields_names_each_of_them() {
    let parse = |more: &str| Draft::parse(body(&format!(r#"{{"name":"n","scopes":["*"]{more}}}"#)), NOW);
    let draft = parse("").unwrap();
    assert_eq!(
        (draft.environment, draft.access_level, draft.scopes),
        (Environment::Live, AccessLevel::Standard, Permissions::ALL)
    );
    assert_eq!(
        codes(&Draft::parse(Object::new(), NOW).unwrap_err()),
        [("name", Code::Required), ("scopes", Code::Required)]
    );
    let long = |chars: usize| "é".repeat(chars);
    assert!(Draft::parse(body(&format!(r#"{{"name":"{}","scopes":["*"]}}"#, long(80))), NOW).is_ok());
    let table = [
        (format!(r#"{{"name":"{}","scopes":["*"]}}"#, long(81)), "name", Code::TooLong),
        (r#"{"name":" ","scopes":["*"]}"#.to_owned(), "name", Code::TooShort),
        (r#"{"name":"n","scopes":[]}"#.to_owned(), "scopes", Code::TooShort),
        (r#"{"name":"n","scopes":["observations"]}"#.to_owned(), "scopes", Code::InvalidEnum),
        (r#"{"name":"n","scopes":["*","*"]}"#.to_owned(), "scopes", Code::InvalidFormat),
        (r#"{"name":"n","scopes":"*"}"#.to_owned(), "scopes", Code::InvalidFormat),
        (r#"{"name":"n","scopes":["*"],"environment":"prod"}"#.to_owned(), "environment", Code::InvalidEnum),
        (r#"{"name":"n","scopes":["*"],"access_level":null}"#.to_owned(), "access_level", Code::Required),
        (r#"{"name":"n","scopes":["*"],"employee_id":7}"#.to_owned(), "employee_id", Code::InvalidFormat),
        (r#"{"name":"n","scopes":["*"],"expires_at":"soon"}"#.to_owned(), "expires_at", Code::InvalidFormat),
        (format!(r#"{{"name":"n","scopes":["*"],"expires_at":"{NOW}"}}"#), "expires_at", Code::OutOfRange),
        (r#"{"name":"n","scopes":["*"],"reads_per_minute":9}"#.to_owned(), "reads_per_minute", Code::ReadOnly),
        (r#"{"name":"n","scopes":["*"],"key":"x"}"#.to_owned(), "key", Code::UnknownField),
    ];
    for (text, field, code) in table {
        assert_eq!(codes(&Draft::parse(body(&text), NOW).unwrap_err()), [(field, code)], "{text:.80}");
    }
    let just_after = Timestamp::from_millis(NOW.millis() + 1);
    assert_eq!(parse(&format!(r#","expires_at":"{just_after}""#)).unwrap().expires_at, Some(just_after));
}

#[test]
fn unknown_scope_is_refused_by_its_length_or_as_unknown() {
    for (length, code) in [(128, Code::InvalidEnum), (129, Code::TooLong)] {
        let patch = Patch::parse(body(&format!(r#"{{"scopes":["{}"]}}"#, "x".repeat(length))));
        let problems = patch.resolve_with(&key(), NOW).unwrap_err();
        assert_eq!(problems.as_slice()[0].code, code, "{length}");
    }
}

#[test]
fn past_end_is_accepted_only_if_unchanged() {
    let past = Timestamp::from_millis(NOW.millis() - 1);
    let stored_key = ApiKey { expires_at: Some(past), ..key() };
    let patch = |text: &str| Patch::parse(body(text)).resolve_with(&stored_key, NOW);
    assert_eq!(patch(&format!(r#"{{"expires_at":"{past}"}}"#)).unwrap().expires_at, Some(Some(past)));
    assert_eq!(patch(r#"{"expires_at":null}"#).unwrap().expires_at, Some(None));
    let other_past_time = Timestamp::from_millis(past.millis() - 1);
    let problems = patch(&format!(r#"{{"expires_at":"{other_past_time}"}}"#)).unwrap_err();
    assert_eq!(codes(&problems), [("expires_at", Code::OutOfRange)]);
    for (text, field) in
        [(r#"{"environment":"test"}"#, "environment"), (r#"{"access_level":"admin"}"#, "access_level")]
    {
        assert_eq!(codes(&patch(text).unwrap_err()), [(field, Code::ReadOnly)]);
    }
}

#[test]
fn overlap_is_limited_to_one_week() {
    let parse = |text: &str| parse_rotation(body(text)).map_err(|problems| problems.as_slice()[0].code);
    assert_eq!(parse("{}"), Ok(DEFAULT_OVERLAP_SECONDS));
    assert_eq!(parse(r#"{"overlap_seconds":0}"#), Ok(0));
    assert_eq!(parse(r#"{"overlap_seconds":604800}"#), Ok(604_800));
    assert_eq!(parse(r#"{"overlap_seconds":604801}"#), Err(Code::OutOfRange));
    assert_eq!(parse(r#"{"overlap_seconds":-1}"#), Err(Code::OutOfRange));
    assert_eq!(parse(r#"{"overlap_seconds":"60"}"#), Err(Code::InvalidFormat));
    assert_eq!(parse(r#"{"overlap_seconds":null}"#), Err(Code::Required));
}
