//! The `candor` program: reads its settings, connects the parts of the service, and carries out the commands.

mod cli;
mod commands;
mod error;
mod lifecycle;
mod log_queue;
mod process_metrics;
mod restored;
mod serving_lock;
mod store;
mod telemetry;
mod tenant_metrics;
mod traces;
mod wiring;

use std::process::ExitCode;
use std::time::Duration;

use candor_cli::error::CommandError;
use candor_cli::output::{self, Output, printable};
use candor_settings::{Config, ConfigurationError, LoadedConfig, Setting};
use cli::{Cli, Command, ConnectorCommand, ErasureCommand, IdentityCommand, KeyCommand, OrgCommand};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Time limit for blocking threads to end after the command is done.
const RUNTIME_GRACE: Duration = Duration::from_millis(500);

/// Runs the command on the command line. Exit status: 0 on success, 1 on failure, 2 for wrong usage; some commands
/// have further exit statuses.
#[must_use]
pub fn main() -> ExitCode {
    let (cli, settings) = Cli::read();
    match start(cli, settings) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let lines = error.lines().into_iter().map(|line| format!("candor: {}\n", printable(&line))).collect();
            output::tell(lines);
            error.exit_code()
        }
    }
}

fn start(cli: Cli, settings: Vec<(Setting, String)>) -> Result<(), CommandError> {
    let output = Output { json: cli.json };
    // These commands describe the program itself and read no settings.
    if let Command::Completions { shell } = cli.command {
        return commands::describe::completions(shell, output);
    }
    if matches!(cli.command, Command::Manual) {
        return commands::describe::manual(output);
    }
    if let Command::Remote(remote) = cli.command {
        return wait_for(candor_cli::run(remote, output));
    }
    if let Command::Connector(ConnectorCommand::Check(check)) = cli.command {
        return wait_for(candor_cli::check::run(check, output));
    }
    let loaded_config = Config::load(cli.config, std::env::vars_os(), settings)?;
    if matches!(cli.command, Command::Config) {
        return commands::config::run(loaded_config, output);
    }
    let LoadedConfig { config, problems, warnings } = loaded_config;
    if !problems.is_empty() && matches!(cli.command, Command::Doctor { .. }) {
        return commands::doctor::without_settings(&problems, output);
    }
    if !problems.is_empty() {
        return Err(ConfigurationError { problems, warnings, shown: false }.into());
    }
    // Container runtimes run this command every few seconds, so it skips logging and the threads of the runtime.
    if let Command::Healthcheck { live } = cli.command {
        return wait_for(commands::healthcheck::run(&config, live, output));
    }
    let (export, _last_lines) = telemetry::start_logs(&config)?;
    for warning in warnings {
        tracing::warn!("{warning}");
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(threads()).enable_all().build();
    let runtime = runtime.map_err(CommandError::io("start", "the runtime"))?;
    let run_result = runtime.block_on(run(cli.command, &config, output));
    runtime.shutdown_timeout(RUNTIME_GRACE);
    if let Some(export) = export {
        export.stop();
    }
    run_result
}

/// Runs a command that sends a few requests, one after another.
fn wait_for(command: impl Future<Output = Result<(), CommandError>>) -> Result<(), CommandError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(CommandError::io("start", "the runtime"))?.block_on(command)
}

/// Returns the number of runtime threads. Requests have their own threads. Commits and background work run here,
/// and cost less if fewer threads wake each other.
fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, |cores| (cores.get() / 2).max(1))
}

async fn run(command: Command, config: &Config, output: Output) -> Result<(), CommandError> {
    match command {
        Command::Dev => commands::dev::run(config, output).await,
        Command::Serve { role } => commands::serve::run(config, role, output).await,
        Command::Migrate { role_settings: true, .. } => commands::migrate::role_settings(output),
        Command::Migrate { check: true, .. } => commands::migrate::check(config, output).await,
        Command::Migrate { distribute, shards, .. } => {
            commands::migrate::run(config, distribute.then_some(shards), output).await
        }
        Command::Copy { from, to } => commands::copy::run(config, from, to, output).await,
        Command::Backup { file } => commands::backup::back_up(config, file, output).await,
        Command::Restore { file } => commands::backup::restore(config, file, output).await,
        Command::Org(OrgCommand::Create { name }) => commands::org::create(config, &name, output).await,
        Command::Org(OrgCommand::List) => commands::org::list(config, output).await,
        Command::Org(OrgCommand::Rename { org, name }) => commands::org::rename(config, org, &name, output).await,
        Command::Key(KeyCommand::Create(new)) => commands::key::create(config, *new, output).await,
        Command::Key(KeyCommand::List { org }) => commands::key::list(config, org, output).await,
        Command::Key(KeyCommand::Revoke { key_id }) => commands::key::revoke(config, key_id, output).await,
        Command::Console(new) => commands::console::run(config, new, output).await,
        Command::Connector(ConnectorCommand::Create(new)) => {
            commands::connector::create(config, new, output).await
        }
        Command::Identity(IdentityCommand::Trust { org, domain }) => {
            commands::identity::trust(config, org, &domain, output).await
        }
        Command::Rekey { accept_loss } => commands::rekey::run(config, accept_loss, output).await,
        Command::Erasure(ErasureCommand::Ledger) => commands::erasure::ledger(config).await,
        Command::Erasure(ErasureCommand::Apply { file, force }) => {
            commands::erasure::apply(config, &file, &force, output).await
        }
        Command::Erasure(ErasureCommand::Scrub) => commands::erasure::scrub(config, output).await,
        Command::Doctor { ledger } => commands::doctor::run(config, ledger.as_deref(), output).await,
        Command::Completions { shell } => commands::describe::completions(shell, output),
        Command::Manual => commands::describe::manual(output),
        // Handled above, before logs and the runtime were started.
        Command::Config
        | Command::Healthcheck { .. }
        | Command::Connector(ConnectorCommand::Check(_))
        | Command::Remote(_) => Ok(()),
    }
}
