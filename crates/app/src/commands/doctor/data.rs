//! Checks of the database, its schema, master key and clock, and of the embedded database's folder.

use std::path::{Path, PathBuf};

use candor_port_clock::SystemClock;
use candor_service::context::clocks::clock_difference;
use rustix::fs::{Access, access, statvfs};

use super::finding::Finding;
use super::{sign_ins, twins, upgrades};
use crate::{store, wiring};
use candor_settings::{Config, DatabaseUrl};

/// Number of free bytes below which changes may soon fail: a write-ahead log grows by megabytes.
const ROOM_NEEDED: u64 = 64 * 1024 * 1024;
/// Number of free bytes below which the operator is warned.
const ROOM_WANTED: u64 = 1024 * 1024 * 1024;
/// Clock difference above which expired rows are no longer removed, in milliseconds.
const CLOCK_BROKEN_MILLIS: u64 = 3_600_000;
/// Clock difference that is normal between synchronized machines, in milliseconds, including the time of the
/// query.
const CLOCK_MILLIS: u64 = 5_000;

/// Runs the checks of the database and its surroundings, and appends their findings.
pub(super) async fn look(config: &Config, findings: &mut Vec<Finding>) {
    match &config.database {
        DatabaseUrl::Sqlite(path) => {
            let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
            findings.extend(folders(config, &path));
            findings.push(room(&path));
            if path.exists() {
                look_inside(config, findings).await;
                findings.push(match store::expect_undamaged(config).await {
                    Ok(()) => Finding::good("integrity", "pages, indexes and references are undamaged"),
                    Err(error) => Finding::from_error("integrity", &error),
                });
            } else {
                findings.push(Finding::warn(
                    "database",
                    format!("there is no database at {}", path.display()),
                    "`candor serve` or `candor migrate` creates one; if one should exist, check CANDOR_DATA_DIR",
                ));
                findings.push(master_key(config).await);
            }
        }
        DatabaseUrl::Postgres(_) => look_inside(config, findings).await,
    }
}

async fn look_inside(config: &Config, findings: &mut Vec<Finding>) {
    let pending = match store::pending(config).await {
        Ok(pending) => pending,
        Err(error) => {
            findings.push(Finding::from_error("database", &error));
            let others = ["schema", "master key", "clock"];
            findings.extend(others.map(|name| Finding::skip(name, "the database does not respond")));
            return;
        }
    };
    let name = config.database.mask_password();
    if let Err(error) = store::expect_known_schema(config).await {
        findings.push(Finding::from_error("schema", &error));
        findings.push(Finding::skip("clock", "the schema must be correct first"));
        return;
    }
    let key = master_key(config).await;
    if !pending.is_empty() {
        findings.push(Finding::good("database", format!("{name} responds")));
        findings.push(schema(config, &pending));
        findings.push(key);
        findings.push(Finding::skip("clock", "the schema must be correct first"));
        return;
    }
    let (written, clock, upgrades) = examine_store(config).await;
    findings.push(match written {
        Ok(()) => Finding::good("database", format!("{name} responds and accepts writes")),
        Err(reason) => Finding::report_fault(
            "database",
            format!("{name} responds and accepts no writes: {reason}"),
            "check its disk space, the permissions of this user, and that the database is not a read-only copy",
        ),
    });
    findings.push(Finding::good("schema", "up to date"));
    findings.push(key);
    findings.push(clock);
    findings.extend(upgrades);
    findings.extend(replica(config).await);
}

/// Checks that the replica can be read. Returns `None` without a replica.
async fn replica(config: &Config) -> Option<Finding> {
    let reason = match store::examine_replica(config).await {
        Ok(None) => return None,
        Ok(Some(Ok(()))) => {
            return Some(Finding::good(
                "replica",
                "a standby of the database, with the current \
             schema",
            ));
        }
        Ok(Some(Err(reason))) => reason,
        Err(error) => return Some(Finding::from_error("replica", &error)),
    };
    let says = format!("cannot read the replica, so the primary serves the reads of the replica: {reason}");
    Some(Finding::report_fault(
        "replica",
        says,
        "set CANDOR_DATABASE_REPLICA_URL to a running standby of the database in CANDOR_DATABASE_URL",
    ))
}

fn schema(config: &Config, pending: &[String]) -> Finding {
    let says = format!("missing migrations: {}", store::shorten(pending));
    match config.database {
        DatabaseUrl::Sqlite(_) => Finding::warn(
            "schema",
            says,
            "start the service or run `candor migrate` \
             to apply them",
        ),
        DatabaseUrl::Postgres(_) => {
            Finding::report_fault("schema", says, "run `candor migrate`; the service does not start before that")
        }
    }
}

async fn master_key(config: &Config) -> Finding {
    match wiring::examine_master_key(config).await {
        Ok(true) => Finding::good("master key", "matches the database"),
        Ok(false) => Finding::good("master key", "no key exists yet; the first start creates one"),
        Err(error) => Finding::from_error("master key", &error),
    }
}

/// Checks that a write is possible, compares the clocks, looks at data that an upgrade left unchanged, and counts
/// identity providers and those who sign in at them. The schema is current, so opening the store changes no more than a
/// start of the service: it replaces the keys of texts that an earlier version computed.
async fn examine_store(config: &Config) -> (Result<(), String>, Finding, Vec<Finding>) {
    let clock = SystemClock;
    let store = match store::open(config).await {
        Ok(store) => store,
        Err(error) => {
            let clock = Finding::skip("clock", "the database cannot be opened");
            return (Err(error.to_string()), clock, vec![]);
        }
    };
    let now = candor_port_clock::Clock::now(&clock);
    let probe_result = store.probe_write(now).await.map_err(|error| error.to_string());
    let clock = match clock_difference(&*store, &clock).await {
        Ok(None) => Finding::good("clock", "the embedded database uses the clock of this machine"),
        Ok(Some(millis)) => judge_difference(millis),
        Err(error) => Finding::skip("clock", error.to_string()),
    };
    let mut findings = upgrades::look(&*store, config.organization_max_keys, now).await;
    findings.extend(twins::look(&*store).await);
    findings.extend(sign_ins::look(&*store, now).await);
    (probe_result, clock, findings)
}

fn judge_difference(millis: i64) -> Finding {
    let (apart, way) = (millis.unsigned_abs(), if millis < 0 { "behind" } else { "ahead of" });
    let says = format!(
        "the clock of this machine is {}.{:03} s {way} the clock of the database",
        apart / 1_000,
        apart % 1_000
    );
    let remedy = "synchronize the clocks of both machines, with chrony or systemd-timesyncd";
    match apart {
        0..=CLOCK_MILLIS => Finding::good("clock", says),
        it if it <= CLOCK_BROKEN_MILLIS => Finding::warn("clock", says, remedy),
        _ => Finding::report_fault("clock", format!("{says}; retention is suspended"), remedy),
    }
}

/// Checks that the folders are writable, and closed to other users.
fn folders(config: &Config, database: &Path) -> Vec<Finding> {
    let existing_folder = find_existing_folder(database);
    if let Some(folder) = database.parent().filter(|folder| folder.exists() && !folder.is_dir()) {
        let says = format!("{} is not a folder", folder.display());
        return vec![Finding::report_fault(
            "folder",
            says,
            "move the file, or set CANDOR_DATA_DIR to another folder",
        )];
    }
    if let Err(error) = access(&existing_folder, Access::WRITE_OK | Access::EXEC_OK) {
        return vec![Finding::report_fault(
            "folder",
            format!("this user cannot write to {}: {error}", existing_folder.display()),
            "run candor as the user that owns the folder, or give the folder to this user with `chown`",
        )];
    }
    let open = wiring::open_folders(config);
    if open.is_empty() {
        return vec![Finding::good("folder", format!("{} is writable", existing_folder.display()))];
    }
    let warning = |folder: PathBuf| {
        let says = format!("other users can read {}", folder.display());
        Finding::warn("folder", says, format!("chmod 700 {}", folder.display()))
    };
    open.into_iter().map(warning).collect()
}

/// Checks the free space on the database's file system.
fn room(database: &Path) -> Finding {
    let folder = find_existing_folder(database);
    let room = match statvfs(&folder) {
        Ok(it) => it.f_bavail.saturating_mul(it.f_frsize),
        Err(error) => return Finding::skip("disk", format!("{}: {error}", folder.display())),
    };
    let says = format!("{} MiB free for {}", room / 1024 / 1024, folder.display());
    let remedy = "free disk space there, or move the data folder to a larger disk";
    match room {
        0..ROOM_NEEDED => Finding::report_fault("disk", says, remedy),
        ROOM_NEEDED..ROOM_WANTED => Finding::warn("disk", says, remedy),
        _ => Finding::good("disk", says),
    }
}

/// Returns the folder of a file, or its nearest existing ancestor.
fn find_existing_folder(file: &Path) -> PathBuf {
    file.ancestors().skip(1).find(|ancestor| ancestor.is_dir()).map_or_else(|| PathBuf::from("."), Path::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::doctor::finding::State;

    #[test]
    fn clock_difference_warns_over_5_s_and_fails_over_an_hour() {
        for (millis, state) in [
            (0, State::Good),
            (-5_000, State::Good),
            (5_001, State::Warning),
            (-3_600_000, State::Warning),
            (3_600_001, State::Broken),
        ] {
            assert_eq!(judge_difference(millis).state, state, "{millis}");
        }
        assert_eq!(
            judge_difference(-1_250).says,
            "the clock of this machine is 1.250 s behind the clock of the database"
        );
    }

    #[test]
    fn missing_folder_is_checked_at_its_nearest_parent() {
        let folder = std::env::temp_dir();
        assert_eq!(find_existing_folder(&folder.join("no/such/candor.db")), folder);
        assert_ne!(room(&folder.join("no/such/candor.db")).state, State::Skipped);
    }
}
