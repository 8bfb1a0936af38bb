//! Instances of the service on one database, which a test kills, freezes and cuts off while clients use them.

use std::net::SocketAddr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;

use candor_test_explore::size;
use candor_test_faults::{Fault, FaultProxy};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{RngCore, SeedableRng};

use super::actor::Actor;
use crate::support::{Client, Installation, PATIENCE, Proxy, Service, freeze, signal, wait_until};

/// Number of clients.
pub(super) const CLIENTS: usize = 6;
/// Number of operations before a disturbance, and the largest number beside it, in the gate and in an exploration. With
/// it, a fast client does not end before each kind of disturbance was there.
const CALM: [usize; 2] = [40, 200];
/// Number of operations of others during a pause of an instance.
const PAUSE: usize = 20;

/// Instances of the service on one database.
pub(super) struct Fleet {
    instances: Vec<Instance>,
    pub(super) key: String,
    pub(super) seed: u64,
    clock: AtomicU64,
    finished_operations: AtomicUsize,
    /// Number of operations at which the clients wait for the disturbance.
    limit: AtomicUsize,
    /// Number of operations at which the clients end.
    end: AtomicUsize,
    in_flight: AtomicUsize,
    working: AtomicUsize,
    /// Number of kills, pauses, cuts of clients and cuts from the database.
    disturbances: [AtomicUsize; 4],
    /// Dropped last: the services end before their database.
    place: Installation,
}

/// An instance with the connection to its database.
#[derive(Default)]
struct Instance {
    /// Settings of an instance on PostgreSQL. `None` is those of the fleet.
    place: Option<Installation>,
    /// Proxy to PostgreSQL.
    database: Option<Proxy>,
    running: Mutex<Option<Running>>,
    /// Addresses for clients. `None` while the instance is down.
    routes: Mutex<Option<Routes>>,
}

/// A process with the proxies in front of it.
struct Running {
    service: Service,
    front: Proxy,
    _spoiler: FaultProxy,
}

/// Addresses of an instance.
#[derive(Debug, Clone, Copy)]
pub(super) struct Routes {
    /// Proxy whose connections are cut at times.
    pub(super) front: SocketAddr,
    /// Proxy that breaks responses by a plan, with one request for each connection.
    pub(super) spoiler: SocketAddr,
}

impl Fleet {
    /// Starts one instance on SQLite.
    pub(super) fn on_sqlite(seed: u64) -> Self {
        Self::start(Installation::sqlite(), seed, |_| vec![Instance::default()])
    }

    /// Starts one to three instances on PostgreSQL, by the seed. `None` without PostgreSQL.
    pub(super) fn on_postgres(seed: u64) -> Option<Self> {
        let place = Installation::postgres()?;
        let instances = |place: &Installation| {
            let url = &place.settings.iter().find(|(name, _)| name == "CANDOR_DATABASE_URL").unwrap().1;
            let instance = |_| {
                let database = Proxy::forward_to(url);
                let place = Installation::with_database(&database.url(url));
                Instance { place: Some(place), database: Some(database), ..Instance::default() }
            };
            (0..1 + seed % 3).map(instance).collect()
        };
        Some(Self::start(place, seed, instances))
    }

    fn start(place: Installation, seed: u64, instances: impl FnOnce(&Installation) -> Vec<Instance>) -> Self {
        let key = place.key("*", &["--admin"]).secret;
        let fleet = Self {
            instances: instances(&place),
            place,
            key,
            seed,
            clock: AtomicU64::new(1),
            finished_operations: AtomicUsize::new(0),
            limit: AtomicUsize::new(0),
            end: AtomicUsize::new(0),
            in_flight: AtomicUsize::new(0),
            working: AtomicUsize::new(0),
            disturbances: Default::default(),
        };
        fleet.instances.iter().for_each(|instance| fleet.serve(instance));
        fleet
    }

    fn serve(&self, instance: &Instance) {
        let service = Service::serve(instance.place.as_ref().unwrap_or(&self.place));
        let front = Proxy::forward_to(&format!("http://{}/", service.address));
        let spoiler = FaultProxy::start(service.address, plan_faults()).unwrap();
        let routes = Routes { front: address(&front.url("http://host/")), spoiler: address(&spoiler.url()) };
        *instance.running.lock().unwrap() = Some(Running { service, front, _spoiler: spoiler });
        *instance.routes.lock().unwrap() = Some(routes);
    }

    fn kill(instance: &Instance) {
        *instance.routes.lock().unwrap() = None;
        if let Some(running) = instance.running.lock().unwrap().take() {
            running.service.kill();
        }
    }

    /// Returns the next tick of the clock that all clients share.
    pub(super) fn tick(&self) -> u64 {
        self.clock.fetch_add(1, Ordering::SeqCst)
    }

    /// Returns the number of finished operations.
    pub(super) fn progress(&self) -> usize {
        self.finished_operations.load(Ordering::SeqCst)
    }

    /// Counts an operation while it is in flight.
    pub(super) fn count<T>(&self, send: impl FnOnce() -> T) -> T {
        self.in_flight.fetch_add(1, Ordering::SeqCst);
        let result = send();
        self.in_flight.fetch_sub(1, Ordering::SeqCst);
        self.finished_operations.fetch_add(1, Ordering::SeqCst);
        result
    }

    /// Returns the addresses of this instance, or of the next one that runs.
    pub(super) fn routes(&self, number: usize) -> Routes {
        let next_routes = || {
            let instances = self.instances.iter().cycle().skip(number % self.instances.len());
            let mut routes = instances.take(self.instances.len()).map(|instance| *instance.routes.lock().unwrap());
            routes.find_map(|routes| routes)
        };
        let mut routes = None;
        wait_until(PATIENCE, || {
            routes = next_routes();
            routes.is_some()
        });
        routes.expect("an instance runs")
    }

    /// Lets all clients act until the number of operations is reached, beside disturbances. Then kills all instances.
    /// Returns the memories of the clients and a client of a new instance.
    pub(super) fn run<M: Default + Send>(
        &self,
        operations: usize,
        act: impl Fn(&mut Actor<'_>, &mut M) + Sync,
    ) -> (Vec<M>, Client) {
        self.working.store(CLIENTS, Ordering::SeqCst);
        self.end.store(operations, Ordering::SeqCst);
        let memories = thread::scope(|scope| {
            let work = |number| {
                let act = &act;
                move || {
                    let _working = Working(&self.working);
                    let (mut actor, mut memory) = (Actor::new(self, number), M::default());
                    while self.progress() < operations {
                        act(&mut actor, &mut memory);
                    }
                    memory
                }
            };
            let clients: Vec<_> = (0..CLIENTS).map(|number| scope.spawn(work(number))).collect();
            self.disturb();
            clients.into_iter().map(|client| client.join().unwrap()).collect()
        });
        self.instances.iter().for_each(Self::kill);
        let counts = self.disturbances.each_ref().map(|count| count.load(Ordering::SeqCst));
        assert!(counts.iter().all(|count| *count > 0), "no disturbance of a kind: {counts:?}");
        println!("{} instances, {counts:?} kills, pauses, cuts, cuts from the database", self.instances.len());
        self.serve(&self.instances[0]);
        (memories, self.client())
    }

    /// Returns a client of the first instance without a proxy.
    pub(super) fn client(&self) -> Client {
        let running = self.instances[0].running.lock().unwrap();
        running.as_ref().unwrap().service.client(&self.key)
    }

    /// Kills, pauses and cuts off instances in turn, until the clients end.
    fn disturb(&self) {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(self.seed);
        let mut kind = usize::try_from(self.seed % 4).unwrap();
        loop {
            let calm = size(CALM[0], CALM[1]);
            let next = self.progress() + calm;
            self.limit.store(next + calm, Ordering::SeqCst);
            self.wait_for_progress(next);
            if self.working.load(Ordering::SeqCst) == 0 {
                return;
            }
            let number = usize::try_from(random.next_u64() % self.instances.len() as u64).unwrap();
            let instance = &self.instances[number];
            match kind % 4 {
                0 => {
                    Self::kill(instance);
                    self.serve(instance);
                }
                1 => self.pause(instance),
                2 => cut_and_mend(&instance.running.lock().unwrap().as_ref().unwrap().front),
                _ => instance.database.iter().for_each(cut_and_mend),
            }
            self.disturbances[kind % 4].fetch_add(1, Ordering::SeqCst);
            kind += 1;
        }
    }

    /// Waits while the clients are ahead of the disturbances.
    pub(super) fn wait_for_turn(&self) {
        let may_send = || {
            let progress = self.progress();
            progress < self.limit.load(Ordering::SeqCst) || progress >= self.end.load(Ordering::SeqCst)
        };
        wait_until(PATIENCE, may_send);
    }

    fn wait_for_progress(&self, operations: usize) {
        let ends = || self.progress() >= operations || self.working.load(Ordering::SeqCst) == 0;
        assert!(wait_until(PATIENCE, ends).is_some(), "the clients wait: {} operations", self.progress());
    }

    /// Stops an instance until the clients of other instances have made progress, or until all clients wait for it.
    fn pause(&self, instance: &Instance) {
        let process = instance.running.lock().unwrap().as_ref().unwrap().service.process_id();
        freeze(process);
        let enough = self.progress() + PAUSE;
        // Clients of other instances that wait for their turn would wait for this one.
        self.limit.fetch_max(enough, Ordering::SeqCst);
        let mut last = usize::MAX;
        wait_until(PATIENCE, || {
            let progress = self.progress();
            let is_still = progress == last;
            last = progress;
            let working = self.working.load(Ordering::SeqCst);
            progress >= enough || working == 0 || is_still && self.in_flight.load(Ordering::SeqCst) >= working
        });
        signal(process, "CONT");
    }
}

/// Counts a client as working until it ends, also by a panic.
struct Working<'a>(&'a AtomicUsize);

impl Drop for Working<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Returns the plan of a proxy: one request in nine is broken. Responses that never come are left out, because a client
/// would have to wait.
fn plan_faults() -> Vec<Fault> {
    let faults = Fault::mixed().into_iter().filter(|fault| !matches!(fault, Fault::None | Fault::SlowAfter));
    faults.flat_map(|fault| [&[Fault::None; 8][..], &[fault]].concat()).collect()
}

fn cut_and_mend(proxy: &Proxy) {
    proxy.cut();
    proxy.mend();
}

fn address(url: &str) -> SocketAddr {
    url.trim_start_matches("http://").trim_end_matches('/').parse().unwrap()
}
