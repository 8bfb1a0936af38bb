//! Filters and sorts of summaries.

use serde_json::{Value, json};

use super::{body, employee_and_boss, objective, observation, perform, summary};
use crate::objectives::{person, walk};
use crate::support::TestApi;

/// Summaries about two people in each status, some of them with included resources.
struct SummarySet {
    /// Employee who reports to the boss, who reports to the top manager. Some summaries are by the top manager.
    ada: String,
    boss: String,
    top: String,
    goal: String,
    noted: String,
    all: Vec<Value>,
}

async fn write_summaries(world: &TestApi) -> SummarySet {
    let (ada, boss) = employee_and_boss(world).await;
    let top = person(world, "top", "manager", None).await;
    assert_eq!(world.patch(&format!("/v1/employees/{boss}"), json!({"manager_id": top})).await.status, 200);
    let (goal, noted) = (objective(world, &ada).await, observation(world, &ada).await);
    let mut all = vec![];
    let ways: [&[&str]; 5] = [&[], &["submit"], &["approve"], &["approve", "share"], &["archive"]];
    for (number, way) in ways.into_iter().enumerate() {
        for about in [&ada, &boss] {
            let mut summary_body = body(about);
            summary_body["author_id"] = if number % 2 == 0 { json!(top) } else { Value::Null };
            if number > 1 {
                summary_body["included_objective_ids"] = json!([goal]);
            }
            if *about == ada && number < 4 {
                summary_body["included_observation_ids"] = json!([noted]);
            }
            let path = summary(world, summary_body).await;
            perform(world, &path, way).await;
            all.push(world.get(&path).await.json());
        }
    }
    SummarySet { ada, boss, top, goal, noted, all }
}

#[tokio::test]
async fn summary_list_returns_exactly_the_filtered_rows() {
    let world = TestApi::new().await;
    let SummarySet { ada, boss, top, goal, noted, all } = write_summaries(&world).await;
    let open = |item: &Value| item["status"] != "archived";
    let has = |item: &Value, name: &str, id: &str| item[name].as_array().unwrap().contains(&json!(id));
    type RowCondition<'a> = Box<dyn Fn(&Value) -> bool + 'a>;
    let cases: Vec<(String, RowCondition<'_>)> = vec![
        (String::new(), Box::new(open)),
        (format!("filter[employee_id]={ada}"), Box::new(|item| open(item) && item["employee_id"] == json!(ada))),
        (format!("filter[author_id]={top}"), Box::new(|item| open(item) && item["author_id"] == json!(top))),
        (format!("filter[manager_id]={top}"), Box::new(open)),
        (format!("filter[manager_id]={boss}"), Box::new(|item| open(item) && item["employee_id"] == json!(ada))),
        (format!("filter[manager_id]={ada}"), Box::new(|_| false)),
        ("filter[status]=archived".to_owned(), Box::new(|item| !open(item))),
        (
            "filter[status]=draft&filter[status]=shared&filter[status]=draft".to_owned(),
            Box::new(|item| item["status"] == "draft" || item["status"] == "shared"),
        ),
        (
            format!("filter[included_objective_id]={goal}"),
            Box::new(|item| open(item) && has(item, "included_objective_ids", &goal)),
        ),
        (
            format!("filter[included_observation_id]={noted}"),
            Box::new(|item| open(item) && has(item, "included_observation_ids", &noted)),
        ),
        (
            format!(
                "filter[included_objective_id]={goal}&filter[included_observation_id]={noted}&filter[status]=shared"
            ),
            Box::new(|item| item["status"] == "shared" && item["employee_id"] == json!(ada)),
        ),
        (format!("filter[included_objective_id]={noted}"), Box::new(|_| false)),
        ("filter[employee_id]=emp_00000000000000000000000001".to_owned(), Box::new(|_| false)),
    ];
    for (query, wanted) in &cases {
        for sort in ["created_at", "-created_at", "updated_at", "-updated_at"] {
            let mut expected_rows: Vec<_> = all.iter().filter(|item| wanted(item)).cloned().collect();
            let place = |item: &Value| {
                (
                    item[sort.trim_start_matches('-')].as_str().unwrap().to_owned(),
                    item["id"].as_str().unwrap().to_owned(),
                )
            };
            expected_rows.sort_by_key(place);
            if sort.starts_with('-') {
                expected_rows.reverse();
            }
            let rows = walk(&world, &world.admin, &format!("/v1/summaries?limit=3&sort={sort}&{query}")).await;
            assert_eq!(rows, expected_rows, "{query} {sort}");
        }
    }
    let response = world.get("/v1/summaries?filter[status]=proposed&sort=title&expand=manager&filter[x]=1").await;
    assert_eq!(response.problems().len(), 4, "{}", response.text());
}
