//! TLS: ring only, the system's certificate authorities, and HTTP/2 if the peer offers it.

use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio_rustls::TlsConnector;
use url::{Host, Url};

/// The ALPN identifier of HTTP/2.
pub(crate) const HTTP2: &[u8] = b"h2";
const HTTP1: &[u8] = b"http/1.1";

/// Creates a connector that trusts the system's certificate authorities and the additional ones.
pub(crate) fn connector(more: &[CertificateDer<'static>]) -> Result<TlsConnector, rustls::Error> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    for authority in more {
        roots.add(authority.clone())?;
    }
    if roots.is_empty() {
        tracing::warn!(
            "no certificate authorities on this system: https requests to other systems will fail; \
                        install the package ca-certificates"
        );
    }
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![HTTP2.to_vec(), HTTP1.to_vec()];
    Ok(TlsConnector::from(Arc::new(config)))
}

/// Returns the name that the peer's certificate must be valid for.
pub(crate) fn server_name(url: &Url) -> Option<ServerName<'static>> {
    match url.host()? {
        Host::Domain(name) => ServerName::try_from(name.trim_end_matches('.').to_owned()).ok(),
        Host::Ipv4(address) => Some(ServerName::IpAddress(address.into())),
        Host::Ipv6(address) => Some(ServerName::IpAddress(address.into())),
    }
}
