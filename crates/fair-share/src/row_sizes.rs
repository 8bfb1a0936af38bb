//! Record of the tables in which a tenant has large rows.

use std::time::Duration;

use candor_domain::access::Tenant;

use crate::expiring_cache::ExpiringCache;
use crate::large_work::LARGE_BYTES;
use candor_tables::flat::Table;
use candor_tables::read::AnyStored;

/// Maximum number of remembered pairs of tenant and table.
const MOST_REMEMBERED: usize = 10_000;
/// Time after which large rows are forgotten if no further read has found large rows in the table.
const REMEMBERED: Duration = Duration::from_secs(600);

/// Mean row size of those tables of tenants in which a read found large rows. A store asks before each read. It
/// runs a read that is probably large separately, so that small reads are not delayed.
#[derive(Clone, Debug)]
pub struct RowSizes(ExpiringCache<(Tenant, &'static str), usize>);

impl Default for RowSizes {
    fn default() -> Self {
        Self(ExpiringCache::new(MOST_REMEMBERED, REMEMBERED))
    }
}

impl RowSizes {
    /// Returns `true` if this many rows of a table are probably large in total.
    #[must_use]
    pub fn are_large(&self, tenant: Tenant, table: &Table, rows: usize) -> bool {
        let bytes = self.0.get(&(tenant, table.name)).unwrap_or_default();
        bytes.saturating_mul(rows) >= LARGE_BYTES
    }

    /// Records the mean row size of a read with at least [`LARGE_BYTES`]. A larger previous mean is kept.
    pub fn note(&self, tenant: Tenant, table: &Table, rows: usize, bytes: usize) {
        if bytes >= LARGE_BYTES {
            let (key, mean) = ((tenant, table.name), bytes / rows.max(1));
            let size_before = self.0.get(&key).unwrap_or_default();
            self.0.insert(key, mean.max(size_before));
        }
    }

    /// Records the mean row size of these rows that a read found, as [`RowSizes::note`] does.
    pub fn note_found(&self, tenant: Tenant, table: &Table, found: &[AnyStored]) {
        self.note(tenant, table, found.len(), found.iter().map(|row| row.bytes).sum());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor_domain::id::OrganizationId;
    use candor_domain::observation::Observation;
    use candor_domain::people::Employee;
    use candor_tables::flat::Stored;

    #[test]
    fn rows_count_as_large_after_a_read_has_measured_them() {
        let tenant = |number: u8| Tenant::live(OrganizationId::from_bytes([number; 16]));
        let (sizes, people) = (RowSizes::default(), Employee::TABLE);
        assert!(!sizes.are_large(tenant(1), people, 100));
        sizes.note(tenant(1), people, 100, LARGE_BYTES - 1);
        assert!(!sizes.are_large(tenant(1), people, 100), "a small read leaves no mark");
        sizes.note(tenant(1), people, 100, 100 * 33_000);
        sizes.note(tenant(1), people, 100, LARGE_BYTES);
        assert!(sizes.are_large(tenant(1), people, 8) && !sizes.are_large(tenant(1), people, 7));
        assert!(!sizes.are_large(tenant(2), people, 100) && !sizes.are_large(tenant(1), Observation::TABLE, 100));
    }
}
