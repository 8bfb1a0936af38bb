//! Connectors to HR systems (decision G).

use candor_domain::access::{Access, Permission};
use candor_domain::event::EventData;
use candor_domain::id::{ConnectorId, ConnectorKind, Kind, SyncIssueKind};
use candor_domain::people::connector::Type as ConnectorType;
use candor_provisioning::connector::{ConnectorDetails, ScimRequest, SyncIssue};
use candor_provisioning::{Connector, connector};
use candor_service::usecases::connectors as hr;
use candor_service::usecases::connectors::Released;
use serde_json::{Value, json};

use crate::contract::route::{EventFamily, Route, RouteGroup, handlers};
use crate::contract::schema::shapes::Member;
use crate::contract::schema::words::{enum_member, sort};
use crate::contract::schema::{AT, EMPLOYEE_ID, Schema, body, body_of, resource, response_of, with};

/// Access to the issues and SCIM requests of a connector, which contain data about people. Keys that act for people who
/// are no org admins are refused.
const PEOPLE_READER: Access = Access::settings_admin(Permission::SettingsRead).live_only().full_sight();
/// Access to the routes that change connectors. A connector creates, changes and deactivates people, so keys that act for
/// people who are no org admins are refused.
const PEOPLE_ADMIN: Access = Access::settings_admin(Permission::SettingsWrite).live_only().full_sight();

const ROUTES: &[Route] = &[
    Route::get("/connectors", Access::settings_admin(Permission::SettingsRead).live_only(), list)
        .with_name("listConnectors", "List connectors to HR systems")
        .description("Lists the connectors to HR systems.")
        .lists(&CONNECTOR, |input| drop(input.list_by_update_time::<Connector>(""))),
    Route::post("/connectors", PEOPLE_ADMIN, create)
        .with_name("createConnector", "Create a connector to an HR system")
        .description("Creates a connector to an HR system. The HR system then manages the people that it uploads.")
        .takes(&CONNECTOR_CREATE)
        .creates(&CONNECTOR),
    Route::get("/connectors/{id}", Access::settings_admin(Permission::SettingsRead).live_only(), get)
        .with_name("getConnector", "Get a connector")
        .description("Returns one connector with its statistics in the live data set.")
        .answers(&CONNECTOR_DETAILS),
    Route::patch("/connectors/{id}", PEOPLE_ADMIN, update)
        .with_name("updateConnector", "Change the settings of a connector")
        .description("Changes the brake and the mappings of custom fields. Read-only statistics are ignored.")
        .takes(&CONNECTOR_UPDATE)
        .answers(&CONNECTOR),
    Route::post("/connectors/{id}/resume", PEOPLE_ADMIN, resume)
        .with_name("resumeConnector", "Resume a paused connector")
        .description(
            "Accepts changes from the identity provider again and restarts the hour of the brake. 409 if the \
             connector is not paused.",
        )
        .answers(&CONNECTOR),
    Route::get("/connectors/{id}/sync-issues", PEOPLE_READER, list_issues)
        .with_name("listSyncIssues", "List the issues of a connector")
        .description("Lists the parts of syncs that were not applied, the newest first.")
        .lists(&SYNC_ISSUE, |input| drop(connector::IssueFilter::read(ConnectorId::from_bytes([0; 16]), input))),
    Route::post("/connectors/{id}/sync-issues/{issue_id}/resolve", PEOPLE_ADMIN, resolve_issue)
        .with_name("resolveSyncIssue", "Resolve an issue of a connector")
        .description("Marks an issue as resolved. A later request with the same problem opens a new one.")
        .answers(&SYNC_ISSUE),
    Route::get("/connectors/{id}/requests", PEOPLE_READER, list_requests)
        .with_name("listScimRequests", "List the newest SCIM requests of a connector")
        .description("Lists the newest 500 requests of the identity provider, without their bodies.")
        .lists(&SCIM_REQUEST, |input| drop(ScimRequest::read_list(ConnectorId::from_bytes([0; 16]), input))),
    Route::post("/connectors/{id}/release", PEOPLE_ADMIN, release)
        .with_name("releaseEmployees", "Release some or all managed employees")
        .description("Ends the management of people by the HR system. Their values do not change.")
        .may_take(&CONNECTOR_RELEASE)
        .answers(&CONNECTOR_RELEASED),
];

/// The routes of connectors.
pub(crate) const GROUP: RouteGroup = RouteGroup::under_tag("Organization", ROUTES)
    .id(ConnectorKind::PREFIX)
    .second_id("issue_id", SyncIssueKind::PREFIX)
    .words(words)
    .events(&[EventFamily {
        carried: EventData::Connector,
        name: "ConnectorEvent",
        data: &CONNECTOR,
        about: "An event about a connector.",
    }]);

handlers! {
    list => hr::list(params);
    get => hr::get(id);
    create => hr::create(body);
    update => hr::update(id, body);
    resume => hr::resume(id);
    list_issues => hr::list_issues(id, params);
    resolve_issue => hr::resolve_issue(id, second_id);
    list_requests => hr::list_requests(id, params);
    release => hr::release(id, body);
}

const CONNECTOR: Schema =
    Schema::resource("Connector", || resource::<Connector, _>(connector::Draft::read, vec![])).example(example);
const CONNECTOR_DETAILS: Schema =
    Schema::resource("ConnectorDetails", || resource::<ConnectorDetails, _>(connector::Draft::read, vec![]))
        .example(example_of_details)
        .outcome("The connector resource with its statistics.");
const CONNECTOR_UPDATE: Schema =
    Schema::new("ConnectorUpdate", || body_of::<Connector, _>(connector::Patch::read))
        .example(|| json!({"brake": {"percent": 30}, "custom_field_mappings": {"badge": ENTERPRISE_NUMBER}}));
const SYNC_ISSUE: Schema = Schema::new("SyncIssue", response_of::<SyncIssue>).example(example_of_issue);
const SCIM_REQUEST: Schema = Schema::new("ScimRequest", response_of::<ScimRequest>).example(example_of_request);
const CONNECTOR_RELEASED: Schema = Schema::new("ConnectorReleased", response_of::<Released>)
    .example(|| json!({"released": 12}))
    .outcome("Number of released people.");
const CONNECTOR_CREATE: Schema =
    Schema::new("ConnectorCreate", || body_of::<Connector, _>(connector::Draft::read))
        .example(|| json!({"type": "csv_feed", "hris_source": "acme-hr", "mapped_custom_field_keys": ["grade"]}));
const CONNECTOR_RELEASE: Schema = Schema::new("ConnectorRelease", || body(connector::read_release))
    .example(|| json!({"employee_ids": [EMPLOYEE_ID]}));

fn words() -> Vec<Member> {
    vec![
        enum_member::<ConnectorType>("Transfer method of records from an HR system."),
        enum_member::<connector::Status>("Status of a connector."),
        enum_member::<connector::SyncStatus>("Result of an upload."),
        enum_member::<connector::IssueKind>("Kind of an issue of a connector."),
        enum_member::<connector::Resolved>("Issues that a list shows."),
        sort::<Connector>(),
        sort::<SyncIssue>(),
        sort::<ScimRequest>(),
    ]
}

fn example() -> Value {
    json!({"id": "con_01KJPWD6M24DF9HWRAYHFSFV52", "type": "csv_feed", "hris_source": "acme-hr",
           "status": "active", "mapped_custom_field_keys": ["grade"],
           "brake": {"percent": 20, "at_least": 20}, "custom_field_mappings": {}, "paused_at": null, "last_sync_at": AT,
           "last_sync_status": "partial",
           "last_sync_message": "1 of 12 rows had errors, the first in row 7: email: must be an address",
           "created_at": AT, "updated_at": AT})
}

/// Attribute in the examples of mappings.
const ENTERPRISE_NUMBER: &str = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:employeeNumber";
const ISSUE_ID: &str = "iss_01KJPWD6M24DF9HWRAYHFSFV53";
const REQUEST_ID: &str = "req_01KJPWD6M24DF9HWRAYHFSFV54";

fn example_of_details() -> Value {
    let figures = [
        ("last_request_at", json!(AT)),
        ("last_change_at", json!(AT)),
        ("people", json!(120)),
        ("open_issues", json!(1)),
        ("user_agent", json!("Okta SCIM Client 1.0.0")),
    ];
    figures.into_iter().fold(example(), |example, (name, value)| with(example, name, value))
}

fn example_of_issue() -> Value {
    json!({"id": ISSUE_ID, "connector_id": "con_01KJPWD6M24DF9HWRAYHFSFV52", "kind": "manager_pending",
           "user_name": "ada@example.com", "external_id": "00u1", "employee_id": EMPLOYEE_ID,
           "message": "No person matches the manager 00u2. It is set when that person arrives.", "count": 3,
           "first_occurred_at": AT, "occurred_at": AT, "resolved_at": null})
}

fn example_of_request() -> Value {
    json!({"request_id": REQUEST_ID, "occurred_at": AT, "method": "PATCH", "path": "/scim/v2/Users/emp_1",
           "status": 200, "scim_type": null, "duration_ms": 12, "user_agent": "Okta SCIM Client 1.0.0"})
}
