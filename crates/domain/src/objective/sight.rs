//! Permission to change objectives (§2.2, decision B5).

use super::{Objective, Scope};
use crate::access::{Caller, Denied};

impl Objective {
    /// Whether the caller may change this objective, which they see: an org objective needs admin context
    /// (decision C6).
    ///
    /// # Errors
    /// [`Denied::AdminRequired`].
    pub fn may_be_changed_by(&self, caller: &Caller) -> Result<(), Denied> {
        if self.scope == Scope::Org { require_org_writer(caller) } else { Ok(()) }
    }
}

/// Org objectives are written in admin context. A key that acts for a person does what that person may, whatever its
/// own level: their role decides (§2.2, decision B5).
///
/// # Errors
/// [`Denied::AdminRequired`].
pub(super) fn require_org_writer(caller: &Caller) -> Result<(), Denied> {
    if caller.acts_for().is_some() { Err(Denied::AdminRequired) } else { caller.require_admin() }
}
