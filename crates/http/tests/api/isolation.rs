//! Isolation of organizations and data sets: a key cannot see, change or reference resources of another tenant.

use candor_domain::access::{AccessLevel, Environment, Permissions};
use candor_http::table::{Dialect, ROUTES, Route};
use candor_service::usecases::operator;
use serde_json::{Value, json};

use crate::connectors::{provider_key, provider_of};
use crate::resources::{Resources, absent, family, method, path};
use crate::support::{TestApi, TestResponse};

async fn another_organization(world: &TestApi) -> String {
    let other = operator::create_organization(&world.services, "Other").await.unwrap();
    world.key_of(other, Permissions::ALL, AccessLevel::Admin, Environment::Live).await
}

async fn ask(world: &TestApi, key: &str, route_method: &str, path: &str, body: Option<&Value>) -> TestResponse {
    let request = world.bare(route_method, path).key(key);
    match body {
        Some(body) => request.json(body),
        None => request,
    }
    .send()
    .await
}

async fn states(world: &TestApi, resources: &Resources) -> Vec<String> {
    let mut states = Vec::new();
    for route in ROUTES.iter().filter(|route| route.path.ends_with("/{id}") && method(route) == "GET") {
        states.push(resources.ask(world, route).send().await.text());
    }
    states
}

/// Returns `true` for documents of SCIM about the service, which all organizations share.
fn is_about_the_service(route: &Route) -> bool {
    route.dialect == Dialect::Scim && family(route) != "Users"
}

#[tokio::test]
async fn foreign_and_absent_ids_get_equal_answers_on_every_route() {
    let world = TestApi::new().await;
    let resources = Resources::make(&world, &world.admin).await;
    let foreign_key = another_organization(&world).await;
    let test_key = world.key(Permissions::ALL, AccessLevel::Admin, Environment::Test).await;
    let (_, foreign_scim) = provider_of(&world, &foreign_key).await;
    let test_scim = provider_key(&world, &world.admin, resources.id("scim-connectors"), "test").await;
    let states_before = states(&world, &resources).await;
    for route in ROUTES.iter().filter(|route| route.path.contains("{id}") && !is_about_the_service(route)) {
        let keys = if route.dialect == Dialect::Scim {
            vec![&foreign_scim, &test_scim]
        } else if route.access.environment() == Some(Environment::Live) {
            vec![&foreign_key]
        } else {
            vec![&foreign_key, &test_key]
        };
        for key in keys {
            let body = resources.body(route);
            let foreign = ask(&world, key, method(route), &resources.path(route), body.as_ref()).await;
            let path = path(route, absent(route), "del_00000000000000000000000001");
            let nothing = ask(&world, key, method(route), &path, body.as_ref()).await;
            assert_eq!(foreign.refusal(), (404, "not_found".to_owned()), "{}", route.operation);
            assert_eq!(nothing.status, 404, "{}", route.operation);
            assert_eq!(foreign.without_request_id(), nothing.without_request_id(), "{}", route.operation);
            assert_eq!(foreign.body.len(), nothing.body.len(), "{}", route.operation);
        }
    }
    assert_eq!(states(&world, &resources).await, states_before, "nothing has changed");
}

#[tokio::test]
async fn malformed_id_is_404_on_every_route() {
    let world = TestApi::new().await;
    let resources = Resources::make(&world, &world.admin).await;
    let employee = resources.id("employees");
    for route in ROUTES.iter().filter(|route| route.path.contains("{id}")) {
        for id in [
            "x",
            "%20",
            "%ff",
            "%zz",
            "emp_",
            "..",
            "0",
            "null",
            &employee.to_lowercase(),
            &format!("{employee}x"),
        ] {
            let path = path(route, id, resources.id("deliveries"));
            // Stays below the quota of exports.
            world.clock.advance_seconds(10);
            let key = resources.key(route, &world.admin);
            let response = ask(&world, key, method(route), &path, resources.body(route).as_ref()).await;
            assert_eq!(response.refusal(), (404, "not_found".to_owned()), "{} {path}", route.operation);
        }
    }
}

#[tokio::test]
async fn lists_hide_foreign_rows_and_foreign_id_filters_match_none() {
    let world = TestApi::new().await;
    let resources = Resources::make(&world, &world.admin).await;
    let foreign = another_organization(&world).await;
    let employee = resources.id("employees");
    for path in [
        "/v1/observations?filter[archived]=all".to_owned(),
        "/v1/employees?filter[status]=all".to_owned(),
        "/v1/departments?filter[archived]=all".to_owned(),
        "/v1/connectors".to_owned(),
        "/v1/identity-providers".to_owned(),
        "/v1/webhooks".to_owned(),
        "/v1/events".to_owned(),
        "/v1/deliveries".to_owned(),
        format!("/v1/deliveries?filter[subscription_id]={}", resources.id("webhooks")),
        "/v1/observations/counts?group_by=type".to_owned(),
        "/v1/employee-objectives/counts?group_by=status".to_owned(),
        format!("/v1/observations?filter[employee_id]={employee}"),
        format!("/v1/observations?filter[manager_id]={employee}"),
        format!("/v1/employees?filter[manager_id]={employee}"),
        format!("/v1/audit-log?filter[target_id]={employee}"),
        "/v1/summaries?filter[status]=draft".to_owned(),
        format!("/v1/summaries?filter[employee_id]={employee}"),
        format!("/v1/summaries?filter[manager_id]={employee}"),
        format!("/v1/summaries?filter[included_objective_id]={}", resources.id("manager-objectives")),
        format!("/v1/summaries?filter[included_observation_id]={}", resources.id("observations")),
        "/v1/attributes?filter[name]=Calm".to_owned(),
        "/v1/assignments".to_owned(),
        format!("/v1/assignments?filter[reviewer_id]={employee}"),
        "/v1/conversations?filter[archived]=all".to_owned(),
        format!("/v1/conversations?filter[participant_id]={employee}"),
    ] {
        let response = ask(&world, &foreign, "GET", &path, None).await;
        assert_eq!((response.status, &response.json()["data"]), (200, &json!([])), "{path}");
    }
}

#[tokio::test]
async fn foreign_reference_in_a_body_is_422() {
    let world = TestApi::new().await;
    let resources = Resources::make(&world, &world.admin).await;
    let key = another_organization(&world).await;
    let own = Resources::make(&world, &key).await;
    let (employee, department) = (resources.id("employees"), resources.id("departments"));
    let attribute = resources.id("attributes");
    let person = json!({"email": "x@example.com", "first_name": "X", "last_name": "Y"});
    let observation = json!({"employee_id": own.id("employees"), "type": "strength", "observation": "x"});
    let bound_key = json!({"name": "x", "scopes": ["*"], "employee_id": employee});
    let with = |mut body: Value, name: &str, value: Value| {
        body[name] = value;
        body
    };
    let observation_path = format!("/v1/observations/{}", own.id("observations"));
    let employee_path = format!("/v1/employees/{}", own.id("employees"));
    for (method, path, body, field, value) in [
        (
            "POST",
            "/v1/observations",
            with(observation.clone(), "employee_id", json!(employee)),
            "employee_id",
            employee,
        ),
        (
            "POST",
            "/v1/observations",
            with(observation.clone(), "author_id", json!(employee)),
            "author_id",
            employee,
        ),
        (
            "POST",
            "/v1/observations",
            with(observation, "attribute_ids", json!([attribute])),
            "attribute_ids",
            attribute,
        ),
        ("PATCH", &observation_path, json!({"attribute_ids": [attribute]}), "attribute_ids", attribute),
        ("POST", "/v1/employees", with(person.clone(), "manager_id", json!(employee)), "manager_id", employee),
        ("POST", "/v1/employees", with(person, "department_id", json!(department)), "department_id", department),
        ("PATCH", &employee_path, json!({"manager_id": employee}), "manager_id", employee),
        ("PATCH", &employee_path, json!({"department_id": department}), "department_id", department),
        ("PATCH", &employee_path, json!({"manager_id": "nonsense"}), "manager_id", "nonsense"),
        ("POST", "/v1/api-keys", bound_key, "employee_id", employee),
        (
            "POST",
            &format!("/v1/connectors/{}/release", own.id("connectors")),
            json!({"employee_ids": [employee]}),
            "employee_ids",
            employee,
        ),
    ] {
        must_not_resolve(&world, &key, (method, path, body), field, value).await;
    }
}

async fn must_not_resolve(
    world: &TestApi,
    key: &str,
    (method, path, body): (&str, &str, Value),
    field: &str,
    value: &str,
) {
    let response = ask(world, key, method, path, Some(&body)).await;
    assert_eq!(response.refusal(), (422, "unprocessable".to_owned()), "{path} {body}");
    let details = response.json()["error"]["details"].clone();
    let message = "does not exist in the organization";
    let expected_problems =
        json!([{"field": field, "code": "not_found_in_organization", "message": message, "value": value}]);
    assert_eq!(details, expected_problems, "{path} {body}");
}

#[tokio::test]
async fn foreign_reference_in_an_assignment_is_422() {
    let world = TestApi::new().await;
    let resources = Resources::make(&world, &world.admin).await;
    let key = another_organization(&world).await;
    let own = Resources::make(&world, &key).await;
    let (mine, theirs) = (own.id("employees"), resources.id("employees"));
    let submissions = format!("/v1/assignments/{}/submissions", own.id("assignments"));
    let observation_bodies =
        json!([{"type": "strength", "observation": "x", "attribute_ids": [resources.id("attributes")]}]);
    let submission = json!({"reviewer_id": mine, "observations": observation_bodies});
    for (path, body, field, value) in [
        (
            "/v1/assignments",
            json!({"employee_id": theirs, "title": "x", "reviewer_ids": [mine]}),
            "employee_id",
            theirs,
        ),
        (
            "/v1/assignments",
            json!({"employee_id": mine, "title": "x", "reviewer_ids": [theirs]}),
            "reviewer_ids",
            theirs,
        ),
        (
            "/v1/assignments",
            json!({"employee_id": mine, "requester_id": theirs, "title": "x", "reviewer_ids": [mine]}),
            "requester_id",
            theirs,
        ),
        (&submissions, submission, "observations[0].attribute_ids", resources.id("attributes")),
    ] {
        must_not_resolve(&world, &key, ("POST", path, body), field, value).await;
    }
}

#[tokio::test]
async fn foreign_reference_in_a_conversation_is_422() {
    let world = TestApi::new().await;
    let resources = Resources::make(&world, &world.admin).await;
    let key = another_organization(&world).await;
    let own = Resources::make(&world, &key).await;
    let (mine, other, theirs) = (own.id("employees"), own.id("invited"), resources.id("employees"));
    let talk = format!("/v1/conversations/{}", own.id("conversations"));
    let begin = |people: [&str; 2], about: Value| json!({"title": "x", "participant_ids": people, "about": about});
    let about = json!({"type": "employee", "id": theirs});
    for (method, path, body, field) in [
        ("POST", "/v1/conversations", begin([mine, theirs], Value::Null), "participant_ids"),
        ("POST", "/v1/conversations", begin([mine, other], about), "about.id"),
        ("PATCH", &talk, json!({"participant_ids": [mine, theirs]}), "participant_ids"),
    ] {
        must_not_resolve(&world, &key, (method, path, body), field, theirs).await;
    }
}

#[tokio::test]
async fn foreign_reference_in_a_summary_is_422() {
    let world = TestApi::new().await;
    let resources = Resources::make(&world, &world.admin).await;
    let key = another_organization(&world).await;
    let own = Resources::make(&world, &key).await;
    let draft = format!("/v1/summaries/{}", own.id("summaries"));
    for (field, value) in [("employee_id", resources.id("employees")), ("author_id", resources.id("employees"))] {
        let mut body = json!({"employee_id": own.id("employees"), "title": "x"});
        body[field] = json!(value);
        must_not_resolve(&world, &key, ("POST", "/v1/summaries", body), field, value).await;
    }
    for (field, value) in [
        ("included_objective_ids", resources.id("employee-objectives")),
        ("included_observation_ids", resources.id("observations")),
    ] {
        let mut body = json!({"employee_id": own.id("employees"), "title": "x"});
        body[field] = json!([value]);
        must_not_resolve(&world, &key, ("POST", "/v1/summaries", body), field, value).await;
        let mut change = json!({});
        change[field] = json!([value]);
        must_not_resolve(&world, &key, ("PATCH", &draft, change), field, value).await;
    }
}
