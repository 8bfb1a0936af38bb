//! Roles and reporting lines: whoever acts for a person gives nobody a role and brings nobody under that person.

use candor_domain::access::{AccessLevel, Environment, Permissions};
use futures_util::future::join_all;
use serde_json::{Value, json};

use super::{Cast, assert_denied};
use crate::objectives::{Feed, key_for, person};
use crate::stores::every_store;
use crate::support::{Answered, World};

/// A method, the path below `/v1/employees`, a body, and the status for a key that acts for Joe.
type Asked = (&'static str, String, Value, u16);

fn new(name: &str, members: Value) -> Value {
    let mut body = json!({"email": format!("{name}@example.com"), "first_name": name, "last_name": "Example"});
    body.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    body
}

async fn send(world: &World, key: &str, (method, path, body, _): &Asked) -> Answered {
    world.bare(method, &format!("/v1/employees{path}")).key(key).json(body).send().await
}

/// What is refused to a key that acts for Joe, and what is not.
fn requests(cast: &Cast, mark: &str) -> Vec<Asked> {
    let Cast { top, joe, report, deep, other, member, .. } = cast;
    let at = |id: &str| format!("/{id}");
    let name = |it: &str| format!("{it}{mark}");
    vec![
        ("POST", String::new(), new(&name("a"), json!({"role": "org_admin"})), 403),
        ("POST", String::new(), new(&name("b"), json!({"role": "manager"})), 403),
        ("POST", String::new(), new(&name("c"), json!({"role": "employee", "manager_id": top})), 201),
        ("POST", String::new(), new(&name("d"), json!({"manager_id": joe})), 403),
        ("POST", String::new(), new(&name("e"), json!({"manager_id": deep, "send_invite": true})), 403),
        ("PATCH", at(joe), json!({"role": "org_admin"}), 403),
        ("PATCH", at(other), json!({"role": "manager", "first_name": "O"}), 403),
        ("PATCH", at(other), json!({"role": "employee", "first_name": "O"}), 200),
        // Somebody from elsewhere, alone and with a team, and whoever stands above.
        ("PATCH", at(member), json!({"manager_id": joe}), 403),
        ("PATCH", at(other), json!({"manager_id": deep}), 403),
        ("PATCH", at(top), json!({"manager_id": report}), 403),
        ("PATCH", at(other), json!({"manager_id": top}), 200),
        // Within the team, to where one is, out of it and not back.
        ("PATCH", at(deep), json!({"manager_id": joe}), 200),
        ("PATCH", at(report), json!({"manager_id": joe}), 200),
        ("PATCH", at(deep), json!({"manager_id": other}), 200),
        ("PATCH", at(deep), json!({"manager_id": joe}), 403),
        // Joe goes elsewhere with his team; a cycle is a cycle.
        ("PATCH", at(joe), json!({"manager_id": other}), 200),
        ("PATCH", at(joe), json!({"manager_id": report}), 422),
        ("PATCH", at(other), json!({"manager_id": "emp_nonsense"}), 422),
        ("POST", format!("/{member}/deactivate"), json!({}), 200),
        ("POST", format!("/{member}/rehire"), json!({"manager_id": report}), 403),
        ("POST", format!("/{member}/rehire"), json!({"role": "manager"}), 400),
        ("POST", format!("/{member}/rehire"), json!({"manager_id": top}), 200),
        ("POST", format!("/{report}/deactivate"), json!({}), 200),
        ("POST", format!("/{report}/rehire"), json!({"manager_id": joe}), 200),
        ("POST", format!("/{report}/deactivate"), json!({}), 200),
        ("POST", format!("/{report}/reactivate"), json!({}), 200),
    ]
}

#[tokio::test]
async fn a_key_that_acts_for_a_person_gives_no_role_and_brings_nobody_under_that_person() {
    for level in [AccessLevel::Standard, AccessLevel::Admin] {
        for it in every_store().await {
            let world = &it.world;
            let cast = Cast::gather(world).await;
            let key = key_for(world, &cast.joe, level).await;
            for asked in requests(&cast, "") {
                let what = format!("{} {level:?} {asked:?}", it.name);
                let before = world.get("/v1/employees?limit=100&filter[status]=all").await.json();
                let answered = send(world, &key, &asked).await;
                assert_eq!(answered.status, asked.3, "{what}: {}", answered.text());
                if asked.3 == 403 {
                    assert_denied(&answered, &what);
                    assert_eq!(world.get("/v1/employees?limit=100&filter[status]=all").await.json(), before, "{what}");
                }
            }
        }
    }
}

#[tokio::test]
async fn keys_of_the_organization_and_of_an_org_admin_do_all_of_it() {
    let world = World::new().await;
    let cast = Cast::gather(&world).await;
    let admin = person(&world, "admin", "org_admin", None).await;
    let bound = key_for(&world, &admin, AccessLevel::Standard).await;
    let unbound = world.key(Permissions::ALL, AccessLevel::Standard, Environment::Live).await;
    for (mark, key) in [("1", bound), ("2", unbound)] {
        for asked in requests(&cast, mark).iter().filter(|it| it.3 == 403) {
            let answered = send(&world, &key, asked).await;
            assert!(matches!(answered.status, 200 | 201 | 409 | 422), "{asked:?}: {}", answered.text());
        }
    }
}

async fn upload(world: &World, key: &str, query: &str, file: &str) -> Value {
    let request = world.bare("POST", &format!("/v1/employees/csv{query}")).key(key);
    let answered = request.header("content-type", "text/csv").body(file.to_owned()).send().await;
    assert_eq!(answered.status, 200, "{}", answered.text());
    answered.json()["data"].clone()
}

/// Rows of a file, each with whether a key that acts for Joe may apply it.
const ROWS: [(&str, bool); 12] = [
    ("new1@example.com,New,One,,joe@example.com", false),
    ("new2@example.com,New,Two,,new3@example.com", false),
    ("new3@example.com,New,Three,,deep@example.com", false),
    ("new4@example.com,New,Four,org_admin,", false),
    ("new5@example.com,New,Five,employee,top@example.com", true),
    ("new6@example.com,New,Six,,new5@example.com", true),
    ("member@example.com,,,,other@example.com", true),
    ("other@example.com,,,,report@example.com", false),
    ("alone@example.com,,,,other@example.com", false),
    ("deep@example.com,,,employee,joe@example.com", true),
    ("report@example.com,,,manager,", false),
    ("joe@example.com,,,,new5@example.com", true),
];

#[tokio::test]
async fn rows_of_a_file_do_neither_also_not_through_one_another() {
    for it in every_store().await {
        let world = &it.world;
        let cast = Cast::gather(world).await;
        person(world, "alone", "employee", None).await;
        let rows: Vec<_> = ROWS.iter().map(|(row, _)| *row).collect();
        let file = format!("email,first_name,last_name,role,manager_email\n{}\n", rows.join("\n"));
        let denied = |data: &Value| -> Vec<u64> {
            let errors = data["errors"].as_array().unwrap();
            assert!(errors.iter().all(|it| it["code"] == "permission_denied"), "{}: {data}", it.name);
            errors.iter().map(|it| it["row_number"].as_u64().unwrap()).collect()
        };
        let wanted: Vec<u64> = (2..).zip(ROWS).filter(|(_, (_, may))| !may).map(|(row, _)| row).collect();
        let planned = upload(world, &cast.key, "?dry_run=true", &file).await;
        assert_eq!(denied(&planned), wanted, "{} planned", it.name);
        let done = upload(world, &cast.key, "", &file).await;
        assert_eq!((denied(&done), &done["created"], &done["updated"]), (wanted, &json!(2), &json!(2)), "{}", it.name);
        let below = world.get(&format!("/v1/employees?sort=first_name&filter[manager_id]={}", cast.joe)).await.json();
        let below: Vec<_> = below["data"].as_array().unwrap().iter().map(|it| it["email"].clone()).collect();
        assert_eq!(below, ["deep@example.com", "report@example.com"], "{}: those who were below before", it.name);
        let other = world.get(&format!("/v1/employees/{}", cast.other)).await.json();
        assert_eq!(other["manager_id"], Value::Null, "{}", it.name);
        let unbound = world.key(Permissions::ALL, AccessLevel::Standard, Environment::Live).await;
        assert_eq!(denied(&upload(world, &unbound, "", &file).await), Vec::<u64>::new(), "{}", it.name);
    }
}

/// The feed has the order of commits: whoever was recorded under somebody was so before that one came under Joe.
#[tokio::test]
async fn nobody_is_recorded_under_somebody_who_comes_under_the_person_at_the_same_time() {
    for it in every_store().await {
        let world = &it.world;
        let cast = Cast::gather(world).await;
        let mut both = (0, 0);
        for round in 0..8 {
            let lead = person(world, &format!("lead{round}"), "employee", None).await;
            let mut feed = Feed::from_now(world).await;
            let made = (0..6).map(|number| {
                let body = new(&format!("n{round}-{number}"), json!({"manager_id": lead}));
                let asked = ("POST", String::new(), body, 0);
                let (world, key) = (&*world, &cast.key);
                async move { send(world, key, &asked).await }
            });
            let path = format!("/v1/employees/{lead}");
            let moved = world.patch(&path, json!({"manager_id": cast.joe}));
            let (made, moved) = futures_util::future::join(join_all(made), moved).await;
            assert_eq!(moved.status, 200, "{}: {}", it.name, moved.text());
            for answered in &made {
                assert!(matches!(answered.status, 201 | 403), "{}: {}", it.name, answered.text());
            }
            both.0 += made.iter().filter(|it| it.status == 201).count();
            both.1 += made.iter().filter(|it| it.status == 403).count();
            let events = feed.all("employee.").await;
            let moved = events.iter().position(|it| it["data"]["id"] == lead).unwrap();
            let late = events[moved..].iter().find(|it| it["data"]["manager_id"] == lead);
            assert!(late.is_none(), "{}, round {round}: {late:?}", it.name);
        }
        assert_eq!(both.0 + both.1, 48, "{}", it.name);
    }
}
