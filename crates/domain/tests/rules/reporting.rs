//! Property test: moves in the reporting tree never close a cycle, and no other move is refused (decision D1).

use candor_domain::id::EmployeeId;
use candor_domain::json::Value;
use candor_domain::people::{Employee, Patch, References, ReportingLine};
use candor_domain::problem::Code;
use candor_domain::refusal::DomainError;
use candor_domain::time::Timestamp;
use proptest::prelude::*;

const PEOPLE: usize = 8;

fn employee(number: usize) -> Employee {
    candor_test_fixtures::employee(number as u128 + 1)
}

fn find(people: &[Employee], id: EmployeeId) -> &Employee {
    people.iter().find(|person| person.id == id).unwrap()
}

/// Returns `true` if the reporting lines above `id` lead to `wanted`.
fn leads_to(people: &[Employee], id: EmployeeId, wanted: EmployeeId) -> bool {
    let mut manager = Some(id);
    for _ in 0..=people.len() {
        match manager {
            Some(person) if person == wanted => return true,
            Some(person) => manager = find(people, person).manager_id,
            None => return false,
        }
    }
    false
}

fn has_cycle(people: &[Employee]) -> bool {
    people.iter().any(|person| person.manager_id.is_some_and(|manager| leads_to(people, manager, person.id)))
}

/// Requests a new manager, or none, with the body of a PATCH.
fn request_move(
    people: &[Employee],
    person: usize,
    manager: Option<usize>,
) -> Result<Option<Employee>, DomainError> {
    let person_before = &people[person];
    let manager = manager.map(|manager| &people[manager]);
    let body = manager.map_or("null".to_owned(), |manager| format!("\"{}\"", manager.id));
    let Ok(Value::Object(body)) = serde_json::from_str(&format!(r#"{{"manager_id":{body}}}"#)) else {
        panic!("{body}")
    };
    let line = |manager: &Employee| ReportingLine {
        depth: 1,
        status: manager.status,
        is_below: leads_to(people, manager.id, person_before.id),
    };
    let references = References { manager: manager.map(line), ..References::default() };
    let patch = Patch::parse(body).resolve_with(person_before).unwrap();
    person_before
        .update(&patch, &references, Timestamp::from_millis(2_000))
        .map(|decision| decision.map(|change| change.state))
}

proptest! {
    #[test]
    fn sequence_of_moves_never_closes_a_cycle(
        moves in proptest::collection::vec((0..PEOPLE, proptest::option::weighted(0.85, 0..PEOPLE)), 1..60)
    ) {
        let mut people: Vec<_> = (0..PEOPLE).map(employee).collect();
        for (person, manager) in moves {
            let manager_id = manager.map(|number| people[number].id);
            let mut people_with_move = people.clone();
            people_with_move[person].manager_id = manager_id;
            match request_move(&people, person, manager) {
                Ok(state) => {
                    prop_assert!(!has_cycle(&people_with_move), "a cycle was accepted");
                    prop_assert_eq!(state.is_some(), people[person].manager_id != manager_id);
                    people[person] = state.unwrap_or_else(|| people[person].clone());
                    prop_assert_eq!(people[person].manager_id, manager_id);
                }
                Err(refusal) => {
                    prop_assert!(has_cycle(&people_with_move), "{:?} although there would be no cycle", refusal);
                    let DomainError::Unprocessable(problems) = refusal else { panic!("{refusal:?}") };
                    let codes: Vec<_> = problems.as_slice().iter().map(|problem| (problem.field.as_str(), problem.code)).collect();
                    prop_assert_eq!(codes, [("manager_id", Code::ReportingCycle)]);
                }
            }
            prop_assert!(!has_cycle(&people));
        }
    }
}

#[test]
fn has_cycle_finds_cycles_of_every_length() {
    for length in 1..=PEOPLE {
        let mut people: Vec<_> = (0..PEOPLE).map(employee).collect();
        for number in 0..length {
            people[number].manager_id = Some(people[(number + 1) % length].id);
        }
        assert!(has_cycle(&people), "{length}");
        people[length - 1].manager_id = None;
        assert!(!has_cycle(&people), "{length}, cut");
    }
}
