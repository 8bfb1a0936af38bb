//! The schemas of what the service answers: each resource with every member it has.

mod access;
mod assignments;
mod conversations;
mod feedback;
mod history;
mod people;
mod search;

use candor_domain::page::MAX_LIMIT;
use serde_json::{Value, json};

use super::shapes::{Member, datetime, field, named, nullable, page, plain};

pub(super) use history::{changes, event_id};

/// What has no example here. Linters do not follow a union that admits tags it does not know; the example of an event
/// stands in its own schema.
pub(super) const WITHOUT_EXAMPLE: [&str; 2] = ["Event", "EventFeed"];

fn times() -> [Member; 2] {
    [
        field("created_at", datetime(), "When it was created."),
        field("updated_at", datetime(), "When it last changed; later than before with every change."),
    ]
}

fn archived_at() -> Member {
    field("archived_at", nullable(datetime()), "When it was archived; null while in use.")
}

/// A page of a list of resources.
pub(super) fn list(resource: &str) -> Value {
    let cursor = field("next_cursor", nullable(plain()), "Leads to the next page; null at the end.");
    let mut schema = page(&named(resource), cursor.1);
    schema["properties"]["data"]["maxItems"] = json!(MAX_LIMIT);
    schema
}

/// Every schema of an answer, by name.
pub(super) fn schemas() -> Vec<Member> {
    let mut schemas = vec![
        ("Observation", feedback::observation()),
        ("ObservationList", list("Observation")),
        ("Objective", feedback::objective()),
        ("ObjectiveList", list("Objective")),
        ("Assignment", assignments::assignment()),
        ("AssignmentList", list("Assignment")),
        ("Submission", assignments::submission()),
        ("Conversation", conversations::conversation()),
        ("ConversationList", list("Conversation")),
        ("Message", conversations::message()),
        ("MessageList", list("Message")),
        ("Summary", feedback::summary()),
        ("SummaryList", list("Summary")),
        ("EmployeeFeedback", feedback::employee_feedback()),
        ("SearchHit", search::hit()),
        ("SearchHitList", list("SearchHit")),
        ("Highlight", search::highlight()),
        ("Notification", access::notification()),
        ("NotificationList", list("Notification")),
        ("NotificationsRead", access::notifications_read()),
        ("Employee", people::employee()),
        ("EmployeeList", list("Employee")),
        ("CsvReport", super::csv::report()),
        ("Department", people::department()),
        ("DepartmentList", list("Department")),
        ("Attribute", feedback::attribute()),
        ("AttributeList", list("Attribute")),
        ("Organization", access::organization()),
        ("ApiKey", access::api_key(false)),
        ("ApiKeyList", list("ApiKey")),
        ("ApiKeyWithSecret", access::api_key(true)),
        ("Me", access::me()),
        ("Connector", people::connector()),
        ("ConnectorList", list("Connector")),
        ("ConnectorReleased", people::released()),
        ("TestDataReset", people::test_data_reset()),
        ("Invitation", people::invitation(false)),
        ("InvitationSent", people::invitation(true)),
        ("InvitationMail", people::invitation_mail()),
        ("InvitationAccepted", people::invitation_accepted()),
        ("EventFeed", history::feed()),
        ("FieldChange", history::change()),
        ("AuditEntry", history::audit_entry()),
        ("AuditEntryList", list("AuditEntry")),
        ("HistoryEntry", history::history_entry()),
        ("HistoryEntryList", list("HistoryEntry")),
        ("Document", access::document()),
    ];
    schemas.extend(history::events());
    schemas
}
