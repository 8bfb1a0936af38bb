//! Connectors to HR systems (decisions G).

use candor_domain::access::{Access, Permission};
use candor_domain::id::{ConnectorKind, Kind};
use candor_domain::people::{Connector, connector};
use candor_service::Services;
use candor_service::usecases::connectors as hr;
use candor_service::usecases::connectors::Released;
use serde_json::{Value, json};

use crate::request::AuthenticatedRequest;
use crate::route::{EventFamily, Route, RouteGroup, Work};
use crate::schema::shapes::Member;
use crate::schema::words::{enum_member, sort};
use crate::schema::{AT, EMPLOYEE_ID, Schema, answer_of, body, body_of, resource};

const ROUTES: &[Route] = &[
    Route::get("/connectors", Access::settings_admin(Permission::SettingsRead).live_only(), list)
        .named("listConnectors", "List connectors to HR systems")
        .description("Lists the connectors to HR systems.")
        .lists(&CONNECTOR, |input| drop(input.changed::<Connector>(""))),
    Route::post("/connectors", Access::settings_admin(Permission::SettingsWrite).live_only(), create)
        .named("createConnector", "Create a connector to an HR system")
        .description("Creates a connector to an HR system. The HR system then manages the people that it uploads.")
        .takes(&CONNECTOR_CREATE)
        .creates(&CONNECTOR),
    Route::get("/connectors/{id}", Access::settings_admin(Permission::SettingsRead).live_only(), get)
        .named("getConnector", "Get a connector")
        .description("Returns one connector.")
        .answers(&CONNECTOR),
    Route::post(
        "/connectors/{id}/release",
        Access::settings_admin(Permission::SettingsWrite).live_only(),
        release,
    )
    .named("releaseEmployees", "Release some or all managed employees")
    .description("Ends the management of people by the HR system. Their values stay as they are.")
    .may_take(&CONNECTOR_RELEASE)
    .answers(&CONNECTOR_RELEASED),
];

/// The routes of connectors.
pub(crate) const GROUP: RouteGroup =
    RouteGroup::within("Organization", ROUTES).id(ConnectorKind::PREFIX).words(words).events(&[EventFamily {
        prefix: "connector.",
        name: "ConnectorEvent",
        types: "ConnectorEventType",
        data: &CONNECTOR,
        about: "An event about a connector.",
    }]);

fn list<'a>(services: &'a Services, request: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { hr::list(services, &request.context, request.params).await })
}

fn get<'a>(services: &'a Services, request: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { hr::get(services, &request.context, request.id()?).await })
}

fn create<'a>(services: &'a Services, request: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { hr::create(services, &request.context, request.body).await })
}

fn release<'a>(services: &'a Services, request: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { hr::release(services, &request.context, request.id()?, request.body).await })
}

const CONNECTOR: Schema =
    Schema::resource("Connector", || resource::<Connector, _>(connector::Draft::read, vec![])).example(example);
const CONNECTOR_RELEASED: Schema = Schema::new("ConnectorReleased", answer_of::<Released>)
    .example(|| json!({"released": 12}))
    .outcome("Number of released people.");
const CONNECTOR_CREATE: Schema =
    Schema::new("ConnectorCreate", || body_of::<Connector, _>(connector::Draft::read))
        .example(|| json!({"type": "csv_feed", "hris_source": "acme-hr", "mapped_custom_field_keys": ["grade"]}));
const CONNECTOR_RELEASE: Schema = Schema::new("ConnectorRelease", || body(connector::read_release))
    .example(|| json!({"employee_ids": [EMPLOYEE_ID]}));

fn words() -> Vec<Member> {
    vec![
        enum_member::<connector::Type>("Transfer method of records from an HR system."),
        enum_member::<connector::Status>("Status of a connector, derived from the last upload."),
        enum_member::<connector::SyncStatus>("Result of an upload."),
        sort::<Connector>(),
    ]
}

fn example() -> Value {
    json!({"id": "con_01KJPWD6M24DF9HWRAYHFSFV52", "type": "csv_feed", "hris_source": "acme-hr",
           "status": "active", "mapped_custom_field_keys": ["grade"], "last_sync_at": AT,
           "last_sync_status": "partial",
           "last_sync_message": "1 of 12 rows had errors, the first in row 7: email: must be an address",
           "created_at": AT, "updated_at": AT})
}
