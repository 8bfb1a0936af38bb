//! Table of all settings: names, defaults and descriptions.

use std::ffi::OsStr;
use std::fmt;
use std::path::PathBuf;

/// Prefix of the settings' environment variables.
pub(crate) const PREFIX: &str = "CANDOR_";
/// Variable that names the configuration file. It is not a setting and not allowed in the file.
pub(crate) const FILE_VARIABLE: &str = "CANDOR_CONFIG";
/// Prefixes of variables for tests and checks, which are not settings.
const FOREIGN: [&str; 2] = ["CANDOR_TEST_", "CANDOR_CI_"];
/// Names of variables for clients, which are not settings.
const FOREIGN_NAMES: [&str; 3] = ["CANDOR_API_KEY", "CANDOR_PROFILE", "CANDOR_URL"];

/// A setting of the operator.
#[expect(missing_docs, reason = "`description` describes each setting for operators")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Setting {
    Listen,
    AdminListen,
    DatabaseUrl,
    DatabaseReplicaUrl,
    DatabasePool,
    DataDir,
    MasterKey,
    PublicUrl,
    WebhooksTrustedTargets,
    WebhooksRetrySchedule,
    WebhooksTimeout,
    WebhooksMaxSubscriptions,
    IdentityTrustedNetworks,
    OrganizationMaxKeys,
    OrganizationQuotaFactor,
    NotificationsRetention,
    SmtpUrl,
    SmtpFrom,
    SmtpMailsPerDay,
    SweepInterval,
    DrainDelay,
    RateLimiter,
    CorsOrigins,
    TrustedProxies,
    ConnectionsPerClient,
    Log,
    LogFormat,
    Console,
}

impl Setting {
    /// All settings with their names in the file, in display order.
    pub const ALL: &'static [(&'static str, Self)] = &[
        ("listen", Self::Listen),
        ("admin_listen", Self::AdminListen),
        ("database_url", Self::DatabaseUrl),
        ("database_replica_url", Self::DatabaseReplicaUrl),
        ("database_pool", Self::DatabasePool),
        ("data_dir", Self::DataDir),
        ("master_key", Self::MasterKey),
        ("public_url", Self::PublicUrl),
        ("webhooks_trusted_targets", Self::WebhooksTrustedTargets),
        ("webhooks_retry_schedule", Self::WebhooksRetrySchedule),
        ("webhooks_timeout", Self::WebhooksTimeout),
        ("webhooks_max_subscriptions", Self::WebhooksMaxSubscriptions),
        ("identity_trusted_networks", Self::IdentityTrustedNetworks),
        ("organization_max_keys", Self::OrganizationMaxKeys),
        ("organization_quota_factor", Self::OrganizationQuotaFactor),
        ("notifications_retention", Self::NotificationsRetention),
        ("smtp_url", Self::SmtpUrl),
        ("smtp_from", Self::SmtpFrom),
        ("smtp_mails_per_day", Self::SmtpMailsPerDay),
        ("sweep_interval", Self::SweepInterval),
        ("drain_delay", Self::DrainDelay),
        ("rate_limiter", Self::RateLimiter),
        ("cors_origins", Self::CorsOrigins),
        ("trusted_proxies", Self::TrustedProxies),
        ("connections_per_client", Self::ConnectionsPerClient),
        ("log", Self::Log),
        ("log_format", Self::LogFormat),
        ("console", Self::Console),
    ];

    /// Returns the name in the file. Flag and variable are derived from it.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, setting)| *setting == self).map_or("", |(name, _)| name)
    }

    /// Finds a setting by name.
    pub fn find_by_name(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, setting)| *setting)
    }

    /// Returns the name of the environment variable.
    #[must_use]
    pub fn variable(self) -> String {
        format!("{PREFIX}{}", self.name().to_ascii_uppercase())
    }

    /// Returns the name of the flag. The command line has no flag for the master key, because other users of the
    /// machine can see command lines.
    pub fn flag(self) -> String {
        format!("--{}", self.name().replace('_', "-"))
    }

    /// Returns the default; `None` if there is none or it depends on other settings.
    pub const fn default(self) -> Option<&'static str> {
        match self {
            Self::Listen => Some("127.0.0.1:8080"),
            Self::DataDir => Some("data"),
            Self::WebhooksRetrySchedule => Some("30s,2m,10m,1h,6h,24h"),
            Self::WebhooksTimeout => Some("15s"),
            Self::WebhooksMaxSubscriptions => Some("100"),
            Self::OrganizationMaxKeys => Some("200"),
            Self::OrganizationQuotaFactor => Some("10"),
            Self::NotificationsRetention => Some("365d"),
            Self::SmtpMailsPerDay => Some("50"),
            Self::SweepInterval => Some("30s"),
            Self::ConnectionsPerClient => Some("256"),
            Self::DrainDelay => Some("5s"),
            Self::RateLimiter => Some("local"),
            Self::Log => Some("info"),
            Self::LogFormat => Some("text"),
            Self::Console => Some("off"),
            Self::AdminListen
            | Self::DatabaseUrl
            | Self::DatabaseReplicaUrl
            | Self::DatabasePool
            | Self::MasterKey
            | Self::PublicUrl
            | Self::WebhooksTrustedTargets
            | Self::IdentityTrustedNetworks
            | Self::SmtpUrl
            | Self::SmtpFrom
            | Self::CorsOrigins
            | Self::TrustedProxies => None,
        }
    }
}

/// Descriptions for the command line.
impl Setting {
    /// Returns the description of the setting.
    pub const fn description(self) -> &'static str {
        match self {
            Self::Listen => "Listen address of the API",
            Self::AdminListen => "Separate listen address of metrics and health checks",
            Self::DatabaseUrl => {
                "URL of the database: sqlite://PATH or postgres://…; give a password in the \
                                  variable instead"
            }
            Self::DatabaseReplicaUrl => {
                "postgres://… of a standby, for reads that may be stale; give a password in the variable instead"
            }
            Self::DatabasePool => "Number of connections to PostgreSQL",
            Self::DataDir => "Folder of the embedded database and of the generated master key",
            Self::MasterKey => "Key ring that encrypts secrets at rest",
            Self::PublicUrl => "Base URL of links, without /v1",
            Self::WebhooksTrustedTargets => {
                "Networks in which webhook receivers may have private addresses and no TLS: NETWORK for all organizations, or \
                 ORGANIZATION=NETWORK"
            }
            Self::WebhooksRetrySchedule => "Delays before the retries of a webhook delivery",
            Self::WebhooksTimeout => "Response timeout of a webhook receiver",
            Self::WebhooksMaxSubscriptions => "Maximum number of webhook subscriptions of a data set",
            Self::IdentityTrustedNetworks => {
                "Networks in which identity providers may have private addresses and no TLS: NETWORK for all \
                 organizations, or ORGANIZATION=NETWORK"
            }
            Self::OrganizationMaxKeys => {
                "Maximum number of valid API keys of an organization that act for no person"
            }
            Self::OrganizationQuotaFactor => {
                "Quota of an organization, as a multiple of the largest quota of its keys"
            }
            Self::NotificationsRetention => "Retention of unread notifications, at least 1d",
            Self::SmtpUrl => {
                "Mail server for invitations: smtp://… or smtps://…; give a password in the variable instead"
            }
            Self::SmtpFrom => "Sender of mails, such as Candor <no-reply@example.com>",
            Self::SmtpMailsPerDay => {
                "Invitation mails of an organization per day; ten times as many after 10 were accepted"
            }
            Self::SweepInterval => "Interval of the background sweep",
            Self::DrainDelay => "Time after SIGTERM during which requests are accepted while /readyz answers 503",
            Self::RateLimiter => {
                "Place of quota counts: local for each instance separately, or redis://… or rediss://… for all \
                 instances together; give a password in the variable instead"
            }
            Self::CorsOrigins => "Origins of web pages that may call the API",
            Self::TrustedProxies => "Networks of proxies whose X-Forwarded-For is trusted",
            Self::ConnectionsPerClient => "Maximum number of connections from one client address",
            Self::Log => "Log filter, such as info or warn,candor_http=debug",
            Self::LogFormat => "Log format: text or json",
            Self::Console => "Web console at /console: on or off; candor dev has it on",
        }
    }

    /// Returns the placeholder of the value in help texts.
    pub const fn value_name(self) -> &'static str {
        match self {
            Self::Listen | Self::AdminListen => "ADDRESS:PORT",
            Self::DatabaseUrl | Self::DatabaseReplicaUrl | Self::PublicUrl | Self::SmtpUrl => "URL",
            Self::SmtpFrom => "MAILBOX",
            Self::DatabasePool
            | Self::WebhooksMaxSubscriptions
            | Self::OrganizationMaxKeys
            | Self::OrganizationQuotaFactor
            | Self::SmtpMailsPerDay
            | Self::ConnectionsPerClient => "NUMBER",
            Self::DataDir => "FOLDER",
            Self::MasterKey
            | Self::WebhooksTrustedTargets
            | Self::IdentityTrustedNetworks
            | Self::CorsOrigins
            | Self::TrustedProxies => "LIST",
            Self::WebhooksRetrySchedule => "DELAYS",
            Self::WebhooksTimeout | Self::NotificationsRetention | Self::SweepInterval | Self::DrainDelay => {
                "DURATION"
            }
            Self::RateLimiter => "PLACE",
            Self::Log => "FILTER",
            Self::LogFormat => "FORMAT",
            Self::Console => "STATE",
        }
    }

    /// Returns the default, or a description of how it is derived.
    pub const fn default_in_words(self) -> &'static str {
        match self {
            Self::DatabaseUrl => "candor.db in the data folder",
            Self::DatabasePool => "2 × cores + 8",
            Self::MasterKey => "generated with SQLite",
            Self::PublicUrl => "from the listener",
            Self::AdminListen | Self::DatabaseReplicaUrl | Self::SmtpUrl | Self::SmtpFrom => "not set",
            Self::WebhooksTrustedTargets
            | Self::IdentityTrustedNetworks
            | Self::CorsOrigins
            | Self::TrustedProxies => "none",
            Self::Listen
            | Self::DataDir
            | Self::WebhooksRetrySchedule
            | Self::WebhooksTimeout
            | Self::WebhooksMaxSubscriptions
            | Self::OrganizationMaxKeys
            | Self::OrganizationQuotaFactor
            | Self::NotificationsRetention
            | Self::SmtpMailsPerDay
            | Self::SweepInterval
            | Self::DrainDelay
            | Self::RateLimiter
            | Self::ConnectionsPerClient
            | Self::Log
            | Self::LogFormat
            | Self::Console => match self.default() {
                Some(value) => value,
                None => "none",
            },
        }
    }
}

/// Returns `true` for variables with the prefix that are not settings.
pub(crate) fn is_foreign(variable: &str, value: &OsStr) -> bool {
    variable == FILE_VARIABLE
        || FOREIGN_NAMES.contains(&variable)
        || FOREIGN.iter().any(|prefix| variable.starts_with(prefix))
        || is_of_a_container(variable, value)
}

/// Returns `true` if Kubernetes or Docker set this variable for a service named `candor` or `candor-…`.
/// Examples: `CANDOR_SERVICE_HOST`, `CANDOR_SERVICE_PORT_HTTP`, `CANDOR_PORT=tcp://…`,
/// `CANDOR_PORT_8080_TCP_ADDR`.
fn is_of_a_container(variable: &str, value: &OsStr) -> bool {
    if variable.ends_with("_SERVICE_HOST")
        || variable.ends_with("_SERVICE_PORT")
        || variable.contains("_SERVICE_PORT_")
    {
        return true;
    }
    if variable.ends_with("_PORT") && value.to_str().is_some_and(|text| text.contains("://")) {
        return true;
    }
    let Some((_, of_port)) = variable.split_once("_PORT_") else { return false };
    let mut parts = of_port.split('_');
    let is_number = |text: &str| text.parse::<u16>().is_ok();
    parts.next().is_some_and(is_number)
        && parts.next().is_some_and(|part| ["TCP", "UDP", "SCTP"].contains(&part))
        && parts.next().is_none_or(|part| ["PROTO", "PROTOCOL", "PORT", "ADDR"].contains(&part))
        && parts.next().is_none()
}

/// Source of a value, in ascending precedence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettingOrigin {
    /// The default of [`Setting::default`].
    Default,
    /// The configuration file at this path.
    File(PathBuf),
    /// The variable of [`Setting::variable`].
    Environment,
    /// The flag of [`Setting::flag`].
    Flag,
}

impl SettingOrigin {
    /// Returns the setting's name as spelled in this source.
    pub fn spell(&self, setting: Setting) -> String {
        match self {
            Self::Default => setting.name().to_owned(),
            Self::File(path) => format!("{} in {}", setting.name(), path.display()),
            Self::Environment => setting.variable(),
            Self::Flag => setting.flag(),
        }
    }
}

impl fmt::Display for SettingOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File(path) => write!(f, "file {}", path.display()),
            Self::Environment => f.write_str("environment"),
            Self::Flag => f.write_str("flag"),
        }
    }
}

/// Returns the setting with the most similar name, if at most three characters, and at most a quarter, differ.
pub(crate) fn find_similar(given: &str) -> Option<Setting> {
    const MOST: usize = 3;
    let near = (given.chars().count() / 4).clamp(1, MOST);
    let distances = Setting::ALL.iter().map(|(name, setting)| (strsim::levenshtein(given, name), *setting));
    distances.min().filter(|(distance, _)| *distance <= near).map(|(_, setting)| setting)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn setting_name_variable_and_flag_agree() {
        let it = Setting::DatabaseUrl;
        assert_eq!(
            (it.name(), it.variable(), it.flag()),
            ("database_url", "CANDOR_DATABASE_URL".to_owned(), "--database-url".to_owned())
        );
        for (name, setting) in Setting::ALL {
            assert_eq!((setting.name(), Setting::find_by_name(name)), (*name, Some(*setting)));
        }
    }

    #[test]
    fn nearest_setting_is_offered_only_when_similar() {
        assert_eq!(find_similar("listn"), Some(Setting::Listen));
        assert_eq!(find_similar("databaseurl"), Some(Setting::DatabaseUrl));
        for far in ["foo", "api", "colour_of_the_sky", "timeout", ""] {
            assert_eq!(find_similar(far), None, "{far}");
        }
    }

    #[test]
    fn variables_of_kubernetes_and_docker_are_foreign() {
        let foreign = |variable: &str, value: &str| is_foreign(variable, OsStr::new(value));
        for (variable, value) in [
            ("CANDOR_SERVICE_HOST", "10.0.0.1"),
            ("CANDOR_SERVICE_PORT", "8080"),
            ("CANDOR_SERVICE_PORT_HTTP", "8080"),
            ("CANDOR_PORT", "tcp://10.0.0.1:8080"),
            ("CANDOR_PORT_8080_TCP", "tcp://10.0.0.1:8080"),
            ("CANDOR_PORT_8080_TCP_PROTO", "tcp"),
            ("CANDOR_PORT_8080_TCP_PROTOCOL", "tcp"),
            ("CANDOR_PORT_8080_TCP_PORT", "8080"),
            ("CANDOR_PORT_8080_TCP_ADDR", "10.0.0.1"),
            ("CANDOR_POSTGRESQL_SERVICE_HOST", "10.0.0.2"),
            ("CANDOR_POSTGRESQL_PORT_5432_TCP_ADDR", "10.0.0.2"),
        ] {
            assert!(foreign(variable, value), "{variable}");
        }
        for (variable, value) in [
            ("CANDOR_PORT", "8080"),
            ("CANDOR_PORT_HTTP", "8080"),
            ("CANDOR_PORT_8080_TCP_SOMETHING", "x"),
            ("CANDOR_SERVICE", "x"),
            ("CANDOR_LISTEN", "tcp://10.0.0.1:8080"),
        ] {
            assert!(!foreign(variable, value), "{variable}");
        }
    }
}
