//! Failures of attempts to send a request to another system: the reason, and the cause of a failed TLS handshake.

use strum::{IntoStaticStr, VariantArray};

use crate::fields::string_enum;

/// The reason why an attempt failed; the delivery log, metrics and logs use the same words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum FailureReason {
    /// The response has a status other than 2xx, 3xx and 410.
    Status,
    /// The response is a redirect, which is never followed (decision F1).
    Redirect,
    /// The response is 410. It disables the subscription, except as the response to a test or from a URL that the
    /// subscription no longer has (decision F3).
    Gone,
    /// The URL is not HTTPS, and its network is not trusted.
    NotHttps,
    /// An address of the host is not public.
    #[strum(to_string = "forbidden_address")]
    Forbidden,
    /// The host has no address.
    Unresolvable,
    /// The connection could not be established.
    Connect,
    /// The TLS handshake failed, e.g. because the certificate is invalid.
    Tls,
    /// The response did not arrive in time.
    Timeout,
    /// The connection was closed before the response.
    Closed,
    /// The response is not valid HTTP.
    Malformed,
    /// The head of the response exceeds the limits.
    TooLarge,
    /// The delivery waited too long for its subscription to become active and was not attempted (decision F4).
    TooLate,
}

string_enum!(FailureReason, "DeliveryFailure");

/// The cause of a failed TLS handshake.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum TlsFailure {
    /// The certificate has expired.
    CertificateExpired,
    /// The certificate is not valid yet.
    CertificateNotYetValid,
    /// No trusted authority has signed the certificate, e.g. because it is self-signed or the chain is incomplete.
    UnknownIssuer,
    /// The certificate is for another name than the host of the URL.
    WrongName,
    /// The certificate has been revoked.
    CertificateRevoked,
    /// The certificate is invalid for another reason.
    CertificateInvalid,
    /// The receiver does not speak TLS at this port.
    NoTls,
    /// Receiver and service have no version or cipher in common.
    NoCommonVersion,
    /// The receiver ended the handshake.
    Ended,
}

string_enum!(TlsFailure, "TlsFailure");
