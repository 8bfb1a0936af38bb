//! Tests of drafts and updates of people: field limits and references.

use super::super::Role;
use super::super::tests::employee;
use super::*;
use crate::audit::{Actor, Origin};
use crate::id::AuditId;
use crate::json::Value;
use ulid::Ulid;

const NOW: Timestamp = Timestamp::from_millis(2_000);

fn patch(body: &str, stored: &Employee) -> Patch {
    let Ok(Value::Object(members)) = serde_json::from_str(body) else { panic!("{body}") };
    Patch::parse(members).resolve_with(stored).unwrap()
}

fn problems_of(result: Result<Option<Decision<Employee>>, DomainError>) -> Vec<(String, Code)> {
    match result {
        Err(DomainError::Unprocessable(problems)) => {
            problems.as_slice().iter().map(|problem| (problem.field.clone(), problem.code)).collect()
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn reporting_cycle_is_refused() {
    let person = employee(1);
    let body = format!(r#"{{"manager_id":"{}"}}"#, EmployeeId::from_ulid(Ulid(2)));
    let references_to = |is_below, status| References {
        manager: Some(ReportingLine { status, is_below, depth: MAX_REPORTING_DEPTH }),
        ..References::default()
    };
    let patch = patch(&body, &person);
    assert_eq!(
        problems_of(person.update(&patch, &references_to(true, Status::Active), NOW)),
        [("manager_id".to_owned(), Code::ReportingCycle)]
    );
    assert_eq!(
        problems_of(person.update(&patch, &references_to(false, Status::Deactivated), NOW)),
        [("manager_id".to_owned(), Code::InvalidState)]
    );
    assert_eq!(
        problems_of(person.update(&patch, &References::default(), NOW)),
        [("manager_id".to_owned(), Code::NotFoundInOrganization)]
    );
    for status in [Status::Active, Status::PendingInvite] {
        assert!(person.update(&patch, &references_to(false, status), NOW).unwrap().is_some());
    }
}

#[test]
fn manager_beyond_the_greatest_depth_is_refused() {
    let manager = EmployeeId::from_ulid(Ulid(2));
    let person = Employee { manager_id: None, ..employee(1) };
    let patch = patch(&format!(r#"{{"manager_id":"{manager}"}}"#), &person);
    let references = References {
        manager: Some(ReportingLine { status: Status::Active, is_below: false, depth: MAX_REPORTING_DEPTH + 1 }),
        ..References::default()
    };
    assert_eq!(problems_of(person.update(&patch, &references, NOW)), [("manager_id".to_owned(), Code::TooDeep)]);
    let deep = Employee { manager_id: Some(manager), ..person };
    assert_eq!(deep.update(&patch, &references, NOW), Ok(None), "a stored manager stays");
}

#[test]
fn managed_field_is_refused_unless_its_value_is_equal() {
    let person = Employee { is_hris_managed: true, hris_source: "acme-hr".to_owned(), ..employee(1) };
    let references = References {
        managed: ManagedFields { keys: vec!["grade".to_owned()], job_title: false },
        ..References::default()
    };
    let body = r#"{"email":"new@example.com","first_name":"Eve","last_name":"New","manager_id":"x","department_id":"y","custom_fields":{"grade":3,"team":"a"}}"#;
    let fields: Vec<_> = problems_of(person.update(&patch(body, &person), &references, NOW))
        .into_iter()
        .filter(|problem| problem.1 == Code::FieldManagedExternally)
        .map(|problem| problem.0)
        .collect();
    assert_eq!(fields, ["email", "first_name", "last_name", "manager_id", "department_id", "custom_fields.grade"]);
    let equal = format!(r#"{{"email":"{}","manager_id":null,"first_name":"Ada"}}"#, person.email);
    assert_eq!(person.update(&patch(&equal, &person), &references, NOW), Ok(None));
    let own = r#"{"role":"manager","custom_fields":{"team":"a"}}"#;
    assert!(person.update(&patch(own, &person), &references, NOW).unwrap().is_some());
}

#[test]
fn email_is_unique_in_any_case() {
    let person = employee(1);
    let other_person = EmployeeId::from_ulid(Ulid(9));
    let references = References { email_holder: Some(other_person), ..References::default() };
    let change = patch(r#"{"email":"TAKEN@example.com"}"#, &person);
    assert_eq!(
        person.update(&change, &references, NOW),
        Err(DomainError::already_taken("email", "taken@example.com", Some(other_person)))
    );
    let own = References { email_holder: Some(person.id), ..References::default() };
    assert!(person.update(&change, &own, NOW).unwrap().is_some(), "one's own address in another case");
}

#[test]
fn twin_keeps_its_address_until_its_mailbox_changes() {
    let twin = Employee { email: "ada@m\u{fc}ller.example".to_owned(), is_twin: true, ..employee(1) };
    let other_person = EmployeeId::from_ulid(Ulid(9));
    let references = References { email_holder: Some(other_person), ..References::default() };
    let update = |body: &str, found: &References| twin.update(&patch(body, &twin), found, NOW);
    let same_address = format!(r#"{{"email":"{}","first_name":"Eve"}}"#, twin.email);
    let person_after = update(&same_address, &references).unwrap().unwrap().state;
    assert_eq!((person_after.is_twin, person_after.email_key()), (true, twin.email.clone()));
    let respelling = update(r#"{"email":"ada@xn--mller-kva.example"}"#, &references);
    assert_eq!(
        respelling,
        Err(DomainError::already_taken("email", "ada@xn--mller-kva.example", Some(other_person)))
    );
    let person_at_new_address =
        update(r#"{"email":"eve@example.com"}"#, &References::default()).unwrap().unwrap().state;
    assert_eq!(
        (person_at_new_address.is_twin, person_at_new_address.email_key()),
        (false, "eve@example.com".to_owned())
    );
    let keeps = [&*twin.email, "ada@xn--mller-kva.example"].map(|address| {
        (twin.keeps_key_with(address), Employee { is_twin: false, ..twin.clone() }.keeps_key_with(address))
    });
    assert_eq!(keeps, [(true, true), (false, true)]);
}

#[test]
fn another_mailbox_sets_the_time_that_its_audit_entry_has() {
    let first_change = Timestamp::from_millis(1_500);
    let person = Employee { address_changed_at: Some(first_change), ..employee(1) };
    for (body, is_other) in [
        (r#"{"email":"eve@example.com"}"#, true),
        (r#"{"email":"eve@example.com","job_title":"Lead"}"#, true),
        (r#"{"email":"Person1@EXAMPLE.com"}"#, false),
        (r#"{"job_title":"Lead"}"#, false),
    ] {
        let decision = person.update(&patch(body, &person), &References::default(), NOW).unwrap().unwrap();
        let expected_time = if is_other { decision.state.updated_at } else { first_change };
        assert_eq!(decision.state.address_changed_at, Some(expected_time), "{body}");
        let id = AuditId::from_bytes([1; 16]);
        let entry = decision.audit.into_entry(id, NOW, Actor::system("test"), None, Origin::default());
        assert_eq!(entry.changes_sign_in_address(), is_other, "{body}");
    }
}

/// Parses a creation with one member replaced or added. Returns the draft, or its problems.
fn parse_draft(field: &str, value: &str) -> Result<Draft, Vec<(String, Code)>> {
    let plain = [("email", r#""ada@example.com""#), ("first_name", r#""Ada""#), ("last_name", r#""Lovelace""#)];
    let mut members: Vec<_> = plain.into_iter().filter(|(name, _)| *name != field).collect();
    members.push((field, value));
    let members: Vec<_> = members.into_iter().map(|(name, value)| format!("{name:?}:{value}")).collect();
    let Ok(Value::Object(body)) = serde_json::from_str(&format!("{{{}}}", members.join(","))) else {
        panic!("{field}: {value}")
    };
    Draft::parse(body).map_err(|problems| {
        problems.as_slice().iter().map(|problem| (problem.field.clone(), problem.code)).collect()
    })
}

fn text(unit: &str, count: usize) -> String {
    format!("{:?}", unit.repeat(count))
}

#[test]
fn draft_field_at_its_limit_is_accepted() {
    let table = [
        ("email", "Ada.Lovelace+x@exämple.com".to_owned()),
        ("first_name", "é".repeat(80)),
        ("last_name", "👍".repeat(80)),
        ("external_id", "漢".repeat(128)),
        ("job_title", "漢".repeat(120)),
        ("role", "org_admin".to_owned()),
        ("manager_id", "not an id, which is found out later".to_owned()),
        ("department_id", String::new()),
    ];
    for (field, value) in table {
        assert!(parse_draft(field, &format!("{value:?}")).is_ok(), "{field}: {value}");
    }
    for (field, value) in [("send_invite", "true"), ("send_invite", "false"), ("custom_fields", "{}")] {
        assert!(parse_draft(field, value).is_ok(), "{field}: {value}");
    }
    let draft_with_spaces = parse_draft("role", r#"" manager\u00a0""#).unwrap();
    assert_eq!(
        draft_with_spaces.content.role,
        Role::Manager,
        "read without white space around it, as in a CSV file"
    );
    // Null means the default in these fields.
    for field in ["external_id", "job_title", "manager_id", "department_id"] {
        assert_eq!(parse_draft(field, "null"), parse_draft("role", r#""employee""#), "{field}");
    }
    let plain = parse_draft("send_invite", "false").unwrap();
    assert_eq!(
        (plain.content.role, plain.send_invite, plain.manager, plain.department),
        (Role::Employee, false, None, None)
    );
}

#[test]
fn draft_field_past_its_limit_is_refused() {
    use Code::{InvalidEnum, InvalidFormat, ReadOnly, Required, TooLong, TooShort, UnknownField};
    let table = [
        ("email", "null".to_owned(), Required),
        ("email", "7".to_owned(), InvalidFormat),
        ("email", r#""""#.to_owned(), TooShort),
        ("email", r#""ada""#.to_owned(), InvalidFormat),
        ("email", r#""ada\n@example.com""#.to_owned(), InvalidFormat),
        ("email", text("é", 255), TooLong),
        ("first_name", "null".to_owned(), Required),
        ("first_name", "[\"Ada\"]".to_owned(), InvalidFormat),
        ("first_name", r#"" ""#.to_owned(), TooShort),
        ("first_name", text("é", 81), TooLong),
        ("first_name", r#""A\u0000""#.to_owned(), InvalidFormat),
        ("last_name", "null".to_owned(), Required),
        ("last_name", "{}".to_owned(), InvalidFormat),
        ("last_name", r#""""#.to_owned(), TooShort),
        ("last_name", text("👍", 81), TooLong),
        ("external_id", "1".to_owned(), InvalidFormat),
        ("external_id", r#""""#.to_owned(), TooShort),
        ("external_id", text("漢", 129), TooLong),
        ("job_title", "1".to_owned(), InvalidFormat),
        ("job_title", r#""""#.to_owned(), TooShort),
        ("job_title", text("漢", 121), TooLong),
        ("role", "null".to_owned(), Required),
        ("role", "1".to_owned(), InvalidFormat),
        ("role", r#""Manager""#.to_owned(), InvalidEnum),
        ("manager_id", "1".to_owned(), InvalidFormat),
        ("department_id", "[]".to_owned(), InvalidFormat),
        ("send_invite", r#""true""#.to_owned(), InvalidFormat),
        ("send_invite", "null".to_owned(), Required),
        ("send_invite", "1".to_owned(), InvalidFormat),
        ("custom_fields", "null".to_owned(), Required),
        ("custom_fields", "[]".to_owned(), InvalidFormat),
        ("status", r#""active""#.to_owned(), ReadOnly),
        ("is_hris_managed", "false".to_owned(), ReadOnly),
        ("hris_source", r#""manual""#.to_owned(), ReadOnly),
        ("deactivated_at", "null".to_owned(), ReadOnly),
        ("connector_id", "null".to_owned(), UnknownField),
        ("manager", "null".to_owned(), UnknownField),
    ];
    for (field, value, code) in table {
        assert_eq!(parse_draft(field, &value).unwrap_err(), [(field.to_owned(), code)], "{field}: {value:.40}");
    }
}

#[test]
fn draft_has_at_most_32_custom_fields_that_are_not_null() {
    let fields = |count: usize, more: &str| {
        let members: Vec<_> = (0..count).map(|index| format!(r#""k{index}":{index}"#)).collect();
        parse_draft("custom_fields", &format!("{{{}{more}}}", members.join(",")))
    };
    assert_eq!(fields(32, r#","gone":null"#).unwrap().custom_fields.0.len(), 32);
    assert_eq!(fields(33, "").unwrap_err(), [("custom_fields".to_owned(), Code::TooLong)]);
}

#[test]
fn custom_field_limit_applies_to_the_result_of_an_update() {
    let members = |range: std::ops::Range<usize>, value: &str| {
        let members: Vec<_> = range.map(|index| format!(r#""k{index}":{value}"#)).collect();
        members.join(",")
    };
    let full = employee(1);
    let full = Employee {
        custom_fields: full.custom_fields.apply_patch(
            &patch(&format!(r#"{{"custom_fields":{{{}}}}}"#, members(0..32, "1")), &full).custom_fields,
        ),
        ..full
    };
    let parse = |body: String| {
        let Ok(Value::Object(body)) = serde_json::from_str(&body) else { panic!("{body}") };
        Patch::parse(body).resolve_with(&full).map_err(|problems| {
            problems.as_slice().iter().map(|problem| (problem.field.clone(), problem.code)).collect::<Vec<_>>()
        })
    };
    assert!(
        parse(format!(r#"{{"custom_fields":{{{},"new":1}}}}"#, members(0..1, "null"))).is_ok(),
        "the number of keys stays equal"
    );
    let one_more = parse(r#"{"custom_fields":{"new":1}}"#.to_owned());
    assert_eq!(one_more.unwrap_err(), [("custom_fields".to_owned(), Code::TooLong)]);
    for field in ["email", "first_name", "last_name", "role", "custom_fields"] {
        let patch_result = parse(format!(r#"{{"{field}":null}}"#));
        assert_eq!(patch_result.unwrap_err(), [(field.to_owned(), Code::Required)], "{field} cannot be cleared");
    }
    for field in ["external_id", "job_title", "manager_id", "department_id"] {
        assert!(parse(format!(r#"{{"{field}":null}}"#)).is_ok(), "{field} can be cleared");
    }
    assert_eq!(
        parse(r#"{"send_invite":true}"#.to_owned()).unwrap_err(),
        [("send_invite".to_owned(), Code::UnknownField)]
    );
}

#[test]
fn all_missing_references_are_reported_at_once() {
    let Ok(Value::Object(body)) = serde_json::from_str(
        r#"{"email":"a@example.com","first_name":"A","last_name":"B","manager_id":"x","department_id":"y"}"#,
    ) else {
        panic!("not an object")
    };
    let draft = Draft::parse(body).unwrap();
    let holder = EmployeeId::from_ulid(Ulid(9));
    let references = References { email_holder: Some(holder), ..References::default() };
    let id = EmployeeId::from_ulid(Ulid(1));
    let result = Employee::create(id, draft.clone(), &references, NOW).map(Some);
    let missing = ["manager_id", "department_id"].map(|field| (field.to_owned(), Code::NotFoundInOrganization));
    assert_eq!(problems_of(result), missing, "references come before uniqueness");
    let lone = Draft { manager: None, department: None, ..draft };
    let refusal = Employee::create(id, lone.clone(), &references, NOW).unwrap_err();
    assert_eq!(refusal, DomainError::already_taken("email", "a@example.com", Some(holder)));
    let draft_with_invitation = Draft { send_invite: true, ..lone };
    let state = Employee::create(id, draft_with_invitation, &References::default(), NOW).unwrap().state;
    assert_eq!(
        (state.status, state.hris_source.as_str(), state.is_hris_managed),
        (Status::PendingInvite, MANUAL, false)
    );
}

#[test]
fn inactive_manager_or_archived_department_is_refused() {
    let id = EmployeeId::from_ulid(Ulid(1));
    let (manager, department) = (EmployeeId::from_ulid(Ulid(2)), DepartmentId::from_ulid(Ulid(3)));
    let plain = parse_draft("send_invite", "false").unwrap();
    let draft = Draft {
        manager: Some(Reference { text: manager.to_string(), id: Some(manager) }),
        department: Some(Reference { text: department.to_string(), id: Some(department) }),
        ..plain
    };
    let create = |status, archived| {
        let manager = Some(ReportingLine { status, is_below: false, depth: 1 });
        let references = References { manager, department_archived: Some(archived), ..References::default() };
        Employee::create(id, draft.clone(), &references, NOW).map(Some)
    };
    let state = create(Status::Active, false).unwrap().unwrap().state;
    assert_eq!((state.manager_id, state.department_id), (Some(manager), Some(department)));
    for status in [Status::PendingInvite, Status::Deactivated] {
        assert_eq!(
            problems_of(create(status, false)),
            [("manager_id".to_owned(), Code::InvalidState)],
            "{status:?}"
        );
    }
    assert_eq!(problems_of(create(Status::Active, true)), [("department_id".to_owned(), Code::InvalidState)]);
}
