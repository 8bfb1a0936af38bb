//! The custom fields of people that a key sees (decision B5).

use candor_domain::access::AccessLevel;
use serde_json::{Value, json};

use super::BoundPeople;
use crate::objectives::{key_for, person, walk};
use crate::stores::every_store;
use crate::support::TestApi;

async fn list_as_visible(world: &TestApi, fields: Value) {
    let settings_response = world.patch("/v1/organization", json!({"visible_custom_fields": fields})).await;
    assert_eq!(settings_response.status, 200, "{}", settings_response.text());
}

/// Collects the custom fields of each person in a response at any depth, with the local part of the e-mail address.
fn fields_in(response: &Value, found: &mut Vec<(String, Value)>) {
    match response {
        Value::Object(members) => {
            if let (Some(email), Some(fields)) = (members.get("email"), members.get("custom_fields")) {
                let name = email.as_str().unwrap().split('@').next().unwrap();
                found.push((name.to_owned(), fields.clone()));
            }
            members.values().for_each(|member| fields_in(member, found));
        }
        Value::Array(items) => items.iter().for_each(|item| fields_in(item, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[tokio::test]
async fn bound_key_sees_only_listed_fields_of_people_outside_its_line() {
    for shared in every_store().await {
        let world = &shared.world;
        let people = BoundPeople::gather(world).await;
        let admin = person(world, "admin", "org_admin", None).await;
        let set = json!({"custom_fields": {"desk": "7", "salary": 99_000}});
        let all = [&people.top, &people.joe, &people.report, &people.other, &people.member];
        for id in all {
            assert_eq!(world.patch(&format!("/v1/employees/{id}"), set.clone()).await.status, 200);
        }
        let observation = json!({"employee_id": people.member, "type": "strength", "observation": "Helps."});
        world.made("/v1/observations", observation).await;
        let paths = [
            "/v1/employees?limit=50&expand=manager,direct_reports".to_owned(),
            "/v1/search?q=example&types=employees&limit=50".to_owned(),
            "/v1/observations?expand=employee".to_owned(),
            format!("/v1/employees/{}", people.other),
            format!("/v1/employees/{}?expand=manager,direct_reports", people.member),
            format!("/v1/employees/{}?expand=manager,direct_reports", people.joe),
        ];
        let admin_key = key_for(world, &admin, AccessLevel::Standard).await;
        let callers = [("joe", &people.key), ("an org admin", &admin_key), ("the organization", &world.admin)];
        let (desk, both) = (json!({"desk": "7"}), json!({"desk": "7", "salary": 99_000}));
        for (listed, least) in [(json!([]), json!({})), (json!(["desk"]), desk), (Value::Null, both.clone())] {
            list_as_visible(world, listed.clone()).await;
            for (name, key) in callers {
                for path in &paths {
                    let response = world.bare("GET", path).key(key).send().await;
                    assert_eq!(response.status, 200, "{path}: {}", response.text());
                    let mut visible_fields = vec![];
                    fields_in(&response.json(), &mut visible_fields);
                    for (who, fields) in visible_fields.iter().filter(|(who, _)| who != "admin") {
                        let sees_all = name != "joe" || ["joe", "report"].contains(&who.as_str());
                        let expected_fields = if sees_all { &both } else { &least };
                        assert_eq!(
                            fields, expected_fields,
                            "{name} sees {who} in {path} with {listed} on {}",
                            shared.name
                        );
                    }
                }
            }
        }
    }
}

#[tokio::test]
async fn filter_by_a_field_that_is_not_shown_is_refused() {
    for shared in every_store().await {
        let world = &shared.world;
        let people = BoundPeople::gather(world).await;
        let set = json!({"custom_fields": {"desk": "7"}});
        assert_eq!(world.patch(&format!("/v1/employees/{}", people.member), set).await.status, 200);
        let path = "/v1/employees?filter[custom_fields.desk]=7";
        let response = world.bare("GET", path).key(&people.key).send().await;
        assert_eq!(response.status, 400, "{}", response.text());
        assert_eq!(response.problems(), [("filter[custom_fields.desk]".to_owned(), "not_possible".to_owned())]);
        let absent = world.bare("GET", "/v1/employees?filter[custom_fields.none]=7").key(&people.key).send().await;
        assert_eq!(absent.status, 400, "a field that no person has is refused too");
        assert_eq!(walk(world, &world.admin, path).await.len(), 1);
        list_as_visible(world, json!(["desk"])).await;
        assert_eq!(walk(world, &people.key, path).await.len(), 1);
    }
}

#[tokio::test]
async fn entity_tag_changes_with_the_fields_that_are_shown() {
    let world = TestApi::new().await;
    let people = BoundPeople::gather(&world).await;
    let path = format!("/v1/employees/{}", people.member);
    let set = json!({"custom_fields": {"desk": "7", "salary": 99_000}});
    assert_eq!(world.patch(&path, set).await.status, 200);
    let mut tags = vec![];
    for listed in [json!([]), json!(["desk"]), json!(["salary"]), Value::Null] {
        list_as_visible(&world, listed).await;
        let response = world.bare("GET", &path).key(&people.key).send().await;
        let tag = response.header("ETag").unwrap().to_owned();
        let second_response = world.bare("GET", &path).key(&people.key).header("If-None-Match", &tag).send().await;
        assert_eq!(second_response.status, 304);
        assert!(!tags.contains(&tag), "{tag}");
        tags.push(tag);
    }
}

#[tokio::test]
async fn new_organization_lists_no_field_and_keeps_keys_in_order() {
    let world = TestApi::new().await;
    assert_eq!(world.get("/v1/organization").await.json()["visible_custom_fields"], json!([]));
    list_as_visible(&world, json!(["desk", "badge"])).await;
    assert_eq!(world.get("/v1/organization").await.json()["visible_custom_fields"], json!(["badge", "desk"]));
    for (value, code) in
        [(json!("desk"), "invalid_format"), (json!(["a", "a"]), "invalid_format"), (json!([""]), "too_short")]
    {
        let response = world.patch("/v1/organization", json!({"visible_custom_fields": value})).await;
        assert_eq!(response.problems(), [("visible_custom_fields".to_owned(), code.to_owned())]);
    }
}
