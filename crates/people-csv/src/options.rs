//! Options of an upload.

use candor_domain::time::Timestamp;
use candor_provisioning::Connector;

/// Options of an upload.
#[derive(Debug, Clone, Copy)]
pub struct PlanOptions<'a> {
    /// `true` if empty cells clear stored values.
    pub clear_empty: bool,
    /// `true` in admin context: missing departments may be created (decision E6), and org admins made and unmade
    /// (D12).
    pub is_admin: bool,
    /// The connector that uploads, or `None` for another client.
    pub connector: Option<&'a Connector>,
    /// The time of the changes.
    pub at: Timestamp,
}
