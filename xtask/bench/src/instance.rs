//! The service on one store of a data set.

use crate::Result;
use crate::api::Api;
use crate::comparison::Contender;
use crate::cost::{self, Processes};
use crate::data::{self, Size};
use crate::database::Database;
use crate::pgbench::create_database;
use crate::service::{Account, Candor, Service};
use crate::store::Store;
use crate::traffic::{OBSERVATIONS, Traffic};
use candor_domain::id::{AttributeId, OrganizationId};
use candor_test_load::{Shape, burst};
use std::path::Path;

#[derive(Debug)]
pub(crate) struct Instance {
    pub(crate) store: Store,
    /// Client of the organization with the data.
    pub(crate) api: Api,
    pub(crate) tenant: [u8; 16],
    organization: OrganizationId,
    pub(crate) candor: Candor,
    pub(crate) attributes: Vec<AttributeId>,
    pub(crate) service: Service,
    processes: Processes,
}

impl Instance {
    /// Loads the data into a database and starts the service on it.
    pub(crate) fn start(candor: Candor, size: Size) -> Result<Self> {
        candor.execute(&["migrate"])?;
        let account = candor.create_account()?;
        let tenant = account.tenant();
        let database = Database::connect(&candor.database)?;
        let attributes = data::load(&database, tenant, size)?;
        let store = database.store();
        let mut processes = Processes::default();
        if store == Store::Postgres {
            processes.0.push(cost::server(&database)?);
        }
        let service = candor.serve()?;
        processes.0.push(service.process);
        let (api, organization) = (service.api(&account.key), account.organization);
        Ok(Self { store, api, tenant, organization, attributes, processes, candor, service })
    }

    /// Copies the SQLite file and returns the binary with the copy as its database.
    pub(crate) fn copy_of_file(&self, name: &str) -> Result<Candor> {
        let candor = self.candor.with_database(name, sqlite_url)?;
        let path = candor.database.trim_start_matches("sqlite://");
        self.database()?.run(&format!("VACUUM INTO '{path}'"))?;
        Ok(candor)
    }

    /// Returns the binary with a new, empty database of the same store.
    pub(crate) fn on_empty_database(&self, name: &str) -> Result<Candor> {
        match self.store {
            Store::Postgres => {
                let url = create_database(&self.candor.database, name)?;
                self.candor.with_database(name, |_| url)
            }
            Store::Sqlite => self.candor.with_database(name, sqlite_url),
        }
    }

    /// Creates another organization and returns it with a key.
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
        Traffic::creates(OBSERVATIONS, &self.api.key, size.people, &self.attributes, 2)
    }

    /// Returns a contender that sends these requests.
    pub(crate) fn contender(&self, traffic: Traffic, connections: usize, first_seed: u64) -> Contender<'_> {
        contender(&self.service, &self.processes, traffic, connections, first_seed)
    }
}

fn sqlite_url(folder: &Path) -> String {
    format!("sqlite://{}", folder.join("candor.db").display())
}

/// Returns a contender that sends these requests and measures the processor time of these processes. Its seeds count up
/// from `first_seed`, two for each round. First seeds that are far apart keep requests of contenders from being equal. The
/// first third of a turn does not count: it refills caches that the turns of other contenders have displaced.
pub(crate) fn contender<'a>(
    service: &'a Service,
    processes: &'a Processes,
    traffic: Traffic,
    connections: usize,
    first_seed: u64,
) -> Contender<'a> {
    Box::new(move |time, round| {
        let part = |time, number| {
            let shape = Shape::for_time(connections, time, first_seed + 2 * round + number);
            burst(service.address, &traffic, shape)
        };
        part(time / 3, 0)?;
        let time_before = processes.time()?;
        let sample = part(time - time / 3, 1)?;
        let (time, requests) = (processes.time()?.saturating_sub(time_before), sample.micros.len());
        Ok(sample.with_cost(time, requests as f64))
    })
}
