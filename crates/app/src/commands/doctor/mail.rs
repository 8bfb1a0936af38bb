//! Whether the mail server lets this machine in. No mail is sent.

use candor_domain::people::invitation::MailFailure;

use super::finding::Finding;
use crate::config::Config;
use crate::wiring;

const CHECK: &str = "mail server";

/// Connects to the server, if one is set, and goes as far as it can without a mail.
pub(super) async fn look(config: &Config) -> Option<Finding> {
    let smtp = config.smtp.as_ref()?;
    let server = format!("{}:{}", smtp.server.host, smtp.server.port);
    Some(match wiring::mail_transport(config) {
        Ok(transport) => match transport?.check().await {
            Ok(()) if config.public_url.is_none() => Finding::warning(
                CHECK,
                format!("{server} lets this machine in, but the links in mails lead to this machine"),
                "set CANDOR_PUBLIC_URL to what people can open",
            ),
            Ok(()) => Finding::good(CHECK, format!("{server} lets this machine in")),
            Err(failure) => {
                let (says, remedy) = told(failure);
                Finding::broken(CHECK, format!("{server} {says}"), remedy)
            }
        },
        Err(error) => Finding::failed(CHECK, &error),
    })
}

/// What is wrong, and what to do.
const fn told(failure: MailFailure) -> (&'static str, &'static str) {
    match failure {
        MailFailure::Tls => (
            "cannot be talked to over TLS",
            "look at its certificate and the host in CANDOR_SMTP_URL; smtps:// is for TLS from the beginning, smtp:// for STARTTLS",
        ),
        MailFailure::Credentials => {
            ("does not accept the user name and password", "percent-encode what is special in them in CANDOR_SMTP_URL")
        }
        MailFailure::Busy => ("refuses to talk to this machine", "look into its log"),
        MailFailure::Connect
        | MailFailure::Timeout
        | MailFailure::Closed
        | MailFailure::Sender
        | MailFailure::Deferred
        | MailFailure::Refused
        | MailFailure::Unsendable
        | MailFailure::Sealed
        | MailFailure::RecipientLimit
        | MailFailure::Expired => {
            ("does not answer as a mail server does", "look at host and port in CANDOR_SMTP_URL, and at the firewall")
        }
    }
}
