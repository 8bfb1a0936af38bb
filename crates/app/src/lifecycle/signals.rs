//! Signals that stop the process.

use tokio::signal::unix::{Signal, SignalKind, signal};

use candor_cli::error::CommandError;

/// Signals that stop the process.
pub(super) struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    /// Starts to listen for SIGTERM and SIGINT.
    ///
    /// # Errors
    /// [`CommandError::Io`] if the system allows no listener.
    pub(super) fn listen() -> Result<Self, CommandError> {
        let stream = |kind| signal(kind).map_err(CommandError::io("listen", "for signals"));
        Ok(Self { terminate: stream(SignalKind::terminate())?, interrupt: stream(SignalKind::interrupt())? })
    }

    /// Waits for the next signal and returns its name.
    pub(super) async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
        }
    }
}
