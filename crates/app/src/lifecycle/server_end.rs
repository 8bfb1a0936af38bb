//! The end of a server that was not stopped.

use std::io;

use candor_cli::error::CommandError;
use tokio::task::JoinError;

/// Result of a server task.
pub(super) type ServerEnd = io::Result<()>;

/// Returns the failure of a process whose server has ended.
pub(super) fn to_error(ended: Result<ServerEnd, JoinError>) -> CommandError {
    let source = match ended {
        Ok(Err(error)) => error,
        Ok(Ok(())) => {
            let reason = "the HTTP server ended without an error".to_owned();
            return CommandError::Defect { what: "keep serving", reason };
        }
        Err(error) => io::Error::other(error),
    };
    CommandError::io("keep", "serving")(source)
}
