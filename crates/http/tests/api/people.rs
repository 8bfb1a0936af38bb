//! Employees and related resources: events (§6.2), direct reports (§2.3) and attributes (decision G).

use serde_json::{Value, json};

use crate::support::{TestApi, TestResponse};

/// Advances the clock by a millisecond and sends a request that must succeed.
async fn send_and_expect_success(world: &TestApi, method: &str, path: &str, body: Value) -> TestResponse {
    world.clock.advance_millis(1);
    let response = world.ask(method, path).json(&body).send().await;
    assert!((200..300).contains(&response.status), "{method} {path}: {}", response.text());
    response
}

/// Returns the events after a cursor, each with its data, and the next cursor.
async fn events_since(world: &TestApi, cursor: &str) -> (Vec<(String, Value)>, String) {
    let page = world.get(&format!("/v1/events{cursor}")).await.json();
    let events = page["data"].as_array().unwrap().iter();
    let events = events.map(|event| (event["event"].as_str().unwrap().to_owned(), event["data"].clone()));
    // Leaves out events of invitations, which the tests of the feed cover.
    let events = events.filter(|(kind, _)| !kind.starts_with("invitation.")).collect();
    (events, format!("?cursor={}", page["next_cursor"].as_str().unwrap()))
}

#[tokio::test]
async fn change_fires_its_catalog_event_with_the_resource_as_read() {
    let world = TestApi::new().await;
    let person =
        json!({"email": "ada@example.com", "first_name": "Ada", "last_name": "Moreau", "send_invite": true});
    let person = format!("/v1/employees/{}", world.made("/v1/employees", person).await);
    let (_, mut place) = events_since(&world, "").await;
    let link = world.post(&format!("{person}/invite"), json!({})).await.json()["accept_url"].to_string();
    let token = link.trim_matches('"').split_once("token=").unwrap().1.to_owned();
    let action = |name: &str| format!("{person}/{name}");
    let steps = [
        ("POST", "/v1/invitations/accept".to_owned(), json!({"token": token}), Some("employee.updated")),
        ("PATCH", person.clone(), json!({"first_name": "Ada"}), None),
        ("PATCH", person.clone(), json!({"first_name": "Adele"}), Some("employee.updated")),
        ("POST", action("deactivate"), json!({}), Some("employee.deactivated")),
        ("PATCH", person.clone(), json!({"custom_fields": {"grade": 5}}), Some("employee.updated")),
        ("POST", action("reactivate"), json!({}), Some("employee.reactivated")),
        ("POST", action("deactivate"), json!({}), Some("employee.deactivated")),
        ("POST", action("rehire"), json!({"custom_fields": {"grade": 6}}), Some("employee.rehired")),
    ];
    for (method, path, body, wanted) in steps {
        send_and_expect_success(&world, method, &path, body).await;
        let (fired, next) = events_since(&world, &place).await;
        let person_json = world.get(&person).await.json();
        let expected_events: Vec<_> =
            wanted.into_iter().map(|name| (name.to_owned(), person_json.clone())).collect();
        assert_eq!(fired, expected_events, "{method} {path}");
        place = next;
    }
    let id = person.rsplit('/').next().unwrap();
    let body = json!({"employee_id": id, "type": "strength", "observation": "Listens."});
    let observation = format!("/v1/observations/{}", world.made("/v1/observations", body).await);
    let (fired, mut place) = events_since(&world, &place).await;
    assert_eq!(fired, [("observation.created".to_owned(), world.get(&observation).await.json())]);
    let steps = [
        ("PATCH", observation.clone(), json!({"observation": "Listens."}), None),
        ("PATCH", observation.clone(), json!({"impact": "Trust"}), Some("observation.updated")),
        ("POST", format!("{observation}/archive"), json!({}), Some("observation.archived")),
        ("POST", format!("{observation}/restore"), json!({}), Some("observation.restored")),
    ];
    for (method, path, body, wanted) in steps {
        send_and_expect_success(&world, method, &path, body).await;
        let (fired, next) = events_since(&world, &place).await;
        let observation_json = world.get(&observation).await.json();
        let expected_events: Vec<_> =
            wanted.into_iter().map(|name| (name.to_owned(), observation_json.clone())).collect();
        assert_eq!(fired, expected_events, "{method} {path}");
        place = next;
    }
}

#[tokio::test]
async fn direct_reports_expansion_has_100_active_people_by_name() {
    let world = TestApi::new().await;
    let manager = world.employee("boss@example.com").await;
    let mut reports = vec![];
    for number in (0..103).rev() {
        let body = json!({"email": format!("p{number}@example.com"), "first_name": "P", "manager_id": manager,
                          "last_name": format!("{}{number:03}", if number % 2 == 0 { "N" } else { "n" })});
        reports.push(world.made("/v1/employees", body).await);
    }
    reports.reverse();
    send_and_expect_success(&world, "POST", &format!("/v1/employees/{}/deactivate", reports[1]), json!({})).await;
    let former_report = reports.remove(1);
    for path in [format!("/v1/employees/{manager}?"), "/v1/employees?filter[email]=boss@example.com&".to_owned()] {
        let page = world.get(&format!("{path}expand=direct_reports")).await.json();
        let employee = if page["data"].is_array() { &page["data"][0] } else { &page };
        let report_ids: Vec<_> =
            employee["direct_reports"].as_array().unwrap().iter().map(|item| item["id"].clone()).collect();
        assert_eq!(report_ids, reports[..100], "{path}, and {former_report} has left");
    }
}

#[tokio::test]
async fn people_are_listed_by_their_ids() {
    let world = TestApi::new().await;
    let mut ids = vec![];
    for number in 0..4 {
        ids.push(world.employee(&format!("p{number}@example.com")).await);
    }
    send_and_expect_success(&world, "POST", &format!("/v1/employees/{}/deactivate", ids[1]), json!({})).await;
    let ids_for = async |query: &str| {
        let page = world.get(&format!("/v1/employees?sort=created_at&{query}")).await.json();
        page["data"]
            .as_array()
            .unwrap()
            .iter()
            .map(|person| person["id"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let id_query = format!("filter[id]={}&filter[id]={}&filter[id]={}", ids[2], ids[1], ids[2]);
    assert_eq!(ids_for(&id_query).await, [&*ids[2]], "the default of the list omits deactivated people");
    assert_eq!(ids_for(&format!("{id_query}&filter[status]=all")).await, [&*ids[1], &*ids[2]]);
    assert_eq!(ids_for(&format!("{id_query}&filter[status]=all&filter[email]=p2@example.com")).await, [&*ids[2]]);
    assert_eq!(ids_for("filter[id]=emp_01KJPWD6M24DF9HWRAYHFSFV52").await, [""; 0]);
    let many = "&filter[id]=emp_01KJPWD6M24DF9HWRAYHFSFV52".repeat(101);
    let response = world.get(&format!("/v1/employees?{}", &many[1..])).await;
    assert_eq!(response.problems(), [("filter[id]".to_owned(), "too_long".to_owned())]);
    assert_eq!(ids_for("filter[id]=ada").await, [""; 0], "a malformed id is the id of no person");
}

#[tokio::test]
async fn department_is_archived_only_without_active_members() {
    let world = TestApi::new().await;
    let department = world.made("/v1/departments", json!({"name": "Care"})).await;
    let body = json!({"email": "ada@example.com", "first_name": "Ada", "last_name": "Moreau", "send_invite": true,
                      "department_id": department});
    let member = format!("/v1/employees/{}", world.made("/v1/employees", body).await);
    let other = format!("/v1/employees/{}", world.employee("grace@example.com").await);
    let path = format!("/v1/departments/{department}");
    let archive = async || world.post(&format!("{path}/archive"), json!({})).await;
    assert_eq!(archive().await.refusal(), (409, "conflict".to_owned()), "an invited person is a member");
    send_and_expect_success(&world, "POST", &format!("{member}/deactivate"), json!({})).await;
    assert!(archive().await.json()["archived_at"].is_string());
    assert_eq!(archive().await.refusal(), (409, "conflict".to_owned()));
    assert_eq!(world.patch(&path, json!({"name": "Care"})).await.refusal(), (409, "conflict".to_owned()));
    let conflict_response = world.post("/v1/departments", json!({"name": "CARE"})).await;
    assert_eq!(conflict_response.refusal(), (409, "conflict".to_owned()), "the name stays in use");
    let response = world.patch(&other, json!({"department_id": department})).await;
    assert_eq!(
        (response.status, response.problems()),
        (422, vec![("department_id".into(), "invalid_state".into())])
    );
    let member_json = send_and_expect_success(
        &world,
        "PATCH",
        &member,
        json!({"department_id": department, "last_name": "Noir"}),
    )
    .await
    .json();
    assert_eq!(member_json["department_id"], json!(department), "a member of the department stays in it");
    let departments_for =
        async |query: &str| world.get(&format!("/v1/departments{query}")).await.json()["data"].clone();
    assert_eq!(departments_for("").await, json!([]));
    assert_eq!(departments_for("?filter[archived]=all&filter[name]=care").await.as_array().unwrap().len(), 1);
    send_and_expect_success(&world, "POST", &format!("{path}/restore"), json!({})).await;
    send_and_expect_success(&world, "PATCH", &other, json!({"department_id": department})).await;
}
