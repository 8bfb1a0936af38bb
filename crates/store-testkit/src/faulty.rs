//! A store that fails when it is told to, for tests of retries and lost answers.

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use candor_domain::access::Tenant;
use candor_domain::access::api_key::{ApiKey, KeyHash, KeyRecord};
use candor_domain::audit::{self, AuditEntry};
use candor_domain::event::{FeedFilter, FeedStart};
use candor_domain::id::{
    AttributeId, AttributeKind, ConnectorId, DepartmentId, EmployeeId, EmployeeKind, KeyId, NotificationId,
    ObjectiveId, ObservationId, OrganizationId,
};
use candor_domain::library::{Attribute, Department, attribute, department};
use candor_domain::notification::{self, Notification};
use candor_domain::objective::{self, Objective, Sight};
use candor_domain::observation::{self, Observation};
use candor_domain::organization::Organization;
use candor_domain::page::{Page, PageRequest, Sort};
use candor_domain::params::Bounds;
use candor_domain::people::{self, Connector, Employee, Invitation};
use candor_domain::replay::{IdempotencyKey, Replay};
use candor_domain::time::{Date, Timestamp};
use candor_port_storage::store::{
    FeedPage, Keys, Library, LinesAbove, Objectives, Observations, People, Read, Referred, Reporting, Storage,
    StorageError, StoredReplay, Trail,
};
use candor_port_storage::{ChangeSet, CommitError, Committed, Versioned, Wanted};

mod upkeep;
mod webhooks;

/// What is asked of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Call {
    /// A change set.
    Commit,
    /// One resource, or a fact about it.
    Get,
    /// Several resources by their ids, as an expansion needs them.
    Batch,
    /// A page of a list.
    List,
    /// The key behind a secret.
    Authenticate,
    /// The answer kept for an idempotency key.
    Replay,
    /// A piece of the event feed.
    Feed,
    /// Deliveries to be leased.
    Claim,
    /// What has become of leased deliveries.
    Record,
    /// Notes and clearing: touched keys, the sweep, and the looks after queue and log.
    Upkeep,
    /// What concerns the store itself: its master keys, its time, a write that proves that it can be written.
    Itself,
}

/// How a call fails; the caller is told the same in both cases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It was not carried out.
    Before,
    /// It was carried out and the answer was lost.
    After,
}

/// A store whose calls fail as arranged, and are counted.
#[derive(Debug)]
pub struct Faulty<S: ?Sized> {
    plan: Mutex<Plan>,
    store: Arc<S>,
}

#[derive(Debug, Default)]
struct Plan {
    calls: HashMap<Call, usize>,
    faults: HashMap<(Call, usize), Fault>,
    down: bool,
    time: Option<Timestamp>,
}

impl<S: Storage> Faulty<S> {
    /// A store that works until something else is arranged.
    #[must_use]
    pub fn new(store: S) -> Self {
        Self::over(Arc::new(store))
    }
}

impl<S: Storage + ?Sized> Faulty<S> {
    /// The same over a store that others use as well; they meet no faults.
    #[must_use]
    pub fn over(store: Arc<S>) -> Self {
        Self { plan: Mutex::default(), store }
    }

    /// Lets the `n`-th call from now fail with [`StorageError::Unavailable`]; 1 is the next one.
    pub fn fail(&self, call: Call, n: usize, fault: Fault) {
        let mut plan = self.plan();
        let at = plan.calls.get(&call).copied().unwrap_or_default() + n;
        plan.faults.insert((call, at), fault);
    }

    /// Lets every call fail, or none but those arranged.
    pub fn set_down(&self, down: bool) {
        self.plan().down = down;
    }

    /// How many calls of a kind there were.
    pub fn calls(&self, call: Call) -> usize {
        self.plan().calls.get(&call).copied().unwrap_or_default()
    }

    fn plan(&self) -> MutexGuard<'_, Plan> {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next(&self, call: Call) -> Option<Fault> {
        let mut plan = self.plan();
        let count = plan.calls.entry(call).or_default();
        *count += 1;
        let at = *count;
        let arranged = plan.faults.remove(&(call, at));
        if plan.down { Some(Fault::Before) } else { arranged }
    }

    async fn through<T, E>(&self, call: Call, answer: impl Future<Output = Result<T, E>> + Send) -> Result<T, E>
    where
        E: From<StorageError>,
    {
        match self.next(call) {
            None => answer.await,
            Some(Fault::Before) => Err(lost()),
            Some(Fault::After) => answer.await.and_then(|_| Err(lost())),
        }
    }
}

fn lost<E: From<StorageError>>() -> E {
    StorageError::Unavailable("as arranged by the test".to_owned()).into()
}

#[async_trait]
impl<S: Storage + ?Sized> Observations for Faulty<S> {
    async fn observation(&self, tenant: Tenant, id: ObservationId) -> Read<Option<Versioned<Observation>>> {
        self.through(Call::Get, self.store.observation(tenant, id)).await
    }
    async fn observations(
        &self,
        tenant: Tenant,
        filter: &observation::Filter,
        sort: Sort,
        page: &PageRequest,
    ) -> Read<Page<Observation>> {
        self.through(Call::List, self.store.observations(tenant, filter, sort, page)).await
    }
    async fn referred(
        &self,
        tenant: Tenant,
        people: &[Wanted<EmployeeKind>],
        attributes: &[Wanted<AttributeKind>],
    ) -> Read<Referred> {
        self.through(Call::Batch, self.store.referred(tenant, people, attributes)).await
    }
}

#[async_trait]
impl<S: Storage + ?Sized> Objectives for Faulty<S> {
    async fn objective(&self, tenant: Tenant, id: ObjectiveId) -> Read<Option<Versioned<Objective>>> {
        self.through(Call::Get, self.store.objective(tenant, id)).await
    }
    async fn objectives(
        &self,
        tenant: Tenant,
        filter: &objective::Filter,
        sight: Sight,
        sort: Sort,
        page: &PageRequest,
    ) -> Read<Page<Objective>> {
        self.through(Call::List, self.store.objectives(tenant, filter, sight, sort, page)).await
    }
    async fn due_objectives(&self, today: Date, most: u16) -> Read<Vec<(Tenant, Versioned<Objective>)>> {
        self.through(Call::Batch, self.store.due_objectives(today, most)).await
    }
    async fn org_admins(&self, tenant: Tenant, most: u16) -> Read<Vec<EmployeeId>> {
        self.through(Call::Batch, self.store.org_admins(tenant, most)).await
    }
    async fn notification(&self, tenant: Tenant, id: NotificationId) -> Read<Option<Versioned<Notification>>> {
        self.through(Call::Get, self.store.notification(tenant, id)).await
    }
    async fn notifications(
        &self,
        tenant: Tenant,
        filter: &notification::Filter,
        sort: Sort,
        page: &PageRequest,
    ) -> Read<Page<Notification>> {
        self.through(Call::List, self.store.notifications(tenant, filter, sort, page)).await
    }
}

#[async_trait]
impl<S: Storage + ?Sized> People for Faulty<S> {
    async fn employee(&self, tenant: Tenant, id: EmployeeId) -> Read<Option<Versioned<Employee>>> {
        self.through(Call::Get, self.store.employee(tenant, id)).await
    }
    async fn employees(
        &self,
        tenant: Tenant,
        filter: &people::Filter,
        sort: Sort,
        page: &PageRequest,
    ) -> Read<Page<Employee>> {
        self.through(Call::List, self.store.employees(tenant, filter, sort, page)).await
    }
    async fn employees_by_id(&self, tenant: Tenant, ids: &[EmployeeId]) -> Read<Vec<Versioned<Employee>>> {
        self.through(Call::Batch, self.store.employees_by_id(tenant, ids)).await
    }
    async fn employees_by_email(&self, tenant: Tenant, emails: &[String]) -> Read<Vec<Versioned<Employee>>> {
        self.through(Call::Batch, self.store.employees_by_email(tenant, emails)).await
    }
    async fn employees_by_external_id(
        &self,
        tenant: Tenant,
        external_ids: &[String],
    ) -> Read<Vec<Versioned<Employee>>> {
        self.through(Call::Batch, self.store.employees_by_external_id(tenant, external_ids)).await
    }
    async fn lines_above(&self, tenant: Tenant, people: &[EmployeeId]) -> Read<LinesAbove> {
        self.through(Call::Batch, self.store.lines_above(tenant, people)).await
    }
    async fn employee_by_email(&self, tenant: Tenant, email: &str) -> Read<Option<EmployeeId>> {
        self.through(Call::Get, self.store.employee_by_email(tenant, email)).await
    }
    async fn employee_by_external_id(&self, tenant: Tenant, external_id: &str) -> Read<Option<EmployeeId>> {
        self.through(Call::Get, self.store.employee_by_external_id(tenant, external_id)).await
    }
    async fn direct_reports(&self, tenant: Tenant, managers: &[EmployeeId], most: u16) -> Read<Vec<Employee>> {
        self.through(Call::Batch, self.store.direct_reports(tenant, managers, most)).await
    }
    async fn reporting(&self, tenant: Tenant, employee: EmployeeId, manager: EmployeeId) -> Read<Reporting> {
        self.through(Call::Get, self.store.reporting(tenant, employee, manager)).await
    }
    async fn invitation(&self, tenant: Tenant, employee: EmployeeId) -> Read<Option<Versioned<Invitation>>> {
        self.through(Call::Get, self.store.invitation(tenant, employee)).await
    }
    async fn invitations_of(&self, tenant: Tenant, people: &[EmployeeId]) -> Read<Vec<Versioned<Invitation>>> {
        self.through(Call::Batch, self.store.invitations_of(tenant, people)).await
    }
    async fn invitation_by_token(&self, token_hash: [u8; 32]) -> Read<Option<(Tenant, Versioned<Invitation>)>> {
        self.through(Call::Get, self.store.invitation_by_token(token_hash)).await
    }
    async fn connector(&self, tenant: Tenant, id: ConnectorId) -> Read<Option<Versioned<Connector>>> {
        self.through(Call::Get, self.store.connector(tenant, id)).await
    }
    async fn connectors(
        &self,
        tenant: Tenant,
        changed: Bounds<Timestamp>,
        sort: Sort,
        page: &PageRequest,
    ) -> Read<Page<Connector>> {
        self.through(Call::List, self.store.connectors(tenant, changed, sort, page)).await
    }
    async fn managed_by(
        &self,
        tenant: Tenant,
        connector: ConnectorId,
        after: Option<EmployeeId>,
        limit: u16,
    ) -> Read<Vec<Versioned<Employee>>> {
        self.through(Call::Batch, self.store.managed_by(tenant, connector, after, limit)).await
    }
}

#[async_trait]
impl<S: Storage + ?Sized> Library for Faulty<S> {
    async fn organization(&self, tenant: Tenant) -> Read<Option<Versioned<Organization>>> {
        self.through(Call::Get, self.store.organization(tenant)).await
    }
    async fn organizations(&self, after: Option<OrganizationId>, limit: u16) -> Read<Vec<Organization>> {
        self.through(Call::List, self.store.organizations(after, limit)).await
    }
    async fn department(&self, tenant: Tenant, id: DepartmentId) -> Read<Option<Versioned<Department>>> {
        self.through(Call::Get, self.store.department(tenant, id)).await
    }
    async fn departments(
        &self,
        tenant: Tenant,
        filter: &department::Filter,
        sort: Sort,
        page: &PageRequest,
    ) -> Read<Page<Department>> {
        self.through(Call::List, self.store.departments(tenant, filter, sort, page)).await
    }
    async fn departments_by_id(&self, tenant: Tenant, ids: &[DepartmentId]) -> Read<Vec<Versioned<Department>>> {
        self.through(Call::Batch, self.store.departments_by_id(tenant, ids)).await
    }
    async fn departments_by_name(&self, tenant: Tenant, names: &[String]) -> Read<Vec<Versioned<Department>>> {
        self.through(Call::Batch, self.store.departments_by_name(tenant, names)).await
    }
    async fn department_by_name(&self, tenant: Tenant, name: &str) -> Read<Option<DepartmentId>> {
        self.through(Call::Get, self.store.department_by_name(tenant, name)).await
    }
    async fn department_has_members(&self, tenant: Tenant, id: DepartmentId) -> Read<bool> {
        self.through(Call::Get, self.store.department_has_members(tenant, id)).await
    }
    async fn attribute(&self, tenant: Tenant, id: AttributeId) -> Read<Option<Versioned<Attribute>>> {
        self.through(Call::Get, self.store.attribute(tenant, id)).await
    }
    async fn attributes(
        &self,
        tenant: Tenant,
        filter: &attribute::Filter,
        sort: Sort,
        page: &PageRequest,
    ) -> Read<Page<Attribute>> {
        self.through(Call::List, self.store.attributes(tenant, filter, sort, page)).await
    }
    async fn attribute_by_name(&self, tenant: Tenant, name: &str) -> Read<Option<AttributeId>> {
        self.through(Call::Get, self.store.attribute_by_name(tenant, name)).await
    }
}

#[async_trait]
impl<S: Storage + ?Sized> Keys for Faulty<S> {
    async fn key_by_hash(&self, hash: KeyHash) -> Read<Option<KeyRecord>> {
        self.through(Call::Authenticate, self.store.key_by_hash(hash)).await
    }
    async fn api_key(&self, organization: OrganizationId, id: KeyId) -> Read<Option<Versioned<ApiKey>>> {
        self.through(Call::Get, self.store.api_key(organization, id)).await
    }
    async fn api_keys(
        &self,
        organization: OrganizationId,
        changed: Bounds<Timestamp>,
        sort: Sort,
        page: &PageRequest,
    ) -> Read<Page<ApiKey>> {
        self.through(Call::List, self.store.api_keys(organization, changed, sort, page)).await
    }
    async fn organization_of_key(&self, id: KeyId) -> Read<Option<OrganizationId>> {
        self.through(Call::Get, self.store.organization_of_key(id)).await
    }
    async fn touch_keys(&self, used: &[(OrganizationId, KeyId, Timestamp)]) -> Read<()> {
        self.through(Call::Upkeep, self.store.touch_keys(used)).await
    }
}

#[async_trait]
impl<S: Storage + ?Sized> Trail for Faulty<S> {
    async fn replay(&self, tenant: Tenant, key: &IdempotencyKey, now: Timestamp) -> Read<Option<StoredReplay>> {
        self.through(Call::Replay, self.store.replay(tenant, key, now)).await
    }
    async fn keep(&self, tenant: Tenant, replay: Replay) -> Read<bool> {
        self.through(Call::Commit, self.store.keep(tenant, replay)).await
    }
    async fn feed(
        &self,
        tenant: Tenant,
        filter: &FeedFilter,
        oldest: Timestamp,
        start: &FeedStart,
        limit: u16,
    ) -> Read<FeedPage> {
        self.through(Call::Feed, self.store.feed(tenant, filter, oldest, start, limit)).await
    }
    async fn audit_log(
        &self,
        tenant: Tenant,
        filter: &audit::Filter,
        sort: Sort,
        page: &PageRequest,
    ) -> Read<Page<AuditEntry>> {
        self.through(Call::List, self.store.audit_log(tenant, filter, sort, page)).await
    }
    async fn sweep(&self, now: Timestamp, events_before: Timestamp, most: u32) -> Read<u64> {
        self.through(Call::Upkeep, self.store.sweep(now, events_before, most)).await
    }
}

#[async_trait]
impl<S: Storage + ?Sized> Storage for Faulty<S> {
    async fn commit(&self, tenant: Tenant, change: ChangeSet) -> Result<Committed, CommitError> {
        self.through(Call::Commit, self.store.commit(tenant, change)).await
    }
}
