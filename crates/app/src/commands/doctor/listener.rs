//! Whether an address can be listened on, and who does already.

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener};

use tokio::task::spawn_blocking;

use super::super::healthcheck;
use super::finding::Finding;
use crate::config::Setting;

/// Looks at one address.
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

/// Whether a candor answers there, and if so, why it is not ready, if it is not.
fn neighbour(address: SocketAddr) -> Option<Option<String>> {
    healthcheck::ask(address, "/livez").filter(|it| it["status"] == "alive")?;
    let readiness = healthcheck::ask(address, "/readyz").unwrap_or_default();
    Some((readiness["status"] != "ready").then(|| healthcheck::reason(&readiness)))
}
