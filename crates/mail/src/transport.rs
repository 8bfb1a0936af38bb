//! The port: one mail handed over, over a connection that is there or a new one.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use candor_port_events::{Mail, MailFailure, MailTransport};
use lettre::transport::smtp::client::{Certificate, TlsParameters};
use lettre::transport::smtp::extension::ClientId;
use rustls::pki_types::CertificateDer;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::connection::{Connection, Door};
use crate::message::{Prepared, prepare};
use crate::server::{SenderAddress, SmtpServer};

/// How long the server may take to say goodbye.
const GOODBYE: Duration = Duration::from_secs(1);
/// The most connections that are open at once.
const CONNECTIONS: usize = 8;

/// What an operator sets.
#[derive(Debug, Clone)]
pub struct SmtpSettings {
    /// The server.
    pub server: SmtpServer,
    /// Whom mails are from.
    pub from: SenderAddress,
    /// Authorities that are trusted beside those of the system.
    pub authorities: Vec<CertificateDer<'static>>,
}

/// Why nothing can be sent from here.
#[derive(Debug, thiserror::Error)]
#[error("mails cannot be sent: {0}")]
pub struct TlsSetupError(String);

/// Hands mails to a server.
pub struct SmtpTransport {
    door: Door,
    from: SenderAddress,
    places: Semaphore,
    /// Connections over which nothing is being sent.
    idle: Mutex<Vec<Connection>>,
}

impl SmtpTransport {
    /// Gets everything ready; nobody is called yet.
    ///
    /// # Errors
    /// [`TlsSetupError`] if the certificates of the authorities are of no use.
    pub fn new(settings: SmtpSettings) -> Result<Self, TlsSetupError> {
        let SmtpSettings { server, from, authorities } = settings;
        let failed = |it: lettre::transport::smtp::Error| TlsSetupError(it.to_string());
        let mut tls = TlsParameters::builder(server.host.clone());
        for authority in authorities {
            tls = tls.add_root_certificate(Certificate::from_der(authority.to_vec()).map_err(failed)?);
        }
        let tls = tls.build_rustls().map_err(failed)?;
        let hello = ClientId::Domain(server.hello_name.clone().unwrap_or_else(|| from.domain().to_owned()));
        let door = Door { server, hello, tls };
        Ok(Self { door, from, places: Semaphore::new(CONNECTIONS), idle: Mutex::default() })
    }

    /// Whether the server lets this side in, without sending anything.
    ///
    /// # Errors
    /// Why not.
    pub async fn check(&self) -> Result<(), MailFailure> {
        self.door.open().await?.close().await;
        Ok(())
    }

    async fn hand_over(&self, mail: &Prepared) -> Result<(), MailFailure> {
        // The semaphore is never closed.
        let Ok(_place) = self.places.acquire().await else { return Err(MailFailure::Connect) };
        if let Some(mut connection) = self.take() {
            match connection.send(mail).await {
                // The server may have closed it meanwhile, or want a new one.
                Err((MailFailure::Closed | MailFailure::Busy, _)) => {}
                sent => return self.keep(connection, sent),
            }
        }
        let mut connection = self.door.open().await?;
        let sent = connection.send(mail).await;
        self.keep(connection, sent)
    }

    /// Keeps a connection that can be used on; says what became of the mail.
    fn keep(&self, connection: Connection, sent: Result<(), (MailFailure, bool)>) -> Result<(), MailFailure> {
        if matches!(sent, Ok(()) | Err((_, true))) {
            self.idle().push(connection);
        }
        sent.map_err(|(failure, _)| failure)
    }

    fn take(&self) -> Option<Connection> {
        self.idle().pop()
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl MailTransport for SmtpTransport {
    async fn send(&self, mail: Mail) -> Result<(), MailFailure> {
        let prepared = prepare(&mail, &self.from)?;
        timeout(mail.deadline, self.hand_over(&prepared)).await.unwrap_or(Err(MailFailure::Timeout))
    }

    async fn rest(&self) {
        while let Some(connection) = self.take() {
            // Whoever does not say goodbye in time is left.
            let _ = timeout(GOODBYE, connection.close()).await;
        }
    }
}
