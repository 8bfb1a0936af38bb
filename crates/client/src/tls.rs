//! TLS settings of requests.

use std::sync::{Arc, OnceLock};

use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};

use crate::error::Error;
use crate::secret::Secret;

/// Returns settings that trust the authorities of the system and the authorities in these PEM texts. The variables
/// `SSL_CERT_FILE` and `SSL_CERT_DIR` replace the authorities of the system. The authorities of the system are
/// read once for each process, and unreadable ones are skipped. `identity` is the PEM text of a certificate and
/// its key, for services that ask for a certificate.
pub(crate) fn settings(authorities: &[Vec<u8>], identity: Option<&Secret>) -> Result<ClientConfig, Error> {
    let wrong = || Error::Settings("A root certificate cannot be used: pass certificates as PEM text.".to_owned());
    let mut roots = Arc::clone(system_roots());
    for text in authorities {
        for certificate in certificates(text).ok_or_else(wrong)? {
            Arc::make_mut(&mut roots).add(certificate).map_err(|_| wrong())?;
        }
    }
    config(roots, identity)
}

fn certificates(pem: &[u8]) -> Option<Vec<CertificateDer<'static>>> {
    let certificates = CertificateDer::pem_slice_iter(pem).collect::<Result<Vec<_>, _>>();
    certificates.ok().filter(|certificates| !certificates.is_empty())
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
pub(crate) fn plain_settings() -> Result<ClientConfig, Error> {
    config(Arc::new(RootCertStore::empty()), None)
}

fn config(roots: Arc<RootCertStore>, identity: Option<&Secret>) -> Result<ClientConfig, Error> {
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| Error::Settings(format!("TLS is not available: {error}.")))?;
    let builder = builder.with_root_certificates(roots);
    let Some(identity) = identity else { return Ok(builder.with_no_client_auth()) };
    let pem = identity.expose().as_bytes();
    let wrong = || {
        Error::Settings(
            "The identity cannot be used: pass a certificate and its private key as PEM text.".to_owned(),
        )
    };
    let chain = certificates(pem).ok_or_else(wrong)?;
    let key = PrivateKeyDer::from_pem_slice(pem).map_err(|_| wrong())?;
    builder.with_client_auth_cert(chain, key).map_err(|_| wrong())
}
