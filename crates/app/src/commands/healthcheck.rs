//! `candor healthcheck`: asks the local service for its health, for containers without an HTTP client.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use candor_client::{Probe, probe};
use serde_json::{Value, json};

use candor_cli::error::{CommandError, CommandFailure};
use candor_cli::output::Output;
use candor_settings::Config;

/// Failure of a service that does not answer or is not ready.
#[derive(Debug, thiserror::Error)]
#[error("the service at {address} is not healthy: {reason}; see the log of the service, or run `candor doctor`")]
struct HealthCommandError {
    /// Address of the called service.
    address: SocketAddr,
    /// Reason why the service counts as unhealthy: its answer, or the lack of one.
    reason: String,
}

impl CommandFailure for HealthCommandError {}

/// Asks the service with these settings whether it is ready, or with `live` only whether it is alive. A separate
/// listener for metrics and health is preferred, because a worker has no other listener.
///
/// # Errors
/// [`HealthCommandError`] if the service does not answer, or answers that it is not ready.
pub(crate) async fn run(config: &Config, live: bool, output: Output) -> Result<(), CommandError> {
    let address = config.admin_listen.unwrap_or(config.listen);
    let (probe, wanted) = if live { (Probe::Live, "alive") } else { (Probe::Ready, "ready") };
    let unhealthy = |reason: String| CommandError::from(HealthCommandError { address, reason });
    let response = ask(address, probe).await;
    let response = response.ok_or_else(|| unhealthy("no Candor service responds at this address".to_owned()))?;
    if response["status"] != wanted {
        return Err(unhealthy(reason(&response)));
    }
    output.say(&json!({"status": wanted}), wanted)
}

/// Returns the answer of a service on this machine, or `None` if none answers at that address.
pub(super) async fn ask(address: SocketAddr, question: Probe) -> Option<Value> {
    probe(&format!("http://{}", reachable_address(address)), question).await.ok()
}

/// Returns the reason that a service gives for not being ready.
pub(super) fn reason(response: &Value) -> String {
    response["error"]["message"].as_str().unwrap_or("no reason given").to_owned()
}

/// Returns the address by which this machine reaches its own listener: the loopback address if the listener has
/// all addresses of the machine.
fn reachable_address(listening: SocketAddr) -> SocketAddr {
    let ip = match listening.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip @ (IpAddr::V4(_) | IpAddr::V6(_)) => ip,
    };
    SocketAddr::new(ip, listening.port())
}

#[cfg(test)]
mod tests {
    use super::reachable_address;

    #[test]
    fn wildcard_address_is_checked_on_the_loopback_address() {
        for (listening, asked) in [
            ("0.0.0.0:8080", "127.0.0.1:8080"),
            ("[::]:8080", "[::1]:8080"),
            ("127.0.0.1:9090", "127.0.0.1:9090"),
            ("192.0.2.7:80", "192.0.2.7:80"),
        ] {
            assert_eq!(reachable_address(listening.parse().unwrap()), asked.parse().unwrap(), "{listening}");
        }
    }
}
