//! Changes of a document by the service itself. They have no bounds, and ignore what a path cannot take.

use candor_forms::json::Value;

use super::UserDocument;
use super::bounds::Budget;
use crate::operations::PatchVerb;
use crate::path::ScimPath;

impl UserDocument {
    /// Sets the value at a path. If the path cannot take a value, because another value is in the way, the document
    /// stays as it was.
    pub fn put(&mut self, path: &ScimPath, value: Value) {
        self.change_if_possible(path, PatchVerb::Replace, Some(value));
    }

    /// Removes the attribute of a path without conditions.
    pub fn remove_plain(&mut self, path: &ScimPath) {
        if path.conditions.is_none() {
            self.change_if_possible(path, PatchVerb::Remove, None);
        }
    }

    /// Sets or removes the attribute that a path names. Without bounds, each change is refused before it begins.
    fn change_if_possible(&mut self, path: &ScimPath, verb: PatchVerb, value: Option<Value>) {
        if path.attribute.is_some() && self.change(path, verb, value, &mut Budget::new_unlimited()).is_err() {
            self.extensions.retain(|(_, members)| !members.is_empty());
        }
    }
}
