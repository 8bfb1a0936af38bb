//! Values of a resource outside of GET are shown with the access that GET of the resource needs (decisions F6, G).

use std::collections::BTreeSet;

use candor_domain::access::{Access, AccessLevel, AdminContext, Environment, Permission, Permissions};
use candor_domain::audit::{ACTIONS, Actor, AuditDraft, Changes, Origin, Target};
use candor_domain::event::{EventData, EventType};
use candor_domain::fields::StringEnum;
use candor_domain::id::AuditId;
use candor_domain::time::Timestamp;
use candor_http::table::{Method, ROUTES};
use serde_json::{Value, json};

use crate::objectives::{key_for, person};
use crate::resources::Resources;
use crate::stores::every_store;
use crate::support::TestApi;

/// Kinds of targets, and the route that shows one.
const SHOWN_BY: [(&str, &str); 23] = [
    ("api_key", "/api-keys/{id}"),
    ("assignment", "/assignments/{id}"),
    ("attribute", "/attributes/{id}"),
    ("check_in", "/employee-objectives/{id}/check-ins/{check_in_id}"),
    ("connector", "/connectors/{id}"),
    ("conversation", "/conversations/{id}"),
    ("department", "/departments/{id}"),
    ("employee", "/employees/{id}"),
    ("erasure", "/erasures/{id}"),
    ("identity_link", "/identity-providers/{id}/links"),
    ("identity_provider", "/identity-providers/{id}"),
    ("invitation", "/employees/{id}/invitation"),
    ("legal_hold", "/employees/{id}/legal-hold"),
    ("message", "/conversations/{id}/messages/{message_id}"),
    ("notification", "/notifications"),
    ("objective", "/employee-objectives/{id}"),
    ("observation", "/observations/{id}"),
    ("organization", "/organization"),
    ("personal_data", "/employees/{id}/personal-data"),
    ("retention_run", "/retention/runs/{id}"),
    ("summary", "/summaries/{id}"),
    ("sync_issue", "/connectors/{id}/sync-issues"),
    ("webhook", "/webhooks/{id}"),
];

/// Returns the access of a GET, without the environment: no value leaves its data set.
fn access_of_get(kind: &str) -> Access {
    let (_, path) = SHOWN_BY.into_iter().find(|(shown, _)| *shown == kind).unwrap_or_else(|| panic!("{kind}"));
    let is_get = |route: &&candor_http::table::Route| route.method == Method::Get && route.path == path;
    ROUTES.iter().find(is_get).unwrap_or_else(|| panic!("{path}")).access
}

#[test]
fn read_access_of_a_target_is_that_of_get() {
    for (kind, path) in SHOWN_BY {
        let target = Target { kind: kind.to_owned(), id: "x".to_owned() };
        assert_eq!(needs(target.read_access()), needs(access_of_get(kind)), "{kind} {path}");
    }
}

/// Returns what a caller needs for an access, without the environment.
fn needs(access: Access) -> (Option<Permission>, Option<Permission>, Option<AdminContext>, bool) {
    (access.required_scope(), access.other_scope(), access.admin_context(), access.needs_full_sight())
}

#[test]
fn values_of_each_action_need_the_access_of_get() {
    for (action, shown) in ACTIONS {
        // The values of an entry about a person may show something else, so the target does not matter.
        let entry = AuditDraft {
            action,
            target: Target { kind: "employee".to_owned(), id: "emp_1".to_owned() },
            changes: Changes::new(),
            comment: None,
        };
        let id = AuditId::from_bytes([1; 16]);
        let entry =
            entry.into_entry(id, Timestamp::from_millis(1), Actor::system("test"), None, Origin::default());
        assert_eq!(needs(entry.read_access()), needs(access_of_get(shown)), "{action} shows {shown}");
    }
    // Actions on people whose values a reader of people may see. All others show something else.
    let of_people: Vec<_> =
        ACTIONS.iter().filter(|(_, shown)| *shown == "employee").map(|(action, _)| *action).collect();
    let expected_actions = [
        "employee.accept_invitation",
        "employee.change_sign_in_address",
        "employee.create",
        "employee.deactivate",
        "employee.invite",
        "employee.link",
        "employee.manage",
        "employee.reactivate",
        "employee.rehire",
        "employee.release",
        "employee.update",
        "notification.read_all",
    ];
    assert_eq!(of_people, expected_actions);
}

/// Returns the kind of the resource in events; `None` for events without one.
fn kind_in(data: EventData) -> Option<&'static str> {
    match data {
        EventData::Observation => Some("observation"),
        EventData::Summary => Some("summary"),
        EventData::Conversation => Some("conversation"),
        EventData::Message => Some("message"),
        EventData::Objective | EventData::CheckedObjective => Some("objective"),
        EventData::Assignment => Some("assignment"),
        EventData::Employee => Some("employee"),
        EventData::Department => Some("department"),
        EventData::Attribute => Some("attribute"),
        EventData::Invitation => Some("invitation"),
        EventData::Connector => Some("connector"),
        EventData::IdentityProvider => Some("identity_provider"),
        EventData::Organization => Some("organization"),
        EventData::Webhook => Some("webhook"),
        EventData::ApiKey => Some("api_key"),
        EventData::Erasure => Some("erasure"),
        EventData::RetentionRun => Some("retention_run"),
        EventData::RemovedIds | EventData::TestMessage => None,
    }
}

#[test]
fn read_access_of_an_event_is_that_of_get() {
    for event in EventType::ALL.iter().copied() {
        let get = if event == EventType::EmployeeErased {
            None
        } else if event == EventType::EmployeeHoldChanged {
            Some(Access::organization_admin(Permission::EmployeesErase))
        } else {
            kind_in(event.data()).map(access_of_get)
        };
        let needs = get.map_or((None, None), |access| (access.required_scope(), access.admin_context()));
        assert_eq!((event.needed_scope(), event.needed_context()), needs, "{}", event.word());
    }
}

/// Returns named keys: a key of the organization and a key of an org admin, each with both access levels.
async fn keys(world: &TestApi, scopes: Permissions) -> [(&'static str, String); 4] {
    let admin = person(world, "admin", "org_admin", None).await;
    [
        ("admin", world.key(scopes, AccessLevel::Admin, Environment::Live).await),
        ("standard", world.key(scopes, AccessLevel::Standard, Environment::Live).await),
        ("bound admin", key_for(world, &admin, AccessLevel::Admin).await),
        ("bound standard", key_for(world, &admin, AccessLevel::Standard).await),
    ]
}

#[tokio::test]
async fn audit_log_shows_values_with_the_context_of_get() {
    for shared in every_store().await {
        let world = &shared.world;
        let resources = Resources::make(world, &world.admin).await;
        for (family, body) in [
            ("api-keys", json!({"name": "Renamed"})),
            ("identity-providers", json!({"name": "Renamed"})),
            ("connectors", json!({"brake": {"percent": 30}})),
            ("departments", json!({"name": "Renamed"})),
            ("observations", json!({"impact": "Trust"})),
        ] {
            let path = format!("/v1/{family}/{}", resources.id(family));
            let response = world.patch(&path, body).await;
            assert_eq!(response.status, 200, "{path}: {}", response.text());
        }
        let keys = keys(world, Permissions::ALL).await;
        for (action, readers) in [
            ("api_key.update", &["admin", "bound admin"][..]),
            ("connector.update", &["admin", "bound admin"]),
            ("identity_provider.update", &["admin"]),
            ("employee.link_identity", &["admin"]),
            ("employee.hold", &["admin"]),
            ("department.update", &["admin", "bound admin", "bound standard"]),
            ("observation.update", &["admin", "bound admin", "bound standard"]),
        ] {
            let log = format!("/v1/audit-log?filter[action]={action}");
            for (name, key) in &keys {
                let response = world.bare("GET", &log).key(key).send().await;
                if *name == "standard" {
                    assert_eq!(response.status, 403);
                    continue;
                }
                let page = response.json();
                let entries = page["data"].as_array().unwrap();
                assert!(!entries.is_empty(), "{action} {name} on {}: every key sees the entries", shared.name);
                let has_values = |entry: &Value| entry["changes"] != json!({});
                assert_eq!(entries.iter().any(has_values), readers.contains(name), "{action} {name}: {page}");
            }
        }
    }
}

#[tokio::test]
async fn events_of_a_family_need_the_context_of_get() {
    for shared in every_store().await {
        let world = &shared.world;
        Resources::make(world, &world.admin).await;
        for (name, key) in keys(world, Permissions::ALL).await {
            let body = |kind: &str| json!({"url": "https://receiver.example/in", "event_types": [kind]});
            for (kind, readers) in [
                ("api_key.expiring", &["admin", "bound admin"][..]),
                ("connector.created", &["admin", "bound admin"]),
                ("identity_provider.created", &["admin"]),
                ("employee.hold_changed", &["admin"]),
                ("department.created", &["admin", "standard", "bound admin", "bound standard"]),
            ] {
                let is_reader = readers.contains(&name);
                let feed = world.bare("GET", &format!("/v1/events?filter[event]={kind}")).key(&key).send().await;
                assert_eq!(feed.status, if is_reader { 200 } else { 403 }, "{name} {kind} on {}", shared.name);
                let webhook = world.bare("POST", "/v1/webhooks").key(&key).json(&body(kind)).send().await;
                assert_eq!(webhook.status, if is_reader { 201 } else { 403 }, "{name} {kind} on {}", shared.name);
            }
            let page = world.bare("GET", "/v1/events?limit=100").key(&key).send().await.text();
            assert_eq!(page.contains("identity_provider."), name == "admin", "{name} on {}", shared.name);
        }
    }
}

/// Creates an objective and a summary about a person with a manager, and a message to a participant. Returns the id of
/// the conversation.
async fn notify(world: &TestApi, report: &str, participant: &str) -> String {
    let objective = json!({"owner_id": report, "title": "SECRET aim", "period_start": "2026-04-01",
                           "period_end": "2026-06-30"});
    let objective = world.made("/v1/employee-objectives", objective).await;
    let summary = json!({"employee_id": report, "title": "SECRET half", "body": "SECRET body"});
    let summary = world.made("/v1/summaries", summary).await;
    for path in [format!("/v1/employee-objectives/{objective}/submit"), format!("/v1/summaries/{summary}/submit")]
    {
        let response = world.post(&path, json!({})).await;
        assert_eq!(response.status, 200, "{path}: {}", response.text());
    }
    let talk = json!({"title": "SECRET talk", "participant_ids": [report, participant]});
    let talk = world.made("/v1/conversations", talk).await;
    let message = json!({"author_id": report, "body": "SECRET message"});
    world.made(&format!("/v1/conversations/{talk}/messages"), message).await;
    talk
}

#[tokio::test]
async fn notification_hides_a_target_that_its_reader_lost() {
    for shared in every_store().await {
        let world = &shared.world;
        let manager = person(world, "mia", "manager", None).await;
        let next_manager = person(world, "max", "manager", None).await;
        let report = person(world, "sam", "employee", Some(&manager)).await;
        let participant = person(world, "pia", "employee", None).await;
        let talk = notify(world, &report, &participant).await;
        let reviews = ["objective.submitted", "summary.pending_review"];
        let cases = [(&manager, &reviews[..]), (&participant, &["conversation.message"][..])];
        let notices = async |key: &str, recipient: &str| {
            let path = format!("/v1/notifications?sort=created_at&filter[recipient_id]={recipient}");
            let response = world.bare("GET", &path).key(key).send().await;
            assert_eq!(response.status, 200, "{}", response.text());
            response.json()["data"].as_array().unwrap().clone()
        };
        for (recipient, types) in cases {
            let key = key_for(world, recipient, AccessLevel::Standard).await;
            let list = notices(&key, recipient).await;
            let seen_types: BTreeSet<_> = list.iter().map(|notice| notice["type"].as_str().unwrap()).collect();
            assert_eq!((list.len(), seen_types), (types.len(), types.iter().copied().collect()));
            let shows_all = |notice: &Value| notice["title"].is_string() && notice["target"]["id"].is_string();
            assert!(list.iter().all(shows_all), "{list:?} on {}", shared.name);
        }
        let move_report = json!({"manager_id": next_manager});
        assert_eq!(world.patch(&format!("/v1/employees/{report}"), move_report).await.status, 200);
        let expulsion = json!({"participant_ids": [report, next_manager]});
        let expulsion = world.patch(&format!("/v1/conversations/{talk}"), expulsion).await;
        assert_eq!(expulsion.status, 200, "{}", expulsion.text());
        for (recipient, types) in cases {
            let key = key_for(world, recipient, AccessLevel::Standard).await;
            let list = notices(&key, recipient).await;
            assert_eq!(list.len(), types.len(), "{list:?} on {}", shared.name);
            for notice in list {
                let hides_all = |notice: &Value| {
                    let texts = [&notice["title"], &notice["body"], &notice["target"]["id"]];
                    texts.into_iter().all(Value::is_null) && notice["target"]["type"].is_string()
                };
                assert!(hides_all(&notice), "{notice} on {}", shared.name);
                let path = format!("/v1/notifications/{}/read", notice["id"].as_str().unwrap());
                for _ in 0..2 {
                    let read = world.bare("POST", &path).key(&key).json(&json!({})).send().await;
                    assert!(read.status == 200 && hides_all(&read.json()), "{} on {}", read.text(), shared.name);
                }
            }
            let list = notices(&world.admin, recipient).await;
            assert!(list.iter().all(|notice| notice["title"].is_string()), "a key of the organization: {list:?}");
        }
    }
}

#[tokio::test]
async fn notification_shows_its_texts_with_the_access_of_get() {
    for shared in every_store().await {
        let world = &shared.world;
        let joe = person(world, "joe", "employee", None).await;
        let ada = person(world, "ada", "employee", None).await;
        let talk = json!({"title": "SECRET talk", "participant_ids": [joe, ada]});
        let talk = world.made("/v1/conversations", talk).await;
        let message = json!({"author_id": ada, "body": "SECRET message"});
        world.made(&format!("/v1/conversations/{talk}/messages"), message).await;
        let own = Permissions::NONE.with(Permission::NotificationsRead).with(Permission::NotificationsWrite);
        for (scopes, is_shown) in [
            (own, false),
            (own.with(Permission::SummariesRead).with(Permission::ConversationsWrite), false),
            (own.with(Permission::ConversationsRead), true),
        ] {
            for person in [None, Some(&joe)] {
                let body = json!({"name": "Inbox", "scopes": scopes.words(), "employee_id": person});
                let key = world.post("/v1/api-keys", body).await.json()["key"].as_str().unwrap().to_owned();
                let list = world.bare("GET", "/v1/notifications").key(&key).send().await;
                assert_eq!(list.text().contains("SECRET"), is_shown, "{} on {}", list.text(), shared.name);
                let notice = list.json()["data"][0].clone();
                assert_eq!(
                    (&notice["type"], &notice["target"]["id"]),
                    (&json!("conversation.message"), &json!(talk))
                );
                assert_eq!((notice["title"].is_null(), notice["body"].is_null()), (!is_shown, !is_shown));
                let path = format!("/v1/notifications/{}/read", notice["id"].as_str().unwrap());
                for path in [format!("{path}?dry_run=true"), path.clone(), path] {
                    let read = world.bare("POST", &path).key(&key).json(&json!({})).send().await;
                    assert_eq!(read.status, 200, "{}", read.text());
                    assert_eq!(read.text().contains("SECRET"), is_shown, "{} on {}", read.text(), shared.name);
                }
            }
        }
    }
}

#[tokio::test]
async fn message_of_a_sync_is_shown_with_all_people_alone() {
    for shared in every_store().await {
        let world = &shared.world;
        let employee = world.employee("ada@example.com").await;
        let admin = json!({"email": "boss@example.com", "first_name": "B", "last_name": "O", "role": "org_admin"});
        let admin = world.made("/v1/employees", admin).await;
        let id = world.made("/v1/connectors", json!({"type": "csv_feed", "hris_source": "acme"})).await;
        let request = world.ask("POST", &format!("/v1/employees/csv?connector_id={id}"));
        let file = b"email,manager_email\nada@example.com,secret@example.com\n".to_vec();
        let upload = request.header("content-type", "text/csv").body(file).send().await;
        assert_eq!(upload.json()["data"]["errors"].as_array().unwrap().len(), 1, "{}", upload.text());
        for (key, is_shown) in [
            (world.admin.clone(), true),
            (key_for(world, &admin, AccessLevel::Admin).await, true),
            (key_for(world, &employee, AccessLevel::Admin).await, false),
        ] {
            let get = async |path: &str| {
                let response = world.bare("GET", path).key(&key).send().await;
                assert_eq!(response.status, 200, "{}", response.text());
                assert_eq!(response.text().contains("secret@example.com"), is_shown, "{} {path}", shared.name);
                response.json()
            };
            let connector = get(&format!("/v1/connectors/{id}")).await;
            assert_eq!(
                (&connector["last_sync_status"], &connector["status"]),
                (&json!("failed"), &json!("failing"))
            );
            let entry = get("/v1/connectors").await["data"][0].clone();
            assert_eq!((entry["last_sync_message"].is_string(), &entry["id"]), (is_shown, &json!(id)));
        }
    }
}
