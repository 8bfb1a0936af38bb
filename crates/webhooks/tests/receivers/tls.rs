//! HTTPS: valid and invalid certificates, and handshakes that are slow, aborted or not TLS.

use std::sync::Arc;

use candor_domain::attempt_failure::FailureReason::{Timeout, Tls};
use candor_webhooks::{Sender, SenderSettings};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, date_time_ymd};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;

use crate::support::{
    AMPLE, OK, Receiver, SHORT, acknowledged, detail, failed, loopback, outcome_of, post, request, reset,
};

/// A certificate authority for these tests only.
pub(crate) struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    pub(crate) fn new() -> Self {
        let mut params = CertificateParams::new(vec![]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    /// Creates a sender that trusts this authority.
    pub(crate) fn sender(&self) -> Sender {
        let authorities = vec![self.0.der().clone()];
        Sender::new(SenderSettings { authorities, ..loopback() }).unwrap()
    }

    /// Creates a TLS acceptor with a certificate for this name.
    pub(crate) fn acceptor(&self, name: &str, protocols: &[&[u8]]) -> TlsAcceptor {
        let key = KeyPair::generate().unwrap();
        let certificate = params(name).signed_by(&key, &self.0).unwrap();
        acceptor(certificate.der().clone(), &key, protocols)
    }

    fn expired(&self) -> TlsAcceptor {
        let key = KeyPair::generate().unwrap();
        let mut params = params("127.0.0.1");
        params.not_before = date_time_ymd(2020, 1, 1);
        params.not_after = date_time_ymd(2021, 1, 1);
        acceptor(params.signed_by(&key, &self.0).unwrap().der().clone(), &key, &[])
    }
}

fn params(name: &str) -> CertificateParams {
    CertificateParams::new(vec![name.to_owned()]).unwrap()
}

fn self_signed() -> TlsAcceptor {
    let key = KeyPair::generate().unwrap();
    acceptor(params("127.0.0.1").self_signed(&key).unwrap().der().clone(), &key, &[])
}

fn acceptor(certificate: CertificateDer<'static>, key: &KeyPair, protocols: &[&[u8]]) -> TlsAcceptor {
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
    TlsAcceptor::from(Arc::new(config))
}

/// Accepts TLS and responds to every request.
async fn serve(socket: TcpStream, acceptor: TlsAcceptor) {
    let Ok(mut stream) = acceptor.accept(socket).await else { return };
    while request(&mut stream).await.is_some() {
        stream.write_all(OK).await.unwrap();
        stream.flush().await.unwrap();
    }
}

fn https_url(receiver: &Receiver) -> String {
    format!("https://{}/", receiver.address)
}

#[tokio::test]
async fn only_a_valid_certificate_for_the_host_is_accepted() {
    let (authority, stranger) = (Authority::new(), Authority::new());
    let sender = authority.sender();
    let table = [
        ("good", authority.acceptor("127.0.0.1", &[b"http/1.1"]), acknowledged(200)),
        ("good, without ALPN", authority.acceptor("127.0.0.1", &[]), acknowledged(200)),
        ("for another address", authority.acceptor("127.0.0.2", &[]), failed(0, Tls)),
        ("for a name", authority.acceptor("hooks.example.com", &[]), failed(0, Tls)),
        ("by a stranger", stranger.acceptor("127.0.0.1", &[]), failed(0, Tls)),
        ("expired", authority.expired(), failed(0, Tls)),
        ("self-signed", self_signed(), failed(0, Tls)),
    ];
    for (what, acceptor, wanted) in table {
        let receiver = Receiver::start(move |socket| serve(socket, acceptor.clone())).await;
        assert_eq!(outcome_of(&sender, post(https_url(&receiver), AMPLE)).await, wanted, "{what}");
    }
}

#[tokio::test]
async fn failed_handshake_is_a_tls_failure() {
    let sender = Authority::new().sender();
    let closing = Receiver::start(|mut socket| async move {
        socket.read_u8().await.ok();
    })
    .await;
    assert_eq!(outcome_of(&sender, post(https_url(&closing), AMPLE)).await, failed(0, Tls), "closed");
    let crashing = Receiver::start(|mut socket| async move {
        socket.read_u8().await.ok();
        reset(&socket);
    })
    .await;
    assert_eq!(outcome_of(&sender, post(https_url(&crashing), AMPLE)).await, failed(0, Tls), "reset");
    let plain = Receiver::answering(OK).await;
    let speaks_first = Receiver::start(|mut socket| async move {
        socket.write_all(b"HTTP/1.1 400 This is no TLS\r\n\r\n").await.ok();
        socket.read_u8().await.ok();
    })
    .await;
    assert_eq!(outcome_of(&sender, post(https_url(&speaks_first), AMPLE)).await, failed(0, Tls), "plain text");
    assert_eq!(
        outcome_of(&sender, post(https_url(&plain), SHORT)).await,
        failed(0, Timeout),
        "the receiver waits for an HTTP request"
    );
}

#[tokio::test]
async fn failed_handshake_is_reported_with_its_cause() {
    let (authority, stranger) = (Authority::new(), Authority::new());
    let sender = authority.sender();
    let table = [
        ("good", authority.acceptor("127.0.0.1", &[]), None),
        ("for a name", authority.acceptor("hooks.example.com", &[]), Some("wrong_name")),
        ("by a stranger", stranger.acceptor("127.0.0.1", &[]), Some("unknown_issuer")),
        ("expired", authority.expired(), Some("certificate_expired")),
        ("self-signed", self_signed(), Some("unknown_issuer")),
    ];
    for (what, acceptor, wanted) in table {
        let receiver = Receiver::start(move |socket| serve(socket, acceptor.clone())).await;
        assert_eq!(detail(&sender, post(https_url(&receiver), AMPLE)).await.as_deref(), wanted, "{what}");
    }
    let plain = Receiver::start(|mut socket| async move {
        socket.write_all(b"HTTP/1.1 400 This is no TLS\r\n\r\n").await.ok();
        socket.read_u8().await.ok();
    })
    .await;
    assert_eq!(detail(&sender, post(https_url(&plain), AMPLE)).await.as_deref(), Some("no_tls"));
    let closing = Receiver::start(|mut socket| async move {
        socket.read_u8().await.ok();
    })
    .await;
    assert_eq!(detail(&sender, post(https_url(&closing), AMPLE)).await.as_deref(), Some("ended"));
}

#[tokio::test]
async fn slow_or_endless_handshake_is_bounded() {
    let sender = Authority::new().sender();
    let silent = Receiver::start(|_socket| std::future::pending()).await;
    // The future that never ends keeps the socket open.
    let holding = Receiver::start(|socket| async move {
        let _open_socket = socket;
        std::future::pending::<()>().await;
    })
    .await;
    assert_eq!(outcome_of(&sender, post(https_url(&holding), SHORT)).await, failed(0, Timeout), "silent");
    drop(silent);
    let dripping = Receiver::start(|mut socket| async move {
        // Sends the bytes of a handshake record slowly; its header declares 16 KiB.
        let start = [22, 3, 3, 0x40, 0];
        if socket.write_all(&start).await.is_ok() {
            while socket.write_all(b"\x02").await.is_ok() {
                tokio::time::sleep(std::time::Duration::from_millis(10)).await;
            }
        }
    })
    .await;
    assert_eq!(outcome_of(&sender, post(https_url(&dripping), SHORT)).await, failed(0, Timeout), "byte by byte");
    let endless = Receiver::start(|mut socket| async move {
        // Sends an endless sequence of handshake records, each with an empty `HelloRequest`.
        while socket.write_all(&[22, 3, 3, 0, 4, 0, 0, 0, 0].repeat(1000)).await.is_ok() {}
    })
    .await;
    assert_eq!(outcome_of(&sender, post(https_url(&endless), AMPLE)).await, failed(0, Tls), "endless");
}
