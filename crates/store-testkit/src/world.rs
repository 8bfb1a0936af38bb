//! A fresh store with fixtures, and steps that most cases need.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use candor_domain::access::{Environment, Tenant};
use candor_domain::event::{Event, EventType, FeedFilter};
use candor_domain::id::EmployeeId;
use candor_domain::observation::Observation;
use candor_domain::page::Position;
use candor_domain::people::Employee;
use candor_domain::time::Timestamp;
use candor_port_storage::{
    ChangeSet, CommitError, Committed, ReportingLineChange, Row, Storage, StorageExt, Version, Versioned, Write,
};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

use crate::empty_store::{EmptyStore, Sql};
use crate::fixtures::joins;
use crate::{Fixtures, Random};

/// Longest wait for a condition.
const DEADLINE: Duration = Duration::from_secs(100);
/// Pause between two checks of a condition.
const PAUSE: Duration = Duration::from_millis(2);
/// The earliest time, before all timestamps of the tests.
pub(crate) const EVER: Timestamp = Timestamp::from_millis(0);

/// The context of a case: a store, fixtures and a tenant.
#[derive(Clone)]
pub(crate) struct CaseContext {
    pub(crate) store: Arc<dyn Storage>,
    pub(crate) sql: Sql,
    pub(crate) make: Arc<Fixtures>,
    pub(crate) random: Arc<Random>,
    pub(crate) tenant: Tenant,
}

impl CaseContext {
    pub(crate) fn new(fresh: &EmptyStore) -> Self {
        let make = Fixtures::new(7);
        let tenant = make.tenant();
        Self {
            store: Arc::clone(&fresh.store),
            sql: Arc::clone(&fresh.sql),
            make: Arc::new(make),
            random: Arc::new(Random::new(11)),
            tenant,
        }
    }

    /// Returns a context for the live data of another organization.
    pub(crate) fn in_other_tenant(&self) -> Self {
        Self { tenant: self.make.tenant(), ..self.clone() }
    }

    /// Returns a context for the test data of this organization.
    pub(crate) fn test_environment(&self) -> Self {
        Self { tenant: Tenant { environment: Environment::Test, ..self.tenant }, ..self.clone() }
    }

    pub(crate) async fn commit(&self, change: ChangeSet) -> Result<(), CommitError> {
        self.commit_for_result(change).await.map(drop)
    }

    /// Commits a change set and returns the side results of the commit.
    pub(crate) async fn commit_for_result(&self, change: ChangeSet) -> Result<Committed, CommitError> {
        self.store.commit(self.tenant, change).await
    }

    /// Commits writes that must not be refused.
    pub(crate) async fn save(&self, writes: Vec<Write>) {
        self.commit(self.make.change(writes)).await.expect("saved");
    }

    /// Commits one write, which may be refused.
    pub(crate) async fn try_save(&self, write: Write) -> Result<(), CommitError> {
        self.commit(self.make.change(vec![write])).await
    }

    /// Adds an employee without a manager.
    pub(crate) async fn hire(&self) -> Employee {
        self.add_employee(self.make.employee()).await
    }

    /// Adds an employee who reports to this manager.
    pub(crate) async fn hired_below(&self, manager: EmployeeId) -> Employee {
        self.add_employee(Employee { manager_id: Some(manager), ..self.make.employee() }).await
    }

    /// Saves this employee as a new one.
    pub(crate) async fn add_employee(&self, employee: Employee) -> Employee {
        self.save(vec![joins(employee.clone())]).await;
        employee
    }

    /// Adds an observation about an employee.
    pub(crate) async fn observe(&self, about: EmployeeId) -> Observation {
        let observation = self.make.observation(about);
        self.save(vec![Write::put(&Row::new(observation.clone()))]).await;
        observation
    }

    pub(crate) async fn employee(&self, id: EmployeeId) -> Versioned<Employee> {
        self.store.row::<Employee>(self.tenant, id).await.expect("an answer").expect("an employee")
    }

    /// Changes the manager of an employee as the service does: reads, decides, commits, and retries on stale
    /// state. Returns `false` if the change would close a cycle.
    pub(crate) async fn moves(&self, id: EmployeeId, manager: Option<EmployeeId>) -> bool {
        for _ in 0..1000 {
            let employee_row = self.employee(id).await;
            // Removing a manager cannot close a cycle, so the tree needs no check.
            let mut lines = ReportingLineChange { seen: None };
            if let Some(manager) = manager {
                let reporting_line = self.store.read_reporting(self.tenant, id, manager).await.expect("an answer");
                if reporting_line.is_below {
                    return false;
                }
                lines.seen = Some(reporting_line.tree);
            }
            let state = Employee { manager_id: manager, updated_at: self.make.tick(), ..employee_row.value };
            match self.try_save(Write::employee(&Row::at_version(state, employee_row.version), Some(lines))).await
            {
                Ok(()) => return true,
                Err(CommitError::Stale) => {}
                Err(other) => panic!("{other}"),
            }
        }
        panic!("every attempt to move {id} was stale");
    }

    /// Returns the version of the tenant's reporting tree.
    pub(crate) async fn tree(&self) -> Version {
        let anyone = self.make.id();
        self.store.read_reporting(self.tenant, anyone, anyone).await.expect("an answer").tree
    }

    /// Returns every event of the tenant in commit order. A marker event, committed by this call, shows where
    /// the earlier ones end.
    pub(crate) async fn events(&self) -> Vec<Event> {
        let mark = self.make.event(EventType::TestPing);
        let change = ChangeSet { events: vec![mark.clone()], ..self.make.change(vec![]) };
        self.commit(change).await.expect("saved");
        let mut poller = Poller::new(self.clone());
        poller.poll_until(|events| events.last() == Some(&mark)).await;
        poller.events.pop();
        poller.events
    }

    /// Runs one statement on the database, bypassing the store.
    pub(crate) async fn spoil(&self, statement: &str) {
        (self.sql)(statement.to_owned()).await;
    }
}

/// A client that follows the event feed.
pub(crate) struct Poller {
    world: CaseContext,
    at: Option<Position>,
    pub(crate) events: Vec<Event>,
}

impl Poller {
    pub(crate) const fn new(world: CaseContext) -> Self {
        Self::starting_after(world, None)
    }

    /// Creates a poller that starts behind a position.
    pub(crate) const fn starting_after(world: CaseContext, at: Option<Position>) -> Self {
        Self { world, at, events: vec![] }
    }

    /// Reads the feed until `holds` returns `true` for all events read.
    pub(crate) async fn poll_until(&mut self, holds: impl Fn(&[Event]) -> bool) {
        let start_time = Instant::now();
        while !holds(&self.events) {
            assert!(start_time.elapsed() < DEADLINE, "the feed stopped after {} events", self.events.len());
            let CaseContext { store, tenant, .. } = &self.world;
            let start = self.at.clone().into();
            let page = store.feed(*tenant, &FeedFilter::default(), EVER, &start, 7).await.expect("a page");
            if page.events.is_empty() {
                assert!(!page.more, "an empty page promises more events");
                sleep(PAUSE).await;
            }
            self.events.extend(page.events);
            self.at = page.next.or(self.at.take());
        }
    }
}

/// Waits until `holds` returns `true`.
///
/// # Panics
/// When the condition does not hold within the deadline.
pub async fn eventually<F: Future<Output = bool>>(what: &str, holds: impl Fn() -> F) {
    let start = Instant::now();
    while !holds().await {
        assert!(start.elapsed() < DEADLINE, "{what}: not within {DEADLINE:?}");
        sleep(PAUSE).await;
    }
}

/// Runs tasks concurrently and returns their results in the order of the tasks.
pub(crate) async fn at_once<T, F>(tasks: impl IntoIterator<Item = F>) -> Vec<T>
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let mut running = JoinSet::new();
    for (number, task) in tasks.into_iter().enumerate() {
        running.spawn(async move { (number, task.await) });
    }
    let mut results = running.join_all().await;
    results.sort_by_key(|(number, _)| *number);
    results.into_iter().map(|(_, result)| result).collect()
}
