//! An SMTP connection: connect, TLS, login, and the transfer of emails.

use std::error::Error as _;
use std::io;
use std::time::Duration;

use candor_port_events::MailFailure;
use lettre::Address;
use lettre::transport::smtp::Error;
use lettre::transport::smtp::authentication::{Credentials, Mechanism};
use lettre::transport::smtp::client::{AsyncSmtpConnection, TlsParameters};
use lettre::transport::smtp::commands::{Data, Mail, Rcpt, Rset};
use lettre::transport::smtp::extension::{ClientId, Extension, MailParameter};
use tokio::time::timeout;

use crate::message::PreparedMail;
use crate::server::{Security, SmtpServer};

/// Maximum time to connect to one address of the server.
const CONNECT: Duration = Duration::from_secs(10);
/// Maximum time from connecting to a logged-in session.
const LOGIN_TIMEOUT: Duration = Duration::from_secs(30);

/// Parameters for opening a connection.
pub(crate) struct ConnectParameters {
    pub(crate) server: SmtpServer,
    pub(crate) hello: ClientId,
    pub(crate) tls: TlsParameters,
}

/// A logged-in connection that can send emails.
pub(crate) struct Connection(AsyncSmtpConnection);

impl ConnectParameters {
    /// Opens a connection and logs in.
    ///
    /// # Errors
    /// A failure of the server, which affects every email.
    pub(crate) async fn open(&self) -> Result<Connection, MailFailure> {
        let login_timeout = LOGIN_TIMEOUT.min(self.server.timeout);
        timeout(login_timeout, self.connect_and_log_in()).await.unwrap_or(Err(MailFailure::Connect))
    }

    async fn connect_and_log_in(&self) -> Result<Connection, MailFailure> {
        let Self { server, hello, tls } = self;
        let at_once = (server.security == Security::Tls).then(|| tls.clone());
        let address = (server.host.as_str(), server.port);
        let connection_result =
            AsyncSmtpConnection::connect_tokio1(address, Some(CONNECT), hello, at_once, None).await;
        let mut connection = connection_result.map_err(|error| classify_connect_error(&error))?;
        if server.security == Security::StartTls {
            if !connection.can_starttls() {
                connection.abort().await;
                return Err(MailFailure::Tls);
            }
            connection.starttls(tls.clone(), hello).await.map_err(|error| classify_connect_error(&error))?;
        }
        if let Some((user, password)) = &server.credentials {
            let credentials = Credentials::new(user.clone(), password.reveal().to_owned());
            let logged_in = connection.auth(&[Mechanism::Plain, Mechanism::Login], &credentials).await;
            if let Err(error) = logged_in {
                connection.abort().await;
                return Err(classify_login_error(&error));
            }
        }
        Ok(Connection(connection))
    }
}

impl Connection {
    /// Sends an email. After a rejection the connection is reset for the next email.
    ///
    /// # Errors
    /// The reason, and `true` if the connection can be reused.
    pub(crate) async fn send(&mut self, mail: &PreparedMail) -> Result<(), (MailFailure, bool)> {
        let Err(failure) = self.hand_over(mail).await else { return Ok(()) };
        // `RSET` discards the unfinished transaction.
        let goes_on = !matches!(failure, MailFailure::Closed) && self.0.command(Rset).await.is_ok();
        Err((failure, goes_on))
    }

    async fn hand_over(&mut self, mail: &PreparedMail) -> Result<(), MailFailure> {
        let mut parameters = vec![];
        if !mail.has_ascii_addresses() {
            if !self.0.server_info().supports_feature(Extension::SmtpUtfEight) {
                return Err(MailFailure::Unsendable);
            }
            parameters.push(MailParameter::SmtpUtfEight);
        }
        let from: Option<Address> = mail.envelope.from().cloned();
        let mail_response = self.0.command(Mail::new(from, parameters)).await;
        mail_response.map_err(|error| classify_reply(&error, MailFailure::Busy, MailFailure::Sender))?;
        for to in mail.envelope.to() {
            let recipient_response = self.0.command(Rcpt::new(to.clone(), vec![])).await;
            recipient_response
                .map_err(|error| classify_reply(&error, MailFailure::Deferred, MailFailure::Refused))?;
        }
        let ready = self.0.command(Data).await;
        ready.map_err(|error| classify_reply(&error, MailFailure::Deferred, MailFailure::Refused))?;
        let content_response = self.0.command(&mail.content).await;
        content_response.map_err(|error| classify_reply(&error, MailFailure::Deferred, MailFailure::Refused))?;
        Ok(())
    }

    /// Sends `QUIT` and closes the connection.
    pub(crate) async fn close(mut self) {
        self.0.abort().await;
    }
}

/// Classifies the error of opening a session.
fn classify_connect_error(error: &Error) -> MailFailure {
    match error.status() {
        Some(_) => MailFailure::Busy,
        None if is_tls(error) => MailFailure::Tls,
        None => MailFailure::Connect,
    }
}

fn classify_login_error(error: &Error) -> MailFailure {
    match error.status() {
        Some(_) if error.is_transient() => MailFailure::Busy,
        Some(_) => MailFailure::Credentials,
        // Client and server have no authentication mechanism in common.
        None if error.is_client() => MailFailure::Credentials,
        None => MailFailure::Connect,
    }
}

/// Classifies the error of a command: `later` for a transient reply of the server, `for_good` for a permanent one,
/// and [`MailFailure::Closed`] without a reply.
fn classify_reply(error: &Error, later: MailFailure, for_good: MailFailure) -> MailFailure {
    match error.status() {
        Some(_) if error.is_transient() => later,
        Some(_) => for_good,
        None => MailFailure::Closed,
    }
}

/// Returns `true` if TLS failed, which lettre reports as a socket error.
fn is_tls(error: &Error) -> bool {
    let mut source = error.source();
    while let Some(it) = source {
        let inner_error = it.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        if it.is::<rustls::Error>() || inner_error.is_some_and(|error| error.is::<rustls::Error>()) {
            return true;
        }
        source = it.source();
    }
    error.is_tls()
}
