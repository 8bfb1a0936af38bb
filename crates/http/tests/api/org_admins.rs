//! The role of an org admin is given and taken in admin context only, and one org admin always stays (decision D12).
//! A model written from the contract alone predicts the results of random histories.

use candor_domain::access::{AccessLevel, Environment, Permission, Permissions};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use serde_json::{Value, json};

use crate::stores::every_store;
use crate::support::TestApi;

const ROLES: [&str; 3] = ["employee", "manager", "org_admin"];
const PEOPLE: usize = 3;

#[derive(Debug, Clone)]
enum Step {
    Role(&'static str),
    Deactivate,
    Reactivate,
    Rehire,
    Row { role: &'static str, status: &'static str },
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Person {
    role: &'static str,
    is_active: bool,
}

fn step() -> impl Strategy<Value = (usize, bool, Step)> {
    let role = prop::sample::select(&ROLES[..]);
    let row = (role.clone(), prop::sample::select(vec!["active", "deactivated"]));
    let step = prop_oneof![
        3 => role.prop_map(Step::Role),
        2 => Just(Step::Deactivate),
        1 => Just(Step::Reactivate),
        1 => Just(Step::Rehire),
        3 => row.prop_map(|(role, status)| Step::Row { role, status }),
    ];
    (0..PEOPLE, prop::bool::weighted(0.6), step)
}

/// Returns the state after the step, or the status of the refusal.
fn expected(people: &[Person], at: usize, is_admin: bool, step: &Step) -> Result<Person, u16> {
    let person_before = people[at];
    let person_after = match step {
        Step::Role(role) => Person { role, ..person_before },
        Step::Deactivate if person_before.is_active => Person { is_active: false, ..person_before },
        Step::Reactivate | Step::Rehire if !person_before.is_active => Person { is_active: true, ..person_before },
        Step::Deactivate | Step::Reactivate | Step::Rehire => return Err(409),
        Step::Row { role, status } => Person { role, is_active: *status == "active" },
    };
    let had = person_before.role == "org_admin";
    let has = person_after.role == "org_admin";
    if !is_admin && (had != has || had && person_before.is_active != person_after.is_active) {
        return Err(403);
    }
    let stays = people.iter().enumerate().any(|(other, person)| {
        let person = if other == at { person_after } else { *person };
        person.role == "org_admin" && person.is_active
    });
    if had && person_before.is_active && !stays { Err(409) } else { Ok(person_after) }
}

fn address(at: usize) -> String {
    format!("person{at}@example.com")
}

/// Performs the step. Returns status and body of the answer. For a refused row of a file, the status is that of an
/// equal request.
async fn take_step(world: &TestApi, key: &str, id: &str, at: usize, step: &Step) -> (u16, Value) {
    let path = format!("/v1/employees/{id}");
    let request = match step {
        Step::Role(role) => world.bare("PATCH", &path).json(&json!({"role": role})),
        Step::Deactivate => world.bare("POST", &format!("{path}/deactivate")),
        Step::Reactivate => world.bare("POST", &format!("{path}/reactivate")),
        Step::Rehire => world.bare("POST", &format!("{path}/rehire")).json(&json!({})),
        Step::Row { role, status } => {
            let file = format!("email,role,status\n{},{role},{status}\n", address(at));
            world.bare("POST", "/v1/employees/csv").header("content-type", "text/csv").body(file)
        }
    };
    let response = request.key(key).send().await;
    let body = response.json();
    let code = body["data"]["errors"][0]["problems"][0]["code"].as_str();
    let status = match code {
        Some("permission_denied") => 403,
        Some("conflict") => 409,
        Some(other) => panic!("{other}: {body}"),
        None => response.status,
    };
    (status, body)
}

#[tokio::test]
async fn admins_follow_the_model_in_random_histories() {
    let config = Config { rng_seed: RngSeed::Fixed(candor_test_explore::seed(12)), ..Config::default() };
    let mut runner = TestRunner::new(config);
    for shared in every_store().await {
        let world = &shared.world;
        let scopes = Permissions::NONE.with(Permission::EmployeesWrite).with(Permission::EmployeesRead);
        let standard = world.key(scopes, AccessLevel::Standard, Environment::Live).await;
        let mut people = vec![Person { role: "org_admin", is_active: true }; PEOPLE];
        let mut ids = vec![];
        for at in 0..PEOPLE {
            let body = json!({"email": address(at), "first_name": "A", "last_name": "B", "role": "org_admin"});
            assert_eq!(world.bare("POST", "/v1/employees").key(&standard).json(&body).send().await.status, 403);
            ids.push(world.made("/v1/employees", body).await);
        }
        for number in 0..candor_test_explore::size(150, 3_000) {
            let (at, is_admin, step) = step().new_tree(&mut runner).unwrap().current();
            // Stays below the quota of uploads.
            world.clock.advance_seconds(61);
            let key = if is_admin { &world.admin } else { &standard };
            let expected_status = expected(&people, at, is_admin, &step);
            let (status, body) = take_step(world, key, &ids[at], at, &step).await;
            let case = format!("step {number} on {}: {at} {is_admin} {step:?} {people:?}: {body}", shared.name);
            assert_eq!(status, expected_status.map_or_else(|status| status, |_| 200), "{case}");
            people[at] = expected_status.unwrap_or(people[at]);
            let person = world.get(&format!("/v1/employees/{}", ids[at])).await.json();
            let is_active = person["status"] == "active";
            assert_eq!(
                (person["role"].as_str(), is_active),
                (Some(people[at].role), people[at].is_active),
                "{case}"
            );
        }
    }
}

#[tokio::test]
async fn last_admin_is_kept_also_of_two_changes_at_once() {
    for shared in every_store().await {
        let world = &shared.world;
        let mut ids = vec![];
        for at in 0..2 {
            let body = json!({"email": address(at), "first_name": "A", "last_name": "B", "role": "org_admin"});
            ids.push(world.made("/v1/employees", body).await);
        }
        let paths = [format!("/v1/employees/{}/deactivate", ids[0]), format!("/v1/employees/{}", ids[1])];
        let (left, demoted) =
            tokio::join!(world.post(&paths[0], json!({})), world.patch(&paths[1], json!({"role": "employee"})));
        let mut statuses = [left.status, demoted.status];
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 409], "{} {}", left.text(), demoted.text());
        let refusal = if left.status == 409 { left } else { demoted };
        assert_eq!(refusal.json()["error"]["details"][0]["rule"], "last_admin");
    }
}
