//! Failures of requests to providers, and the lifetime of their documents.

use candor_domain::attempt_failure::{FailureReason, TlsFailure};
use candor_domain::fields::StringEnum;

/// The reason why a provider's document cannot be fetched. Admins see its text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    /// The address is not https, and its network is not trusted.
    #[error("the address is not https")]
    NotHttps,
    /// The host has no address, or an address that is not public. Both cases have one text, because two texts
    /// would show which private names the operator's name server knows.
    #[error("the host has no address that is public")]
    NotPublic,
    /// No connection could be opened.
    #[error("the host does not accept a connection")]
    Connect,
    /// The TLS handshake failed.
    #[error("the TLS handshake failed: {}", .0.word())]
    Tls(TlsFailure),
    /// The response did not come in time.
    #[error("the response did not come in time")]
    Timeout,
    /// The connection was closed before the end of the response.
    #[error("the connection was closed before the end of the response")]
    Closed,
    /// The response is not valid HTTP.
    #[error("the response is not valid HTTP")]
    Malformed,
    /// The response is longer than 256 KiB.
    #[error("the response is longer than 256 KiB")]
    TooLarge,
    /// The response is a redirect, which is not followed.
    #[error("the response is a redirect, which is not followed")]
    Redirect,
    /// The response has another status than 200.
    #[error("the response has the status {0}")]
    Status(u16),
    /// The token endpoint has refused the exchange with this error code (RFC 6749, section 5.2).
    #[error("the token endpoint has refused the exchange: {0}")]
    Refused(String),
    /// No name server has answered.
    #[error("no name server has answered")]
    NoNameServer,
}

impl FetchError {
    /// Converts the failure of an attempt to connect or to read. `tls` names the cause of a failed TLS handshake.
    #[must_use]
    pub fn from_attempt(reason: FailureReason, tls: Option<&str>) -> Self {
        match reason {
            FailureReason::NotHttps => Self::NotHttps,
            FailureReason::Forbidden | FailureReason::Unresolvable => Self::NotPublic,
            FailureReason::Connect => Self::Connect,
            FailureReason::Tls => {
                let cause = tls.and_then(|word| TlsFailure::from_word(word).ok());
                Self::Tls(cause.unwrap_or(TlsFailure::Ended))
            }
            FailureReason::Timeout | FailureReason::TooLate => Self::Timeout,
            FailureReason::Closed => Self::Closed,
            FailureReason::Malformed | FailureReason::Status | FailureReason::Gone => Self::Malformed,
            FailureReason::TooLarge => Self::TooLarge,
            FailureReason::Redirect => Self::Redirect,
        }
    }
}

/// Returns the time in seconds for which a response may be reused (RFC 9111): its `max-age` without its `Age`, or 0 if
/// it must not be stored or reused. `None` if it does not state the time.
///
/// ```
/// use candor_sign_in::fetch_failure::max_age;
///
/// assert_eq!(max_age(Some("public, max-age=300"), Some("20")), Some(280));
/// assert_eq!(max_age(Some("no-store, max-age=300"), None), Some(0));
/// assert_eq!(max_age(None, Some("20")), None);
/// ```
#[must_use]
pub fn max_age(cache_control: Option<&str>, age: Option<&str>) -> Option<i64> {
    let directives = || cache_control.unwrap_or_default().split(',').map(|part| part.trim().to_ascii_lowercase());
    if directives().any(|directive| directive == "no-store" || directive == "no-cache") {
        return Some(0);
    }
    let seconds =
        directives().find_map(|directive| read_seconds(directive.strip_prefix("max-age=")?.trim_matches('"')))?;
    let age = age.and_then(|age| read_seconds(age.trim())).unwrap_or_default();
    Some(seconds.saturating_sub(age).max(0))
}

/// Reads a number of seconds. A number that is too large counts as the largest number.
fn read_seconds(digits: &str) -> Option<i64> {
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().unwrap_or(i64::MAX))
}
