//! The organization, its keys and its notifications, as they are answered.

use candor_domain::access::{AccessLevel, Environment, QuotaClass, api_key};
use candor_domain::fields::Word;
use candor_domain::id::{EmployeeKind, KeyKind, NotificationKind, OrganizationKind};
use candor_domain::notification;
use candor_domain::organization::{self, Review};
use serde_json::{Value, json};

use super::super::shapes::{Member, answer, array, count, datetime, field, id, nullable, plain};
use super::super::vocabulary::{SCOPES, open, words};
use super::times;

pub(super) fn organization() -> Value {
    let name = format!("The organization's name, 1 to {} characters.", organization::NAME_CHARS);
    let mut members = vec![
        field("id", id::<OrganizationKind>(), "The organization's id."),
        field("name", plain(), &name),
        field("objective_review", open(Review::NAME), "Whether objectives are reviewed before they are approved."),
        field("summary_review", open(Review::NAME), "Whether summaries are reviewed before they are approved."),
    ];
    members.extend(times());
    answer(members, vec![])
}

/// What a key and `/me` say alike.
fn powers() -> [Member; 4] {
    [
        field("environment", open(Environment::NAME), "The data set that the key works on."),
        field("access_level", open(AccessLevel::NAME), "Whether it may do what administrators do."),
        field("scopes", array(&open(SCOPES)), "What it may do."),
        field(
            "employee_id",
            nullable(id::<EmployeeKind>()),
            "The person whom it acts for, and whose sight it has; null for a key of the organization.",
        ),
    ]
}

fn expires_at() -> Member {
    field("expires_at", nullable(datetime()), "When the key ends; null where it does not.")
}

pub(super) fn api_key(with_secret: bool) -> Value {
    let quota = |what: &str| format!("How many {what} in any 60 seconds were arranged; null for the default.");
    let name = format!("What people call it, 1 to {} characters.", api_key::NAME_CHARS);
    let mut members =
        vec![field("id", id::<KeyKind>(), "The key's id; not its secret."), field("name", plain(), &name)];
    members.extend(powers());
    members.extend([
        field("last4", plain(), "The last four characters of its secret, by which people tell keys apart."),
        field("reads_per_minute", nullable(count(0)), &quota("reads")),
        field("writes_per_minute", nullable(count(0)), &quota("writes")),
    ]);
    members.extend(times());
    members.extend([
        expires_at(),
        field("last_used_at", nullable(datetime()), "When it was last used, to the minute; null if it never was."),
        field("revoked_at", nullable(datetime()), "When it was revoked; null while it is good."),
    ]);
    if with_secret {
        members.push(field("key", plain(), "The secret. It is shown this once and cannot be retrieved later."));
    }
    answer(members, vec![])
}

pub(super) fn me() -> Value {
    let quota = answer(
        vec![
            field("limit", count(0), "Requests that are allowed within the window."),
            field("window_seconds", count(1), "The length of the sliding window in seconds."),
        ],
        vec![],
    );
    let about = |class: &str| format!("The quota of requests that count as `{class}`.");
    let quotas = words::<QuotaClass>().into_iter().map(|it| field(it, quota.clone(), &about(it))).collect();
    let mut members = vec![
        field("key_id", id::<KeyKind>(), "The id of the key that this request came with."),
        field("name", plain(), "What people call the key."),
        field("organization_id", id::<OrganizationKind>(), "The organization that the key belongs to."),
    ];
    members.extend(powers());
    members.extend([expires_at(), field("quotas", answer(quotas, vec![]), "How often the key may ask.")]);
    answer(members, vec![])
}

pub(super) fn notification() -> Value {
    let target = vec![
        field("type", plain(), "The kind of resource, for example `objective`."),
        field("id", plain(), "The resource's id."),
    ];
    let members = vec![
        field("id", id::<NotificationKind>(), "The notification's id."),
        field("recipient_id", id::<EmployeeKind>(), "The person who is told."),
        field("type", open(notification::Type::NAME), "What it is about."),
        field("title", plain(), "What happened, in a line for people."),
        field("body", plain(), "More about it, for example a reason; may be empty."),
        field("target", answer(target, vec![]), "The resource that it leads to."),
        field("created_at", datetime(), "When it was sent."),
        field("read_at", nullable(datetime()), "When it was first marked as read; null until then."),
    ];
    answer(members, vec![])
}

pub(super) fn notifications_read() -> Value {
    let members = vec![
        field("recipient_id", id::<EmployeeKind>(), "The person whose notifications were marked."),
        field("read_at", datetime(), "When they were."),
    ];
    answer(members, vec![])
}

/// The document itself, of which only the outermost members are described.
pub(super) fn document() -> Value {
    let object = || json!({"type": "object", "additionalProperties": true});
    let members = vec![
        field("openapi", plain(), "The version of the OpenAPI specification."),
        field("info", object(), "The title, version and description of this API."),
        field("paths", object(), "Every operation, by path and method."),
    ];
    let mut schema = answer(members, vec![]);
    schema["additionalProperties"] = json!(true);
    schema
}
