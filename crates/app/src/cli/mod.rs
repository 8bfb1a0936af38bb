//! The command line.

mod arguments;
mod settings;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::path::PathBuf;

use candor_domain::id::{ConnectorId, EmployeeId, KeyId, OrganizationId};
use candor_domain::time::Timestamp;
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use crate::config::Setting;

/// Printed below the list of commands: which one to begin with.
const AFTER: &str = "\
A new installation:
  candor migrate
  candor org create --name 'Example Ltd'
  candor key create --org ORG --name 'HR sync' --scopes '*' --admin
  candor serve

`candor COMMAND --help` has the settings of a command, `candor config` shows all that are in force, and `candor doctor`
looks for what is wrong.";

/// The position, in a command's help, of the options that every command has.
const BEHIND: usize = 900;

/// Performance feedback as a JSON HTTP service.
#[derive(Debug, Parser)]
#[command(name = "candor", version, after_help = AFTER)]
pub(crate) struct Cli {
    /// A TOML file with settings [env: CANDOR_CONFIG]
    #[arg(long, global = true, value_name = "FILE", display_order = BEHIND)]
    pub(crate) config: Option<PathBuf>,
    /// Answer with one JSON object on standard output
    #[arg(long, global = true, display_order = BEHIND)]
    pub(crate) json: bool,
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Cli {
    /// Reads the command line of this process; what is wrong there ends it, with exit status 2.
    pub(crate) fn read() -> (Self, Vec<(Setting, String)>) {
        Self::read_from(std::env::args_os()).unwrap_or_else(|wrong| wrong.exit())
    }

    /// Reads a command line: what to do, and the settings that were given.
    fn read_from(words: impl IntoIterator<Item = OsString>) -> Result<(Self, Vec<(Setting, String)>), clap::Error> {
        let matches = settings::accepted(described()).try_get_matches_from(words)?;
        let cli = Self::from_arg_matches(&matches).map_err(|it| it.format(&mut described()))?;
        Ok((cli, settings::given(&matches)))
    }
}

/// The command line as it is shown: in help, in completions and in the manual.
pub(crate) fn described() -> clap::Command {
    settings::shown(Cli::command())
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Start on the embedded database, with an organization, a key and sample data to try
    #[command(after_help = "Example:\n  candor dev --listen 127.0.0.1:9000 --data-dir /tmp/candor")]
    Dev,
    /// Start the service
    #[command(after_help = "\
The master key, which seals secrets at rest, has no flag: it is CANDOR_MASTER_KEY. With the embedded database one is made.

Example:
  candor serve --listen 0.0.0.0:8080 --admin-listen 127.0.0.1:9090 --public-url https://feedback.example.com")]
    Serve {
        /// Which part of the work this process does
        #[arg(long, value_enum, default_value_t = Role::All)]
        role: Role,
    },
    /// Apply pending migrations
    #[command(after_help = "Example:\n  candor migrate --check || candor migrate")]
    Migrate {
        /// Only report which are pending, and which tables are not distributed that should be; the exit status is 3 when
        /// there are any
        #[arg(long)]
        check: bool,
        /// Spread the tables over the nodes of a Citus cluster as well; the service must not run meanwhile, and there is no
        /// way back
        #[arg(long, conflicts_with = "check")]
        distribute: bool,
        /// Into so many parts, which are what can be moved from node to node later
        #[arg(long, requires = "distribute", default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..=1024))]
        shards: u16,
        /// Only print the statements that set a role of PostgreSQL up for a pooler in transaction mode
        #[arg(long, conflicts_with_all = ["check", "distribute"])]
        role_settings: bool,
    },
    /// Copy everything from one database to another, with the service stopped
    ///
    /// SQLite to PostgreSQL or back; ids, times, keys, secrets and places in the event feed stay what they are. The target
    /// must be empty: it is made, or migrated, as needed. At the end every table is compared on both sides. Until that is
    /// done no service starts on the target; a copy that was interrupted goes on when it is run again.
    #[command(after_help = "\
Where --from or --to is not given, it is the configured database, whose URL then stands on no command line.

Example:
  candor copy --from sqlite://data/candor.db --to postgres://candor@db.example.com/candor")]
    Copy {
        /// The database that is copied, which is only read [default: the configured one]
        #[arg(long, value_name = "URL", required_unless_present = "to")]
        from: Option<String>,
        /// The database that is filled [default: the configured one]
        #[arg(long, value_name = "URL")]
        to: Option<String>,
    },
    /// Copy the embedded database into a new file, also while the service runs, and check the copy
    ///
    /// The file holds everything that is committed, and the master key is not in it: keep that apart. On PostgreSQL use
    /// pg_dump.
    #[command(after_help = "Example:\n  candor backup /var/backups/candor-$(date +%F).db")]
    Backup {
        /// The new file; one that exists is never replaced
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Put a backup in place of an embedded database that is not there
    ///
    /// The file is checked first, and stays. The service must not run, and a database that is there is never replaced. On
    /// PostgreSQL use pg_restore.
    #[command(after_help = "Example:\n  candor restore /var/backups/candor-2026-11-24.db")]
    Restore {
        /// A file that `candor backup` made
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Organizations
    #[command(subcommand)]
    Org(OrgCommand),
    /// API keys
    #[command(subcommand)]
    Key(KeyCommand),
    /// Seal the secrets of webhooks anew with the first key of CANDOR_MASTER_KEY
    ///
    /// To replace the master key: put the new key in front of the ring, restart every instance, run this, and take the
    /// old key away a day later. The answers that are kept for retries are left as they are: they expire within 24 hours.
    /// It may be run again at any time, also while the service runs.
    #[command(after_help = "Example:\n  CANDOR_MASTER_KEY=\"k2:$NEW,k1:$OLD\" candor rekey")]
    Rekey {
        /// After a key was lost: give up the secrets that no key of the ring opens
        #[arg(long)]
        accept_loss: bool,
    },
    /// Record and update the people of a CSV file through a running service; its key comes from CANDOR_API_KEY
    Import(Import),
    /// Show the effective settings and where each came from
    #[command(after_help = "Example:\n  candor config --json")]
    Config,
    /// Look for what is wrong with the settings, the database and this machine, and say what to do
    ///
    /// It changes nothing, and may be run while the service runs. The exit status is 1 only where something is broken.
    #[command(after_help = "Example:\n  candor doctor --json")]
    Doctor,
    /// Ask the service that runs with the same settings whether it is ready, as a container's health check
    ///
    /// It asks CANDOR_ADMIN_LISTEN where that is set, else CANDOR_LISTEN. The exit status is 1 where it is not ready.
    #[command(after_help = "Example:\n  candor healthcheck --admin-listen 0.0.0.0:9090")]
    Healthcheck {
        /// Only whether it lives, whatever the database does
        #[arg(long)]
        live: bool,
    },
    /// Print a script that completes commands and options in a shell
    #[command(after_help = "\
Examples:
  candor completions bash > ~/.local/share/bash-completion/completions/candor
  candor completions zsh > ~/.zfunc/_candor
  candor completions fish > ~/.config/fish/completions/candor.fish")]
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page
    #[command(after_help = "\
Examples:
  candor manual | man -l -
  candor manual > /usr/local/share/man/man1/candor.1")]
    Manual,
}

/// A file to be imported.
#[derive(Debug, Args)]
#[command(after_help = "\
CANDOR_API_KEY must hold a key with the scope employees:write.

The exit status is 0 when every row is in, 1 when something failed, 2 for wrong usage, and 130 after Ctrl-C. At every
end it says how far each part came; with --json that is one object, also then.

Examples:
  candor import people.csv --url https://feedback.example.com --dry-run
  hr-export | candor import - --url https://feedback.example.com --json")]
pub(crate) struct Import {
    /// The file, or - for standard input; any size, it is sent in parts
    #[arg(value_name = "FILE.csv")]
    pub(crate) file: PathBuf,
    /// Address of the service
    #[arg(long, value_name = "URL")]
    pub(crate) url: String,
    /// Only say what would become of each row
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Empty cells remove what is stored
    #[arg(long)]
    pub(crate) clear_empty: bool,
    /// The connector on whose behalf to import
    #[arg(long, value_name = "CONNECTOR_ID")]
    pub(crate) connector: Option<ConnectorId>,
}

/// Which part of the work a process does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Role {
    /// Both of the others
    All,
    /// Requests
    Api,
    /// Work that falls due
    Worker,
}

impl Role {
    /// The role as it is written on the command line.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Api => "api",
            Self::Worker => "worker",
        }
    }
}

/// Organizations.
#[derive(Debug, Subcommand)]
pub(crate) enum OrgCommand {
    /// Make an organization
    #[command(after_help = "Example:\n  candor org create --name 'Example Ltd'")]
    Create {
        /// Its name
        #[arg(long)]
        name: String,
    },
    /// All organizations, the oldest first
    #[command(after_help = "Example:\n  candor org list")]
    List,
    /// Give an organization another name
    #[command(after_help = "Example:\n  candor org rename org_01J00000000000000000000000 --name 'Example Group'")]
    Rename {
        /// The organization's id
        #[arg(value_name = "ORG")]
        org: OrganizationId,
        /// Its new name
        #[arg(long)]
        name: String,
    },
}

/// API keys.
#[derive(Debug, Subcommand)]
pub(crate) enum KeyCommand {
    /// Make a key, and show it this once
    Create(Box<NewKey>),
    /// The keys of an organization, or of all
    #[command(after_help = "Examples:\n  candor key list\n  candor key list --org org_01J00000000000000000000000")]
    List {
        /// Only those of this organization
        #[arg(long)]
        org: Option<OrganizationId>,
    },
    /// End a key for good
    #[command(after_help = "Example:\n  candor key revoke key_01J00000000000000000000000")]
    Revoke {
        /// The key's id
        key_id: KeyId,
    },
}

/// A key to be made.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  candor key create --org ORG --name 'First key' --scopes '*' --admin
  candor key create --org ORG --name 'HR sync' --scopes employees:read,employees:write --expires 2027-01-01")]
pub(crate) struct NewKey {
    /// The organization
    #[arg(long)]
    pub(crate) org: OrganizationId,
    /// Its name
    #[arg(long)]
    pub(crate) name: String,
    /// What it may do
    #[arg(long, value_name = "LIST", help = arguments::scopes_help())]
    pub(crate) scopes: String,
    /// May also change what shapes the organization
    #[arg(long)]
    pub(crate) admin: bool,
    /// For the organization's test data set
    #[arg(long)]
    pub(crate) test: bool,
    /// The person it acts for
    #[arg(long, value_name = "EMPLOYEE_ID")]
    pub(crate) employee: Option<EmployeeId>,
    /// When it ends: a datetime such as 2026-12-01T18:00:00Z, or a date, with whose first moment in UTC it ends
    #[arg(long, value_name = "DATETIME|DATE", value_parser = arguments::moment)]
    pub(crate) expires: Option<Timestamp>,
    /// Reads per minute, when 600 are not right
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) reads_per_minute: Option<u32>,
    /// Writes per minute, when 100 are not right
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) writes_per_minute: Option<u32>,
}
