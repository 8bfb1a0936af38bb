//! Whether an address can be listened on, and who does already.

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

use serde_json::Value;
use tokio::task::spawn_blocking;
use ureq::Agent;

use super::finding::Finding;
use crate::config::Setting;
use crate::wiring;

/// Longer than a service on this machine takes to say that it lives.
const PATIENCE: Duration = Duration::from_secs(6);

/// Looks at one address.
pub(super) async fn look(address: SocketAddr, setting: Setting) -> Finding {
    let check = if setting == Setting::AdminListen { "admin listener" } else { "listener" };
    let variable = setting.variable();
    match TcpListener::bind(address) {
        Ok(_) => Finding::good(check, format!("{address} is free")),
        Err(error) if error.kind() == ErrorKind::AddrInUse => {
            match spawn_blocking(move || neighbour(address)).await.ok().flatten() {
                Some(None) => Finding::good(check, format!("a candor listens on {address} and is ready")),
                Some(Some(reason)) => Finding::warning(
                    check,
                    format!("a candor listens on {address} and is not ready: {reason}"),
                    "wait a moment, and look into its log",
                ),
                None => Finding::broken(
                    check,
                    format!("{address} is taken, and not by a candor"),
                    format!("stop what listens there (`ss -ltnp` names it), or set {variable} to another address"),
                ),
            }
        }
        Err(error) => Finding::broken(
            check,
            format!("{address} cannot be listened on: {error}"),
            format!("set {variable} to an address of this machine that this user may listen on"),
        ),
    }
}

/// Whether a candor answers there, and if so, why it is not ready, if it is not.
fn neighbour(address: SocketAddr) -> Option<Option<String>> {
    let config = Agent::config_builder().http_status_as_error(false).timeout_global(Some(PATIENCE));
    let agent: Agent = config.build().into();
    let ask = |path: &str| -> Option<Value> {
        let mut response = agent.get(format!("{}{path}", wiring::local_url(address))).call().ok()?;
        serde_json::from_str(&response.body_mut().read_to_string().ok()?).ok()
    };
    ask("/livez").filter(|it| it["status"] == "alive")?;
    let readiness = ask("/readyz").unwrap_or_default();
    let reason = || readiness["error"]["message"].as_str().unwrap_or("it does not say why").to_owned();
    Some((readiness["status"] != "ready").then(reason))
}
