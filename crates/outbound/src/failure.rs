//! The failure of an attempt, with what the log says about it.

use std::io;

use candor_domain::attempt_failure::{FailureReason, TlsFailure};
use candor_domain::fields::StringEnum;
use candor_domain::receiver_url::Verdict;
use rustls::{CertificateError, Error};

/// An attempt without a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptFailure {
    /// The reason.
    pub reason: FailureReason,
    /// More about the reason: a word of [`TlsFailure`].
    pub detail: Option<String>,
}

impl From<FailureReason> for AttemptFailure {
    fn from(reason: FailureReason) -> Self {
        Self { reason, detail: None }
    }
}

impl AttemptFailure {
    /// Returns the failure of a TLS handshake.
    pub(crate) fn from_tls(error: &io::Error) -> Self {
        let cause = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>());
        let detail = cause.map_or(TlsFailure::Ended, tls_failure);
        Self { reason: FailureReason::Tls, detail: Some(detail.word().to_owned()) }
    }
}

/// Returns the failure reason of an attempt that the policy refused.
pub(crate) const fn refusal_reason(verdict: Verdict) -> FailureReason {
    match verdict {
        Verdict::NotHttps => FailureReason::NotHttps,
        Verdict::Private => FailureReason::Forbidden,
        Verdict::Unresolvable | Verdict::Allowed => FailureReason::Unresolvable,
    }
}

fn tls_failure(error: &Error) -> TlsFailure {
    if let Error::InvalidCertificate(certificate) = error {
        return certificate_failure(certificate);
    }
    if matches!(error, Error::InvalidMessage(_) | Error::InappropriateMessage { .. }) {
        TlsFailure::NoTls
    } else if matches!(error, Error::PeerIncompatible(_)) {
        TlsFailure::NoCommonVersion
    } else if matches!(error, Error::NoCertificatesPresented | Error::UnsupportedNameType) {
        TlsFailure::CertificateInvalid
    } else {
        TlsFailure::Ended
    }
}

fn certificate_failure(error: &CertificateError) -> TlsFailure {
    if matches!(error, CertificateError::Expired | CertificateError::ExpiredContext { .. }) {
        TlsFailure::CertificateExpired
    } else if matches!(error, CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. }) {
        TlsFailure::CertificateNotYetValid
    } else if matches!(error, CertificateError::UnknownIssuer | CertificateError::BadSignature) {
        // A signature is `BadSignature` if a trusted authority has the name of the issuer, but another key.
        TlsFailure::UnknownIssuer
    } else if matches!(error, CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. })
    {
        TlsFailure::WrongName
    } else if matches!(error, CertificateError::Revoked) {
        TlsFailure::CertificateRevoked
    } else {
        TlsFailure::CertificateInvalid
    }
}
