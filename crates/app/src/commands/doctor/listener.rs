//! Check of a listen address, and of the process that already uses it.

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener};

use tokio::task::spawn_blocking;

use super::super::healthcheck;
use super::finding::Finding;
use crate::config::Setting;

/// Checks one listen address.
pub(super) async fn look(address: SocketAddr, setting: Setting) -> Finding {
    let check = if setting == Setting::AdminListen { "admin listener" } else { "listener" };
    let variable = setting.variable();
    match TcpListener::bind(address) {
        Ok(_) => Finding::good(check, format!("{address} is free")),
        Err(error) if error.kind() == ErrorKind::AddrInUse => {
            match spawn_blocking(move || neighbour(address)).await.ok().flatten() {
                Some(None) => Finding::good(check, format!("a Candor service listens on {address} and is ready")),
                Some(Some(reason)) => Finding::warning(
                    check,
                    format!("a Candor service listens on {address} and is not ready: {reason}"),
                    "wait a moment, and check its log",
                ),
                None => Finding::broken(
                    check,
                    format!("another program uses {address}"),
                    format!("stop that program (`ss -ltnp` names it), or set {variable} to another address"),
                ),
            }
        }
        Err(error) => Finding::broken(
            check,
            format!("cannot listen on {address}: {error}"),
            format!("set {variable} to an address of this machine that this user may use"),
        ),
    }
}

/// Asks the process at the address. Returns `None` unless it is a Candor service, and the reason if that is not
/// ready.
fn neighbour(address: SocketAddr) -> Option<Option<String>> {
    healthcheck::ask(address, "/livez").filter(|item| item["status"] == "alive")?;
    let readiness = healthcheck::ask(address, "/readyz").unwrap_or_default();
    Some((readiness["status"] != "ready").then(|| healthcheck::reason(&readiness)))
}
