//! Visibility of summaries to the person they are about (decision B5).

use super::Summary;

impl Summary {
    /// Returns `true` if the person that the summary is about sees it only because it was shared.
    #[must_use]
    pub fn is_shared_with_reader(&self) -> bool {
        self.shared_at.is_some() && self.author_id != Some(self.employee_id)
    }
}
