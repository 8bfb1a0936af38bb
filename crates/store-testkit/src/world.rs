//! A fresh store with fixtures, and the few steps that most cases take.

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
    ChangeSet, CommitError, Committed, Lines, Row, Storage, StorageExt, Version, Versioned, Write,
};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

use crate::fixtures::joins;
use crate::run::{Fresh, Sql};
use crate::{Fixtures, Random};

/// How long a condition may take to come true.
const DEADLINE: Duration = Duration::from_secs(30);
/// How long to wait before looking again.
const PAUSE: Duration = Duration::from_millis(2);
/// Earlier than anything.
pub(crate) const EVER: Timestamp = Timestamp::from_millis(0);

/// What a case works with.
#[derive(Clone)]
pub(crate) struct World {
    pub(crate) store: Arc<dyn Storage>,
    pub(crate) sql: Sql,
    pub(crate) make: Arc<Fixtures>,
    pub(crate) random: Arc<Random>,
    pub(crate) tenant: Tenant,
}

impl World {
    pub(crate) fn new(fresh: &Fresh) -> Self {
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

    /// The same store, as the live data set of another organization sees it.
    pub(crate) fn elsewhere(&self) -> Self {
        Self { tenant: self.make.tenant(), ..self.clone() }
    }

    /// The same store, as the test data set of the same organization sees it.
    pub(crate) fn test_environment(&self) -> Self {
        Self { tenant: Tenant { environment: Environment::Test, ..self.tenant }, ..self.clone() }
    }

    pub(crate) async fn commit(&self, change: ChangeSet) -> Result<(), CommitError> {
        self.committed(change).await.map(drop)
    }

    /// Saves a change set, and says what else came of it.
    pub(crate) async fn committed(&self, change: ChangeSet) -> Result<Committed, CommitError> {
        self.store.commit(self.tenant, change).await
    }

    /// Saves writes that nothing stands against.
    pub(crate) async fn save(&self, writes: Vec<Write>) {
        self.commit(self.make.change(writes)).await.expect("saved");
    }

    /// Saves one write, which may be refused.
    pub(crate) async fn try_save(&self, write: Write) -> Result<(), CommitError> {
        self.commit(self.make.change(vec![write])).await
    }

    /// Somebody new.
    pub(crate) async fn hired(&self) -> Employee {
        self.joined(self.make.employee()).await
    }

    /// Somebody new, below somebody.
    pub(crate) async fn hired_below(&self, manager: EmployeeId) -> Employee {
        self.joined(Employee { manager_id: Some(manager), ..self.make.employee() }).await
    }

    /// This person, new.
    pub(crate) async fn joined(&self, employee: Employee) -> Employee {
        self.save(vec![joins(employee.clone())]).await;
        employee
    }

    /// Something new about somebody.
    pub(crate) async fn observed(&self, about: EmployeeId) -> Observation {
        let it = self.make.observation(about);
        self.save(vec![Write::put(&Row::new(it.clone()))]).await;
        it
    }

    pub(crate) async fn employee(&self, id: EmployeeId) -> Versioned<Employee> {
        self.store.row::<Employee>(self.tenant, id).await.expect("an answer").expect("an employee")
    }

    /// Gives somebody another manager, or none, as the service does: look, decide, commit, and again when another
    /// change came first. Answers whether the move was made; one that would close a cycle is not.
    pub(crate) async fn moves(&self, id: EmployeeId, manager: Option<EmployeeId>) -> bool {
        for _ in 0..1000 {
            let seen = self.employee(id).await;
            // Who loses a manager closes no cycle, so nothing has to be looked at.
            let mut lines = Lines { seen: None };
            if let Some(manager) = manager {
                let looked = self.store.reporting(self.tenant, id, manager).await.expect("an answer");
                if looked.is_below {
                    return false;
                }
                lines.seen = Some(looked.tree);
            }
            let state = Employee { manager_id: manager, updated_at: self.make.tick(), ..seen.value };
            match self.try_save(Write::employee(&Row::seen(state, seen.version), Some(lines))).await {
                Ok(()) => return true,
                Err(CommitError::Stale) => {}
                Err(other) => panic!("{other}"),
            }
        }
        panic!("the move of {id} was always overtaken");
    }

    /// The version of the tenant's reporting tree.
    pub(crate) async fn tree(&self) -> Version {
        let anyone = self.make.id();
        self.store.reporting(self.tenant, anyone, anyone).await.expect("an answer").tree
    }

    /// Every event of the tenant, in commit order. An event that is announced now marks the end: whatever was
    /// committed before stands before it.
    pub(crate) async fn events(&self) -> Vec<Event> {
        let mark = self.make.event(EventType::TestPing);
        let change = ChangeSet { events: vec![mark.clone()], ..self.make.change(vec![]) };
        self.commit(change).await.expect("saved");
        let mut poller = Poller::new(self.clone());
        poller.until(|events| events.last() == Some(&mark)).await;
        poller.events.pop();
        poller.events
    }

    /// Runs one statement on the database, past the store.
    pub(crate) async fn spoil(&self, statement: &str) {
        (self.sql)(statement.to_owned()).await;
    }
}

/// Somebody who follows the feed.
pub(crate) struct Poller {
    world: World,
    at: Option<Position>,
    pub(crate) events: Vec<Event>,
}

impl Poller {
    pub(crate) const fn new(world: World) -> Self {
        Self::at(world, None)
    }

    /// Starts behind a position.
    pub(crate) const fn at(world: World, at: Option<Position>) -> Self {
        Self { world, at, events: vec![] }
    }

    /// Reads on until that holds of all that was read.
    pub(crate) async fn until(&mut self, holds: impl Fn(&[Event]) -> bool) {
        let begun = Instant::now();
        while !holds(&self.events) {
            assert!(begun.elapsed() < DEADLINE, "the feed stopped after {} events", self.events.len());
            let World { store, tenant, .. } = &self.world;
            let start = self.at.clone().into();
            let page = store.feed(*tenant, &FeedFilter::default(), EVER, &start, 7).await.expect("a page");
            if page.events.is_empty() {
                assert!(!page.more, "more to come, and yet nothing came");
                sleep(PAUSE).await;
            }
            self.events.extend(page.events);
            self.at = page.next.or(self.at.take());
        }
    }
}

/// Waits until that holds, for as long as a test may take.
///
/// # Panics
/// Where it does not hold in time.
pub async fn eventually<F: Future<Output = bool>>(what: &str, holds: impl Fn() -> F) {
    let begun = Instant::now();
    while !holds().await {
        assert!(begun.elapsed() < DEADLINE, "{what}: not within {DEADLINE:?}");
        sleep(PAUSE).await;
    }
}

/// Runs everything at once, and gives the results in the order of the tasks.
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
