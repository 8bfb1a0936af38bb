//! Counts of observations and objectives by group (decision A19).

use candor_domain::access::{AccessLevel, Environment, Permission, Permissions};
use serde_json::{Value, json};

use crate::objectives::{key_for, person};
use crate::stores::every_store;
use crate::support::TestApi;

async fn counts(world: &TestApi, key: &str, path: &str) -> (Value, u64) {
    let response = world.bare("GET", &format!("/v1/{path}")).key(key).send().await;
    assert_eq!(response.status, 200, "{path}: {}", response.text());
    let body = response.json();
    assert_eq!(body["has_more"], false, "{path}");
    (body["data"].clone(), body["total"].as_u64().unwrap())
}

async fn observe(world: &TestApi, about: &str, kind: &str, day: &str, attributes: &[&str]) -> String {
    let body = json!({
        "employee_id": about, "type": kind, "observation": "Listens.", "observation_date": day,
        "attribute_ids": attributes,
    });
    world.made("/v1/observations", body).await
}

#[tokio::test]
async fn observations_are_counted_by_one_or_two_members() {
    for shared in every_store().await {
        let (world, key) = (&shared.world, shared.world.admin.clone());
        assert_eq!(counts(world, &key, "observations/counts?group_by=type").await, (json!([]), 0));
        let care = world.made("/v1/departments", json!({"name": "Care"})).await;
        let body = json!({"email": "a@example.com", "first_name": "A", "last_name": "B", "department_id": care});
        let (ada, bob) = (world.made("/v1/employees", body).await, person(world, "bob", "employee", None).await);
        let calm = world.made("/v1/attributes", json!({"name": "Calm", "category": "Character"})).await;
        let kind = world.made("/v1/attributes", json!({"name": "Kind", "category": "Character"})).await;
        observe(world, &ada, "strength", "2026-01-31", &[&calm, &kind]).await;
        observe(world, &ada, "strength", "2026-02-01", &[&calm]).await;
        observe(world, &bob, "opportunity", "2026-02-02", &[]).await;
        let old = observe(world, &bob, "strength", "2026-02-02", &[]).await;
        world.post(&format!("/v1/observations/{old}/archive"), json!({})).await;
        let counts_by =
            async |query: &str| counts(world, &key, &format!("observations/counts?group_by={query}")).await;
        let type_counts = json!([{"type": "opportunity", "count": 1}, {"type": "strength", "count": 2}]);
        assert_eq!(counts_by("type").await, (type_counts, 3), "{}", shared.name);
        let month_counts = json!([{"month": "2026-01", "count": 1}, {"month": "2026-02", "count": 2}]);
        assert_eq!(counts_by("month").await, (month_counts, 3), "{}", shared.name);
        let counts_by_both = json!([
            {"type": "opportunity", "month": "2026-02", "count": 1},
            {"type": "strength", "month": "2026-01", "count": 1},
            {"type": "strength", "month": "2026-02", "count": 1},
        ]);
        assert_eq!(counts_by("month,type").await.0.as_array().unwrap().len(), 3, "{}", shared.name);
        assert_eq!(counts_by("type,month").await, (counts_by_both, 3), "{}", shared.name);
        let department_counts = json!([{"department_id": care, "count": 2}, {"department_id": null, "count": 1}]);
        assert_eq!(counts_by("department_id").await, (department_counts, 3), "{}", shared.name);
        let mut attribute_counts = [(calm.clone(), 2), (kind.clone(), 1)];
        attribute_counts.sort();
        let mut attribute_counts: Vec<_> =
            attribute_counts.iter().map(|(id, count)| json!({"attribute_id": id, "count": count})).collect();
        attribute_counts.push(json!({"attribute_id": null, "count": 1}));
        assert_eq!(
            counts_by("attribute_id").await,
            (json!(attribute_counts), 3),
            "{}: an observation counts for each of its attributes",
            shared.name
        );
        let filtered_counts =
            counts_by("type&filter[archived]=all&filter[observation_date][gte]=2026-02-02").await;
        let attribute_counts = json!([{"type": "opportunity", "count": 1}, {"type": "strength", "count": 1}]);
        assert_eq!(filtered_counts, (attribute_counts, 2), "{}", shared.name);
        let narrow = Permissions::NONE.with(Permission::ObservationsRead);
        let narrow = world.key(narrow, AccessLevel::Standard, Environment::Live).await;
        let ask = async |path: &str| world.bare("GET", path).key(&narrow).send().await.status;
        assert_eq!(ask("/v1/observations/counts?group_by=department_id").await, 403, "{}", shared.name);
        assert_eq!(ask("/v1/observations/counts?group_by=type").await, 200, "{}", shared.name);
        assert_eq!(ask("/v1/observations/counts").await, 400, "{}", shared.name);
        let bound_key = key_for(world, &bob, AccessLevel::Standard).await;
        let expected_counts = json!([{"type": "opportunity", "count": 1}]);
        assert_eq!(
            counts(world, &bound_key, "observations/counts?group_by=type").await,
            (expected_counts, 1),
            "{}",
            shared.name
        );
    }
}

#[tokio::test]
async fn objectives_are_counted_like_their_list() {
    for shared in every_store().await {
        let (world, key) = (&shared.world, shared.world.admin.clone());
        let owner = person(world, "ada", "org_admin", None).await;
        let stranger = person(world, "bob", "employee", None).await;
        for (path, scope) in
            [("employee-objectives", "employee"), ("manager-objectives", "manager"), ("manager-objectives", "org")]
        {
            let body = json!({
                "owner_id": owner, "title": "Answer within a day", "scope": scope, "period_start": "2026-04-01",
                "period_end": "2026-06-30",
            });
            world.made(&format!("/v1/{path}"), body).await;
        }
        let scope_counts = json!([{"scope": "manager", "count": 1}, {"scope": "org", "count": 1}]);
        assert_eq!(counts(world, &key, "manager-objectives/counts?group_by=scope").await, (scope_counts, 2));
        let month_of_status = json!([{"status": "proposed", "month": "2026-06", "count": 1}]);
        let path = "employee-objectives/counts?group_by=status,month";
        assert_eq!(counts(world, &key, path).await, (month_of_status, 1), "{}", shared.name);
        assert_eq!(
            counts(world, &key, "employee-objectives/counts?group_by=status&filter[status]=archived").await.1,
            0
        );
        let bound_key = key_for(world, &stranger, AccessLevel::Standard).await;
        assert_eq!(counts(world, &bound_key, path).await.1, 0, "{}", shared.name);
        let expected_counts = json!([{"scope": "org", "count": 1}]);
        assert_eq!(
            counts(world, &bound_key, "manager-objectives/counts?group_by=scope").await,
            (expected_counts, 1)
        );
    }
}
