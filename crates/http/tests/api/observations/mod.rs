//! Observations: bodies, states and lists (§2.1, §3.2, §4.1).

mod linked;
mod lists;
mod visibility;

use serde_json::{Value, json};

use crate::support::TestApi;

/// A person id that exists in no organization.
const ABSENT_PERSON: &str = "emp_00000000000000000000000001";

fn problem(field: &str, code: &str) -> Vec<(String, String)> {
    vec![(field.to_owned(), code.to_owned())]
}

/// Returns the minimal body of a creation.
fn body(employee: &str) -> Value {
    json!({"employee_id": employee, "type": "strength", "observation": "Listens."})
}

fn with(mut body: Value, changes: &Value) -> Value {
    for (name, value) in changes.as_object().unwrap() {
        body[name] = value.clone();
    }
    body
}

/// Returns the ids of an organization's initial attributes.
async fn attributes(world: &TestApi) -> Vec<String> {
    let all = world.get("/v1/attributes?limit=100").await.json();
    all["data"].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect()
}

/// Creates a person with an invitation that is not accepted. Returns the id.
async fn invite_person(world: &TestApi) -> String {
    let body =
        json!({"email": "new@example.com", "first_name": "New", "last_name": "Example", "send_invite": true});
    world.made("/v1/employees", body).await
}

/// Returns the types of all events about observations.
async fn events(world: &TestApi) -> Vec<String> {
    let all = world.get("/v1/events?limit=100").await.json();
    let words = all["data"].as_array().unwrap().iter().map(|item| item["event"].as_str().unwrap().to_owned());
    words.filter(|word| word.starts_with("observation.")).collect()
}

#[tokio::test]
async fn new_observation_is_active_dated_today_with_null_defaults() {
    let world = TestApi::new().await;
    let employee = world.employee("ada@example.com").await;
    let creation = world.post("/v1/observations", body(&employee)).await.json();
    let now = world.services.clock.now().to_string();
    let expected_observation = json!({
        "id": creation["id"], "employee_id": employee, "author_id": null, "type": "strength", "observation": "Listens.",
        "impact": null, "recommended_action": null, "attribute_ids": [], "observation_date": now[..10],
        "visibility": "person", "created_at": now, "updated_at": now, "archived_at": null,
        "metadata": {}, "external_id": null,
    });
    assert_eq!(creation, expected_observation);
    let id = creation["id"].as_str().unwrap();
    assert!(id.starts_with("obs_") && id.len() == 4 + 26, "{id}");
    assert_eq!(world.get(&format!("/v1/observations/{id}")).await.json(), creation);
}

#[tokio::test]
async fn observation_date_is_the_utc_day_or_that_of_the_east() {
    let world = TestApi::new().await;
    let employee = world.employee("ada@example.com").await;
    // Advances to 2026-03-02T23:59:59.999Z.
    world.clock.advance_millis(15 * 3_600_000 - 1 - world.services.clock.now().millis() % 3_600_000);
    for today in ["2026-03-02", "2026-03-03"] {
        let creation = world.post("/v1/observations", body(&employee)).await.json();
        assert_eq!(creation["observation_date"], today);
        let body_on = |day: &str| with(body(&employee), &json!({"observation_date": day}));
        for begun in [today, "2026-03-03"] {
            assert_eq!(world.post("/v1/observations", body_on(begun)).await.status, 201, "{begun}");
        }
        let response = world.post("/v1/observations", body_on("2026-03-04")).await;
        assert_eq!(response.problems(), problem("observation_date", "out_of_range"));
        world.clock.advance_millis(1);
    }
}

#[tokio::test]
async fn observation_text_is_returned_unchanged() {
    let world = TestApi::new().await;
    let employee = world.employee("ada@example.com").await;
    for text in ["<b>Bold</b> & \"quoted\"", "  spaced\t\r\n", "e\u{301} is not \u{e9}", "\u{feff}x\u{7f}", "👍"]
    {
        let long = text.repeat(2000 / text.chars().count());
        let texts = json!({"observation": text, "impact": long, "recommended_action": ""});
        let creation = world.post("/v1/observations", with(body(&employee), &texts)).await.json();
        let observation =
            world.get(&format!("/v1/observations/{}", creation["id"].as_str().unwrap())).await.json();
        for (field, value) in texts.as_object().unwrap() {
            assert_eq!((&creation[field], &observation[field]), (value, value), "{field}");
        }
    }
}

#[tokio::test]
async fn invalid_observation_fields_are_each_named_on_creation() {
    let world = TestApi::new().await;
    let employee = world.employee("ada@example.com").await;
    let library = attributes(&world).await;
    for (changes, field, code) in [
        (json!({"employee_id": null}), "employee_id", "required"),
        (json!({"employee_id": 7}), "employee_id", "invalid_format"),
        (json!({"type": null}), "type", "required"),
        (json!({"type": "praise"}), "type", "invalid_enum"),
        (json!({"type": 1}), "type", "invalid_format"),
        (json!({"observation": ""}), "observation", "too_short"),
        (json!({"observation": "\u{3000} "}), "observation", "too_short"),
        (json!({"observation": "👍".repeat(4001)}), "observation", "too_long"),
        (json!({"observation": "a\u{0}b"}), "observation", "invalid_format"),
        (json!({"impact": "é".repeat(2001)}), "impact", "too_long"),
        (json!({"recommended_action": "é".repeat(2001)}), "recommended_action", "too_long"),
        (json!({"recommended_action": false}), "recommended_action", "invalid_format"),
        (json!({"visibility": "everyone"}), "visibility", "invalid_enum"),
        (json!({"visibility": null}), "visibility", "required"),
        (json!({"attribute_ids": library[..13]}), "attribute_ids", "too_long"),
        (json!({"attribute_ids": [library[0], library[0]]}), "attribute_ids", "invalid_format"),
        (json!({"attribute_ids": library[0]}), "attribute_ids", "invalid_format"),
        (json!({"attribute_ids": [1]}), "attribute_ids", "invalid_format"),
        (json!({"observation_date": "2026-02-30"}), "observation_date", "invalid_format"),
        (json!({"observation_date": "2026-02-01T00:00:00Z"}), "observation_date", "invalid_format"),
        (json!({"archived_at": null}), "archived_at", "read_only"),
        (json!({"created_at": "2026-01-01T00:00:00Z"}), "created_at", "read_only"),
        (json!({"rating": 5}), "rating", "unknown_field"),
    ] {
        let response = world.post("/v1/observations", with(body(&employee), &changes)).await;
        assert_eq!(response.refusal(), (400, "validation_error".to_owned()), "{field}");
        assert_eq!(response.problems(), problem(field, code));
    }
    let edge =
        json!({"observation": "👍".repeat(4000), "impact": "é".repeat(2000), "attribute_ids": library[..12]});
    let creation = world.post("/v1/observations", with(body(&employee), &edge)).await;
    assert_eq!((creation.status, &creation.json()["attribute_ids"]), (201, &edge["attribute_ids"]));
}

#[tokio::test]
async fn observation_subject_must_have_joined_and_may_have_left() {
    let world = TestApi::new().await;
    let (gone, library) = (world.employee("ada@example.com").await, attributes(&world).await);
    assert_eq!(world.post(&format!("/v1/employees/{gone}/deactivate"), json!({})).await.status, 200);
    assert_eq!(world.post("/v1/observations", body(&gone)).await.status, 201);
    let response = world.post("/v1/observations", body(&invite_person(&world).await)).await;
    assert_eq!(response.refusal(), (422, "unprocessable".to_owned()));
    assert_eq!(response.problems(), problem("employee_id", "invalid_state"));
    // All invalid references are reported at once, each with its value.
    let wrong = json!({"employee_id": ABSENT_PERSON, "author_id": "", "attribute_ids": [library[0], gone]});
    let response_with_errors = world.post("/v1/observations", with(body(""), &wrong)).await;
    assert_eq!(response_with_errors.status, 422);
    let body = response_with_errors.json();
    let details: Vec<_> =
        body["error"]["details"].as_array().unwrap().iter().map(|item| (&item["field"], &item["value"])).collect();
    let expected_details = [("employee_id", ABSENT_PERSON), ("author_id", ""), ("attribute_ids", &gone)]
        .map(|(field, value)| (json!(field), json!(value)));
    assert_eq!(details, expected_details.iter().map(|(field, value)| (field, value)).collect::<Vec<_>>());
}

#[tokio::test]
async fn observation_action_fires_one_event_per_state_change() {
    let world = TestApi::new().await;
    let path = format!("/v1/observations/{}", world.observation("ada@example.com").await);
    let act = async |action: &str| {
        world.clock.advance_millis(5);
        world.ask("POST", &format!("{path}/{action}")).send().await
    };
    for round in 0..2 {
        let active = world.get(&path).await.json();
        let early_restore = act("restore").await;
        assert_eq!(early_restore.refusal(), (409, "conflict".to_owned()), "round {round}");
        let detail = json!([{"field": "archived_at", "current": null, "attempted_transition": "restore"}]);
        assert_eq!(early_restore.json()["error"]["details"], detail);

        let archived_observation = act("archive").await.json();
        let now = world.services.clock.now().to_string();
        assert_eq!(archived_observation, with(active.clone(), &json!({"archived_at": now, "updated_at": now})));
        assert_eq!(world.get(&path).await.json(), archived_observation, "an archived observation is shown");
        for attempt in ["archive", "update"] {
            let response =
                if attempt == "archive" { act("archive").await } else { world.patch(&path, active.clone()).await };
            assert_eq!(response.refusal(), (409, "conflict".to_owned()), "{attempt}");
            let detail = json!([{"field": "archived_at", "current": now, "attempted_transition": attempt}]);
            assert_eq!(response.json()["error"]["details"], detail);
        }
        for whatever in [json!({}), json!({"observation": null, "rating": 5})] {
            assert_eq!(world.patch(&path, whatever).await.refusal(), (409, "conflict".to_owned()));
        }

        let restored_observation = act("restore").await.json();
        let now = world.services.clock.now().to_string();
        assert_eq!(restored_observation, with(active, &json!({"updated_at": now})));
    }
    let round = ["observation.archived", "observation.restored"];
    assert_eq!(events(&world).await, [&["observation.created"], &round[..], &round[..]].concat());
}

#[tokio::test]
async fn observation_patch_takes_five_fields_only() {
    let world = TestApi::new().await;
    let library = attributes(&world).await;
    let path = format!("/v1/observations/{}", world.observation("ada@example.com").await);
    let read = world.get(&path).await;
    world.clock.advance_millis(5);
    let same = world.patch(&path, read.json()).await;
    assert_eq!((same.status, same.json(), same.header("etag")), (200, read.json(), read.header("etag")));
    for (field, value) in [
        ("employee_id", json!(ABSENT_PERSON)),
        ("employee_id", json!(null)),
        ("author_id", json!(ABSENT_PERSON)),
        ("type", json!("opportunity")),
        ("observation_date", json!("2026-01-01")),
        ("archived_at", json!("2026-01-01T00:00:00.000Z")),
        ("id", json!("obs_x")),
    ] {
        let response = world.patch(&path, json!({field: value})).await;
        assert_eq!((response.status, response.problems()), (400, problem(field, "read_only")));
    }
    for field in ["observation", "attribute_ids", "visibility"] {
        assert_eq!(world.patch(&path, json!({field: null})).await.problems(), problem(field, "required"));
    }
    let mut expected_observation = read.json();
    for changes in [
        json!({"impact": "Trust", "recommended_action": "Go on"}),
        json!({"impact": null}),
        json!({"attribute_ids": [library[1], library[0]], "observation": "Listens well."}),
        json!({"attribute_ids": []}),
        json!({"visibility": "managers"}),
    ] {
        world.clock.advance_millis(5);
        expected_observation = with(
            with(expected_observation, &changes),
            &json!({"updated_at": world.services.clock.now().to_string()}),
        );
        assert_eq!(world.patch(&path, changes).await.json(), expected_observation);
    }
    assert_eq!(events(&world).await, [&["observation.created"][..], &["observation.updated"; 5]].concat());
}

#[tokio::test]
async fn expanded_attribute_equals_its_own_resource() {
    let world = TestApi::new().await;
    let library = attributes(&world).await;
    let employee = world.employee("ada@example.com").await;
    let author = world.employee("grace@example.com").await;
    let attribute_ids = json!({"attribute_ids": [library[2], library[0]], "author_id": author});
    let body_with_attributes = with(body(&employee), &attribute_ids);
    let path = format!("/v1/observations/{}", world.made("/v1/observations", body_with_attributes).await);
    let observation = world.get(&format!("{path}?expand=attributes,employee,author")).await.json();
    for (at, id) in [&library[2], &library[0]].into_iter().enumerate() {
        let attribute = world.get(&format!("/v1/attributes/{id}")).await.json();
        assert!(["id", "name", "category", "tone"].iter().all(|name| attribute[name].is_string()), "{attribute}");
        assert_eq!(observation["attributes"][at], attribute, "in the order of attribute_ids");
    }
    assert_eq!(observation["employee"], world.get(&format!("/v1/employees/{employee}")).await.json());
    assert_eq!(observation["author"], world.get(&format!("/v1/employees/{author}")).await.json());
    let page = world.get("/v1/observations?expand=employee,author,attributes").await.json();
    assert_eq!(page["data"], json!([observation]));
    world.made("/v1/observations", body(&employee)).await;
    let page = world.get("/v1/observations?expand=author&sort=-created_at").await.json();
    assert_eq!((&page["data"][0]["author"], page["data"][0].get("employee")), (&Value::Null, None));
}
