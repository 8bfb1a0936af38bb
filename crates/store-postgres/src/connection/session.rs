//! How a connection is made, and the settings that every one of them has.

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
use crate::failure::{Failure, unconnected, with_causes};
use crate::options::ConnectError;
use crate::sql::Sql;
use crate::sql::wire::Columns;
use candor_fair_share::large_work::PIECE_BYTES;
use candor_tables::flat::Fetch;

/// The longest wait for a new connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// A peer that is silent for so long is asked whether it is still there.
const KEEPALIVE: Duration = Duration::from_secs(30);
/// Sent data that nobody confirms for so long breaks the connection.
const UNCONFIRMED: Duration = Duration::from_secs(20);

/// Plans must not depend on the values of one request; …
pub(crate) const PLAN_SETTING: (&str, &str) = ("plan_cache_mode", "force_generic_plan");
/// … but a cluster plans for the node of a value, and has no plan for most statements that does without. Where it has one it
/// makes another for the tenant's node behind it, which it does not find the next time and never lets go: 20,000 look-ups on
/// the node that has the tenant left a gigabyte in their session. So everything is planned for its values, at no more cost.
const PLAN_OF_A_CLUSTER: &str = "EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'citus') THEN 'force_custom_plan'";
/// Locks wait as long as a retry of the same request may wait for its twin (decision B2); the other times are far above
/// what any statement needs.
pub(crate) const SETTINGS: [(&str, &str); 5] = [
    ("default_transaction_isolation", "read committed"),
    ("lock_timeout", "10s"),
    // The statements of a transaction are sent together, so only a process that stands still lets one wait. What it has
    // locked must not keep others from what its lease covered.
    ("idle_in_transaction_session_timeout", "10s"),
    ("enable_seqscan", "off"),
    ("jit", "off"),
];
/// For work that one process does alone and that takes what it takes. What is lost in a crash of the server is lost as a
/// whole, and whoever needs a commit to be on the disk says so.
const LONG_SETTINGS: &str = "SET statement_timeout = 0; SET lock_timeout = '10s'; \
    SET idle_in_transaction_session_timeout = 0; SET jit = off; SET synchronous_commit = off";
/// The longest that a statement runs, unless its connection is for others.
pub(crate) const STATEMENT_TIMEOUT: Duration = Duration::from_secs(30);

/// The driver's side of a connection that was opened.
type Opened = Connection<Socket, <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream>;

/// Makes connections.
#[derive(Clone)]
pub(crate) struct Session {
    config: Config,
    tls: MakeRustlsConnect,
    home: Handle,
    statement_timeout: Duration,
    /// Every connection leads to a standby of this.
    standby_of: Option<StandbyOf>,
}

impl Session {
    /// Reads a database URL. Pooled connections will live on the runtime this is called on, not on those of requests,
    /// which may end earlier.
    pub(crate) fn new(url: &str, application: &str) -> Result<Self, ConnectError> {
        let (url, wanted) = tls::take(url)?;
        let mut config: Config = url.parse().map_err(|it| unreadable(&url, &it))?;
        let over_network = config.get_hosts().iter().any(|it| matches!(it, Host::Tcp(_)));
        let wanted = if over_network { wanted } else { tls::Wanted::without_tls() };
        config.ssl_mode(wanted.mode);
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
        let tls = MakeRustlsConnect::new(wanted.client()?);
        Ok(Self { config, tls, home: Handle::current(), statement_timeout: STATEMENT_TIMEOUT, standby_of: None })
    }

    /// The same, for connections on which no statement runs longer than this.
    pub(crate) fn with_statement_timeout(&self, statement_timeout: Duration) -> Self {
        Self { statement_timeout, ..self.clone() }
    }

    /// The same, for connections to a standby of a database alone.
    pub(crate) fn with_standby_of(&self, standby_of: StandbyOf) -> Self {
        Self { standby_of: Some(standby_of), ..self.clone() }
    }

    /// The same for each host of the URL alone, with what it is called.
    pub(crate) fn by_host(&self) -> Vec<(String, Self)> {
        let own = |(name, config)| (name, Self { config, ..self.clone() });
        hosts::each(&self.config).into_iter().map(own).collect()
    }

    /// The runtime that connections live on.
    pub(crate) const fn home(&self) -> &Handle {
        &self.home
    }

    /// Makes a connection that lives on the runtime this runs on.
    pub(crate) async fn connect_here(&self) -> Result<AsyncPgConnection, Failure> {
        match tokio::time::timeout(CONNECT_TIMEOUT * 2, self.establish()).await {
            Ok(connection) => connection.map_err(|it| unconnected(&it)),
            Err(_) => Err(Failure::Unconnected("cannot connect: no answer in time".to_owned())),
        }
    }

    /// Makes a connection, on the runtime where it is to live.
    pub(crate) async fn connect(&self) -> Result<AsyncPgConnection, Failure> {
        let session = self.clone();
        let made = self.home.spawn(async move { session.establish().await });
        match tokio::time::timeout(CONNECT_TIMEOUT * 2, made).await {
            Ok(Ok(connection)) => connection.map_err(|it| unconnected(&it)),
            Ok(Err(stopped)) => Err(Failure::Unconnected(format!("cannot connect: {stopped}"))),
            Err(_) => Err(Failure::Unconnected("cannot connect: no answer in time".to_owned())),
        }
    }

    /// Makes a connection as it is made elsewhere, and lets go of it.
    pub(crate) async fn try_once(&self) -> Result<(), tokio_postgres::Error> {
        self.opened().await.map(drop)
    }

    /// Opens a connection. In a box, so that the driver's part of it is compiled in one place.
    fn opened(&self) -> BoxFuture<'_, Result<(Client, Opened), tokio_postgres::Error>> {
        self.config.connect(self.tls.clone()).boxed()
    }

    /// A connection of the driver's own, on which statements may take as long as they need.
    pub(crate) async fn client(&self) -> Result<Client, Failure> {
        let refused = |it: tokio_postgres::Error| Failure::Unconnected(with_causes(&it));
        let (client, connection) = self.opened().await.map_err(refused)?;
        tokio::spawn(connection);
        client.batch_execute(LONG_SETTINGS).await.map_err(refused)?;
        Ok(client)
    }

    /// The statements that a connection begins with.
    fn settings(&self) -> String {
        let (name, value) = PLAN_SETTING;
        let plan = format!("SELECT set_config('{name}', CASE WHEN {PLAN_OF_A_CLUSTER} ELSE '{value}' END, false)");
        let set = SETTINGS.map(|(name, value)| format!("SET {name} = '{value}'")).join("; ");
        // The server takes 0 for no limit at all.
        let longest = self.statement_timeout.as_millis().max(1);
        format!("{plan}; {set}; SET statement_timeout = {longest}")
    }

    async fn establish(&self) -> ConnectionResult<AsyncPgConnection> {
        let refused = |it: tokio_postgres::Error| ConnectionError::BadConnection(with_causes(&it));
        let (client, connection) = self.opened().await.map_err(refused)?;
        let mut connection = AsyncPgConnection::try_from_client_and_connection(client, connection).await?;
        connection.batch_execute(&self.settings()).await.map_err(ConnectionError::CouldntSetupConfiguration)?;
        speak_english(&mut connection).await;
        if let Some(standby_of) = &self.standby_of {
            standby_of.check(&connection).await.map_err(ConnectionError::BadConnection)?;
        }
        Ok(connection)
    }
}

/// What is wrong with a URL. The driver quotes what it takes for a parameter, which may be a part of a password.
fn unreadable(url: &str, error: &tokio_postgres::Error) -> ConnectError {
    let before_host = url.rsplit_once('@').map_or("", |(before, _)| before);
    let credentials = before_host.split_once("://").map_or("", |(_, it)| it);
    if credentials.contains(['@', '?', '/', '#']) {
        return ConnectError::Url("in a user or password, write @ as %40, ? as %3F, / as %2F and # as %23".to_owned());
    }
    ConnectError::Url(with_causes(error))
}

/// Errors without a kind of their own are told apart by their words. A server may be set to another language, and only
/// some roles may change that; without it a lock timeout is reported as a defect instead of as a passing trouble.
async fn speak_english(connection: &mut AsyncPgConnection) {
    let asked = "SELECT current_setting('lc_messages') ~ '^(C|POSIX|en)' OR current_setting('lc_messages') = ''";
    let understood = run(connection, &Sql::plain(asked), |row| row.flag().map_err(Failure::Other)).await;
    let settled = match understood.as_deref() {
        Ok([Some(true)]) => true,
        _ => connection.batch_execute("SET lc_messages = 'C'").await.is_ok(),
    };
    if !settled {
        tracing::warn!(
            "the server's messages are not in English and lc_messages may not be set: some passing troubles will be reported as defects"
        );
    }
}

/// Runs a statement and reads its rows.
pub(crate) async fn run<T: Send>(
    connection: &AsyncPgConnection,
    sql: &Sql,
    read: impl Fn(&mut dyn Fetch) -> Result<T, Failure> + Send,
) -> Result<Vec<T>, Failure> {
    let mut values = Values::read_by(read);
    run_into(connection, sql, &mut values).await?;
    Ok(values.into_vec())
}

/// Runs a statement whose rows go there. The log can show each statement, without its values.
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
        let mut columns = Columns::of(&row);
        rows.take(&mut columns)?;
        piece += columns.size();
        // Rows that have arrived are read without a wait; other tasks of this thread come between pieces of them.
        if piece >= PIECE_BYTES {
            piece = 0;
            yield_now().await;
        }
    }
    Ok(())
}

/// Runs a statement and answers its rows as they are, if they are wanted.
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
    async fn what_is_read_again_after_it_was_read_in_part_is_there_once() {
        let Some(database) = TestDatabase::empty().unwrap() else { return };
        let connection = Session::new(database.url(), "test").unwrap().connect().await.unwrap();
        let mut values = Values::read_by(|row: &mut dyn Fetch| row.int().map_err(Failure::Other));
        let broken = Sql::plain("SELECT (6 / (3 - n))::bigint FROM generate_series(1, 3) AS n (n)");
        assert!(run_into(&connection, &broken, &mut values).await.is_err());
        run_into(&connection, &Sql::plain("SELECT 7::bigint"), &mut values).await.unwrap();
        run_into(&connection, &Sql::plain("SELECT 8::bigint"), &mut values).await.unwrap();
        assert_eq!(values.into_vec(), [Some(8)]);
    }

    #[tokio::test]
    async fn what_is_wrong_with_a_url_is_told_without_its_password() {
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
