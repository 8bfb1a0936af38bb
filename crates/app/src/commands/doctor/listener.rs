//! Check of a listen address, and of the process that already uses it.

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener};

use candor_client::Probe;

use super::super::healthcheck;
use super::finding::Finding;
use candor_settings::Setting;

/// Checks that a listen address is free, or that a Candor service already listens on it.
pub(super) async fn look(address: SocketAddr, setting: Setting) -> Finding {
    let check = if setting == Setting::AdminListen { "admin listener" } else { "listener" };
    let variable = setting.variable();
    match TcpListener::bind(address) {
        Ok(_) => Finding::good(check, format!("{address} is free")),
        Err(error) if error.kind() == ErrorKind::AddrInUse => match neighbour(address).await {
            Some(None) => Finding::good(check, format!("a Candor service listens on {address} and is ready")),
            Some(Some(reason)) => Finding::warn(
                check,
                format!("a Candor service listens on {address} and is not ready: {reason}"),
                "wait a moment, and check the log of that service",
            ),
            None => Finding::report_fault(
                check,
                format!("another program uses {address}"),
                format!("stop that program (`ss -ltnp` names it), or set {variable} to another address"),
            ),
        },
        Err(error) => Finding::report_fault(
            check,
            format!("cannot listen on {address}: {error}"),
            format!("set {variable} to an address of this machine that this user may use"),
        ),
    }
}

/// Asks the process at the address for its health. Returns `None` if it is no Candor service, `Some(None)` if the
/// service is ready, and otherwise the reason why the service is not ready.
async fn neighbour(address: SocketAddr) -> Option<Option<String>> {
    healthcheck::ask(address, Probe::Live).await.filter(|response| response["status"] == "alive")?;
    let readiness = healthcheck::ask(address, Probe::Ready).await.unwrap_or_default();
    Some((readiness["status"] != "ready").then(|| healthcheck::reason(&readiness)))
}
