//! Creation of connections, and the settings that each of them gets.

use std::time::Duration;

use diesel::{ConnectionError, ConnectionResult};
use diesel_async::{AsyncConnectionCore, AsyncPgConnection, SimpleAsyncConnection};
use futures_util::future::BoxFuture;
use futures_util::{FutureExt, TryStreamExt};
use tokio::runtime::Handle;
use tokio::task::yield_now;
use tokio_postgres::config::Host;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{Client, Config, Connection, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::connection::hosts;
use crate::connection::rows::{RawRow, RowSink, Values};
use crate::connection::standby::StandbyOf;
use crate::connection::tls;
use crate::failure::{Failure, expect_translated_messages, unconnected_failure, with_causes};
use crate::options::ConnectError;
use crate::sql::Sql;
use candor_fair_share::large_work::PIECE_BYTES;
use candor_tables::flat::CellReader;

/// Connect timeout, unless the URL sets one.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Idle time after which TCP keepalive probes the peer.
const KEEPALIVE: Duration = Duration::from_secs(30);
/// TCP user timeout: a connection breaks if sent data is not acknowledged for this long.
const UNCONFIRMED: Duration = Duration::from_secs(20);

/// Setting for generic plans on a single server: plans must not depend on the values of one request.
pub(crate) const PLAN_SETTING: (&str, &str) = ("plan_cache_mode", "force_generic_plan");
/// Condition and value of a `CASE` that selects custom plans on a cluster. Citus plans with the values, because it
/// routes a statement by the tenant's value. Most statements have no generic plan there. Where one exists, Citus
/// also makes a plan for the shard, never reuses it and never frees it. 20,000 lookups on the tenant's own node
/// left a gigabyte in their session.
const PLAN_OF_A_CLUSTER: &str =
    "EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'citus') THEN 'force_custom_plan'";
/// Settings of pooled connections. Locks wait as long as a retry may wait for the original request (decision B2).
/// The other timeouts are far above the need of any statement.
pub(crate) const SETTINGS: [(&str, &str); 6] = [
    ("default_transaction_isolation", "read committed"),
    ("lock_timeout", "10s"),
    // The statements of a transaction are sent together, so only a stalled process leaves a transaction idle. The
    // locks of the transaction must not outlast the leases of the process.
    ("idle_in_transaction_session_timeout", "10s"),
    ("enable_seqscan", "off"),
    // A generic plan can expect many rows where there are none. The start of parallel workers then takes 20 to 40 ms,
    // and the statements of all organizations wait behind it.
    ("max_parallel_workers_per_gather", "0"),
    ("jit", "off"),
];
/// Settings for long work of a single process, without timeouts except for locks. Commits are asynchronous: after
/// a crash the work is repeated as a whole. A step that needs a durable commit sets `synchronous_commit`.
const LONG_SETTINGS: &str = "SET statement_timeout = 0; SET lock_timeout = '10s'; \
    SET idle_in_transaction_session_timeout = 0; SET jit = off; SET synchronous_commit = off";
/// Default maximum duration of a statement.
pub(crate) const STATEMENT_TIMEOUT: Duration = Duration::from_secs(30);

/// The part of an opened connection that exchanges messages with the server, in a task of its own.
type ConnectionDriver = Connection<Socket, <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream>;

/// Opens connections with the settings of a database URL.
#[derive(Clone)]
pub(crate) struct Session {
    config: Config,
    tls: MakeRustlsConnect,
    home: Handle,
    statement_timeout: Duration,
    /// Database to whose standbys every connection must lead; `None` without this restriction.
    standby_of: Option<StandbyOf>,
}

impl Session {
    /// Reads a database URL. Pooled connections live on the current runtime. The runtimes of requests may end
    /// earlier.
    pub(crate) fn new(url: &str, application: &str) -> Result<Self, ConnectError> {
        let (url, wanted) = tls::take(url)?;
        let mut config: Config = url.parse().map_err(|error| unreadable(&url, &error))?;
        let over_network = config.get_hosts().iter().any(|host| matches!(host, Host::Tcp(_)));
        let tls_settings = if over_network { wanted } else { tls::TlsSettings::without_tls() };
        config.ssl_mode(tls_settings.mode);
        if config.get_application_name().is_none() {
            config.application_name(application);
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT_TIMEOUT);
        }
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(UNCONFIRMED);
        }
        config.keepalives_idle(config.get_keepalives_idle().min(KEEPALIVE));
        let tls = MakeRustlsConnect::new(tls_settings.client()?);
        Ok(Self { config, tls, home: Handle::current(), statement_timeout: STATEMENT_TIMEOUT, standby_of: None })
    }

    /// Returns a session whose statements run no longer than this.
    pub(crate) fn with_statement_timeout(&self, statement_timeout: Duration) -> Self {
        Self { statement_timeout, ..self.clone() }
    }

    /// Returns a session that connects only to standbys of a database.
    pub(crate) fn with_standby_of(&self, standby_of: StandbyOf) -> Self {
        Self { standby_of: Some(standby_of), ..self.clone() }
    }

    /// Returns a session for each host of the URL, with the host's name.
    pub(crate) fn by_host(&self) -> Vec<(String, Self)> {
        let own = |(name, config)| (name, Self { config, ..self.clone() });
        hosts::split_hosts(&self.config).into_iter().map(own).collect()
    }

    /// Returns the runtime of the pooled connections.
    pub(crate) const fn home(&self) -> &Handle {
        &self.home
    }

    /// Opens a connection that lives on the current runtime.
    pub(crate) async fn connect_here(&self) -> Result<AsyncPgConnection, Failure> {
        match tokio::time::timeout(CONNECT_TIMEOUT * 2, self.establish()).await {
            Ok(connection) => connection.map_err(|error| unconnected_failure(&error)),
            Err(_) => Err(Failure::Unconnected("cannot connect: no answer in time".to_owned())),
        }
    }

    /// Opens a connection that lives on the session's runtime.
    pub(crate) async fn connect(&self) -> Result<AsyncPgConnection, Failure> {
        let session = self.clone();
        let connection_result = self.home.spawn(async move { session.establish().await });
        match tokio::time::timeout(CONNECT_TIMEOUT * 2, connection_result).await {
            Ok(Ok(connection)) => connection.map_err(|error| unconnected_failure(&error)),
            Ok(Err(stopped)) => Err(Failure::Unconnected(format!("cannot connect: {stopped}"))),
            Err(_) => Err(Failure::Unconnected("cannot connect: no answer in time".to_owned())),
        }
    }

    /// Opens a connection and closes it.
    pub(crate) async fn try_once(&self) -> Result<(), tokio_postgres::Error> {
        self.open_client().await.map(drop)
    }

    /// Opens a connection. Boxed, so that the driver's code is compiled in one place.
    fn open_client(&self) -> BoxFuture<'_, Result<(Client, ConnectionDriver), tokio_postgres::Error>> {
        self.config.connect(self.tls.clone()).boxed()
    }

    /// Opens a connection of the driver itself, without a statement timeout.
    pub(crate) async fn client(&self) -> Result<Client, Failure> {
        let to_failure = |error: tokio_postgres::Error| Failure::Unconnected(with_causes(&error));
        let (client, connection) = self.open_client().await.map_err(to_failure)?;
        tokio::spawn(connection);
        client.batch_execute(LONG_SETTINGS).await.map_err(to_failure)?;
        Ok(client)
    }

    /// Returns the statements that set up a new connection.
    fn settings(&self) -> String {
        let (name, value) = PLAN_SETTING;
        let plan = format!("SELECT set_config('{name}', CASE WHEN {PLAN_OF_A_CLUSTER} ELSE '{value}' END, false)");
        let set = SETTINGS.map(|(name, value)| format!("SET {name} = '{value}'")).join("; ");
        // PostgreSQL takes a timeout of 0 as no limit.
        let longest = self.statement_timeout.as_millis().max(1);
        format!("{plan}; {set}; SET statement_timeout = {longest}")
    }

    async fn establish(&self) -> ConnectionResult<AsyncPgConnection> {
        let to_error = |error: tokio_postgres::Error| ConnectionError::BadConnection(with_causes(&error));
        let (client, connection) = self.open_client().await.map_err(to_error)?;
        let mut connection = AsyncPgConnection::try_from_client_and_connection(client, connection).await?;
        connection.batch_execute(&self.settings()).await.map_err(ConnectionError::CouldntSetupConfiguration)?;
        speak_english(&mut connection).await;
        if let Some(standby_of) = &self.standby_of {
            standby_of.check(&connection).await.map_err(ConnectionError::BadConnection)?;
        }
        Ok(connection)
    }
}

/// Builds the error for an invalid URL. The driver quotes unknown parameters, which may be a part of a password,
/// so a suspicious URL gets a text of our own.
fn unreadable(url: &str, error: &tokio_postgres::Error) -> ConnectError {
    let before_host = url.rsplit_once('@').map_or("", |(before, _)| before);
    let credentials = before_host.split_once("://").map_or("", |(_, rest)| rest);
    if credentials.contains(['@', '?', '/', '#']) {
        return ConnectError::Url(
            "in a user or password, write @ as %40, ? as %3F, / as %2F and # as %23".to_owned(),
        );
    }
    ConnectError::Url(with_causes(error))
}

/// Sets the language of error messages to English, because failures without an SQLSTATE are classified by their
/// text. Only some roles may change `lc_messages`. In another language every failure that is not recognized is
/// reported as a temporary one, since it may be a lock timeout.
async fn speak_english(connection: &mut AsyncPgConnection) {
    let language_query =
        "SELECT current_setting('lc_messages') ~ '^(C|POSIX|en)' OR current_setting('lc_messages') = ''";
    let understood = run(connection, &Sql::plain(language_query), |row| row.flag().map_err(Failure::Other)).await;
    let is_english = match understood.as_deref() {
        Ok([Some(true)]) => true,
        _ => connection.batch_execute("SET lc_messages = 'C'").await.is_ok(),
    };
    if !is_english && !expect_translated_messages() {
        tracing::warn!(
            "cannot set lc_messages, and the messages of the database are not in English: internal errors of \
             the database get 503 instead of 500. As an administrator, run `ALTER ROLE … SET lc_messages = \
             'C'` for this role"
        );
    }
}

/// Runs a statement and reads its rows.
pub(crate) async fn run<T: Send>(
    connection: &AsyncPgConnection,
    sql: &Sql,
    read: impl Fn(&mut dyn CellReader) -> Result<T, Failure> + Send,
) -> Result<Vec<T>, Failure> {
    let mut values = Values::read_by(read);
    run_into(connection, sql, &mut values).await?;
    Ok(values.into_vec())
}

/// Runs a statement and passes its rows to a sink. The trace log shows the statement without its values.
pub(crate) async fn run_into(
    mut connection: &AsyncPgConnection,
    sql: &Sql,
    rows: &mut dyn RowSink,
) -> Result<(), Failure> {
    tracing::trace!(statement = sql.text());
    rows.clear();
    let mut stream = connection.load(sql).await?;
    let mut piece = 0;
    while let Some(row) = stream.try_next().await? {
        piece += rows.take(row)?;
        // Rows that have arrived are read without a wait, so this loop must yield to other tasks of the thread.
        if piece >= PIECE_BYTES {
            piece = 0;
            yield_now().await;
        }
    }
    Ok(())
}

/// Runs a statement. Returns its raw rows, or an empty list if they are not `wanted`.
pub(crate) async fn run_raw(
    mut connection: &AsyncPgConnection,
    sql: &Sql,
    wanted: bool,
) -> Result<Vec<RawRow>, Failure> {
    tracing::trace!(statement = sql.text());
    let mut stream = connection.load(sql).await?;
    let mut rows = vec![];
    while let Some(row) = stream.try_next().await? {
        if wanted {
            rows.push(row);
        }
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use candor_test_postgres::TestDatabase;

    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn rows_from_a_failed_read_are_discarded_on_retry() {
        let Some(database) = TestDatabase::empty().unwrap() else { return };
        let connection = Session::new(database.url(), "test").unwrap().connect().await.unwrap();
        let mut values = Values::read_by(|row: &mut dyn CellReader| row.int().map_err(Failure::Other));
        let failing_query = Sql::plain("SELECT (6 / (3 - n))::bigint FROM generate_series(1, 3) AS n (n)");
        assert!(run_into(&connection, &failing_query, &mut values).await.is_err());
        run_into(&connection, &Sql::plain("SELECT 7::bigint"), &mut values).await.unwrap();
        run_into(&connection, &Sql::plain("SELECT 8::bigint"), &mut values).await.unwrap();
        assert_eq!(values.into_vec(), [Some(8)]);
    }

    #[tokio::test]
    async fn invalid_url_is_reported_without_its_password() {
        for (url, told) in [
            ("postgres://app:sec@ret?hunter=2@db/x", "%40"),
            ("postgres://app:sec?sslmode=hunter2@db/x", "sslmode is not one of"),
            ("postgres://app:secret@db/x?colour=blue", "colour"),
            ("postgres://db/x?sslmode=maybe", "sslmode=maybe is not one of"),
        ] {
            let Err(problem) = Session::new(url, "test") else { panic!("{url}") };
            let problem = problem.to_string();
            assert!(problem.contains(told) && !problem.contains("hunter"), "{url}: {problem}");
        }
    }
}
