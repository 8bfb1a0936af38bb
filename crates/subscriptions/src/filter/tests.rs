//! Tests of content filters and of the facts of events.

use candor_domain::event::EventType;
use candor_domain::id::{EventId, Id};
use candor_domain::problem::{Code, ValidationErrors};
use ulid::Ulid;

use super::super::tests::{NOON, codes, object};
use super::*;

fn employee(number: u128) -> EmployeeId {
    Id::from_ulid(Ulid(number))
}

fn department(number: u128) -> DepartmentId {
    Id::from_ulid(Ulid(number))
}

fn parse(body: &str) -> Result<EventFilter, ValidationErrors> {
    let mut fields = Fields::new(object(body));
    let filter = EventFilter::read(&mut fields);
    fields.finish(filter)
}

fn event(kind: EventType, data: &serde_json::Value) -> Event {
    Event { id: EventId::from_ulid(Ulid(1)), kind, created_at: NOON, data: data.to_string(), request_id: None }
}

#[test]
fn filter_is_read_with_null_as_no_condition() {
    let (one, two) = (employee(1), department(2));
    let body = serde_json::json!({
        "employee_id": [one], "department_id": [two], "type": "strength", "scope": ["org", "manager"],
    });
    let filter = EventFilter {
        employee_ids: Some(vec![one]),
        department_ids: Some(vec![two]),
        kind: Some(observation::Type::Strength),
        scopes: Some(vec![Scope::Org, Scope::Manager]),
    };
    assert_eq!(parse(&body.to_string()), Ok(filter.clone()));
    assert_eq!(serde_json::to_value(&filter).unwrap(), body);
    let none = r#"{"employee_id":null,"department_id":null,"type":null,"scope":null}"#;
    assert_eq!(parse(none), Ok(EventFilter::default()));
    assert_eq!(serde_json::to_string(&EventFilter::default()).unwrap(), none);
    assert_eq!((EventFilter::default().some(), filter.clone().some()), (None, Some(filter)));
}

#[test]
fn invalid_member_of_a_filter_is_reported() {
    let ids = |count: u128| (1..=count).map(employee).collect::<Vec<_>>();
    let with = |member: &str, value: serde_json::Value| serde_json::json!({member: value}).to_string();
    let at_most = u128::try_from(MAX_FILTER_IDS).unwrap();
    assert!(parse(&with("employee_id", serde_json::json!(ids(at_most)))).is_ok());
    for (body, field, code) in [
        (with("employee_id", serde_json::json!([])), "employee_id", Code::TooShort),
        (with("employee_id", serde_json::json!(ids(at_most + 1))), "employee_id", Code::TooLong),
        (with("employee_id", serde_json::json!([department(1)])), "employee_id", Code::InvalidFormat),
        (with("employee_id", serde_json::json!([employee(1), employee(1)])), "employee_id", Code::InvalidFormat),
        (with("employee_id", serde_json::json!(employee(1))), "employee_id", Code::InvalidFormat),
        (with("department_id", serde_json::json!([employee(1)])), "department_id", Code::InvalidFormat),
        (with("department_id", serde_json::json!([])), "department_id", Code::TooShort),
        (with("type", serde_json::json!("weakness")), "type", Code::InvalidEnum),
        (with("type", serde_json::json!(["strength"])), "type", Code::InvalidFormat),
        (with("scope", serde_json::json!(["team"])), "scope", Code::InvalidEnum),
        (with("scope", serde_json::json!([])), "scope", Code::TooShort),
        (with("manager_id", serde_json::json!([employee(1)])), "manager_id", Code::UnknownField),
    ] {
        assert_eq!(codes(parse(&body)), [(field.to_owned(), code)], "{body:.60}");
    }
}

#[test]
fn event_meets_each_condition_with_one_of_its_values() {
    let full = EventFacts {
        employee_id: Some(employee(1)),
        department: DepartmentFact::Known(Some(department(1))),
        kind: Some(observation::Type::Strength),
        scope: Some(Scope::Org),
    };
    let filters = |value: u128| {
        let is_bad = value == 2;
        [
            EventFilter { employee_ids: Some(vec![employee(9), employee(value)]), ..EventFilter::default() },
            EventFilter { department_ids: Some(vec![department(9), department(value)]), ..EventFilter::default() },
            EventFilter {
                kind: Some(if is_bad { observation::Type::Opportunity } else { observation::Type::Strength }),
                ..EventFilter::default()
            },
            EventFilter {
                scopes: Some(vec![Scope::Manager, if is_bad { Scope::Employee } else { Scope::Org }]),
                ..EventFilter::default()
            },
        ]
    };
    for (good, bad) in filters(1).into_iter().zip(filters(2)) {
        assert!(good.matches(&full) && !bad.matches(&full), "{good:?}");
        assert!(!good.matches(&EventFacts::default()), "an event that lacks the fact: {good:?}");
        // All conditions of `filters(1)` hold together; one condition of `filters(2)` fails the whole filter.
        let all = |one: EventFilter| {
            let [employees, departments, kind, scopes] = filters(1);
            EventFilter {
                employee_ids: one.employee_ids.or(employees.employee_ids),
                department_ids: one.department_ids.or(departments.department_ids),
                kind: one.kind.or(kind.kind),
                scopes: one.scopes.or(scopes.scopes),
            }
        };
        assert!(all(good.clone()).matches(&full) && !all(bad.clone()).matches(&full), "{bad:?}");
    }
    assert!(EventFilter::default().matches(&EventFacts::default()));
    let unread = EventFacts { department: DepartmentFact::OfPerson(employee(1)), ..full };
    let [_, departments, ..] = filters(1);
    assert!(!departments.matches(&unread) && departments.matches(&unread.with_department(Some(department(1)))));
}

#[test]
fn facts_of_an_event_depend_on_its_resource() {
    let (person, own) = (employee(1), department(2));
    let data = serde_json::json!({
        "id": person, "employee_id": employee(3), "owner_id": employee(4), "department_id": own,
        "type": "opportunity", "scope": "manager", "title": "\"quoted\" \n", "observation": {"type": 1},
    });
    for kind in EventType::ALL {
        let (resource, _) = kind.word().rsplit_once('.').unwrap();
        let of_person = |id| EventFacts {
            employee_id: Some(id),
            department: DepartmentFact::OfPerson(id),
            ..EventFacts::default()
        };
        let expected_facts = match resource {
            "observation" => EventFacts { kind: Some(observation::Type::Opportunity), ..of_person(employee(3)) },
            "objective" => EventFacts { scope: Some(Scope::Manager), ..of_person(employee(4)) },
            "employee" => of_person(person).with_department(Some(own)),
            "summary" | "assignment" | "invitation" | "api_key" | "erasure" => of_person(employee(3)),
            _ => EventFacts::default(),
        };
        if resource != "department" {
            assert_eq!(EventFacts::from_event(&event(*kind, &data)), expected_facts, "{kind:?}");
        }
    }
    let department_event = event(EventType::DepartmentUpdated, &serde_json::json!({"id": own}));
    assert_eq!(EventFacts::from_event(&department_event), EventFacts::default().with_department(Some(own)));
    let unbound = event(EventType::ApiKeyExpiring, &serde_json::json!({"employee_id": null}));
    assert_eq!(EventFacts::from_event(&unbound), EventFacts::default());
}

#[test]
fn department_of_a_changed_person_counts_for_all_events() {
    let (person, other, own) = (employee(1), employee(5), department(2));
    let person_event = event(EventType::EmployeeUpdated, &serde_json::json!({"id": person, "department_id": own}));
    let revocation_of =
        |id| event(EventType::InvitationRevoked, &serde_json::json!({"id": "inv_1", "employee_id": id}));
    let (first, second) = (revocation_of(person), revocation_of(other));
    let facts = EventFacts::from_events(&[&first, &person_event, &second]);
    let departments: Vec<_> = facts.iter().map(|facts| facts.department).collect();
    let own_department = DepartmentFact::Known(Some(own));
    assert_eq!(departments, [own_department, own_department, DepartmentFact::OfPerson(other)]);
    assert_eq!(facts[2].person_to_read(), Some(other));
    assert_eq!(facts[0].person_to_read(), None);
}

#[test]
fn departments_are_read_only_for_filters_that_need_them() {
    let (person, absent, own) = (employee(1), employee(5), department(2));
    let observation_facts = |id| EventFacts {
        employee_id: Some(id),
        department: DepartmentFact::OfPerson(id),
        ..EventFacts::default()
    };
    let facts_with_department = EventFacts::default().with_department(Some(department(3)));
    let facts = [
        observation_facts(person),
        observation_facts(absent),
        observation_facts(person),
        facts_with_department.clone(),
    ];
    let employees = EventFilter { employee_ids: Some(vec![person]), ..EventFilter::default() };
    let departments = EventFilter { department_ids: Some(vec![own]), ..EventFilter::default() };
    assert_eq!(EventFacts::people_to_read(&facts, [&employees]), BTreeSet::new());
    assert_eq!(EventFacts::people_to_read(&facts, [&employees, &departments]), BTreeSet::from([person, absent]));
    let read = BTreeMap::from([(person, Some(own))]);
    let completed_departments = facts.map(|facts| facts.resolve_department(&read).department);
    let (known, none) = (DepartmentFact::Known(Some(own)), DepartmentFact::Known(None));
    assert_eq!(completed_departments, [known, none, known, facts_with_department.department]);
}
