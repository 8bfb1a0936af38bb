//! TLS settings of requests.

use std::sync::{Arc, OnceLock};

use rustls::crypto::ring;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};

use crate::error::Error;

/// Returns settings that trust the authorities of the system. `SSL_CERT_FILE` and `SSL_CERT_DIR` replace them.
/// Unreadable certificates are skipped. The certificates are read once for each process.
pub(crate) fn trusting_the_system() -> Result<ClientConfig, Error> {
    config(Arc::clone(system_roots()))
}

/// Returns settings that trust the authorities in these PEM texts beside those of the system.
pub(crate) fn trusting(authorities: &[Vec<u8>]) -> Result<ClientConfig, Error> {
    let wrong = || Error::Settings("A root certificate is no certificate in PEM.".to_owned());
    let mut roots = RootCertStore::clone(system_roots());
    for text in authorities {
        let certificates = CertificateDer::pem_slice_iter(text).collect::<Result<Vec<_>, _>>();
        let certificates = certificates.ok().filter(|found| !found.is_empty()).ok_or_else(wrong)?;
        for certificate in certificates {
            roots.add(certificate).map_err(|_| wrong())?;
        }
    }
    config(Arc::new(roots))
}

fn system_roots() -> &'static Arc<RootCertStore> {
    static ROOTS: OnceLock<Arc<RootCertStore>> = OnceLock::new();
    ROOTS.get_or_init(|| {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        Arc::new(roots)
    })
}

/// Returns settings for clients of a plain HTTP address, which need no certificates.
pub(crate) fn unused() -> Result<ClientConfig, Error> {
    config(Arc::new(RootCertStore::empty()))
}

fn config(roots: Arc<RootCertStore>) -> Result<ClientConfig, Error> {
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| Error::Settings(format!("TLS is not available: {error}.")))?;
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}
