//! An example of every schema that an operation takes or answers.

use serde_json::{Value, json};

const AT: &str = "2026-03-02T09:00:00.000Z";
const EMPLOYEE: &str = "emp_01KJPWD6M19CJZV12YYC0CWB8B";
const ATTRIBUTE: &str = "attr_01KJPWD6M09XGSNZ6M9MACZ2ZY";
const ORGANIZATION: &str = "org_01KJPWD6M0PPWW6K8BZY81A0M0";
const OBJECTIVE: &str = "obj_01KJPWD6M24DF9HWRAYHFSFV52";
const MANAGER: &str = "emp_01KJPWD6M1CVY8F4W1W0ECZ6Q9";
const REVIEWER: &str = "emp_01KJPWD6M17S2TC3YGZXGMY0TH";
const CONVERSATION: &str = "cnv_01KJPWD6M24DF9HWRAYHFSFV52";
const SUMMARY: &str = "sum_01KJPWD6M24DF9HWRAYHFSFV52";
const KEY: &str = "key_01KJPWD6M04KS4Y1FG6WTW7EAH";

fn observation() -> Value {
    json!({
        "id": "obs_01KJPWD6M24DF9HWRAYHFSFV52", "employee_id": EMPLOYEE, "author_id": null, "type": "strength",
        "observation": "Explained the outage to the customer calmly and completely.",
        "impact": "The customer stayed.", "recommended_action": null, "attribute_ids": [ATTRIBUTE],
        "observation_date": "2026-03-02", "created_at": AT, "updated_at": AT, "archived_at": null,
    })
}

fn objective() -> Value {
    json!({
        "id": OBJECTIVE, "scope": "employee", "owner_id": EMPLOYEE, "title": "Answer every ticket within a day",
        "description": null, "status": "proposed", "period_start": "2026-04-01", "period_end": "2026-06-30",
        "linked_summary_ids": [], "created_at": AT, "updated_at": AT, "submitted_at": null, "approved_at": null,
        "completed_at": null,
    })
}

fn assignment() -> Value {
    json!({
        "id": "asg_01KJPWD6M24DF9HWRAYHFSFV52", "employee_id": EMPLOYEE, "requester_id": MANAGER,
        "title": "Before the review", "instructions": "How did the launch go?", "due_date": "2026-03-31",
        "reviewer_ids": [REVIEWER], "required_submissions": 1, "status": "open",
        "submissions": [
            {"reviewer_id": REVIEWER, "status": "pending", "observation_ids": [], "submitted_at": null},
        ],
        "submitted_count": 0, "created_at": AT, "updated_at": AT,
    })
}

fn conversation() -> Value {
    json!({
        "id": CONVERSATION, "title": "The second quarter", "about": {"type": "objective", "id": OBJECTIVE},
        "participant_ids": [EMPLOYEE, MANAGER], "last_message_at": AT, "created_at": AT, "updated_at": AT,
        "archived_at": null,
    })
}

fn message() -> Value {
    json!({
        "id": "msg_01KJPWD6M24DF9HWRAYHFSFV52", "conversation_id": CONVERSATION, "author_id": EMPLOYEE,
        "body": "Weekends excepted?", "created_at": AT,
    })
}

fn summary() -> Value {
    json!({
        "id": SUMMARY, "employee_id": EMPLOYEE, "author_id": null, "title": "The first half of the year",
        "body": "Calm with customers, and ever faster.", "period_start": "2026-01-01", "period_end": "2026-06-30",
        "status": "draft", "included_objective_ids": [OBJECTIVE],
        "included_observation_ids": ["obs_01KJPWD6M24DF9HWRAYHFSFV52"], "employee_feedback": null,
        "submitted_at": null, "approved_at": null, "shared_at": null, "archived_at": null, "created_at": AT,
        "updated_at": AT,
    })
}

fn search_hit() -> Value {
    let snippet = "Explained the outage to the customer calmly and completely.";
    json!({
        "type": "observation", "id": observation()["id"], "score": 0.5,
        "highlights": [{"field": "observation", "snippet": snippet, "ranges": [[28, 36], [37, 43]]}],
        "resource": observation(),
    })
}

fn notification() -> Value {
    json!({
        "id": "ntf_01KJPWD6M24DF9HWRAYHFSFV52", "recipient_id": EMPLOYEE, "type": "objective.rejected",
        "title": "Objective sent back: Answer every ticket within a day", "body": "Which tickets?",
        "target": {"type": "objective", "id": OBJECTIVE}, "created_at": AT, "read_at": null,
    })
}

fn employee() -> Value {
    json!({
        "id": EMPLOYEE, "email": "ada@example.com", "external_id": null, "first_name": "Ada", "last_name": "Example",
        "job_title": null, "role": "employee", "manager_id": null, "department_id": null, "status": "active",
        "custom_fields": {"location": "Izmir", "grade": 7}, "is_hris_managed": false, "hris_source": "manual",
        "created_at": AT, "updated_at": AT, "deactivated_at": null,
    })
}

fn department() -> Value {
    json!({"id": "dep_01KJPWD6M24DF9HWRAYHFSFV52", "name": "Care", "created_at": AT, "updated_at": AT,
           "archived_at": null})
}

fn attribute() -> Value {
    json!({"id": ATTRIBUTE, "name": "Active listening", "category": "Communication", "tone": "positive",
           "created_at": AT, "updated_at": AT, "archived_at": null})
}

fn api_key() -> Value {
    json!({
        "id": KEY, "name": "HR sync", "environment": "live", "access_level": "standard",
        "scopes": ["employees:read", "employees:write"], "employee_id": null, "last4": "pDKE",
        "reads_per_minute": null, "writes_per_minute": null, "created_at": AT, "updated_at": AT, "expires_at": null,
        "last_used_at": null, "revoked_at": null,
    })
}

fn connector() -> Value {
    json!({"id": "con_01KJPWD6M24DF9HWRAYHFSFV52", "type": "csv_feed", "hris_source": "acme-hr",
           "status": "active", "mapped_custom_field_keys": ["grade"], "last_sync_at": AT,
           "last_sync_status": "partial",
           "last_sync_message": "1 of 12 rows had errors, the first in row 7: email: must be an address",
           "created_at": AT, "updated_at": AT})
}

fn invitation() -> Value {
    json!({"id": "inv_01KJPWD6M24DF9HWRAYHFSFV52", "employee_id": EMPLOYEE, "status": "pending", "created_at": AT,
           "expires_at": "2026-03-16T09:00:00.000Z", "accepted_at": null, "mail": invitation_mail()})
}

fn invitation_mail() -> Value {
    json!({"status": "queued", "attempts": 1, "last_attempt_at": AT, "next_attempt_at": "2026-03-02T09:01:00.000Z",
           "failure": "deferred"})
}

/// An event, as feeds and deliveries have it.
pub(super) fn event() -> Value {
    json!({"id": "evt_01KJPWD6M2D4QPFJQ4CNK9WK64", "event": "observation.created", "created_at": AT,
           "api_version": "v1", "organization_id": ORGANIZATION, "data": observation()})
}

fn audit_entry() -> Value {
    json!({
        "id": "aud_01KJPWD6M2KWBHK8Y5J227CEGJ", "occurred_at": AT, "action": "observation.update",
        "actor": {"type": "api_key", "id": KEY, "name": "HR sync"},
        "target": {"type": "observation", "id": "obs_01KJPWD6M24DF9HWRAYHFSFV52"},
        "changes": {"impact": {"from": null, "to": "The customer stayed."}}, "comment": null,
        "request_id": "req_01KJPWD6M2FHD2CCT6MTEX2H16", "context": {"ip": "192.0.2.1", "user_agent": null},
    })
}

fn me() -> Value {
    let quota = |limit: u32| json!({"limit": limit, "window_seconds": 60});
    json!({
        "key_id": KEY, "name": "HR sync", "organization_id": ORGANIZATION, "environment": "live",
        "access_level": "standard", "scopes": ["employees:read"], "employee_id": null, "expires_at": null,
        "quotas": {"read": quota(600), "write": quota(100), "webhook_test": quota(10), "csv": quota(6)},
    })
}

fn organization() -> Value {
    json!({"id": ORGANIZATION, "name": "Example", "objective_review": "optional", "summary_review": "optional",
           "created_at": AT, "updated_at": AT})
}

fn without(mut value: Value, name: &str) -> Value {
    if let Some(members) = value.as_object_mut() {
        members.remove(name);
    }
    value
}

fn list(entry: Value) -> Value {
    json!({"data": [entry], "next_cursor": null, "has_more": false})
}

fn with(mut value: Value, name: &str, member: impl Into<Value>) -> Value {
    value[name] = member.into();
    value
}

/// The example of a schema.
pub(super) fn of(schema: &str) -> Value {
    request(schema).or_else(|| super::webhooks::example(schema)).unwrap_or_else(|| answer(schema))
}

fn request(schema: &str) -> Option<Value> {
    Some(match schema {
        "ObservationCreate" => json!({
            "employee_id": EMPLOYEE, "type": "strength", "attribute_ids": [ATTRIBUTE],
            "observation": "Explained the outage to the customer calmly and completely.",
        }),
        "ObservationUpdate" => json!({"impact": "The customer stayed."}),
        "EmployeeObjectiveCreate" | "ManagerObjectiveCreate" => json!({
            "owner_id": EMPLOYEE, "title": "Answer every ticket within a day",
            "period_start": "2026-04-01", "period_end": "2026-06-30",
        }),
        "ObjectiveUpdate" => json!({"description": "Weekends excepted."}),
        "ObjectiveApprove" => json!({"comment": "Good."}),
        "ObjectiveReject" => json!({"reason": "Which tickets?"}),
        "ObjectiveComplete" => json!({"outcome": "All but three."}),
        "ObjectiveMiss" => json!({"reason": "Two people left."}),
        "AssignmentCreate" => json!({
            "employee_id": EMPLOYEE, "requester_id": MANAGER, "title": "Before the review",
            "instructions": "How did the launch go?", "due_date": "2026-03-31", "reviewer_ids": [REVIEWER],
        }),
        "SubmissionCreate" => json!({
            "reviewer_id": REVIEWER, "observations": [{"type": "strength", "observation": "Kept calm on the day."}],
        }),
        "ConversationCreate" => json!({
            "title": "The second quarter", "about": {"type": "objective", "id": OBJECTIVE},
            "participant_ids": [EMPLOYEE, MANAGER],
        }),
        "ConversationUpdate" => json!({"title": "The third quarter"}),
        "MessageCreate" => json!({"author_id": EMPLOYEE, "body": "Weekends excepted?"}),
        "SummaryCreate" => json!({
            "employee_id": EMPLOYEE, "title": "The first half of the year", "period_start": "2026-01-01",
            "period_end": "2026-06-30", "included_objective_ids": [OBJECTIVE],
        }),
        "SummaryUpdate" => json!({"body": "Calm with customers, and ever faster."}),
        "SummaryReturn" => json!({"reason": "Say what became of the objective."}),
        "SummaryFeedback" => json!({"comment": "Thank you.", "acknowledged": true}),
        "NotificationsReadAll" => json!({"recipient_id": EMPLOYEE}),
        "EmployeeCreate" => json!({
            "email": "ada@example.com", "first_name": "Ada", "last_name": "Example",
            "custom_fields": {"location": "Izmir", "grade": 7},
        }),
        "EmployeeUpdate" => json!({"last_name": "Beispiel", "custom_fields": {"grade": 8}}),
        "EmployeeRehire" => json!({"manager_id": null, "custom_fields": {"location": null}}),
        "DepartmentCreate" | "DepartmentUpdate" => json!({"name": "Care"}),
        "AttributeCreate" => json!({"name": "Calm", "category": "Communication", "tone": "positive"}),
        "AttributeUpdate" => json!({"category": "Character"}),
        "OrganizationUpdate" => json!({"objective_review": "required"}),
        "ApiKeyCreate" => json!({"name": "HR sync", "scopes": ["employees:read", "employees:write"]}),
        "ApiKeyUpdate" => json!({"name": "HR sync, old"}),
        "ApiKeyRotate" => json!({"overlap_seconds": 3600}),
        "ConnectorCreate" => {
            json!({"type": "csv_feed", "hris_source": "acme-hr", "mapped_custom_field_keys": ["grade"]})
        }
        "ConnectorRelease" => json!({"employee_ids": [EMPLOYEE]}),
        "InvitationAccept" => json!({"token": "x7Yq0l3k9s5uVb2c8d4e6f1g"}),
        _ => return None,
    })
}

fn answer(schema: &str) -> Value {
    match schema {
        "Observation" => observation(),
        "ObservationList" => list(observation()),
        "SearchHit" => search_hit(),
        "SearchHitList" => list(search_hit()),
        "Objective" => objective(),
        "ObjectiveList" => list(objective()),
        "Assignment" => assignment(),
        "AssignmentList" => list(assignment()),
        "Conversation" => conversation(),
        "ConversationList" => list(conversation()),
        "Message" => message(),
        "MessageList" => list(message()),
        "Summary" => summary(),
        "SummaryList" => list(summary()),
        "Notification" => notification(),
        "NotificationList" => list(notification()),
        "NotificationsRead" => json!({"recipient_id": EMPLOYEE, "read_at": AT}),
        "Employee" => employee(),
        "EmployeeList" => list(employee()),
        "CsvReport" => super::csv::example(),
        "Department" => department(),
        "DepartmentList" => list(department()),
        "Attribute" => attribute(),
        "AttributeList" => list(attribute()),
        "Organization" => organization(),
        "ApiKey" => api_key(),
        "ApiKeyList" => list(api_key()),
        "ApiKeyWithSecret" => with(api_key(), "key", "cdr_live_…"),
        "Me" => me(),
        "Connector" => connector(),
        "ConnectorList" => list(connector()),
        "ConnectorReleased" => json!({"released": 12}),
        "TestDataReset" => json!({"removed": 4812, "complete": true}),
        "Invitation" => invitation(),
        "InvitationMail" => invitation_mail(),
        "InvitationSent" => with(
            with(invitation(), "mail", Value::Null),
            "accept_url",
            "https://candor.example/v1/invitations/accept?token=x7Yq0l3k9s5uVb2c",
        ),
        "InvitationAccepted" => {
            json!({"employee_id": EMPLOYEE, "organization_id": ORGANIZATION, "status": "active"})
        }
        "AuditEntryList" => list(audit_entry()),
        "HistoryEntryList" => list(without(audit_entry(), "context")),
        _ => {
            json!({"openapi": "3.1.0", "info": {"title": "Candor", "version": env!("CARGO_PKG_VERSION")}, "paths": {}})
        }
    }
}
