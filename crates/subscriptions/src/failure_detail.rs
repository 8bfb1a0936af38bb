//! The detail of a failure in the delivery log, beside its reason (decision F2).

use candor_domain::receiver_url::ReceiverUrl;
use url::Url;

/// Length of the longest detail, in characters. A longer target of a redirect is cut.
pub const DETAIL_CHARS: usize = 500;

/// Returns the target of a redirect as the log keeps it: scheme, host, port and path. User, query and fragment can hold
/// secrets. `None` if the header has no URL.
#[must_use]
pub fn redirect_target(from: &ReceiverUrl, location: &[u8]) -> Option<String> {
    let location = std::str::from_utf8(location).ok()?;
    let mut target: Url = from.url().join(location).ok()?;
    target.host_str()?;
    target.set_query(None);
    target.set_fragment(None);
    // Only URLs that cannot have a user refuse the change.
    let _ = target.set_username("");
    let _ = target.set_password(None);
    Some(target.as_str().chars().take(DETAIL_CHARS).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn target_of_a_redirect_has_host_and_path_only() {
        let from = ReceiverUrl::parse("https://example.com/hooks/in?token=abc").unwrap();
        let long = format!("https://example.com/{}", "a".repeat(DETAIL_CHARS));
        for (location, wanted) in [
            ("https://www.example.com/hooks/in", Some("https://www.example.com/hooks/in")),
            ("http://user:secret@other.example:8080/a?key=1#part", Some("http://other.example:8080/a")),
            ("/login?next=/hooks/in", Some("https://example.com/login")),
            ("other", Some("https://example.com/hooks/other")),
            ("//cdn.example/x", Some("https://cdn.example/x")),
            ("", Some("https://example.com/hooks/in")),
            (&long, Some(&long[..DETAIL_CHARS])),
            ("https://", None),
            ("mailto:ops@example.com", None),
        ] {
            assert_eq!(redirect_target(&from, location.as_bytes()).as_deref(), wanted, "{location}");
        }
        assert_eq!(redirect_target(&from, b"\xff"), None);
    }
}
