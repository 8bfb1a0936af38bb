//! The command line.

use std::path::PathBuf;

use candor_domain::id::{ConnectorId, EmployeeId, KeyId, OrganizationId};
use candor_domain::time::Timestamp;
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::config::Setting;

/// Performance feedback as a JSON HTTP service.
#[derive(Debug, Parser)]
#[command(name = "candor", version)]
pub(crate) struct Cli {
    /// A TOML file with settings; also CANDOR_CONFIG
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Answer with one JSON object on standard output
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Settings.
    #[command(flatten)]
    pub(crate) settings: SettingFlags,
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// A flag for every setting that is no secret.
#[derive(Debug, Default, Clone, Args)]
#[command(next_help_heading = "Settings")]
pub(crate) struct SettingFlags {
    /// Address of the API
    #[arg(long, global = true, value_name = "ADDRESS:PORT")]
    listen: Option<String>,
    /// Address of metrics and health, when they have one of their own
    #[arg(long, global = true, value_name = "ADDRESS:PORT")]
    admin_listen: Option<String>,
    /// sqlite://PATH or postgres://…; a password is better given in CANDOR_DATABASE_URL
    #[arg(long, global = true, value_name = "URL")]
    database_url: Option<String>,
    /// Connections to the database
    #[arg(long, global = true, value_name = "NUMBER")]
    database_pool: Option<String>,
    /// Folder of the embedded database and of the generated master key
    #[arg(long, global = true, value_name = "FOLDER")]
    data_dir: Option<String>,
    /// Base of links, ending before /v1
    #[arg(long, global = true, value_name = "URL")]
    public_url: Option<String>,
    /// Networks whose receivers of webhooks may be private, and called without TLS
    #[arg(long, global = true, value_name = "LIST")]
    webhooks_trusted_targets: Option<String>,
    /// When a failed delivery of a webhook is attempted again
    #[arg(long, global = true, value_name = "DELAYS")]
    webhooks_retry_schedule: Option<String>,
    /// How long the receiver of a webhook may take to answer
    #[arg(long, global = true, value_name = "DURATION")]
    webhooks_timeout: Option<String>,
    /// How often due work is looked for
    #[arg(long, global = true, value_name = "DURATION")]
    sweep_interval: Option<String>,
    /// Origins of web pages that may call the API
    #[arg(long, global = true, value_name = "LIST")]
    cors_origins: Option<String>,
    /// Networks of proxies whose X-Forwarded-For counts
    #[arg(long, global = true, value_name = "LIST")]
    trusted_proxies: Option<String>,
    /// What is logged, such as info or warn,candor_http=debug
    #[arg(long, global = true, value_name = "FILTER")]
    log: Option<String>,
    /// text or json
    #[arg(long, global = true, value_name = "FORMAT")]
    log_format: Option<String>,
}

impl SettingFlags {
    /// The flags that were given.
    #[must_use]
    pub(crate) fn given(self) -> Vec<(Setting, String)> {
        let all = [
            (Setting::Listen, self.listen),
            (Setting::AdminListen, self.admin_listen),
            (Setting::DatabaseUrl, self.database_url),
            (Setting::DatabasePool, self.database_pool),
            (Setting::DataDir, self.data_dir),
            (Setting::PublicUrl, self.public_url),
            (Setting::WebhooksTrustedTargets, self.webhooks_trusted_targets),
            (Setting::WebhooksRetrySchedule, self.webhooks_retry_schedule),
            (Setting::WebhooksTimeout, self.webhooks_timeout),
            (Setting::SweepInterval, self.sweep_interval),
            (Setting::CorsOrigins, self.cors_origins),
            (Setting::TrustedProxies, self.trusted_proxies),
            (Setting::Log, self.log),
            (Setting::LogFormat, self.log_format),
        ];
        all.into_iter().filter_map(|(setting, value)| Some((setting, value?))).collect()
    }
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Start on the embedded database, with an organization, a key and sample data to try
    Dev,
    /// Start the service
    Serve {
        /// Which part of the work this process does
        #[arg(long, value_enum, default_value_t = Role::All)]
        role: Role,
    },
    /// Apply pending migrations
    Migrate {
        /// Only report which are pending
        #[arg(long)]
        check: bool,
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
    Rekey,
    /// Record and update the people of a CSV file through a running service; its key comes from CANDOR_API_KEY
    Import(Import),
    /// Show the effective settings and where each came from
    Config,
}

/// A file to be imported.
#[derive(Debug, Args)]
pub(crate) struct Import {
    /// The file; any size, it is sent in parts
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

/// Organizations.
#[derive(Debug, Subcommand)]
pub(crate) enum OrgCommand {
    /// Make an organization
    Create {
        /// Its name
        #[arg(long)]
        name: String,
    },
}

/// API keys.
#[derive(Debug, Subcommand)]
pub(crate) enum KeyCommand {
    /// Make a key, and show it this once
    Create(Box<NewKey>),
    /// The keys of an organization
    List {
        /// The organization
        #[arg(long)]
        org: OrganizationId,
    },
    /// End a key for good
    Revoke {
        /// The key's id
        key_id: KeyId,
    },
}

/// A key to be made.
#[derive(Debug, Args)]
pub(crate) struct NewKey {
    /// The organization
    #[arg(long)]
    pub(crate) org: OrganizationId,
    /// Its name
    #[arg(long)]
    pub(crate) name: String,
    /// Scopes with commas between them, or * for all
    #[arg(long)]
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
    /// When it ends
    #[arg(long, value_name = "RFC3339")]
    pub(crate) expires: Option<Timestamp>,
    /// Reads per minute, when 600 are not right
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) reads_per_minute: Option<u32>,
    /// Writes per minute, when 100 are not right
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) writes_per_minute: Option<u32>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_setting_but_the_secret_one_has_a_flag() {
        for (_, setting) in Setting::ALL.iter().filter(|(_, it)| *it != Setting::MasterKey) {
            let arguments = ["candor", &setting.flag(), "x", "config"];
            let cli = Cli::try_parse_from(arguments).unwrap();
            assert_eq!(cli.settings.given(), vec![(*setting, "x".to_owned())]);
        }
        assert!(Cli::try_parse_from(["candor", "--master-key", "x", "config"]).is_err());
    }
}
