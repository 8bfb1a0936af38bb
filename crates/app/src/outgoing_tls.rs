//! TLS of requests that the program itself sends: `candor import`, and traces.

use std::sync::Arc;

use rustls::crypto::ring;
use ureq::tls::{Certificate, RootCerts, TlsConfig};

/// Returns TLS settings that trust the system's authorities, as webhooks, mails and PostgreSQL do.
/// `SSL_CERT_FILE` and `SSL_CERT_DIR` replace them. Unreadable certificates are skipped.
pub(crate) fn trusting_the_system() -> TlsConfig {
    let found = rustls_native_certs::load_native_certs().certs;
    let authorities: Vec<_> = found.iter().map(|der| Certificate::from_der(der).to_owned()).collect();
    TlsConfig::builder()
        .root_certs(RootCerts::new_with_certs(&authorities))
        .unversioned_rustls_crypto_provider(Arc::new(ring::default_provider()))
        .build()
}

/// Returns the reason if the request failed because its certificate was rejected.
pub(crate) fn rejected_certificate(error: &ureq::Error) -> Option<String> {
    let error = if let ureq::Error::Io(error) = error {
        error.get_ref()?.downcast_ref::<rustls::Error>()
    } else if let ureq::Error::Rustls(error) = error {
        Some(error)
    } else {
        None
    };
    error.filter(|error| matches!(error, rustls::Error::InvalidCertificate(_))).map(ToString::to_string)
}
