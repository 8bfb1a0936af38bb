//! The storage of the largest organizations, as the last round of measuring found it.

use std::sync::{Mutex, PoisonError};

use candor_domain::id::OrganizationId;

/// What an organization stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TenantSize {
    /// The organization.
    pub organization: OrganizationId,
    /// Rows of its resources, events and audit entries.
    pub rows: u64,
    /// Bytes of these rows, estimated from samples.
    pub bytes: u64,
}

/// The largest organizations, the largest first; empty until the first round has ended.
#[derive(Debug, Default)]
pub struct TenantSizes(Mutex<Vec<TenantSize>>);

impl TenantSizes {
    /// Returns the result of the last round.
    #[must_use]
    pub fn largest(&self) -> Vec<TenantSize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Replaces the result by that of a round that has ended.
    pub(crate) fn set(&self, largest: Vec<TenantSize>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = largest;
    }
}
