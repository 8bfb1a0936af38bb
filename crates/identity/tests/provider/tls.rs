//! HTTPS: only a valid certificate of a trusted authority is accepted.

use std::sync::Arc;

use candor_domain::attempt_failure::TlsFailure;
use candor_identity::{IdentityClient, IdentitySettings};
use candor_port_identity::IdentityTransport;
use candor_sign_in::fetch_failure::FetchError;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::PrivateKeyDer;
use tokio_rustls::TlsAcceptor;

use crate::server::{ORGANIZATION, Provider, ServerResponse, loopback};

/// A certificate authority for these tests only.
struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::new(vec![]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    fn acceptor(&self, name: &str) -> TlsAcceptor {
        let key = KeyPair::generate().unwrap();
        let certificate = CertificateParams::new(vec![name.to_owned()]).unwrap().signed_by(&key, &self.0).unwrap();
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .unwrap();
        TlsAcceptor::from(Arc::new(config))
    }
}

#[tokio::test]
async fn only_a_valid_certificate_for_the_host_is_accepted() {
    let (authority, stranger) = (Authority::new(), Authority::new());
    let authorities = vec![authority.0.der().clone()];
    let client = IdentityClient::new(IdentitySettings { authorities, ..loopback() }).unwrap();
    for (acceptor, wanted) in [
        (authority.acceptor("127.0.0.1"), Ok(2)),
        (authority.acceptor("id.example.com"), Err(FetchError::Tls(TlsFailure::WrongName))),
        (stranger.acceptor("127.0.0.1"), Err(FetchError::Tls(TlsFailure::UnknownIssuer))),
    ] {
        let provider = Provider::over(Some(acceptor)).await;
        provider.set("/keys", ServerResponse::json("{}"));
        let address = format!("https://{}/keys", provider.address);
        let document = client.fetch_document(ORGANIZATION, &address).await;
        assert_eq!(document.map(|document| document.body.len()), wanted);
    }
}
