//! A PostgreSQL server with a streaming standby.

use candor_test_postgres::{Cluster, TestSession};

use super::{PATIENCE, signal, wait_until};

/// Settings of both servers. Acknowledged writes survive the death of a server process, but not of the machine.
const SETTINGS: [&str; 6] = [
    "wal_level=replica",
    "max_wal_senders=10",
    "fsync=off",
    "full_page_writes=off",
    "shared_buffers=32MB",
    // A short interval, so that a standby soon reconnects to a primary that is back.
    "wal_retrieve_retry_interval=200ms",
];

/// A primary and its streaming standby.
pub(crate) struct PrimaryAndStandby {
    pub(crate) primary: Cluster,
    pub(crate) standby: Cluster,
}

impl PrimaryAndStandby {
    /// Starts both servers. Prints a notice and returns `None` without PostgreSQL.
    pub(crate) fn start() -> Option<Self> {
        let Some(primary) = Cluster::start_with(&SETTINGS).unwrap() else {
            println!("skipped: there is no PostgreSQL to make a standby of");
            return None;
        };
        let standby = primary.start_standby(&SETTINGS).unwrap();
        Some(Self { primary, standby })
    }

    /// Makes replication synchronous: a commit waits until the standby has received it.
    pub(crate) fn synchronize(&self) {
        let primary = TestSession::connect(&self.primary.url()).unwrap();
        primary.execute("ALTER SYSTEM SET synchronous_standby_names = 'standby'").unwrap();
        primary.execute("SELECT pg_reload_conf()").unwrap();
        let synchronous = "SELECT EXISTS (SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync')";
        assert!(
            wait_until(PATIENCE, || primary.is_true(synchronous).unwrap()).is_some(),
            "the standby does not replicate synchronously"
        );
    }

    /// Returns a URL that names both servers and connects to the one that accepts writes.
    pub(crate) fn url(&self) -> String {
        let host =
            |cluster: &Cluster| cluster.url().split_once('@').unwrap().1.split_once('/').unwrap().0.to_owned();
        let hosts = [host(&self.primary), host(&self.standby)].join(",");
        format!("postgres://candor@{hosts}/postgres?target_session_attrs=read-write")
    }

    /// Stops the primary's WAL sender process and returns its id.
    pub(crate) fn stop_sending(&self) -> u32 {
        let primary = TestSession::connect(&self.primary.url()).unwrap();
        let process = primary.number("SELECT pid::bigint FROM pg_stat_replication").unwrap();
        let process = u32::try_from(process).unwrap();
        signal(process, "STOP");
        process
    }

    /// Pauses replay on the standby. It still receives the WAL.
    pub(crate) fn pause(&self) {
        let standby = TestSession::connect(&self.standby.url()).unwrap();
        standby.execute("SELECT pg_wal_replay_pause()").unwrap();
        let is_paused_query = "SELECT pg_get_wal_replay_pause_state() = 'paused'";
        assert!(
            wait_until(PATIENCE, || standby.is_true(is_paused_query).unwrap()).is_some(),
            "the standby does not pause its replay"
        );
    }

    /// Resumes replay on the standby.
    pub(crate) fn resume(&self) {
        TestSession::connect(&self.standby.url()).unwrap().execute("SELECT pg_wal_replay_resume()").unwrap();
    }

    /// Promotes the standby to a primary.
    pub(crate) fn promote(&mut self) {
        self.standby.promote().unwrap();
        let session = TestSession::connect(&self.standby.url()).unwrap();
        let promotion_query = "SELECT NOT pg_is_in_recovery()";
        assert!(
            wait_until(PATIENCE, || session.is_true(promotion_query).unwrap()).is_some(),
            "the standby is not promoted"
        );
    }
}
