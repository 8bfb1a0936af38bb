//! A database as the source or target of a full copy. Rows are transferred by `COPY` in its binary format.

mod binary;
mod read;
mod schema;
mod write;

use std::time::{Duration, Instant};

use async_trait::async_trait;
use candor_port_storage::StorageError;
use candor_port_storage::copy::{CopyProgress, CopySource, CopyTarget, RowStream};
use candor_port_storage::error::Read;
use candor_tables::copy::{CopyRow, CopyTable};
use candor_tables::flat::SqlValue;
use tokio::sync::Mutex;
use tokio_postgres::Client;

use crate::cluster::distribute::CAN_DISTRIBUTE;
use crate::cluster::{LAYOUT, layout_of};
use crate::connection::session::Session;
use crate::failure::{Failure, with_causes};
use crate::layout::SharedLayout;
use crate::migrations::{FEED_STEP, migrate, pending};
use crate::options::PostgresOptions;
use crate::schema::session::SchemaError;

/// Application name of a copy's connections, unless the URL sets one.
const NAME: &str = "candor copy";

/// Key of the advisory lock that a copy holds on its target, so that two copies cannot fill one database.
const LOCK: i64 = 0x0063_616e_646f_7202;

/// Query for the number of service connections to this database: other sessions with the default application name,
/// or with the name of this session.
const SERVICES: &str = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() \
    AND pid <> pg_backend_pid() \
    AND backend_type = 'client backend' AND application_name IN ($1, 'candor')";

/// Query for the number of service connections on all nodes of a cluster, without connections between the nodes.
const SERVICES_ON_NODES: &str = "SELECT count(*) FROM citus_stat_activity WHERE datname = current_database() \
    AND global_pid <> citus_backend_gpid() AND backend_type = 'client backend' \
    AND application_name IN ($1, 'candor')";

/// Maximum time to wait for the sessions of a service that was just stopped.
const PATIENCE: Duration = Duration::from_secs(2);
/// Interval between the checks for sessions of a service.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// A database that is read as a whole, or filled.
pub struct PostgresCopy {
    session: Session,
    options: PostgresOptions,
    layout: SharedLayout,
    /// `true` if the tables are on several nodes.
    is_cluster: bool,
    client: Mutex<Client>,
}

impl std::fmt::Debug for PostgresCopy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PostgresCopy").finish_non_exhaustive()
    }
}

/// Reason to refuse a database as source or target of a copy.
#[derive(Debug, thiserror::Error)]
pub enum CopyDatabaseError {
    /// The connection failed, or the schema cannot be checked or migrated.
    #[error(transparent)]
    Schema(#[from] SchemaError),
    /// Services are connected to the database.
    #[error("{0} connections of a running service are open; stop the service first")]
    InUse(i64),
    /// Another copy fills the database.
    #[error("another copy into this database is running")]
    Locked,
    /// The tenants are distributed over a cluster, and the schema is not up to date.
    #[error("the schema lacks {}; run `candor migrate --distribute` first", .0.join(", "))]
    Spread(Vec<String>),
    /// The database holds data under an old schema.
    #[error("the database is not empty, and its schema lacks {}", .0.join(", "))]
    Old(Vec<String>),
    /// A statement of the copy failed.
    #[error("{0}")]
    Failed(String),
}

impl From<StorageError> for CopyDatabaseError {
    fn from(error: StorageError) -> Self {
        Self::Failed(error.to_string())
    }
}

impl PostgresCopy {
    /// Opens a database for reading. No service may be connected to it.
    ///
    /// # Errors
    /// [`CopyDatabaseError`].
    pub async fn source(options: &PostgresOptions) -> Result<Self, CopyDatabaseError> {
        let it = Self::connect(options).await?;
        it.expect_no_service().await?;
        Ok(it)
    }

    /// Opens a database to fill. No service and no other copy may use it. An empty database is migrated.
    ///
    /// # Errors
    /// [`CopyDatabaseError`].
    pub async fn target(options: &PostgresOptions) -> Result<Self, CopyDatabaseError> {
        let it = Self::connect(options).await?;
        it.expect_no_service().await?;
        {
            let client = it.client.lock().await;
            let lock_row =
                client.query_one("SELECT pg_try_advisory_lock($1)", &[&LOCK]).await.map_err(map_error)?;
            if !lock_row.get::<_, bool>(0) {
                return Err(CopyDatabaseError::Locked);
            }
            let mut lacks = pending(options).await?;
            // An interrupted copy leaves the feed offset too low for the copied events. The next copy raises the offset
            // at its end.
            lacks.retain(|step| step != FEED_STEP);
            if !it.layout.spans_tenants() && !lacks.is_empty() {
                return Err(CopyDatabaseError::Spread(lacks));
            }
            if !lacks.is_empty() && schema::is_used(&client).await? {
                return Err(CopyDatabaseError::Old(lacks));
            }
        }
        migrate(options).await?;
        Ok(it)
    }

    /// Returns the pending migrations of the database.
    ///
    /// # Errors
    /// [`CopyDatabaseError`].
    pub async fn pending(&self) -> Result<Vec<String>, CopyDatabaseError> {
        Ok(pending(&self.options).await?)
    }

    async fn connect(options: &PostgresOptions) -> Result<Self, CopyDatabaseError> {
        let session = Session::new(&options.url, NAME).map_err(SchemaError::from)?;
        let client = connect_client(&session).await?;
        let is_so =
            async |question: &str| client.query_one(question, &[]).await.map(|row| row.get(0)).map_err(map_error);
        let layout = layout_of(is_so(LAYOUT).await?);
        let is_cluster = !layout.spans_tenants() && is_so(CAN_DISTRIBUTE).await?;
        Ok(Self { session, options: options.clone(), layout, is_cluster, client: Mutex::new(client) })
    }

    async fn expect_no_service(&self) -> Result<(), CopyDatabaseError> {
        let client = self.client.lock().await;
        let own = client.query_one("SELECT current_setting('application_name')", &[]).await.map_err(map_error)?;
        let (own, begun) = (own.get::<_, String>(0), Instant::now());
        let services = if self.is_cluster { SERVICES_ON_NODES } else { SERVICES };
        loop {
            let session_count_row = client.query_one(services, &[&own]).await.map_err(map_error)?;
            match session_count_row.get(0) {
                0 => return Ok(()),
                // A session briefly outlives the process that opened it.
                _ if begun.elapsed() < PATIENCE => tokio::time::sleep(LOOK_AGAIN).await,
                count => return Err(CopyDatabaseError::InUse(count)),
            }
        }
    }
}

/// Returns `true` if a copy into the database was begun but not completed. Such a database must not be served.
///
/// # Errors
/// [`SchemaError`].
pub async fn is_copy_unfinished(options: &PostgresOptions) -> Result<bool, SchemaError> {
    let session = Session::new(&options.url, &options.application_name)?;
    let client = connect_client(&session).await.map_err(|error| SchemaError::Failed(error.to_string()))?;
    schema::is_begun(&client).await.map_err(|error| SchemaError::Failed(error.to_string()))
}

async fn connect_client(session: &Session) -> Read<Client> {
    session.client().await.map_err(Failure::into_storage)
}

/// Maps an error of the driver: a closed connection is temporary, all else is a failure.
fn map_error(error: tokio_postgres::Error) -> StorageError {
    let text = with_causes(&error);
    if error.is_closed() { StorageError::Unavailable(text) } else { StorageError::Failed(text) }
}

#[async_trait]
impl CopySource for PostgresCopy {
    async fn count(&self, table: &CopyTable) -> Read<u64> {
        let client = self.client.lock().await;
        let count_row =
            client.query_one(&format!("SELECT count(*) FROM {}", table.name), &[]).await.map_err(map_error)?;
        Ok(count_row.get::<_, i64>(0).unsigned_abs())
    }

    async fn rows(&self, table: &CopyTable, after: Option<Vec<SqlValue>>) -> Read<RowStream> {
        read::rows(connect_client(&self.session).await?, table.clone(), after).await
    }

    async fn feed_end(&self) -> Read<i64> {
        schema::feed_end(&*self.client.lock().await, self.layout).await
    }
}

#[async_trait]
impl CopyTarget for PostgresCopy {
    async fn progress(&self) -> Read<Option<CopyProgress>> {
        let client = self.client.lock().await;
        if schema::is_begun(&client).await? { schema::progress(&client).await.map(Some) } else { Ok(None) }
    }

    async fn begin(&self, first: (String, String)) -> Read<()> {
        schema::begin(&mut *self.client.lock().await, self.is_cluster, first).await
    }

    async fn write(&self, table: &CopyTable, rows: Vec<CopyRow>, step: (String, String)) -> Read<()> {
        write::write(&mut *self.client.lock().await, table, rows, step).await
    }

    async fn finish(&self, feed_end: i64) -> Read<()> {
        let mut client = self.client.lock().await;
        schema::check_references(&mut client).await?;
        let last = schema::last_position(&client, feed_end).await?;
        match self.layout.fill_uncopied_tables_script(last) {
            Some(script) => client.batch_execute(&script).await.map_err(map_error)?,
            None => schema::continue_feed_after(&client, feed_end).await?,
        }
        client.batch_execute("ANALYZE").await.map_err(map_error)
    }

    async fn accept(&self) -> Read<()> {
        // Earlier commits were asynchronous; a synchronous one flushes the WAL for all of them.
        let text = format!("SET synchronous_commit = on; {}; DROP TABLE copy_progress", schema::TO_BE_INDEXED);
        self.client.lock().await.batch_execute(&text).await.map_err(map_error)
    }
}
