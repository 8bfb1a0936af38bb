//! Settings of the service: their names, sources, forms and errors. Precedence, highest first: flags, environment, file, defaults.

#[cfg(test)]
mod example;
mod failure;
mod gather;
mod masked;
mod parse;
mod setting;
mod url;

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use candor_domain::secret::Secret;
use candor_http::Network;
use candor_outbound::policy::TrustedNetwork;
use candor_service::context::vault::Vault;
use candor_subscriptions::Schedule;

use candor_cli::error::CommandError;
use gather::RawSettings;
use masked::printable;
use parse::Parsed;

pub use failure::{ConfigurationError, SettingError};
pub use parse::{DatabaseUrl, LogFormat, RateLimiter, Smtp};
pub use setting::{Setting, SettingOrigin};

/// Number of connections of the default pool in addition to two per core. Concurrent commits share one flush, so a
/// few more connections than cores help; many more contend for locks.
const MORE_CONNECTIONS: usize = 8;

/// Parsed settings of the process.
#[derive(Debug, Clone)]
pub struct Config {
    /// Listen address of the API.
    pub listen: SocketAddr,
    /// Separate listen address of metrics and health checks.
    pub admin_listen: Option<SocketAddr>,
    /// Database that holds all data.
    pub database: DatabaseUrl,
    /// Standby of the database, for reads that may lag behind.
    pub database_replica: Option<Secret>,
    /// Maximum number of connections to the database.
    pub database_pool: usize,
    /// Folder of the embedded database and of the generated master key.
    pub data_dir: PathBuf,
    /// Key ring for secrets in the database: the first key encrypts, all keys decrypt.
    pub master_key: Option<Secret>,
    /// Base URL of links; `None` uses the listener's address.
    pub public_url: Option<String>,
    /// Networks whose webhook receivers may have private addresses and plain HTTP.
    pub webhooks_trusted_targets: Vec<TrustedNetwork>,
    /// Delays before the retries of a failed delivery.
    pub webhooks_retry_schedule: Schedule,
    /// Time limit for one attempt of a delivery.
    pub webhooks_timeout: Duration,
    /// Maximum number of subscriptions per data set.
    pub webhooks_max_subscriptions: u32,
    /// Networks whose identity providers may have private addresses and plain HTTP.
    pub identity_trusted_networks: Vec<TrustedNetwork>,
    /// Maximum number of valid keys of an organization that act for no person.
    pub organization_max_keys: u32,
    /// Quota of an organization, as a multiple of the largest quota of its keys.
    pub organization_quota_factor: u32,
    /// Time after which unread notifications are removed.
    pub notifications_retention: Duration,
    /// Mail server and sender of invitations; `None` sends no mails.
    pub smtp: Option<Smtp>,
    /// Maximum number of invitation mails of an organization per day, before ten of its invitations were accepted.
    pub smtp_mails_per_day: u32,
    /// Interval of the background sweep.
    pub sweep_interval: Duration,
    /// Time between the stop signal and the refusal of new requests.
    pub drain_delay: Duration,
    /// Place where quotas are counted.
    pub rate_limiter: RateLimiter,
    /// Origins of web pages that may call the API.
    pub cors_origins: Vec<String>,
    /// Proxies whose `X-Forwarded-For` header is trusted.
    pub trusted_proxies: Vec<Network>,
    /// Maximum number of connections per client address.
    pub connections_per_client: usize,
    /// Filter of the log.
    pub log: String,
    /// Format of log lines.
    pub log_format: LogFormat,
    /// `true` to serve the web console.
    pub console: bool,
    /// All settings with their sources, for `candor config`.
    pub shown: Vec<ShownSetting>,
    /// The configuration file, if it contains a secret.
    pub file_with_secrets: Option<PathBuf>,
}

/// One line of `candor config`: a masked value and its source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownSetting {
    /// The setting that the line describes.
    pub setting: Setting,
    /// Effective value with secrets masked; `None` if it is not set.
    pub value: Option<String>,
    /// Source of the value.
    pub origin: SettingOrigin,
}

/// A configuration with its problems. Malformed values are replaced by the default; `candor config` still shows
/// them.
#[derive(Debug)]
pub struct LoadedConfig {
    /// The valid settings, and defaults for the invalid ones.
    pub config: Config,
    /// Errors that prevent the process from starting.
    pub problems: Vec<SettingError>,
    /// Warnings, such as about an unknown variable.
    pub warnings: Vec<String>,
}

impl Config {
    /// Reads the configuration and collects all problems.
    ///
    /// # Errors
    /// [`SettingError`] only for an invalid default, which is a defect.
    pub fn load(
        file: Option<PathBuf>,
        environment: impl IntoIterator<Item = (OsString, OsString)>,
        flags: Vec<(Setting, String)>,
    ) -> Result<LoadedConfig, SettingError> {
        let mut settings = RawSettings::gather(file, environment, flags);
        let (problems, warnings) =
            (std::mem::take(&mut settings.problems), std::mem::take(&mut settings.warnings));
        let mut reader = Reader { given: settings, shown: Vec::new(), problems, file_with_secrets: None };
        let data_dir = reader.read_with_default(Setting::DataDir, |path| Ok(PathBuf::from(path)))?;
        let embedded_url = format!("sqlite://{}", data_dir.join("candor.db").display());
        let connections = 2 * std::thread::available_parallelism().map_or(1, usize::from) + MORE_CONNECTIONS;
        let database = reader.read_or(Setting::DatabaseUrl, parse::database_url, &embedded_url)?;
        let mut config = Self {
            listen: reader.read_with_default(Setting::Listen, parse::address)?,
            admin_listen: reader.read_optional(Setting::AdminListen, parse::address)?,
            database_replica: reader.replica(&database)?,
            database,
            database_pool: reader.read_or(Setting::DatabasePool, parse::count, &connections.to_string())?,
            data_dir,
            master_key: reader.read_optional(Setting::MasterKey, master_key)?,
            public_url: reader.read_optional(Setting::PublicUrl, parse::public_url)?,
            webhooks_trusted_targets: reader
                .read_optional(Setting::WebhooksTrustedTargets, parse::targets)?
                .unwrap_or_default(),
            webhooks_retry_schedule: reader.read_with_default(Setting::WebhooksRetrySchedule, parse::schedule)?,
            webhooks_timeout: reader.read_with_default(Setting::WebhooksTimeout, parse::timeout)?,
            webhooks_max_subscriptions: reader
                .read_with_default(Setting::WebhooksMaxSubscriptions, parse::subscriptions)?,
            identity_trusted_networks: reader
                .read_optional(Setting::IdentityTrustedNetworks, parse::targets)?
                .unwrap_or_default(),
            organization_max_keys: reader.read_with_default(Setting::OrganizationMaxKeys, parse::keys)?,
            organization_quota_factor: reader
                .read_with_default(Setting::OrganizationQuotaFactor, parse::quota_factor)?,
            notifications_retention: reader
                .read_with_default(Setting::NotificationsRetention, parse::retention)?,
            smtp: reader.smtp()?,
            smtp_mails_per_day: reader.read_with_default(Setting::SmtpMailsPerDay, parse::mails)?,
            sweep_interval: reader.read_with_default(Setting::SweepInterval, parse::sweep_interval)?,
            drain_delay: reader.read_with_default(Setting::DrainDelay, parse::drain_delay)?,
            rate_limiter: reader.read_with_default(Setting::RateLimiter, parse::rate_limiter)?,
            cors_origins: reader.read_optional(Setting::CorsOrigins, parse::origins)?.unwrap_or_default(),
            trusted_proxies: reader.read_optional(Setting::TrustedProxies, parse::networks)?.unwrap_or_default(),
            connections_per_client: reader.read_with_default(Setting::ConnectionsPerClient, parse::connections)?,
            log: reader.read_with_default(Setting::Log, parse::log_filter)?,
            log_format: reader.read_with_default(Setting::LogFormat, parse::log_format)?,
            console: reader.read_with_default(Setting::Console, parse::switch)?,
            shown: Vec::new(),
            file_with_secrets: None,
        };
        reader.shown.sort_by_key(|item| Setting::ALL.iter().position(|(_, setting)| *setting == item.setting));
        (config.shown, config.file_with_secrets) = (reader.shown, reader.file_with_secrets);
        Ok(LoadedConfig { config, problems: reader.problems, warnings })
    }
}

/// Parses one setting after the other and collects the shown values and problems.
struct Reader {
    given: RawSettings,
    shown: Vec<ShownSetting>,
    problems: Vec<SettingError>,
    file_with_secrets: Option<PathBuf>,
}

impl Reader {
    fn read_optional<T>(
        &mut self,
        setting: Setting,
        parse: impl Fn(&str) -> Parsed<T>,
    ) -> Result<Option<T>, SettingError> {
        let (text, origin) = self.given.value(setting);
        let text = text.map(str::to_owned);
        Ok(self.parse_setting(setting, text, origin, parse))
    }

    /// Parses a setting whose default depends on other settings.
    fn read_or<T>(
        &mut self,
        setting: Setting,
        parse: impl Fn(&str) -> Parsed<T>,
        default: &str,
    ) -> Result<T, SettingError> {
        let (text, origin) = self.given.value(setting);
        let text = text.unwrap_or(default).to_owned();
        match self.parse_setting(setting, Some(text), origin, &parse) {
            Some(value) => Ok(value),
            None => parse(setting.default().unwrap_or(default))
                .map_err(|reason| SettingError::new_malformed(setting, &SettingOrigin::Default, None, &reason)),
        }
    }

    /// Parses a setting whose default is that of `Setting::default`.
    fn read_with_default<T>(
        &mut self,
        setting: Setting,
        parse: impl Fn(&str) -> Parsed<T>,
    ) -> Result<T, SettingError> {
        self.read_or(setting, parse, "")
    }

    /// Parses mail server and sender. A mail server requires a sender.
    fn smtp(&mut self) -> Result<Option<Smtp>, SettingError> {
        let server = self.read_optional(Setting::SmtpUrl, parse::smtp_url)?;
        let from = self.read_optional(Setting::SmtpFrom, parse::smtp_from)?;
        if server.is_some() && self.given.value(Setting::SmtpFrom).0.is_none() {
            let what = "the sender address of mails";
            self.problems.push(SettingError::Missing {
                given: "CANDOR_SMTP_URL",
                missing: "CANDOR_SMTP_FROM",
                what,
            });
        }
        Ok(server.zip(from).map(|(server, from)| Smtp { server, from }))
    }

    /// Parses the URL of the replica, which requires a database on a server.
    fn replica(&mut self, database: &DatabaseUrl) -> Result<Option<Secret>, SettingError> {
        let replica = self.read_optional(Setting::DatabaseReplicaUrl, parse::replica_url)?;
        if replica.is_some() && matches!(database, DatabaseUrl::Sqlite(_)) {
            let (given, missing) = ("CANDOR_DATABASE_REPLICA_URL", "CANDOR_DATABASE_URL");
            let what = "the PostgreSQL database whose standby the replica is: an embedded database has no replica";
            self.problems.push(SettingError::Missing { given, missing, what });
        }
        Ok(replica)
    }

    fn parse_setting<T>(
        &mut self,
        setting: Setting,
        text: Option<String>,
        origin: SettingOrigin,
        parse: impl Fn(&str) -> Parsed<T>,
    ) -> Option<T> {
        let printable_text = text.as_deref().map(|text| printable(setting, text));
        if let SettingOrigin::File(path) = &origin
            && printable_text != text
        {
            self.file_with_secrets = Some(path.clone());
        }
        let value = match text.as_deref().map(parse).transpose() {
            Ok(value) => value,
            Err(reason) => {
                self.problems.push(SettingError::new_malformed(setting, &origin, printable_text.clone(), &reason));
                None
            }
        };
        self.shown.push(ShownSetting { setting, value: printable_text, origin });
        value
    }
}

/// Parses a database URL that is an argument, not a setting.
///
/// # Errors
/// [`CommandError::Argument`], with the password masked.
pub fn database_url(argument: &'static str, text: &str) -> Result<DatabaseUrl, CommandError> {
    parse::database_url(text).map_err(|wanted| CommandError::Argument {
        argument,
        value: url::mask_password(text),
        wanted,
    })
}

fn master_key(text: &str) -> Parsed<Secret> {
    Vault::parse(text).map(|_| Secret::new(text.to_owned())).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests;
