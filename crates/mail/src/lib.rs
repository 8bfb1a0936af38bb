//! SMTP client that sends emails to the relay that the operator configures.
//!
//! At most 16 connections are open at once, and none while there is nothing to send. Emails use TLS from the first
//! byte (`smtps://`) or after STARTTLS (`smtp://`), unless the operator sets `tls=none` for a trusted relay. A
//! failure states its cause: the server, which affects every email, or a single email.

mod connection;
mod message;
mod server;
mod transport;

pub use server::{Security, SenderAddress, SmtpServer, SmtpUrlError};
pub use transport::{SmtpSettings, SmtpTransport, TlsSetupError};
