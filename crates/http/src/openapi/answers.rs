//! The schemas of what the service answers: each resource with every member it has.

use candor_domain::access::{AccessLevel, Environment, QuotaClass};
use candor_domain::audit::ActorKind;
use candor_domain::event::EventType;
use candor_domain::id::{
    AttributeKind, AuditKind, ConnectorKind, DepartmentKind, EmployeeKind, EventKind, InvitationKind, KeyKind,
    NotificationKind, ObjectiveKind, ObservationKind, OrganizationKind, RequestKind, SummaryKind,
};
use candor_domain::library::Tone;
use candor_domain::observation::Type;
use candor_domain::organization::Review;
use candor_domain::page::MAX_LIMIT;
use candor_domain::people::{MAX_DIRECT_REPORTS, Role, Status, connector, invitation};
use candor_domain::{notification, objective};
use serde_json::{Value, json};

use super::parameters::words;
use super::requests::scope_words;
use super::shapes::{Member, about, answer, array, date, datetime, flag, id, named, nullable, page, plain, word};
use crate::fault::ErrorCode;

fn times() -> [Member; 2] {
    [("created_at", datetime()), ("updated_at", datetime())]
}

fn archived_at() -> Member {
    ("archived_at", about(nullable(datetime()), "When it was archived; null while in use."))
}

fn observation() -> Value {
    let mut members = vec![
        ("id", id::<ObservationKind>()),
        ("employee_id", about(id::<EmployeeKind>(), "Whom it is about.")),
        ("author_id", about(nullable(id::<EmployeeKind>()), "Who wrote it, if that was said.")),
        ("type", word::<Type>()),
        ("observation", plain()),
        ("impact", nullable(plain())),
        ("recommended_action", nullable(plain())),
        ("attribute_ids", array(&id::<AttributeKind>())),
        ("observation_date", date()),
    ];
    members.extend(times());
    members.push(archived_at());
    let expanded = vec![
        ("employee", about(nullable(named("Employee")), "With `expand=employee`.")),
        ("attributes", about(array(&named("Attribute")), "With `expand=attributes`.")),
    ];
    answer(members, expanded)
}

fn objective() -> Value {
    let mut members = vec![
        ("id", id::<ObjectiveKind>()),
        ("scope", word::<objective::Scope>()),
        ("owner_id", about(id::<EmployeeKind>(), "Who is responsible.")),
        ("title", plain()),
        ("description", nullable(plain())),
        ("status", word::<objective::Status>()),
        ("period_start", date()),
        ("period_end", date()),
        ("linked_summary_ids", about(array(&id::<SummaryKind>()), "The summaries that cite it.")),
    ];
    members.extend(times());
    members.extend([
        ("submitted_at", about(nullable(datetime()), "While it is `proposed`, set means in review.")),
        ("approved_at", about(nullable(datetime()), "When it was first approved or started.")),
        ("completed_at", about(nullable(datetime()), "When it was reached.")),
    ]);
    let expanded = vec![
        ("owner", about(named("Employee"), "With `expand=owner`.")),
        ("linked_summaries", about(array(&json!({"type": "object"})), "With `expand=linked_summaries`.")),
    ];
    answer(members, expanded)
}

fn notification() -> Value {
    let members = vec![
        ("id", id::<NotificationKind>()),
        ("recipient_id", about(id::<EmployeeKind>(), "Who is told.")),
        ("type", word::<notification::Type>()),
        ("title", plain()),
        ("body", about(plain(), "More, for example a reason; may be empty.")),
        ("target", answer(vec![("type", plain()), ("id", plain())], vec![])),
        ("created_at", datetime()),
        ("read_at", about(nullable(datetime()), "Null until it was read.")),
    ];
    answer(members, vec![])
}

fn employee() -> Value {
    let custom = json!({"type": "object", "additionalProperties": {"type": ["string", "number", "boolean"]}});
    let mut members = vec![
        ("id", id::<EmployeeKind>()),
        ("email", plain()),
        ("external_id", nullable(plain())),
        ("first_name", plain()),
        ("last_name", plain()),
        ("role", word::<Role>()),
        ("manager_id", about(nullable(id::<EmployeeKind>()), "Null at the top of a reporting tree.")),
        ("department_id", nullable(id::<DepartmentKind>())),
        ("status", word::<Status>()),
        ("custom_fields", custom),
        ("is_hris_managed", about(flag(), "Whether an HR system owns part of this record.")),
        ("hris_source", about(plain(), "Which HR system that is, or `manual`.")),
    ];
    members.extend(times());
    members.push(("deactivated_at", about(nullable(datetime()), "Null unless deactivated.")));
    let mut reports = about(array(&named("Employee")), "With `expand=direct_reports`; without those who have left.");
    reports["maxItems"] = json!(MAX_DIRECT_REPORTS);
    let expanded = vec![
        ("manager", about(nullable(named("Employee")), "With `expand=manager`.")),
        ("department", about(nullable(named("Department")), "With `expand=department`.")),
        ("direct_reports", reports),
    ];
    answer(members, expanded)
}

fn department() -> Value {
    let mut members = vec![("id", id::<DepartmentKind>()), ("name", plain())];
    members.extend(times());
    members.push(archived_at());
    answer(members, vec![])
}

fn attribute() -> Value {
    let mut members =
        vec![("id", id::<AttributeKind>()), ("name", plain()), ("category", plain()), ("tone", word::<Tone>())];
    members.extend(times());
    members.push(archived_at());
    answer(members, vec![])
}

fn organization() -> Value {
    let mut members = vec![
        ("id", id::<OrganizationKind>()),
        ("name", plain()),
        ("objective_review", word::<Review>()),
        ("summary_review", word::<Review>()),
    ];
    members.extend(times());
    answer(members, vec![])
}

fn api_key(with_secret: bool) -> Value {
    let quota = || json!({"type": ["integer", "null"], "minimum": 0});
    let mut members = vec![
        ("id", id::<KeyKind>()),
        ("name", plain()),
        ("environment", word::<Environment>()),
        ("access_level", word::<AccessLevel>()),
        ("scopes", array(&json!({"type": "string", "enum": scope_words()}))),
        ("employee_id", about(nullable(id::<EmployeeKind>()), "The person it acts for.")),
        ("last4", about(plain(), "The last four characters of its secret.")),
        ("reads_per_minute", about(quota(), "Null for the default.")),
        ("writes_per_minute", about(quota(), "Null for the default.")),
    ];
    members.extend(times());
    members.extend([
        ("expires_at", nullable(datetime())),
        ("last_used_at", about(nullable(datetime()), "To the minute.")),
        ("revoked_at", nullable(datetime())),
    ]);
    if with_secret {
        members.push(("key", about(plain(), "The secret. It is shown this once and cannot be retrieved later.")));
    }
    answer(members, vec![])
}

fn me() -> Value {
    let quota = answer(
        vec![("limit", json!({"type": "integer", "minimum": 0})), ("window_seconds", json!({"type": "integer"}))],
        vec![],
    );
    let quotas = answer(words::<QuotaClass>().into_iter().map(|it| (it, quota.clone())).collect(), vec![]);
    let members = vec![
        ("key_id", id::<KeyKind>()),
        ("name", plain()),
        ("organization_id", id::<OrganizationKind>()),
        ("environment", word::<Environment>()),
        ("access_level", word::<AccessLevel>()),
        ("scopes", array(&json!({"type": "string", "enum": scope_words()}))),
        ("employee_id", nullable(id::<EmployeeKind>())),
        ("expires_at", nullable(datetime())),
        ("quotas", quotas),
    ];
    answer(members, vec![])
}

fn connector() -> Value {
    let mut members = vec![
        ("id", id::<ConnectorKind>()),
        ("type", word::<connector::Type>()),
        ("hris_source", plain()),
        ("mapped_custom_field_keys", array(&plain())),
    ];
    members.extend(times());
    answer(members, vec![])
}

fn invitation(sent: bool) -> Value {
    let members = vec![
        ("id", id::<InvitationKind>()),
        ("employee_id", id::<EmployeeKind>()),
        ("status", word::<invitation::State>()),
        ("created_at", datetime()),
        ("expires_at", datetime()),
        ("accepted_at", nullable(datetime())),
    ];
    let link = about(json!({"type": "string", "format": "uri"}), "For admin-level keys, where no mail is sent.");
    answer(members, if sent { vec![("accept_url", link)] } else { vec![] })
}

fn invitation_accepted() -> Value {
    let members = vec![
        ("employee_id", id::<EmployeeKind>()),
        ("organization_id", id::<OrganizationKind>()),
        ("status", word::<Status>()),
    ];
    answer(members, vec![])
}

fn event() -> Value {
    let members = vec![
        ("id", id::<EventKind>()),
        ("event", word::<EventType>()),
        ("created_at", datetime()),
        ("api_version", json!({"type": "string", "const": candor_domain::event::API_VERSION})),
        ("organization_id", id::<OrganizationKind>()),
        ("data", about(json!({"type": "object"}), "The resource after the change, as GET shows it.")),
    ];
    answer(members, vec![])
}

fn audit_entry() -> Value {
    let actor = vec![("type", word::<ActorKind>()), ("id", nullable(plain())), ("name", plain())];
    let change = answer(vec![("from", json!({})), ("to", json!({}))], vec![]);
    let members = vec![
        ("id", id::<AuditKind>()),
        ("occurred_at", datetime()),
        ("action", about(plain(), "For example `observation.archive`.")),
        ("actor", answer(actor, vec![])),
        ("target", answer(vec![("type", plain()), ("id", plain())], vec![])),
        ("changes", json!({"type": "object", "additionalProperties": change})),
        ("comment", nullable(plain())),
        ("request_id", nullable(id::<RequestKind>())),
        ("context", answer(vec![("ip", nullable(plain())), ("user_agent", nullable(plain()))], vec![])),
    ];
    answer(members, vec![])
}

fn error() -> Value {
    let details = about(array(&json!({"type": "object"})), "One entry per issue; its members depend on the code.");
    let members = vec![("code", word::<ErrorCode>()), ("message", plain()), ("request_id", id::<RequestKind>())];
    answer(vec![("error", answer(members, vec![("details", details)]))], vec![])
}

/// A page of a list of resources.
pub(super) fn list(resource: &str) -> Value {
    let cursor = about(nullable(plain()), "Leads to the next page; null at the end.");
    let mut schema = page(&named(resource), cursor);
    schema["properties"]["data"]["maxItems"] = json!(MAX_LIMIT);
    schema
}

fn feed() -> Value {
    page(&named("Event"), about(plain(), "Leads on, also at the end, where a poller asks again with it."))
}

/// Every schema of an answer, by name.
pub(super) fn schemas() -> Vec<Member> {
    vec![
        ("Observation", observation()),
        ("ObservationList", list("Observation")),
        ("Objective", objective()),
        ("ObjectiveList", list("Objective")),
        ("Notification", notification()),
        ("NotificationList", list("Notification")),
        ("NotificationsRead", answer(vec![("recipient_id", id::<EmployeeKind>()), ("read_at", datetime())], vec![])),
        ("Employee", employee()),
        ("EmployeeList", list("Employee")),
        ("CsvReport", super::csv::report()),
        ("Department", department()),
        ("DepartmentList", list("Department")),
        ("Attribute", attribute()),
        ("AttributeList", list("Attribute")),
        ("Organization", organization()),
        ("ApiKey", api_key(false)),
        ("ApiKeyList", list("ApiKey")),
        ("ApiKeyWithSecret", api_key(true)),
        ("Me", me()),
        ("Connector", connector()),
        ("ConnectorList", list("Connector")),
        ("ConnectorReleased", answer(vec![("released", json!({"type": "integer", "minimum": 0}))], vec![])),
        ("Invitation", invitation(false)),
        ("InvitationSent", invitation(true)),
        ("InvitationAccepted", invitation_accepted()),
        ("Event", event()),
        ("EventFeed", feed()),
        ("AuditEntry", audit_entry()),
        ("AuditEntryList", list("AuditEntry")),
        ("Document", json!({"type": "object", "required": ["openapi", "info", "paths"]})),
        ("Error", error()),
    ]
}
