//! Tests that a temporary server ends with its owner, for every way in which the owner can end.

use candor_test_postgres::Cluster;
use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_secs(100);

fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_candor-test-postgres"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).process_group(0);
    command
}

/// Starts this package's program, which holds a server; `None` without PostgreSQL.
fn owner() -> Option<(Child, PathBuf)> {
    drop(Cluster::start().unwrap()?);
    let mut child = program().spawn().unwrap();
    let mut url = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
    let folder = url.split_once('@').unwrap().1.split_once('/').unwrap().0.replace("%2F", "/");
    Some((child, PathBuf::from(folder)))
}

#[expect(clippy::disallowed_methods, reason = "this waits for a condition, with a deadline")]
fn wait_until(mut condition: impl FnMut() -> bool, otherwise: &str) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < LIMIT, "{otherwise}");
        thread::sleep(Duration::from_millis(1));
    }
}

fn assert_goes(folder: &Path) {
    wait_until(|| !folder.exists(), &format!("{} is still there", folder.display()));
}

fn server_of(folder: &Path) -> String {
    fs::read_to_string(folder.join("data/postmaster.pid")).unwrap().lines().next().unwrap().to_owned()
}

fn is_running(process: &str) -> bool {
    Command::new("kill").args(["-0", process]).stderr(Stdio::null()).status().unwrap().success()
}

fn signal(signal: &str, target: &str) {
    assert!(Command::new("kill").args([signal, "--", target]).status().unwrap().success());
}

#[test]
fn cluster_is_removed_when_the_owner_is_killed() {
    let Some((mut child, folder)) = owner() else { return };
    let server = server_of(&folder);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_goes(&folder);
    assert!(!is_running(&server));
}

/// Stages of a starting server, in order: a file in its folder, and a text in that file.
const MOMENTS: [(&str, &str); 6] = [
    ("", ""),
    ("log", ""),
    ("data/PG_VERSION", ""),
    ("log", "Success."),
    ("data/postmaster.pid", ""),
    (".s.PGSQL.5432", ""),
];

#[test]
fn cluster_is_removed_when_the_owner_is_killed_during_start() {
    if Cluster::start().unwrap().is_none() {
        return;
    }
    for (file, text) in MOMENTS {
        let parent = std::env::temp_dir().join(format!("candor_moment_{}", std::process::id()));
        fs::create_dir(&parent).unwrap();
        fs::set_permissions(&parent, Permissions::from_mode(0o777)).unwrap();
        let mut child = program().env("TMPDIR", &parent).spawn().unwrap();
        let only_folder = || fs::read_dir(&parent).unwrap().next().map(|entry| entry.unwrap().path());
        let is_in_file = |folder: PathBuf| {
            let path = folder.join(file);
            path.exists()
                && (text.is_empty() || fs::read_to_string(path).is_ok_and(|content| content.contains(text)))
        };
        wait_until(|| only_folder().is_some_and(is_in_file), &format!("no {file} with {text:?}"));
        child.kill().unwrap();
        child.wait().unwrap();
        wait_until(|| only_folder().is_none(), &format!("something is left after {file} with {text:?}"));
        fs::remove_dir(&parent).unwrap();
    }
}

#[test]
fn cluster_is_removed_after_ctrl_c_to_the_process_group() {
    let Some((mut child, folder)) = owner() else { return };
    let server = server_of(&folder);
    signal("-INT", &format!("-{}", child.id()));
    child.wait().unwrap();
    assert_goes(&folder);
    assert!(!is_running(&server));
}

#[test]
fn cluster_is_removed_when_the_value_is_dropped() {
    let Some(cluster) = Cluster::start().unwrap() else { return };
    let folder = cluster.folder().to_path_buf();
    let server = server_of(&folder);
    drop(cluster);
    assert!(!folder.exists());
    assert!(!is_running(&server));
}
