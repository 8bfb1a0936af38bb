//! Events and audit entries, as they are answered and delivered.

use candor_domain::audit::ActorKind;
use candor_domain::event::{API_VERSION, EventType};
use candor_domain::fields::Word;
use candor_domain::id::{AuditKind, EventKind, KeyKind, Kind, OrganizationKind, RequestKind};
use serde_json::{Map, Value, json};

use super::super::examples;
use super::super::shapes::{Member, about, answer, datetime, field, id, named, nullable, page, plain};
use super::super::vocabulary::open;

/// An example of an event's id.
const EVENT: &str = "evt_01KJPWD6M2D4QPFJQ4CNK9WK64";

/// Events whose data is the same kind of resource.
struct Family {
    /// The schema of these events.
    name: &'static str,
    /// The schema of their types.
    types: &'static str,
    /// The schema of their data.
    data: &'static str,
    about: &'static str,
}

static OBSERVATIONS: Family = Family {
    name: "ObservationEvent",
    types: "ObservationEventType",
    data: "Observation",
    about: "Something happened to an observation.",
};
static OBJECTIVES: Family = Family {
    name: "ObjectiveEvent",
    types: "ObjectiveEventType",
    data: "Objective",
    about: "Something happened to an objective.",
};
static ASSIGNMENTS: Family = Family {
    name: "AssignmentEvent",
    types: "AssignmentEventType",
    data: "Assignment",
    about: "Somebody asked for feedback, or all of it is there.",
};
static MESSAGES: Family = Family {
    name: "MessageEvent",
    types: "MessageEventType",
    data: "Message",
    about: "Somebody wrote in a conversation.",
};
static SUMMARIES: Family = Family {
    name: "SummaryEvent",
    types: "SummaryEventType",
    data: "Summary",
    about: "Something happened to a summary.",
};
static EMPLOYEES: Family = Family {
    name: "EmployeeEvent",
    types: "EmployeeEventType",
    data: "Employee",
    about: "Something happened to a person.",
};
static TESTS: Family =
    Family { name: "TestEvent", types: "TestEventType", data: "TestMessage", about: "Somebody tests a receiver." };

/// Events whose data is not described here.
const OTHER: &str = "OtherEvent";

/// What carries the same data as this.
const fn family(event: EventType) -> &'static Family {
    use EventType as E;
    match event {
        E::ObservationCreated | E::ObservationUpdated | E::ObservationArchived | E::ObservationRestored => {
            &OBSERVATIONS
        }
        E::ObjectiveCreated | E::ObjectiveStatusChanged | E::ObjectiveUpdated | E::ObjectiveArchived => &OBJECTIVES,
        E::EmployeeCreated
        | E::EmployeeUpdated
        | E::EmployeeDeactivated
        | E::EmployeeReactivated
        | E::EmployeeRehired => &EMPLOYEES,
        E::AssignmentCreated | E::AssignmentCompleted => &ASSIGNMENTS,
        E::ConversationMessageCreated => &MESSAGES,
        E::TestPing => &TESTS,
        E::SummaryCreated
        | E::SummaryUpdated
        | E::SummarySubmitted
        | E::SummaryApproved
        | E::SummaryShared
        | E::SummaryArchived
        | E::SummaryFeedbackSubmitted => &SUMMARIES,
    }
}

/// The families in the order of the catalogue, each once, with the words of their types.
fn families() -> Vec<(&'static Family, Vec<&'static str>)> {
    let mut families: Vec<(&Family, Vec<&str>)> = Vec::new();
    for event in EventType::ALL {
        let family = family(*event);
        match families.iter_mut().find(|(it, _)| it.name == family.name) {
            Some((_, words)) => words.push(event.word()),
            None => families.push((family, vec![event.word()])),
        }
    }
    families
}

/// The id of an event, or of a test.
pub(in super::super) fn event_id() -> Value {
    let pattern = format!("^{}_(test_)?[0-7][0-9A-HJKMNP-TV-Z]{{25}}$", EventKind::PREFIX);
    json!({"type": "string", "pattern": pattern, "examples": [EVENT]})
}

/// An event with this type and this data.
fn event_of(kind: Value, data: Value, description: &str) -> Value {
    let members = vec![
        field("id", event_id(), "The event's id: the same in the feed and for every attempt. Handle an id once."),
        field("event", kind, "The type of the event."),
        field("created_at", datetime(), "When it happened, not when it was sent."),
        field("api_version", plain(), &format!("The version of the payload, now `{API_VERSION}`.")),
        field("organization_id", id::<OrganizationKind>(), "The organization in which it happened."),
        field("data", data, "The resource after the change, as GET shows it with nothing inlined."),
    ];
    about(answer(members, vec![]), description)
}

/// Every event there is, told apart by `event`.
///
/// The types that are not described exclude those that are, so that a value fits one schema only.
pub(super) fn events() -> Vec<Member> {
    let families = families();
    let mut schemas = vec![
        ("Event", union(&families)),
        ("TestMessage", answer(vec![field("message", plain(), "A sentence that says that this is a test.")], vec![])),
    ];
    for (family, words) in &families {
        let types = json!({"type": "string", "enum": words, "description": "The types of events with this data."});
        schemas.push((family.types, types));
        let mut schema = event_of(named(family.types), named(family.data), family.about);
        if family.name == OBSERVATIONS.name {
            schema["examples"] = json!([examples::event()]);
        }
        schemas.push((family.name, schema));
    }
    let known: Vec<_> = families.iter().map(|(family, _)| named(family.types)).collect();
    let kind = json!({"type": "string", "not": {"anyOf": known}});
    let data = json!({"type": "object", "additionalProperties": true});
    let description = "An event of a type that this version does not describe. Types are added over time: pass over \
                       those you do not know.";
    schemas.push((OTHER, event_of(kind, data, description)));
    schemas
}

fn union(families: &[(&Family, Vec<&str>)]) -> Value {
    let names = families.iter().map(|(family, _)| family.name).chain([OTHER]);
    let mut mapping = Map::new();
    for (family, words) in families {
        let schema = format!("#/components/schemas/{}", family.name);
        mapping.extend(words.iter().map(|it| ((*it).to_owned(), json!(schema))));
    }
    json!({
        "description": "Something that happened: in the feed, and as the body of a delivery.",
        "oneOf": names.map(named).collect::<Vec<_>>(),
        "discriminator": {"propertyName": "event", "mapping": mapping},
    })
}

/// A value before and after.
pub(super) fn change() -> Value {
    let members = vec![
        field("from", json!({}), "The value before, of any type; null where there was none."),
        field("to", json!({}), "The value after, of any type; null where there is none."),
    ];
    about(answer(members, vec![]), "A member that differs.")
}

/// Members that differ, by name.
pub(in super::super) fn changes() -> Value {
    json!({"type": "object", "additionalProperties": named("FieldChange")})
}

pub(super) fn audit_entry() -> Value {
    let key = vec![
        field("id", id::<KeyKind>(), "The key's id."),
        field("name", plain(), "What people called it at that time."),
    ];
    let key = field(
        "api_key",
        answer(key, vec![]),
        "The key of an upload whose actor is the connector that it was made for. Only there.",
    );
    let context = vec![
        field("ip", nullable(plain()), "The address that the request came from, where that is known."),
        field("user_agent", nullable(plain()), "What the client called itself."),
    ];
    let context = field("context", answer(context, vec![key]), "Where the request came from.");
    answer(members().into_iter().chain([context]).collect(), vec![])
}

pub(super) fn history_entry() -> Value {
    answer(members(), vec![])
}

/// What the audit log and a history say of an entry.
fn members() -> Vec<Member> {
    let actor = vec![
        field("type", open(ActorKind::NAME), "What kind of actor it was."),
        field("id", nullable(plain()), "The actor's id; null for the service itself."),
        field("name", plain(), "The actor's name at that time."),
    ];
    let target = vec![
        field("type", plain(), "The kind of resource, for example `observation`."),
        field("id", plain(), "The resource's id."),
    ];
    vec![
        field("id", id::<AuditKind>(), "The entry's id."),
        field("occurred_at", datetime(), "When it was done."),
        field("action", plain(), "What was done, for example `observation.archive`."),
        field("actor", answer(actor, vec![]), "Who did it."),
        field("target", answer(target, vec![]), "What it was done to."),
        field("changes", changes(), "The members that differ, by name; secrets never appear."),
        field("comment", nullable(plain()), "The comment, outcome or reason that came with it."),
        field("request_id", nullable(id::<RequestKind>()), "The request that asked for it; null where none did."),
    ]
}

/// A page of the feed.
pub(super) fn feed() -> Value {
    let on = field("next_cursor", plain(), "Leads on, also at the end, where a poller asks again with it.");
    page(&named("Event"), on.1)
}
