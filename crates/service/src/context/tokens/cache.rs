//! Caches of bearer tokens: callers, refused tokens, and the providers of issuers.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use candor_domain::access::Caller;
use candor_domain::access::api_key::KeyHash;
use candor_domain::id::{IdentityProofId, IdentityProviderId, OrganizationId};
use candor_domain::time::Timestamp;
use candor_sign_in::bearer::BearerError;
use candor_sign_in::{IdentityProvider, ProofHolder};
use metrics::counter;

use super::bearer_token::BearerToken;
use super::key_sets::KeySets;
use super::keys::{self, ProviderKeys};
use crate::context::auth::is_fresh;
use crate::context::bounded_map::{BoundedMap, Bounds};

/// Counter of refused tokens, by cause.
pub(super) const REFUSALS: &str = "candor_identity_token_refusals_total";
/// Number of entries of a map above which it is emptied, so that a client that invents tokens causes no eviction scans.
/// An entry of these maps has less than 100 bytes.
const MAX_ENTRIES: usize = 10_000;
/// Bounds of the verified tokens. A usual token takes 2 KiB, so an organization has 2,000 in use at the same time.
const TOKEN_BOUNDS: Bounds = Bounds { all: 64 * 1024 * 1024, organization: 4 * 1024 * 1024 };
/// Size that a provider counts with, in bytes: the largest one with all of its texts has this size.
const PROVIDER_BYTES: usize = 64 * 1024;
/// Bounds of the providers: 1,000 of them, and 8 of one organization, which has at most 5 that are not deleted.
const PROVIDER_BOUNDS: Bounds = Bounds { all: 1_000 * PROVIDER_BYTES, organization: 8 * PROVIDER_BYTES };

/// A value with the time at which it was read.
#[derive(Debug, Clone)]
pub(super) struct Expiring<T> {
    pub(super) value: T,
    pub(super) read_at: Timestamp,
}

/// A verified token with its caller.
#[derive(Debug, Clone)]
pub(super) struct CachedToken {
    pub(super) token: Arc<BearerToken>,
    /// The caller; `None` after a change of rights.
    pub(super) caller: Option<Arc<Caller>>,
    pub(super) read_at: Timestamp,
}

impl CachedToken {
    /// Returns the caller if it is fresh and the token has not expired.
    pub(super) fn caller_at(&self, now: Timestamp) -> Option<Arc<Caller>> {
        let is_valid = |caller: &Arc<Caller>| caller.expires_at.is_none_or(|end| now < end);
        self.caller.clone().filter(|caller| is_fresh(self.read_at, now) && is_valid(caller))
    }
}

/// Caches of bearer tokens and of the keys of their providers.
pub struct Tokens {
    verified: RwLock<BoundedMap<KeyHash, CachedToken>>,
    refused: Mutex<HashMap<KeyHash, Timestamp>>,
    holders: Mutex<HashMap<IdentityProofId, Expiring<Option<ProofHolder>>>>,
    providers: Mutex<BoundedMap<IdentityProviderId, Expiring<Arc<IdentityProvider>>>>,
    keys: Mutex<KeySets>,
}

/// Adds an entry to a map. A full map is emptied first.
fn insert<K: Eq + Hash, V>(map: &mut HashMap<K, V>, key: K, value: V) {
    if map.len() >= MAX_ENTRIES {
        map.clear();
    }
    map.insert(key, value);
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Default for Tokens {
    fn default() -> Self {
        Self::new()
    }
}

impl Tokens {
    /// Creates empty caches, and the counters of refused tokens and of fetches.
    #[must_use]
    pub fn new() -> Self {
        for cause in BearerError::all() {
            counter!(REFUSALS, "cause" => cause.word()).increment(0);
        }
        keys::register_counters();
        Self {
            verified: RwLock::new(BoundedMap::new(TOKEN_BOUNDS)),
            refused: Mutex::default(),
            holders: Mutex::default(),
            providers: Mutex::new(BoundedMap::new(PROVIDER_BOUNDS)),
            keys: Mutex::default(),
        }
    }

    pub(super) fn recall(&self, hash: KeyHash) -> Option<CachedToken> {
        self.verified.read().unwrap_or_else(PoisonError::into_inner).get(hash).cloned()
    }

    pub(super) fn remember(&self, token: CachedToken) {
        let mut tokens = self.verified.write().unwrap_or_else(PoisonError::into_inner);
        let (hash, organization, size) = (token.token.hash, token.token.tenant.organization, token.token.size());
        tokens.insert(hash, organization, size, token);
    }

    pub(super) fn forget(&self, hash: KeyHash) {
        self.verified.write().unwrap_or_else(PoisonError::into_inner).remove(hash);
    }

    /// Empties the caches of rights after this instance changed a provider or a link, so that the change applies here at
    /// once. The keys of providers stay.
    pub fn forget_rights(&self) {
        for token in self.verified.write().unwrap_or_else(PoisonError::into_inner).values_mut() {
            token.caller = None;
        }
        lock(&self.refused).clear();
        lock(&self.holders).clear();
        lock(&self.providers).clear();
    }

    /// Removes the callers of an organization. Called after this instance ended rights of people, so that the change applies
    /// here at once.
    pub fn forget_people_of(&self, organization: OrganizationId) {
        for token in self.verified.write().unwrap_or_else(PoisonError::into_inner).values_mut() {
            token.caller = token.caller.take().filter(|_| token.token.tenant.organization != organization);
        }
    }

    pub(super) fn is_refused(&self, hash: KeyHash, now: Timestamp) -> bool {
        lock(&self.refused).get(&hash).is_some_and(|at| is_fresh(*at, now))
    }

    pub(super) fn refuse(&self, hash: KeyHash, now: Timestamp) {
        insert(&mut lock(&self.refused), hash, now);
    }

    /// Returns the cached holder of a proof: `Some(None)` if no provider holds the proof, `None` if the cache has no
    /// fresh entry.
    pub(super) fn holder_of(&self, id: IdentityProofId, now: Timestamp) -> Option<Option<ProofHolder>> {
        let holders = lock(&self.holders);
        holders.get(&id).filter(|holder| is_fresh(holder.read_at, now)).map(|holder| holder.value)
    }

    pub(super) fn remember_holder(&self, id: IdentityProofId, value: Option<ProofHolder>, read_at: Timestamp) {
        insert(&mut lock(&self.holders), id, Expiring { value, read_at });
    }

    pub(super) fn provider_of(
        &self,
        id: IdentityProviderId,
        now: Timestamp,
    ) -> Option<Expiring<Arc<IdentityProvider>>> {
        lock(&self.providers).get(id).filter(|provider| is_fresh(provider.read_at, now)).cloned()
    }

    pub(super) fn remember_provider(
        &self,
        organization: OrganizationId,
        value: Arc<IdentityProvider>,
        read_at: Timestamp,
    ) -> Expiring<Arc<IdentityProvider>> {
        let provider = Expiring { value, read_at };
        lock(&self.providers).insert(provider.value.id, organization, PROVIDER_BYTES, provider.clone());
        provider
    }

    /// Returns the keys of a provider.
    pub(super) fn keys_of(
        &self,
        provider: (OrganizationId, IdentityProviderId),
        now: Timestamp,
    ) -> Arc<ProviderKeys> {
        lock(&self.keys).get(provider, now)
    }
}
