//! The form of delivered events: the whole resource, or only a reference to it.

use candor_domain::access::{Caller, PermissionError, Tenant};
use candor_domain::decision::Resource;
use candor_domain::event::{Event, EventData, EventType};
use candor_domain::fields::string_enum;
use candor_domain::retention::RetentionRun;
use serde::{Deserialize, Serialize};
use strum::{IntoStaticStr, VariantArray};

/// The form of the member `data` of delivered events.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum PayloadForm {
    /// The resource as GET shows it.
    #[default]
    Full,
    /// Id, type and URL of the resource. Personal data is read with a key, so it stays in the service.
    Thin,
}

impl PayloadForm {
    /// Checks that this caller may have events of this type sent in this form (decision F6).
    ///
    /// # Errors
    /// The access that the caller lacks.
    pub fn may_reach(self, caller: &Caller, kind: EventType) -> Result<(), PermissionError> {
        match self {
            Self::Full => caller.may_read_events_of(kind),
            Self::Thin => caller.may_hear_of(kind),
        }
    }
}

string_enum!(PayloadForm, "WebhookPayload");

/// Members of an event's data that determine the path of the resource.
#[derive(Deserialize)]
struct Reference<'a> {
    id: &'a str,
    scope: Option<&'a str>,
    employee_id: Option<&'a str>,
    conversation_id: Option<&'a str>,
}

/// The members of a full body that a thin body needs.
#[derive(Deserialize)]
struct FullBody<'a> {
    #[serde(borrow)]
    data: Reference<'a>,
}

/// The data of a thin event.
#[derive(Serialize)]
struct ThinData<'a> {
    id: &'a str,
    #[serde(rename = "type")]
    kind: &'a str,
    url: String,
}

/// Returns the thin body of an event, made from its full one. `api_url` is the public address of the API, such as
/// `https://feedback.example.com/v1`. A test event has no resource, and the event `retention.removed` has only ids of
/// removed resources, so their bodies stay as they are.
///
/// Text is never taken over from the full body: only ids, and words of the service.
#[must_use]
pub fn thin_body(event: &Event, tenant: Tenant, full_body: &[u8], api_url: &str) -> Vec<u8> {
    let data_kind = event.kind.data();
    if has_no_resource(data_kind) {
        return full_body.to_vec();
    }
    let data = serde_json::from_slice::<FullBody<'_>>(full_body).ok().and_then(|body| {
        let (kind, path) = place(data_kind, &body.data)?;
        serde_json::to_string(&ThinData { id: body.data.id, kind, url: format!("{api_url}{path}") }).ok()
    });
    let mut body = Event { data: data.unwrap_or_else(|| "null".to_owned()), ..event.clone() }.body(tenant);
    // The last member marks the form, so that clients can tell it apart without looking into the data.
    body.truncate(body.len() - 1);
    body.push_str(r#","payload":"thin"}"#);
    body.into_bytes()
}

const fn has_no_resource(data: EventData) -> bool {
    matches!(data, EventData::TestMessage | EventData::RemovedIds)
}

/// Returns the type of a resource and its path below `/v1`; `None` if there is no resource, or if the reference lacks an
/// id that the path needs.
fn place(data: EventData, resource: &Reference<'_>) -> Option<(&'static str, String)> {
    let id = resource.id;
    let (kind, collection) = match data {
        EventData::TestMessage | EventData::RemovedIds => return None,
        EventData::Organization => return Some(("organization", "/organization".to_owned())),
        EventData::Invitation => {
            return Some(("invitation", format!("/employees/{}/invitation", resource.employee_id?)));
        }
        EventData::Message => {
            return Some(("message", format!("/conversations/{}/messages/{id}", resource.conversation_id?)));
        }
        EventData::Objective | EventData::CheckedObjective if resource.scope? == "employee" => {
            ("objective", "employee-objectives")
        }
        EventData::Objective | EventData::CheckedObjective => ("objective", "manager-objectives"),
        EventData::Observation => ("observation", "observations"),
        EventData::Summary => ("summary", "summaries"),
        EventData::Conversation => ("conversation", "conversations"),
        EventData::Assignment => ("assignment", "assignments"),
        EventData::Employee => ("employee", "employees"),
        EventData::Department => ("department", "departments"),
        EventData::Attribute => ("attribute", "attributes"),
        EventData::Connector => ("connector", "connectors"),
        EventData::IdentityProvider => ("identity_provider", "identity-providers"),
        EventData::Webhook => ("webhook", "webhooks"),
        EventData::ApiKey => ("api_key", "api-keys"),
        EventData::Erasure => ("erasure", "erasures"),
        EventData::RetentionRun => (RetentionRun::NAME, "retention/runs"),
    };
    Some((kind, format!("/{collection}/{id}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor_domain::access::Environment;
    use candor_domain::fields::StringEnum;
    use candor_domain::id::{EventId, OrganizationId};
    use candor_domain::time::Timestamp;
    use ulid::Ulid;

    fn thin(kind: EventType, data: &str) -> serde_json::Value {
        let id = EventId::from_ulid(Ulid(1));
        let event =
            Event { id, kind, created_at: Timestamp::from_millis(0), data: data.to_owned(), request_id: None };
        let tenant = Tenant { organization: OrganizationId::from_ulid(Ulid(2)), environment: Environment::Live };
        let full = event.body(tenant);
        let body = thin_body(&event, tenant, full.as_bytes(), "https://feedback.example.com/v1");
        let mut body: serde_json::Value = serde_json::from_slice(&body).unwrap();
        let form = if has_no_resource(kind.data()) { serde_json::Value::Null } else { "thin".into() };
        assert_eq!(body["payload"], form, "{kind:?}");
        body["data"].take()
    }

    #[test]
    fn thin_event_has_id_type_and_url_only() {
        for (kind, data, resource, path) in [
            (
                EventType::ObservationCreated,
                r#"{"id":"obs_1","observation":"text"}"#,
                "observation",
                "/observations/obs_1",
            ),
            (EventType::SummaryShared, r#"{"id":"sum_1"}"#, "summary", "/summaries/sum_1"),
            (
                EventType::ObjectiveCreated,
                r#"{"id":"obj_1","scope":"employee"}"#,
                "objective",
                "/employee-objectives/obj_1",
            ),
            (
                EventType::ObjectiveUpdated,
                r#"{"id":"obj_1","scope":"org"}"#,
                "objective",
                "/manager-objectives/obj_1",
            ),
            (
                EventType::ConversationMessageCreated,
                r#"{"id":"msg_1","conversation_id":"cnv_1","body":"\u00e9 text"}"#,
                "message",
                "/conversations/cnv_1/messages/msg_1",
            ),
            (EventType::EmployeeCreated, r#"{"id":"emp_1","first_name":"\"A"}"#, "employee", "/employees/emp_1"),
            (EventType::WebhookDisabled, r#"{"id":"whk_1"}"#, "webhook", "/webhooks/whk_1"),
            (EventType::RetentionCompleted, r#"{"id":"ret_1"}"#, "retention_run", "/retention/runs/ret_1"),
        ] {
            let url = format!("https://feedback.example.com/v1{path}");
            let id = path.rsplit('/').next().unwrap();
            let expected_body = serde_json::json!({"id": id, "type": resource, "url": url});
            assert_eq!(thin(kind, data), expected_body, "{kind:?}");
        }
    }

    #[test]
    fn event_without_a_resource_keeps_its_data() {
        let data = serde_json::json!({"message": "x"});
        assert_eq!(thin(EventType::TestPing, &data.to_string()), data);
        let removal_data = serde_json::json!({"id": "ret_1", "resource": "summaries", "ids": ["sum_1"]});
        assert_eq!(thin(EventType::RetentionRemoved, &removal_data.to_string()), removal_data);
    }

    #[test]
    fn every_other_event_type_has_a_thin_form() {
        let data = r#"{"id":"x_1","scope":"manager","conversation_id":"cnv_1","employee_id":"emp_1"}"#;
        for kind in EventType::ALL.iter().filter(|kind| !has_no_resource(kind.data())) {
            let url = thin(*kind, data)["url"].as_str().map(str::to_owned);
            assert!(url.is_some_and(|url| url.starts_with("https://feedback.example.com/v1/")), "{kind:?}");
        }
    }
}
