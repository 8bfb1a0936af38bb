//! URLs of receivers: checks without and with a DNS lookup of the host (decision F1).

use url::{Host, Url};

use crate::problem::{Code, ValueError};

/// Length of the longest URL, in characters.
pub const URL_CHARS: usize = 2048;

/// Message for a host with a private or reserved address, and for one without any address.
const HOST_NOT_PUBLIC: &str = "must have a host that public DNS resolves to public addresses only";

/// A well-formed URL of a receiver. A [`Verdict`] about its addresses decides whether it may be called.
///
/// ```
/// use candor_forms::receiver_url::ReceiverUrl;
///
/// let target = ReceiverUrl::parse("https://hooks.example.com/candor?x=1").unwrap();
/// assert_eq!(target.url().host_str(), Some("hooks.example.com"));
/// assert!(ReceiverUrl::parse("https://ada:secret@hooks.example.com/").is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceiverUrl {
    text: String,
    url: Url,
}

impl ReceiverUrl {
    /// Parses a URL.
    ///
    /// # Errors
    /// Returns `invalid_format` unless the URL is absolute and has a host and no user or password, and `too_long`.
    pub fn parse(text: &str) -> Result<Self, ValueError> {
        if text.chars().nth(URL_CHARS).is_some() {
            return Err(ValueError::new(Code::TooLong, format!("must have at most {URL_CHARS} characters")));
        }
        // The URL parser drops these characters without an error, so the service would call a URL other than this one.
        if text.chars().any(|character| character.is_control() || character.is_whitespace() || character == '\\') {
            return Err(ValueError::format("a URL without spaces, backslashes and control characters"));
        }
        let url = Url::parse(text).map_err(|_| ValueError::format("an absolute URL"))?;
        let (scheme, rest) =
            text.split_once("://").ok_or_else(|| ValueError::format("an absolute URL with a host"))?;
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let has_host = url.host().is_some_and(|host| !matches!(host, Host::Domain("")));
        if authority.is_empty() || !has_host || !scheme.eq_ignore_ascii_case(url.scheme()) {
            return Err(ValueError::format("an absolute URL with a host"));
        }
        if authority.contains('@') {
            return Err(ValueError::format("a URL without user and password"));
        }
        Ok(Self { text: text.to_owned(), url })
    }

    /// Returns the URL as the client gave it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns `true` if another URL has the same scheme, host and port.
    #[must_use]
    pub fn has_origin_of(&self, other: &str) -> bool {
        Url::parse(other).is_ok_and(|other| other.origin() == self.url.origin())
    }

    /// Returns the parsed URL.
    #[must_use]
    pub const fn url(&self) -> &Url {
        &self.url
    }
}

/// The result of checking the addresses of a receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The receiver may be called.
    Allowed,
    /// The URL is not HTTPS, and the operator does not trust its network.
    NotHttps,
    /// At least one address is not public, and the operator does not trust its network.
    Private,
    /// The host has no address.
    Unresolvable,
}

impl Verdict {
    /// Checks the verdict for the field `url`. A refusal is `unprocessable`, because it depends on DNS (decisions
    /// A3, F1).
    ///
    /// # Errors
    /// Returns the error of the field.
    pub fn check(self) -> Result<(), ValueError> {
        match self {
            Self::Allowed => Ok(()),
            Self::NotHttps => Err(ValueError::format("an https URL")),
            // One message for both, because two would show which private names the operator's resolver knows.
            Self::Private | Self::Unresolvable => Err(ValueError::new(Code::InvalidState, HOST_NOT_PUBLIC)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absolute_url_with_a_host_is_accepted() {
        for text in [
            "https://example.com",
            "HTTPS://EXAMPLE.com:8443/a/b?c=d#e",
            "http://example.com/",
            "https://203.0.113.7/",
            "https://[2001:db8::1]:444/",
            "https://bücher.example/",
            "https://example.com/@x",
            "https://example.com/?to=a@b",
            "ftp://example.com/",
        ] {
            assert_eq!(ReceiverUrl::parse(text).map(|url| url.as_str().to_owned()).as_deref(), Ok(text), "{text}");
        }
        let longest = format!("https://example.com/{}", "a".repeat(URL_CHARS - 20));
        assert!(ReceiverUrl::parse(&longest).is_ok());
        assert_eq!(ReceiverUrl::parse(&format!("{longest}a")).unwrap_err().code, Code::TooLong);
    }

    #[test]
    fn invalid_url_or_url_with_a_user_is_refused() {
        for text in [
            "",
            "example.com",
            "//example.com/",
            "https://",
            "https:///path",
            "https:example.com",
            "https:/example.com",
            "mailto:ada@example.com",
            "data:text/plain,x",
            "file:///etc/passwd",
            "https://exa mple.com/",
            " https://example.com/",
            "https://example.com/\n",
            "https://exa\tmple.com/",
            "https:\\\\example.com\\",
            "https://example.com:99999/",
            "https://example.com:x/",
            "https://[::1/",
            "https://256.256.256.256/",
            "https://ada@example.com/",
            "https://:secret@example.com/",
            "https://@example.com/",
            "https://a:b@c@example.com/",
        ] {
            assert_eq!(ReceiverUrl::parse(text).map_err(|flaw| flaw.code), Err(Code::InvalidFormat), "{text:?}");
        }
    }

    #[test]
    fn only_an_allowed_verdict_passes_the_check() {
        let flaw = |verdict: Verdict| verdict.check().map_err(|flaw| flaw.code);
        assert_eq!(flaw(Verdict::Allowed), Ok(()));
        assert_eq!(flaw(Verdict::NotHttps), Err(Code::InvalidFormat));
        assert_eq!(flaw(Verdict::Private), Err(Code::InvalidState));
        assert_eq!(flaw(Verdict::Unresolvable), Err(Code::InvalidState));
    }

    #[test]
    fn private_and_unresolvable_hosts_get_equal_flaws() {
        assert_eq!(Verdict::Private.check(), Verdict::Unresolvable.check());
    }
}
