//! Visibility of summaries to the person they are about (decision B5).

use super::Summary;

impl Summary {
    /// Whether the person it is about sees it for no other reason than that it was shared.
    #[must_use]
    pub fn is_shared_with_reader(&self) -> bool {
        self.shared_at.is_some() && self.author_id != Some(self.employee_id)
    }
}
