//! People with the largest custom fields: pages and uploads hold a bounded number of their bytes.

use serde_json::{Map, Value, json};

use candor_domain::access::AccessLevel;

use crate::objectives::key_for;
use crate::stores::every_store;
use crate::support::{TestApi, TestResponse};

/// Maximum size of a page in bytes (decision A16), plus 1,000 bytes for the envelope.
const MOST_BYTES: usize = 8_000_000 + 1_000;
/// Number of reports of each manager: 40 of 131 KB. 120 reports have twice the size of a page.
const REPORTS: usize = 40;

fn large_fields() -> Map<String, Value> {
    (0..32).map(|number| (format!("field{number}"), Value::from("\u{1f600}".repeat(1024)))).collect()
}

async fn large_person(world: &TestApi, name: &str, manager: Option<&str>) -> String {
    let person = json!({
        "email": format!("{name}@example.com"), "first_name": "Ada", "last_name": "Moreau",
        "manager_id": manager, "custom_fields": large_fields(),
    });
    world.made("/v1/employees", person).await
}

/// Creates three managers of [`REPORTS`] people each, and returns the ids of the managers.
async fn teams(world: &TestApi) -> Vec<String> {
    let mut managers = vec![];
    for team in 0..3 {
        let manager = world.employee(&format!("manager{team}@example.com")).await;
        for number in 0..REPORTS {
            large_person(world, &format!("report{team}-{number}"), Some(&manager)).await;
        }
        managers.push(manager);
    }
    managers
}

#[tokio::test]
async fn page_with_large_expansions_ends_early_without_gaps() {
    for shared in every_store().await {
        let world = &shared.world;
        let managers = teams(world).await;
        let (mut seen, mut cursor, mut pages) = (vec![], String::new(), 0);
        loop {
            let response = world.get(&format!("/v1/employees?expand=direct_reports&limit=100{cursor}")).await;
            assert!(response.body.len() <= MOST_BYTES, "{}", response.body.len());
            let page = response.json();
            pages += 1;
            for person in page["data"].as_array().unwrap() {
                let is_manager = managers.iter().any(|manager| person["id"] == manager.as_str());
                assert_eq!(
                    person["direct_reports"].as_array().unwrap().len(),
                    if is_manager { REPORTS } else { 0 }
                );
                seen.push(person["id"].as_str().unwrap().to_owned());
            }
            assert_eq!(page["has_more"], page["next_cursor"].is_string());
            let Some(next) = page["next_cursor"].as_str() else { break };
            cursor = format!("&cursor={next}");
        }
        assert!(pages > 3);
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), 3 * (REPORTS + 1));
    }
}

#[tokio::test]
async fn page_whose_expansions_show_little_has_all_reports() {
    for shared in every_store().await {
        let world = &shared.world;
        let managers = teams(world).await;
        // A key of a person outside the teams sees no custom fields, so all reports fit into the page.
        let outsider = world.employee("outsider@example.com").await;
        let key = key_for(world, &outsider, AccessLevel::Standard).await;
        let response = world.bare("GET", "/v1/employees?expand=direct_reports&limit=100").key(&key).send().await;
        let page = response.json();
        let people = page["data"].as_array().unwrap();
        assert_eq!(people.len(), 100, "{}", response.body.len());
        let has_reports = |person: &&Value| managers.iter().any(|manager| person["id"] == manager.as_str());
        let counts: Vec<_> = people
            .iter()
            .filter(has_reports)
            .map(|person| person["direct_reports"].as_array().unwrap().len())
            .collect();
        assert!(!counts.is_empty() && counts.iter().all(|count| *count == REPORTS), "{counts:?}");
    }
}

async fn scim(world: &TestApi, key: &str, query: &str) -> TestResponse {
    world.bare("GET", &format!("/scim/v2/Users?{query}")).key(key).send().await
}

#[tokio::test]
async fn scim_page_of_large_people_ends_early_without_gaps() {
    for shared in every_store().await {
        let world = &shared.world;
        for number in 0..70 {
            large_person(world, &format!("person{number}"), None).await;
        }
        let paths: Map<_, _> =
            (0..32).map(|n| (format!("field{n}"), Value::from(format!("urn:example:2.0:User:f{n}")))).collect();
        let connector = json!({"type": "scim", "hris_source": "okta", "custom_field_mappings": paths});
        let connector = world.made("/v1/connectors", connector).await;
        let key = json!({"name": "Okta", "scopes": ["scim"], "connector_id": connector});
        let creation = world.bare("POST", "/v1/api-keys").key(&world.admin).json(&key).send().await;
        let key = creation.json()["key"].as_str().unwrap().to_owned();
        let names = |page: &Value| {
            let users = page["Resources"].as_array().unwrap().iter();
            users.map(|user| user["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        let (mut seen, mut cursor, mut pages) = (vec![], String::new(), 0);
        loop {
            let response = scim(world, &key, &format!("count=100&cursor={cursor}")).await;
            assert!(response.body.len() <= MOST_BYTES, "{}", response.body.len());
            let page = response.json();
            assert_eq!((&page["totalResults"], &page["itemsPerPage"]), (&json!(70), &json!(names(&page).len())));
            assert!(page["Resources"][0]["urn:example:2.0:User"]["f31"].is_string(), "the fields are shown");
            pages += 1;
            seen.extend(names(&page));
            let Some(next) = page["nextCursor"].as_str() else { break };
            next.clone_into(&mut cursor);
        }
        assert_eq!((pages, seen.len()), (2, 70));
        let mut by_index = vec![];
        while by_index.len() < 70 {
            let index_response = scim(world, &key, &format!("count=100&startIndex={}", by_index.len() + 1)).await;
            assert!(index_response.body.len() <= MOST_BYTES, "{}", index_response.body.len());
            by_index.extend(names(&index_response.json()));
        }
        assert_eq!(by_index, seen);
    }
}

#[tokio::test]
async fn upload_naming_too_much_stored_data_is_refused() {
    for shared in every_store().await {
        let world = &shared.world;
        let mut file = "email,first_name\n".to_owned();
        for number in 0..258 {
            large_person(world, &format!("person{number}"), None).await;
            file.push_str(&format!("person{number}@example.com,Grace\n"));
        }
        let upload = async |file: &str, query: &str| {
            let request = world.ask("POST", &format!("/v1/employees/csv{query}"));
            request.header("content-type", "text/csv").body(file.to_owned()).send().await
        };
        for query in ["", "?dry_run=true"] {
            let error_response = upload(&file, query).await;
            assert_eq!(
                error_response.problems(),
                [("body".to_owned(), "too_long".to_owned())],
                "{}",
                error_response.text()
            );
        }
        // The plan of a file that clears the fields of half of the people ends early.
        let columns: String = (0..32).map(|number| format!(",custom.field{number}")).collect();
        let rows: String =
            (0..129).map(|number| format!("person{number}@example.com{}\n", ",".repeat(32))).collect();
        let dry_run = upload(&format!("email{columns}\n{rows}"), "?dry_run=true&empty=clear").await;
        assert!(dry_run.body.len() <= MOST_BYTES, "{}: {}", shared.name, dry_run.body.len());
        let report = dry_run.json();
        assert_eq!((&report["data"]["updated"], &report["plan_has_more"]), (&json!(129), &json!(true)));
        let planned_count = report["plan"].as_array().unwrap().len();
        assert!((1..129).contains(&planned_count), "{planned_count}");
        let half: String = file.lines().take(130).map(|line| format!("{line}\n")).collect();
        assert_eq!(upload(&half, "").await.json()["data"]["updated"], 129);
        let page = world.get("/v1/employees?filter[email]=person200@example.com").await.json();
        assert_eq!(page["data"][0]["first_name"], "Ada");
    }
}
