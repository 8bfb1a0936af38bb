//! Lists of objectives: filters, families and expanded members (§4.2, decision C7).

use candor_domain::access::Permission;
use serde_json::{Value, json};

use super::{KINDS, ask, body, create_objective, ids, objective, person, walk};
use crate::support::TestApi;

/// Creates four objectives of each kind for two owners, and archives the last of each kind.
async fn populate(world: &TestApi) -> (Vec<Value>, [String; 2]) {
    let owners = [person(world, "one", "org_admin", None).await, person(world, "two", "org_admin", None).await];
    let mut all = vec![];
    for kind in KINDS {
        for (number, month) in ["03", "04", "05", "06"].into_iter().enumerate() {
            let mut body = body(kind.1, &owners[number % 2]);
            body["period_start"] = json!(format!("2026-{month}-01"));
            body["period_end"] = json!(format!("2026-{month}-20"));
            let path = create_objective(world, kind, body).await;
            let trigger = ["submit", "approve", "PATCH proposed", "archive"][number];
            assert_eq!(ask(world, &world.admin, &path, trigger).await.status, 200);
            all.push(world.get(&path).await.json());
        }
    }
    (all, owners)
}

#[tokio::test]
async fn objective_list_returns_exactly_the_filtered_rows() {
    let world = TestApi::new().await;
    let (all, owners) = populate(&world).await;
    let owner = format!("filter[owner_id]={}", owners[0]);
    let open: &dyn Fn(&Value) -> bool = &|item| item["status"] != "archived";
    type RowCondition<'a> = &'a dyn Fn(&Value) -> bool;
    let cases: [(&str, RowCondition<'_>); 13] = [
        ("", open),
        (&owner, &|item| open(item) && item["owner_id"] == json!(owners[0])),
        ("filter[status]=archived", &|item| item["status"] == "archived"),
        ("filter[status]=archived&filter[status]=approved", &|item| {
            item["status"] == "archived" || item["status"] == "approved"
        }),
        ("filter[status]=proposed&filter[status]=proposed", &|item| item["status"] == "proposed"),
        ("filter[status]=missed", &|_| false),
        ("filter[period_end][gte]=2026-04-20", &|item| {
            open(item) && item["period_end"].as_str() >= Some("2026-04-20")
        }),
        ("filter[period_start][lte]=2026-04-01", &|item| {
            open(item) && item["period_start"].as_str() <= Some("2026-04-01")
        }),
        ("filter[period_start][gte]=2026-04-01&filter[period_end][lte]=2026-04-20", &|item| {
            item["period_start"] == "2026-04-01"
        }),
        ("filter[scope]=org", &|item| open(item) && item["scope"] == "org"),
        ("filter[scope]=manager", &|item| open(item) && item["scope"] == "manager"),
        ("filter[scope]=employee", &|item| open(item) && item["scope"] == "employee"),
        ("filter[owner_id]=emp_00000000000000000000000001", &|_| false),
    ];
    for resource in ["employee-objectives", "manager-objectives"] {
        let employees = resource == "employee-objectives";
        for (query, wanted) in &cases {
            // `/employee-objectives` accepts any `filter[scope]`, but always lists the scope `employee`.
            let is_expected =
                |item: &&Value| if employees && query.contains("scope") { open(item) } else { wanted(item) };
            for sort in ["period_end", "-period_end", "created_at", "-created_at", "updated_at", "-updated_at"] {
                let mut expected_rows: Vec<_> = all
                    .iter()
                    .filter(|item| (item["scope"] == "employee") == employees)
                    .filter(is_expected)
                    .cloned()
                    .collect();
                let field = sort.trim_start_matches('-');
                expected_rows.sort_by_key(|item| (item[field].to_string(), item["id"].to_string()));
                if sort.starts_with('-') {
                    expected_rows.reverse();
                }
                let path = format!("/v1/{resource}?limit=2&sort={sort}&{query}");
                assert_eq!(walk(&world, &world.admin, &path).await, expected_rows, "{path}");
            }
        }
    }
}

#[tokio::test]
async fn invalid_objective_filters_are_named() {
    let world = TestApi::new().await;
    for resource in ["employee-objectives", "manager-objectives"] {
        for (query, field, code) in [
            ("filter[status]=begun", "filter[status]", "invalid_enum"),
            ("filter[scope]=team", "filter[scope]", "invalid_enum"),
            ("filter[scope]=org&filter[scope]=org", "filter[scope]", "invalid_format"),
            ("filter[period_end][gte]=soon", "filter[period_end][gte]", "invalid_format"),
            ("filter[period_end]=2026-01-01", "filter[period_end]", "unknown_field"),
            ("sort=title", "sort", "invalid_enum"),
            ("expand=manager", "expand", "invalid_enum"),
        ] {
            let response = world.get(&format!("/v1/{resource}?{query}")).await;
            assert_eq!((response.status, response.problems()), (400, vec![(field.to_owned(), code.to_owned())]));
        }
    }
}

#[tokio::test]
async fn objective_is_found_in_its_own_resource_only() {
    let world = TestApi::new().await;
    let owner = person(&world, "owner", "org_admin", None).await;
    for kind in KINDS {
        let path = objective(&world, kind, &owner).await;
        let wrong = if path.contains("/employee-") {
            path.replace("/employee-", "/manager-")
        } else {
            path.replace("/manager-", "/employee-")
        };
        let objective_before = world.get(&path).await.json();
        for suffix in ["", "/history"] {
            assert_eq!(world.get(&format!("{wrong}{suffix}")).await.refusal(), (404, "not_found".to_owned()));
        }
        assert_eq!(world.patch(&wrong, json!({"title": "x"})).await.status, 404);
        for trigger in ["submit", "approve", "reject", "complete", "miss", "archive"] {
            assert_eq!(ask(&world, &world.admin, &wrong, trigger).await.status, 404, "{trigger}");
        }
        assert_eq!(world.get(&path).await.json(), objective_before);
    }
}

#[tokio::test]
async fn objective_owner_and_summaries_are_expanded_with_scopes() {
    let world = TestApi::new().await;
    let owner = person(&world, "owner", "employee", None).await;
    let path = objective(&world, KINDS[0], &owner).await;
    let plain = world.get(&path).await.json();
    let person = world.get(&format!("/v1/employees/{owner}")).await.json();
    let both = json!({"owner": person, "linked_summaries": []});
    for (expand, members) in
        [("owner", vec!["owner"]), ("owner,linked_summaries", vec!["owner", "linked_summaries"])]
    {
        let mut expected_objective = plain.clone();
        for name in members {
            expected_objective[name] = both[name].clone();
        }
        assert_eq!(world.get(&format!("{path}?expand={expand}")).await.json(), expected_objective);
        let page = world.get(&format!("/v1/employee-objectives?expand={expand}")).await.json();
        assert_eq!(page["data"], json!([expected_objective]));
    }
    let key = world.scoped(&[Permission::ObjectivesRead]).await;
    for (expand, scope) in [("owner", "employees:read"), ("linked_summaries", "summaries:read")] {
        for path in [&path, "/v1/employee-objectives"] {
            let response = world.bare("GET", &format!("{path}?expand={expand}")).key(&key).send().await;
            assert_eq!(response.json()["error"]["details"], json!([{"required_scope": scope}]));
        }
    }
}

#[tokio::test]
async fn objective_history_is_paged_newest_first_with_comments() {
    let world = TestApi::new().await;
    let owner = person(&world, "owner", "employee", None).await;
    let path = objective(&world, KINDS[0], &owner).await;
    let perform = async |method: &str, path: String, body: Value| {
        world.clock.advance_millis(1);
        assert_eq!(world.ask(method, &path).json(&body).send().await.status, 200, "{path}");
    };
    perform("POST", format!("{path}/submit"), json!({})).await;
    perform("POST", format!("{path}/reject"), json!({"reason": "Too vague"})).await;
    perform("PATCH", path.clone(), json!({"title": "Answer within four hours"})).await;
    perform("POST", format!("{path}/submit"), json!({})).await;
    perform("POST", format!("{path}/approve"), json!({"comment": "Good."})).await;
    perform("PATCH", path.clone(), json!({"status": "in_progress"})).await;
    perform("POST", format!("{path}/complete"), json!({"outcome": "All but three."})).await;
    let entries = walk(&world, &world.admin, &format!("{path}/history?limit=3")).await;
    let comments: Vec<_> =
        entries.iter().rev().map(|entry| (entry["action"].as_str().unwrap(), &entry["comment"])).collect();
    let none = &Value::Null;
    let expected_comments = [
        ("objective.create", none),
        ("objective.submit", none),
        ("objective.reject", &json!("Too vague")),
        ("objective.update", none),
        ("objective.submit", none),
        ("objective.approve", &json!("Good.")),
        ("objective.update", none),
        ("objective.complete", &json!("All but three.")),
    ];
    assert_eq!(comments, expected_comments);
    for entry in &entries {
        let members: Vec<_> = entry.as_object().unwrap().keys().collect();
        let entry_members = ["action", "actor", "changes", "comment", "id", "occurred_at", "request_id", "target"];
        assert_eq!(members, entry_members, "only the audit log shows the context");
    }
    let first = json!({
        "title": {"from": null, "to": "Answer within a day"}, "period_start": {"from": null, "to": "2026-04-01"},
        "period_end": {"from": null, "to": "2026-06-30"},
    });
    assert_eq!(entries[6]["changes"], first, "all fields are new to the reviewer");
    let second = json!({"title": {"from": "Answer within a day", "to": "Answer within four hours"}});
    assert_eq!(entries[3]["changes"], second, "the difference since the last submission");
    assert_eq!(ids(&entries).len(), 8);
    let missed_objective = objective(&world, KINDS[0], &owner).await;
    assert_eq!(ask(&world, &world.admin, &missed_objective, "approve").await.status, 200);
    assert_eq!(ask(&world, &world.admin, &missed_objective, "PATCH in_progress").await.status, 200);
    assert_eq!(
        world.post(&format!("{missed_objective}/miss"), json!({"reason": "Two people left."})).await.status,
        200
    );
    let newest = world.get(&format!("{missed_objective}/history?limit=1")).await.json();
    assert_eq!(newest["data"][0]["comment"], "Two people left.");
}
