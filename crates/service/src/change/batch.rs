//! Several decisions that are saved in one commit.

use candor_port_storage::ChangeSet;

/// A change set under construction, empty until the first part is added. The audit entry of the first part becomes the
/// first audit entry of the change set.
#[derive(Default)]
pub(crate) struct Batch(Option<ChangeSet>);

impl Batch {
    /// Adds the change set of one decision, see [`ChangeSet::append`].
    pub(crate) fn add(&mut self, part: ChangeSet) {
        match &mut self.0 {
            None => self.0 = Some(part),
            Some(all) => all.append(part),
        }
    }

    /// Returns the change set so far; `None` if nothing was added.
    pub(crate) const fn so_far(&mut self) -> Option<&mut ChangeSet> {
        self.0.as_mut()
    }

    /// Returns the change set; `None` if nothing was added.
    pub(crate) fn finish(self) -> Option<ChangeSet> {
        self.0
    }
}
