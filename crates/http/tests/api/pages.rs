//! Lists from the client's side: pages, cursors, sorts, and expanded members (§1, decisions A10 to A12).

use candor_domain::access::Permission;
use candor_http::openapi::document;
use candor_http::table::{Method, ROUTES};
use serde_json::{Value, json};

use crate::resources::Resources;
use crate::support::TestApi;

async fn people(world: &TestApi, count: usize) -> Vec<String> {
    let mut ids = Vec::new();
    for number in 0..count {
        ids.push(world.employee(&format!("person{number}@example.com")).await);
    }
    ids
}

fn ids(page: &Value) -> Vec<String> {
    page["data"].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn page_walk_sees_each_entry_once_during_inserts() {
    let world = TestApi::new().await;
    let expected_ids = people(&world, 7).await;
    let mut seen_ids = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = world.get(&format!("/v1/employees?sort=-created_at&limit=3{cursor}")).await.json();
        seen_ids.extend(ids(&page));
        world.employee(&format!("late{}@example.com", seen_ids.len())).await;
        let Some(next) = page["next_cursor"].as_str() else { break };
        assert_eq!(page["has_more"], true);
        cursor = format!("&cursor={next}");
    }
    let reversed_ids: Vec<_> = expected_ids.into_iter().rev().collect();
    assert_eq!(seen_ids, reversed_ids);
}

#[tokio::test]
async fn cursor_is_bound_to_list_order_and_filters_only() {
    let world = TestApi::new().await;
    people(&world, 3).await;
    let page = world.get("/v1/employees?limit=1&filter[role]=employee").await.json();
    let cursor = page["next_cursor"].as_str().unwrap();
    for good in ["limit=2&filter[role]=employee", "filter[role]=employee&expand=manager&x=1"] {
        let response = world.get(&format!("/v1/employees?{good}&cursor={cursor}")).await;
        assert_eq!(response.status, 200, "{good}: {}", response.text());
    }
    for bad in [
        "employees?limit=1",
        "employees?filter[role]=manager",
        "employees?filter[role]=employee&sort=created_at",
        "departments?x=1",
    ] {
        let refusal = world.get(&format!("/v1/{bad}&cursor={cursor}")).await;
        assert_eq!(refusal.problems(), [("cursor".to_owned(), "invalid_format".to_owned())], "{bad}");
    }
}

#[tokio::test]
async fn expansion_stands_beside_its_id_and_needs_its_scope() {
    let world = TestApi::new().await;
    let manager = world.employee("boss@example.com").await;
    let body = json!({"email": "a@example.com", "first_name": "A", "last_name": "B", "manager_id": manager});
    let report = world.made("/v1/employees", body).await;
    let observation = json!({"employee_id": report, "type": "strength", "observation": "x"});
    let id = world.made("/v1/observations", observation).await;
    let observation_json = world.get(&format!("/v1/observations/{id}?expand=employee,attributes")).await.json();
    assert_eq!(
        (&observation_json["employee"]["id"], &observation_json["attributes"]),
        (&json!(report), &json!([]))
    );
    let employee = world.get(&format!("/v1/employees/{manager}?expand=manager,direct_reports")).await.json();
    assert_eq!((&employee["manager"], &employee["direct_reports"][0]["id"]), (&Value::Null, &json!(report)));
    let key = world.scoped(&[Permission::ObservationsRead]).await;
    for path in [format!("/v1/observations/{id}"), "/v1/observations".to_owned()] {
        let response = world.bare("GET", &format!("{path}?expand=attributes")).key(&key).send().await;
        assert_eq!(response.status, 200, "the scope of observations suffices for attributes");
        let response_with_person = world.bare("GET", &format!("{path}?expand=employee")).key(&key).send().await;
        assert_eq!(response_with_person.refusal(), (403, "permission_denied".to_owned()), "{path}");
        assert_eq!(
            response_with_person.json()["error"]["details"],
            json!([{"required_scope": "employees:read"}]),
            "{path}"
        );
    }
}

#[tokio::test]
async fn expansion_shows_the_current_resource() {
    let world = TestApi::new().await;
    let (grace, ada) = (world.observation("grace@example.com").await, world.observation("ada@example.com").await);
    let tag = world.made("/v1/attributes", json!({"name": "Clarity", "category": "x"})).await;
    let subject_id =
        world.get(&format!("/v1/observations/{ada}")).await.json()["employee_id"].as_str().unwrap().to_owned();
    world.patch(&format!("/v1/observations/{ada}"), json!({"attribute_ids": [tag]})).await;
    let inlined_resources = async || {
        let one = world.get(&format!("/v1/observations/{ada}?expand=employee,attributes")).await.json();
        let all = world.get("/v1/observations?expand=employee,attributes").await.json();
        let list_entry = all["data"].as_array().unwrap().iter().find(|item| item["id"] == ada).unwrap();
        assert_eq!((&list_entry["employee"], &list_entry["attributes"]), (&one["employee"], &one["attributes"]));
        one
    };
    let first = inlined_resources().await;
    assert_eq!(first["employee"], world.get(&format!("/v1/employees/{subject_id}")).await.json());
    assert_eq!(inlined_resources().await, first);
    for (path, body) in [
        (format!("/v1/employees/{subject_id}"), json!({"first_name": "Augusta"})),
        (format!("/v1/attributes/{tag}"), json!({"name": "Clear words"})),
    ] {
        assert_eq!(world.patch(&path, body).await.status, 200, "{path}");
    }
    let second = inlined_resources().await;
    assert_eq!(
        (&second["employee"]["first_name"], &second["attributes"][0]["name"]),
        (&json!("Augusta"), &json!("Clear words"))
    );
    assert_eq!(second["employee"], world.get(&format!("/v1/employees/{subject_id}")).await.json());
    let other = world.get(&format!("/v1/observations/{grace}?expand=employee")).await.json();
    assert_eq!(other["employee"]["email"], "grace@example.com");
}

#[tokio::test]
async fn unknown_expansion_path_is_invalid_enum() {
    let world = TestApi::new().await;
    let id = world.observation("ada@example.com").await;
    for path in [format!("/v1/observations/{id}?expand=x"), "/v1/observations?expand=employee,x".to_owned()] {
        let response = world.get(&path).await;
        assert_eq!(response.problems(), [("expand".to_owned(), "invalid_enum".to_owned())], "{path}");
    }
}

#[tokio::test]
async fn event_feed_always_returns_a_next_cursor() {
    let world = TestApi::new().await;
    let empty = world.get("/v1/events").await.json();
    assert_eq!((&empty["data"], &empty["has_more"]), (&json!([]), &json!(false)));
    let mut cursor = empty["next_cursor"].as_str().unwrap().to_owned();
    for round in 0..3 {
        world.employee(&format!("round{round}@example.com")).await;
        let page = world.get(&format!("/v1/events?cursor={cursor}")).await.json();
        let events: Vec<_> = page["data"].as_array().unwrap().iter().map(|item| item["event"].clone()).collect();
        assert_eq!(events, ["employee.created"], "round {round}");
        page["next_cursor"].as_str().unwrap().clone_into(&mut cursor);
    }
    let filtered_page =
        world.get("/v1/events?filter[event]=observation.created&filter[event]=employee.created").await;
    assert_eq!(filtered_page.json()["data"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn feed_page_with_large_events_ends_early_without_gaps() {
    /// Maximum size of a page, plus 1,000 bytes for the envelope.
    const MOST_BYTES: usize = 8_000_000 + 1_000;
    let world = TestApi::new().await;
    let fields: serde_json::Map<_, _> =
        (0..32).map(|number| (format!("field{number}"), Value::from("\u{1f600}".repeat(1024)))).collect();
    let mut expected_ids = Vec::new();
    for number in 0..14 {
        expected_ids.push(world.made("/v1/departments", json!({"name": format!("Small event {number}")})).await);
    }
    for number in 0..64 {
        let person = json!({
            "email": format!("person{number}@example.com"), "first_name": "Ada", "last_name": "Moreau",
            "custom_fields": fields,
        });
        expected_ids.push(world.made("/v1/employees", person).await);
    }
    let ids_in = |page: &Value| -> Vec<String> {
        page["data"]
            .as_array()
            .unwrap()
            .iter()
            .map(|item| item["data"]["id"].as_str().unwrap().to_owned())
            .collect()
    };
    let (mut seen, mut cursor, mut more) = (Vec::new(), String::new(), Vec::new());
    while more.last() != Some(&false) {
        let response = world.get(&format!("/v1/events?limit=100{cursor}")).await;
        assert!(response.body.len() <= MOST_BYTES, "{}", response.body.len());
        let page = response.json();
        seen.extend(ids_in(&page));
        more.push(page["has_more"].as_bool().unwrap());
        cursor = format!("&cursor={}", page["next_cursor"].as_str().unwrap());
    }
    assert_eq!(more, [true, false]);
    assert_eq!(seen, expected_ids);
    let newest = world.get("/v1/events?since=newest&limit=100").await;
    assert!(newest.body.len() <= MOST_BYTES, "{}", newest.body.len());
    let (page, newest_ids) = (newest.json(), ids_in(&newest.json()));
    assert!(newest_ids.len() > 10 && expected_ids.ends_with(&newest_ids), "{newest_ids:?}");
    assert_eq!(page["has_more"], false);
    let next_page =
        world.get(&format!("/v1/events?cursor={}", page["next_cursor"].as_str().unwrap())).await.json();
    assert_eq!(next_page["data"], json!([]), "the page ends with the newest event");
}

#[tokio::test]
async fn status_and_archived_filters_accept_all() {
    let world = TestApi::new().await;
    let resources = Resources::make(&world, &world.admin).await;
    let document = document();
    let mut list_paths = Vec::new();
    for route in ROUTES.iter().filter(|route| route.method == Method::Get) {
        let parameters = document["paths"][route.path]["get"]["parameters"].as_array().into_iter().flatten();
        for name in parameters.filter_map(|parameter| parameter["name"].as_str()) {
            if matches!(name, "filter[status]" | "filter[archived]") {
                let path = resources.path(route);
                let separator = if path.contains('?') { '&' } else { '?' };
                let path = format!("{path}{separator}{name}=all");
                assert_eq!(world.get(&path).await.status, 200, "{path}");
                list_paths.push(route.path);
            }
        }
    }
    assert_eq!(list_paths.len(), 15, "{list_paths:?}");
}

#[tokio::test]
async fn status_filter_all_finds_archived_entries() {
    let world = TestApi::new().await;
    let person = world.employee("ada@example.com").await;
    let objective = json!({
        "owner_id": person, "title": "Ship it", "period_start": "2026-01-01", "period_end": "2026-12-31",
    });
    for (list, body) in [
        ("/v1/employee-objectives", objective),
        ("/v1/summaries", json!({"employee_id": person, "title": "2026", "body": "Well."})),
    ] {
        let open = world.made(list, body.clone()).await;
        let archived_id = world.made(list, body).await;
        world.post(&format!("{list}/{archived_id}/archive"), json!({})).await;
        let ids_for = async |query: &str| {
            let mut row_ids = ids(&world.get(&format!("{list}{query}")).await.json());
            row_ids.sort();
            row_ids
        };
        let mut both = vec![open.clone(), archived_id.clone()];
        both.sort();
        assert_eq!(ids_for("").await, std::slice::from_ref(&open), "{list}");
        assert_eq!(ids_for("?filter[status]=all").await, both, "{list}");
        assert_eq!(ids_for("?filter[status]=all&filter[status]=archived").await, both, "{list}");
        let response = world.get(&format!("{list}?filter[status]=every")).await;
        assert_eq!(response.problems(), [("filter[status]".to_owned(), "invalid_enum".to_owned())], "{list}");
        assert!(response.text().contains("archived, all"), "{}", response.text());
    }
}
