//! Events: the closed catalog (§6.2) and the body that feeds and deliveries share (§6.3).

mod access;
mod feed;

pub use feed::{
    FEED_DAYS, FeedFilter, FeedRequest, FeedStart, MOST_COMMIT_DELAY_SECONDS, first_id_at, oldest_in_feed,
};

use serde::{Serialize, Serializer};
use strum::{IntoStaticStr, VariantArray};

use crate::access::Tenant;
use crate::fields::StringEnum;
use crate::id::EventId;
use crate::time::Timestamp;

/// The catalog of events (§6.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, IntoStaticStr, VariantArray)]
pub enum EventType {
    /// An observation was created via API or app.
    #[strum(to_string = "observation.created")]
    ObservationCreated,
    /// A field of an active observation changed.
    #[strum(to_string = "observation.updated")]
    ObservationUpdated,
    /// An observation was archived.
    #[strum(to_string = "observation.archived")]
    ObservationArchived,
    /// An observation was restored from the archive.
    #[strum(to_string = "observation.restored")]
    ObservationRestored,
    /// A draft of a summary was created.
    #[strum(to_string = "summary.created")]
    SummaryCreated,
    /// A field of a summary changed before it was shared.
    #[strum(to_string = "summary.updated")]
    SummaryUpdated,
    /// A summary moved to `pending_review`.
    #[strum(to_string = "summary.submitted")]
    SummarySubmitted,
    /// A summary moved to `approved`.
    #[strum(to_string = "summary.approved")]
    SummaryApproved,
    /// A summary moved to `shared`.
    #[strum(to_string = "summary.shared")]
    SummaryShared,
    /// A summary was archived.
    #[strum(to_string = "summary.archived")]
    SummaryArchived,
    /// The employee gave feedback on a shared summary.
    #[strum(to_string = "summary.feedback_submitted")]
    SummaryFeedbackSubmitted,
    /// A message was added to a conversation.
    #[strum(to_string = "conversation.message.created")]
    ConversationMessageCreated,
    /// An objective was created.
    #[strum(to_string = "objective.created")]
    ObjectiveCreated,
    /// An action changed the status of an objective.
    #[strum(to_string = "objective.status_changed")]
    ObjectiveStatusChanged,
    /// Title, description, period, key results or parent of an objective changed.
    #[strum(to_string = "objective.updated")]
    ObjectiveUpdated,
    /// An objective was archived. Fires together with the status change.
    #[strum(to_string = "objective.archived")]
    ObjectiveArchived,
    /// A feedback assignment was created.
    #[strum(to_string = "assignment.created")]
    AssignmentCreated,
    /// All required submissions of an assignment were received.
    #[strum(to_string = "assignment.completed")]
    AssignmentCompleted,
    /// An employee was created via API or CSV.
    #[strum(to_string = "employee.created")]
    EmployeeCreated,
    /// A field of an employee changed, also through an HR system.
    #[strum(to_string = "employee.updated")]
    EmployeeUpdated,
    /// An employee moved to `deactivated`.
    #[strum(to_string = "employee.deactivated")]
    EmployeeDeactivated,
    /// An employee moved from `deactivated` to `active` by reactivation.
    #[strum(to_string = "employee.reactivated")]
    EmployeeReactivated,
    /// An employee was rehired.
    #[strum(to_string = "employee.rehired")]
    EmployeeRehired,
    /// The test endpoint was called.
    #[strum(to_string = "test.ping")]
    TestPing,
    /// A subscription was disabled, because its deliveries kept failing or its receiver is gone.
    #[strum(to_string = "webhook.disabled")]
    WebhookDisabled,
    /// A delivery to a subscription failed for the fifth time, the first such one since its newest success.
    #[strum(to_string = "webhook.failing")]
    WebhookFailing,
    /// An API key, or the secret that a rotation has replaced, expires soon.
    #[strum(to_string = "api_key.expiring")]
    ApiKeyExpiring,
    /// A department was created.
    #[strum(to_string = "department.created")]
    DepartmentCreated,
    /// A department was renamed.
    #[strum(to_string = "department.updated")]
    DepartmentUpdated,
    /// A department was archived.
    #[strum(to_string = "department.archived")]
    DepartmentArchived,
    /// A department was restored from the archive.
    #[strum(to_string = "department.restored")]
    DepartmentRestored,
    /// An attribute was created.
    #[strum(to_string = "attribute.created")]
    AttributeCreated,
    /// Name, category or tone of an attribute changed.
    #[strum(to_string = "attribute.updated")]
    AttributeUpdated,
    /// An attribute was archived.
    #[strum(to_string = "attribute.archived")]
    AttributeArchived,
    /// An attribute was restored from the archive.
    #[strum(to_string = "attribute.restored")]
    AttributeRestored,
    /// A conversation was created.
    #[strum(to_string = "conversation.created")]
    ConversationCreated,
    /// Title or participants of a conversation changed.
    #[strum(to_string = "conversation.updated")]
    ConversationUpdated,
    /// A conversation was archived.
    #[strum(to_string = "conversation.archived")]
    ConversationArchived,
    /// A reviewer submitted, and more submissions are required.
    #[strum(to_string = "assignment.updated")]
    AssignmentUpdated,
    /// An assignment was canceled.
    #[strum(to_string = "assignment.canceled")]
    AssignmentCanceled,
    /// A connector was created.
    #[strum(to_string = "connector.created")]
    ConnectorCreated,
    /// A setting or the status of a connector changed, or the result of an upload was recorded.
    #[strum(to_string = "connector.updated")]
    ConnectorUpdated,
    /// A setting or the name of the organization changed.
    #[strum(to_string = "organization.updated")]
    OrganizationUpdated,
    /// An invitation was created.
    #[strum(to_string = "invitation.created")]
    InvitationCreated,
    /// The state of the mail of an invitation changed.
    #[strum(to_string = "invitation.updated")]
    InvitationUpdated,
    /// An invitation was accepted.
    #[strum(to_string = "invitation.accepted")]
    InvitationAccepted,
    /// An invitation was replaced by a newer one, or its person left.
    #[strum(to_string = "invitation.revoked")]
    InvitationRevoked,
    /// The brake paused a connector.
    #[strum(to_string = "connector.paused")]
    ConnectorPaused,
    /// Syncs of a connector began to fail, or a request of its identity provider was refused for a new reason.
    #[strum(to_string = "connector.sync_failed")]
    ConnectorSyncFailed,
    /// A legal hold on the data of an employee was set, changed or ended.
    #[strum(to_string = "employee.hold_changed")]
    EmployeeHoldChanged,
    /// An employee was replaced by a pseudonym, and the data about them is being removed.
    #[strum(to_string = "employee.erased")]
    EmployeeErased,
    /// The data about an erased employee was removed.
    #[strum(to_string = "erasure.completed")]
    ErasureCompleted,
    /// Archived resources were removed by a retention rule.
    #[strum(to_string = "retention.removed")]
    RetentionRemoved,
    /// A run of the retention that removed data was completed.
    #[strum(to_string = "retention.completed")]
    RetentionCompleted,
    /// A check-in was added to an objective.
    #[strum(to_string = "objective.checked_in")]
    ObjectiveCheckedIn,
}

impl StringEnum for EventType {
    const NAME: &'static str = "EventType";
}

impl Serialize for EventType {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

impl EventType {
    /// Returns `true` if the service fires events of this type, as of all types now. Clients may subscribe to a
    /// planned type in advance.
    #[must_use]
    pub const fn is_live(self) -> bool {
        match self {
            Self::ObservationCreated
            | Self::ObservationUpdated
            | Self::ObservationArchived
            | Self::ObservationRestored
            | Self::ConversationMessageCreated
            | Self::SummaryCreated
            | Self::SummaryUpdated
            | Self::SummarySubmitted
            | Self::SummaryApproved
            | Self::SummaryShared
            | Self::SummaryArchived
            | Self::SummaryFeedbackSubmitted
            | Self::ObjectiveCreated
            | Self::ObjectiveStatusChanged
            | Self::ObjectiveUpdated
            | Self::ObjectiveArchived
            | Self::AssignmentCreated
            | Self::AssignmentCompleted
            | Self::EmployeeCreated
            | Self::EmployeeUpdated
            | Self::EmployeeDeactivated
            | Self::EmployeeReactivated
            | Self::EmployeeRehired
            | Self::TestPing
            | Self::WebhookDisabled
            | Self::WebhookFailing
            | Self::ApiKeyExpiring
            | Self::DepartmentCreated
            | Self::DepartmentUpdated
            | Self::DepartmentArchived
            | Self::DepartmentRestored
            | Self::AttributeCreated
            | Self::AttributeUpdated
            | Self::AttributeArchived
            | Self::AttributeRestored
            | Self::ConversationCreated
            | Self::ConversationUpdated
            | Self::ConversationArchived
            | Self::AssignmentUpdated
            | Self::AssignmentCanceled
            | Self::ConnectorCreated
            | Self::ConnectorUpdated
            | Self::OrganizationUpdated
            | Self::InvitationCreated
            | Self::InvitationUpdated
            | Self::InvitationAccepted
            | Self::InvitationRevoked
            | Self::ConnectorPaused
            | Self::ConnectorSyncFailed
            | Self::EmployeeHoldChanged
            | Self::EmployeeErased
            | Self::ErasureCompleted
            | Self::RetentionRemoved
            | Self::RetentionCompleted
            | Self::ObjectiveCheckedIn => true,
        }
    }

    /// Returns the bit of this type in stored sets of types. Bits never change: new types go to the end.
    #[must_use]
    pub const fn bit(self) -> i64 {
        1 << self as u32
    }
}

/// The version of the event payload (§9).
pub const API_VERSION: &str = "v1";

/// A fact about a resource, stored together with the change that caused it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Id of the event, equal for every delivery and redelivery.
    pub id: EventId,
    /// The type of the event.
    pub kind: EventType,
    /// Time of the change.
    pub created_at: Timestamp,
    /// The resource after the change, as JSON text: the response of GET without expansion (decision F8).
    pub data: String,
    /// Id of the request that caused the change; `None` for background work and old events. The commit sets it.
    pub request_id: Option<String>,
}

/// Returns the id that receivers see: that of a test event starts with `evt_test_` (§4.4).
#[must_use]
pub fn public_id(kind: EventType, id: EventId) -> String {
    if kind == EventType::TestPing { format!("evt_test_{}", id.ulid()) } else { id.to_string() }
}

impl Event {
    /// Returns the id that receivers see.
    #[must_use]
    pub fn public_id(&self) -> String {
        public_id(self.kind, self.id)
    }

    /// Returns the JSON body of a delivery, which is also an entry of the feed (§6.3).
    #[must_use]
    pub fn body(&self, tenant: Tenant) -> String {
        format!(
            r#"{{"id":"{}","event":"{}","created_at":"{}","api_version":"{API_VERSION}","organization_id":"{}","data":{}}}"#,
            self.public_id(),
            self.kind.word(),
            self.created_at,
            tenant.organization,
            self.data
        )
    }
}

#[cfg(test)]
mod tests;
