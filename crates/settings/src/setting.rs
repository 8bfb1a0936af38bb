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

/// Default of a setting.
#[derive(Debug, Clone, Copy)]
enum SettingDefault {
    /// A value that the operator could give.
    Value(&'static str),
    /// A description of a default that depends on other settings, or of what the service does without the setting.
    Derived(&'static str),
}

use SettingDefault::{Derived, Value};

/// Facts about a setting that the command line, the documents and the reader of settings need.
struct SettingRow {
    name: &'static str,
    value_name: &'static str,
    default: SettingDefault,
    description: &'static str,
}

/// Declares the settings in display order. A row has the variant, the name in the file, the placeholder of the value in
/// help texts, the default, and the description for operators.
macro_rules! settings {
    ($($setting:ident = $name:literal, $value_name:literal, $default:expr, $description:literal;)+) => {
        /// A setting of the operator.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Setting {
            $(#[doc = concat!($description, ".")] $setting,)+
        }

        impl Setting {
            /// All settings with their names in the file, in display order.
            pub const ALL: &'static [(&'static str, Self)] = &[$(($name, Self::$setting),)+];

            const fn row(self) -> SettingRow {
                match self {
                    $(Self::$setting => SettingRow {
                        name: $name,
                        value_name: $value_name,
                        default: $default,
                        description: $description,
                    },)+
                }
            }
        }
    };
}

settings! {
    Listen = "listen", "ADDRESS:PORT", Value("127.0.0.1:8080"),
        "Listen address of the API";
    AdminListen = "admin_listen", "ADDRESS:PORT", Derived("not set"),
        "Separate listen address of metrics and health checks";
    DatabaseUrl = "database_url", "URL", Derived("candor.db in the data folder"),
        "URL of the database: sqlite://PATH or postgres://…; give a password in the variable instead";
    DatabaseReplicaUrl = "database_replica_url", "URL", Derived("not set"),
        "postgres://… of a standby, for reads that may be stale; give a password in the variable instead";
    DatabasePool = "database_pool", "NUMBER", Derived("2 × cores + 8"),
        "Number of connections to PostgreSQL";
    DataDir = "data_dir", "FOLDER", Value("data"),
        "Folder of the embedded database and of the generated master key";
    MasterKey = "master_key", "LIST", Derived("generated with SQLite"),
        "Key ring that encrypts secrets at rest";
    PublicUrl = "public_url", "URL", Derived("from the listener"),
        "Base URL of links, without /v1";
    WebhooksTrustedTargets = "webhooks_trusted_targets", "LIST", Derived("none"),
        "Networks in which webhook receivers may have private addresses and no TLS: NETWORK for all \
         organizations, or ORGANIZATION=NETWORK";
    WebhooksRetrySchedule = "webhooks_retry_schedule", "DELAYS", Value("30s,2m,10m,1h,6h,24h"),
        "Delays before the retries of a webhook delivery";
    WebhooksTimeout = "webhooks_timeout", "DURATION", Value("15s"),
        "Response timeout of a webhook receiver";
    WebhooksMaxSubscriptions = "webhooks_max_subscriptions", "NUMBER", Value("100"),
        "Maximum number of webhook subscriptions of a data set";
    IdentityTrustedNetworks = "identity_trusted_networks", "LIST", Derived("none"),
        "Networks in which identity providers may have private addresses and no TLS: NETWORK for all \
         organizations, or ORGANIZATION=NETWORK";
    OrganizationMaxKeys = "organization_max_keys", "NUMBER", Value("200"),
        "Maximum number of valid API keys of an organization that act for no person";
    OrganizationQuotaFactor = "organization_quota_factor", "NUMBER", Value("10"),
        "Quota of an organization, as a multiple of the largest quota of its keys";
    NotificationsRetention = "notifications_retention", "DURATION", Value("365d"),
        "Retention of unread notifications, at least 1d";
    SmtpUrl = "smtp_url", "URL", Derived("not set"),
        "Mail server for invitations: smtp://… or smtps://…; give a password in the variable instead";
    SmtpFrom = "smtp_from", "MAILBOX", Derived("not set"),
        "Sender of mails, such as Candor <no-reply@example.com>";
    SmtpMailsPerDay = "smtp_mails_per_day", "NUMBER", Value("50"),
        "Invitation mails of an organization per day; ten times as many after 10 were accepted";
    SweepInterval = "sweep_interval", "DURATION", Value("30s"),
        "Interval of the background sweep";
    DrainDelay = "drain_delay", "DURATION", Value("5s"),
        "Time after SIGTERM during which requests are accepted while /readyz answers 503";
    RateLimiter = "rate_limiter", "PLACE", Value("local"),
        "Place of quota counts: local for each instance separately, or redis://… or rediss://… for all \
         instances together; give a password in the variable instead";
    CorsOrigins = "cors_origins", "LIST", Derived("none"),
        "Origins of web pages that may call the API";
    TrustedProxies = "trusted_proxies", "LIST", Derived("none"),
        "Networks of proxies whose X-Forwarded-For is trusted";
    ConnectionsPerClient = "connections_per_client", "NUMBER", Value("256"),
        "Maximum number of connections from one client address";
    Log = "log", "FILTER", Value("info"),
        "Log filter, such as info or warn,candor_http=debug";
    LogFormat = "log_format", "FORMAT", Value("text"),
        "Log format: text or json";
    Console = "console", "STATE", Value("off"),
        "Web console at /console: on or off; candor dev has it on";
}

impl Setting {
    /// Returns the name in the file. Flag and variable are derived from it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.row().name
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
        match self.row().default {
            Value(value) => Some(value),
            Derived(_) => None,
        }
    }

    /// Returns the description for the command line.
    pub const fn description(self) -> &'static str {
        self.row().description
    }

    /// Returns the placeholder of the value in help texts.
    pub const fn value_name(self) -> &'static str {
        self.row().value_name
    }

    /// Returns the default, or a description of how it is derived.
    pub const fn default_in_words(self) -> &'static str {
        match self.row().default {
            Value(words) | Derived(words) => words,
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
