//! The parameters `sslmode` and `sslrootcert` of a database URL, with the meanings of libpq.
//!
//! | `sslmode` | encrypted | certificate |
//! |---|---|---|
//! | `disable` | no | |
//! | `prefer` (default) | if the server offers TLS | not checked |
//! | `require` | yes | not checked; with `sslrootcert` like `verify-ca` |
//! | `verify-ca` | yes | issued by an authority of the system or of `sslrootcert` |
//! | `verify-full` | yes | like `verify-ca`, and issued for the host's name |
//!
//! Connections over a Unix socket never use TLS.

use std::sync::Arc;

use percent_encoding::percent_decode_str;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{
    CryptoProvider, WebPkiSupportedAlgorithms, ring, verify_tls12_signature, verify_tls13_signature,
};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use tokio_postgres::config::SslMode;

use crate::options::ConnectError;

/// Extent of the certificate check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Check {
    Nothing,
    Chain,
    ChainAndName,
}

/// TLS settings of a database URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TlsSettings {
    /// Encryption mode for the driver.
    pub(crate) mode: SslMode,
    check: Check,
    root: Option<String>,
}

/// Removes the TLS parameters from a database URL and returns them. The driver knows only some of their values.
pub(crate) fn take(url: &str) -> Result<(String, TlsSettings), ConnectError> {
    // A password in front of the host may contain a question mark that is not percent-encoded.
    let host_at = url.rfind('@').filter(|at| url[*at..].contains('?')).unwrap_or(0);
    let (base, query) = match url[host_at..].find('?') {
        Some(at) => (&url[..host_at + at], &url[host_at + at + 1..]),
        None => (url, ""),
    };
    let (mut mode, mut root, mut rest) = ("prefer".to_owned(), None, vec![]);
    for pair in query.split('&').filter(|part| !part.is_empty()) {
        match pair.split_once('=') {
            Some(("sslmode", value)) => mode = decode_percent(value),
            Some(("sslrootcert", value)) => root = Some(decode_percent(value)),
            _ => rest.push(pair),
        }
    }
    let (mode, check) = match (mode.as_str(), root.is_some()) {
        ("disable", _) => (SslMode::Disable, Check::Nothing),
        ("prefer", _) => (SslMode::Prefer, Check::Nothing),
        ("require", false) => (SslMode::Require, Check::Nothing),
        ("require" | "verify-ca", _) => (SslMode::Require, Check::Chain),
        ("verify-full", _) => (SslMode::Require, Check::ChainAndName),
        (other, _) => {
            // A value before the `@` may be part of a password, so the error omits it.
            let parameter_text =
                if host_at > 0 || !url.contains('@') { format!("={other}") } else { String::new() };
            return Err(ConnectError::Url(format!(
                "sslmode{parameter_text} is not one of disable, prefer, require, verify-ca, verify-full"
            )));
        }
    };
    let url = if rest.is_empty() { base.to_owned() } else { format!("{base}?{}", rest.join("&")) };
    Ok((url, TlsSettings { mode, check, root }))
}

/// Decodes percent-encoding. A `%` without two hexadecimal digits stays unchanged.
fn decode_percent(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

impl TlsSettings {
    /// Returns settings without TLS.
    pub(crate) const fn without_tls() -> Self {
        Self { mode: SslMode::Disable, check: Check::Nothing, root: None }
    }

    /// Builds the TLS configuration of the client. The driver needs a configuration even for unencrypted connections.
    pub(crate) fn client(&self) -> Result<ClientConfig, ConnectError> {
        let provider = Arc::new(ring::default_provider());
        let verifier = Verifier {
            algorithms: provider.signature_verification_algorithms,
            chain_verifier: if self.check == Check::Nothing {
                None
            } else {
                Some(self.chain_verifier(&provider)?)
            },
            check_name: self.check == Check::ChainAndName,
        };
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| ConnectError::Tls(error.to_string()))?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier))
            .with_no_client_auth();
        Ok(config)
    }

    fn chain_verifier(&self, provider: &Arc<CryptoProvider>) -> Result<Arc<WebPkiServerVerifier>, ConnectError> {
        let mut roots = RootCertStore::empty();
        match &self.root {
            Some(path) => {
                let unreadable = |error| ConnectError::Tls(format!("cannot read sslrootcert {path}: {error}"));
                for certificate in CertificateDer::pem_file_iter(path).map_err(unreadable)? {
                    let certificate_result = roots.add(certificate.map_err(unreadable)?);
                    certificate_result.map_err(|error| {
                        ConnectError::Tls(format!("{path} has a certificate that is of no authority: {error}"))
                    })?;
                }
            }
            None => {
                roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            }
        }
        if roots.is_empty() {
            return Err(ConnectError::Tls(
                "no certificate authorities found; name a file with sslrootcert".to_owned(),
            ));
        }
        WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider))
            .build()
            .map_err(|error| ConnectError::Tls(error.to_string()))
    }
}

/// Certificate verifier for the requested check. Signatures are always verified, so the server must hold the
/// certificate's private key.
#[derive(Debug)]
struct Verifier {
    algorithms: WebPkiSupportedAlgorithms,
    chain_verifier: Option<Arc<WebPkiServerVerifier>>,
    check_name: bool,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(verifier) = &self.chain_verifier else { return Ok(ServerCertVerified::assertion()) };
        match verifier.verify_server_cert(end_entity, intermediates, name, ocsp_response, now) {
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if !self.check_name => Ok(ServerCertVerified::assertion()),
            other => other,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signature, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signature, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sslmode_selects_the_certificate_check() {
        let table = [
            ("postgres://h/d", SslMode::Prefer, Check::Nothing),
            ("postgres://h/d?sslmode=disable", SslMode::Disable, Check::Nothing),
            ("postgres://h/d?sslmode=require", SslMode::Require, Check::Nothing),
            ("postgres://h/d?sslmode=require&sslrootcert=%2Fca.pem", SslMode::Require, Check::Chain),
            ("postgres://h/d?sslmode=verify-ca", SslMode::Require, Check::Chain),
            ("postgres://h/d?sslmode=verify-full", SslMode::Require, Check::ChainAndName),
        ];
        for (url, mode, check) in table {
            let (rest, wanted) = take(url).unwrap();
            assert_eq!((wanted.mode, wanted.check), (mode, check), "{url}");
            assert_eq!(rest, "postgres://h/d");
        }
        let (rest, wanted) =
            take("postgres:///d?host=%2Frun&sslmode=verify-ca&port=1&sslrootcert=%2Fa%20b").unwrap();
        assert_eq!((rest.as_str(), wanted.root.as_deref()), ("postgres:///d?host=%2Frun&port=1", Some("/a b")));
    }

    #[test]
    fn unknown_sslmode_is_refused_with_the_known_ones() {
        let refusal = take("postgres://h/d?sslmode=allow").unwrap_err().to_string();
        assert!(refusal.contains("sslmode=allow") && refusal.contains("verify-full"), "{refusal}");
    }

    #[test]
    fn missing_certificate_file_is_named() {
        let (_, wanted) = take("postgres://h/d?sslmode=verify-full&sslrootcert=/nowhere.pem").unwrap();
        let refusal = wanted.client().unwrap_err().to_string();
        assert!(refusal.contains("/nowhere.pem"), "{refusal}");
    }
}
