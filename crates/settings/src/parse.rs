//! Parsers of values: addresses, durations, database URLs, networks, lists.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use candor_domain::secret::Secret;
use candor_http::Network;
use candor_limits_redis::RedisServer;
use candor_mail::{SenderAddress, SmtpServer};
use candor_outbound::policy::TrustedNetwork;
use candor_subscriptions::Schedule;
use tracing_subscriber::filter::Targets;

/// A parsed value, or a text that states the expected form.
pub(crate) type Parsed<T> = Result<T, String>;

/// Kind and location of the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DatabaseUrl {
    /// Path of the embedded database.
    Sqlite(PathBuf),
    /// URL of a server, which may contain a password.
    Postgres(Secret),
}

impl DatabaseUrl {
    /// Returns the URL with its password masked.
    #[must_use]
    pub fn mask_password(&self) -> String {
        match self {
            Self::Sqlite(path) => format!("sqlite://{}", path.display()),
            Self::Postgres(url) => super::url::mask_password(url.reveal()),
        }
    }
}

/// Format of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// Human-readable lines of text.
    Text,
    /// One JSON object per line, for log collectors.
    Json,
}

/// Place where the quota windows are counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RateLimiter {
    /// Each instance counts only the requests that it receives.
    Local,
    /// All instances count together on a server.
    Redis(RedisServer),
}

/// Mail server and sender of invitations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Smtp {
    /// Address and credentials of the mail server.
    pub server: SmtpServer,
    /// Sender address of all mails.
    pub from: SenderAddress,
}

pub(crate) fn smtp_url(text: &str) -> Parsed<SmtpServer> {
    SmtpServer::parse(text).map_err(|error| format!("it {error}"))
}

pub(crate) fn smtp_from(text: &str) -> Parsed<SenderAddress> {
    let form = || "expected an address such as no-reply@example.com, or Candor <no-reply@example.com>".to_owned();
    SenderAddress::parse(text).ok_or_else(form)
}

pub(crate) fn address(text: &str) -> Parsed<SocketAddr> {
    text.parse().map_err(|_| "expected an IP address and a port, such as 127.0.0.1:8080".to_owned())
}

pub(crate) fn database_url(text: &str) -> Parsed<DatabaseUrl> {
    if let Some(path) = text.strip_prefix("sqlite://").filter(|path| !path.is_empty()) {
        return Ok(DatabaseUrl::Sqlite(path.into()));
    }
    if text.starts_with("postgres://") || text.starts_with("postgresql://") {
        return Ok(DatabaseUrl::Postgres(Secret::new(text.to_owned())));
    }
    Err("expected sqlite://PATH or postgres://USER:PASSWORD@HOST/DATABASE".to_owned())
}

/// Parses the URL of a standby, which may contain a password.
pub(crate) fn replica_url(text: &str) -> Parsed<Secret> {
    match database_url(text) {
        Ok(DatabaseUrl::Postgres(url)) => Ok(url),
        Ok(DatabaseUrl::Sqlite(_)) | Err(_) => Err("expected postgres://USER:PASSWORD@HOST/DATABASE".to_owned()),
    }
}

pub(crate) fn count(text: &str) -> Parsed<usize> {
    at_most(text, 1000)
}

/// Parses the limit on connections per client address. Each thread of the HTTP server accepts at most 10,000.
pub(crate) fn connections(text: &str) -> Parsed<usize> {
    at_most(text, 10_000)
}

fn at_most(text: &str, most: usize) -> Parsed<usize> {
    let number = text.parse().ok().filter(|number| (1..=most).contains(number));
    number.ok_or_else(|| format!("expected a number from 1 to {most}"))
}

/// Parses the limit on subscriptions per data set. Each subscription slows down every change of its data set.
pub(crate) fn subscriptions(text: &str) -> Parsed<u32> {
    up_to(1000, text)
}

/// Parses the limit on the valid keys of an organization that act for no person.
pub(crate) fn keys(text: &str) -> Parsed<u32> {
    up_to(10_000, text)
}

/// Parses the quota of an organization, as a multiple of the largest quota of its keys.
pub(crate) fn quota_factor(text: &str) -> Parsed<u32> {
    up_to(1000, text)
}

/// Parses the maximum number of invitation mails of an organization per day.
pub(crate) fn mails(text: &str) -> Parsed<u32> {
    up_to(100_000, text)
}

fn up_to(most: u32, text: &str) -> Parsed<u32> {
    let number = text.parse().ok().filter(|number| (1..=most).contains(number));
    number.ok_or_else(|| format!("expected a number from 1 to {most}"))
}

pub(crate) fn duration(text: &str) -> Parsed<Duration> {
    let digits = text.find(|character: char| !character.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let millis: Option<u64> = match unit {
        "ms" => Some(1),
        "s" => Some(1000),
        "m" => Some(60 * 1000),
        "h" => Some(60 * 60 * 1000),
        "d" => Some(24 * 60 * 60 * 1000),
        _ => None,
    };
    let total = number.parse::<u64>().ok().zip(millis).and_then(|(number, unit)| number.checked_mul(unit));
    let positive = total.filter(|total| *total > 0).map(Duration::from_millis);
    positive.ok_or_else(|| "expected a duration such as 500ms, 30s, 2m, 1h or 1d".to_owned())
}

pub(crate) fn public_url(text: &str) -> Parsed<String> {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let good = rest.is_some_and(|host| {
        !host.is_empty()
            && !host.starts_with('/')
            && !host.contains(|c: char| c.is_whitespace() || "?#@".contains(c))
    });
    let url = text.trim_end_matches('/');
    if good && !url.ends_with("/v1") {
        return Ok(url.to_owned());
    }
    Err("expected http:// or https:// and a host, ending before /v1".to_owned())
}

pub(crate) fn origins(text: &str) -> Parsed<Vec<String>> {
    let form = || "expected origins such as https://app.example.com with commas between them, or *".to_owned();
    let origin = |text: &str| {
        if text == "*" {
            return Ok(text.to_owned());
        }
        let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://")).ok_or_else(form)?;
        let bare = !host.is_empty() && !host.contains(|c: char| c.is_whitespace() || "/?#@*".contains(c));
        if bare { Ok(text.to_owned()) } else { Err(form()) }
    };
    text.split(',').map(|part| origin(part.trim())).collect()
}

pub(crate) fn networks(text: &str) -> Parsed<Vec<Network>> {
    let form = || "expected networks such as 10.0.0.0/8, with commas between them".to_owned();
    text.split(',').map(|part| part.trim().parse().map_err(|_| form())).collect()
}

/// Parses networks of receivers or identity providers, each for all organizations or for one. A single address counts
/// as a network.
pub(crate) fn targets(text: &str) -> Parsed<Vec<TrustedNetwork>> {
    let form = || "expected networks such as 10.0.0.0/8 or org_…=10.0.0.0/8, with commas between them".to_owned();
    text.split(',').map(|part| part.trim().parse().map_err(|_| form())).collect()
}

pub(crate) fn schedule(text: &str) -> Parsed<Schedule> {
    Schedule::parse(text).map_err(|error| error.to_string())
}

/// Parses the sweep interval, at most a minute because objectives start automatically within a minute (decision
/// C3).
pub(crate) fn sweep_interval(text: &str) -> Parsed<Duration> {
    at_most_a_minute(text)
}

/// Parses the retention of notifications, at least a day.
pub(crate) fn retention(text: &str) -> Parsed<Duration> {
    const LEAST: Duration = Duration::from_secs(24 * 60 * 60);
    let form = || "expected a duration of at least 1d such as 365d".to_owned();
    duration(text).ok().filter(|duration| *duration >= LEAST).ok_or_else(form)
}

/// Parses the drain delay, at most ten minutes. Load balancers notice within seconds that a process is not ready.
pub(crate) fn drain_delay(text: &str) -> Parsed<Duration> {
    const MOST: Duration = Duration::from_secs(10 * 60);
    if matches!(text, "0" | "0s") {
        return Ok(Duration::ZERO);
    }
    let form = || "expected 0s, or a duration of at most 10m such as 5s".to_owned();
    duration(text).ok().filter(|duration| *duration <= MOST).ok_or_else(form)
}

/// Parses the place of the quota windows.
pub(crate) fn rate_limiter(text: &str) -> Parsed<RateLimiter> {
    if text == "local" {
        return Ok(RateLimiter::Local);
    }
    if !text.contains(':') {
        return Err("expected local, redis://HOST, or rediss://HOST for TLS".to_owned());
    }
    RedisServer::parse(text).map(RateLimiter::Redis).map_err(|error| format!("it {error}"))
}

/// Parses the time limit for an attempt. A hanging attempt occupies a slot that other deliveries need.
pub(crate) fn timeout(text: &str) -> Parsed<Duration> {
    at_most_a_minute(text)
}

fn at_most_a_minute(text: &str) -> Parsed<Duration> {
    const MOST: Duration = Duration::from_secs(60);
    let duration = duration(text)?;
    if duration <= MOST { Ok(duration) } else { Err("expected a duration of at most 60s".to_owned()) }
}

pub(crate) fn log_format(text: &str) -> Parsed<LogFormat> {
    match text {
        "text" => Ok(LogFormat::Text),
        "json" => Ok(LogFormat::Json),
        _ => Err("expected text or json".to_owned()),
    }
}

pub(crate) fn switch(text: &str) -> Parsed<bool> {
    match text {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err("expected on or off".to_owned()),
    }
}

/// Levels of log lines.
const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// Parses a log filter, such as `info` or `warn,candor_http=debug`.
pub(super) fn log_filter(text: &str) -> Parsed<String> {
    let form = || format!("expected one of {}, or parts such as candor_http=debug", LEVELS.join(", "));
    // A lone word that is not a level would be taken for a module name and would silence everything else.
    // Brackets would become part of the name.
    let is_level = |part: &str| LEVELS.contains(&part.to_ascii_lowercase().as_str());
    let plain = |part: &str| is_level(part) || part.contains('=') && !part.contains('[');
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    if !parts.iter().all(|part| plain(part)) {
        return Err(form());
    }
    let text = parts.join(",");
    text.parse::<Targets>().map(|_| text).map_err(|_| form())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_filter_is_a_level_or_a_module_list() {
        for good in ["info", "WARN", "off", "warn,candor_http=debug", "info, candor_service::change=trace"] {
            assert!(log_filter(good).is_ok(), "{good}");
        }
        for bad in ["", "loud", "inof", "candor_http=loud", "candor_service[change]=trace", "info,,"] {
            assert!(log_filter(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn database_url_is_a_file_or_a_server() {
        assert_eq!(database_url("sqlite://data/candor.db"), Ok(DatabaseUrl::Sqlite("data/candor.db".into())));
        assert_eq!(database_url("sqlite:///var/candor.db"), Ok(DatabaseUrl::Sqlite("/var/candor.db".into())));
        assert!(matches!(database_url("postgresql://db/x"), Ok(DatabaseUrl::Postgres(_))));
        for bad in ["", "sqlite://", "mysql://x", "candor.db", "postgres:x"] {
            assert!(database_url(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn duration_requires_a_unit() {
        let table =
            [("500ms", 500), ("30s", 30_000), ("2m", 120_000), ("24h", 86_400_000), ("365d", 31_536_000_000)];
        for (text, millis) in table {
            assert_eq!(duration(text), Ok(Duration::from_millis(millis)));
        }
        for bad in ["", "30", "s", "0s", "-1s", "1.5s", "30 s", "99999999999999999999s", "18446744073709551615h"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn networks_are_parsed_from_a_list() {
        let one = |text: &str| text.parse::<Network>().unwrap();
        assert_eq!(networks("10.0.0.0/8, ::1"), Ok(vec![one("10.0.0.0/8"), one("::1")]));
        for bad in ["", "10.0.0.0/33", "10.0.0.0/8,", "all"] {
            assert!(networks(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn webhook_targets_are_networks_or_addresses() {
        let one = |text: &str| text.parse::<TrustedNetwork>().unwrap();
        let expected_targets = vec![
            one("10.0.0.0/8"),
            one("192.168.1.7/32"),
            one("::1/128"),
            one("org_00000000000000000000000001=10.1.0.0/16"),
        ];
        assert_eq!(
            targets("10.0.0.0/8, 192.168.1.7,::1,org_00000000000000000000000001=10.1.0.0/16"),
            Ok(expected_targets)
        );
        for bad in ["", "10.0.0.0/33", "10.0.0.0/8,", "localhost", "*", "org_1=10.0.0.0/8"] {
            assert!(targets(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn delivery_schedule_and_timeout_are_validated() {
        assert_eq!(schedule("30s,2m,10m,1h,6h,24h"), Ok(Schedule::default()));
        assert!(schedule("30s,").is_err() && schedule("30").is_err());
        assert_eq!((timeout("15s"), timeout("60s")), (Ok(Duration::from_secs(15)), Ok(Duration::from_secs(60))));
        assert!(timeout("61s").is_err() && timeout("0s").is_err() && timeout("15").is_err());
    }

    #[test]
    fn sweep_interval_is_at_most_a_minute() {
        assert_eq!(
            (sweep_interval("50ms"), sweep_interval("1m")),
            (Ok(Duration::from_millis(50)), Ok(Duration::from_secs(60)))
        );
        assert!(sweep_interval("61s").is_err() && sweep_interval("1h").is_err() && sweep_interval("0s").is_err());
    }

    #[test]
    fn drain_delay_is_at_most_ten_minutes() {
        let table = [("0", 0), ("0s", 0), ("500ms", 500), ("5s", 5_000), ("10m", 600_000)];
        for (text, millis) in table {
            assert_eq!(drain_delay(text), Ok(Duration::from_millis(millis)));
        }
        for bad in ["", "5", "-1s", "601s", "11m", "never"] {
            assert!(drain_delay(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn rate_limiter_is_local_or_a_redis_url() {
        assert_eq!(rate_limiter("local"), Ok(RateLimiter::Local));
        assert!(matches!(rate_limiter("rediss://:x@cache/1"), Ok(RateLimiter::Redis(it)) if it.host == "cache"));
        for bad in ["", "redis", "Local", "memcached://cache", "redis://cache?x=y"] {
            assert!(rate_limiter(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn public_url_ends_before_the_version() {
        assert_eq!(public_url("https://feedback.example.com/"), Ok("https://feedback.example.com".to_owned()));
        assert_eq!(public_url("http://localhost:8080/api"), Ok("http://localhost:8080/api".to_owned()));
        for bad in ["", "localhost", "https://", "https:///x", "https://a b", "https://a?b", "https://a/v1/"] {
            assert!(public_url(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn origin_has_no_path_and_no_pattern() {
        assert_eq!(origins("https://a.example,http://localhost:3000").map(|origins| origins.len()), Ok(2));
        assert_eq!(origins("*"), Ok(vec!["*".to_owned()]));
        for bad in ["", "https://a.example/x", "a.example", "https://*.example"] {
            assert!(origins(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn pool_size_log_format_and_address_are_validated() {
        assert_eq!((count("1"), count("1000")), (Ok(1), Ok(1000)));
        assert!(count("0").is_err() && count("1001").is_err() && count("many").is_err());
        assert!(log_format("text").is_ok() && log_format("yaml").is_err());
        assert_eq!((switch("on"), switch("off")), (Ok(true), Ok(false)));
        assert!(switch("yes").is_err());
        assert!(address("0.0.0.0:80").is_ok() && address("localhost:80").is_err() && address("8080").is_err());
    }
}
