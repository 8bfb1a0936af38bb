//! Domains of e-mail addresses.

/// Returns `true` if the domain of an address is the name of a domain, and no address of a host: no bracket, no empty
/// label, and a last label that is no number.
pub(super) fn is_domain_name(domain: &str) -> bool {
    let is_number = |label: &str| {
        let digits = label.strip_prefix("0x").unwrap_or(label);
        let is_digit =
            |byte: u8| byte.is_ascii_digit() || (digits.len() < label.len() && byte.is_ascii_hexdigit());
        digits.bytes().all(is_digit)
    };
    let is_plain = domain.split('.').all(|label| !label.is_empty()) && !domain.contains(['[', ']', ':']);
    is_plain && !domain.rsplit('.').next().is_some_and(is_number)
}

/// Returns the first character of a domain that is not read as it is written (UTS #46): it is ignored, or stands for
/// another one. Two texts would then be the address of one mailbox.
pub(super) fn changed_letter(domain: &str) -> Option<char> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-');
    let others = domain.chars().filter(|letter| !is_plain(*letter));
    others.into_iter().find(|letter| {
        let (read, _) = idna::domain_to_unicode(&format!("a{letter}a"));
        read != format!("a{letter}a")
    })
}

#[cfg(test)]
mod tests {
    use super::super::email;
    use crate::problem::Code;

    #[test]
    fn address_of_a_host_is_refused() {
        for host in [
            "anna@[127.0.0.1]",
            "anna@[IPv6:::1]",
            "anna@[::1]",
            "anna@127.0.0.1",
            "anna@127.1",
            "anna@2130706433",
            "anna@0x7f.0x1",
            "anna@example.com.",
            "anna@example..com",
            "anna@.example.com",
        ] {
            assert_eq!(email(host).unwrap_err().code, Code::InvalidFormat, "{host}");
        }
    }
}
