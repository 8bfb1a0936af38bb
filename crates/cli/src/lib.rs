//! Commands of the program `candor` that call a service with the user's API key, and the parts that all commands of the
//! program share: errors, output, and files that only their owner can read.
//!
//! The crate uses the client library only. It knows no store and no settings of a service.

mod api;
pub mod arguments;
pub mod check;
pub mod error;
mod export;
mod import;
mod login;
pub mod output;
pub mod private_file;
mod remote;

use arguments::RemoteCommand;
use error::CommandError;
use output::Output;

/// Runs a command that calls a service.
///
/// # Errors
/// The failure of the command, with its cause and the remedy.
pub async fn run(command: RemoteCommand, output: Output) -> Result<(), CommandError> {
    match command {
        RemoteCommand::Login(login) => login::run(login, output).await,
        RemoteCommand::Logout { profile } => login::log_out(&profile, output).await,
        RemoteCommand::Profiles => login::list(output),
        RemoteCommand::Api(api) => api::run(*api, output).await,
        RemoteCommand::Export(export) => export::run(export, output).await,
        RemoteCommand::Import(import) => import::run(import, output).await,
    }
}
