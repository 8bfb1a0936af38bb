//! The service on one store of a data set.

use crate::Result;
use crate::api::Api;
use crate::burst::{Shape, burst};
use crate::comparison::{Contender, median};
use crate::cost::{self, Processes};
use crate::data::{self, Size};
use crate::database::Database;
use crate::pgbench::create_database;
use crate::service::{Account, Candor, Service};
use crate::store::Store;
use crate::traffic::Traffic;
use candor_domain::id::{AttributeId, EmployeeId, OrganizationId};
use std::path::{Path, PathBuf};

/// Number of requests of each kind before the memory of an idle service is measured.
const FEW_REQUESTS: usize = 20;
/// Number of starts of the service on the loaded database.
const STARTS: usize = 3;

#[derive(Debug)]
pub(crate) struct Instance {
    pub(crate) store: Store,
    /// Client of the organization with the data.
    pub(crate) api: Api,
    pub(crate) tenant: [u8; 16],
    organization: OrganizationId,
    candor: Candor,
    pub(crate) attributes: Vec<AttributeId>,
    pub(crate) service: Service,
    processes: Processes,
    /// Service of the build that `--before` names, on the same data.
    before: Option<(Service, Processes)>,
    /// Memory in bytes after a start and a few requests.
    pub(crate) idle_bytes: u64,
    /// Median of the seconds from a start until the service is ready.
    pub(crate) ready_seconds: f64,
}

impl Instance {
    /// Loads the data into a database and starts the service on it.
    pub(crate) fn start(candor: Candor, size: Size, before: Option<&PathBuf>) -> Result<Self> {
        let account = candor.migrate_with_account()?;
        let tenant = account.tenant();
        let database = Database::connect(&candor.database)?;
        let attributes = data::load(&database, tenant, size)?;
        let store = database.store();
        let server = if store == Store::Postgres { Some(cost::server(&database)?) } else { None };
        drop(database);
        let mut times = vec![];
        for _ in 1..STARTS {
            times.push(candor.serve()?.ready_after.as_secs_f64());
        }
        let service = candor.serve()?;
        times.push(service.ready_after.as_secs_f64());
        let api = service.api(&account.key);
        for traffic in [Traffic::observation(&api.key, size), Traffic::first_page(&api.key, "")] {
            burst(service.address, &traffic, Shape::for_requests(FEW_REQUESTS, 0))?;
        }
        let mut instance = Self {
            store,
            api,
            tenant,
            organization: account.organization,
            attributes,
            processes: Processes { service: Some(service.process), server },
            before: None,
            idle_bytes: service.resident_bytes()?,
            ready_seconds: median(times),
            candor,
            service,
        };
        if let Some(binary) = before {
            let service = instance.with_other_binary(binary)?.serve()?;
            let processes = Processes { service: Some(service.process), server };
            instance.before = Some((service, processes));
        }
        Ok(instance)
    }

    /// Returns another build on the same data. Only one process may serve a file, so on SQLite it gets a copy.
    fn with_other_binary(&self, binary: &Path) -> Result<Candor> {
        match self.store {
            Store::Postgres => Ok(self.candor.with_binary(binary)),
            Store::Sqlite => Ok(self.copy_of_file("before")?.with_binary(binary)),
        }
    }

    /// Copies the SQLite file and returns the binary with the copy as its database.
    pub(crate) fn copy_of_file(&self, name: &str) -> Result<Candor> {
        let candor = self.candor.beside(name, sqlite_url)?;
        let path = candor.database.trim_start_matches("sqlite://");
        self.database()?.run(&format!("VACUUM INTO '{path}'"))?;
        Ok(candor)
    }

    /// Returns the binary with a new, empty database of the same store.
    pub(crate) fn on_empty_database(&self, name: &str) -> Result<Candor> {
        match self.store {
            Store::Postgres => {
                let url = create_database(&self.candor.database, name)?;
                self.candor.beside(name, |_| url)
            }
            Store::Sqlite => self.candor.beside(name, sqlite_url),
        }
    }

    /// Starts another process on the same database, with quotas that the server at `url` counts.
    pub(crate) fn with_rate_limiter(&self, url: &str) -> Result<Service> {
        self.candor.clone().with_setting("CANDOR_RATE_LIMITER", url).serve()
    }

    /// Creates another organization and returns its key.
    pub(crate) fn create_account(&self) -> Result<Account> {
        self.candor.create_account()
    }

    /// Creates another organization and returns a client with its key.
    pub(crate) fn create_organization(&self) -> Result<Api> {
        Ok(self.service.api(&self.create_account()?.key))
    }

    /// Returns a client with another key of the organization with the data. The quota of exports is per key.
    pub(crate) fn another_client(&self) -> Result<Api> {
        Ok(self.service.api(&self.candor.create_admin_key(self.organization)?))
    }

    /// Creates a key with the rights of a person.
    pub(crate) fn create_key_for(&self, person: EmployeeId) -> Result<String> {
        self.candor.create_key_for(self.organization, person)
    }

    /// Creates a key of the connector of an identity provider.
    pub(crate) fn create_scim_key(&self, account: &Account, connector: &str) -> Result<String> {
        self.candor.create_scim_key(account.organization, connector)
    }

    /// Opens a connection to the database.
    pub(crate) fn database(&self) -> Result<Database> {
        Database::connect(&self.candor.database)
    }

    /// Returns creates of observations with two attributes.
    pub(crate) fn creates(&self, size: Size) -> Traffic {
        Traffic::creates(&self.api.key, size.people, &self.attributes, 2)
    }

    /// Returns a contender that sends these requests. The seeds of its turns follow `first_seed`, so that no
    /// request repeats one of another contender.
    pub(crate) fn contender(&self, traffic: Traffic, connections: usize, first_seed: u64) -> Contender<'_> {
        contender(&self.service, &self.processes, traffic, connections, first_seed)
    }

    /// Returns a contender that sends these requests to the build that `--before` names.
    pub(crate) fn contender_before(
        &self,
        traffic: Traffic,
        connections: usize,
        first: u64,
    ) -> Option<Contender<'_>> {
        let (service, processes) = self.before.as_ref()?;
        Some(contender(service, processes, traffic, connections, first))
    }
}

fn sqlite_url(folder: &Path) -> String {
    format!("sqlite://{}", folder.join("candor.db").display())
}

fn contender<'a>(
    service: &'a Service,
    processes: &'a Processes,
    traffic: Traffic,
    connections: usize,
    first_seed: u64,
) -> Contender<'a> {
    Box::new(move |time, round| {
        let before = processes.usage()?;
        let sample = burst(service.address, &traffic, Shape::for_time(connections, time, first_seed + round))?;
        let (usage, requests) = (processes.usage()? - before, sample.micros.len());
        Ok(sample.with_usage(usage, requests as f64))
    })
}
