//! TLS on the server side.

use std::io;
use std::net::TcpStream;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// A self-signed certificate with its TLS configuration.
#[derive(Clone)]
pub struct Certificate {
    /// The certificate in DER, as TLS libraries take it.
    pub der: CertificateDer<'static>,
    /// The certificate in PEM, as files contain it.
    pub pem: String,
    config: Arc<ServerConfig>,
}

impl Certificate {
    /// Creates a certificate for a server of this name.
    pub(crate) fn for_name(name: &str) -> io::Result<Self> {
        let CertifiedKey { cert, signing_key } =
            generate_simple_self_signed([name.to_owned()]).map_err(io::Error::other)?;
        let key = PrivateKeyDer::try_from(signing_key.serialize_der()).map_err(io::Error::other)?;
        let der = cert.der().clone();
        let pem = pem(&der);
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .and_then(|config| config.with_no_client_auth().with_single_cert(vec![der.clone()], key))
            .map_err(io::Error::other)?;
        Ok(Self { der, pem, config: Arc::new(config) })
    }

    pub(crate) fn accept(&self, stream: TcpStream) -> io::Result<StreamOwned<ServerConnection, TcpStream>> {
        let connection = ServerConnection::new(Arc::clone(&self.config)).map_err(io::Error::other)?;
        Ok(StreamOwned::new(connection, stream))
    }
}

/// Encodes a certificate as PEM, with 64 characters per line.
fn pem(der: &[u8]) -> String {
    let encoded_der = STANDARD.encode(der);
    let lines: Vec<_> = encoded_der.as_bytes().chunks(64).map(String::from_utf8_lossy).collect();
    format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", lines.join("\n"))
}
