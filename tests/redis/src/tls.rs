//! A self-signed certificate and its key, as files.

use std::path::{Path, PathBuf};
use std::{fs, io};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rcgen::{CertifiedKey, generate_simple_self_signed};

/// Files of a certificate, removed on drop.
#[derive(Debug)]
pub(crate) struct Files {
    folder: PathBuf,
}

impl Files {
    /// Creates a certificate for `localhost` in a new folder.
    pub(crate) fn make(folder: PathBuf) -> io::Result<Self> {
        let CertifiedKey { cert, signing_key } =
            generate_simple_self_signed(["localhost".to_owned()]).map_err(io::Error::other)?;
        fs::create_dir(&folder)?;
        let files = Self { folder };
        fs::write(files.certificate(), pem("CERTIFICATE", cert.der()))?;
        fs::write(files.key(), pem("PRIVATE KEY", &signing_key.serialize_der()))?;
        Ok(files)
    }

    pub(crate) fn certificate(&self) -> PathBuf {
        self.folder.join("certificate.pem")
    }

    /// Returns the server's arguments for TLS on this port.
    pub(crate) fn arguments(&self, port: u16) -> Vec<String> {
        let path = |path: &Path| path.display().to_string();
        let (certificate, key) = (path(&self.certificate()), path(&self.key()));
        let port = port.to_string();
        ["--port", "0", "--tls-port", &port, "--tls-cert-file", &certificate, "--tls-key-file", &key]
            .into_iter()
            .chain(["--tls-auth-clients", "no"])
            .map(str::to_owned)
            .collect()
    }

    fn key(&self) -> PathBuf {
        self.folder.join("key.pem")
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Encodes data as PEM, with 64 characters per line.
fn pem(what: &str, der: &[u8]) -> String {
    let encoded_der = STANDARD.encode(der);
    let lines: Vec<_> = encoded_der.as_bytes().chunks(64).map(String::from_utf8_lossy).collect();
    format!("-----BEGIN {what}-----\n{}\n-----END {what}-----\n", lines.join("\n"))
}
