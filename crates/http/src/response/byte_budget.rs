//! Bounds the memory of unsent answers and of bodies.
//!
//! An answer stays in memory until its last byte is written, and a connection writes as fast as its client
//! reads. A body stays in memory from its first byte until its request is answered. Without a bound, clients that
//! request large pages and read nothing, or send all but the end of large bodies, exhaust the memory of the process.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use candor_domain::access::Caller;
use candor_domain::id::{KeyId, OrganizationId};

use crate::meters::{self, CountedBytes};
use crate::response::body::PIECE_BYTES;
use crate::response::error_response::ErrorResponse;

/// Limits for the memory of unsent answers, or of bodies, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ByteLimits {
    /// Limit for all API keys together. By default, the largest answer takes a twelfth of it, the largest body less.
    pub in_all: usize,
    /// Limit per API key. Four of the largest answers fit; a key with more has a client that does not read.
    pub per_key: usize,
}

impl Default for ByteLimits {
    fn default() -> Self {
        Self { in_all: 96 * 1024 * 1024, per_key: 32 * 1024 * 1024 }
    }
}

/// Maximum size of uncounted answers and bodies. They fit into the buffers that each connection has anyway.
const UNCOUNTED_BYTES: usize = PIECE_BYTES;
/// Room that an organization without counted bytes always has, in bytes, however much other organizations hold.
const FLOOR: usize = 2 * ROOM_TO_BEGIN;
/// Minimum room for a read, in bytes. With less, a large answer would not fit, so the read is refused before it runs.
const ROOM_TO_BEGIN: usize = 1024 * 1024;

fn refusal(of: CountedBytes) -> ErrorResponse {
    meters::bytes_refused(of);
    match of {
        CountedBytes::Responses => ErrorResponse::unread_responses(),
        CountedBytes::Bodies => ErrorResponse::unfinished_bodies(),
    }
}

/// Counts bytes per key, per organization and in total.
///
/// An organization may hold as many bytes as are still free. A single organization therefore gets half of the
/// budget. An organization that holds none always finds some room.
#[derive(Debug)]
pub(crate) struct ByteBudget {
    of: CountedBytes,
    limits: ByteLimits,
    held: Mutex<HeldBytes>,
}

#[derive(Debug, Default)]
struct HeldBytes {
    in_all: usize,
    by_key: HashMap<KeyId, usize>,
    by_organization: HashMap<OrganizationId, usize>,
}

impl ByteBudget {
    pub(crate) fn new(of: CountedBytes, limits: ByteLimits) -> Arc<Self> {
        Arc::new(Self { of, limits, held: Mutex::default() })
    }

    /// Refuses a read if the caller has no room for its answer.
    ///
    /// # Errors
    /// 503 if less than [`ROOM_TO_BEGIN`] is left.
    pub(crate) fn require_room(&self, caller: &Caller) -> Result<(), ErrorResponse> {
        let least = ROOM_TO_BEGIN.min(self.limits.per_key);
        if self.room(&self.lock_counts(), caller) < least { Err(refusal(self.of)) } else { Ok(()) }
    }

    /// Counts the answer to a read, or a body, until the permit is dropped. Returns `None` for a small one, which
    /// is not counted.
    ///
    /// # Errors
    /// 503 if the answer or the body does not fit.
    pub(crate) fn admit(
        self: &Arc<Self>,
        caller: &Caller,
        bytes: usize,
    ) -> Result<Option<BytePermit>, ErrorResponse> {
        if bytes > UNCOUNTED_BYTES && bytes > self.room(&self.lock_counts(), caller) {
            return Err(refusal(self.of));
        }
        Ok(self.count(caller, bytes))
    }

    /// Counts an answer without checking the limits, because the answer confirms a write that is already
    /// committed. Returns `None` for a small answer, which is not counted.
    pub(crate) fn count(self: &Arc<Self>, caller: &Caller, bytes: usize) -> Option<BytePermit> {
        if bytes <= UNCOUNTED_BYTES {
            return None;
        }
        let (key, organization) = (caller.key, caller.tenant.organization);
        let mut byte_counts = self.lock_counts();
        byte_counts.in_all += bytes;
        *byte_counts.by_key.entry(key).or_default() += bytes;
        *byte_counts.by_organization.entry(organization).or_default() += bytes;
        meters::bytes_held(self.of, byte_counts.in_all);
        Some(BytePermit { budget: Arc::clone(self), key, organization, bytes })
    }

    /// Returns the maximum size of the next answer to this caller, or of their next body, in bytes.
    fn room(&self, held: &HeldBytes, caller: &Caller) -> usize {
        let by_key = held.by_key.get(&caller.key).copied().unwrap_or_default();
        let by_organization = held.by_organization.get(&caller.tenant.organization).copied().unwrap_or_default();
        let free = self.limits.in_all.saturating_sub(held.in_all).saturating_sub(by_organization);
        // Answers to writes are counted without a limit, so other organizations may have used up the total.
        let floor = FLOOR.saturating_sub(by_organization);
        self.limits.per_key.saturating_sub(by_key).min(free.max(floor))
    }

    fn lock_counts(&self) -> MutexGuard<'_, HeldBytes> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Bytes of one answer or body in the budget; dropping the permit releases them.
#[derive(Debug)]
pub(crate) struct BytePermit {
    budget: Arc<ByteBudget>,
    key: KeyId,
    organization: OrganizationId,
    bytes: usize,
}

impl Drop for BytePermit {
    fn drop(&mut self) {
        let mut byte_counts = self.budget.lock_counts();
        byte_counts.in_all = byte_counts.in_all.saturating_sub(self.bytes);
        release(&mut byte_counts.by_key, self.key, self.bytes);
        release(&mut byte_counts.by_organization, self.organization, self.bytes);
        meters::bytes_held(self.budget.of, byte_counts.in_all);
    }
}

/// Subtracts bytes from a counter and removes the entry at zero.
fn release<K: Hash + Eq>(counts: &mut HashMap<K, usize>, key: K, bytes: usize) {
    if let Some(count) = counts.get_mut(&key) {
        *count = count.saturating_sub(bytes);
        if *count == 0 {
            counts.remove(&key);
        }
    }
}

#[cfg(test)]
mod tests {
    use candor_domain::access::{AccessLevel, Tenant};

    use super::*;

    const MIB: usize = 1024 * 1024;
    const LIMITS: ByteLimits = ByteLimits { in_all: 12 * MIB, per_key: 4 * MIB };

    fn caller(organization: u128, key: u128) -> Caller {
        let tenant = Tenant::live(OrganizationId::from_bytes(organization.to_be_bytes()));
        let key = KeyId::from_bytes(key.to_be_bytes());
        Caller { tenant, key, ..candor_test_fixtures::unbound(AccessLevel::Standard) }
    }

    #[test]
    fn api_key_at_its_answer_limit_regains_room_as_answers_end() {
        let budget = ByteBudget::new(CountedBytes::Responses, LIMITS);
        let reader = caller(1, 1);
        let first = budget.admit(&reader, 3 * MIB).unwrap();
        let error = budget.admit(&reader, 2 * MIB).unwrap_err();
        assert_eq!((error.status.as_u16(), error.retry_after_seconds), (503, Some(2)));
        let second = budget.admit(&reader, MIB).unwrap();
        assert!(budget.require_room(&reader).is_err());
        drop(first);
        assert!(budget.require_room(&reader).is_ok());
        assert!(budget.admit(&reader, 2 * MIB).is_ok());
        drop(second);
        let byte_counts = budget.lock_counts();
        assert_eq!(byte_counts.in_all, 0);
        assert!(
            byte_counts.by_key.is_empty() && byte_counts.by_organization.is_empty(),
            "idle keys are forgotten"
        );
    }

    #[test]
    fn answers_to_writes_leave_room_for_another_organization() {
        let budget = ByteBudget::new(CountedBytes::Responses, LIMITS);
        let _responses: Vec<_> = (0..50).map(|key| budget.count(&caller(1, key), 2 * MIB)).collect();
        let other = caller(2, 100);
        assert!(budget.require_room(&other).is_ok(), "another organization reads");
        let first = budget.admit(&other, MIB).unwrap();
        assert!(budget.require_room(&other).is_ok());
        let _second = budget.admit(&other, MIB).unwrap();
        assert!(budget.require_room(&other).is_err(), "the floor is bounded");
        drop(first);
        assert!(budget.require_room(&caller(1, 7)).is_err());
    }

    #[test]
    fn organization_with_many_keys_leaves_room_for_another() {
        let budget = ByteBudget::new(CountedBytes::Responses, LIMITS);
        let permits: Vec<_> = (0..50).filter_map(|key| budget.admit(&caller(1, key), 2 * MIB).ok()).collect();
        assert_eq!(permits.len(), 3, "half of 12 MiB");
        assert!(budget.admit(&caller(2, 99), 3 * MIB).is_ok());
    }

    #[test]
    fn refusal_of_a_body_names_bodies() {
        let budget = ByteBudget::new(CountedBytes::Bodies, LIMITS);
        let sender = caller(1, 1);
        let _body = budget.admit(&sender, 3 * MIB).unwrap();
        let error = budget.admit(&sender, 2 * MIB).unwrap_err();
        assert_eq!((error.status.as_u16(), error.retry_after_seconds), (503, Some(2)));
        assert!(error.message.contains("bodies"), "{}", error.message);
    }

    #[test]
    fn write_answer_is_counted_and_never_refused() {
        let budget = ByteBudget::new(CountedBytes::Responses, LIMITS);
        let writer = caller(1, 1);
        let _permits = [budget.count(&writer, 4 * MIB), budget.count(&writer, 4 * MIB)];
        assert!(budget.admit(&writer, MIB).is_err());
        assert!(budget.admit(&writer, UNCOUNTED_BYTES).unwrap().is_none(), "small answers always fit");
    }
}
