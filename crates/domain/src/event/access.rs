//! Access that the events of each type need: a resource leaves only under the read scope of its family (decision F6).

use super::EventType;
use crate::access::{AdminContext, Caller, Permission, PermissionError};
use crate::export::ExportedResource;
use crate::fields::StringEnum;

impl EventType {
    /// Returns `true` if the delivery log shows attempts for events of this type to some of its readers only.
    #[must_use]
    pub fn is_hidden_in_log(self) -> bool {
        self.needed_context() == Some(AdminContext::Organization)
    }
}

impl Caller {
    /// Requires the access that GET of the resource in events of this type needs (decision F6). A key that may
    /// export the organization needs no scope of the families that an export contains.
    ///
    /// # Errors
    /// [`PermissionError::MissingScope`] and the errors of [`Caller::require_admin`].
    pub fn may_read_events_of(&self, kind: EventType) -> Result<(), PermissionError> {
        kind.needed_context().map_or(Ok(()), |context| self.require_admin(context))?;
        let exports = self.require(Permission::ExportsRead).is_ok()
            && self.require_admin(AdminContext::Organization).is_ok();
        let is_exported =
            |scope| exports && ExportedResource::ALL.iter().any(|resource| resource.read_scope() == scope);
        kind.needed_scope().filter(|scope| !is_exported(*scope)).map_or(Ok(()), |scope| self.require(scope))
    }

    /// Requires the access for events of this type without their resource, as deliveries of thin subscriptions
    /// contain them. For types that the delivery log hides, the id and the time tell what the resource tells.
    ///
    /// # Errors
    /// The errors of [`Caller::require_admin`], and for hidden types those of [`Caller::may_read_events_of`].
    pub fn may_hear_of(&self, kind: EventType) -> Result<(), PermissionError> {
        if kind.is_hidden_in_log() {
            return self.may_read_events_of(kind);
        }
        kind.needed_context().map_or(Ok(()), |context| self.require_admin(context))
    }

    /// Returns `true` if the caller may see attempts to deliver events of this type in the delivery log. The log shows
    /// attempts of all types without content, except those that tell of identity providers, legal holds, erasures and
    /// retention.
    #[must_use]
    pub fn may_see_deliveries_of(&self, kind: EventType) -> bool {
        !kind.is_hidden_in_log() || self.may_read_events_of(kind).is_ok()
    }

    /// Returns the types whose attempts the delivery log does not show to the caller.
    #[must_use]
    pub fn types_hidden_in_log(&self) -> Vec<EventType> {
        EventType::ALL.iter().copied().filter(|kind| !self.may_see_deliveries_of(*kind)).collect()
    }
}
