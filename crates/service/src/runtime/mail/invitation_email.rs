//! Text of the email with an invitation.

use candor_domain::text::{escaped_html as escaped, one_line};
use candor_domain::time::Timestamp;

/// Maximum length of a name that an email repeats, in characters.
const NAME_CHARS: usize = 40;

/// Subject and body of an invitation. Plain text and HTML have the same content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct InvitationEmail {
    /// Subject in one line.
    pub(super) subject: String,
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
        let (subject, invites) = match printable_name(organization) {
            Some(name) => (format!("{name} invites you"), format!("{name} invites you to join it in Candor.")),
            None => {
                ("You are invited".to_owned(), "You are invited to join an organization in Candor.".to_owned())
            }
        };
        let until = until(expires_at);
        let text = format!(
            "{greeting}\n\n\
             {invites} To accept, open this link:\n\n\
             {link}\n\n\
             It can be used once, until {until}. If you did not expect this mail, there is nothing you need to \
             do.\n"
        );
        let (title, greeting, invites) = (escaped(&subject), escaped(&greeting), escaped(&invites));
        let to = escaped(link);
        let html = format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>{title}</title></head>\n\
             <body>\n\
             <p>{greeting}</p>\n\
             <p>{invites}</p>\n\
             <p><a href=\"{to}\">Accept the invitation</a></p>\n\
             <p>If the link does not open, copy this address into a browser:<br>{to}</p>\n\
             <p>It can be used once, until {until}. If you did not expect this mail, there is nothing you need to \
             do.</p>\n\
             </body>\n</html>\n"
        );
        Self { subject, text, html }
    }
}

/// Returns a name as one line. Returns `None` if it could contain a message or link chosen by the API client.
fn printable_name(name: &str) -> Option<String> {
    let name = one_line(name);
    let has_link = name.contains("://") || name.to_lowercase().contains("www.");
    let is_long = name.chars().nth(NAME_CHARS).is_some();
    (!has_link && !is_long).then_some(name)
}

/// Returns the expiry time to the minute, in a numeric format that does not depend on a locale.
fn until(expires_at: Timestamp) -> String {
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
    fn invitation_email_escapes_names() {
        let email = InvitationEmail::new(
            "<b>Ada</b>",
            "A&B \"Ltd\"\r\nBcc: x@example.com",
            "https://x.example/'",
            it_ends(),
        );
        assert_eq!(email.subject, "A&B \"Ltd\" Bcc: x@example.com invites you");
        for wanted in ["&lt;b&gt;Ada&lt;/b&gt;", "A&amp;B &quot;Ltd&quot; Bcc", "https://x.example/&#39;"] {
            assert!(email.html.contains(wanted), "{wanted} is not in {}", email.html);
        }
        assert!(!email.html.contains("<b>"), "{}", email.html);
    }

    #[test]
    fn names_with_links_or_over_40_characters_are_left_out() {
        let long = "é".repeat(41);
        for name in ["Win at https://x.example", "WWW.x.example", &long] {
            let email = InvitationEmail::new(name, name, "https://candor.example/a", it_ends());
            assert_eq!(email.subject, "You are invited");
            for part in [&email.subject, &email.text, &email.html] {
                assert!(!part.contains(name), "{part}");
            }
            assert!(email.text.starts_with("Hello,\n\nYou are invited to join"), "{}", email.text);
            assert!(email.html.contains("<p>Hello,</p>"), "{}", email.html);
        }
        let longest = "é".repeat(40);
        let email = InvitationEmail::new(&longest, &longest, "https://candor.example/a", it_ends());
        assert!(email.text.starts_with(&format!("Hello {longest},\n\n{longest} invites you")), "{}", email.text);
    }

    fn it_ends() -> Timestamp {
        Timestamp::from_millis(0)
    }
}
