//! Domains of e-mail addresses, and the DNS records that prove them (decision B9).

use std::fmt::Write as _;

use candor_domain::id::OrganizationId;
use candor_domain::problem::{Code, ValueError};
use candor_domain::text::domain_key;
use ring::digest::{SHA256, digest};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Length of the longest domain, in characters: the limit of DNS.
pub const DOMAIN_CHARS: usize = 253;
/// Length of the longest label of a domain, in characters: the limit of DNS.
const LABEL_CHARS: usize = 63;
/// Beginning of the TXT record that proves a domain.
pub const VERIFICATION_PREFIX: &str = "candor-verification=";
/// Length of the value in a TXT record, in bytes. The record has these bytes as hexadecimal digits.
const VALUE_BYTES: usize = 16;

/// Domains of public mailboxes. An address there says nothing about an organization.
pub const PUBLIC_MAILBOXES: &[&str] = &[
    "126.com",
    "163.com",
    "aim.com",
    "aol.com",
    "att.net",
    "bluewin.ch",
    "bol.com.br",
    "bt.com",
    "btinternet.com",
    "comcast.net",
    "cox.net",
    "daum.net",
    "duck.com",
    "fastmail.com",
    "fastmail.fm",
    "foxmail.com",
    "free.fr",
    "freenet.de",
    "gmail.com",
    "gmx.at",
    "gmx.ch",
    "gmx.com",
    "gmx.de",
    "gmx.net",
    "googlemail.com",
    "hanmail.net",
    "hey.com",
    "hotmail.co.uk",
    "hotmail.com",
    "hotmail.de",
    "hotmail.es",
    "hotmail.fr",
    "hotmail.it",
    "hushmail.com",
    "icloud.com",
    "inbox.ru",
    "interia.pl",
    "laposte.net",
    "libero.it",
    "list.ru",
    "live.co.uk",
    "live.com",
    "live.de",
    "live.fr",
    "live.it",
    "live.nl",
    "mac.com",
    "mail.com",
    "mail.ru",
    "mailbox.org",
    "me.com",
    "msn.com",
    "naver.com",
    "o2.pl",
    "onet.pl",
    "orange.fr",
    "outlook.com",
    "outlook.de",
    "outlook.es",
    "outlook.fr",
    "pm.me",
    "posteo.de",
    "proton.me",
    "protonmail.ch",
    "protonmail.com",
    "qq.com",
    "rambler.ru",
    "rediffmail.com",
    "rocketmail.com",
    "sbcglobal.net",
    "seznam.cz",
    "sfr.fr",
    "sina.com",
    "sky.com",
    "t-online.de",
    "tuta.com",
    "tuta.io",
    "tutanota.com",
    "uol.com.br",
    "verizon.net",
    "virginmedia.com",
    "wanadoo.fr",
    "web.de",
    "wp.pl",
    "ya.ru",
    "yahoo.ca",
    "yahoo.co.in",
    "yahoo.co.jp",
    "yahoo.co.uk",
    "yahoo.com",
    "yahoo.com.br",
    "yahoo.de",
    "yahoo.es",
    "yahoo.fr",
    "yahoo.it",
    "yandex.com",
    "yandex.ru",
    "yeah.net",
    "ymail.com",
    "zoho.com",
];

/// A domain of a provider, and the DNS record that proves it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "EmailDomain", inline)]
pub struct EmailDomain {
    /// The domain as it is registered, in lower case.
    pub domain: String,
    /// `true` if the domain is proven to belong to the organization.
    #[serde(rename = "proven")]
    pub is_proven: bool,
    /// Text of the TXT record of the domain that proves it.
    pub txt_record: String,
}

impl EmailDomain {
    /// Creates a domain without a proof. The record depends on the organization and the domain alone, so that a domain
    /// that is removed and added again, also to another provider, needs no other record.
    #[must_use]
    pub fn new(organization: OrganizationId, domain: String) -> Self {
        let hash = digest(&SHA256, [organization.to_bytes().as_slice(), domain.as_bytes()].concat().as_slice());
        let mut txt_record = VERIFICATION_PREFIX.to_owned();
        for byte in hash.as_ref().iter().take(VALUE_BYTES) {
            // Writing to a text never fails.
            let _ = write!(txt_record, "{byte:02x}");
        }
        Self { domain, is_proven: false, txt_record }
    }
}

/// Reads a domain of e-mail addresses, and returns it as it is registered, in lower case.
///
/// # Errors
/// Returns `too_short`, `too_long` and `invalid_format`, also for a domain of public mailboxes.
pub(super) fn parse_domain(text: &str) -> Result<String, ValueError> {
    candor_domain::text::check_length(text, 1..=DOMAIN_CHARS)?;
    let domain = domain_key(text);
    if domain.len() > DOMAIN_CHARS {
        return Err(ValueError::new(
            Code::TooLong,
            format!("must have at most {DOMAIN_CHARS} characters in its ASCII form (Punycode)"),
        ));
    }
    let is_label = |label: &str| {
        let is_plain = label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        is_plain && (1..=LABEL_CHARS).contains(&label.len()) && !label.starts_with('-') && !label.ends_with('-')
    };
    let is_number = domain.rsplit('.').next().is_some_and(|label| label.bytes().all(|byte| byte.is_ascii_digit()));
    if !domain.contains('.') || !domain.split('.').all(is_label) || is_number {
        return Err(ValueError::format("a domain, such as `example.com`"));
    }
    if PUBLIC_MAILBOXES.contains(&domain.as_str()) {
        return Err(ValueError::format("a domain of the organization: this one has public mailboxes"));
    }
    Ok(domain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ulid::Ulid;

    #[test]
    fn domain_is_read_in_its_registered_form() {
        let longest_label = "a".repeat(LABEL_CHARS);
        for (text, wanted) in [
            ("example.com", Ok("example.com")),
            ("Mail.EXAMPLE.com", Ok("mail.example.com")),
            ("m\u{fc}ller.example", Ok("xn--mller-kva.example")),
            (&format!("{longest_label}.com"), Ok(format!("{longest_label}.com").as_str())),
            (&format!("{longest_label}a.com"), Err(Code::InvalidFormat)),
            ("", Err(Code::TooShort)),
            (&"a.".repeat(127), Err(Code::TooLong)),
            ("localhost", Err(Code::InvalidFormat)),
            ("example.com.", Err(Code::InvalidFormat)),
            (".example.com", Err(Code::InvalidFormat)),
            ("-a.example", Err(Code::InvalidFormat)),
            ("a-.example", Err(Code::InvalidFormat)),
            ("a_b.example", Err(Code::InvalidFormat)),
            ("*.example.com", Err(Code::InvalidFormat)),
            ("ada@example.com", Err(Code::InvalidFormat)),
            ("192.0.2.1", Err(Code::InvalidFormat)),
            ("exa mple.com", Err(Code::InvalidFormat)),
            ("GMail.com", Err(Code::InvalidFormat)),
        ] {
            assert_eq!(parse_domain(text).map_err(|flaw| flaw.code), wanted.map(str::to_owned), "{text}");
        }
    }

    #[test]
    fn public_mailboxes_are_sorted_and_in_lower_case() {
        assert!(PUBLIC_MAILBOXES.is_sorted_by(|one, next| one < next));
        assert!(PUBLIC_MAILBOXES.iter().all(|domain| domain_key(domain) == *domain));
    }

    #[test]
    fn record_depends_on_organization_and_domain_alone() {
        let record = |organization, domain: &str| {
            EmailDomain::new(OrganizationId::from_ulid(Ulid(organization)), domain.to_owned()).txt_record
        };
        let text = record(1, "example.com");
        let value = text.strip_prefix(VERIFICATION_PREFIX).unwrap();
        assert_eq!((value.len(), value.bytes().all(|byte| byte.is_ascii_hexdigit())), (2 * VALUE_BYTES, true));
        assert_eq!(record(1, "example.com"), text);
        assert_ne!(record(2, "example.com"), text);
        assert_ne!(record(1, "example.org"), text);
    }
}
