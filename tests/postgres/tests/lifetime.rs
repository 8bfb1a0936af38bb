//! A temporary server ends with its owner, however that one ends.

#![cfg(test)]

use candor_test_postgres::Cluster;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_secs(30);

/// The program of this package, holding a server, or `None` on a machine without PostgreSQL.
fn owner() -> Option<(Child, PathBuf)> {
    drop(Cluster::start().unwrap()?);
    let mut child = Command::new(env!("CARGO_BIN_EXE_candor-test-postgres"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .process_group(0)
        .spawn()
        .unwrap();
    let mut url = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
    let folder = url.split_once('@').unwrap().1.split_once('/').unwrap().0.replace("%2F", "/");
    Some((child, PathBuf::from(folder)))
}

#[expect(clippy::disallowed_methods, reason = "this waits for a condition, with a deadline")]
fn assert_goes(folder: &Path) {
    let begun = Instant::now();
    while folder.exists() {
        assert!(begun.elapsed() < LIMIT, "{} is still there", folder.display());
        thread::sleep(Duration::from_millis(10));
    }
}

fn server_of(folder: &Path) -> String {
    std::fs::read_to_string(folder.join("data/postmaster.pid")).unwrap().lines().next().unwrap().to_owned()
}

fn is_running(process: &str) -> bool {
    Command::new("kill").args(["-0", process]).stderr(Stdio::null()).status().unwrap().success()
}

fn signal(signal: &str, target: &str) {
    assert!(Command::new("kill").args([signal, "--", target]).status().unwrap().success());
}

#[test]
fn nothing_remains_when_the_owner_is_killed() {
    let Some((mut child, folder)) = owner() else { return };
    let server = server_of(&folder);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_goes(&folder);
    assert!(!is_running(&server));
}

#[test]
fn nothing_remains_after_a_ctrl_c_for_the_whole_group() {
    let Some((mut child, folder)) = owner() else { return };
    let server = server_of(&folder);
    signal("-INT", &format!("-{}", child.id()));
    child.wait().unwrap();
    assert_goes(&folder);
    assert!(!is_running(&server));
}

#[test]
fn nothing_remains_once_the_value_is_dropped() {
    let Some(cluster) = Cluster::start().unwrap() else { return };
    let folder = cluster.folder().to_path_buf();
    let server = server_of(&folder);
    drop(cluster);
    assert!(!folder.exists());
    assert!(!is_running(&server));
}
