//! Settings of the mail server and the sender address, as the operator writes them.

use std::time::Duration;

use candor_domain::secret::Secret;
use lettre::Address;
use lettre::message::Mailbox;
use percent_encoding::percent_decode_str;
use url::Url;

/// Default port for TLS from the first byte.
const TLS_PORT: u16 = 465;
/// Default port for STARTTLS.
const STARTTLS_PORT: u16 = 587;
/// Default port without encryption.
const PLAIN_PORT: u16 = 25;
/// Default timeout. Mail servers may take seconds to check an email, but rarely more.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Maximum of the parameter `timeout`, in seconds: the longest timeout that RFC 5321 demands for a step.
const LONGEST_TIMEOUT_SECONDS: u64 = 600;

/// Encryption of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Security {
    /// TLS from the first byte.
    Tls,
    /// STARTTLS; no email is sent to a server without STARTTLS.
    StartTls,
    /// No encryption, for a trusted relay.
    None,
}

/// A mail server, configured as `smtps://USER:PASSWORD@HOST:PORT/NAME`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SmtpServer {
    /// Host name or IP address.
    pub host: String,
    /// TCP port of the server.
    pub port: u16,
    /// Encryption of the connection.
    pub security: Security,
    /// User name and password, if the server requires a login.
    pub credentials: Option<(String, Secret)>,
    /// Maximum time to send one email.
    pub timeout: Duration,
    /// Name for `EHLO`; the default is the domain of the sender address.
    pub hello_name: Option<String>,
}

/// Reason why a mail server URL is invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SmtpUrlError {
    /// The text is not a URL, or its scheme is neither `smtp` nor `smtps`.
    #[error("must be smtp://HOST, with STARTTLS, or smtps://HOST, with TLS from the beginning")]
    Scheme,
    /// The URL has no host.
    #[error("must name a host")]
    Host,
    /// A parameter is unknown or has an invalid value.
    #[error(
        "has an unknown parameter or an invalid value: use tls=required, tls=none (with smtp:// only), or \
         timeout=60s (from 1s to 600s)"
    )]
    Parameter,
    /// A password would be sent unencrypted.
    #[error("must not have a password with tls=none, because the password would be sent unencrypted")]
    ReadablePassword,
    /// The user name or the password is not UTF-8.
    #[error("has a user name or password that is not UTF-8")]
    Encoding,
}

impl SmtpServer {
    /// Parses a URL: `smtps://HOST`, `smtp://HOST` or `smtp://HOST?tls=none`, each with an optional
    /// `timeout=60s`. In user name and password, all characters except letters, digits and `-._~` are
    /// percent-encoded.
    ///
    /// # Errors
    /// [`SmtpUrlError`], which never contains the text.
    pub fn parse(text: &str) -> Result<Self, SmtpUrlError> {
        let url = Url::parse(text).map_err(|_| SmtpUrlError::Scheme)?;
        let Parameters { security, timeout } = parameters(&url)?;
        let host = url.host_str().filter(|host| !host.is_empty()).ok_or(SmtpUrlError::Host)?;
        let default = match security {
            Security::Tls => TLS_PORT,
            Security::StartTls => STARTTLS_PORT,
            Security::None => PLAIN_PORT,
        };
        let hello_name = url.path().trim_matches('/');
        Ok(Self {
            host: host.trim_matches(['[', ']']).to_owned(),
            port: url.port().unwrap_or(default),
            security,
            credentials: credentials(&url, security)?,
            timeout,
            hello_name: (!hello_name.is_empty()).then(|| hello_name.to_owned()),
        })
    }
}

struct Parameters {
    security: Security,
    timeout: Duration,
}

fn parameters(url: &Url) -> Result<Parameters, SmtpUrlError> {
    let usual = match url.scheme() {
        "smtps" => Security::Tls,
        "smtp" => Security::StartTls,
        _ => return Err(SmtpUrlError::Scheme),
    };
    let mut parameters = Parameters { security: usual, timeout: TIMEOUT };
    for (name, value) in url.query_pairs() {
        match (&*name, &*value, usual) {
            ("tls", "required", _) => parameters.security = usual,
            ("tls", "none", Security::StartTls) => parameters.security = Security::None,
            ("timeout", value, _) => parameters.timeout = timeout(value).ok_or(SmtpUrlError::Parameter)?,
            _ => return Err(SmtpUrlError::Parameter),
        }
    }
    Ok(parameters)
}

fn timeout(text: &str) -> Option<Duration> {
    let seconds: u64 = text.strip_suffix('s')?.parse().ok()?;
    (1..=LONGEST_TIMEOUT_SECONDS).contains(&seconds).then(|| Duration::from_secs(seconds))
}

fn credentials(url: &Url, security: Security) -> Result<Option<(String, Secret)>, SmtpUrlError> {
    let Some(password) = url.password() else { return Ok(None) };
    if security == Security::None {
        return Err(SmtpUrlError::ReadablePassword);
    }
    let decode = |word: &str| {
        let text = percent_decode_str(word).decode_utf8();
        text.map(std::borrow::Cow::into_owned).map_err(|_| SmtpUrlError::Encoding)
    };
    Ok(Some((decode(url.username())?, Secret::new(decode(password)?))))
}

/// Sender address, such as `no-reply@example.com` or `Candor <no-reply@example.com>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SenderAddress(Mailbox);

impl SenderAddress {
    /// Parses an address with an optional name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        text.parse().ok().map(Self)
    }

    pub(crate) const fn mailbox(&self) -> &Mailbox {
        &self.0
    }

    pub(crate) fn domain(&self) -> &str {
        let address: &Address = &self.0.email;
        address.domain()
    }
}

impl std::fmt::Display for SenderAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(host: &str, port: u16, security: Security) -> SmtpServer {
        let (host, timeout) = (host.to_owned(), TIMEOUT);
        SmtpServer { host, port, security, credentials: None, timeout, hello_name: None }
    }

    #[test]
    fn smtp_url_selects_server_port_and_encryption() {
        let table = [
            ("smtps://mail.example.com", server("mail.example.com", 465, Security::Tls)),
            ("smtps://mail.example.com?tls=required", server("mail.example.com", 465, Security::Tls)),
            ("smtp://mail.example.com", server("mail.example.com", 587, Security::StartTls)),
            ("smtp://mail.example.com:2525/?tls=required", server("mail.example.com", 2525, Security::StartTls)),
            ("smtp://localhost?tls=none", server("localhost", 25, Security::None)),
            ("smtp://[::1]:1025?tls=none", server("::1", 1025, Security::None)),
        ];
        for (text, wanted) in table {
            assert_eq!(SmtpServer::parse(text), Ok(wanted), "{text}");
        }
        let patient = SmtpServer::parse("smtp://localhost?tls=none&timeout=5s").unwrap();
        assert_eq!((patient.timeout, patient.security), (Duration::from_secs(5), Security::None));
        let it = SmtpServer::parse("smtps://no%40reply:p%3Aw%2F@mail.example.com/candor.example.com").unwrap();
        assert_eq!(it.credentials, Some(("no@reply".to_owned(), Secret::new("p:w/".to_owned()))));
        assert_eq!(it.hello_name.as_deref(), Some("candor.example.com"));
    }

    #[test]
    fn smtp_url_with_unprotected_password_is_refused() {
        use SmtpUrlError::{Encoding, Host, Parameter, ReadablePassword, Scheme};
        let table = [
            ("mail.example.com", Scheme),
            ("http://mail.example.com", Scheme),
            ("smtp://", Host),
            ("smtp://mail.example.com?tls=opportunistic", Parameter),
            ("smtps://mail.example.com?tls=none", Parameter),
            ("smtp://mail.example.com?timeout=5", Parameter),
            ("smtp://mail.example.com?timeout=0s", Parameter),
            ("smtp://mail.example.com?user=x", Parameter),
            ("smtp://user:password@mail.example.com?tls=none", ReadablePassword),
            ("smtps://user:%ff@mail.example.com", Encoding),
        ];
        for (text, wanted) in table {
            assert_eq!(SmtpServer::parse(text), Err(wanted), "{text}");
            assert!(!wanted.to_string().contains("password@"));
        }
    }

    #[test]
    fn sender_is_an_address_with_an_optional_name() {
        for text in ["no-reply@example.com", "Candor <no-reply@example.com>"] {
            let it = SenderAddress::parse(text).unwrap();
            assert_eq!((it.to_string().as_str(), it.domain()), (text, "example.com"));
        }
        for text in ["", "example.com", "Candor", "a@b, c@d"] {
            assert_eq!(SenderAddress::parse(text), None, "{text}");
        }
    }
}
