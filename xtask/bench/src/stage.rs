//! The service on both stores with the same data, and pgbench beside it.

use crate::Outcome;
use crate::admin::Admin;
use crate::burst::{Sample, Shape, Traffic, burst};
use crate::cost::{self, Processes};
use crate::data::{self, Dialect, Size};
use crate::database::Database;
use crate::options::{Options, Store};
use crate::pgbench::PgBench;
use crate::rounds::{Contender, median};
use crate::scratch::Scratch;
use crate::service::{Account, Candor, Service};
use crate::traffic;
use candor_domain::access::Tenant;
use candor_domain::id::{AttributeId, EmployeeId, OrganizationId};
use candor_test_postgres::Cluster;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Instant;

/// As many clients as the measurements have that the limits come from.
pub(crate) const CLIENTS: usize = 32;
/// Requests of each kind before the service counts as idle again.
const FEW_REQUESTS: usize = 20;
/// Starts of the service on the filled database.
const STARTS: usize = 3;

/// A durable server with sensible memory for what is loaded. A checkpoint in the middle of a turn would make turns
/// differ, and statements are shown in full so that pgbench can run the same ones.
const SETTINGS: [&str; 6] = [
    "shared_buffers=2GB",
    "max_wal_size=8GB",
    "checkpoint_timeout=1h",
    "autovacuum_naptime=1h",
    "track_activity_query_size=32kB",
    "random_page_cost=1.1",
];

/// The database server, and the program that it is compared with.
#[derive(Debug)]
pub(crate) struct Postgres {
    cluster: Cluster,
    pgbench: std::path::PathBuf,
}

impl Postgres {
    /// `Err` says why there is nothing to compare with.
    pub(crate) fn start() -> Outcome<Result<Self, &'static str>> {
        let Some(cluster) = Cluster::start_with(&SETTINGS)? else {
            return Ok(Err("no PostgreSQL server programs found: set PG_BIN_DIR"));
        };
        let Some(pgbench) = cluster.program("pgbench") else {
            return Ok(Err("PostgreSQL has no pgbench here: install its client programs"));
        };
        Ok(Ok(Self { cluster, pgbench }))
    }

    pub(crate) fn version(&self) -> Outcome<String> {
        let texts = Admin::connect(&self.cluster.url())?.texts("SHOW server_version")?;
        Ok(texts.into_iter().next().unwrap_or_default())
    }

    /// A new, empty database.
    fn database(&self, name: &str) -> Outcome<String> {
        let url = self.cluster.url();
        Admin::connect(&url)?.run(&format!("CREATE DATABASE {name}"))?;
        Ok(url.rsplit_once('/').map(|(server, _)| format!("{server}/{name}")).unwrap_or_default())
    }
}

/// The service on one store.
#[derive(Debug)]
pub(crate) struct Side {
    pub(crate) store: Store,
    pub(crate) key: String,
    pub(crate) tenant: [u8; 16],
    /// The URL of its database.
    pub(crate) database: String,
    organization: String,
    candor: Candor,
    pub(crate) attributes: Vec<AttributeId>,
    pub(crate) service: Service,
    processes: Processes,
    /// The build that it is compared with, on the same database.
    before: Option<(Service, Processes)>,
    /// Memory after a start and a few requests, in bytes.
    pub(crate) idle_bytes: u64,
    /// The median of some starts, in seconds.
    pub(crate) ready_seconds: f64,
}

/// What is compared with.
#[derive(Debug)]
pub(crate) struct Reference {
    pub(crate) admin: Admin,
    pub(crate) pgbench: PgBench,
    processes: Processes,
}

/// A loaded data set.
#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) size: Size,
    sides: Vec<Side>,
    pub(crate) reference: Option<Reference>,
}

impl Stage {
    /// Loads the data and starts the services. The server is loaded as well when only SQLite is measured, because
    /// pgbench runs on it.
    pub(crate) fn set(
        name: &str,
        size: Size,
        options: &Options,
        scratch: &Scratch,
        postgres: Option<&Postgres>,
    ) -> Outcome<Self> {
        let begun = Instant::now();
        let mut stage = Self { size, sides: vec![], reference: None };
        if let Some(postgres) = postgres {
            let url = postgres.database(name)?;
            let candor = Candor::new(&options.binary, &scratch.path().join(format!("{name}-postgres")), url.clone())?;
            let load = |tenant| data::into_postgres(&Admin::connect(&url)?, tenant, size);
            let side = Side::start(Store::Postgres, &candor, size, load)?;
            stage.sides.push(side.compared_with(options.before.as_ref())?);
            let pgbench = PgBench::new(postgres.pgbench.clone(), url.clone(), scratch.path());
            let admin = Admin::connect(&url)?;
            let processes = Processes { service: None, server: Some(cost::server(&admin)?) };
            stage.reference = Some(Reference { admin, pgbench, processes });
        }
        if options.measures(Store::Sqlite) {
            let folder = scratch.path().join(format!("{name}-sqlite"));
            let file = folder.join("candor.db").to_string_lossy().into_owned();
            let candor = Candor::new(&options.binary, &folder, format!("sqlite://{file}"))?;
            let side = Side::start(Store::Sqlite, &candor, size, |it| data::into_sqlite(&file, it, size))?;
            stage.sides.push(side.compared_with(options.before.as_ref())?);
        }
        let Size { people, observations } = size;
        println!("{people} people and {observations} observations loaded in {:.0} s", begun.elapsed().as_secs_f64());
        Ok(stage)
    }

    /// The services that are to be measured.
    pub(crate) fn measured<'a>(&'a self, options: &'a Options) -> impl Iterator<Item = &'a Side> {
        self.sides.iter().filter(|it| options.measures(it.store))
    }

    /// The service on PostgreSQL, also when it is not measured itself.
    pub(crate) fn on_postgres(&self) -> Option<&Side> {
        self.sides.iter().find(|it| it.store == Store::Postgres)
    }

    /// The service on SQLite, if it runs.
    pub(crate) fn on_sqlite(&self) -> Option<&Side> {
        self.sides.iter().find(|it| it.store == Store::Sqlite)
    }

    /// Where everything is, for a person.
    pub(crate) fn addresses(&self) -> String {
        let each = self.sides.iter().map(|it| {
            let Side { store, key, database, service, .. } = it;
            format!("{store}: http://{}, process {}, key {key}, {database}", service.address, service.process)
        });
        each.collect::<Vec<_>>().join("\n")
    }

    /// Throws away what the services logged.
    pub(crate) fn empty_logs(&self) -> Outcome {
        self.sides.iter().try_for_each(|it| it.service.empty_log())
    }

    /// What the services have to say when something went wrong.
    pub(crate) fn complaints(&self) -> String {
        let each =
            self.sides.iter().map(|it| format!("the end of the log on {}:\n{}", it.store, it.service.end_of_log()));
        each.collect::<Vec<_>>().join("\n")
    }
}

impl Side {
    fn start(
        store: Store,
        candor: &Candor,
        size: Size,
        load: impl FnOnce([u8; 16]) -> Outcome<Vec<AttributeId>>,
    ) -> Outcome<Self> {
        let account = candor.account()?;
        let organization: OrganizationId = account.organization.parse()?;
        let tenant = Tenant::live(organization).to_bytes();
        let attributes = load(tenant)?;
        let mut times = vec![];
        for _ in 1..STARTS {
            times.push(candor.serve()?.ready_after.as_secs_f64());
        }
        let service = candor.serve()?;
        times.push(service.ready_after.as_secs_f64());
        let few = Shape::of_few(FEW_REQUESTS, 0);
        burst(service.address, &traffic::one_observation(&account.key, size), few)?;
        burst(service.address, &traffic::first_page(&account.key, ""), few)?;
        let idle_bytes = service.resident_bytes()?;
        let (key, database, ready_seconds) = (account.key, candor.database().to_owned(), median(times));
        let (organization, candor) = (account.organization, candor.clone());
        let server = match store {
            Store::Postgres => Some(cost::server(&Admin::connect(&database)?)?),
            Store::Sqlite => None,
        };
        let processes = Processes { service: Some(service.process), server };
        Ok(Self {
            store,
            key,
            tenant,
            database,
            organization,
            candor,
            attributes,
            service,
            processes,
            before: None,
            idle_bytes,
            ready_seconds,
        })
    }

    /// The same data for another build: one process at a time may serve a file, so that on SQLite it gets a copy.
    fn for_another(&self, binary: &Path) -> Outcome<Candor> {
        match self.store {
            Store::Postgres => Ok(self.candor.built_as(binary)),
            Store::Sqlite => {
                let candor = Candor::new(binary, &self.folder_beside("before"), self.url_beside("before"))?;
                self.file_for_another("before")?;
                Ok(candor)
            }
        }
    }

    /// A copy of the file under a name, as another database; its URL.
    pub(crate) fn file_for_another(&self, name: &str) -> Outcome<String> {
        let folder = self.folder_beside(name);
        fs::create_dir_all(&folder)?;
        let copy = folder.join("candor.db");
        data::run_in_sqlite(self.file(), &format!("VACUUM INTO '{}'", copy.display()))?;
        Ok(self.url_beside(name))
    }

    fn folder_beside(&self, name: &str) -> PathBuf {
        Path::new(self.file()).with_extension(name)
    }

    fn url_beside(&self, name: &str) -> String {
        format!("sqlite://{}", self.folder_beside(name).join("candor.db").display())
    }

    /// The same binary on a new, empty database of the same store.
    pub(crate) fn on_an_empty_database(&self, name: &str) -> Outcome<Candor> {
        if self.store == Store::Postgres {
            Admin::connect(&self.database)?.run(&format!("CREATE DATABASE {name}"))?;
        }
        self.candor.beside(name, |folder| match self.store {
            Store::Postgres => {
                self.database.rsplit_once('/').map(|(server, _)| format!("{server}/{name}")).unwrap_or_default()
            }
            Store::Sqlite => format!("sqlite://{}", folder.join("candor.db").display()),
        })
    }

    /// Another process on the same database, whose quotas are counted on this server.
    pub(crate) fn counting_on(&self, url: &str) -> Outcome<Service> {
        self.candor.clone().counting_on(url).serve()
    }

    /// Another organization on the same service, and a key of it.
    pub(crate) fn another_account(&self) -> Outcome<Account> {
        self.candor.another_account()
    }

    /// A key that does what a person may.
    pub(crate) fn key_of(&self, person: EmployeeId) -> Outcome<String> {
        self.candor.key_of(&self.organization, person)
    }

    /// How the store spells values.
    pub(crate) const fn dialect(&self) -> Dialect {
        match self.store {
            Store::Postgres => Dialect::Postgres,
            Store::Sqlite => Dialect::Sqlite,
        }
    }

    /// Runs statements on the store, beside the service.
    pub(crate) fn run(&self, statements: &str) -> Outcome {
        match self.store {
            Store::Postgres => Admin::connect(&self.database)?.run(statements),
            Store::Sqlite => data::run_in_sqlite(self.file(), statements),
        }
    }

    /// Lets the server look at tables that were empty, as it does by itself within a minute: until then it takes any index
    /// for as good as any other.
    pub(crate) fn looked_at(&self) -> Outcome {
        match self.store {
            Store::Postgres => self.run("ANALYZE"),
            Store::Sqlite => Ok(()),
        }
    }

    /// The value of an expression on the store.
    pub(crate) fn number(&self, expression: &str) -> Outcome<i64> {
        match self.store {
            Store::Postgres => {
                let number = Admin::connect(&self.database)?.number(&format!("SELECT {expression}"))?;
                Ok(i64::try_from(number)?)
            }
            Store::Sqlite => data::number_in_sqlite(self.file(), expression),
        }
    }

    fn file(&self) -> &str {
        self.database.trim_start_matches("sqlite://")
    }

    /// This traffic as a contender.
    pub(crate) fn contender<'a>(&'a self, traffic: Rc<Traffic>, connections: usize) -> Contender<'a> {
        self.contender_from(traffic, connections, 0)
    }

    /// The same with seeds of its own, so that no request is a retry of another contender's.
    pub(crate) fn contender_from<'a>(&'a self, traffic: Rc<Traffic>, connections: usize, first: u64) -> Contender<'a> {
        contender(&self.service, &self.processes, traffic, connections, first)
    }

    /// The same for the build that this one is compared with, if there is one.
    pub(crate) fn contender_before<'a>(
        &'a self,
        traffic: Rc<Traffic>,
        connections: usize,
        first: u64,
    ) -> Option<Contender<'a>> {
        let (service, processes) = self.before.as_ref()?;
        Some(contender(service, processes, traffic, connections, first))
    }

    /// Starts another build on the same database.
    fn compared_with(mut self, binary: Option<&PathBuf>) -> Outcome<Self> {
        if let Some(binary) = binary {
            let service = self.for_another(binary)?.serve()?;
            let processes = Processes { service: Some(service.process), server: self.processes.server };
            self.before = Some((service, processes));
        }
        Ok(self)
    }

    /// The database itself, beside the service.
    pub(crate) fn database(&self) -> Outcome<Database> {
        match self.store {
            Store::Postgres => Database::on_postgres(&self.database),
            Store::Sqlite => Database::on_sqlite(self.database.trim_start_matches("sqlite://")),
        }
    }

    /// The literal of the tenant on this store.
    pub(crate) fn tenant_literal(&self) -> String {
        Dialect::Postgres.bytes(self.tenant)
    }
}

fn contender<'a>(
    service: &'a Service,
    processes: &'a Processes,
    traffic: Rc<Traffic>,
    connections: usize,
    first: u64,
) -> Contender<'a> {
    Box::new(move |time, round| {
        let seed = first + round;
        let before = processes.spent()?;
        let sample = burst(service.address, &traffic, Shape::of_time(connections, time, seed))?;
        let (spent, requests) = (processes.spent()? - before, sample.micros.len());
        Ok(sample.at_the_cost_of(spent, requests as f64))
    })
}

impl Reference {
    /// A script as a contender.
    pub(crate) fn contender<'a>(&'a self, script: &'a Path) -> Contender<'a> {
        Box::new(move |time, _| {
            let before = self.processes.spent()?;
            let rate = self.pgbench.rate(script, CLIENTS, time)?;
            let spent = self.processes.spent()? - before;
            Ok(Sample::of_rate(rate).at_the_cost_of(spent, rate * time.as_secs_f64()))
        })
    }
}
