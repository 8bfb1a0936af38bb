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
use candor_tables::flat::SqlValue;
use candor_tables::listing::Listing;
use candor_tables::read::{AnyStored, Lookup};

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

/// Implements a trait of the storage port. A method in the inner braces passes its call on, as a call of the kind before
/// its name. Further methods follow in full.
macro_rules! faulty {
    ($port:ident {
        $($kind:ident: $method:ident($($argument:ident: $type:ty),*) -> $result:ty;)*
    } $($more:tt)*) => {
        #[async_trait]
        impl<S: Storage + ?Sized> $port for Faulty<S> {
            $(
                async fn $method(&self, $($argument: $type),*) -> $result {
                    self.run_call(FaultyCall::$kind, self.store.$method($($argument),*)).await
                }
            )*

            $($more)*
        }
    };
}

use faulty;

faulty! {
    Rows {
        Get: any_row(tenant: Tenant, by: Lookup, value: SqlValue) -> Read<Option<AnyStored>>;
        Batch: any_rows(tenant: Tenant, by: Lookup, values: Vec<SqlValue>) -> Read<Vec<AnyStored>>;
        Batch: any_newest(tenant: Tenant, by: Lookup, values: Vec<SqlValue>) -> Read<Vec<AnyStored>>;
        List: any_page(tenant: Tenant, lists: &[Listing]) -> Read<Vec<AnyStored>>;
        List: any_counts(
            tenant: Tenant, lists: &[Listing], keys: &[GroupKey], most: usize
        ) -> Read<CountedGroups>;
        Get: any_row_of_any_tenant(by: Lookup, value: SqlValue) -> Read<Option<(Tenant, AnyStored)>>;
        Batch: any_due(by: Lookup, until: SqlValue, most: u16) -> Read<Vec<(Tenant, AnyStored)>>;
    }
}

faulty! {
    People {
        Batch: lines_above(tenant: Tenant, people: &[EmployeeId]) -> Read<Ancestors>;
        Batch: people_below(tenant: Tenant, manager: EmployeeId) -> Read<Vec<EmployeeId>>;
        Batch: direct_reports(tenant: Tenant, managers: &[EmployeeId], most: u16) -> Read<Vec<ReportingPair>>;
        Get: tree_height(tenant: Tenant) -> Read<u32>;
        Batch: heights(tenant: Tenant, people: &[EmployeeId]) -> Read<Vec<(EmployeeId, u32)>>;
        Get: read_reporting(tenant: Tenant, employee: EmployeeId, manager: EmployeeId) -> Read<Reporting>;
    }
}

faulty! {
    Everyone {
        List: organizations(after: Option<OrganizationId>, limit: u16) -> Read<Vec<Organization>>;
        Authenticate: key_by_hash(hash: KeyHash) -> Read<Option<KeyRecord>>;
        List: count_valid_keys(organization: OrganizationId, keys: ValidKeys, most: u32) -> Read<u32>;
        Upkeep: touch_keys(used: &[(OrganizationId, KeyId, Timestamp)]) -> Read<()>;
    }
}

faulty! {
    History {
        Replay: replay(tenant: Tenant, key: &IdempotencyKey, now: Timestamp) -> Read<Option<StoredReplay>>;
        Commit: keep(tenant: Tenant, replay: Replay) -> Read<bool>;
        Feed: feed(
            tenant: Tenant, filter: &FeedFilter, oldest: Timestamp, start: &FeedStart, limit: u16
        ) -> Read<FeedPage>;
        Upkeep: sweep(expiry: Expiry, most: u32) -> Read<u64>;
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
