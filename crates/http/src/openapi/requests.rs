//! The schemas of what requests carry, as the domain reads them.

use candor_domain::access::api_key;
use candor_domain::assignment::{self, SubmissionDraft};
use candor_domain::conversation::{self, message};
use candor_domain::fields::Fields;
use candor_domain::id::Id;
use candor_domain::library::{attribute, department};
use candor_domain::notification;
use candor_domain::objective::{self, Action, Family, Verb};
use candor_domain::observation;
use candor_domain::organization;
use candor_domain::people::{self, Rehire, connector, invitation};
use candor_domain::rule::{Described, Shape};
use candor_domain::summary;
use candor_domain::time::Timestamp;
use candor_domain::webhook::{self, ReplayOrder};
use serde_json::{Value, json};

use super::shapes::{Member, about, array, date, datetime, flag, named, nullable, request, set, text};

/// No rule that is shown depends on the time.
const NOW: Timestamp = Timestamp::from_millis(0);

/// What a rule takes.
fn schema(shape: &Shape) -> Value {
    match shape {
        Shape::Text { min, max } => text(*min, *max),
        Shape::Email(max) => json!({"type": "string", "format": "email", "maxLength": max}),
        Shape::Url(max) => json!({"type": "string", "format": "uri", "maxLength": max}),
        Shape::Slug { max, except } => json!({
            "type": "string", "minLength": 1, "maxLength": max,
            "pattern": "^[a-z0-9]([a-z0-9_-]*[a-z0-9])?$", "not": {"const": except},
        }),
        Shape::Word(name) => named(name),
        Shape::Flag => flag(),
        Shape::Whole { min, max } => json!({"type": "integer", "minimum": min, "maximum": max}),
        Shape::Date => date(),
        Shape::Datetime | Shape::Recent(_) => datetime(),
        Shape::Reference { prefix, what } => about(
            json!({"type": "string"}),
            &format!("The id of {what}, `{prefix}_…`; 422 if there is none in the organization."),
        ),
        Shape::List { of, min, max, is_set: true } => set(&schema(of), *min, *max),
        Shape::List { of, min, max, is_set: false } => {
            let mut list = array(&schema(of));
            (list["minItems"], list["maxItems"]) = (json!(min), json!(max));
            list
        }
        Shape::Object(members) => object(members),
        Shape::Map { max, key_chars, value_chars } => {
            let mut value = text(0, *value_chars);
            value["type"] = json!(["string", "number", "boolean", "null"]);
            json!({
                "type": "object",
                "maxProperties": max,
                "propertyNames": text(1, *key_chars),
                "additionalProperties": value,
            })
        }
    }
}

/// The sentence about a field, with its bounds.
fn sentence(shape: &Shape, what: &str) -> String {
    let filled = |max: &dyn std::fmt::Display| what.replace("{max}", &max.to_string());
    match shape {
        Shape::Text { max, .. } if what.contains("{max}") => filled(max),
        Shape::Text { min: 0, max } => format!("{what} At most {max} characters."),
        Shape::Text { min, max } => format!("{what} {min} to {max} characters."),
        Shape::Email(max) | Shape::Url(max) | Shape::Slug { max, .. } | Shape::List { max, .. } => filled(max),
        Shape::Whole { max, .. } | Shape::Recent(max) => filled(max),
        Shape::Map { max, key_chars, value_chars } => format!(
            "A flat map of at most {max} keys of up to {key_chars} characters; a value is a text of up to {value_chars} \
             characters, a number or a boolean. {what}"
        ),
        Shape::Word(_) | Shape::Flag | Shape::Date | Shape::Datetime | Shape::Reference { .. } | Shape::Object(_) => {
            what.to_owned()
        }
    }
}

/// A member of a body. What is meant when it is left out is said in words: a `default` makes clients think that the
/// member is always there.
fn member(it: &Described) -> Member {
    let schema = schema(&it.shape);
    let schema = if it.is_nullable { nullable(schema) } else { schema };
    if it.about.is_empty() {
        return (it.name, schema);
    }
    let mut said = sentence(&it.shape, it.about);
    if let Some(default) = &it.default {
        said = format!("{said} `{default}` unless given.");
    }
    (it.name, about(schema, &said))
}

/// The schema of a body that is read like this.
fn body<T>(read: impl FnOnce(&mut Fields) -> T) -> Value {
    object(&Fields::described(read))
}

fn object(members: &[Described]) -> Value {
    let (required, optional): (Vec<_>, Vec<_>) = members.iter().partition(|it| it.is_required);
    request(required.into_iter().map(member).collect(), optional.into_iter().map(member).collect())
}

fn objective_create(family: Family) -> Value {
    body(|it| objective::Draft::read(it, family))
}

fn action(verb: Verb) -> Value {
    body(|it| Action::read(it, verb))
}

/// Every schema of a request, by name.
pub(super) fn schemas() -> Vec<Member> {
    vec![
        ("ObservationCreate", body(|it| observation::Draft::read(it, NOW.date()))),
        ("ObservationUpdate", body(observation::Patch::read)),
        ("EmployeeObjectiveCreate", objective_create(Family::Employees)),
        ("ManagerObjectiveCreate", objective_create(Family::Managers)),
        ("ObjectiveUpdate", body(objective::Patch::read)),
        ("ObjectiveApprove", action(Verb::Approve)),
        ("ObjectiveReject", action(Verb::Reject)),
        ("ObjectiveComplete", action(Verb::Complete)),
        ("ObjectiveMiss", action(Verb::Miss)),
        ("AssignmentCreate", body(assignment::Draft::read)),
        ("SubmissionCreate", body(|it| SubmissionDraft::read(it, Id::from_bytes([0; 16]), NOW.date()))),
        ("ConversationCreate", body(conversation::Draft::read)),
        ("ConversationUpdate", body(conversation::Patch::read)),
        ("MessageCreate", body(message::Draft::read)),
        ("SummaryCreate", body(summary::Draft::read)),
        ("SummaryUpdate", body(summary::Patch::read)),
        ("SummaryReturn", body(|it| summary::Action::read(it, summary::ActionKind::Return))),
        ("SummaryFeedback", body(|it| summary::Action::read(it, summary::ActionKind::Feedback))),
        ("NotificationsReadAll", body(notification::read_read_all)),
        ("EmployeeCreate", body(people::Draft::read)),
        ("EmployeeUpdate", body(people::Patch::read)),
        ("EmployeeRehire", body(Rehire::read)),
        ("DepartmentCreate", body(department::read_new)),
        ("DepartmentUpdate", body(department::read_patch)),
        ("AttributeCreate", body(attribute::Draft::read)),
        ("AttributeUpdate", body(attribute::Patch::read)),
        ("OrganizationUpdate", body(organization::Patch::read)),
        ("ApiKeyCreate", body(|it| api_key::Draft::read(it, NOW))),
        ("ApiKeyUpdate", body(|it| api_key::Patch::read(it, None, NOW))),
        ("ApiKeyRotate", body(api_key::read_rotation)),
        ("ConnectorCreate", body(connector::Draft::read)),
        ("ConnectorRelease", body(connector::read_release)),
        ("InvitationAccept", body(invitation::read_acceptance)),
        ("WebhookCreate", body(webhook::Draft::read)),
        ("WebhookUpdate", body(webhook::Patch::read)),
        ("WebhookReplay", body(|it| ReplayOrder::read(it, NOW))),
    ]
}
