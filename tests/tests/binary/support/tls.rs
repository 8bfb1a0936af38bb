//! A TLS server whose certificate is issued by a private authority.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::crypto::ring;
use rustls::pki_types::PrivateKeyDer;
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection, StreamOwned};

/// A TLS server that gives every request the same response.
pub(crate) struct TlsServer {
    /// URL of the server, such as `https://127.0.0.1:4711`.
    pub(crate) url: String,
    /// The authority's certificate in PEM.
    pub(crate) authority: String,
    /// A certificate of a client that the authority issued, with its key, in PEM.
    pub(crate) identity: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl TlsServer {
    /// Starts a server that sends `response`, which includes status line and headers.
    pub(crate) fn answering(response: &'static str) -> Self {
        Self::starting(response, false)
    }

    /// Starts a server that accepts only clients with [`TlsServer::identity`].
    pub(crate) fn answering_known_clients(response: &'static str) -> Self {
        Self::starting(response, true)
    }

    fn starting(response: &'static str, requires_identity: bool) -> Self {
        let mut params = CertificateParams::new(vec![]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority_key = KeyPair::generate().unwrap();
        let authority_der = params.self_signed(&authority_key).unwrap().der().clone();
        let key = KeyPair::generate().unwrap();
        let issuer = Issuer::new(params, authority_key);
        let certificate = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
        let certificate = certificate.signed_by(&key, &issuer).unwrap().der().clone();
        let client_key = KeyPair::generate().unwrap();
        let client = CertificateParams::new(vec!["client".to_owned()]).unwrap();
        let client = client.signed_by(&client_key, &issuer).unwrap();
        let identity = pem("CERTIFICATE", client.der()) + &pem("PRIVATE KEY", &client_key.serialize_der());
        let provider = Arc::new(ring::default_provider());
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider));
        let builder = builder.with_safe_default_protocol_versions().unwrap();
        let builder = if requires_identity {
            let mut roots = RootCertStore::empty();
            roots.add(authority_der.clone()).unwrap();
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
            builder.with_client_cert_verifier(verifier.build().unwrap())
        } else {
            builder.with_no_client_auth()
        };
        let config = builder
            .with_single_cert(vec![certificate], PrivateKeyDer::try_from(key.serialize_der()).unwrap())
            .unwrap();
        let (config, requests) = (Arc::new(config), Arc::new(Mutex::new(vec![])));
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("https://{}", listener.local_addr().unwrap());
        let shared_requests = Arc::clone(&requests);
        // The thread ends with the process of the test.
        thread::spawn(move || {
            for stream in listener.incoming() {
                // A client that rejects the certificate closes its connection; the next client may accept it.
                if let Ok(line) = serve(stream.unwrap(), &config, response) {
                    shared_requests.lock().unwrap().push(line);
                }
            }
        });
        Self { url, authority: pem("CERTIFICATE", &authority_der), identity, requests }
    }

    /// Returns the first lines of the answered requests, such as `POST /v1/traces HTTP/1.1`.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

fn serve(stream: TcpStream, config: &Arc<ServerConfig>, response: &str) -> io::Result<String> {
    let connection = ServerConnection::new(Arc::clone(config)).map_err(io::Error::other)?;
    let mut reader = BufReader::new(StreamOwned::new(connection, stream));
    let mut head = vec![];
    for line in reader.by_ref().lines() {
        let line = line?;
        if line.is_empty() {
            break;
        }
        head.push(line);
    }
    let length =
        head.iter().find_map(|line| line.to_lowercase().strip_prefix("content-length:")?.trim().parse().ok());
    reader.read_exact(&mut vec![0; length.unwrap_or(0)])?;
    let stream = reader.get_mut();
    stream.write_all(response.as_bytes())?;
    stream.conn.send_close_notify();
    stream.flush()?;
    head.into_iter().next().ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
}

/// Encodes a certificate or a key as PEM, with 64 characters per line.
fn pem(label: &str, der: &[u8]) -> String {
    let encoded_der = STANDARD.encode(der);
    let lines: Vec<_> = encoded_der.as_bytes().chunks(64).map(String::from_utf8_lossy).collect();
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", lines.join("\n"))
}
