//! URL of the server for shared windows, as the operator writes it.

use candor_domain::secret::Secret;
use url::Url;

/// Default port of a Redis server.
const PORT: u16 = 6379;

/// A server for shared windows, from a URL such as `rediss://USER:PASSWORD@HOST:PORT/DATABASE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedisServer {
    /// Host name or address.
    pub host: String,
    /// TCP port of the server.
    pub port: u16,
    /// The full URL, which may contain a password.
    pub(crate) url: Secret,
}

/// The reason why a text is no URL of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RedisUrlError {
    /// The text is not a URL with the scheme `redis` or `rediss`.
    #[error("must be redis://HOST, or rediss://HOST for TLS")]
    Scheme,
    /// The URL has no host.
    #[error("must name a host")]
    Host,
    /// The URL has a query, a fragment, or a path that is not the number of a database.
    #[error("must end after the host, or with a database number such as /0")]
    Database,
    /// The user name or password is not UTF-8.
    #[error("has a user name or password that is not UTF-8")]
    Encoding,
}

impl RedisServer {
    /// Parses a URL: `redis://…`, or `rediss://…` for TLS. In the user name and password, every character except
    /// letters, digits and `-._~` must be percent-encoded.
    ///
    /// # Errors
    /// Returns [`RedisUrlError`], which never contains the text.
    pub fn parse(text: &str) -> Result<Self, RedisUrlError> {
        let url = Url::parse(text).map_err(|_| RedisUrlError::Scheme)?;
        if !matches!(url.scheme(), "redis" | "rediss") {
            return Err(RedisUrlError::Scheme);
        }
        let host = url.host_str().filter(|host| !host.is_empty()).ok_or(RedisUrlError::Host)?;
        let database = url.path().trim_start_matches('/');
        let is_number = database.is_empty() || database.parse::<u32>().is_ok();
        if !is_number || url.query().is_some() || url.fragment().is_some() {
            return Err(RedisUrlError::Database);
        }
        redis::parse_redis_url(text).ok_or(RedisUrlError::Scheme)?;
        redis::Client::open(text).map_err(|_| RedisUrlError::Encoding)?;
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
    fn server_url_is_parsed_with_and_without_tls() {
        let place = |text| RedisServer::parse(text).map(|server| (server.host, server.port));
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
    fn invalid_server_url_is_refused() {
        for (text, reason) in [
            ("cache", RedisUrlError::Scheme),
            ("unix:///run/redis.sock", RedisUrlError::Scheme),
            ("redis:cache", RedisUrlError::Host),
            ("redis://", RedisUrlError::Host),
            ("redis://cache/first", RedisUrlError::Database),
            ("rediss://cache/#insecure", RedisUrlError::Database),
            ("redis://cache?protocol=resp3", RedisUrlError::Database),
            ("redis://app:%ff@cache", RedisUrlError::Encoding),
        ] {
            assert_eq!(RedisServer::parse(text), Err(reason), "{text}");
        }
    }
}
