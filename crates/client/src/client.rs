//! The client and its settings.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{ACCEPT, AUTHORIZATION, HeaderMap, HeaderValue, USER_AGENT};
use reqwest::redirect::Policy;
use reqwest::{Proxy, Url};
use rustls::ClientConfig;

use crate::error::Error;
use crate::generated::basic_types::Environment;
use crate::log::{Log, LogEntry};
use crate::request::{Core, add_headers};
use crate::secret::Secret;
use crate::tls;

const KEY_VARIABLE: &str = "CANDOR_API_KEY";
const URL_VARIABLE: &str = "CANDOR_URL";
/// Default time limit of one attempt.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Time limit for a new connection. It leaves time for a retry if an address does not respond.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Default maximum number of retries of one call.
const MAX_RETRIES: u32 = 3;

/// A client of one Candor service with one API key. Clones share their connections.
#[derive(Clone, Debug)]
pub struct Candor {
    pub(crate) core: Arc<Core>,
}

impl Candor {
    /// Creates a client with the key of `CANDOR_API_KEY` and the URL of `CANDOR_URL`.
    ///
    /// # Errors
    /// [`Error::Settings`] if the key or the URL is missing or malformed.
    pub fn from_env() -> Result<Self, Error> {
        Self::builder().build()
    }

    /// Returns the settings of a new client.
    #[must_use]
    pub fn builder() -> ClientBuilder {
        ClientBuilder::default()
    }
}

/// Settings of a client.
#[derive(Clone, Default)]
pub struct ClientBuilder {
    api_key: Option<Secret>,
    base_url: Option<String>,
    environment: Option<Environment>,
    timeout: Option<Duration>,
    max_retries: Option<u32>,
    max_wait: Option<Duration>,
    user_agent: Option<String>,
    headers: Vec<(String, String)>,
    proxy: Option<String>,
    authorities: Vec<Vec<u8>>,
    identity: Option<Secret>,
    log: Option<Log>,
}

impl ClientBuilder {
    /// Sets the API key, `cdr_live_…` or `cdr_test_…`. Default: `CANDOR_API_KEY`.
    #[must_use]
    pub fn api_key(mut self, key: impl Into<Secret>) -> Self {
        self.api_key = Some(key.into());
        self
    }

    /// Sets the URL of the service, with or without `/v1`. Default: `CANDOR_URL`.
    #[must_use]
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        self.base_url = Some(url.into());
        self
    }

    /// Makes [`Self::build`] refuse keys of the other environment, live or test.
    #[must_use]
    pub fn environment(mut self, environment: Environment) -> Self {
        self.environment = Some(environment);
        self
    }

    /// Sets the time limit of one attempt. Default: 30 seconds.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Sets the maximum number of retries of one call. Default: 3.
    #[must_use]
    pub fn max_retries(mut self, retries: u32) -> Self {
        self.max_retries = Some(retries);
        self
    }

    /// Sets the longest time from the first attempt of a call to the start of its last attempt. Default: 30
    /// seconds; after a used-up quota, the window of the quota and 5 seconds, at most 65 seconds.
    #[must_use]
    pub fn max_wait(mut self, wait: Duration) -> Self {
        self.max_wait = Some(wait);
        self
    }

    /// Sets the name of your application, which precedes this library's name in `User-Agent`.
    #[must_use]
    pub fn user_agent(mut self, name: impl Into<String>) -> Self {
        self.user_agent = Some(name.into());
        self
    }

    /// Adds a header to each request. Headers that the library sets itself, such as `Authorization`, cannot be
    /// replaced.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Sends requests through the HTTP proxy with this URL, instead of the proxy that the environment names.
    #[must_use]
    pub fn proxy(mut self, url: impl Into<String>) -> Self {
        self.proxy = Some(url.into());
        self
    }

    /// Trusts the authorities in this PEM text, in addition to the authorities of the system. Each call adds
    /// authorities.
    #[must_use]
    pub fn root_certificate(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.authorities.push(pem.into());
        self
    }

    /// Identifies this client to services and proxies that ask for a certificate. `pem` is a PEM text with the
    /// certificate, the certificates of its issuers, and its private key.
    #[must_use]
    pub fn identity(mut self, pem: impl Into<Secret>) -> Self {
        self.identity = Some(pem.into());
        self
    }

    /// Calls `log` after each attempt.
    #[must_use]
    pub fn log(mut self, log: impl Fn(&LogEntry<'_>) + Send + Sync + 'static) -> Self {
        self.log = Some(Arc::new(log));
        self
    }

    /// Creates the client.
    ///
    /// # Errors
    /// [`Error::Settings`] if the key or the URL is missing or malformed, if the key belongs to the other
    /// environment, or if a header, the proxy, a root certificate or the identity is malformed.
    pub fn build(self) -> Result<Candor, Error> {
        let variable = |name| std::env::var(name).ok();
        let wrong = |message: &str| Error::Settings(message.to_owned());
        let key = self.api_key.or_else(|| variable(KEY_VARIABLE).map(Secret::from));
        let key = key.filter(|key| !key.expose().is_empty());
        let key = key.ok_or_else(|| wrong("No API key: pass `api_key`, or set CANDOR_API_KEY."))?;
        let url = self.base_url.or_else(|| variable(URL_VARIABLE)).filter(|url| !url.is_empty());
        let url = url.ok_or_else(|| wrong("No URL of the service: pass `base_url`, or set CANDOR_URL."))?;
        if let Some(wanted_environment) =
            self.environment.filter(|wanted| !key.expose().starts_with(&format!("cdr_{wanted}_")))
        {
            let message =
                format!("The API key is not a {wanted_environment} key: pass one, or change `environment`.");
            return Err(Error::Settings(message));
        }
        let base = base(&url)?;
        let own = headers(&key, self.user_agent.as_deref())?;
        let mut headers = HeaderMap::new();
        add_headers(&mut headers, &self.headers)?;
        let is_plain = base.starts_with("http:") && self.authorities.is_empty() && self.identity.is_none();
        let tls = if is_plain {
            tls::plain_settings()
        } else {
            tls::settings(&self.authorities, self.identity.as_ref())
        }?;
        let core = Core {
            http: http(own, self.proxy.as_deref(), tls)?,
            headers,
            base,
            timeout: self.timeout.unwrap_or(TIMEOUT),
            max_retries: self.max_retries.unwrap_or(MAX_RETRIES),
            max_wait: self.max_wait,
            log: self.log,
        };
        Ok(Candor { core: Arc::new(core) })
    }
}

impl fmt::Debug for ClientBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientBuilder").field("base_url", &self.base_url).finish_non_exhaustive()
    }
}

/// Returns the URL of the service with `/v1` at its end. The paths of operations are appended to it.
fn base(url: &str) -> Result<String, Error> {
    let plain = url.trim_end_matches('/');
    let base = format!("{}/v1", plain.strip_suffix("/v1").unwrap_or(plain));
    match Url::parse(&base) {
        // The message does not show the URL, because it may contain a password.
        Ok(parsed) if !parsed.username().is_empty() || parsed.password().is_some() => {
            let message =
                "The URL of the service has a user or a password: leave them out, the API key is enough.";
            Err(Error::Settings(message.to_owned()))
        }
        Ok(parsed) if matches!(parsed.scheme(), "http" | "https") && parsed.has_host() => Ok(base),
        // A text with `@` may have a password, too.
        _ if url.contains('@') => {
            Err(Error::Settings("The URL of the service is not valid: pass one with http or https.".to_owned()))
        }
        _ => Err(Error::Settings(format!("{url:?} is not an address of a service: pass one with http or https."))),
    }
}

fn headers(key: &Secret, application: Option<&str>) -> Result<HeaderMap, Error> {
    let wrong =
        |_| Error::Settings("The API key or the name for `User-Agent` has an invalid character.".to_owned());
    let mut authorization = HeaderValue::from_str(&format!("Bearer {}", key.expose())).map_err(wrong)?;
    authorization.set_sensitive(true);
    let agent = format!("{} candor-rust/{}", application.unwrap_or_default(), env!("CARGO_PKG_VERSION"));
    let mut headers = HeaderMap::new();
    headers.insert(AUTHORIZATION, authorization);
    headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    headers.insert(USER_AGENT, HeaderValue::from_str(agent.trim_start()).map_err(wrong)?);
    Ok(headers)
}

fn http(headers: HeaderMap, proxy: Option<&str>, config: ClientConfig) -> Result<reqwest::Client, Error> {
    let builder = reqwest::Client::builder().tls_backend_preconfigured(config).default_headers(headers);
    let mut builder = builder.redirect(Policy::none()).connect_timeout(CONNECT_TIMEOUT);
    if let Some(url) = proxy {
        // The message does not show the URL, because it may contain a password.
        let wrong = |_| {
            Error::Settings("The URL of the proxy is malformed: pass one such as http://HOST:PORT.".to_owned())
        };
        builder = builder.proxy(Proxy::all(url).map_err(wrong)?);
    }
    builder.build().map_err(|error| Error::Settings(format!("Cannot create the HTTP client: {error}.")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn url_of_a_service_has_a_scheme_a_host_and_no_password() {
        for (url, wanted) in [
            ("https://feedback.example.com", Some("https://feedback.example.com/v1")),
            ("http://localhost:8080/v1/", Some("http://localhost:8080/v1")),
            ("feedback.example.com", None),
            ("ftp://feedback.example.com", None),
            ("https://ada:secret@feedback.example.com", None),
            ("https://:secret@feedback.example.com", None),
        ] {
            let read = base(url);
            assert_eq!(read.as_deref().ok(), wanted, "{url}");
            assert!(read.err().is_none_or(|error| !error.to_string().contains("secret")), "{url}");
        }
    }
}
