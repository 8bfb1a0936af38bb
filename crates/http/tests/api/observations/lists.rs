//! Lists of observations: filters, sorts and invalid parameters (§4.1).

use serde_json::{Value, json};

use super::{ABSENT_PERSON, attributes, problem};
use crate::support::TestApi;

/// Returns all entries of a list, across its pages.
async fn walk(world: &TestApi, query: &str) -> Vec<Value> {
    let (mut all, mut cursor) = (vec![], String::new());
    loop {
        let page = world.get(&format!("/v1/observations?limit=2&{query}{cursor}")).await.json();
        all.extend(page["data"].as_array().unwrap_or_else(|| panic!("{query}: {page}")).iter().cloned());
        assert_eq!(page["has_more"], json!(page["next_cursor"].is_string()), "{query}");
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return all,
        }
    }
}

struct Population {
    /// The observations in order of creation.
    all: Vec<Value>,
    /// A top manager, a middle manager who has left, and a report of the middle manager.
    people: [String; 3],
    attributes: Vec<String>,
}

/// Creates ten observations about three people in one reporting line, with different types, days and tags. The
/// last two are archived.
async fn populate(world: &TestApi) -> Population {
    let attributes = attributes(world).await;
    let mut people: Vec<String> = vec![];
    for name in ["top", "middle", "low"] {
        let body = json!({"email": format!("{name}@example.com"), "first_name": name, "last_name": "Example",
                          "manager_id": people.last()});
        people.push(world.made("/v1/employees", body).await);
    }
    let mut paths = vec![];
    for number in 0..10 {
        let kind = if number % 2 == 0 { "strength" } else { "opportunity" };
        let body = json!({
            "employee_id": people[number % 3], "type": kind, "observation": "Helps.",
            "observation_date": format!("2026-02-{:02}", 20 - number / 2),
            "attribute_ids": attributes[number % 4..number % 4 + 2],
        });
        paths.push(format!("/v1/observations/{}", world.made("/v1/observations", body).await));
    }
    for path in &paths[8..] {
        world.clock.advance_millis(1);
        assert_eq!(world.post(&format!("{path}/archive"), json!({})).await.status, 200);
    }
    assert_eq!(world.post(&format!("/v1/employees/{}/deactivate", people[1]), json!({})).await.status, 200);
    let mut all = vec![];
    for path in paths {
        all.push(world.get(&path).await.json());
    }
    Population { all, people: people.try_into().unwrap(), attributes }
}

/// Condition for the rows of a filter.
type RowCondition<'a> = Box<dyn Fn(&Value) -> bool + 'a>;

/// All values of `sort`, and the default.
const SORTS: [&str; 7] =
    ["", "created_at", "-created_at", "observation_date", "-observation_date", "updated_at", "-updated_at"];

#[tokio::test]
async fn observation_list_returns_exactly_the_filtered_rows() {
    let world = TestApi::new().await;
    let Population { all, people: [top, middle, low], attributes } = populate(&world).await;
    let active = |item: &Value| item["archived_at"].is_null();
    let about = |people: &[&String], item: &Value| people.iter().any(|id| item["employee_id"] == json!(id));
    let has_tag = |id: &String, item: &Value| item["attribute_ids"].as_array().unwrap().contains(&json!(id));
    let moment = all[3]["created_at"].as_str().unwrap().to_owned();
    let late = "2026-03-02T14:30:00.004%2B05:30";
    let cases: Vec<(String, RowCondition<'_>)> = vec![
        (String::new(), Box::new(active)),
        ("filter[archived]=false".to_owned(), Box::new(active)),
        ("filter[archived]=true".to_owned(), Box::new(|item| !active(item))),
        ("filter[archived]=all".to_owned(), Box::new(|_| true)),
        (format!("filter[employee_id]={low}"), Box::new(|item| active(item) && about(&[&low], item))),
        (format!("filter[manager_id]={top}"), Box::new(|item| active(item) && about(&[&middle, &low], item))),
        (format!("filter[manager_id]={middle}"), Box::new(|item| active(item) && about(&[&low], item))),
        (format!("filter[manager_id]={low}"), Box::new(|_| false)),
        ("filter[type]=opportunity".to_owned(), Box::new(|item| active(item) && item["type"] == "opportunity")),
        (
            format!("filter[attribute_id]={}", attributes[0]),
            Box::new(|item| active(item) && has_tag(&attributes[0], item)),
        ),
        (
            format!("filter[attribute_id]={}&filter[attribute_id]={}", attributes[0], attributes[4]),
            Box::new(|item| active(item) && (has_tag(&attributes[0], item) || has_tag(&attributes[4], item))),
        ),
        (
            "filter[observation_date][gte]=2026-02-17&filter[observation_date][lte]=2026-02-18".to_owned(),
            Box::new(|item| {
                active(item) && ["2026-02-17", "2026-02-18"].iter().any(|day| item["observation_date"] == *day)
            }),
        ),
        (
            format!("filter[created_at][gte]={moment}"),
            Box::new(|item| active(item) && item["created_at"].as_str() >= Some(&moment)),
        ),
        (
            format!("filter[created_at][lte]={moment}"),
            Box::new(|item| active(item) && item["created_at"].as_str() <= Some(&moment)),
        ),
        (
            format!("filter[updated_at][gte]={late}&filter[archived]=all"),
            Box::new(|item| item["updated_at"].as_str() >= Some("2026-03-02T09:00:00.004Z")),
        ),
        (format!("filter[employee_id]={ABSENT_PERSON}"), Box::new(|_| false)),
        ("filter[attribute_id]=nonsense".to_owned(), Box::new(|_| false)),
    ];
    for (query, wanted) in cases {
        for sort in SORTS {
            let mut expected_rows: Vec<_> = all.iter().filter(|item| wanted(item)).cloned().collect();
            let (order, given) = if sort.is_empty() { ("-observation_date", "") } else { (sort, "&sort=") };
            let field = order.trim_start_matches('-');
            expected_rows.sort_by_key(|item| (item[field].to_string(), item["id"].to_string()));
            if order.starts_with('-') {
                expected_rows.reverse();
            }
            assert_eq!(walk(&world, &format!("{query}{given}{sort}")).await, expected_rows, "{query} {sort}");
        }
    }
}

#[tokio::test]
async fn invalid_observation_parameters_are_named() {
    let world = TestApi::new().await;
    let day = "filter[observation_date]";
    for (query, field, code) in [
        ("filter[type]=praise", "filter[type]", "invalid_enum"),
        ("filter[type]=", "filter[type]", "invalid_enum"),
        ("filter[type]=strength&filter[type]=strength", "filter[type]", "invalid_format"),
        ("filter[archived]=TRUE", "filter[archived]", "invalid_enum"),
        ("filter[employee_id]=a&filter[employee_id]=b", "filter[employee_id]", "invalid_format"),
        ("filter[observation_date]=2026-01-01", day, "unknown_field"),
        ("filter[observation_date][gt]=2026-01-01", "filter[observation_date][gt]", "unknown_field"),
        ("filter[observation_date][gte]=2026-13-01", "filter[observation_date][gte]", "invalid_format"),
        (
            "filter[observation_date][gte]=2026-02-01&filter[observation_date][lte]=2026-01-31",
            "filter[observation_date][gte]",
            "out_of_range",
        ),
        ("filter[created_at][gte]=2026-01-01", "filter[created_at][gte]", "invalid_format"),
        ("filter[created_at][lte]=2026-01-01T00:00:00+01:00", "filter[created_at][lte]", "invalid_format"),
        ("sort=employee_id", "sort", "invalid_enum"),
        ("expand=attributes,manager", "expand", "invalid_enum"),
    ] {
        let response = world.get(&format!("/v1/observations?{query}")).await;
        assert_eq!((response.status, response.problems()), (400, problem(field, code)), "{query}");
    }
    let response = world.get("/v1/observations?filter[created_at][lte]=2026-01-01T00:00:00+01:00").await;
    assert!(response.text().contains("%2B"), "the message explains that a plus sign in a query means a blank");
}

#[tokio::test]
async fn page_size_defaults_to_50_and_is_at_most_100() {
    let world = TestApi::new().await;
    let employee = world.employee("ada@example.com").await;
    for _ in 0..101 {
        world.made("/v1/observations", super::body(&employee)).await;
    }
    for (query, count) in [("", 50), ("?limit=100", 100), ("?limit=1", 1), ("?limit=99", 99)] {
        let page = world.get(&format!("/v1/observations{query}")).await.json();
        assert_eq!((page["data"].as_array().unwrap().len(), &page["has_more"]), (count, &json!(true)), "{query}");
        assert!(page["next_cursor"].is_string() && page.as_object().unwrap().len() == 3, "{query}");
    }
    let page = world.get(&format!("/v1/observations?filter[employee_id]={ABSENT_PERSON}")).await.json();
    assert_eq!(page, json!({"data": [], "next_cursor": null, "has_more": false}));
}
