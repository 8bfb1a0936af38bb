//! Storage sizes of the largest organizations, as last measured.

use std::sync::{Mutex, PoisonError};

use candor_domain::id::OrganizationId;

/// Storage size of an organization.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TenantSize {
    /// Organization that owns the rows.
    pub organization: OrganizationId,
    /// Number of rows of the organization's resources, events and audit entries.
    pub rows: u64,
    /// Size of these rows in bytes, estimated from samples.
    pub bytes: u64,
}

/// The largest organizations in descending order; empty until the first measurement ends.
#[derive(Debug, Default)]
pub struct TenantSizes(Mutex<Vec<TenantSize>>);

impl TenantSizes {
    /// Returns the result of the last measurement.
    #[must_use]
    pub fn largest(&self) -> Vec<TenantSize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Replaces the result by that of a completed measurement.
    pub(crate) fn set(&self, largest: Vec<TenantSize>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = largest;
    }
}
