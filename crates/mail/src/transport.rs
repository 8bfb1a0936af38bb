//! SMTP implementation of the mail port, with a pool of connections.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use candor_port_events::{Mail, MailFailure, MailTransport};
use lettre::transport::smtp::client::{Certificate, TlsParameters};
use lettre::transport::smtp::extension::ClientId;
use rustls::pki_types::CertificateDer;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::connection::{ConnectParameters, Connection};
use crate::message::{PreparedMail, prepare};
use crate::server::{SenderAddress, SmtpServer};

/// Maximum time to close a connection with `QUIT`.
const GOODBYE: Duration = Duration::from_secs(1);
/// Maximum number of open connections: as many as the mailer sends mails at once.
const CONNECTIONS: usize = 16;

/// Settings of an [`SmtpTransport`].
#[derive(Debug, Clone)]
pub struct SmtpSettings {
    /// Server to send to.
    pub server: SmtpServer,
    /// Sender of the emails.
    pub from: SenderAddress,
    /// Certificate authorities that are trusted in addition to those of the system.
    pub authorities: Vec<CertificateDer<'static>>,
}

/// Error of the TLS setup, without which no mail can be sent.
#[derive(Debug, thiserror::Error)]
#[error("cannot set up TLS for mails: {0}")]
pub struct TlsSetupError(String);

/// Sends emails to a server.
pub struct SmtpTransport {
    connect_parameters: ConnectParameters,
    from: SenderAddress,
    places: Semaphore,
    /// Connections that are ready for the next email.
    idle: Mutex<Vec<Connection>>,
}

impl SmtpTransport {
    /// Creates a transport without connecting.
    ///
    /// # Errors
    /// [`TlsSetupError`] if a certificate of an authority is invalid or TLS cannot be set up.
    pub fn new(settings: SmtpSettings) -> Result<Self, TlsSetupError> {
        let SmtpSettings { server, from, authorities } = settings;
        let to_error = |error: lettre::transport::smtp::Error| TlsSetupError(error.to_string());
        let mut tls = TlsParameters::builder(server.host.clone());
        for authority in authorities {
            tls = tls.add_root_certificate(Certificate::from_der(authority.to_vec()).map_err(to_error)?);
        }
        let tls = tls.build_rustls().map_err(to_error)?;
        let hello = ClientId::Domain(server.hello_name.clone().unwrap_or_else(|| from.domain().to_owned()));
        let connect_parameters = ConnectParameters { server, hello, tls };
        Ok(Self { connect_parameters, from, places: Semaphore::new(CONNECTIONS), idle: Mutex::default() })
    }

    /// Connects and logs in without sending anything.
    ///
    /// # Errors
    /// The reason why the server cannot be used.
    pub async fn check(&self) -> Result<(), MailFailure> {
        self.connect_parameters.open().await?.close().await;
        Ok(())
    }

    async fn hand_over(&self, mail: &PreparedMail) -> Result<(), MailFailure> {
        // `acquire` fails only if the semaphore is closed, which never happens.
        let Ok(_place) = self.places.acquire().await else { return Err(MailFailure::Connect) };
        if let Some(mut connection) = self.take() {
            match connection.send(mail).await {
                // The server may have closed the idle connection, or may demand a new one.
                Err((MailFailure::Closed | MailFailure::Busy, _)) => {}
                sent => return self.keep(connection, sent),
            }
        }
        let mut connection = self.connect_parameters.open().await?;
        let send_result = connection.send(mail).await;
        self.keep(connection, send_result)
    }

    /// Puts the connection back into the pool if it can be reused, and returns the result of the email.
    fn keep(&self, connection: Connection, sent: Result<(), (MailFailure, bool)>) -> Result<(), MailFailure> {
        if matches!(sent, Ok(()) | Err((_, true))) {
            self.lock_idle().push(connection);
        }
        sent.map_err(|(failure, _)| failure)
    }

    fn take(&self) -> Option<Connection> {
        self.lock_idle().pop()
    }

    fn lock_idle(&self) -> MutexGuard<'_, Vec<Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl MailTransport for SmtpTransport {
    async fn send(&self, mail: Mail) -> Result<(), MailFailure> {
        let message = prepare(&mail, &self.from)?;
        timeout(mail.deadline, self.hand_over(&message)).await.unwrap_or(Err(MailFailure::Timeout))
    }

    async fn rest(&self) {
        while let Some(connection) = self.take() {
            // A server that does not answer `QUIT` in time is disconnected.
            let _ = timeout(GOODBYE, connection.close()).await;
        }
    }
}
