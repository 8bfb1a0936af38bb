//! At most 64 managers are above a person, whichever way a manager is set.

use candor_domain::people::MAX_REPORTING_DEPTH;
use serde_json::{Value, json};

use crate::stores::every_store;
use crate::support::TestApi;

async fn hire(world: &TestApi, name: &str, manager: Option<&str>) -> String {
    let email = format!("{name}@example.com");
    let body = json!({"email": email, "first_name": "Ada", "last_name": "Example", "manager_id": manager});
    world.made("/v1/employees", body).await
}

fn too_deep(field: &str) -> Vec<(String, String)> {
    vec![(field.to_owned(), "too_deep".to_owned())]
}

async fn upload(world: &TestApi, rows: &[(String, String)]) -> Value {
    let rows: Vec<String> = rows.iter().map(|(name, manager)| format!("{name},A,B,{manager}")).collect();
    let file = format!("email,first_name,last_name,manager_email\n{}\n", rows.join("\n"));
    let request = world.ask("POST", "/v1/employees/csv").header("content-type", "text/csv").body(file);
    let response = request.send().await;
    assert_eq!(response.status, 200, "{}", response.text());
    response.json()
}

async fn set_over_scim(world: &TestApi, manager: &str) -> Value {
    let connector = json!({"type": "scim", "hris_source": "okta"});
    let connector = world.made("/v1/connectors", connector).await;
    let key = json!({"name": "Okta", "scopes": ["scim"], "connector_id": connector});
    let key = world.post("/v1/api-keys", key).await.json()["key"].as_str().unwrap().to_owned();
    let body = json!({
        "userName": "scim@example.com", "name": {"givenName": "A", "familyName": "B"},
        "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User": {"manager": {"value": manager}},
    });
    let request = world.bare("POST", "/scim/v2/Users").key(&key).json(&body);
    assert_eq!(request.send().await.status, 201);
    world.get(&format!("/v1/connectors/{connector}/sync-issues")).await.json()["data"][0]["kind"].clone()
}

#[tokio::test]
async fn manager_with_too_many_above_is_refused_in_every_way() {
    for shared in every_store().await {
        let world = &shared.world;
        let mut bottom = hire(world, "p0", None).await;
        for number in 1..=MAX_REPORTING_DEPTH {
            bottom = hire(world, &format!("p{number}"), Some(&bottom)).await;
        }
        let body = json!({"email": "new@example.com", "first_name": "A", "last_name": "B", "manager_id": bottom});
        let response = world.post("/v1/employees", body).await;
        assert_eq!((response.status, response.problems()), (422, too_deep("manager_id")));
        // `upper` fits below the manager of `bottom`. Their report `lower` would be one level too deep.
        let last_manager = world.get(&format!("/v1/employees/{bottom}")).await.json()["manager_id"].clone();
        let pair = hire(world, "upper", None).await;
        hire(world, "lower", Some(&pair)).await;
        let path = format!("/v1/employees/{pair}");
        let patch_response = world.patch(&path, json!({"manager_id": last_manager})).await;
        assert_eq!((patch_response.status, patch_response.problems()), (422, too_deep("manager_id")));
        assert_eq!(world.post(&format!("{path}/deactivate"), json!({})).await.status, 200);
        let rehire_response = world.post(&format!("{path}/rehire"), json!({"manager_id": last_manager})).await;
        assert_eq!((rehire_response.status, rehire_response.problems()), (422, too_deep("manager_id")));
        assert_eq!(set_over_scim(world, &bottom).await, json!("too_deep"));

        let deepest = format!("p{MAX_REPORTING_DEPTH}@example.com");
        let row = |name: &str, manager: &str| (format!("{name}@example.com"), manager.to_owned());
        let mut rows = vec![row("csv", &deepest)];
        let chain = MAX_REPORTING_DEPTH + 3;
        rows.extend((0..chain).map(|number| {
            let manager = if number == 0 { String::new() } else { format!("c{}@example.com", number - 1) };
            row(&format!("c{number}"), &manager)
        }));
        let report = upload(world, &rows).await;
        assert_eq!(report["data"]["created"], json!(MAX_REPORTING_DEPTH + 1), "{report}");
        assert_eq!(report["data"]["errors"][0]["code"], json!("too_deep"), "{report}");
    }
}
