//! Summaries: life cycle, visibility, and links with objectives and observations (decisions B5, G).

mod bodies;
mod concurrent;
mod editors;
mod includes;
mod life;
mod lists;
mod matrix;
mod sight;

use serde_json::{Value, json};

use crate::objectives::person;
use crate::support::{TestApi, TestResponse};

/// Returns the body of a summary.
fn body(employee: &str) -> Value {
    json!({"employee_id": employee, "title": "First half", "body": "Calm under pressure."})
}

/// Creates a summary and returns its path.
async fn summary(world: &TestApi, body: Value) -> String {
    format!("/v1/summaries/{}", world.made("/v1/summaries", body).await)
}

/// Performs one action on a summary.
async fn ask(world: &TestApi, key: &str, path: &str, action: &str) -> TestResponse {
    let body = if action == "return" { json!({"reason": "Too short"}) } else { json!({}) };
    world.bare("POST", &format!("{path}/{action}")).key(key).json(&body).send().await
}

/// Performs several actions on a summary, in order.
async fn perform(world: &TestApi, path: &str, actions: &[&str]) {
    for action in actions {
        let response = ask(world, &world.admin, path, action).await;
        assert_eq!(response.status, 200, "{path}/{action}: {}", response.text());
    }
}

async fn objective(world: &TestApi, owner: &str) -> String {
    world.made("/v1/employee-objectives", crate::objectives::body("employee", owner)).await
}

async fn observation(world: &TestApi, employee: &str) -> String {
    let body = json!({"employee_id": employee, "type": "strength", "observation": "Helps."});
    world.made("/v1/observations", body).await
}

/// Creates a person with a manager. Returns the ids of both.
async fn employee_and_boss(world: &TestApi) -> (String, String) {
    let boss = person(world, "boss", "manager", None).await;
    let employee = person(world, "ada", "employee", Some(&boss)).await;
    (employee, boss)
}

/// Returns a member of a resource.
async fn member(world: &TestApi, path: &str, name: &str) -> Value {
    world.get(path).await.json()[name].clone()
}
