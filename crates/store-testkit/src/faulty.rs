//! A store that fails on request, for tests of retries and lost responses.

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use candor_domain::access::Tenant;
use candor_domain::access::api_key::{KeyHash, KeyRecord};
use candor_domain::event::{FeedFilter, FeedStart};
use candor_domain::id::{EmployeeId, KeyId, OrganizationId};
use candor_domain::idempotency::{IdempotencyKey, Replay};
use candor_domain::organization::Organization;
use candor_domain::time::Timestamp;
use candor_port_storage::change::ValidKeys;
use candor_port_storage::error::Read;
use candor_port_storage::read::Rows;
use candor_port_storage::search_index::UnindexedTable;
use candor_port_storage::store::{
    Ancestors, Everyone, Expiry, FeedPage, History, People, Reporting, ReportingPair,
};
use candor_port_storage::{ChangeSet, CommitError, Committed};
use candor_port_storage::{Storage, StorageError, StoredReplay};
use candor_tables::counts::{CountedGroups, GroupKey};
use candor_tables::flat::{Column, SqlValue};
use candor_tables::listing::Listing;
use candor_tables::read::{AnyStored, RowKind};

mod erasing;
mod provisioning;
mod request_counts;
mod upkeep;
mod webhooks;

/// The kinds of calls to a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FaultyCall {
    /// A commit of a change set.
    Commit,
    /// A read of one resource or one fact.
    Get,
    /// A read of several resources by id, as expansion needs them.
    Batch,
    /// A read of a page of a list.
    List,
    /// A lookup of the key for a secret.
    Authenticate,
    /// A lookup of the replay for an idempotency key.
    Replay,
    /// A read of the event feed.
    Feed,
    /// A claim of due deliveries.
    Claim,
    /// A record of the results of leased deliveries.
    Record,
    /// Background work, such as uses of keys, the sweep, erasures, and the upkeep of queue and log.
    Upkeep,
    /// A call about the store itself: its master keys, its time, the write probe.
    Itself,
}

/// The way in which a call fails. [`Fault::Before`] and [`Fault::After`] return the same error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The call is not carried out.
    Before,
    /// The call is carried out, and its response is lost.
    After,
    /// The call is not carried out and never returns.
    Hang,
}

/// A store that fails on request and counts its calls.
#[derive(Debug)]
pub struct Faulty<S: ?Sized> {
    plan: Mutex<Plan>,
    store: Arc<S>,
}

#[derive(Debug, Default)]
struct Plan {
    calls: HashMap<FaultyCall, usize>,
    faults: HashMap<(FaultyCall, usize), Fault>,
    down: bool,
    outrun: bool,
    time: Option<Timestamp>,
    backlog: Option<UnindexedTable>,
    waiting: Option<u16>,
}

impl<S: Storage> Faulty<S> {
    /// Creates a store that works until a test requests a fault.
    #[must_use]
    pub fn new(store: S) -> Self {
        Self::from_shared(Arc::new(store))
    }
}

impl<S: Storage + ?Sized> Faulty<S> {
    /// Creates a store on top of a shared one. Other users of the shared store see no faults.
    #[must_use]
    pub fn from_shared(store: Arc<S>) -> Self {
        Self { plan: Mutex::default(), store }
    }

    /// Makes the `n`-th call from now fail with [`StorageError::Unavailable`]; 1 is the next call.
    pub fn fail(&self, call: FaultyCall, n: usize, fault: Fault) {
        let mut plan = self.plan();
        let call_number = plan.calls.get(&call).copied().unwrap_or_default() + n;
        plan.faults.insert((call, call_number), fault);
    }

    /// Makes every call fail if `down` is `true`; otherwise only the calls fail that a test has chosen.
    pub fn set_down(&self, down: bool) {
        self.plan().down = down;
    }

    /// Makes every commit and every check of a change set fail as stale if `outrun` is `true`, and none otherwise.
    pub fn set_outrun(&self, outrun: bool) {
        self.plan().outrun = outrun;
    }

    /// Returns the number of calls of a kind.
    pub fn calls(&self, call: FaultyCall) -> usize {
        self.plan().calls.get(&call).copied().unwrap_or_default()
    }

    fn plan(&self) -> MutexGuard<'_, Plan> {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next(&self, call: FaultyCall) -> Option<Fault> {
        let mut plan = self.plan();
        let count = plan.calls.entry(call).or_default();
        *count += 1;
        let call_number = *count;
        let planned_fault = plan.faults.remove(&(call, call_number));
        if plan.down { Some(Fault::Before) } else { planned_fault }
    }

    async fn run_call<T, E>(
        &self,
        call: FaultyCall,
        result: impl Future<Output = Result<T, E>> + Send,
    ) -> Result<T, E>
    where
        E: From<StorageError>,
    {
        match self.next(call) {
            None => result.await,
            Some(Fault::Before) => Err(unavailable()),
            Some(Fault::After) => result.await.and_then(|_| Err(unavailable())),
            Some(Fault::Hang) => std::future::pending().await,
        }
    }
}

fn unavailable<E: From<StorageError>>() -> E {
    StorageError::Unavailable("as arranged by the test".to_owned()).into()
}

#[async_trait]
impl<S: Storage + ?Sized> Rows for Faulty<S> {
    async fn any_row(
        &self,
        tenant: Tenant,
        kind: RowKind,
        by: Column,
        value: SqlValue,
    ) -> Read<Option<AnyStored>> {
        self.run_call(FaultyCall::Get, self.store.any_row(tenant, kind, by, value)).await
    }
    async fn any_rows(
        &self,
        tenant: Tenant,
        kind: RowKind,
        by: Column,
        values: Vec<SqlValue>,
    ) -> Read<Vec<AnyStored>> {
        self.run_call(FaultyCall::Batch, self.store.any_rows(tenant, kind, by, values)).await
    }
    async fn any_newest(
        &self,
        tenant: Tenant,
        kind: RowKind,
        by: Column,
        values: Vec<SqlValue>,
    ) -> Read<Vec<AnyStored>> {
        self.run_call(FaultyCall::Batch, self.store.any_newest(tenant, kind, by, values)).await
    }
    async fn any_page(&self, tenant: Tenant, lists: &[Listing]) -> Read<Vec<AnyStored>> {
        self.run_call(FaultyCall::List, self.store.any_page(tenant, lists)).await
    }
    async fn any_counts(
        &self,
        tenant: Tenant,
        lists: &[Listing],
        keys: &[GroupKey],
        most: usize,
    ) -> Read<CountedGroups> {
        self.run_call(FaultyCall::List, self.store.any_counts(tenant, lists, keys, most)).await
    }
    async fn any_row_of_any_tenant(
        &self,
        kind: RowKind,
        by: Column,
        value: SqlValue,
    ) -> Read<Option<(Tenant, AnyStored)>> {
        self.run_call(FaultyCall::Get, self.store.any_row_of_any_tenant(kind, by, value)).await
    }
    async fn any_due(
        &self,
        kind: RowKind,
        by: Column,
        until: SqlValue,
        most: u16,
    ) -> Read<Vec<(Tenant, AnyStored)>> {
        self.run_call(FaultyCall::Batch, self.store.any_due(kind, by, until, most)).await
    }
}

#[async_trait]
impl<S: Storage + ?Sized> People for Faulty<S> {
    async fn lines_above(&self, tenant: Tenant, people: &[EmployeeId]) -> Read<Ancestors> {
        self.run_call(FaultyCall::Batch, self.store.lines_above(tenant, people)).await
    }
    async fn people_below(&self, tenant: Tenant, manager: EmployeeId) -> Read<Vec<EmployeeId>> {
        self.run_call(FaultyCall::Batch, self.store.people_below(tenant, manager)).await
    }
    async fn direct_reports(
        &self,
        tenant: Tenant,
        managers: &[EmployeeId],
        most: u16,
    ) -> Read<Vec<ReportingPair>> {
        self.run_call(FaultyCall::Batch, self.store.direct_reports(tenant, managers, most)).await
    }
    async fn tree_height(&self, tenant: Tenant) -> Read<u32> {
        self.run_call(FaultyCall::Get, self.store.tree_height(tenant)).await
    }
    async fn heights(&self, tenant: Tenant, people: &[EmployeeId]) -> Read<Vec<(EmployeeId, u32)>> {
        self.run_call(FaultyCall::Batch, self.store.heights(tenant, people)).await
    }
    async fn read_reporting(&self, tenant: Tenant, employee: EmployeeId, manager: EmployeeId) -> Read<Reporting> {
        self.run_call(FaultyCall::Get, self.store.read_reporting(tenant, employee, manager)).await
    }
}

#[async_trait]
impl<S: Storage + ?Sized> Everyone for Faulty<S> {
    async fn organizations(&self, after: Option<OrganizationId>, limit: u16) -> Read<Vec<Organization>> {
        self.run_call(FaultyCall::List, self.store.organizations(after, limit)).await
    }
    async fn key_by_hash(&self, hash: KeyHash) -> Read<Option<KeyRecord>> {
        self.run_call(FaultyCall::Authenticate, self.store.key_by_hash(hash)).await
    }
    async fn count_valid_keys(&self, organization: OrganizationId, keys: ValidKeys, most: u32) -> Read<u32> {
        self.run_call(FaultyCall::List, self.store.count_valid_keys(organization, keys, most)).await
    }
    async fn touch_keys(&self, used: &[(OrganizationId, KeyId, Timestamp)]) -> Read<()> {
        self.run_call(FaultyCall::Upkeep, self.store.touch_keys(used)).await
    }
}

#[async_trait]
impl<S: Storage + ?Sized> History for Faulty<S> {
    async fn replay(&self, tenant: Tenant, key: &IdempotencyKey, now: Timestamp) -> Read<Option<StoredReplay>> {
        self.run_call(FaultyCall::Replay, self.store.replay(tenant, key, now)).await
    }
    async fn keep(&self, tenant: Tenant, replay: Replay) -> Read<bool> {
        self.run_call(FaultyCall::Commit, self.store.keep(tenant, replay)).await
    }
    async fn feed(
        &self,
        tenant: Tenant,
        filter: &FeedFilter,
        oldest: Timestamp,
        start: &FeedStart,
        limit: u16,
    ) -> Read<FeedPage> {
        self.run_call(FaultyCall::Feed, self.store.feed(tenant, filter, oldest, start, limit)).await
    }
    async fn sweep(&self, expiry: Expiry, most: u32) -> Read<u64> {
        self.run_call(FaultyCall::Upkeep, self.store.sweep(expiry, most)).await
    }
}

#[async_trait]
impl<S: Storage + ?Sized> Storage for Faulty<S> {
    async fn commit(&self, tenant: Tenant, change: ChangeSet) -> Result<Committed, CommitError> {
        let outrun = self.plan().outrun;
        let commit =
            async { if outrun { Err(CommitError::Stale) } else { self.store.commit(tenant, change).await } };
        self.run_call(FaultyCall::Commit, commit).await
    }
    async fn check(&self, tenant: Tenant, change: &ChangeSet) -> Result<(), CommitError> {
        let outrun = self.plan().outrun;
        let check =
            async { if outrun { Err(CommitError::Stale) } else { self.store.check(tenant, change).await } };
        self.run_call(FaultyCall::Get, check).await
    }

    fn replica(&self) -> &dyn Storage {
        self
    }
}
