//! Connectors to HR systems (decisions G).

use candor_domain::access::Permission;
use candor_domain::fields::Word;
use candor_domain::id::{ConnectorKind, Kind};
use candor_domain::people::{Connector, connector};
use candor_service::Shell;
use candor_service::usecases::connectors as hr;
use serde_json::{Value, json};

use crate::exchange::AuthenticatedRequest;
use crate::schema::shapes::{Member, answer, array, count, datetime, field, id, nullable, plain, times};
use crate::schema::words::{of, open, sort};
use crate::schema::{AT, EMPLOYEE_ID, Schema, body};
use crate::table::Access::AdminKey;
use crate::table::{Route, RouteGroup, Work};

const ROUTES: &[Route] = &[
    Route::get("/connectors", AdminKey(Permission::SettingsRead), list)
        .named("listConnectors", "List connectors to HR systems")
        .about("Lists the connections to HR systems.")
        .lists(&CONNECTOR, |it| drop(it.changed::<Connector>("")))
        .live_only(),
    Route::post("/connectors", AdminKey(Permission::SettingsWrite), create)
        .named("createConnector", "Connect an HR system")
        .about("Connects an HR system, which then owns the records of people whom it brings.")
        .takes(&CONNECTOR_CREATE)
        .creates(&CONNECTOR)
        .live_only(),
    Route::get("/connectors/{id}", AdminKey(Permission::SettingsRead), get)
        .named("getConnector", "Get a connector")
        .about("Answers one connection to an HR system.")
        .answers(&CONNECTOR)
        .live_only(),
    Route::post("/connectors/{id}/release", AdminKey(Permission::SettingsWrite), release)
        .named("releaseEmployees", "Give the records of some, or all, managed employees back")
        .about("Gives the records of people whom an HR system owns back, with the values that they have.")
        .may_take(&CONNECTOR_RELEASE)
        .answers(&CONNECTOR_RELEASED)
        .live_only(),
];

/// The routes of connectors.
pub(crate) const GROUP: RouteGroup = RouteGroup::within("Organization", ROUTES).id(ConnectorKind::PREFIX).words(words);

fn list<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { hr::list(shell, &it.call, it.params).await })
}

fn get<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { hr::get(shell, &it.call, it.id()?).await })
}

fn create<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { hr::create(shell, &it.call, it.body).await })
}

fn release<'a>(shell: &'a Shell, it: AuthenticatedRequest<'a>) -> Work<'a> {
    Box::pin(async move { hr::release(shell, &it.call, it.id()?, it.body).await })
}

const CONNECTOR: Schema = Schema::resource("Connector", connector).example(example);
const CONNECTOR_RELEASED: Schema = Schema::new("ConnectorReleased", released)
    .example(|| json!({"released": 12}))
    .outcome("How many people were given back.");
const CONNECTOR_CREATE: Schema = Schema::new("ConnectorCreate", || body(connector::Draft::read))
    .example(|| json!({"type": "csv_feed", "hris_source": "acme-hr", "mapped_custom_field_keys": ["grade"]}));
const CONNECTOR_RELEASE: Schema = Schema::new("ConnectorRelease", || body(connector::read_release))
    .example(|| json!({"employee_ids": [EMPLOYEE_ID]}));

fn words() -> Vec<Member> {
    vec![
        of::<connector::Type>("How records arrive from an HR system."),
        of::<connector::Status>("How a connector does, by what became of what was sent last."),
        of::<connector::SyncStatus>("How much of what was sent was applied."),
        sort::<Connector>(),
    ]
}

fn connector() -> Value {
    let keys = format!("The custom keys of people that the HR system owns, at most {}.", connector::MAX_MAPPED_KEYS);
    let mut members = vec![
        field("id", id::<ConnectorKind>(), "The connector's id."),
        field("type", open(connector::Type::NAME), "How records arrive."),
        field("hris_source", plain(), "The name of the HR system, which the people that it owns show."),
        field("status", open(connector::Status::NAME), "How it does, by what became of what was sent last."),
        field("mapped_custom_field_keys", array(&plain()), &keys),
        field("last_sync_at", nullable(datetime()), "When something was sent last; null if nothing was yet."),
        field("last_sync_status", nullable(open(connector::SyncStatus::NAME)), "How much of that was applied."),
        field("last_sync_message", nullable(plain()), "Why not all of it was; null if it was."),
    ];
    members.extend(times());
    answer(members, vec![])
}

fn released() -> Value {
    answer(vec![field("released", count(0), "How many people the HR system owned and no longer does.")], vec![])
}

fn example() -> Value {
    json!({"id": "con_01KJPWD6M24DF9HWRAYHFSFV52", "type": "csv_feed", "hris_source": "acme-hr",
           "status": "active", "mapped_custom_field_keys": ["grade"], "last_sync_at": AT,
           "last_sync_status": "partial",
           "last_sync_message": "1 of 12 rows had errors, the first in row 7: email: must be an address",
           "created_at": AT, "updated_at": AT})
}
