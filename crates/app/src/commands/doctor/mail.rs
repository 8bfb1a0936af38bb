//! Check of the mail server. No mail is sent.

use candor_domain::people::invitation::MailFailure;

use super::finding::Finding;
use crate::wiring;
use candor_settings::Config;

const CHECK: &str = "mail server";

/// Connects and logs in to the mail server, if one is configured.
pub(super) async fn look(config: &Config) -> Option<Finding> {
    let smtp = config.smtp.as_ref()?;
    let server = format!("{}:{}", smtp.server.host, smtp.server.port);
    Some(match wiring::mail_transport(config) {
        Ok(transport) => match transport?.check().await {
            Ok(()) if config.public_url.is_none() => Finding::warn(
                CHECK,
                format!("{server} accepts this machine, but invitation links use a local address"),
                "set CANDOR_PUBLIC_URL to the public URL of the service",
            ),
            Ok(()) => Finding::good(CHECK, format!("{server} accepts this machine")),
            Err(failure) => {
                let (says, remedy) = explain_failure(failure);
                Finding::report_fault(CHECK, format!("{server} {says}"), remedy)
            }
        },
        Err(error) => Finding::from_error(CHECK, &error),
    })
}

/// Returns problem and remedy of a failure.
const fn explain_failure(failure: MailFailure) -> (&'static str, &'static str) {
    match failure {
        MailFailure::Tls => (
            "fails the TLS handshake",
            "check the certificate of the mail server and the host in CANDOR_SMTP_URL; smtps:// uses TLS from the \
             start, smtp:// uses STARTTLS",
        ),
        MailFailure::Credentials => (
            "rejects the user name and password",
            "check the user name and the password in CANDOR_SMTP_URL, and percent-encode their special characters",
        ),
        MailFailure::Busy => (
            "refuses this machine, perhaps only for a while",
            "run `candor doctor` again after a minute; if the refusal stays, check the log of the mail server",
        ),
        MailFailure::Connect
        | MailFailure::Timeout
        | MailFailure::Closed
        | MailFailure::Sender
        | MailFailure::Deferred
        | MailFailure::Refused
        | MailFailure::Unsendable
        | MailFailure::Sealed
        | MailFailure::RecipientLimit
        | MailFailure::OrganizationLimit
        | MailFailure::Expired => {
            ("does not respond like a mail server", "check host and port in CANDOR_SMTP_URL, and the firewall")
        }
    }
}
