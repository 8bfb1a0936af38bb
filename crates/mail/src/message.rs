//! An email in its wire format.

use std::fmt::{self, Display, Formatter};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use candor_port_events::{Mail, MailFailure};
use lettre::address::Envelope;
use lettre::message::header::{HeaderName, HeaderValue};
use lettre::message::{Mailbox, MultiPart};
use lettre::{Address, Message};

use crate::server::SenderAddress;

/// Header of automatic emails, which keeps recipients from sending automatic replies (RFC 3834).
const AUTO_SUBMITTED: HeaderName = HeaderName::new_from_ascii_str("Auto-Submitted");

/// Envelope and content of an email.
pub(crate) struct PreparedMail {
    pub(crate) envelope: Envelope,
    pub(crate) content: Content,
}

/// Data after `DATA`, including the final line. It is sent in one write: a second write would wait for the
/// acknowledgement of the first, which servers delay by about 40 ms (RFC 896, RFC 1122 §4.2.3.2).
pub(crate) struct Content(String);

impl Content {
    /// Creates the content from the text of an email: doubles the dot at the beginning of a line (section
    /// 4.5.2 of RFC 5321), and appends the final line.
    fn parse(message: &str) -> Self {
        let begin = if message.starts_with('.') { "." } else { "" };
        Self(format!("{begin}{}\r\n.\r\n", message.replace("\r\n.", "\r\n..")))
    }
}

impl Display for Content {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl PreparedMail {
    /// Returns `true` if all addresses are ASCII and need no SMTPUTF8.
    pub(crate) fn has_ascii_addresses(&self) -> bool {
        let is_ascii = |address: &Address| AsRef::<str>::as_ref(address).is_ascii();
        self.envelope.to().iter().chain(self.envelope.from()).all(is_ascii)
    }
}

/// Builds an email. Everything except the addresses is ASCII.
///
/// # Errors
/// [`MailFailure::Unsendable`] if the address is invalid or the email cannot be built.
pub(crate) fn prepare(mail: &Mail, from: &SenderAddress) -> Result<PreparedMail, MailFailure> {
    let to: Address = mail.to.parse().map_err(|_| MailFailure::Unsendable)?;
    let millis = u64::try_from(mail.date.millis()).unwrap_or_default();
    let date: SystemTime = UNIX_EPOCH + Duration::from_millis(millis);
    let message = Message::builder()
        .from(from.mailbox().clone())
        .to(Mailbox::new(None, to))
        .subject(mail.subject.as_str())
        .message_id(Some(format!("<{}@{}>", mail.id, from.domain())))
        .date(date)
        .raw_header(HeaderValue::new(AUTO_SUBMITTED, "auto-generated".to_owned()))
        .multipart(MultiPart::alternative_plain_html(mail.text.clone(), mail.html.clone()))
        .map_err(|_| MailFailure::Unsendable)?;
    let text = String::from_utf8(message.formatted()).map_err(|_| MailFailure::Unsendable)?;
    Ok(PreparedMail { envelope: message.envelope().clone(), content: Content::parse(&text) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor_domain::time::Timestamp;

    fn mail(to: &str, subject: &str) -> Mail {
        Mail {
            id: "inv_1".to_owned(),
            to: to.to_owned(),
            subject: subject.to_owned(),
            text: "Grüße,\n.\nhttps://x.example/a?token=T\n".to_owned(),
            html: "<p>Grüße</p>".to_owned(),
            date: Timestamp::from_millis(1_772_442_000_000),
            deadline: Duration::from_secs(1),
        }
    }

    #[test]
    fn mail_has_required_headers_and_both_parts() {
        let from = SenderAddress::parse("Candor <no-reply@example.com>").unwrap();
        let prepared_mail = prepare(&mail("ada@example.org", "Ünited invites you"), &from).unwrap();
        let text = prepared_mail.content.to_string();
        assert!(text.is_ascii(), "{text}");
        for wanted in [
            "From: Candor <no-reply@example.com>\r\n",
            "To: ada@example.org\r\n",
            "Message-ID: <inv_1@example.com>\r\n",
            "Date: Mon, 02 Mar 2026 09:00:00 +0000\r\n",
            "Auto-Submitted: auto-generated\r\n",
            "Content-Type: multipart/alternative;",
            "Content-Type: text/plain; charset=utf-8\r\n",
            "Content-Type: text/html; charset=utf-8\r\n",
            "Subject: =?utf-8?",
        ] {
            assert!(text.contains(wanted), "{wanted} is not in {text}");
        }
        assert_eq!(prepared_mail.envelope.to().len(), 1);
    }

    #[test]
    fn mail_with_a_dot_line_is_sent_completely() {
        for (message, sent) in [
            ("a\r\n.\r\nb", "a\r\n..\r\nb\r\n.\r\n"),
            (".\r\n.\r\n..", "..\r\n..\r\n...\r\n.\r\n"),
            ("a.\r\n b.", "a.\r\n b.\r\n.\r\n"),
        ] {
            assert_eq!(Content::parse(message).to_string(), sent);
        }
    }

    #[test]
    fn mail_fields_cannot_inject_headers_or_recipients() {
        let from = SenderAddress::parse("no-reply@example.com").unwrap();
        let prepared_mail =
            prepare(&mail("ada@example.org", "Hello\r\nBcc: eve@example.org\r\n\r\nX"), &from).unwrap();
        let text = prepared_mail.content.to_string();
        assert!(!text.contains("\r\nBcc:"), "{text}");
        for bad in ["ada@example.org, eve@example.org", "ada", "ada@example.org\r\nRCPT TO:<eve@example.org>", ""]
        {
            assert!(matches!(prepare(&mail(bad, "x"), &from), Err(MailFailure::Unsendable)), "{bad}");
        }
    }
}
