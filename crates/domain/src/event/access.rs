//! Access that the events of each type need: a resource leaves only under the read scope of its family (decision F6).

use super::EventType;
use crate::access::{AdminContext, Caller, Permission, PermissionDenied};

impl EventType {
    /// Returns the admin context that a caller needs to read events of this type in the feed, as for GET of their
    /// resource; `None` if it needs none.
    #[must_use]
    pub const fn needed_context(self) -> Option<AdminContext> {
        let of_settings = matches!(
            self,
            Self::ConnectorCreated
                | Self::ConnectorUpdated
                | Self::ConnectorPaused
                | Self::ConnectorSyncFailed
                | Self::ApiKeyExpiring
        );
        let of_organization =
            matches!(self, Self::EmployeeHoldChanged | Self::ErasureCompleted | Self::RetentionCompleted);
        match (of_settings, of_organization) {
            (true, _) => Some(AdminContext::Settings),
            (false, true) => Some(AdminContext::Organization),
            (false, false) => None,
        }
    }

    /// Returns the scope that GET of the resource in events of this type needs; `None` for tests, and for the
    /// removals that every copy of data has to follow.
    #[must_use]
    pub const fn needed_scope(self) -> Option<Permission> {
        match self {
            Self::ObservationCreated
            | Self::ObservationUpdated
            | Self::ObservationArchived
            | Self::ObservationRestored
            | Self::AttributeCreated
            | Self::AttributeUpdated
            | Self::AttributeArchived
            | Self::AttributeRestored => Some(Permission::ObservationsRead),
            Self::SummaryCreated
            | Self::SummaryUpdated
            | Self::SummarySubmitted
            | Self::SummaryApproved
            | Self::SummaryShared
            | Self::SummaryArchived
            | Self::SummaryFeedbackSubmitted => Some(Permission::SummariesRead),
            Self::ConversationMessageCreated
            | Self::ConversationCreated
            | Self::ConversationUpdated
            | Self::ConversationArchived => Some(Permission::ConversationsRead),
            Self::ObjectiveCreated
            | Self::ObjectiveStatusChanged
            | Self::ObjectiveUpdated
            | Self::ObjectiveArchived
            | Self::ObjectiveCheckedIn => Some(Permission::ObjectivesRead),
            Self::AssignmentCreated
            | Self::AssignmentCompleted
            | Self::AssignmentUpdated
            | Self::AssignmentCanceled => Some(Permission::AssignmentsRead),
            Self::EmployeeCreated
            | Self::EmployeeUpdated
            | Self::EmployeeDeactivated
            | Self::EmployeeReactivated
            | Self::EmployeeRehired
            | Self::DepartmentCreated
            | Self::DepartmentUpdated
            | Self::DepartmentArchived
            | Self::DepartmentRestored
            | Self::InvitationCreated
            | Self::InvitationUpdated
            | Self::InvitationAccepted
            | Self::InvitationRevoked => Some(Permission::EmployeesRead),
            Self::WebhookDisabled | Self::WebhookFailing => Some(Permission::WebhooksRead),
            Self::ApiKeyExpiring
            | Self::ConnectorCreated
            | Self::ConnectorUpdated
            | Self::ConnectorPaused
            | Self::ConnectorSyncFailed
            | Self::OrganizationUpdated => Some(Permission::SettingsRead),
            Self::EmployeeHoldChanged | Self::ErasureCompleted | Self::RetentionCompleted => {
                Some(Permission::EmployeesErase)
            }
            Self::TestPing | Self::EmployeeErased | Self::RetentionRemoved => None,
        }
    }
}

impl Caller {
    /// Requires the access that GET of the resource in events of this type needs (decision F9). A key that may
    /// export the organization has the scopes of all resources, because the export contains them.
    ///
    /// # Errors
    /// [`PermissionDenied::MissingScope`] and the errors of [`Caller::require_admin`].
    pub fn may_read_events_of(&self, kind: EventType) -> Result<(), PermissionDenied> {
        self.may_hear_of(kind)?;
        let exports = self.require(Permission::ExportsRead).is_ok()
            && self.require_admin(AdminContext::Organization).is_ok();
        kind.needed_scope().filter(|_| !exports).map_or(Ok(()), |scope| self.require(scope))
    }

    /// Requires the access for events of this type without their resource, as deliveries of thin subscriptions
    /// contain them.
    ///
    /// # Errors
    /// The errors of [`Caller::require_admin`].
    pub fn may_hear_of(&self, kind: EventType) -> Result<(), PermissionDenied> {
        kind.needed_context().map_or(Ok(()), |context| self.require_admin(context))
    }
}
