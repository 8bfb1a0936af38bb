//! Which server the windows are on, as an operator writes it.

use candor_domain::secret::Secret;
use url::Url;

/// Where such a server listens unless the URL says otherwise.
const PORT: u16 = 6379;

/// A server, as `rediss://USER:PASSWORD@HOST:PORT/DATABASE` names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedisServer {
    /// Its name or address.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// The whole URL, which may hold a password.
    pub(crate) url: Secret,
}

/// Why a text names no server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidRedisUrl {
    /// It is not a URL of one of the schemes.
    #[error("must be redis://HOST, or rediss://HOST for TLS")]
    Scheme,
    /// It names no host.
    #[error("must name a host")]
    Host,
    /// Something stands where the number of a database may.
    #[error("must end behind the host, or with the number of a database such as /0")]
    Database,
    /// A name or a password is not UTF-8.
    #[error("has a user name or password that is not UTF-8")]
    Encoding,
}

impl RedisServer {
    /// Reads a URL: `redis://…`, or `rediss://…` for TLS. What is not a letter, a digit or `-._~` in the user name and the
    /// password is percent-encoded.
    ///
    /// # Errors
    /// [`InvalidRedisUrl`], which never repeats the text.
    pub fn parse(text: &str) -> Result<Self, InvalidRedisUrl> {
        let url = Url::parse(text).map_err(|_| InvalidRedisUrl::Scheme)?;
        if !matches!(url.scheme(), "redis" | "rediss") {
            return Err(InvalidRedisUrl::Scheme);
        }
        let host = url.host_str().filter(|it| !it.is_empty()).ok_or(InvalidRedisUrl::Host)?;
        let database = url.path().trim_start_matches('/');
        let is_number = database.is_empty() || database.parse::<u32>().is_ok();
        if !is_number || url.query().is_some() || url.fragment().is_some() {
            return Err(InvalidRedisUrl::Database);
        }
        redis::parse_redis_url(text).ok_or(InvalidRedisUrl::Scheme)?;
        redis::Client::open(text).map_err(|_| InvalidRedisUrl::Encoding)?;
        Ok(Self {
            host: host.trim_matches(['[', ']']).to_owned(),
            port: url.port().unwrap_or(PORT),
            url: Secret::new(text.to_owned()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_named_by_a_url_with_or_without_tls() {
        let place = |text| RedisServer::parse(text).map(|it| (it.host, it.port));
        for (text, host, port) in [
            ("redis://cache", "cache", 6379),
            ("redis://cache.example:7000/3", "cache.example", 7000),
            ("rediss://app:hunter2@cache", "cache", 6379),
            ("rediss://:hunt%2Fer2@[::1]:6380/", "::1", 6380),
        ] {
            assert_eq!(place(text), Ok((host.to_owned(), port)), "{text}");
        }
        let secret = format!("{:?}", RedisServer::parse("redis://app:hunter2@cache"));
        assert!(!secret.contains("hunter2"), "{secret}");
    }

    #[test]
    fn what_is_something_else_is_refused() {
        for (text, reason) in [
            ("cache", InvalidRedisUrl::Scheme),
            ("unix:///run/redis.sock", InvalidRedisUrl::Scheme),
            ("redis:cache", InvalidRedisUrl::Host),
            ("redis://", InvalidRedisUrl::Host),
            ("redis://cache/first", InvalidRedisUrl::Database),
            ("rediss://cache/#insecure", InvalidRedisUrl::Database),
            ("redis://cache?protocol=resp3", InvalidRedisUrl::Database),
            ("redis://app:%ff@cache", InvalidRedisUrl::Encoding),
        ] {
            assert_eq!(RedisServer::parse(text), Err(reason), "{text}");
        }
    }
}
