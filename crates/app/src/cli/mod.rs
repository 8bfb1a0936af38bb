//! The command line: flags, arguments and help of the service and of the commands of its operator.

mod arguments;
mod connector;
#[cfg(test)]
mod documents;
mod erasure;
mod identity;
mod settings;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::path::PathBuf;

use candor_cli::arguments::RemoteCommand;
use candor_domain::access::AllowedNetworks;
use candor_domain::id::{ConnectorId, EmployeeId, KeyId, OrganizationId};
use candor_domain::time::Timestamp;
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use candor_settings::Setting;
pub(crate) use connector::{ConnectorCommand, Kind, NewConnector};
pub(crate) use erasure::ErasureCommand;
pub(crate) use identity::IdentityCommand;

/// Text below the list of commands: the first commands of a new installation.
const AFTER: &str = "\
A new installation:
  candor migrate
  candor org create --name 'Example Ltd'
  candor key create --org ORG --name 'HR sync' --scopes '*' --admin
  candor serve

`candor COMMAND --help` lists the settings of a command. `candor config` shows all settings in effect. `candor doctor` \
checks settings, database and machine.";

/// Display order in help texts of the options that every command has: behind the options of the command itself.
const BEHIND: usize = 900;

/// JSON HTTP service for performance feedback.
#[derive(Debug, Parser)]
#[command(name = "candor", version, after_help = AFTER)]
pub(crate) struct Cli {
    /// TOML file with settings [env: CANDOR_CONFIG]
    #[arg(long, global = true, value_name = "FILE", display_order = BEHIND)]
    pub(crate) config: Option<PathBuf>,
    /// Print one JSON object to standard output
    #[arg(long, global = true, display_order = BEHIND)]
    pub(crate) json: bool,
    /// Command to run.
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Cli {
    /// Parses the command line of this process. Wrong usage ends the process with exit status 2.
    pub(crate) fn read() -> (Self, Vec<(Setting, String)>) {
        Self::read_from(std::env::args_os()).unwrap_or_else(|wrong| wrong.exit())
    }

    /// Parses a command line into the command and the given settings.
    fn read_from(
        words: impl IntoIterator<Item = OsString>,
    ) -> Result<(Self, Vec<(Setting, String)>), clap::Error> {
        let matches = settings::accept_settings(command_line()).try_get_matches_from(words)?;
        let cli = Self::from_arg_matches(&matches).map_err(|error| error.format(&mut command_line()))?;
        Ok((cli, settings::given_settings(&matches)))
    }
}

/// Returns the definition of the command line for help, completions and the manual.
pub(crate) fn command_line() -> clap::Command {
    settings::with_settings_shown(Cli::command())
}

/// Commands of the program.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Start the service on the embedded database with an organization, a key and sample data
    #[command(after_help = "Example:\n  candor dev --listen 127.0.0.1:9000 --data-dir /tmp/candor")]
    Dev,
    /// Start the service
    #[command(after_help = "\
The master key, which seals secrets at rest, has no flag: it is CANDOR_MASTER_KEY. With the embedded database, the first start creates the key.

Example:
  candor serve --listen 0.0.0.0:8080 --admin-listen 127.0.0.1:9090 --public-url https://feedback.example.com")]
    Serve {
        /// Part of the work that this process does
        #[arg(long, value_enum, default_value_t = Role::All)]
        role: Role,
    },
    /// Apply pending migrations
    #[command(after_help = "Example:\n  candor migrate --check || candor migrate")]
    Migrate {
        /// Only list pending migrations and undistributed tables; the exit status is 3 if there are any
        #[arg(long)]
        check: bool,
        /// Also distribute the tables over the nodes of a Citus cluster; stop the service first; this cannot be
        /// reverted
        #[arg(long, conflicts_with = "check")]
        distribute: bool,
        /// Number of parts that can be moved between nodes later
        #[arg(long, requires = "distribute", default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..=1024))]
        shards: u16,
        /// Only print the SQL statements that configure a PostgreSQL role for a pooler in transaction mode
        #[arg(long, conflicts_with_all = ["check", "distribute"])]
        role_settings: bool,
    },
    /// Copy all data from one database to another while the service is stopped
    ///
    /// SQLite to PostgreSQL or back. Ids, times, keys, secrets and positions in the event feed do not change. The
    /// target must be empty: it is created or migrated as needed. At the end every table is compared on both
    /// sides. No service starts on an incomplete target. An interrupted copy continues if the command is run
    /// again.
    #[command(after_help = "\
--from and --to default to the configured database, so that its URL need not be on the command line.

Example:
  candor copy --from sqlite://data/candor.db --to postgres://candor@db.example.com/candor")]
    Copy {
        /// Source database, which is only read [default: the configured one]
        #[arg(long, value_name = "URL", required_unless_present = "to")]
        from: Option<String>,
        /// Target database [default: the configured one]
        #[arg(long, value_name = "URL")]
        to: Option<String>,
    },
    /// Copy the embedded database into a new file and check the copy; the service may run
    ///
    /// The file contains all committed data, but not the master key: store that separately. On
    /// PostgreSQL, use pg_dump.
    #[command(after_help = "Example:\n  candor backup /var/backups/candor-$(date +%F).db")]
    Backup {
        /// New file; an existing file is never replaced
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Check a backup and install it as the embedded database
    ///
    /// The backup file stays. Stop the service first. An existing database is never replaced. On PostgreSQL, use
    /// pg_restore.
    #[command(after_help = "Example:\n  candor restore /var/backups/candor-2026-11-24.db")]
    Restore {
        /// File created by `candor backup`
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Manage organizations
    #[command(subcommand)]
    Org(OrgCommand),
    /// Manage API keys
    #[command(subcommand)]
    Key(KeyCommand),
    /// Print a one-time link that opens the console signed in
    ///
    /// The link can be opened once within 30 minutes. The API key behind it has the admin level, ends after a day
    /// and is listed like other keys.
    #[command(after_help = "\
Examples:
  candor console
  candor console --org org_01J00000000000000000000000 --scopes webhooks:read,events:read")]
    Console(NewLinkArguments),
    /// Connect HR systems and identity providers
    #[command(subcommand)]
    Connector(ConnectorCommand),
    /// Manage the identity providers of organizations
    #[command(subcommand)]
    Identity(IdentityCommand),
    /// Encrypt the secrets of webhooks, identity providers and erasures with the first key of CANDOR_MASTER_KEY
    ///
    /// To replace the master key: put the new key at the front of the ring, restart every instance, run this
    /// command, and remove the old key a day later. Replays, the responses kept for retries, stay: they expire
    /// within 24 hours. The command may be repeated at any time, also while the service runs.
    #[command(after_help = "Example:\n  CANDOR_MASTER_KEY=\"k2:$NEW,k1:$OLD\" candor rekey")]
    Rekey {
        /// After the loss of a key: skip the secrets that no key of the ring decrypts; they must be set again
        #[arg(long)]
        accept_loss: bool,
    },
    /// Repeat erasures of people after a restore, and rewrite the tables that had rows of these people
    #[command(subcommand)]
    Erasure(ErasureCommand),
    #[command(flatten)]
    Remote(RemoteCommand),
    /// Show the effective settings and the source of each
    #[command(after_help = "Example:\n  candor config --json")]
    Config,
    /// Check the settings, the database and this machine, and print remedies
    ///
    /// The command changes nothing and may run beside the service. The exit status is 1 only if a check fails.
    #[command(after_help = "Example:\n  candor doctor --json")]
    Doctor {
        /// Also check that the database has the erasures and legal holds of this ledger, see `candor erasure ledger`
        #[arg(long, value_name = "FILE")]
        ledger: Option<PathBuf>,
    },
    /// Check whether the service with the same settings is ready, as a container health check
    ///
    /// The check uses CANDOR_ADMIN_LISTEN if it is set, else CANDOR_LISTEN. The exit status is 1 if the service is
    /// not ready.
    #[command(after_help = "Example:\n  candor healthcheck --admin-listen 0.0.0.0:9090")]
    Healthcheck {
        /// Only check that the process responds, independent of the database
        #[arg(long)]
        live: bool,
    },
    /// Print a shell completion script
    #[command(after_help = "\
Examples:
  candor completions bash > ~/.local/share/bash-completion/completions/candor
  candor completions zsh > ~/.zfunc/_candor
  candor completions fish > ~/.config/fish/completions/candor.fish")]
    Completions {
        /// Shell
        shell: Shell,
    },
    /// Print the manual page
    #[command(after_help = "\
Examples:
  candor manual | man -l -
  candor manual > /usr/local/share/man/man1/candor.1")]
    Manual,
}

/// Part of the work that a process does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Role {
    /// Serve requests and run background work
    All,
    /// Serve requests
    Api,
    /// Run background work
    Worker,
}

impl Role {
    /// Returns the role as written on the command line.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Api => "api",
            Self::Worker => "worker",
        }
    }
}

/// Subcommands of `candor org`.
#[derive(Debug, Subcommand)]
pub(crate) enum OrgCommand {
    /// Create an organization
    #[command(after_help = "Example:\n  candor org create --name 'Example Ltd'")]
    Create {
        /// Name
        #[arg(long)]
        name: String,
    },
    /// List all organizations, oldest first
    #[command(after_help = "Example:\n  candor org list")]
    List,
    /// Rename an organization
    #[command(after_help = "Example:\n  candor org rename org_01J00000000000000000000000 --name 'Example Group'")]
    Rename {
        /// Id of the organization
        #[arg(value_name = "ORG")]
        org: OrganizationId,
        /// New name
        #[arg(long)]
        name: String,
    },
}

/// Subcommands of `candor key`.
#[derive(Debug, Subcommand)]
pub(crate) enum KeyCommand {
    /// Create a key and show it once
    Create(Box<NewKey>),
    /// List the keys of one or all organizations
    #[command(after_help = "Examples:\n  candor key list\n  candor key list --org org_01J00000000000000000000000")]
    List {
        /// Only keys of this organization
        #[arg(long)]
        org: Option<OrganizationId>,
    },
    /// Revoke a key permanently
    #[command(after_help = "Example:\n  candor key revoke key_01J00000000000000000000000")]
    Revoke {
        /// Id of the key
        key_id: KeyId,
    },
}

/// Arguments of `candor console`.
#[derive(Debug, Args)]
pub(crate) struct NewLinkArguments {
    /// Organization of the key [default: the only one]
    #[arg(long)]
    pub(crate) org: Option<OrganizationId>,
    /// Permissions of the key
    #[arg(long, value_name = "LIST", default_value = "*", help = arguments::scopes_help())]
    pub(crate) scopes: String,
    /// Open the test data set
    #[arg(long)]
    pub(crate) test: bool,
    /// Networks from which the link and its key can be used, separated by commas [default: all]
    #[arg(long, value_name = "CIDR,…", value_parser = arguments::networks)]
    pub(crate) networks: Option<AllowedNetworks>,
}

/// Arguments of `candor key create`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  candor key create --org ORG --name 'First key' --scopes '*' --admin
  candor key create --org ORG --name 'HR sync' --scopes employees:read,employees:write --expires 2027-01-01
  candor key create --org ORG --name 'Okta' --scopes scim --connector CONNECTOR")]
pub(crate) struct NewKey {
    /// Organization of the key
    #[arg(long)]
    pub(crate) org: OrganizationId,
    /// Name
    #[arg(long)]
    pub(crate) name: String,
    /// Permissions of the key
    #[arg(long, value_name = "LIST", help = arguments::scopes_help())]
    pub(crate) scopes: String,
    /// Give the key the admin level, which opens keys and settings
    #[arg(long)]
    pub(crate) admin: bool,
    /// Create the key for the test data set
    #[arg(long)]
    pub(crate) test: bool,
    /// Person the key acts for
    #[arg(long, value_name = "EMPLOYEE_ID")]
    pub(crate) employee: Option<EmployeeId>,
    /// Expiry: a datetime such as 2026-12-01T18:00:00Z, or a date, which means its start in UTC
    #[arg(long, value_name = "DATETIME|DATE", value_parser = arguments::moment)]
    pub(crate) expires: Option<Timestamp>,
    /// Read quota per minute [default: 600]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) reads_per_minute: Option<u32>,
    /// Write quota per minute [default: 100]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) writes_per_minute: Option<u32>,
    /// Connector whose identity provider uses the key; needs the scope scim
    #[arg(long, value_name = "CONNECTOR_ID")]
    pub(crate) connector: Option<ConnectorId>,
    /// Quota of SCIM requests per minute [default: 3000]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) scim_per_minute: Option<u32>,
    /// Networks from which the key can be used, separated by commas [default: all]
    #[arg(long, value_name = "CIDR,…", value_parser = arguments::networks)]
    pub(crate) networks: Option<AllowedNetworks>,
}
