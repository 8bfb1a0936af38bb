//! Event feed and audit log (decisions F9, G).

use candor_domain::access::{Access, Permission};
use candor_domain::audit::{self, ActorKind, AuditEntry, HistoryEntry};
use candor_domain::event::{EventType, FeedRequest};
use candor_domain::fields::StringEnum;
use candor_domain::id::{EventKind, Kind};
use candor_domain::schema::PublicEventId;
use candor_domain::time::Timestamp;
use candor_service::usecases::{audit_log as log, events};
use serde_json::{Value, json};

use crate::contract::route::{Query, Route, RouteGroup, handlers};
use crate::contract::schema::shapes::{Member, field, page, plain, reference_to};
use crate::contract::schema::words::{enum_member, sort};
use crate::contract::schema::{AT, KEY_ID, Schema, response_of};

const ROUTES: &[Route] = &[
    Route::get("/events", Access::scope(Permission::EventsRead).full_sight(), feed)
        .with_name("listEvents", "List the events of the last 30 days in commit order")
        .description(
            "Lists events in commit order, without gaps. `next_cursor` is also present at the end of the feed: \
             poll again with it.",
        )
        .with(Query::list(|input| drop(FeedRequest::read(input, Timestamp::from_millis(0)))))
        .answers(&EVENT_FEED),
    Route::get("/events/{id}", Access::scope(Permission::EventsRead).full_sight(), get)
        .with_name("getEvent", "Get one event of the last 30 days")
        .description("Returns one event, in the form of a full delivery to a webhook.")
        .answers(&EVENT),
    Route::get("/audit-log", Access::data_admin(Permission::AuditRead).full_sight(), audit_log)
        .with_name("listAuditLog", "List audit entries")
        .description("Lists audit entries, newest first.")
        .lists(&AUDIT_ENTRY, |input| drop(audit::Filter::read(input))),
];

/// The routes of the feed and the audit log.
pub(crate) const GROUP: RouteGroup =
    RouteGroup::new("History", "Event feed and audit log.", ROUTES).id(EventKind::PREFIX).words(words);

handlers! {
    feed => events::feed(params);
    get => events::get(id);
    audit_log => log::list(params);
}

/// Schema of any event. The document composes it as the union of all groups' events.
pub(crate) const EVENT: Schema =
    Schema::union_of_groups("Event").outcome("The event, in the form of a full delivery.");
const EVENT_FEED: Schema = Schema::new("EventFeed", feed_page).outcome("A page of the events after the cursor.");
const AUDIT_ENTRY: Schema = Schema::new("AuditEntry", response_of::<AuditEntry>).example(example_of_audit_entry);
/// Schema of an audit log entry in the history of a resource.
pub(crate) const HISTORY_ENTRY: Schema =
    Schema::new("HistoryEntry", response_of::<HistoryEntry>).example(example_of_history_entry);

/// Example id of an event.
pub(crate) const EVENT_ID: &str = "evt_01KJPWD6M2D4QPFJQ4CNK9WK64";

fn words() -> Vec<Member> {
    vec![event_types(), enum_member::<ActorKind>("Kind of an actor."), sort::<AuditEntry>()]
}

/// Returns the enumeration of event types. `x-live` lists the types that the service emits: all of them.
fn event_types() -> Member {
    let (name, mut schema) = enum_member::<EventType>("Event types. New versions add types: ignore unknown ones.");
    schema["x-live"] = json!(EventType::words());
    (name, schema)
}

/// Returns the schema of an event's id or a test's id.
pub(crate) fn event_id() -> Value {
    response_of::<PublicEventId>()
}

/// Returns the schema of a page of the feed.
fn feed_page() -> Value {
    let cursor_field = field(
        "next_cursor",
        plain(),
        "Cursor of the next page. It is also present at the end of the feed: poll again with it.",
    );
    page(&reference_to("Event"), cursor_field.1)
}

fn example_of_audit_entry() -> Value {
    json!({
        "id": "aud_01KJPWD6M2KWBHK8Y5J227CEGJ", "occurred_at": AT, "action": "observation.update",
        "actor": {"type": "api_key", "id": KEY_ID, "name": "HR sync"},
        "target": {"type": "observation", "id": "obs_01KJPWD6M24DF9HWRAYHFSFV52"},
        "changes": {"impact": {"from": null, "to": "The customer stayed."}}, "comment": null,
        "request_id": "req_01KJPWD6M2FHD2CCT6MTEX2H16", "context": {"ip": "192.0.2.1", "user_agent": null},
    })
}

/// Returns an example history entry; histories omit the client's address.
fn example_of_history_entry() -> Value {
    let mut value = example_of_audit_entry();
    if let Some(members) = value.as_object_mut() {
        members.remove("context");
    }
    value
}
