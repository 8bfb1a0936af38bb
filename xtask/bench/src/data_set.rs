//! The service on both stores with the same data, and pgbench beside it.

use crate::Result;
use crate::comparison::{Comparison, Contender};
use crate::data::Size;
use crate::instance::Instance;
use crate::options::Options;
use crate::pgbench::{Postgres, Reference};
use crate::scratch::Scratch;
use crate::service::Candor;
use crate::store::Store;
use std::path::PathBuf;
use std::time::Instant;

/// Default number of concurrent clients. The limits on the results come from measurements with this number.
pub(crate) const CLIENTS: usize = 32;

/// A loaded data set.
pub(crate) struct DataSet<'a> {
    pub(crate) options: &'a Options,
    pub(crate) size: Size,
    instances: Vec<Instance>,
    reference: Option<Reference>,
}

impl<'a> DataSet<'a> {
    /// Loads the data and starts the services. PostgreSQL gets the data even if only SQLite is measured, because
    /// pgbench runs there.
    pub(crate) fn load(options: &'a Options, scratch: &Scratch, postgres: Option<&Postgres>) -> Result<Self> {
        let (started, size) = (Instant::now(), options.size());
        let mut set = Self { options, size, instances: vec![], reference: None };
        let mut start = |candor| Instance::start(candor, size).map(|instance| set.instances.push(instance));
        if let Some(postgres) = postgres {
            let url = postgres.create_database("main")?;
            start(Candor::new(&options.binary, &scratch.path().join("postgres"), url.clone())?)?;
            set.reference = Some(postgres.reference(url, scratch.path())?);
        }
        if options.measures(Store::Sqlite) {
            let folder = scratch.path().join("sqlite");
            let url = format!("sqlite://{}", folder.join("candor.db").display());
            start(Candor::new(&options.binary, &folder, url)?)?;
        }
        println!("{} observations loaded in {:.0} s", size.observations, started.elapsed().as_secs_f64());
        Ok(set)
    }

    /// Returns the services that are measured.
    pub(crate) fn measured_instances(&self) -> impl Iterator<Item = &Instance> {
        self.instances.iter().filter(|instance| self.options.measures(instance.store))
    }

    /// Returns the service on a store, even if it is not measured.
    pub(crate) fn instance_on(&self, store: Store) -> Option<&Instance> {
        self.instances.iter().find(|instance| instance.store == store)
    }

    /// Lets contenders take turns.
    pub(crate) fn compare(&self, instance: &Instance, all: &[Contender<'_>]) -> Result<Comparison> {
        Comparison::run(instance.store, all, self.options.rounds(), self.options.turn())
    }

    /// Lets a contender and pgbench take turns. Without a PostgreSQL server, only the contender runs. `script`
    /// writes the script of pgbench, with the help of the service on PostgreSQL.
    pub(crate) fn compare_with_pgbench(
        &self,
        instance: &Instance,
        contender: Contender<'_>,
        script: impl FnOnce(&Instance, &Reference) -> Result<PathBuf>,
    ) -> Result<Comparison> {
        let mut contenders = vec![contender];
        if let Some((reference, postgres)) = self.reference.as_ref().zip(self.instance_on(Store::Postgres)) {
            contenders.push(reference.contender(script(postgres, reference)?, CLIENTS));
        }
        Ok(self.compare(instance, &contenders)?.with_label("pgbench"))
    }

    pub(crate) fn truncate_logs(&self) -> Result {
        self.instances.iter().try_for_each(|instance| instance.service.truncate_log())
    }

    /// Returns the last lines of the log of each service.
    pub(crate) fn log_tails(&self) -> String {
        let tail = |one: &Instance| format!("the end of the log on {}:\n{}", one.store, one.service.log_tail());
        self.instances.iter().map(tail).collect::<Vec<_>>().join("\n")
    }
}
