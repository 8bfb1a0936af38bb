//! Connectors of identity providers: settings, brake, issues, requests, and keys.

use std::sync::Arc;

use candor_domain::access::{Environment, Tenant};
use candor_domain::audit::{Actor, AuditEntry, Changes, Origin, Target};
use candor_domain::id::{ConnectorId, OrganizationId};
use candor_port_storage::{ChangeSet, Row, StorageExt, Write};
use candor_provisioning::Connector;
use candor_provisioning::connector::{ExtraAttributes, IssueDraft, IssueKind, ScimLink, ScimRequest, SyncIssue};
use candor_service::RequestContext;
use candor_service::usecases::connectors::provider;
use serde_json::{Value, json};

use crate::stores::every_store;
use crate::support::TestApi;

/// Returns a change set with an audit entry and these writes.
pub(crate) fn change(world: &TestApi, writes: Vec<Write>) -> ChangeSet {
    let now = world.services.clock.now();
    let audit = AuditEntry {
        id: world.services.id(now),
        occurred_at: now,
        action: "test.write".to_owned(),
        actor: Actor::system("test"),
        target: Target { kind: "test".to_owned(), id: "test".to_owned() },
        changes: Changes::new(),
        comment: None,
        request_id: None,
        context: Origin::default(),
    };
    ChangeSet { writes, ..ChangeSet::new(audit) }
}

fn draft(kind: IssueKind) -> IssueDraft {
    IssueDraft {
        kind,
        user_name: Some("ada@example.com".to_owned()),
        external_id: Some("00u1".to_owned()),
        employee_id: None,
        message: "Another connector manages the person.".to_owned(),
    }
}

/// Saves an open issue of a connector in the organization of this key, as a SCIM request does, and returns its id.
pub(crate) async fn open_issue(world: &TestApi, key: &str, connector: &str) -> String {
    let me = world.bare("GET", "/v1/me").key(key).send().await.json();
    let organization: OrganizationId = me["organization_id"].as_str().unwrap().parse().unwrap();
    let now = world.services.clock.now();
    let issue =
        SyncIssue::open(world.services.id(now), connector.parse().unwrap(), draft(IssueKind::LastAdmin), now);
    let id = issue.id.to_string();
    let change = change(world, vec![Write::put(&Row::new(issue))]);
    world.services.store.commit(Tenant::live(organization), change).await.unwrap();
    id
}

/// Pauses a connector of the test's organization.
pub(crate) async fn pause(world: &TestApi, connector: &str) {
    let (tenant, id): (_, ConnectorId) = (Tenant::live(world.organization), connector.parse().unwrap());
    let connector_row = world.services.store.row::<Connector>(tenant, id).await.unwrap().unwrap();
    let state = connector_row.value.pause(20, world.services.clock.now()).unwrap().state;
    let change = change(world, vec![Write::put(&Row::at_version(state, connector_row.version))]);
    world.services.store.commit(tenant, change).await.unwrap();
}

/// Creates a connector for SCIM with a live key, in the organization of an admin key. Returns its id and its key.
pub(crate) async fn provider_of(world: &TestApi, admin: &str) -> (String, String) {
    let body = json!({"type": "scim", "hris_source": "okta", "brake": {"percent": 100, "at_least": 1_000_000}});
    let creation = world.bare("POST", "/v1/connectors").key(admin).json(&body).send().await;
    let connector = creation.json()["id"].as_str().unwrap_or_else(|| panic!("{}", creation.text())).to_owned();
    let key = provider_key(world, admin, &connector, "live").await;
    (connector, key)
}

/// Creates a key of a connector.
pub(crate) async fn provider_key(world: &TestApi, admin: &str, connector: &str, environment: &str) -> String {
    let body = json!({"name": "Okta", "scopes": ["scim"], "connector_id": connector, "environment": environment});
    let creation = world.bare("POST", "/v1/api-keys").key(admin).json(&body).send().await;
    creation.json()["key"].as_str().unwrap_or_else(|| panic!("{}", creation.text())).to_owned()
}

async fn provider(world: &TestApi) -> String {
    world.made("/v1/connectors", json!({"type": "scim", "hris_source": "okta"})).await
}

async fn key_body(world: &TestApi, connector: &str, environment: &str) -> Value {
    let body = json!({"name": "Okta", "scopes": ["scim"], "connector_id": connector, "environment": environment});
    let response = world.post("/v1/api-keys", body).await;
    assert_eq!(response.status, 201, "{}", response.text());
    response.json()
}

#[tokio::test]
async fn key_of_a_connector_is_for_scim_and_me() {
    for shared in every_store().await {
        let world = &shared.world;
        let connector = provider(world).await;
        for environment in ["live", "test"] {
            let key = key_body(world, &connector, environment).await;
            assert_eq!((&key["connector_id"], &key["scim_per_minute"]), (&json!(connector), &json!(null)));
            let secret = key["key"].as_str().unwrap();
            let me = world.bare("GET", "/v1/me").key(secret).send().await;
            assert_eq!((me.status, &me.json()["connector_id"]), (200, &json!(connector)), "{}", shared.name);
            assert_eq!(me.json()["quotas"]["scim"]["limit"], json!(3000));
            for path in [
                "/v1/employees",
                "/v1/search?q=calm",
                "/v1/attention",
                "/v1/connectors",
                "/v1/organization",
                "/v1/events",
            ] {
                let response = world.bare("GET", path).key(secret).send().await;
                assert_eq!(response.refusal(), (403, "permission_denied".to_owned()), "{environment} {path}");
            }
            let path = format!("/v1/api-keys/{}", key["id"].as_str().unwrap());
            let wider = world.patch(&path, json!({"scopes": ["*"]})).await;
            assert_eq!((wider.status, wider.problems()), (400, vec![flaw("scopes", "invalid_format")]));
            let other = world.patch(&path, json!({"connector_id": null})).await;
            assert_eq!((other.status, other.problems()), (400, vec![flaw("connector_id", "read_only")]));
        }
        let csv = world.made("/v1/connectors", json!({"type": "csv_feed", "hris_source": "acme"})).await;
        let body = |connector: &str| json!({"name": "Okta", "scopes": ["scim"], "connector_id": connector});
        for (connector, code) in
            [(csv.as_str(), "invalid_state"), ("con_00000000000000000000000001", "not_found_in_organization")]
        {
            let response = world.post("/v1/api-keys", body(connector)).await;
            assert_eq!((response.status, response.problems()), (422, vec![flaw("connector_id", code)]));
        }
        let narrow = world.post("/v1/api-keys", json!({"name": "Okta", "scopes": ["scim"]})).await;
        assert_eq!((narrow.status, narrow.problems()), (400, vec![flaw("connector_id", "required")]));
    }
}

/// Returns the context of a SCIM request with this key.
async fn context_of(world: &TestApi, key: &Value) -> RequestContext {
    let caller = world.services.auth.authenticate(key["key"].as_str().unwrap()).await.unwrap().unwrap();
    let request = world.services.id(world.services.clock.now());
    RequestContext::new(Arc::clone(&world.services), caller, request)
}

/// Reports a refused request of an identity provider and lets its brake pause the connector. Returns the types of the
/// events about the refusal and the pause.
pub(crate) async fn refuse_and_pause(world: &TestApi) -> Vec<String> {
    let id = provider(world).await;
    let brake = json!({"brake": {"percent": 0, "at_least": 1}});
    assert_eq!(world.patch(&format!("/v1/connectors/{id}"), brake).await.status, 200);
    let context = context_of(world, &key_body(world, &id, "live").await).await;
    let connector = provider::connector(&context).await.unwrap().value;
    provider::report_refusal(&context, &connector, draft(IssueKind::LastAdmin)).await.unwrap();
    let now = world.services.clock.now();
    let verdict = provider::count_deactivation(&context, &connector, None, now).await.unwrap();
    assert!(verdict.is_none());
    let filter = "filter[event]=connector.paused&filter[event]=connector.sync_failed";
    let events = world.get(&format!("/v1/events?limit=100&{filter}")).await.json();
    events["data"].as_array().unwrap().iter().map(|item| item["event"].as_str().unwrap().to_owned()).collect()
}

fn flaw(field: &str, code: &str) -> (String, String) {
    (field.to_owned(), code.to_owned())
}

#[tokio::test]
async fn settings_of_a_connector_are_merged() {
    for shared in every_store().await {
        let world = &shared.world;
        let path = format!("/v1/connectors/{}", provider(world).await);
        let response = world.get(&path).await;
        assert_eq!(response.json()["brake"], json!({"percent": 20, "at_least": 20}), "{}", shared.name);
        assert_eq!(response.json()["status"], "active");
        let body =
            json!({"brake": {"percent": 100}, "custom_field_mappings": {"badge": "userType", "site": "locale"}});
        assert_eq!(world.patch(&path, body).await.status, 200);
        let body = json!({"brake": {"at_least": 50}, "custom_field_mappings": {"site": null}});
        let patched_connector = world.patch(&path, body).await.json();
        assert_eq!(patched_connector["brake"], json!({"percent": 100, "at_least": 50}));
        assert_eq!(patched_connector["custom_field_mappings"], json!({"badge": "userType"}));
        let read = world.get(&path).await.json();
        let same = world.patch(&path, read).await;
        assert_eq!((same.status, same.json()), (200, patched_connector), "{}", shared.name);
        let error_response = world.patch(&path, json!({"hris_source": "entra", "brake": {"percent": 101}})).await;
        assert_eq!(error_response.status, 400, "{}", error_response.text());
    }
}

#[tokio::test]
async fn paused_connector_is_resumed_once() {
    for shared in every_store().await {
        let world = &shared.world;
        let id = provider(world).await;
        let (path, resume) = (format!("/v1/connectors/{id}"), format!("/v1/connectors/{id}/resume"));
        assert_eq!(world.post(&resume, json!({})).await.refusal(), (409, "conflict".to_owned()));
        pause(world, &id).await;
        let connector_json = world.get(&path).await.json();
        assert_eq!((&connector_json["status"], connector_json["paused_at"].is_string()), (&json!("paused"), true));
        let response = world.post(&resume, json!({})).await;
        assert_eq!((response.status, &response.json()["status"]), (200, &json!("active")), "{}", shared.name);
        assert_eq!(world.post(&resume, json!({})).await.status, 409);
    }
}

#[tokio::test]
async fn resolved_issue_leaves_the_default_list() {
    for shared in every_store().await {
        let world = &shared.world;
        let (id, other) = (provider(world).await, provider(world).await);
        let issue = open_issue(world, &world.admin, &id).await;
        let list = format!("/v1/connectors/{id}/sync-issues");
        let ids = async |query: &str| {
            let page = world.get(&format!("{list}{query}")).await.json();
            page["data"].as_array().unwrap().iter().map(|item| item["id"].clone()).collect::<Vec<_>>()
        };
        assert_eq!(ids("").await, [json!(issue)], "{}", shared.name);
        assert_eq!(ids("?filter[kind]=manager_pending").await, [""; 0]);
        assert_eq!(world.get(&format!("/v1/connectors/{id}")).await.json()["open_issues"], 1);
        let elsewhere = format!("/v1/connectors/{other}/sync-issues/{issue}/resolve");
        assert_eq!(world.post(&elsewhere, json!({})).await.status, 404);
        let resolve = format!("{list}/{issue}/resolve");
        let response = world.post(&resolve, json!({})).await;
        assert_eq!((response.status, response.json()["resolved_at"].is_string()), (200, true));
        assert_eq!(world.post(&resolve, json!({})).await.status, 409);
        assert_eq!(ids("").await, [""; 0]);
        assert_eq!(ids("?filter[resolved]=true").await, [json!(issue)]);
        let audit_page = world.get("/v1/audit-log?filter[action]=connector.resolve_issue").await.json();
        assert_eq!(audit_page["data"].as_array().unwrap().len(), 1);
    }
}

#[tokio::test]
async fn newest_requests_and_figures_are_shown() {
    for shared in every_store().await {
        let world = &shared.world;
        let id = provider(world).await;
        let path = format!("/v1/connectors/{id}");
        let response_before = world.get(&path).await;
        let now = world.services.clock.now();
        let request = ScimRequest {
            id: world.services.id(now),
            connector_id: id.parse().unwrap(),
            occurred_at: now,
            method: "GET".to_owned(),
            path: "/scim/v2/Users".to_owned(),
            status: 200,
            scim_type: None,
            duration_ms: 3,
            user_agent: Some("Okta".to_owned()),
        };
        world.services.scim_log.add(Tenant::live(world.organization), request.clone());
        assert_eq!(world.get(&format!("{path}/requests")).await.json()["data"], json!([]));
        world.services.scim_log.flush(&*world.services.store).await.unwrap();
        world.services.scim_log.flush(&*world.services.store).await.unwrap();
        let page = world.get(&format!("{path}/requests")).await.json();
        assert_eq!(page["data"], json!([request]), "{}", shared.name);
        let response_after = world.get(&path).await;
        assert_eq!(
            (&response_after.json()["user_agent"], &response_after.json()["people"]),
            (&json!("Okta"), &json!(0))
        );
        assert_eq!(response_after.json()["last_request_at"], json!(now.to_string()));
        assert_eq!(response_after.json()["updated_at"], response_before.json()["updated_at"]);
        let tag = |answered: &crate::support::TestResponse| answered.headers.get("etag").cloned();
        assert_ne!(tag(&response_after), tag(&response_before), "the ETag covers the figures");
    }
}

#[tokio::test]
async fn released_person_loses_the_link_of_the_account() {
    for shared in every_store().await {
        let world = &shared.world;
        let id = provider(world).await;
        let connector: ConnectorId = id.parse().unwrap();
        let ada = json!({"email": "ada@example.com", "first_name": "Ada", "last_name": "Example"});
        let person = world.made("/v1/employees", ada).await;
        let tenant = Tenant::live(world.organization);
        let store = &world.services.store;
        let row_result = store.row::<candor_domain::people::Employee>(tenant, person.parse().unwrap()).await;
        let person_row = row_result.unwrap().unwrap();
        let owner = store.row::<Connector>(tenant, connector).await.unwrap().unwrap().value;
        let now = world.services.clock.now();
        let managed_person = owner.manage(&person_row.value, now).unwrap().state;
        let link = ScimLink {
            id: managed_person.id,
            connector_id: connector,
            user_name: "ada".to_owned(),
            external_id: None,
            manager_ref: None,
            extra: ExtraAttributes::Known(candor_domain::json::Object::new()),
            linked_at: now,
            updated_at: now,
            deactivated_at: None,
            removed_at: None,
        };
        let writes = vec![
            Write::employee(&Row::at_version(managed_person, person_row.version), None),
            Write::put(&Row::new(link)),
        ];
        store.commit(tenant, change(world, writes)).await.unwrap();
        let title = json!({"job_title": "Engineer"});
        let response = world.patch(&format!("/v1/employees/{person}"), title.clone()).await;
        assert_eq!(response.problems(), [flaw("job_title", "field_managed_externally")], "{}", shared.name);
        let release_response = world.post(&format!("/v1/connectors/{id}/release"), json!({})).await;
        assert_eq!(release_response.json(), json!({"released": 1}));
        let link = store.row::<ScimLink>(tenant, person.parse().unwrap()).await.unwrap().unwrap();
        assert!(link.value.removed_at.is_some());
        assert_eq!(world.patch(&format!("/v1/employees/{person}"), title).await.status, 200);
    }
}

#[tokio::test]
async fn upload_for_an_identity_provider_is_refused() {
    let world = TestApi::new().await;
    let id = provider(&world).await;
    let request = world.ask("POST", &format!("/v1/employees/csv?connector_id={id}"));
    let file = "email,first_name,last_name\nines@example.com,Ines,Neil\n";
    let response = request.header("content-type", "text/csv").body(file.to_owned()).send().await;
    assert_eq!((response.status, response.problems()), (422, vec![flaw("connector_id", "invalid_state")]));
}

#[tokio::test]
async fn refusal_is_one_issue_with_one_notice() {
    for shared in every_store().await {
        let world = &shared.world;
        let admin = json!({"email": "boss@example.com", "first_name": "B", "last_name": "O", "role": "org_admin"});
        world.made("/v1/employees", admin).await;
        let id = provider(world).await;
        let context = context_of(world, &key_body(world, &id, "live").await).await;
        let connector = provider::connector(&context).await.unwrap().value;
        for kind in [IssueKind::ManagedElsewhere, IssueKind::ManagedElsewhere, IssueKind::IdentityConflict] {
            provider::report_refusal(&context, &connector, draft(kind)).await.unwrap();
            world.clock.advance_millis(1);
        }
        let issues = world.get(&format!("/v1/connectors/{id}/sync-issues?sort=occurred_at")).await.json();
        let counts: Vec<_> =
            issues["data"].as_array().unwrap().iter().map(|issue| issue["count"].clone()).collect();
        assert_eq!(counts, [2, 1], "{}", shared.name);
        let notifications = world.get("/v1/notifications?limit=100").await.json();
        let sync_notices = notifications["data"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|item| item["type"] == "connector.sync_failed");
        assert_eq!(sync_notices.count(), 1);
        let events = world.get("/v1/events?filter[event]=connector.sync_failed").await.json();
        assert_eq!(events["data"].as_array().unwrap().len(), 2, "each new issue fires one event");
        let audit_page = world.get("/v1/audit-log?filter[action]=connector.open_issue").await.json();
        assert_eq!(audit_page["data"][0]["actor"], json!({"type": "connector", "id": id, "name": "okta"}));
        assert_eq!(audit_page["data"].as_array().unwrap().len(), 2);
    }
}

#[tokio::test]
async fn brake_pauses_the_live_connector_only() {
    for shared in every_store().await {
        let world = &shared.world;
        let id = provider(world).await;
        let path = format!("/v1/connectors/{id}");
        assert_eq!(world.patch(&path, json!({"brake": {"percent": 0, "at_least": 1}})).await.status, 200);
        for (environment, status) in [(Environment::Test, "active"), (Environment::Live, "paused")] {
            let word = if environment == Environment::Test { "test" } else { "live" };
            let context = context_of(world, &key_body(world, &id, word).await).await;
            let connector = provider::connector(&context).await.unwrap().value;
            let now = world.services.clock.now();
            let verdict = provider::count_deactivation(&context, &connector, None, now).await.unwrap();
            assert!(verdict.is_none(), "{word}");
            assert_eq!(world.get(&path).await.json()["status"], status, "{} {word}", shared.name);
            let test_connector = provider::copy_for_test_data(&context, &connector).await.unwrap();
            assert_eq!(test_connector.is_some(), environment == Environment::Test);
        }
        let events = world.get("/v1/events?filter[event]=connector.paused").await.json();
        assert_eq!(events["data"].as_array().unwrap().len(), 1);
    }
}
