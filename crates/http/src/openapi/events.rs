//! Events in feeds and deliveries: one schema per resource, and the union of all.

use candor_domain::event::{API_VERSION, EventType};
use candor_domain::fields::StringEnum;
use candor_domain::id::OrganizationKind;
use candor_subscriptions::PayloadForm;
use serde_json::{Map, Value, json};

use crate::contract::route::EventFamily;
use crate::contract::schema::shapes::{Member, datetime, describe, field, id, plain, reference_to, response};
use crate::contract::schema::words::open;
use crate::contract::schema::{AT, ORGANIZATION_ID};
use crate::routes::GROUPS;
use crate::routes::events::{EVENT, EVENT_ID, event_id};
use crate::routes::observations;

/// Name of the schema for events without a described payload.
const OTHER: &str = "OtherEvent";
/// Name of the schema for events about an erased person.
const ERASED: &str = "ErasedEvent";
/// Name of the schema for the deliveries of a subscription with thin payloads.
pub(super) const THIN: &str = "ThinEvent";

/// Returns the family that describes the data of this event. `None` leaves the event to the schema [`OTHER`].
fn family(event: EventType) -> Option<&'static EventFamily> {
    GROUPS.iter().flat_map(|group| group.events).find(|family| family.carried == event.data())
}

/// Returns the families in catalogue order, each once, with the names of their event types.
fn families() -> Vec<(&'static EventFamily, Vec<&'static str>)> {
    let mut families: Vec<(&EventFamily, Vec<&str>)> = Vec::new();
    for event in EventType::ALL {
        let Some(family) = family(*event) else { continue };
        match families.iter_mut().find(|(candidate, _)| candidate.name == family.name) {
            Some((_, words)) => words.push(event.word()),
            None => families.push((family, vec![event.word()])),
        }
    }
    families
}

/// Returns the name of the enumeration of a family's event types.
fn types_name(family: &EventFamily) -> String {
    format!("{}Type", family.name)
}

/// Builds the schema of an event with this type and data.
fn event_of(kind: Value, data: Value, description: &str) -> Value {
    let about = "The resource after the change, as GET returns it without `expand`. For a test, a message.";
    let members = head(kind).into_iter().chain([field("data", data, about)]).collect();
    describe(response(members, vec![]), description)
}

/// Returns the members of an event before the member `data`.
fn head(kind: Value) -> Vec<Member> {
    vec![
        field(
            "id",
            event_id(),
            "Id of the event. It is the same in the feed and in every delivery attempt. Process each id once.",
        ),
        field("event", kind, "Type of the event."),
        field("created_at", datetime(), "Time of the event, not of its delivery."),
        field("api_version", plain(), &format!("Version of the payload, currently `{API_VERSION}`.")),
        field("organization_id", id::<OrganizationKind>(), "Organization in which the event occurred."),
    ]
}

/// Builds the schema of a thin event, which only deliveries have.
fn thin_event() -> Value {
    let data = vec![
        field("id", plain(), "Id of the resource."),
        field("type", plain(), "Type of the resource, such as `observation`. New versions add types."),
        field(
            "url",
            plain(),
            "URL of the resource. GET it with an API key. A 404 means that the resource is gone.",
        ),
    ];
    let data = response(data, vec![]);
    let ends = [
        field("data", data, "Reference to the resource."),
        field("payload", open(PayloadForm::NAME), "Always `thin`. A full event does not have this member."),
    ];
    let members = head(open(EventType::NAME)).into_iter().chain(ends).collect();
    let description = "An event in the body of a delivery to a subscription whose `payload` is `thin`. A test is \
                       delivered as a full event.";
    let mut schema = describe(response(members, vec![]), description);
    schema["examples"] = json!([thin_example()]);
    schema
}

/// Builds the schema of an event about an erased person, of any type.
fn erased_schema() -> Value {
    let is_erased = json!({"type": "boolean"});
    let data = vec![
        field("id", plain(), "Id of the resource."),
        field("erased", is_erased, "Always `true`. The other members were removed."),
    ];
    let members =
        head(plain()).into_iter().chain([field("data", response(data, vec![]), "The id of the resource.")]);
    let description = "An event whose data was removed, because the person that it was about was erased.";
    describe(response(members.collect(), vec![]), description)
}

/// Returns the event schemas of all families and their union.
///
/// The schema for undescribed types excludes the described types, so that a value matches exactly one schema.
pub(super) fn schemas() -> Vec<(String, Value)> {
    let families = families();
    let mut schemas = Vec::new();
    for (family, words) in &families {
        schemas.extend(family.data.with_referenced_schemas());
        let types = json!({"type": "string", "enum": words, "description": "Event types that have this data."});
        schemas.push((types_name(family), types));
        let mut schema = event_of(reference_to(&types_name(family)), reference_to(family.data.name), family.about);
        if *family.data == observations::OBSERVATION {
            schema["examples"] = json!([example()]);
        }
        schemas.push((family.name.to_owned(), schema));
    }
    let family_types: Vec<_> = families.iter().map(|(family, _)| reference_to(&types_name(family))).collect();
    let kind = json!({"type": "string", "not": {"anyOf": family_types}});
    let data = json!({"type": "object", "additionalProperties": true});
    let description = "An event of a type that this version does not describe. New versions add types: ignore \
                       unknown ones.";
    schemas.push((OTHER.to_owned(), event_of(kind, data, description)));
    schemas.push((ERASED.to_owned(), erased_schema()));
    schemas.push((EVENT.name.to_owned(), union_of_all()));
    schemas.push((THIN.to_owned(), thin_event()));
    schemas
}

/// Returns the union of all events, discriminated by `event`.
fn union_of_all() -> Value {
    let families = families();
    let names = families.iter().map(|(family, _)| family.name).chain([ERASED, OTHER]);
    let mut mapping = Map::new();
    for (family, words) in &families {
        let schema = format!("#/components/schemas/{}", family.name);
        mapping.extend(words.iter().map(|word| ((*word).to_owned(), json!(schema))));
    }
    json!({
        "description": "An event, as in the feed and in the body of a webhook delivery.",
        "oneOf": names.map(reference_to).collect::<Vec<_>>(),
        "discriminator": {"propertyName": "event", "mapping": mapping},
    })
}

/// Returns an example event.
fn example() -> Value {
    json!({"id": EVENT_ID, "event": "observation.created", "created_at": AT, "api_version": "v1",
           "organization_id": ORGANIZATION_ID, "data": observations::example()})
}

/// Returns the thin form of the example.
fn thin_example() -> Value {
    let (mut event, observation) = (example(), observations::example());
    let url =
        format!("https://feedback.example.com/v1/observations/{}", observation["id"].as_str().unwrap_or_default());
    event["data"] = json!({"id": observation["id"], "type": "observation", "url": url});
    event["payload"] = json!("thin");
    event
}

#[cfg(test)]
mod tests {
    use candor_domain::event::EventData;

    use super::*;

    #[test]
    fn each_kind_of_data_has_one_family() {
        let families: Vec<_> = GROUPS.iter().flat_map(|group| group.events).collect();
        for data in EventData::ALL {
            assert_eq!(families.iter().filter(|family| family.carried == *data).count(), 1, "{data:?}");
        }
    }
}
