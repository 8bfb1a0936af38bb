//! Changes of a document by the service itself, which ignore what a path cannot take.

use candor_forms::json::Value;

use super::bounds::Budget;
use super::{UserDocument, entries};
use crate::operations::PatchVerb;
use crate::path::ScimPath;

impl UserDocument {
    /// Sets the value at a path. A value that the path cannot take is ignored.
    pub fn put(&mut self, path: &ScimPath, value: Value) {
        self.change_if_possible(path, PatchVerb::Replace, Some(value));
    }

    /// Removes the attribute of a path without conditions.
    pub fn remove_plain(&mut self, path: &ScimPath) {
        if path.conditions.is_none() {
            self.change_if_possible(path, PatchVerb::Remove, None);
        }
    }

    /// Sets or removes the attribute that a path names. A refused change leaves the attribute as it was: a change
    /// touches this attribute alone, so only it is copied.
    fn change_if_possible(&mut self, path: &ScimPath, verb: PatchVerb, value: Option<Value>) {
        let Some(name) = path.attribute.as_deref() else { return };
        let former_value = self.section(&path.schema).and_then(|section| entries::member(section, name)).cloned();
        if self.change(path, verb, value, &mut Budget::new()).is_err() {
            entries::restore(self.section_mut(&path.schema), name, former_value);
            self.extensions.retain(|(_, members)| !members.is_empty());
        }
    }
}
