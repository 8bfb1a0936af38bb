//! Connection settings for each host of a database URL.

use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::Host;

/// Maximum connect timeout for one of several nodes. Short, because another node can answer instead.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
/// Default port of PostgreSQL, for URLs without one.
const USUAL_PORT: u16 = 5432;

/// Returns the configuration for each host alone, in the order of the URL, with its name for messages and metrics.
pub(crate) fn split_hosts(config: &Config) -> Vec<(String, Config)> {
    let (hosts, addresses, ports) = (config.get_hosts(), config.get_hostaddrs(), config.get_ports());
    let count = hosts.len().max(addresses.len());
    let one = |at: usize| {
        let mut own = without_hosts(config);
        let mut name = String::new();
        if let Some(address) = addresses.get(at) {
            own.hostaddr(*address);
            name = address.to_string();
        }
        match hosts.get(at) {
            Some(Host::Tcp(host)) => {
                own.host(host);
                name.clone_from(host);
            }
            Some(Host::Unix(folder)) => {
                own.host_path(folder);
                name = folder.display().to_string();
            }
            None => {}
        }
        let port = ports.get(at).or_else(|| ports.first().filter(|_| ports.len() == 1)).copied();
        let port = port.unwrap_or(USUAL_PORT);
        own.port(port);
        (format!("{name}:{port}"), own)
    };
    (0..count).map(one).collect()
}

/// Copies a configuration without its hosts, addresses and ports.
fn without_hosts(config: &Config) -> Config {
    let mut own = Config::new();
    if let Some(it) = config.get_user() {
        own.user(it);
    }
    if let Some(it) = config.get_password() {
        own.password(it);
    }
    if let Some(it) = config.get_dbname() {
        own.dbname(it);
    }
    if let Some(it) = config.get_options() {
        own.options(it);
    }
    if let Some(it) = config.get_application_name() {
        own.application_name(it);
    }
    if let Some(it) = config.get_tcp_user_timeout() {
        own.tcp_user_timeout(*it);
    }
    if let Some(it) = config.get_keepalives_interval() {
        own.keepalives_interval(it);
    }
    if let Some(it) = config.get_keepalives_retries() {
        own.keepalives_retries(it);
    }
    let longest = config.get_connect_timeout().copied().unwrap_or(CONNECT_TIMEOUT).min(CONNECT_TIMEOUT);
    own.connect_timeout(longest)
        .ssl_mode(config.get_ssl_mode())
        .ssl_negotiation(config.get_ssl_negotiation())
        .keepalives(config.get_keepalives())
        .keepalives_idle(config.get_keepalives_idle())
        .target_session_attrs(config.get_target_session_attrs())
        .channel_binding(config.get_channel_binding());
    own
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host_names(url: &str) -> Vec<String> {
        split_hosts(&url.parse().unwrap()).into_iter().map(|(name, _)| name).collect()
    }

    #[test]
    fn host_of_a_url_has_its_own_port_or_the_common_one() {
        assert_eq!(host_names("postgres://a@one:1,two:2/db"), ["one:1", "two:2"]);
        assert_eq!(host_names("postgres://a@one,two/db"), ["one:5432", "two:5432"]);
        assert_eq!(host_names("host=one,two port=7 user=a"), ["one:7", "two:7"]);
        assert_eq!(host_names("host=one,two hostaddr=10.0.0.1,10.0.0.2 user=a"), ["one:5432", "two:5432"]);
        assert_eq!(host_names("hostaddr=10.0.0.1 user=a"), ["10.0.0.1:5432"]);
        assert_eq!(host_names("postgres://a@%2Ftmp%2Fx,one/db"), ["/tmp/x:5432", "one:5432"]);
    }

    #[test]
    fn url_parameters_apply_to_each_host() {
        let url = "postgres://ada:secret@one:1,two:2/db?options=-c%20a%3Db&application_name=x&tcp_user_timeout=9\
                   &keepalives=0&keepalives_idle=8&keepalives_interval=7&keepalives_retries=6&sslmode=require\
                   &target_session_attrs=read-write&channel_binding=require&connect_timeout=1";
        let all = split_hosts(&url.parse().unwrap());
        for ((_, own), at) in all.iter().zip(["one:1", "two:2"]) {
            let config: Config = url.replace("one:1,two:2", at).parse().unwrap();
            assert_eq!(*own, config, "{at}");
        }
        assert_eq!(all.len(), 2);
    }

    #[test]
    fn connect_timeout_is_shorter_with_several_hosts() {
        let timeout = |url: &str| split_hosts(&url.parse().unwrap())[0].1.get_connect_timeout().copied();
        assert_eq!(timeout("postgres://a@one,two/db?connect_timeout=5"), Some(CONNECT_TIMEOUT));
        assert_eq!(timeout("postgres://a@one,two/db?connect_timeout=1"), Some(Duration::from_secs(1)));
    }
}
