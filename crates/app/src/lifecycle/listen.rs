//! Binding of the listeners.

use std::io;
use std::net::{SocketAddr, TcpListener};

use candor_cli::error::CommandFailure;
use candor_settings::Setting;

/// Failure to bind a listener.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen on {address}: {source}; stop the program that uses the address, or set {} to another one", .setting.variable())]
pub(super) struct ListenError {
    /// The address that could not be bound.
    address: SocketAddr,
    /// The setting that the address came from.
    setting: Setting,
    /// Error of the operating system.
    source: io::Error,
}

impl CommandFailure for ListenError {}

/// Binds a listener and returns it with its address.
pub(super) fn bind(address: SocketAddr, setting: Setting) -> Result<(TcpListener, SocketAddr), ListenError> {
    let listener_result = TcpListener::bind(address).and_then(|listener| Ok((listener.local_addr()?, listener)));
    let (local, listener) = listener_result.map_err(|source| ListenError { address, setting, source })?;
    Ok((listener, local))
}
