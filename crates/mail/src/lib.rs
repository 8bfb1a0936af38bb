//! Sends mails over SMTP to the one server that the operator names, which passes them on.
//!
//! At most eight connections are open at once, and none while there is nothing to send. A mail goes out over TLS, from the
//! first byte (`smtps://`) or after STARTTLS (`smtp://`), unless the operator says `tls=none` of a relay that is trusted
//! with readable mail. Each step says by itself whether it failed because of the server, which then meets every mail, or
//! because of the mail.

mod connection;
mod message;
mod server;
mod transport;

pub use server::{InvalidSmtpUrl, Security, SenderAddress, SmtpServer};
pub use transport::{SmtpSettings, SmtpTransport, TlsSetupError};
