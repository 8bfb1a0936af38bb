//! Text of the email with an invitation.

use candor_domain::text::{escaped_html as escaped, one_line};
use candor_domain::time::Timestamp;

/// Maximum length of a name that an email repeats, in characters.
const NAME_CHARS: usize = 40;
/// Maximum number of digits in a name that an email repeats. A telephone number has more.
const NAME_DIGITS: usize = 5;
/// Subject of every invitation. Clients choose no part of it.
const SUBJECT: &str = "An invitation to Candor";

/// Subject and body of an invitation. Plain text and HTML have the same content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct InvitationEmail {
    /// Subject in one line.
    pub(super) subject: &'static str,
    /// Body as plain text.
    pub(super) text: String,
    /// Body as HTML, with the same text.
    pub(super) html: String,
}

impl InvitationEmail {
    /// Creates the invitation of a person to an organization, by a link that is valid until `expires_at`.
    pub(super) fn new(first_name: &str, organization: &str, link: &str, expires_at: Timestamp) -> Self {
        let greeting =
            printable_name(first_name).map_or_else(|| "Hello,".to_owned(), |name| format!("Hello {name},"));
        let name = printable_name(organization).unwrap_or_else(|| "Your organization".to_owned());
        let invites = format!("{name} invites you to join it in Candor.");
        let end_text = format_expiry(expires_at);
        let text = format!(
            "{greeting}\n\n\
             {invites} To accept, open this link:\n\n\
             {link}\n\n\
             The link can be used once, until {end_text}. If you did not expect this mail, there is nothing you need \
             to do.\n"
        );
        let (title, greeting, invites) = (escaped(SUBJECT), escaped(&greeting), escaped(&invites));
        let to = escaped(link);
        let html = format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>{title}</title></head>\n\
             <body>\n\
             <p>{greeting}</p>\n\
             <p>{invites}</p>\n\
             <p><a href=\"{to}\">Accept the invitation</a></p>\n\
             <p>If the link does not open, copy this address into a browser:<br>{to}</p>\n\
             <p>The link can be used once, until {end_text}. If you did not expect this mail, there is nothing you \
             need to do.</p>\n\
             </body>\n</html>\n"
        );
        Self { subject: SUBJECT, text, html }
    }
}

/// Returns a name as one line. Returns `None` if it could contain a message or link chosen by the API client.
fn printable_name(name: &str) -> Option<String> {
    let name = one_line(name);
    let has_contact = name.contains("://") || name.contains('@') || has_dot_between_letters(&name);
    let has_number = name.chars().filter(|letter| letter.is_numeric()).nth(NAME_DIGITS).is_some();
    let is_long = name.chars().nth(NAME_CHARS).is_some();
    (!has_contact && !has_number && !is_long).then_some(name)
}

/// Returns `true` if a mail program could show a part of the name as a link, such as `evil.example`. Other characters
/// that address bars read as a dot count as dots.
fn has_dot_between_letters(name: &str) -> bool {
    let letters: Vec<char> = name.chars().collect();
    letters.windows(3).any(|three| {
        matches!(three, [before, '.' | '。' | '．' | '｡' | '·' | '․', after] if before.is_alphanumeric() && after.is_alphanumeric())
    })
}

/// Returns the expiry time to the minute, in a numeric format that does not depend on a locale.
fn format_expiry(expires_at: Timestamp) -> String {
    let text = expires_at.to_string();
    match (text.get(..10), text.get(11..16)) {
        (Some(day), Some(time)) => format!("{day} {time} UTC"),
        (None, _) | (_, None) => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invitation_email_parts_name_organization_link_and_expiry() {
        let end = Timestamp::from_millis(1_772_442_000_000);
        let email = InvitationEmail::new("Ada", "Northwind", "https://x.example/a?token=T", end);
        for part in [&email.text, &email.html] {
            for wanted in ["Ada", "Northwind", "https://x.example/a?token=T", "2026-03-02 09:00 UTC"] {
                assert!(part.contains(wanted), "{wanted} is not in {part}");
            }
        }
    }

    #[test]
    fn invitation_email_escapes_names_and_has_a_fixed_subject() {
        let email = InvitationEmail::new("<b>Ada</b>", "A&B \"Ltd\"\r\nBcc: x", "https://x.example/'", expiry());
        assert_eq!(email.subject, "An invitation to Candor");
        for wanted in
            ["&lt;b&gt;Ada&lt;/b&gt;", "A&amp;B &quot;Ltd&quot; Bcc: x invites you", "https://x.example/&#39;"]
        {
            assert!(email.html.contains(wanted), "{wanted} is not in {}", email.html);
        }
        assert!(!email.html.contains("<b>"), "{}", email.html);
    }

    #[test]
    fn names_that_could_be_a_message_are_left_out() {
        let long = "é".repeat(41);
        let names = [
            "Win at https://x.example",
            "WWW.x.example",
            "Your payroll is on hold: evil.example",
            "evil。example",
            "evil．example",
            "Call 0 800 123 456",
            "Call ٠١٢٣٤٥",
            "ada@example",
            &long,
        ];
        for name in names {
            let email = InvitationEmail::new(name, name, "https://candor.example/a", expiry());
            for part in [email.subject, &email.text, &email.html] {
                assert!(!part.contains(name), "{part}");
            }
            assert!(email.text.starts_with("Hello,\n\nYour organization invites you to join"), "{}", email.text);
            assert!(email.html.contains("<p>Hello,</p>"), "{}", email.html);
        }
        for name in ["é".repeat(40).as_str(), "St. Mary Ltd.", "Area 51", "R/D & Co.", "O'Hara-Øst"] {
            let email = InvitationEmail::new(name, name, "https://candor.example/a", expiry());
            assert!(email.text.starts_with(&format!("Hello {name},\n\n{name} invites you")), "{}", email.text);
        }
    }

    fn expiry() -> Timestamp {
        Timestamp::from_millis(0)
    }
}
