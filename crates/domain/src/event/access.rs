//! Access that the events of each type need: a resource leaves only under the read scope of its family (decision F6).

use super::EventType;
use crate::access::{AdminContext, Caller, Permission, PermissionDenied};

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
