//! What the mail with an invitation says.

use crate::text::{escaped_html as escaped, one_line};
use crate::time::Timestamp;

/// Longest name that a mail repeats, in characters.
const NAME_CHARS: usize = 40;

/// A mail in words: once as plain text and once as HTML, which say the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Letter {
    /// What it is about, in one line.
    pub subject: String,
    /// As plain text.
    pub text: String,
    /// As HTML.
    pub html: String,
}

impl Letter {
    /// Invites somebody of this name to an organization of this one, until a time.
    ///
    /// ```
    /// use candor_domain::people::invitation::Letter;
    /// use candor_domain::time::Timestamp;
    ///
    /// let letter = Letter::inviting("Ada", "Bell & Sons", "https://candor.example/accept?token=x", Timestamp::from_millis(0));
    /// assert_eq!(letter.subject, "Bell & Sons invites you");
    /// assert!(letter.text.contains("https://candor.example/accept?token=x"));
    /// assert!(letter.html.contains("Bell &amp; Sons"));
    /// ```
    #[must_use]
    pub fn inviting(first_name: &str, organization: &str, link: &str, expires_at: Timestamp) -> Self {
        let greeting = printable_name(first_name).map_or_else(|| "Hello,".to_owned(), |name| format!("Hello {name},"));
        let (subject, invites) = match printable_name(organization) {
            Some(name) => (format!("{name} invites you"), format!("{name} invites you to join it in Candor.")),
            None => ("You are invited".to_owned(), "You are invited to join an organization in Candor.".to_owned()),
        };
        let until = until(expires_at);
        let text = format!(
            "{greeting}\n\n\
             {invites} To accept, open this link:\n\n\
             {link}\n\n\
             It can be used once, until {until}. If you did not expect this mail, there is nothing you need to do.\n"
        );
        let (title, greeting, invites) = (escaped(&subject), escaped(&greeting), escaped(&invites));
        let to = escaped(link);
        let html = format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>{title}</title></head>\n<body>\n\
             <p>{greeting}</p>\n\
             <p>{invites}</p>\n\
             <p><a href=\"{to}\">Accept the invitation</a></p>\n\
             <p>If the link does not open, copy this address into a browser:<br>{to}</p>\n\
             <p>It can be used once, until {until}. If you did not expect this mail, there is nothing you need to do.</p>\n\
             </body>\n</html>\n"
        );
        Self { subject, text, html }
    }
}

/// Returns a name as one line, or `None` for one that could carry a message or a link of the caller's choice.
fn printable_name(name: &str) -> Option<String> {
    let name = one_line(name);
    let has_link = name.contains("://") || name.to_lowercase().contains("www.");
    let is_long = name.chars().nth(NAME_CHARS).is_some();
    (!has_link && !is_long).then_some(name)
}

/// The last minute, in figures that are read alike everywhere.
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
    fn both_parts_name_the_organization_the_link_and_the_end() {
        let end = Timestamp::from_millis(1_772_442_000_000);
        let it = Letter::inviting("Ada", "Northwind", "https://x.example/a?token=T", end);
        for part in [&it.text, &it.html] {
            for wanted in ["Ada", "Northwind", "https://x.example/a?token=T", "2026-03-02 09:00 UTC"] {
                assert!(part.contains(wanted), "{wanted} is not in {part}");
            }
        }
    }

    #[test]
    fn what_people_call_themselves_stays_text() {
        let it = Letter::inviting("<b>Ada</b>", "A&B \"Ltd\"\r\nBcc: x@example.com", "https://x.example/'", it_ends());
        assert_eq!(it.subject, "A&B \"Ltd\" Bcc: x@example.com invites you");
        for wanted in ["&lt;b&gt;Ada&lt;/b&gt;", "A&amp;B &quot;Ltd&quot; Bcc", "https://x.example/&#39;"] {
            assert!(it.html.contains(wanted), "{wanted} is not in {}", it.html);
        }
        assert!(!it.html.contains("<b>"), "{}", it.html);
    }

    #[test]
    fn names_with_links_or_more_than_40_characters_are_left_out() {
        let long = "é".repeat(41);
        for name in ["Win at https://x.example", "WWW.x.example", &long] {
            let letter = Letter::inviting(name, name, "https://candor.example/a", it_ends());
            assert_eq!(letter.subject, "You are invited");
            for part in [&letter.subject, &letter.text, &letter.html] {
                assert!(!part.contains(name), "{part}");
            }
            assert!(letter.text.starts_with("Hello,\n\nYou are invited to join"), "{}", letter.text);
            assert!(letter.html.contains("<p>Hello,</p>"), "{}", letter.html);
        }
        let longest = "é".repeat(40);
        let letter = Letter::inviting(&longest, &longest, "https://candor.example/a", it_ends());
        assert!(letter.text.starts_with(&format!("Hello {longest},\n\n{longest} invites you")), "{}", letter.text);
    }

    fn it_ends() -> Timestamp {
        Timestamp::from_millis(0)
    }
}
