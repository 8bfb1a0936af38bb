//! The things an operator can set: their names, defaults and meaning, in one table.

use std::fmt;
use std::path::PathBuf;

/// Environment variables of the settings begin with this.
pub(crate) const PREFIX: &str = "CANDOR_";
/// Names the configuration file; not a setting itself.
pub(crate) const FILE_VARIABLE: &str = "CANDOR_CONFIG";
/// Variables that are somebody else's although they begin like ours: clients' and tests'.
const FOREIGN: [&str; 2] = ["CANDOR_TEST_", "CANDOR_CI_"];
const FOREIGN_NAMES: [&str; 1] = ["CANDOR_API_KEY"];

/// What can be set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Setting {
    Listen,
    AdminListen,
    DatabaseUrl,
    DatabasePool,
    DataDir,
    MasterKey,
    PublicUrl,
    WebhooksTrustedTargets,
    WebhooksRetrySchedule,
    WebhooksTimeout,
    SweepInterval,
    CorsOrigins,
    TrustedProxies,
    Log,
    LogFormat,
}

impl Setting {
    /// All, with their names in a file, in the order in which they are shown.
    pub(crate) const ALL: &'static [(&'static str, Self)] = &[
        ("listen", Self::Listen),
        ("admin_listen", Self::AdminListen),
        ("database_url", Self::DatabaseUrl),
        ("database_pool", Self::DatabasePool),
        ("data_dir", Self::DataDir),
        ("master_key", Self::MasterKey),
        ("public_url", Self::PublicUrl),
        ("webhooks_trusted_targets", Self::WebhooksTrustedTargets),
        ("webhooks_retry_schedule", Self::WebhooksRetrySchedule),
        ("webhooks_timeout", Self::WebhooksTimeout),
        ("sweep_interval", Self::SweepInterval),
        ("cors_origins", Self::CorsOrigins),
        ("trusted_proxies", Self::TrustedProxies),
        ("log", Self::Log),
        ("log_format", Self::LogFormat),
    ];

    /// The name in a file, which is also that of the flag and of the variable but for their spelling.
    #[must_use]
    pub(crate) fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, it)| *it == self).map_or("", |(name, _)| name)
    }

    /// The setting with this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(it, _)| *it == name).map(|(_, it)| *it)
    }

    /// The environment variable.
    #[must_use]
    pub(crate) fn variable(self) -> String {
        format!("{PREFIX}{}", self.name().to_ascii_uppercase())
    }

    /// The flag, for those that have one: a secret on a command line could be read by everybody on the machine.
    pub(crate) fn flag(self) -> String {
        format!("--{}", self.name().replace('_', "-"))
    }

    /// The value when nothing is given; `None` is unset, or follows from the other settings.
    pub(crate) const fn default(self) -> Option<&'static str> {
        match self {
            Self::Listen => Some("127.0.0.1:8080"),
            Self::DataDir => Some("data"),
            Self::WebhooksRetrySchedule => Some("30s,2m,10m,1h,6h,24h"),
            Self::WebhooksTimeout => Some("15s"),
            Self::SweepInterval => Some("30s"),
            Self::Log => Some("info"),
            Self::LogFormat => Some("text"),
            Self::AdminListen
            | Self::DatabaseUrl
            | Self::DatabasePool
            | Self::MasterKey
            | Self::PublicUrl
            | Self::WebhooksTrustedTargets
            | Self::CorsOrigins
            | Self::TrustedProxies => None,
        }
    }
}

/// Whether a variable that begins like a setting is known to be none.
pub(crate) fn is_foreign(variable: &str) -> bool {
    variable == FILE_VARIABLE
        || FOREIGN_NAMES.contains(&variable)
        || FOREIGN.iter().any(|prefix| variable.starts_with(prefix))
}

/// Where a value came from, the weakest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Nobody gave one.
    Default,
    /// The configuration file.
    File(PathBuf),
    /// The environment.
    Environment,
    /// The command line.
    Flag,
}

impl Origin {
    /// The setting as whoever set it there wrote it.
    pub(crate) fn spell(&self, setting: Setting) -> String {
        match self {
            Self::Default => setting.name().to_owned(),
            Self::File(path) => format!("{} in {}", setting.name(), path.display()),
            Self::Environment => setting.variable(),
            Self::Flag => setting.flag(),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File(path) => write!(f, "file {}", path.display()),
            Self::Environment => f.write_str("environment"),
            Self::Flag => f.write_str("flag"),
        }
    }
}

/// The known name nearest to a mistyped one, if it is near enough to be meant.
pub(crate) fn nearest<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    const NEAR: usize = 3;
    let distances = known.into_iter().map(|it| (distance(given, it), it));
    distances.min().filter(|(distance, _)| *distance <= NEAR).map(|(_, it)| it)
}

/// How many letters must be added, dropped or replaced to make one word of the other.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (at, letter) in one.chars().enumerate() {
        let mut corner = row[0];
        row[0] = at + 1;
        for (column, other) in other.iter().enumerate() {
            let replaced = corner + usize::from(letter != *other);
            corner = row[column + 1];
            row[column + 1] = replaced.min(corner + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_has_one_name_in_three_spellings() {
        let it = Setting::DatabaseUrl;
        assert_eq!(
            (it.name(), it.variable(), it.flag()),
            ("database_url", "CANDOR_DATABASE_URL".to_owned(), "--database-url".to_owned())
        );
        for (name, setting) in Setting::ALL {
            assert_eq!((setting.name(), Setting::named(name)), (*name, Some(*setting)));
        }
    }

    #[test]
    fn the_nearest_name_is_offered_when_it_is_near() {
        let known = || Setting::ALL.iter().map(|(name, _)| *name);
        assert_eq!(nearest("listn", known()), Some("listen"));
        assert_eq!(nearest("databaseurl", known()), Some("database_url"));
        assert_eq!(nearest("colour_of_the_sky", known()), None);
        assert_eq!((distance("", "abc"), distance("abc", "abc"), distance("kitten", "sitting")), (3, 0, 3));
    }

    #[test]
    fn the_readme_has_every_setting_with_its_default() {
        let readme = include_str!("../../../../README.md");
        for (_, setting) in Setting::ALL {
            let row = format!("| `{}` | ", setting.variable());
            let rest = readme.split_once(&row).map(|(_, rest)| rest).unwrap_or_else(|| panic!("no row {row}"));
            let wanted = setting.default().map_or(String::new(), |it| format!("`{it}` |"));
            assert!(rest.starts_with(&wanted), "{row}{wanted}");
        }
    }
}
