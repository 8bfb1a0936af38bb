//! One resource of every family, and a valid request for every route.

use std::collections::BTreeMap;

use candor_http::table::{Body, Dialect, Method, ROUTES, Route};
use serde_json::{Value, json};

use crate::connectors;
use crate::retention;
use crate::support::{Request, START, TestApi};

/// A CSV file with a new person.
const PEOPLE: &str = "email,first_name,last_name\nnew@example.com,New,Person\n";

/// Ids of one resource per family, by the first segment of the path.
pub(crate) struct Resources(BTreeMap<&'static str, String>);

impl Resources {
    /// Creates one resource of each family with a live admin key.
    pub(crate) async fn make(world: &TestApi, key: &str) -> Self {
        let create = async |path: &str, body: Value| {
            world.clock.advance_millis(1);
            let response = world.bare("POST", path).key(key).json(&body).send().await;
            assert_eq!(response.status, 201, "{path}: {}", response.text());
            response.json()["id"].as_str().unwrap().to_owned()
        };
        let person = json!({"email": "grace@example.com", "first_name": "Grace", "last_name": "Sample", "send_invite": true});
        let ada = json!({"email": "ada@example.com", "first_name": "Ada", "last_name": "Example"});
        let employee = create("/v1/employees", ada).await;
        let body = json!({"url": "https://receiver.example/hooks", "event_types": ["observation.created"]});
        let webhook = create("/v1/webhooks", body).await;
        let body = json!({"employee_id": employee, "type": "strength", "observation": "Listens."});
        let observation = create("/v1/observations", body).await;
        let delivery = world.attempt_all(204).await[0].id.to_string();
        let feed = world.bare("GET", "/v1/events").key(key).send().await.json();
        let event = feed["data"][0]["id"].as_str().unwrap().to_owned();
        let invited_person = create("/v1/employees", person).await;
        let mut resources = objectives_of(world, key, &employee).await;
        let notification = reject_and_notify(world, key, &resources["manager-objectives"]).await;
        let department = create("/v1/departments", json!({"name": "Care"})).await;
        let attribute = create("/v1/attributes", json!({"name": "Calm", "category": "Character"})).await;
        let api_key = create("/v1/api-keys", json!({"name": "Other", "scopes": ["employees:read"]})).await;
        let connector = create("/v1/connectors", json!({"type": "csv_feed", "hris_source": "acme"})).await;
        let issue = connectors::open_issue(world, key, &connector).await;
        let provider = linked_provider(world, key, &invited_person).await;
        let people = json!({"title": "The second quarter", "participant_ids": [employee, invited_person]});
        let conversation = create("/v1/conversations", people).await;
        let messages = format!("/v1/conversations/{conversation}/messages");
        let message = create(&messages, json!({"author_id": employee, "body": "Shall we?"})).await;
        let assignment_body =
            json!({"employee_id": employee, "title": "Review", "reviewer_ids": [employee, invited_person]});
        let assignment = create("/v1/assignments", assignment_body).await;
        let body = json!({"employee_id": employee, "title": "First half", "body": "Helps."});
        let summary = create("/v1/summaries", body).await;
        let erasure = prepare_people(world, key, &invited_person).await;
        resources.extend(provider_resources(world, key).await);
        resources.extend([
            ("erasures", erasure),
            ("retention", retention::stored_run(world, key).await),
            ("summaries", summary),
            ("assignments", assignment),
            ("conversations", conversation),
            ("messages", message),
            ("observations", observation),
            ("employees", employee),
            ("notifications", notification),
            ("invited", invited_person),
            ("departments", department),
            ("attributes", attribute),
            ("api-keys", api_key),
            ("connectors", connector),
            ("sync-issues", issue),
            ("identity-providers", provider),
            ("webhooks", webhook),
            ("deliveries", delivery),
            ("events", event),
        ]);
        Self(resources)
    }

    /// Returns the id of the family's resource.
    pub(crate) fn id(&self, family: &str) -> &str {
        self.0.get(family).map_or("", String::as_str)
    }

    /// Returns the key with which the resources were created, or the connector's key for a route of SCIM.
    pub(crate) fn key<'a>(&'a self, route: &Route, admin: &'a str) -> &'a str {
        match route.dialect {
            Dialect::V1 => admin,
            Dialect::Scim => self.id("scim-keys"),
        }
    }

    /// Creates a request for a route, with a key that is admitted.
    pub(crate) fn ask<'w>(&self, world: &'w TestApi, route: &Route) -> Request<'w> {
        world.bare(method(route), &self.path(route)).key(self.key(route, &world.admin))
    }

    /// Returns a route's path with the id of a suitable resource.
    pub(crate) fn path(&self, route: &Route) -> String {
        let needs_invited = ["/invitation", "/invite", "/legal-hold"].iter().any(|end| route.path.ends_with(end));
        let family = match route.path {
            _ if needs_invited => "invited",
            // Check-ins need an objective that is approved.
            path if path.starts_with("/employee-objectives/{id}/check-ins") => "checked-employee-objectives",
            path if path.starts_with("/manager-objectives/{id}/check-ins") => "checked-manager-objectives",
            _ => family(route),
        };
        let second = match route.path {
            path if path.contains("{check_in_id}") && path.starts_with("/employee") => "employee-check-ins",
            path if path.contains("{check_in_id}") => "manager-check-ins",
            path if path.contains("{message_id}") => "messages",
            path if path.contains("{issue_id}") => "sync-issues",
            path if path.contains("{employee_id}") => "invited",
            _ => "deliveries",
        };
        path(route, self.id(family), self.id(second))
    }

    /// Advances the resource of a route to the state that the route requires.
    pub(crate) async fn begin(&self, world: &TestApi, route: &Route) {
        let resource = format!("/v1/{}/{}", family(route), self.id(family(route)));
        let act = async |action: &str| {
            assert_eq!(
                world.post(&format!("{resource}/{action}"), json!({})).await.status,
                200,
                "{resource}/{action}"
            );
        };
        match route.path.rsplit('/').next() {
            Some("return") => act("submit").await,
            Some("share") => act("approve").await,
            Some("feedback") => {
                act("approve").await;
                act("share").await;
            }
            Some("reactivate" | "rehire" | "erasure") => act("deactivate").await,
            Some("restore") => act("archive").await,
            Some("resume") => connectors::pause(world, self.id("connectors")).await,
            Some("complete" | "miss") => {
                act("approve").await;
                assert_eq!(world.patch(&resource, json!({"status": "in_progress"})).await.status, 200);
            }
            _ => {}
        }
    }

    /// Fills a request with a valid body for its route.
    pub(crate) fn fill<'w>(&self, request: Request<'w>, route: &Route) -> Request<'w> {
        if route.body == Body::Csv {
            return request.header("content-type", "text/csv").body(PEOPLE);
        }
        match self.body(route) {
            Some(body) => request.json(&body),
            None => request,
        }
    }

    /// Returns a valid body for a route. `None` for a route without a body.
    pub(crate) fn body(&self, route: &Route) -> Option<Value> {
        let (Body::Required(schema) | Body::Optional(schema)) = route.body else { return None };
        let employee = self.id("employees");
        Some(match schema.name {
            "SignIn" => json!({"email": "ada@example.com"}),
            "ObservationCreate" => json!({"employee_id": employee, "type": "strength", "observation": "Helps."}),
            "ObservationUpdate" => json!({"impact": "Trust"}),
            "EmployeeObjectiveCreate" | "ManagerObjectiveCreate" => {
                json!({"owner_id": employee, "title": "Listen", "period_start": "2026-04-01", "period_end": "2026-04-01",
                       "key_results": [{"title": "Talks", "target": 12.5}]})
            }
            "ObjectiveUpdate" => {
                json!({"description": "Weekends excepted.", "key_results": [{"title": "Talks", "target": 10}]})
            }
            "CheckInCreate" => json!({"progress": 40, "confidence": "at_risk", "note": "Slow."}),
            "ObjectiveReject" => json!({"reason": "Too vague"}),
            "ObjectiveApprove" | "ObjectiveComplete" | "ObjectiveMiss" => json!({}),
            "AssignmentCreate" => json!({"employee_id": employee, "title": "Another", "reviewer_ids": [employee]}),
            "SubmissionCreate" => {
                json!({"reviewer_id": employee, "observations": [{"type": "strength", "observation": "Helps."}]})
            }
            "ConversationCreate" => {
                json!({"title": "Another", "participant_ids": [employee, self.id("invited")],
                       "about": {"type": "employee", "id": employee}})
            }
            "ConversationUpdate" => json!({"title": "The third quarter"}),
            "MessageCreate" => json!({"author_id": employee, "body": "Yes."}),
            "SummaryCreate" => json!({"employee_id": employee, "title": "Second half"}),
            "SummaryUpdate" => json!({"body": "Listens."}),
            "SummaryReturn" => json!({"reason": "Too short"}),
            "SummaryFeedback" => json!({"acknowledged": true}),
            "NotificationsReadAll" => json!({"recipient_id": employee}),
            "EmployeeCreate" => json!({"email": "new@example.com", "first_name": "New", "last_name": "Person"}),
            "EmployeeUpdate" => json!({"first_name": "Augusta"}),
            "EmployeeRehire" | "ConnectorRelease" | "ApiKeyRotate" => json!({}),
            "DepartmentCreate" | "DepartmentUpdate" | "OrganizationUpdate" | "ApiKeyUpdate" => {
                json!({"name": "Another"})
            }
            "AttributeCreate" => json!({"name": "Another", "category": "Character"}),
            "AttributeUpdate" => json!({"category": "Communication"}),
            "ApiKeyCreate" => json!({"name": "New", "scopes": ["employees:read"]}),
            "ConnectorCreate" => json!({"type": "csv_feed", "hris_source": "another"}),
            "ConnectorUpdate" => json!({"brake": {"percent": 30}}),
            "IdentityProviderCreate" => provider_body(),
            "IdentityLinkCreate" => json!({"employee_id": employee, "subject": "00u2"}),
            "IdentityProviderCheck" => json!({}),
            "IdentityProviderUpdate" => json!({"name": "Another", "session_lifetime": 900}),
            "WebhookCreate" => json!({"url": "https://another.example/", "event_types": ["*"]}),
            "WebhookUpdate" => json!({"url": "https://another.example/"}),
            "WebhookReplay" => json!({"since": START.to_string()}),
            "InvitationAccept" => json!({"token": "unknown"}),
            "PortalLinkCreate" => json!({"scopes": ["employees:read"]}),
            "ErasureRequest" | "LegalHoldSet" => json!({"reason": "Appeal"}),
            "PortalLinkExchange" => json!({"code": "unknown"}),
            "UserBody" if route.method == Method::Post => user_body("another-user"),
            "UserBody" => user_body("user"),
            "PatchOp" => json!({"Operations": [{"op": "replace", "path": "title", "value": "Lead"}]}),
            other => panic!("{other} has no body here"),
        })
    }
}

/// Returns the body of a SCIM user.
fn user_body(name: &str) -> Value {
    json!({"userName": format!("{name}@example.com"), "externalId": name, "active": true,
           "name": {"givenName": "Ada", "familyName": "Example"},
           "emails": [{"type": "work", "value": format!("{name}@example.com"), "primary": true}]})
}

/// Creates a connector for SCIM with a key and a user. Returns entries of [`Resources`]: ids of the connector and
/// of the user, the secret of the key, and names of a resource type and of a schema.
async fn provider_resources(world: &TestApi, admin: &str) -> [(&'static str, String); 5] {
    let (connector, key) = connectors::provider_of(world, admin).await;
    world.clock.advance_millis(1);
    let creation = world.bare("POST", "/scim/v2/Users").key(&key).json(&user_body("user")).send().await;
    let user = creation.json()["id"].as_str().unwrap_or_else(|| panic!("{}", creation.text())).to_owned();
    [
        ("scim-connectors", connector),
        ("scim-keys", key),
        ("Users", user),
        ("ResourceTypes", "User".to_owned()),
        ("Schemas", "urn:ietf:params:scim:schemas:core:2.0:User".to_owned()),
    ]
}

/// Creates an identity provider with the account of a person, and returns its id.
async fn linked_provider(world: &TestApi, key: &str, person: &str) -> String {
    let provider =
        world.bare("POST", "/v1/identity-providers").key(key).json(&provider_body()).send().await.json();
    let id = provider["id"].as_str().unwrap().to_owned();
    let link = json!({"employee_id": person, "subject": "00u1"});
    let response =
        world.bare("POST", &format!("/v1/identity-providers/{id}/links")).key(key).json(&link).send().await;
    assert_eq!(response.status, 200, "{}", response.text());
    id
}

/// Returns the body of an identity provider.
pub(crate) fn provider_body() -> Value {
    json!({"name": "Okta", "issuer": "https://acme.okta.example", "client_id": "0oa1", "client_secret": "8nFq",
           "link_by": "scim_external_id", "email_domains": ["acme.example"], "audiences": ["api://candor"]})
}

/// Creates a proposed objective of each family, and an approved one with a check-in. Returns the ids of all.
async fn objectives_of(world: &TestApi, key: &str, owner: &str) -> BTreeMap<&'static str, String> {
    let create = async |path: String, body: Value| {
        world.clock.advance_millis(1);
        let response = world.bare("POST", &path).key(key).json(&body).send().await;
        assert_eq!(response.status, 201, "{path}: {}", response.text());
        response.json()["id"].as_str().unwrap().to_owned()
    };
    let mut ids = BTreeMap::new();
    for (family, checked, check_ins) in [
        ("employee-objectives", "checked-employee-objectives", "employee-check-ins"),
        ("manager-objectives", "checked-manager-objectives", "manager-check-ins"),
    ] {
        let body = |status: &str| {
            json!({"owner_id": owner, "title": "Answer within a day", "status": status, "period_start": "2026-04-01",
                   "period_end": "2026-06-30"})
        };
        let proposed_objective = create(format!("/v1/{family}"), body("proposed")).await;
        let objective = create(format!("/v1/{family}"), body("approved")).await;
        let check_in = create(format!("/v1/{family}/{objective}/check-ins"), json!({"progress": 10})).await;
        ids.extend([(family, proposed_objective), (checked, objective), (check_ins, check_in)]);
    }
    ids
}

/// Rejects an objective, and returns the id of the notification to its owner.
async fn reject_and_notify(world: &TestApi, key: &str, objective: &str) -> String {
    let reject = format!("/v1/manager-objectives/{objective}/reject");
    world.bare("POST", &reject).key(key).json(&json!({"reason": "Too vague"})).send().await;
    let notifications = world.bare("GET", "/v1/notifications").key(key).send().await.json();
    notifications["data"][0]["id"].as_str().unwrap().to_owned()
}

/// Sets a legal hold on the data of a person, and erases another person. Returns the id of the erasure.
async fn prepare_people(world: &TestApi, key: &str, held: &str) -> String {
    let hold = world.bare("PUT", &format!("/v1/employees/{held}/legal-hold")).key(key);
    let response = hold.json(&json!({"reason": "Lawsuit"})).send().await;
    assert_eq!(response.status, 200, "{}", response.text());
    let body = json!({"email": "left@example.com", "first_name": "Left", "last_name": "Person"});
    let former_employee = world.bare("POST", "/v1/employees").key(key).json(&body).send().await.json();
    let former_path = format!("/v1/employees/{}", former_employee["id"].as_str().unwrap());
    world.bare("POST", &format!("{former_path}/deactivate")).key(key).send().await;
    let erasure = world.bare("POST", &format!("{former_path}/erasure")).key(key).send().await;
    assert_eq!(erasure.status, 202, "{}", erasure.text());
    erasure.json()["id"].as_str().unwrap().to_owned()
}

/// Iterates over the routes of `/v1`.
pub(crate) fn routes_of_v1() -> impl Iterator<Item = &'static Route> {
    ROUTES.iter().filter(|route| route.dialect == Dialect::V1)
}

/// Returns `true` for a route that needs a sign-in at a provider. The tests of sign-ins cover it.
pub(crate) fn needs_sign_in(route: &Route) -> bool {
    matches!(route.operation, "beginSignIn" | "endSignIn")
}

/// Returns the first segment of a route's path below the base of its dialect.
pub(crate) fn family(route: &Route) -> &'static str {
    let base = if route.dialect == Dialect::Scim { "/scim/v2" } else { "" };
    route.path.trim_start_matches(base).split('/').nth(1).unwrap_or_default()
}

/// Returns a route's path with these ids.
pub(crate) fn path(route: &Route, id: &str, second: &str) -> String {
    let path = route
        .path
        .replace("{id}", id)
        .replace("{delivery_id}", second)
        .replace("{message_id}", second)
        .replace("{check_in_id}", second)
        .replace("{issue_id}", second)
        .replace("{employee_id}", second);
    let query = match path.rsplit('/').next() {
        Some("search") => "?q=calm",
        Some("counts") => "?group_by=month",
        _ => "",
    };
    format!("{}{path}{query}", route.dialect.base())
}

/// Returns a well-formed id that no resource has.
pub(crate) fn absent(route: &Route) -> &'static str {
    match family(route) {
        "observations" => "obs_00000000000000000000000001",
        "employees" => "emp_00000000000000000000000001",
        "employee-objectives" | "manager-objectives" => "obj_00000000000000000000000001",
        "assignments" => "asg_00000000000000000000000001",
        "conversations" => "cnv_00000000000000000000000001",
        "summaries" => "sum_00000000000000000000000001",
        "notifications" => "ntf_00000000000000000000000001",
        "departments" => "dep_00000000000000000000000001",
        "attributes" => "attr_00000000000000000000000001",
        "api-keys" => "key_00000000000000000000000001",
        "connectors" => "con_00000000000000000000000001",
        "identity-providers" => "idp_00000000000000000000000001",
        "webhooks" => "whk_00000000000000000000000001",
        "erasures" => "era_00000000000000000000000001",
        "retention" => "ret_00000000000000000000000001",
        "events" => "evt_00000000000000000000000001",
        "Users" => "emp_00000000000000000000000001",
        "ResourceTypes" | "Schemas" => "Nothing",
        other => panic!("{other} has no ids here"),
    }
}

/// Returns a route's method.
pub(crate) const fn method(route: &Route) -> &'static str {
    match route.method {
        Method::Get => "GET",
        Method::Post => "POST",
        Method::Patch => "PATCH",
        Method::Put => "PUT",
        Method::Delete => "DELETE",
    }
}
