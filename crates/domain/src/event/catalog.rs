//! The catalog of events (§6.2): one row for each type, with what its events carry and the access that they need.

use strum::{IntoStaticStr, VariantArray};

use crate::access::{AdminContext, Permission};
use crate::fields::string_enum;

/// Declares the event types. A row has the variant, its word, the kind of `data`, and the scope and the admin
/// context that GET of the resource in `data` needs. New rows go to the end, because the order gives the stored
/// bits.
macro_rules! events {
    (@optional $kind:ident) => { None };
    (@optional $kind:ident $name:ident) => { Some($kind::$name) };
    ($($(#[$doc:meta])* $name:ident = $word:literal: $data:ident $(, $scope:ident $(, $context:ident)?)?;)+) => {
        /// The catalog of events (§6.2).
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, IntoStaticStr, VariantArray)]
        pub enum EventType {
            $($(#[$doc])* #[strum(to_string = $word)] $name,)+
        }

        impl EventType {
            /// Returns the content of the member `data` in events of this type.
            #[must_use]
            pub const fn data(self) -> EventData {
                match self { $(Self::$name => EventData::$data,)+ }
            }

            /// Returns the scope that GET of the resource in events of this type needs; `None` for tests, and for the
            /// removals that every copy of data has to follow.
            #[must_use]
            pub const fn needed_scope(self) -> Option<Permission> {
                match self { $(Self::$name => events!(@optional Permission $($scope)?),)+ }
            }

            /// Returns the admin context that a caller needs to read events of this type in the feed. GET of the
            /// resource in `data` needs the same one. `None` if no admin context is needed.
            #[must_use]
            pub const fn needed_context(self) -> Option<AdminContext> {
                match self { $(Self::$name => events!(@optional AdminContext $($($context)?)?),)+ }
            }
        }
    };
}

events! {
    /// An observation was created via API or app.
    ObservationCreated = "observation.created": Observation, ObservationsRead;
    /// A field of an active observation changed.
    ObservationUpdated = "observation.updated": Observation, ObservationsRead;
    /// An observation was archived.
    ObservationArchived = "observation.archived": Observation, ObservationsRead;
    /// An observation was restored from the archive.
    ObservationRestored = "observation.restored": Observation, ObservationsRead;
    /// A draft of a summary was created.
    SummaryCreated = "summary.created": Summary, SummariesRead;
    /// A field of a summary changed before it was shared.
    SummaryUpdated = "summary.updated": Summary, SummariesRead;
    /// A summary moved to `pending_review`.
    SummarySubmitted = "summary.submitted": Summary, SummariesRead;
    /// A summary moved to `approved`.
    SummaryApproved = "summary.approved": Summary, SummariesRead;
    /// A summary moved to `shared`.
    SummaryShared = "summary.shared": Summary, SummariesRead;
    /// A summary was archived.
    SummaryArchived = "summary.archived": Summary, SummariesRead;
    /// The employee gave feedback on a shared summary.
    SummaryFeedbackSubmitted = "summary.feedback_submitted": Summary, SummariesRead;
    /// A message was added to a conversation.
    ConversationMessageCreated = "conversation.message.created": Message, ConversationsRead;
    /// An objective was created.
    ObjectiveCreated = "objective.created": Objective, ObjectivesRead;
    /// An action changed the status of an objective.
    ObjectiveStatusChanged = "objective.status_changed": Objective, ObjectivesRead;
    /// Title, description, period, key results or parent of an objective changed.
    ObjectiveUpdated = "objective.updated": Objective, ObjectivesRead;
    /// An objective was archived. Fires together with the status change.
    ObjectiveArchived = "objective.archived": Objective, ObjectivesRead;
    /// A feedback assignment was created.
    AssignmentCreated = "assignment.created": Assignment, AssignmentsRead;
    /// All required submissions of an assignment were received.
    AssignmentCompleted = "assignment.completed": Assignment, AssignmentsRead;
    /// An employee was created via API or CSV.
    EmployeeCreated = "employee.created": Employee, EmployeesRead;
    /// A field of an employee changed, also through an HR system.
    EmployeeUpdated = "employee.updated": Employee, EmployeesRead;
    /// An employee moved to `deactivated`.
    EmployeeDeactivated = "employee.deactivated": Employee, EmployeesRead;
    /// An employee moved from `deactivated` to `active` by reactivation.
    EmployeeReactivated = "employee.reactivated": Employee, EmployeesRead;
    /// An employee was rehired.
    EmployeeRehired = "employee.rehired": Employee, EmployeesRead;
    /// The test endpoint was called.
    TestPing = "test.ping": TestMessage;
    /// A subscription was disabled, because its deliveries kept failing or its receiver is gone.
    WebhookDisabled = "webhook.disabled": Webhook, WebhooksRead;
    /// A delivery to a subscription failed for the fifth time, for the first time since a delivery to it succeeded.
    WebhookFailing = "webhook.failing": Webhook, WebhooksRead;
    /// An API key, or the secret that a rotation has replaced, expires soon.
    ApiKeyExpiring = "api_key.expiring": ApiKey, SettingsRead, Settings;
    /// A department was created.
    DepartmentCreated = "department.created": Department, EmployeesRead;
    /// A department was renamed.
    DepartmentUpdated = "department.updated": Department, EmployeesRead;
    /// A department was archived.
    DepartmentArchived = "department.archived": Department, EmployeesRead;
    /// A department was restored from the archive.
    DepartmentRestored = "department.restored": Department, EmployeesRead;
    /// An attribute was created.
    AttributeCreated = "attribute.created": Attribute, ObservationsRead;
    /// Name, category or tone of an attribute changed.
    AttributeUpdated = "attribute.updated": Attribute, ObservationsRead;
    /// An attribute was archived.
    AttributeArchived = "attribute.archived": Attribute, ObservationsRead;
    /// An attribute was restored from the archive.
    AttributeRestored = "attribute.restored": Attribute, ObservationsRead;
    /// A conversation was created.
    ConversationCreated = "conversation.created": Conversation, ConversationsRead;
    /// Title or participants of a conversation changed.
    ConversationUpdated = "conversation.updated": Conversation, ConversationsRead;
    /// A conversation was archived.
    ConversationArchived = "conversation.archived": Conversation, ConversationsRead;
    /// A reviewer submitted, and more submissions are required.
    AssignmentUpdated = "assignment.updated": Assignment, AssignmentsRead;
    /// An assignment was canceled.
    AssignmentCanceled = "assignment.canceled": Assignment, AssignmentsRead;
    /// A connector was created.
    ConnectorCreated = "connector.created": Connector, SettingsRead, Settings;
    /// A setting or the status of a connector changed, or the result of an upload was recorded.
    ConnectorUpdated = "connector.updated": Connector, SettingsRead, Settings;
    /// A setting or the name of the organization changed.
    OrganizationUpdated = "organization.updated": Organization, SettingsRead;
    /// An invitation was created.
    InvitationCreated = "invitation.created": Invitation, EmployeesRead;
    /// The state of the mail of an invitation changed.
    InvitationUpdated = "invitation.updated": Invitation, EmployeesRead;
    /// An invitation was accepted.
    InvitationAccepted = "invitation.accepted": Invitation, EmployeesRead;
    /// An invitation was replaced by a newer one, its person left, or an identity provider adopted or activated its
    /// person.
    InvitationRevoked = "invitation.revoked": Invitation, EmployeesRead;
    /// The brake paused a connector.
    ConnectorPaused = "connector.paused": Connector, SettingsRead, Settings;
    /// Syncs of a connector began to fail, or a request of its identity provider was refused for a new reason.
    ConnectorSyncFailed = "connector.sync_failed": Connector, SettingsRead, Settings;
    /// A legal hold on the data of an employee was set, changed or ended.
    EmployeeHoldChanged = "employee.hold_changed": Employee, EmployeesErase, Organization;
    /// An employee was replaced by a pseudonym, and the data about them is being removed.
    EmployeeErased = "employee.erased": Employee;
    /// The data about an erased employee was removed.
    ErasureCompleted = "erasure.completed": Erasure, EmployeesErase, Organization;
    /// Archived resources were removed by a retention rule.
    RetentionRemoved = "retention.removed": RemovedIds;
    /// A retention run that removed data was completed.
    RetentionCompleted = "retention.completed": RetentionRun, EmployeesErase, Organization;
    /// A check-in was added to an objective.
    ObjectiveCheckedIn = "objective.checked_in": CheckedObjective, ObjectivesRead;
    /// An identity provider was created.
    IdentityProviderCreated = "identity_provider.created": IdentityProvider, SettingsRead, Organization;
    /// A setting, a proof or the status of an identity provider changed.
    IdentityProviderUpdated = "identity_provider.updated": IdentityProvider, SettingsRead, Organization;
    /// An identity provider was deleted. Carries the provider as it was.
    IdentityProviderDeleted = "identity_provider.deleted": IdentityProvider, SettingsRead, Organization;
}

impl EventType {
    /// Returns the bit of this type in stored sets of types. Bits never change: new types go to the end.
    #[must_use]
    pub const fn bit(self) -> i64 {
        1 << self as u32
    }
}

string_enum!(EventType, "EventType");

/// Content of the member `data` of an event: a resource, as GET returns it, unless the variant says otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, VariantArray)]
pub enum EventData {
    /// An observation.
    Observation,
    /// A summary.
    Summary,
    /// A conversation.
    Conversation,
    /// A message of a conversation.
    Message,
    /// An objective of any scope.
    Objective,
    /// An objective with its new check-in as the member `check_in`.
    CheckedObjective,
    /// A feedback assignment.
    Assignment,
    /// An employee.
    Employee,
    /// A department.
    Department,
    /// An attribute.
    Attribute,
    /// An invitation.
    Invitation,
    /// A connector.
    Connector,
    /// An identity provider.
    IdentityProvider,
    /// The organization.
    Organization,
    /// A webhook subscription.
    Webhook,
    /// An API key.
    ApiKey,
    /// An erasure.
    Erasure,
    /// A run of the retention.
    RetentionRun,
    /// The ids of removed resources.
    RemovedIds,
    /// The message of a test.
    TestMessage,
}

impl EventData {
    /// All variants in their order.
    pub const ALL: &'static [Self] = <Self as VariantArray>::VARIANTS;
}
