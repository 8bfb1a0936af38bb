//! SCIM requests of identity providers: dialects, creation and return of people, discovery, and errors.

mod confirmations;
mod erased_names;
mod isolation;
mod kept_fields;
mod mutations;
mod pages;
mod rules;
mod traffic;
mod unreadable;

use candor_domain::json::{Object, Value as Json};
use candor_scim::{ScimPath, UserDocument};
use serde_json::{Value, json};

use crate::connectors::provider_key;
use crate::stores::every_store;
use crate::support::{PUBLIC_URL, TestApi, TestResponse};

const DIALECTS: &str = include_str!("../../../provisioning/tests/rules/scim_dialects/dialects.json");
const ENTERPRISE: &str = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User";

/// An identity provider with its key.
pub(crate) struct Provider<'a> {
    world: &'a TestApi,
    connector: String,
    key: String,
}

impl<'a> Provider<'a> {
    pub(crate) async fn new(world: &'a TestApi) -> Self {
        Self::with_brake(world, json!({"percent": 100, "at_least": 1_000_000})).await
    }

    async fn with_brake(world: &'a TestApi, brake: Value) -> Self {
        Self::in_organization(world, &world.admin, brake).await
    }

    /// Creates a connector with a live key, in the organization of the admin key.
    pub(crate) async fn in_organization(world: &'a TestApi, admin: &str, brake: Value) -> Self {
        let body = json!({"type": "scim", "hris_source": "okta", "brake": brake});
        let creation = world.bare("POST", "/v1/connectors").key(admin).json(&body).send().await;
        let connector = creation.json()["id"].as_str().unwrap_or_else(|| panic!("{}", creation.text())).to_owned();
        let key = provider_key(world, admin, &connector, "live").await;
        Self { world, connector, key }
    }

    /// Returns the same connector with a test key.
    async fn with_test_key(&self) -> Self {
        let key = provider_key(self.world, &self.world.admin, &self.connector, "test").await;
        Self { world: self.world, connector: self.connector.clone(), key }
    }

    async fn send(&self, method: &str, path: &str, body: Option<&Value>) -> TestResponse {
        self.world.clock.advance_millis(1);
        let request = self.world.bare(method, &format!("/scim/v2{path}")).key(&self.key);
        let request = match body {
            Some(body) => request.header("content-type", "application/scim+json").body(body.to_string()),
            None => request,
        };
        let response = request.send().await;
        if response.status != 204 {
            assert_eq!(response.header("content-type"), Some("application/scim+json"), "{}", response.text());
        }
        response
    }

    async fn get(&self, path: &str) -> TestResponse {
        self.send("GET", path, None).await
    }

    /// Creates a user and returns the id.
    pub(crate) async fn made(&self, body: &Value) -> String {
        let response = self.send("POST", "/Users", Some(body)).await;
        assert_eq!(response.status, 201, "{}", response.text());
        response.json()["id"].as_str().unwrap().to_owned()
    }

    async fn remove(&self, id: &str, path: &str) -> TestResponse {
        let body = json!({"Operations": [{"op": "remove", "path": path}]});
        self.send("PATCH", &format!("/Users/{id}"), Some(&body)).await
    }

    pub(crate) async fn patch(&self, id: &str, path: &str, value: Value) -> TestResponse {
        let body = json!({"Operations": [{"op": "replace", "path": path, "value": value}]});
        self.send("PATCH", &format!("/Users/{id}"), Some(&body)).await
    }
}

pub(crate) fn user(name: &str) -> Value {
    json!({"userName": format!("{name}@example.com"), "externalId": format!("x-{name}"),
           "name": {"givenName": "Ada", "familyName": "Example"},
           "emails": [{"type": "work", "value": format!("{name}@example.com"), "primary": true}], "active": true})
}

/// Returns a row of the dialects with identifiers that no other row has.
fn row(number: usize, row: &Value) -> Value {
    let mut text = row.to_string();
    for domain in ["@example.com", "@upn.example"] {
        text = text.replace(domain, &format!("-{number}{domain}"));
    }
    for id in ["00u-1", "00u-2", "00u-9", "nm-1", "nm-2", "x-1", "n-1", "nina"] {
        text = text.replace(&format!("\"{id}\""), &format!("\"{id}-{number}\""));
    }
    serde_json::from_str(&text).unwrap()
}

fn value_at(resource: &Value, path: &str) -> Json {
    let resource: Object = serde_json::from_value(resource.clone()).unwrap();
    let document = UserDocument::from_body(resource).unwrap();
    document.value_at(&ScimPath::parse(path).unwrap()).cloned().unwrap_or(Json::Null)
}

async fn run_row(provider: &Provider<'_>, number: usize, row: &Value) -> Result<(), String> {
    let usual = json!({"userName": format!("ada-{number}@example.com"), "externalId": format!("00u-1-{number}"),
                       "name": {"givenName": "Ada", "familyName": "Lovelace"}, "active": true,
                       "emails": [{"type": "work", "value": format!("ada-{number}@example.com"), "primary": true}]});
    let user_before = row.get("before").unwrap_or(&usual);
    let response = match row["operation"].as_str().unwrap() {
        "create" => provider.send("POST", "/Users", Some(&row["request"])).await,
        operation => {
            let id = provider.made(user_before).await;
            let method = if operation == "patch" { "PATCH" } else { "PUT" };
            provider.send(method, &format!("/Users/{id}"), Some(&row["request"])).await
        }
    };
    let body = response.json();
    if let Some(expected_error) = row["error"].as_str() {
        let is_wanted = response.status == 400 && body["scimType"] == expected_error && body["status"] == "400";
        return if is_wanted { Ok(()) } else { Err(response.text()) };
    }
    if !(200..300).contains(&response.status) {
        return Err(response.text());
    }
    let stored_user = provider.get(&format!("/Users/{}", body["id"].as_str().unwrap_or_default())).await.json();
    if stored_user != body {
        return Err(format!("answered {body}, stored {stored_user}"));
    }
    for (path, wanted) in row["after"].as_object().unwrap() {
        let stored_value = serde_json::to_value(value_at(&stored_user, path)).unwrap();
        if stored_value != *wanted {
            return Err(format!("{path} is {stored_value} instead of {wanted}"));
        }
    }
    Ok(())
}

#[tokio::test]
async fn each_dialect_has_its_documented_effect_on_every_store() {
    let rows: Vec<Value> = serde_json::from_str(DIALECTS).unwrap();
    for shared in every_store().await {
        let provider = Provider::new(&shared.world).await;
        let mut failures = Vec::new();
        for (number, one) in rows.iter().enumerate() {
            if let Err(failure) = run_row(&provider, number, &row(number, one)).await {
                let name = ["provider", "operation", "attribute", "form"].map(|part| one[part].as_str().unwrap());
                failures.push(format!("{} on {}: {failure}", name.join(" / "), shared.name));
            }
        }
        assert!(failures.is_empty(), "{}", failures.join("\n"));
    }
}

#[tokio::test]
async fn returning_person_is_restored_with_the_same_id() {
    for shared in every_store().await {
        let provider = Provider::new(&shared.world).await;
        let id = provider.made(&user("ada")).await;
        let second_response = provider.send("POST", "/Users", Some(&user("ada"))).await;
        assert_eq!((second_response.status, &second_response.json()["scimType"]), (409, &json!("uniqueness")));
        assert_eq!(provider.patch(&id, "active", json!("False")).await.json()["active"], false);
        let list = provider.get("/Users?filter=userName%20eq%20%22ADA@example.com%22").await.json();
        assert_eq!((&list["totalResults"], &list["Resources"][0]["active"]), (&json!(1), &json!(false)));
        assert_eq!(provider.made(&user("ada")).await, id, "on {}", shared.name);
        let removal = provider.send("DELETE", &format!("/Users/{id}"), None).await;
        assert_eq!(removal.status, 204);
        for method in ["GET", "DELETE"] {
            assert_eq!(provider.send(method, &format!("/Users/{id}"), None).await.status, 404);
        }
        let person = shared.world.get(&format!("/v1/employees/{id}")).await.json();
        assert_eq!(person["status"], "deactivated", "the person is kept");
        assert_eq!(provider.made(&user("ada")).await, id);
        let log = shared.world.get("/v1/events?limit=100").await.json();
        let kinds: Vec<_> = log["data"].as_array().unwrap().iter().map(|event| event["event"].clone()).collect();
        assert_eq!(kinds.iter().filter(|kind| **kind == "employee.rehired").count(), 2, "{kinds:?}");
    }
}

#[tokio::test]
async fn unmanaged_person_is_adopted_and_becomes_managed() {
    for shared in every_store().await {
        let world = &shared.world;
        let provider = Provider::new(world).await;
        let id = world.employee("ada@example.com").await;
        assert_eq!(provider.get(&format!("/Users/{id}")).await.json()["userName"], "ada@example.com");
        let person = || async { world.get(&format!("/v1/employees/{id}")).await.json() };
        assert_eq!(person().await["is_hris_managed"], false, "a read adopts no person");
        assert_eq!(provider.made(&user("ada")).await, id);
        assert_eq!(person().await["hris_source"], "okta");
        let response = world.patch(&format!("/v1/employees/{id}"), json!({"first_name": "Eve"})).await;
        assert_eq!(response.status, 422, "{}", response.text());
        let other = Provider::new(world).await;
        assert_eq!(other.get(&format!("/Users/{id}")).await.status, 404);
        assert_eq!(other.send("POST", "/Users", Some(&user("ada"))).await.status, 409);
        let issues = world.get(&format!("/v1/connectors/{}/sync-issues", other.connector)).await.json();
        assert_eq!(issues["data"][0]["kind"], "managed_elsewhere", "{issues}");
    }
}

#[tokio::test]
async fn manager_and_department_are_set_when_they_can_be() {
    for shared in every_store().await {
        let world = &shared.world;
        let provider = Provider::new(world).await;
        let mut body = user("ada");
        body[ENTERPRISE] = json!({"department": "Care", "manager": {"value": "x-boss"}});
        let id = provider.made(&body).await;
        let person = || async { world.get(&format!("/v1/employees/{id}")).await.json() };
        assert!(person().await["department_id"].is_string() && person().await["manager_id"].is_null());
        let issues = format!("/v1/connectors/{}/sync-issues", provider.connector);
        assert_eq!(world.get(&issues).await.json()["data"][0]["kind"], "manager_pending");
        let boss = provider.made(&user("boss")).await;
        assert_eq!(person().await["manager_id"], json!(boss), "on {}", shared.name);
        assert_eq!(world.get(&issues).await.json()["data"], json!([]));
        let user_json = provider.get(&format!("/Users/{id}")).await.json();
        let expected_manager = json!({"value": boss, "$ref": format!("{PUBLIC_URL}/scim/v2/Users/{boss}")});
        assert_eq!(user_json[ENTERPRISE]["manager"], expected_manager);
        let path = format!("{ENTERPRISE}:manager");
        assert_eq!(provider.patch(&boss, &path, json!(id)).await.status, 200, "a cycle is accepted");
        assert_eq!(world.get(&issues).await.json()["data"][0]["kind"], "reporting_cycle");
        assert!(world.get(&format!("/v1/employees/{boss}")).await.json()["manager_id"].is_null());
    }
}

#[tokio::test]
async fn list_has_index_pages_and_cursors() {
    for shared in every_store().await {
        let provider = Provider::new(&shared.world).await;
        let mut ids = Vec::new();
        for number in 0..5 {
            ids.push(provider.made(&user(&format!("p{number}"))).await);
        }
        let names = |page: &Value| {
            let all = page["Resources"].as_array().unwrap().iter();
            all.map(|user| user["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        let page = provider.get("/Users?startIndex=2&count=2").await.json();
        assert_eq!((names(&page), &page["totalResults"]), (ids[1..3].to_vec(), &json!(5)));
        let none = provider.get("/Users?count=0").await.json();
        assert_eq!((names(&none), &none["totalResults"]), (vec![], &json!(5)));
        let (mut cursor, mut seen) = (String::new(), Vec::new());
        loop {
            let page = provider.get(&format!("/Users?cursor={cursor}&count=2")).await.json();
            assert_eq!(page["totalResults"], 5);
            seen.extend(names(&page));
            let Some(next) = page["nextCursor"].as_str() else { break };
            next.clone_into(&mut cursor);
        }
        assert_eq!(seen, ids, "on {}", shared.name);
        for (query, kind) in [
            ("filter=", "invalidFilter"),
            ("filter=userName%20pr", "invalidFilter"),
            ("count=1.5", "invalidValue"),
            ("cursor=x", "invalidCursor"),
        ] {
            let response = provider.get(&format!("/Users?{query}")).await;
            assert_eq!((response.status, &response.json()["scimType"]), (400, &json!(kind)), "{query}");
        }
    }
}

#[tokio::test]
async fn brake_refuses_and_pauses_the_connector() {
    for shared in every_store().await {
        let world = &shared.world;
        let provider = Provider::with_brake(world, json!({"percent": 50, "at_least": 2})).await;
        let mut ids = Vec::new();
        for number in 0..3 {
            ids.push(provider.made(&user(&format!("p{number}"))).await);
        }
        assert_eq!(provider.patch(&ids[0], "active", json!(false)).await.status, 200);
        let response = provider.patch(&ids[1], "active", json!(false)).await;
        assert_eq!((response.status, response.header("retry-after")), (503, Some("300")), "{}", response.text());
        assert_eq!(provider.patch(&ids[1], "title", json!("X")).await.status, 503, "paused on {}", shared.name);
        assert_eq!(provider.get(&format!("/Users/{}", ids[1])).await.json()["active"], true);
        let resume_response =
            world.post(&format!("/v1/connectors/{}/resume", provider.connector), json!({})).await;
        assert_eq!(resume_response.status, 200, "{}", resume_response.text());
        assert_eq!(provider.patch(&ids[1], "active", json!(false)).await.status, 200);
    }
}

#[tokio::test]
async fn equal_request_fires_no_event_and_keeps_the_tag() {
    for shared in every_store().await {
        let provider = Provider::new(&shared.world).await;
        let id = provider.made(&user("ada")).await;
        let path = format!("/Users/{id}");
        let first = provider.get(&path).await;
        let put = provider.send("PUT", &path, Some(&user("ada"))).await;
        assert_eq!((put.json(), put.header("etag")), (first.json(), first.header("etag")));
        assert_eq!(first.json()["meta"]["version"].as_str(), first.header("etag"));
        let count = |log: Value| log["data"].as_array().unwrap().len();
        let events = count(shared.world.get("/v1/events?limit=100").await.json());
        assert_eq!(provider.patch(&id, "nickName", json!("Adi")).await.status, 200);
        assert_eq!(count(shared.world.get("/v1/events?limit=100").await.json()), events, "only the link changed");
        let stale = shared.world.bare("PUT", &format!("/scim/v2{path}")).key(&provider.key);
        let stale = stale.header("if-match", first.header("etag").unwrap()).json(&user("ada")).send().await;
        assert_eq!((stale.status, &stale.json()["status"]), (412, &json!("412")), "on {}", shared.name);
    }
}

#[tokio::test]
async fn errors_and_discovery_have_the_form_of_scim() {
    let world = TestApi::new().await;
    let provider = Provider::new(&world).await;
    for (method, path, status) in [
        ("GET", "/ServiceProviderConfig", 200),
        ("GET", "/ResourceTypes", 200),
        ("GET", "/ResourceTypes/User", 200),
        ("GET", "/Schemas/", 200),
        ("GET", "/Schemas/urn:ietf:params:scim:schemas:core:2.0:User", 200),
        ("GET", "/Schemas/urn:x", 404),
        ("GET", "/Groups", 200),
        ("POST", "/Groups", 501),
        ("GET", "/Me", 501),
        ("POST", "/Bulk", 501),
        ("POST", "/.search", 501),
        ("GET", "/Users?unknown=1", 200),
        ("GET", "/nothing", 404),
        ("DELETE", "/Users", 405),
        ("POST", "/Users", 400),
    ] {
        let response = provider.send(method, path, None).await;
        assert_eq!(response.status, status, "{method} {path}: {}", response.text());
        if status >= 400 {
            assert_eq!(response.json()["status"], status.to_string(), "{method} {path}");
            assert!(response.json()["detail"].is_string() && response.json()["schemas"].is_array());
        }
    }
    for path in ["", "/", "/users"] {
        let response = provider.get(path).await;
        let detail = response.json()["detail"].as_str().unwrap_or_default().to_owned();
        assert!(response.status == 404 && detail.contains("/scim/v2/Users;"), "{path}: {detail}");
    }
    assert_eq!(provider.get(&format!("/Users/{}", "emp_1")).await.status, 404);
    let without_key = world.bare("GET", "/scim/v2/Users").send().await;
    assert_eq!((without_key.status, &without_key.json()["status"]), (401, &json!("401")));
    let answer_to_another_key = world.ask("GET", "/scim/v2/Users").send().await;
    assert_eq!((answer_to_another_key.status, &answer_to_another_key.json()["status"]), (403, &json!("403")));
    let malformed_request =
        world.bare("POST", "/scim/v2/Users").key(&provider.key).header("content-type", "application/json");
    let malformed_response = malformed_request.body("{").send().await;
    assert_eq!(
        (malformed_response.status, &malformed_response.json()["scimType"]),
        (400, &json!("invalidSyntax"))
    );
}
